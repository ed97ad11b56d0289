//! Unary elementwise ops: the trait that a definition implements, and the one primitive that runs them all.

use std::fmt::Debug;
use std::marker::PhantomData;

use super::promote::{Floats, Lanes, Numeric2, OutType, check_half, forward2, forward2_into};
use super::scalar_loop::{run_blocks, run_in_complex, run_in_double};
use crate::autograd::Grads;
use crate::autograd::apply::{apply1, check_target};
use crate::autograd::primitive::{
    Batch, ComplexRule, Halves, Outs, Params, Primitive, Save, Source, Tangents, Vjp, maybe, node_name, one, out,
};
use crate::compile::record;
use crate::error::Result;
use crate::kernels::complex::C;
use crate::kernels::pointwise::{
    Body, Map1, Planar, RunBody, lanes1, magnitudes, map_halves1, map1, planar1, walk_lanes,
};
use crate::match_dtype;
use crate::tensor::complex::pairs;
use crate::tensor::copy::{self, operand};
use crate::tensor::{DType, Dtypes, Tensor, default_dtype};
use num_complex::Complex;

/// A unary elementwise op. Its derivative is diagonal, so one rule serves both directions.
pub trait Unary: Debug + Copy + Send + Sync + 'static {
    const NAME: &'static str;
    const NODE: &'static str = node_name::<Map<Self>>();
    /// The node's name, where values of the type represent several ops.
    fn node(&self) -> &'static str {
        Self::NODE
    }
    /// What the derivative is written in: `self` or `result`, or nothing (an empty list).
    const SAVE: &'static [Save];
    /// How the rule treats complex operands; one that is not [`ComplexRule::Analytic`] has a [`Unary::jvp`] of its
    /// own.
    const COMPLEX: ComplexRule = ComplexRule::Analytic;
    /// Dtype of the result for operands of this dtype, in which the kernel runs; integers become floats by default.
    fn result_dtype(&self, x: DType) -> Result<DType> {
        Ok(if x.is_integral() { default_dtype() } else { x })
    }
    /// The function of complex numbers, where there is one without a loop of its own.
    const OF_COMPLEX: Option<fn(C) -> C> = None;
    /// The dtypes that the op runs in, after [`Unary::result_dtype`].
    const DTYPES: Dtypes = with_complex(Dtypes::FLOATS.or(Dtypes::HALVES), Self::OF_COMPLEX);
    /// As [`Unary::DTYPES`] and [`Unary::OF_COMPLEX`], where values of the type represent several ops.
    #[inline(always)]
    fn dtypes(&self) -> Dtypes {
        Self::DTYPES
    }
    fn of_complex(&self) -> Option<fn(C) -> C> {
        Self::OF_COMPLEX
    }
    /// As [`Primitive::HALVES`].
    const HALVES: Halves = Halves::Loops;
    /// torch's name of the kernel.
    fn kernel_name(&self) -> &'static str {
        Self::NAME
    }
    /// Writes the result, unless [`Unary::of_complex`] is there for the dtype.
    fn kernel(&self, pass: Pass) -> Result<()>;
    /// `g` times the derivative; `saved` is what `SAVE` names (the operand itself if it names nothing).
    fn vjp(&self, g: &Tensor, saved: &Tensor) -> Result<Tensor>;
    /// The tangent: another product than [`Unary::vjp`] only where the derivative is not complex-analytic.
    fn jvp(&self, t: &Tensor, saved: &Tensor) -> Result<Tensor> {
        self.vjp(t, saved)
    }
    /// [`Unary::vjp`] in one unrecorded pass over memory, where that pays.
    fn fused(&self, _g: &Tensor, _saved: &Tensor) -> Option<Result<Tensor>> {
        None
    }
    /// Parameters shown as `_saved_*`.
    const PARAMS: Params<Map<Self>> = &[];
}

/// The dtypes, and complex ones if there is a function of them.
pub(super) const fn with_complex<F: Copy>(dtypes: Dtypes, of_complex: Option<F>) -> Dtypes {
    if of_complex.is_some() { dtypes.or(Dtypes::COMPLEX) } else { dtypes }
}

