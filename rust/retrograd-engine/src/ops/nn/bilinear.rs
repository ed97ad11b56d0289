//! Products of two inputs with a weight for every pair of their features.

use retrograd_macros::op;

use crate::error::{Error, Result};
use crate::ops::view;
use crate::tensor::{Dims, Tensor};

/// `y[o] = sum over i, j of input1[i] weight[o, i, j] input2[j] + bias[o]`, along the last axes.
///
/// Args: `input1` (..., n), `input2` (..., m) with the same leading sizes, `weight` (out, n, m), `bias` (out,).
/// Returns: a tensor of sizes (..., out). Derivative: that of the products. Raises: RuntimeError if sizes are
/// incompatible.
///
/// >>> weight = rg.tensor([[[1.0, 0.0], [0.0, 2.0]]])
/// >>> rg.nn.functional.bilinear(rg.tensor([[1.0, 2.0]]), rg.tensor([[3.0, 4.0]]), weight).tolist()
/// [[19.0]]
#[op(function, norust, module = "nn.functional", "(bias=None)")]
pub fn bilinear(input1: &Tensor, input2: &Tensor, weight: &Tensor, bias: Option<&Tensor>) -> Result<Tensor> {
    const OP: &str = "bilinear";
    let refuse = |detail: String| Err(Error::shape(OP, detail));
    if weight.ndim() != 3 || input1.ndim() == 0 {
        return refuse(format!("expected a weight with 3 dims and inputs with some, got {:?}", weight.sizes()));
    }
    if input1.ndim() != input2.ndim() {
        return refuse(format!(
            "bilinear(): input dimensions do not match: got {} and {}",
            input1.ndim(),
            input2.ndim()
        ));
    }
    let (&n, lead) = input1.sizes().split_last().expect("has dims");
    let (&m, lead2) = input2.sizes().split_last().expect("as many dims");
    if let Some(d) = (0..lead.len()).find(|&d| lead[d] != lead2[d]) {
        return refuse(format!(
            "bilinear(): input batch dimensions do not match at dim {d}: got {} and {}",
            lead[d], lead2[d]
        ));
    }
    let &[outs, wn, wm] = weight.sizes() else { unreachable!("3 dims") };
    for (name, got, expected) in [("input1", n, wn), ("input2", m, wm)] {
        if got != expected {
            return refuse(format!(
                "bilinear(): {name} size does not match weight size: got {got} but expected {expected}"
            ));
        }
    }
    if let Some(b) = bias.filter(|b| b.sizes() != [outs]) {
        return refuse(format!(
            "bilinear(): bias size does not match weight size: got {:?} but expected {outs}",
            b.sizes()
        ));
    }
    let rows = crate::tensor::layout::numel(lead);
    let wide = view::reshape_to(&weight.permute(&[1, 0, 2])?, &[n, outs * m])?;
    let halves = view::reshape_to(input1, &[rows, n])?.matmul(&wide)?;
    let halves = view::reshape_to(&halves, &[rows, outs, m])?;
    let products = halves.matmul(&view::reshape_to(input2, &[rows, m, 1])?)?;
    let mut sizes = Dims::from_slice(lead);
    sizes.push(outs);
    let y = view::reshape_to(&products, &sizes)?;
    bias.map_or_else(|| Ok(y.clone()), |b| y.add(b))
}
