//! How a program checks its derivatives in its tests.
//!
//!     cargo test --example gradcheck

use retrograd::prelude::*;

/// The log-likelihood of counts under rates, without its constant.
fn log_likelihood(log_rates: &Tensor, counts: &Tensor) -> Tensor {
    (counts * log_rates - log_rates.exp()).sum()
}

/// Its gradient, as one might write it by hand.
fn by_hand() -> retrograd::CustomOp<(Tensor, Tensor), Tensor> {
    custom_op(
        "log_likelihood",
        |(log_rates, counts): &(Tensor, Tensor)| log_likelihood(log_rates, counts),
        |cotangent, (log_rates, counts), _| (Some(cotangent * (counts - log_rates.exp())), Some(cotangent * log_rates)),
    )
}

pub fn main() -> Result<()> {
    let inputs = (tensor![0.1, 0.7, -0.4], tensor![1.0, 3.0, 0.0]);
    let value = by_hand().call((&inputs.0, &inputs.1));
    println!("log-likelihood {:.6}", value.item::<f64>()?);
    assert!(value.allclose(&log_likelihood(&inputs.0, &inputs.1)));
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn derivatives_agree_with_differences() {
        // In float64: differences of float32 numbers have few digits.
        let inputs = (tensor![0.1, 0.7, -0.4], tensor![1.0, 3.0, 0.0]);
        let op = by_hand();
        gradcheck(|(r, c): &(Tensor, Tensor)| op.call((r, c)), &inputs).forward(true).second(true).run().unwrap();
    }

    #[test]
    fn a_wrong_gradient_is_found() {
        let op = custom_op("square", |x: &Tensor| x * x, |cotangent, x, _| cotangent * x);
        let report = gradcheck(|x: &Tensor| op.call(x), &tensor![0.5, 2.0]).run().unwrap_err();
        println!("{report}");
    }
}