/// Runs a [`Unary`] op as a primitive.
#[derive(Clone, Copy, Debug)]
pub struct Map<U>(pub U);

impl<U: Unary> Map<U> {
    fn run(&self, pass: Pass) -> Result<()> {
        match self.0.of_complex() {
            Some(f) if pass.dtype().is_complex() => pass.in_complex(&f),
            _ => self.0.kernel(pass),
        }
    }
}

impl<U: Unary> Primitive for Map<U> {
    const NAME: &'static str = U::NAME;
    const SAVE: &'static [Save] = U::SAVE;
    const PARAMS: Params<Self> = U::PARAMS;
    const DTYPES: Dtypes = U::DTYPES;
    const BATCH: Batch<Self> = Batch::Pointwise;
    const COMPLEX: ComplexRule = U::COMPLEX;
    const HALVES: Halves = U::HALVES;
    fn computes_in(&self, xs: &[&Tensor]) -> Result<DType> {
        self.0.result_dtype(xs[0].dtype())
    }
    #[inline(always)]
    fn dtypes(&self) -> Dtypes {
        self.0.dtypes()
    }
    fn kernel_name(&self) -> &'static str {
        self.0.kernel_name()
    }
    fn node(&self) -> &'static str {
        self.0.node()
    }
    fn sparse(&self, xs: &[&Tensor]) -> Result<Outs> {
        crate::ops::sparse::unary(self, xs)
    }
    fn forward(&self, xs: &[&Tensor]) -> Result<Outs> {
        self.forward_one(xs).map(out)
    }
    fn forward_one(&self, xs: &[&Tensor]) -> Result<Tensor> {
        let dtype = self.0.result_dtype(xs[0].dtype())?;
        let converted = if xs[0].dtype() == dtype { None } else { Some(copy::cast(xs[0], dtype)?) };
        let x = converted.as_ref().unwrap_or(xs[0]);
        let result = x.empty_elementwise(dtype)?;
        // SAFETY: (1) the result has the sizes of the operand and is made in its dtype; (2, 3) it is fresh.
        self.run(unsafe { Pass::new(x, &result) })?;
        Ok(result)
    }
    unsafe fn forward_into(&self, xs: &[&Tensor], out: &Tensor) -> Result<bool> {
        let dtype = self.0.result_dtype(xs[0].dtype())?;
        check_target(U::NAME, xs[0].sizes(), dtype, out)?;
        if dtype != out.dtype() {
            return Ok(false);
        }
        let x = xs[0];
        if x.dtype() != dtype || !x.is_same(out) && copy::ranges_meet(x, out) {
            return Ok(false);
        }
        // SAFETY: (1) both were checked; (2) it is the operand itself, or they share no memory; (3) duty 1 of callers.
        self.run(unsafe { Pass::new(x, out) })?;
        Ok(true)
    }
    fn runs_flat(&self, xs: &[&Tensor], out: &Tensor) -> bool {
        let x = xs[0];
        let plain = x.is_contiguous() && out.is_contiguous() && x.sizes() == out.sizes();
        let dtypes = x.dtype() == out.dtype() && x.dtype().half().is_none() && !x.dtype().is_complex();
        plain && dtypes && self.0.result_dtype(x.dtype()).is_ok_and(|dtype| dtype == x.dtype())
    }
    unsafe fn run_flat(&self, xs: &[&Tensor], out: &Tensor) {
        // SAFETY: (1, 3) duty 1 of callers; (2) their duty 2.
        let done = self.run(unsafe { Pass::new(xs[0], out) });
        debug_assert!(done.is_ok(), "{}: refused what it had taken: {done:?}", U::NAME);
    }
    fn vjp(&self, cx: &Vjp) -> Result<Grads> {
        let saved = if U::SAVE.is_empty() { cx.g() } else { cx.saved(0)? };
        // The fused pass knows neither tapes nor tangents.
        let plain = !cx.differentiating();
        match plain.then(|| self.0.fused(cx.g(), saved)).flatten() {
            Some(grad) => grad.map(one),
            None => self.0.vjp(cx.g(), saved).map(one),
        }
    }
    const JVP: Tangents<Self> = Tangents::Rule(|op, cx| {
        let saved = match U::SAVE.first().map(|k| k.source) {
            Some(Source::Output(_)) => &cx.outs[0],
            _ => cx.xs[0],
        };
        let Some(t) = cx.t(0) else { return Ok(maybe(None)) };
        let fused = if cx.differentiating() { None } else { op.0.fused(t, saved) };
        fused.unwrap_or_else(|| op.0.jvp(t, saved)).map(one)
    });
}

