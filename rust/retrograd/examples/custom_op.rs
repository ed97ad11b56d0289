//! An op with a derivative of one's own: `log(1 + exp(x))`, whose derivative by the chain rule is NaN for large `x`.
//!
//!     cargo run --example custom_op

use retrograd::prelude::*;

/// As one writes it down.
fn naive(x: &Tensor) -> Tensor {
    (1.0 + x.exp()).log()
}

pub fn main() -> Result<()> {
    let softplus = custom_op(
        "softplus",
        |x: &Tensor| x.clamp_with(|o| o.min(0)) + (-x.abs()).exp().log1p(),
        |cotangent, x, _y| cotangent * x.sigmoid(),
    );

    let x = tensor![-800.0, 0.5, 800.0];
    let by_chain_rule = func::vmap(func::grad(naive))(&x);
    let by_ours = func::vmap(func::grad(|x: &Tensor| softplus.call(x)))(&x);
    println!("naive: {by_chain_rule}");
    println!("ours:  {by_ours}");
    assert!(by_chain_rule.isnan().any().item::<bool>()?);
    assert!(by_ours.allclose(&tensor![0.0, 0.6224593312018546, 1.0]));

    // The checker compares the rule with differences: first derivatives in both modes, second ones, and batches.
    let checked = gradcheck(|x: &Tensor| softplus.call(x), &tensor![-2.0, 0.5, 3.0]);
    checked.forward(true).second(true).batched(true).run().unwrap();

    // A rule that is wrong by a factor, and what the checker says of it.
    let wrong = custom_op("wrong", naive, |cotangent, x, _y| cotangent * x.sigmoid() * 1.01);
    let report = gradcheck(|x: &Tensor| wrong.call(x), &tensor![-2.0, 0.5, 3.0]).run().unwrap_err();
    println!("{report}");
    Ok(())
}
