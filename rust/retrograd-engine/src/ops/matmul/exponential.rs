//! The exponential of a matrix.

use retrograd_macros::op;

use crate::autograd::Grads;
use crate::autograd::apply::apply1;
use crate::autograd::primitive::{Batch, Halves, Outs, Primitive, Save, Tangents, Vjp, maybe, one, out};
use crate::error::{Error, Result};
use crate::ops::pointwise::select::where_;
use crate::ops::view;
use crate::tensor::{DType, Dtypes, Scalar, Tensor};

/// `matrix_exp`: the derivative in a direction is a block of the exponential of a block matrix; reverse, that of the
/// transpose.
#[derive(Clone, Debug)]
struct MatrixExp;

/// The upper right block of the exponential of `[[a, d], [0, a]]`.
fn differential(a: &Tensor, d: &Tensor) -> Result<Tensor> {
    let n = *a.sizes().last().expect("a matrix");
    let upper = view::cat(&[a.clone(), d.clone()], -1)?;
    let lower = view::cat(&[Tensor::zeros(a.sizes(), a.dtype())?, a.clone()], -1)?;
    let whole = apply1(MatrixExp, &[&view::cat(&[upper, lower], -2)?])?;
    whole.narrow(-2, 0, n as i64)?.narrow(-1, n as i64, n as i64)
}

/// The number of powers of the series that are summed.
const DEGREE: usize = 18;

/// The largest norm for which so many powers leave an error below the last place.
fn largest_norm(dtype: DType) -> f64 {
    if dtype.real() == DType::Float32 { 3.010_066_362_817_634 } else { 1.090_863_719_290_036 }
}

/// The exponentials of matrices of small norm, by the series, three powers at a time.
fn series(a: &Tensor) -> Result<Tensor> {
    let n = *a.sizes().last().expect("a matrix");
    let identity = crate::ops::create::eye(n as i64, None, a.dtype().into())?;
    let square = a.matmul(a)?;
    let cube = square.matmul(a)?;
    let mut inverse = [1.0f64; DEGREE + 1];
    for k in 1..=DEGREE {
        inverse[k] = inverse[k - 1] / k as f64;
    }
    let part =
        |k: usize| identity.times(inverse[k])?.add(&a.times(inverse[k + 1])?)?.add(&square.times(inverse[k + 2])?);
    let mut sum = part(DEGREE - 3)?.add(&cube.times(inverse[DEGREE])?)?;
    for block in (0..DEGREE / 3 - 1).rev() {
        sum = sum.matmul(&cube)?.add(&part(3 * block)?)?;
    }
    Ok(sum)
}

impl Primitive for MatrixExp {
    const NAME: &'static str = "matrix_exp";
    const NODE: &'static str = "LinalgMatrixExpBackward0";
    const SAVE: &'static [Save] = &[Save::input(0, "self")];
    const DTYPES: Dtypes = Dtypes::FIELDS.or(Dtypes::HALVES);
    const HALVES: Halves = Halves::InFloat32;
    // The matrices are the last two dims, wherever a batch comes from.
    const BATCH: Batch<Self> = Batch::Lift(|op, _, _| Ok(op.clone()));
    fn forward(&self, xs: &[&Tensor]) -> Result<Outs> {
        let a = xs[0].detach();
        if a.numel() == 0 {
            return Tensor::empty(a.sizes(), a.dtype()).map(out);
        }
        // Halved until the norm is small, then squared as often.
        let norms = a.abs()?.sum_dims(&[-2], true)?.amax(&[-1], true)?;
        let often = |norm: &f64| (norm / largest_norm(a.dtype())).log2().ceil().clamp(0.0, 1024.0);
        let times: Vec<f64> = norms.to_vec::<f64>()?.iter().map(often).collect();
        let most = times.iter().copied().fold(0.0, f64::max);
        if most == 0.0 {
            return series(&a).map(out);
        }
        let times = crate::tensor::copy::cast(&Tensor::from_slice(&times, norms.sizes())?, norms.dtype())?;
        let halves = Tensor::full(&[], Scalar::Float(0.5), norms.dtype())?.pow(&times)?;
        let mut power = series(&a.mul(&halves)?)?;
        for turn in 0..most as i64 {
            let goes_on = times.gt(&Tensor::number(Scalar::Int(turn))?)?;
            power = where_(&goes_on, &power.matmul(&power)?, &power)?;
        }
        Ok(out(power))
    }
    fn vjp(&self, cx: &Vjp) -> Result<Grads> {
        differential(&cx.saved(0)?.transpose(-2, -1)?, cx.g()).map(one)
    }
    const JVP: Tangents<Self> =
        Tangents::Rule(|_, cx| cx.t(0).map(|t| differential(cx.xs[0], t)).transpose().map(maybe));
}

/// The exponential of a square matrix, or of each of a batch: `I + A + A^2 / 2 + A^3 / 6 + ...`.
///
/// Args: `input` (..., n, n), a floating or complex dtype. Returns: a tensor of the same shape. Derivative: the upper
/// right block of the exponential of `[[A^T, g], [0, A^T]]`. Raises: RuntimeError if the matrices are not square.
///
/// >>> rg.matrix_exp(rg.tensor([[0.0, 1.0], [0.0, 0.0]])).tolist()
/// [[1.0, 1.0], [0.0, 1.0]]
#[op(function, method)]
pub fn matrix_exp(input: &Tensor) -> Result<Tensor> {
    const OP: &str = "matrix_exp";
    let refuse = |detail: String| Err(Error::shape(OP, detail));
    match *input.sizes() {
        [.., rows, columns] if rows == columns => {}
        [.., rows, columns] => {
            return refuse(format!("A must be batches of square matrices, but they are {rows} by {columns} matrices"));
        }
        _ => return refuse("The input tensor A must have at least 2 dimensions.".into()),
    }
    if !input.dtype().is_differentiable() {
        return Err(Error::dtype(
            OP,
            format!("Expected a floating point or complex tensor as input. Got {}", input.dtype().scalar_type_name()),
        ));
    }
    apply1(MatrixExp, &[input])
}

/// The exponential of a square matrix, or of each of a batch; see `matrix_exp`.
///
/// Args: `A` as the `input` there.
///
/// >>> rg.linalg.matrix_exp(rg.tensor([[0.0, 1.0], [0.0, 0.0]])).tolist()
/// [[1.0, 1.0], [0.0, 1.0]]
#[op(function, out, module = "linalg", name = "matrix_exp")]
#[allow(non_snake_case)]
pub fn linalg_matrix_exp(A: &Tensor) -> Result<Tensor> {
    matrix_exp(A)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{gradcheck, noise};

    #[test]
    fn derivatives() {
        gradcheck(&|xs| xs[0].matrix_exp(), &[noise(1, &[3, 3])]);
        gradcheck(&|xs| xs[0].times(2.0)?.matrix_exp(), &[noise(2, &[2, 2, 2])]);
    }

    #[test]
    fn turns() {
        // A rotation by a large angle.
        let a = Tensor::from_slice(&[0.0, 30.0, -30.0, 0.0, 0.0, 0.5, -0.5, 0.0], &[2, 2, 2]).unwrap();
        let e = a.matrix_exp().unwrap().to_vec::<f64>().unwrap();
        for (got, want) in e.iter().zip([30f64.cos(), 30f64.sin(), -30f64.sin(), 30f64.cos(), 0.5f64.cos()]) {
            assert!((got - want).abs() < 1e-12, "{got} {want}");
        }
        assert!(noise(1, &[2, 3]).matrix_exp().is_err() && noise(1, &[2]).matrix_exp().is_err());
    }
}