/// One pass over memory: the operand, and the tensor that results are written to.
///
/// Outside of the crate it is only handed on, so a kernel gets tensors that fit and no others. Its loops return a
/// result as kernels do.
#[derive(Clone, Copy)]
pub struct Pass<'a> {
    x: &'a Tensor,
    out: &'a Tensor,
}

impl<'a> Pass<'a> {
    /// # Safety
    /// 1. Both have the same sizes, and the same dtype unless the loop says otherwise. 2. `out` is `x` itself, or
    ///    disjoint from it. 3. No two elements of `out` share memory.
    pub(crate) unsafe fn new(x: &'a Tensor, out: &'a Tensor) -> Self {
        Self { x, out }
    }
    /// The operand, in the dtype that the kernel runs in.
    pub fn operand(&self) -> &'a Tensor {
        self.x
    }
    pub fn dtype(&self) -> DType {
        self.x.dtype()
    }
    /// Writes the operand.
    pub fn copy(self) -> Result<()> {
        copy::copy_into(self.x, self.out)
    }
    /// Writes another tensor, which broadcasts.
    pub(super) fn write(self, x: &Tensor) -> Result<()> {
        copy::copy_into(x, self.out)
    }
    /// The loop for float32, float64 and halves.
    pub fn floats<K: Map1<f32, f32> + Map1<f64, f64>>(self, k: &K) -> Result<()> {
        let Pass { x, out } = self;
        match_dtype!(floats, x.dtype(), T => {
            // SAFETY: (1) S1, S3 and those of `new`; (2, 3) those of `new`.
            unsafe { map1(k, x.sizes(), x.ptr::<T>().cast_const(), x.strides(), out.ptr::<T>(), out.strides()) };
            Ok(())
        }, else self.halves(k))
    }
    /// The loop for the integer types and what [`Pass::floats`] takes.
    pub fn numeric<K>(self, k: &K) -> Result<()>
    where
        K: Map1<u8, u8>
            + Map1<i8, i8>
            + Map1<i16, i16>
            + Map1<i32, i32>
            + Map1<i64, i64>
            + Map1<f32, f32>
            + Map1<f64, f64>,
    {
        let Pass { x, out } = self;
        match_dtype!(reals, x.dtype(), T => {
            // SAFETY: as in `floats`.
            unsafe { map1(k, x.sizes(), x.ptr::<T>().cast_const(), x.strides(), out.ptr::<T>(), out.strides()) };
            Ok(())
        }, else self.halves(k))
    }
    /// The loop for the integer types.
    pub(super) fn integers<K>(self, k: &K) -> Result<()>
    where
        K: Map1<u8, u8> + Map1<i8, i8> + Map1<i16, i16> + Map1<i32, i32> + Map1<i64, i64>,
    {
        let Pass { x, out } = self;
        match_dtype!(ints, x.dtype(), T => {
            // SAFETY: as in `floats`.
            unsafe { map1(k, x.sizes(), x.ptr::<T>().cast_const(), x.strides(), out.ptr::<T>(), out.strides()) };
        });
        Ok(())
    }
    /// The loop of halves, which the walk gives as float32.
    fn halves<K: Map1<f32, f32>>(self, k: &K) -> Result<()> {
        let Pass { x, out } = self;
        check_half(x.dtype());
        // SAFETY: as in `floats`.
        unsafe { map_halves1(k, x.sizes(), operand(out, out.strides()), operand(x, x.strides())) };
        Ok(())
    }
    /// The loop over the bits of halves, for what changes no more than their signs.
    pub(super) fn bits_of_halves<K: Map1<u16, u16>>(self, k: &K) -> Result<()> {
        let Pass { x, out } = self;
        check_half(x.dtype());
        let (from, to) = (x.op_ptr().cast::<u16>().cast_const(), out.op_ptr().cast());
        // SAFETY: as in `floats`, for halves as what they are stored in.
        unsafe { map1(k, x.sizes(), from, x.strides(), to, out.strides()) };
        Ok(())
    }
    /// As [`Pass::floats`], for bodies written in vectors.
    pub fn lanes<K: Body<f32, 1> + Body<f64, 1>>(self, k: &K) -> Result<()> {
        let Pass { x, out } = self;
        match_dtype!(floats, x.dtype(), T => {
            // SAFETY: as in `floats`.
            unsafe { lanes1(k, x.sizes(), x.ptr::<T>().cast_const(), x.strides(), out.ptr::<T>(), out.strides()) };
        }, else self.lanes_of_halves(k));
        Ok(())
    }
    /// The loop of halves over a body in vectors, to which the walk gives them as float32.
    fn lanes_of_halves<K: Body<f32, 1>>(self, k: &K) {
        let Pass { x, out } = self;
        check_half(x.dtype());
        // SAFETY: as in `floats`.
        unsafe { walk_lanes(k, x.sizes(), [operand(out, out.strides()), operand(x, x.strides())]) };
    }
    /// The loop of a function in double precision, which serves float32 too.
    pub(super) fn in_double(self, f: &(dyn Fn(f64) -> f64 + Sync)) -> Result<()> {
        run_in_double([self.x], self.out, &|[x]| f(x));
        Ok(())
    }
    /// As [`Pass::in_double`], of a function over blocks.
    pub(super) fn blocks(self, f: RunBody<f64, 1>) -> Result<()> {
        run_blocks([self.x], self.out, f);
        Ok(())
    }
    /// A body in vectors for float32, and blocks for float64.
    pub(super) fn single_or_blocks<K: Body<f32, 1>>(self, k: &K, f: RunBody<f64, 1>) -> Result<()> {
        let Pass { x, out } = self;
        match x.dtype() {
            DType::Float64 => return self.blocks(f),
            // SAFETY: as in `floats`, for the dtype of both.
            DType::Float32 => unsafe {
                lanes1(k, x.sizes(), x.ptr::<f32>().cast_const(), x.strides(), out.ptr::<f32>(), out.strides());
            },
            _ => self.lanes_of_halves(k),
        }
        Ok(())
    }
    /// The loop of a function of complex numbers in double precision, which serves complex64 too.
    pub(super) fn in_complex(self, f: &(dyn Fn(C) -> C + Sync)) -> Result<()> {
        run_in_complex([self.x], self.out, &|[x]| f(x));
        Ok(())
    }
    /// The loop of a function of complex numbers.
    pub(super) fn complex<K>(self, k: &K) -> Result<()>
    where
        K: Map1<Complex<f32>, Complex<f32>> + Map1<Complex<f64>, Complex<f64>>,
    {
        let Pass { x, out } = self;
        match_dtype!(complex, x.dtype(), T => {
            // SAFETY: as in `floats`.
            unsafe { map1(k, x.sizes(), x.ptr::<T>().cast_const(), x.strides(), out.ptr::<T>(), out.strides()) };
        });
        Ok(())
    }
    /// The loop over the parts of complex numbers, which are not to be conjugated.
    pub(super) fn parts<K: Map1<f32, f32> + Map1<f64, f64>>(self, k: &K) -> Result<()> {
        let (x, out) = (pairs(self.x)?, pairs(self.out)?);
        // SAFETY: those of `new` hold for the parts as for the numbers.
        unsafe { Pass::new(&x, &out) }.floats(k)
    }
    /// As [`Pass::complex`], for bodies written in vectors of the parts.
    pub(super) fn planar<K: Planar<f32> + Planar<f64>>(self, k: &K) -> Result<()> {
        let Pass { x, out } = self;
        match_dtype!(complex, x.dtype(), T => {
            // SAFETY: as in `floats`.
            unsafe { planar1(k, x.sizes(), x.ptr::<T>().cast_const(), x.strides(), out.ptr::<T>(), out.strides()) };
        });
        Ok(())
    }
    /// Writes the magnitudes of complex numbers to a result of the dtype of their parts.
    pub(super) fn magnitudes(self) -> Result<()> {
        let Pass { x, out } = self;
        match_dtype!(floats, out.dtype(), T => {
            let p = x.ptr::<Complex<T>>().cast_const();
            // SAFETY: as in `floats`; no two elements of complex numbers and of their parts are the same memory.
            unsafe { magnitudes(x.sizes(), p, x.strides(), out.ptr::<T>(), out.strides()) };
        });
        Ok(())
    }
}

