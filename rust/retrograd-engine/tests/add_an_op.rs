//! The worked example of docs/architecture.md, "Add an op": an op defined outside the crate, from formula to gradient
//! check.

use retrograd_engine::autograd::apply::apply_as;
use retrograd_engine::autograd::primitive::Save;
use retrograd_engine::kernels::pointwise::Map1;
use retrograd_engine::kernels::real::Real;
use retrograd_engine::ops::pointwise::{Map, Pass, Unary};
use retrograd_engine::testing::{gradcheck, noise};
use retrograd_engine::{Result, Tensor};
use retrograd_macros::op;

// [example: op]
/// `softplus`: `ln(1 + e^x)`. Derivative: `sigmoid(x)`.
#[derive(Clone, Copy, Debug)]
pub struct Softplus;

impl<T: Real> Map1<T, T> for Softplus {
    #[inline(always)]
    fn f(&self, x: T) -> T {
        // ln(1 + e^x) = max(x, 0) + ln(1 + e^-|x|): the exponent is never positive, so nothing overflows.
        let positive = if x > T::ZERO { x } else { T::ZERO };
        positive.add(x.abs().neg().exp().ln_1p())
    }
}

impl Unary for Softplus {
    const NAME: &'static str = "softplus";
    const SAVE: &'static [Save] = &[Save::input(0, "self")];

    fn kernel(&self, pass: Pass) -> Result<()> {
        pass.floats(self)
    }
    fn vjp(&self, g: &Tensor, x: &Tensor) -> Result<Tensor> {
        g.mul(&x.sigmoid()?)
    }
}

/// The softplus of each element, `ln(1 + e^x)`.
///
/// Args: `input` any dtype; integers are converted to the default float dtype. Returns: same shape. Derivative:
/// `g * sigmoid(input)`.
#[op(function, inplace, norust)]
pub fn softplus(input: &Tensor) -> Result<Tensor> {
    apply_as(form, Map(Softplus), &[input])
}
// [end]

#[test]
fn the_rule_is_right_to_second_order() {
    for sizes in [&[][..], &[0], &[1], &[7], &[3, 5]] {
        gradcheck(&|xs| softplus(&xs[0]), &[noise(1, sizes)]);
    }
}

#[test]
fn the_entry_carries_what_python_needs() {
    assert_eq!(SOFTPLUS.name, "softplus");
    assert_eq!(SOFTPLUS.params.len(), 1);
    assert!(SOFTPLUS.doc.contains("Derivative"));
    let x = Tensor::from_slice(&[800.0f64, -800.0], &[2]).unwrap();
    assert_eq!(softplus(&x).unwrap().to_vec::<f64>().unwrap(), [800.0, 0.0]);
    assert_eq!(softplus_as(retrograd_engine::ops::Form::InPlace, &x).unwrap().id(), x.id());
}

#[test]
fn the_document_shows_this_file() {
    let root = concat!(env!("CARGO_MANIFEST_DIR"), "/../..");
    let document = std::fs::read_to_string(format!("{root}/docs/architecture.md")).unwrap();
    let source = include_str!("add_an_op.rs");
    let shown = source.split("// [example: op]\n").nth(1).unwrap().split("// [end]").next().unwrap();
    assert!(document.contains(shown.trim()), "docs/architecture.md does not show the op as it is here");
}
