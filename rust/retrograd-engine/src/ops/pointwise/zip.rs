//! Binary elementwise ops: the trait an op definition implements, and the one primitive that runs them all.

use std::fmt::Debug;

use super::promote::{Numeric2, OutType, forward2, forward2_into, result_type};
use super::unary::step;
use crate::autograd::Grads;
use crate::autograd::primitive::{Batch, Halves, Outs, Params, Primitive, Save, Tangents, Vjp, node_name, out};
use crate::error::Result;
use crate::tensor::sparse::refused;
use crate::tensor::{DType, Dtypes, Tensor};

/// A binary elementwise op with broadcasting and promotion.
pub trait Binary: Debug + Clone + Send + Sync + 'static {
    const NAME: &'static str;
    const NODE: &'static str = node_name::<Zip<Self>>();
    const SAVE: &'static [Save] = &[];
    const PARAMS: Params<Zip<Self>> = &[];
    const JVP: Tangents<Zip<Self>>;
    /// The dtypes that the kernel is there for, and that of results.
    type Class: OutType;
    type Kernel: Numeric2<Self::Class>;
    /// As [`Primitive::DTYPES`].
    const DTYPES: Dtypes = Self::Class::DTYPES;
    /// As [`Primitive::HALVES`].
    const HALVES: Halves = Halves::Loops;

    fn kernel(&self) -> Self::Kernel;
    /// As [`Primitive::vjp`].
    fn vjp(&self, cx: &Vjp) -> Result<Grads>;

    /// The dtype that both operands are converted to.
    fn computes_in(&self, xs: &[&Tensor]) -> Result<DType> {
        Ok(result_type(xs))
    }
    /// As [`Primitive::dtypes`].
    #[inline(always)]
    fn dtypes(&self) -> Dtypes {
        Self::DTYPES
    }
    /// Refuses values or dtypes for reasons of the op's own, after the dtype was found to be in the class.
    fn check(&self, _xs: &[&Tensor]) -> Result<()> {
        Ok(())
    }
    /// As [`Primitive::sparse`].
    fn sparse(&self, xs: &[&Tensor]) -> Result<Outs> {
        Err(refused(Self::NAME, xs))
    }
    /// The op's name in errors, where values of the type represent several ops.
    fn name(&self) -> &'static str {
        Self::NAME
    }
    fn kernel_name(&self) -> &'static str {
        self.name()
    }
    fn node(&self) -> &'static str {
        Self::NODE
    }
    /// As [`Primitive::inputs`].
    fn inputs(&self) -> u32 {
        u32::MAX
    }
}

/// Runs a [`Binary`] op as a primitive.
#[derive(Clone, Debug)]
pub struct Zip<B>(pub B);

impl<B: Binary> Primitive for Zip<B> {
    const NAME: &'static str = B::NAME;
    const NODE: &'static str = B::NODE;
    const SAVE: &'static [Save] = B::SAVE;
    const PARAMS: Params<Self> = B::PARAMS;
    const DTYPES: Dtypes = B::DTYPES;
    const BATCH: Batch<Self> = Batch::Pointwise;
    const JVP: Tangents<Self> = B::JVP;
    const HALVES: Halves = B::HALVES;
    #[inline(always)]
    fn dtypes(&self) -> Dtypes {
        self.0.dtypes()
    }
    fn node(&self) -> &'static str {
        self.0.node()
    }
    fn computes_in(&self, xs: &[&Tensor]) -> Result<DType> {
        self.0.computes_in(xs)
    }
    fn kernel_name(&self) -> &'static str {
        self.0.kernel_name()
    }
    fn sparse(&self, xs: &[&Tensor]) -> Result<Outs> {
        self.0.check(xs)?;
        self.0.sparse(xs)
    }
    fn forward(&self, xs: &[&Tensor]) -> Result<Outs> {
        self.forward_one(xs).map(out)
    }
    fn forward_one(&self, xs: &[&Tensor]) -> Result<Tensor> {
        self.0.check(xs)?;
        forward2(self.0.name(), &self.0.kernel(), xs[0], xs[1], self.0.computes_in(xs)?)
    }
    unsafe fn forward_into(&self, xs: &[&Tensor], out: &Tensor) -> Result<bool> {
        self.0.check(xs)?;
        let (op, dtype) = (self.0.name(), self.0.computes_in(xs)?);
        // SAFETY: duty 1 of callers.
        unsafe { forward2_into(op, &self.0.kernel(), xs[0], xs[1], dtype, out) }
    }
    fn runs_flat(&self, xs: &[&Tensor], out: &Tensor) -> bool {
        let Ok(common) = self.0.computes_in(xs) else { return false };
        let fits = |x: &Tensor| {
            let plain = x.dtype() == common && x.is_contiguous() && !x.is_number();
            plain && (x.sizes() == out.sizes() || x.numel() == 1)
        };
        common.half().is_none()
            && out.dtype() == B::Class::of(common)
            && out.is_contiguous()
            && xs.iter().all(|x| fits(x))
    }
    unsafe fn run_flat(&self, xs: &[&Tensor], out: &Tensor) {
        // SAFETY: (1, 3) duty 1 of callers; (2) their duty 2.
        unsafe { self.0.kernel().run_flat((xs[0], step(xs[0], out)), (xs[1], step(xs[1], out)), out) };
    }
    unsafe fn run_flat_at(&self, dtype: DType, [a, b]: [(*mut u8, isize); 2], out: *mut u8, n: usize) -> bool {
        // SAFETY: (1, 3) duty 1 of callers; (2) their duty 2.
        unsafe { self.0.kernel().run_flat_at(dtype, a, b, out, n) }
    }
    fn vjp(&self, cx: &Vjp) -> Result<Grads> {
        self.0.vjp(cx)
    }
    fn inputs(&self) -> u32 {
        self.0.inputs()
    }
}