/// A derivative rule as one kernel over `g` and what was saved, for [`Unary::fused`]; there are none for complex
/// numbers, of which one of the two may be.
pub(super) fn fuse<K: Rule<Floats>>(op: &'static str, kernel: K, g: &Tensor, saved: &Tensor) -> Option<Result<Tensor>> {
    one_pass(OnePass { op, kernel, class: PhantomData::<Floats> }, g, saved)
}

/// As [`fuse`], for rules written in vectors.
pub(super) fn fuse_lanes<K: Rule<Lanes>>(
    op: &'static str,
    kernel: K,
    g: &Tensor,
    saved: &Tensor,
) -> Option<Result<Tensor>> {
    one_pass(OnePass { op, kernel, class: PhantomData::<Lanes> }, g, saved)
}

fn one_pass<K: Rule<O>, O: OutType + Debug + Send + Sync + 'static>(
    rule: OnePass<K, O>,
    g: &Tensor,
    saved: &Tensor,
) -> Option<Result<Tensor>> {
    if !(g.dtype().is_floating() && saved.dtype().is_floating()) {
        return None;
    }
    Some(match record::is_recording() {
        true => apply1(rule, &[g, saved]),
        false => forward2::<_, O>(rule.op, &rule.kernel, g, saved, g.dtype()),
    })
}

/// How far a flat loop moves in an operand, from one element to the next.
pub(super) fn step(x: &Tensor, out: &Tensor) -> isize {
    isize::from(x.numel() > 1 || out.numel() == 1)
}

/// The kernel of a rule.
pub(super) trait Rule<O>: Numeric2<O> + Debug + Copy + Send + Sync + 'static {}
impl<O, K: Numeric2<O> + Debug + Copy + Send + Sync + 'static> Rule<O> for K {}

/// A derivative rule in one pass, as an op for who records what functions do. Nobody differentiates it: in a rule that
/// is differentiated in turn, ops stand in its place.
#[derive(Debug)]
struct OnePass<K, O> {
    op: &'static str,
    kernel: K,
    class: PhantomData<O>,
}

impl<K: Copy, O> Clone for OnePass<K, O> {
    fn clone(&self) -> Self {
        Self { op: self.op, kernel: self.kernel, class: PhantomData }
    }
}

impl<K: Rule<O>, O: OutType + Debug + Send + Sync + 'static> Primitive for OnePass<K, O> {
    const NAME: &'static str = "derivative";
    const SAVE: &'static [Save] = &[];
    const BATCH: Batch<Self> = Batch::Pointwise;
    const JVP: Tangents<Self> = Tangents::Zero;
    fn forward(&self, xs: &[&Tensor]) -> Result<Outs> {
        self.forward_one(xs).map(out)
    }
    fn forward_one(&self, xs: &[&Tensor]) -> Result<Tensor> {
        forward2::<_, O>(self.op, &self.kernel, xs[0], xs[1], xs[0].dtype())
    }
    unsafe fn forward_into(&self, xs: &[&Tensor], out: &Tensor) -> Result<bool> {
        // SAFETY: duty 1 of callers.
        unsafe { forward2_into::<_, O>(self.op, &self.kernel, xs[0], xs[1], xs[0].dtype(), out) }
    }
    fn runs_flat(&self, xs: &[&Tensor], out: &Tensor) -> bool {
        let fits =
            |x: &&Tensor| x.dtype() == out.dtype() && x.is_contiguous() && (x.sizes() == out.sizes() || x.numel() == 1);
        out.dtype().half().is_none() && out.is_contiguous() && xs.iter().all(fits)
    }
    unsafe fn run_flat(&self, xs: &[&Tensor], out: &Tensor) {
        // SAFETY: (1, 3) duty 1 of callers; (2) their duty 2.
        unsafe { self.kernel.run_flat((xs[0], step(xs[0], out)), (xs[1], step(xs[1], out)), out) };
    }
    unsafe fn run_flat_at(&self, dtype: DType, [a, b]: [(*mut u8, isize); 2], out: *mut u8, n: usize) -> bool {
        // SAFETY: (1, 3) duty 1 of callers; (2) their duty 2.
        unsafe { self.kernel.run_flat_at(dtype, a, b, out, n) }
    }
    fn vjp(&self, _: &Vjp) -> Result<Grads> {
        Err(crate::Error::autograd(format!("{}: the one-pass form of its rule has no derivative", self.op)))
    }
}

/// Lists bodies in vectors, for kernels of the functions in `kernels::math`: `elementary!(Exp, |x| math::exp(x))`, with
/// two arguments for a body of two operands.
macro_rules! elementary {
    ($kernel:ty, $(const $NAME:ident = $value:expr;)? |$($x:ident),+| $e:expr) => {
        impl<T: crate::kernels::real::Real> crate::kernels::pointwise::Body<T, { [$(stringify!($x)),+].len() }> for $kernel {
            $(const $NAME: bool = $value;)?
            #[inline(always)]
            fn f<V: crate::kernels::simd::Vector<Elem = T>>(
                &self,
                [$($x),+]: [V; { [$(stringify!($x)),+].len() }],
            ) -> V {
                $e
            }
        }
    };
}
pub(crate) use elementary;

/// Lists scalar bodies of kernels: `body!(Exp, Real, |x| x.exp())`, with two arguments for a body of two operands.
macro_rules! body {
    ($kernel:ty, $bound:path, $(const $NAME:ident = $value:expr;)* |$x:ident| $e:expr) => {
        impl<T: $bound> crate::kernels::pointwise::Map1<T, T> for $kernel {
            $(const $NAME: bool = $value;)*
            #[inline(always)]
            fn f(&self, $x: T) -> T {
                $e
            }
        }
    };
    ($kernel:ty, $bound:path, $(const $NAME:ident = $value:expr;)? |$x:ident, $y:ident| $e:expr) => {
        impl<T: $bound> crate::kernels::pointwise::Map2<T, T, T> for $kernel {
            $(const $NAME: bool = $value;)?
            #[inline(always)]
            fn f(&self, $x: T, $y: T) -> T {
                $e
            }
        }
    };
}
pub(super) use body;

/// Checks a fused rule against the rule in tensor ops.
#[cfg(test)]
pub(super) fn check_fused<U: Unary>(u: U, x: &Tensor) {
    use crate::testing::noise;
    let g = noise(5, x.sizes());
    let y = crate::autograd::apply::apply1(Map(u), &[x]).unwrap();
    let saved = if matches!(U::SAVE[0].source, Source::Output(_)) { &y } else { x };
    let fused = u.fused(&g, saved).expect("has a fused rule").unwrap().to_vec::<f64>().unwrap();
    for (a, b) in fused.iter().zip(u.vjp(&g, saved).unwrap().to_vec::<f64>().unwrap()) {
        assert!((a - b).abs() <= 1e-14 * b.abs().max(1.0), "{}: {a} against {b}", U::NAME);
    }
}
