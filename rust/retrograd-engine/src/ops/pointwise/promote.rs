//! Promotion, broadcasting and the loop of binary ops.

use std::borrow::Cow;
use std::cmp::Ordering;
use std::mem::MaybeUninit;

use num_complex::Complex;
use smallvec::SmallVec;

use crate::error::{Error, Result};
use crate::kernels::pointwise::{Body, Map2, lanes2, map_halves2, map2, map2_contiguous, walk_lanes, walk2};
use crate::kernels::thresholds::pointwise::STRIDED_PIECE;
use crate::match_dtype;
use crate::tensor::copy::{self, operand};
use crate::tensor::dtype::undeclared;
use crate::tensor::layout::{self, Dims, Strides, expanded_strides};
use crate::tensor::{Category, DType, Dtypes, FromScalar, Scalar, Tensor, Truth, default_dtype};

/// The dtype that the operands are converted to: tensors with dims outrank 0-dim ones, which outrank numbers, within a
/// category (semantics DTYP-4).
#[inline]
pub fn result_type(xs: &[&Tensor]) -> DType {
    if let [a, b] = xs {
        let (x, y) = (a.dtype(), b.dtype());
        match (a.is_number(), b.is_number()) {
            (false, false) if x == y => return x,
            // A number only raises the category.
            (false, true) if y.category() <= x.category() => return x,
            (true, false) if x.category() <= y.category() => return y,
            _ => {}
        }
    }
    result_type_of_ranks(xs)
}

fn result_type_of_ranks(xs: &[&Tensor]) -> DType {
    let mut ranks: [Option<DType>; 3] = [None; 3];
    for x in xs {
        let (rank, dtype) = if x.is_number() {
            let dtype = match x.dtype().category() {
                Category::Float => default_dtype(),
                Category::Complex if default_dtype() == DType::Float64 => DType::Complex128,
                Category::Complex => DType::Complex64,
                _ => x.dtype(),
            };
            (2, dtype)
        } else {
            (usize::from(x.ndim() == 0), x.dtype())
        };
        ranks[rank] = Some(ranks[rank].map_or(dtype, |d| d.promote(dtype)));
    }
    let combine = |high: Option<DType>, low: Option<DType>| match (high, low) {
        (Some(h), Some(l)) if l.category() > h.category() => Some(match (h, l) {
            // Complex with floats of a higher rank: the complex dtype of that float's precision.
            (h, l) if h.is_floating() && l.is_complex() => h.complex(),
            _ => l,
        }),
        (Some(h), _) => Some(h),
        (None, l) => l,
    };
    combine(combine(ranks[0], ranks[1]), ranks[2]).unwrap_or_else(default_dtype)
}

/// A fresh tensor for a result, in the memory order of the operands.
pub fn out_like(sizes: &[usize], dtype: DType, xs: &[&Tensor]) -> Result<Tensor> {
    if xs.iter().all(|x| x.is_contiguous() && x.sizes() == sizes) {
        return Tensor::empty(sizes, dtype);
    }
    let all: SmallVec<[Strides; 3]> = xs.iter().map(|x| expanded_strides(x.sizes(), x.strides(), sizes)).collect();
    let mut strides = Strides::from_elem(0, sizes.len());
    let mut step = 1isize;
    for axis in inner_to_outer(sizes, &all) {
        strides[axis] = step;
        step = step.saturating_mul(sizes[axis].max(1) as isize);
    }
    Tensor::empty_strided(sizes, &strides, dtype)
}

/// As [`out_like`] for a contiguous operand and a single element: only strides along axes of size 1 may differ.
fn out_beside_one(x: &Tensor, one: &Tensor, dtype: DType) -> Result<Tensor> {
    if x.sizes().contains(&1) { out_like(x.sizes(), dtype, &[x, one]) } else { x.empty_beside(dtype) }
}

/// The axes from the innermost to the outermost, as torch orders them: of two axes, the first operand that is broadcast
/// along neither and has different strides along them decides.
fn inner_to_outer(sizes: &[usize], all: &[Strides]) -> Dims {
    let lies_outside = |a: usize, b: usize| {
        for s in all.iter().filter(|s| s[a] != 0 && s[b] != 0) {
            match s[a].cmp(&s[b]) {
                Ordering::Equal if sizes[a] > sizes[b] => return Some(true),
                Ordering::Equal => {}
                other => return Some(other == Ordering::Greater),
            }
        }
        None
    };
    let mut order: Dims = (0..sizes.len()).rev().collect();
    for i in 1..order.len() {
        let mut at = i;
        for j in (0..i).rev() {
            match lies_outside(order[j], order[at]) {
                Some(true) => {
                    order.swap(j, at);
                    at = j;
                }
                Some(false) => break,
                None => {}
            }
        }
    }
    order
}

/// The broadcast shape of two operands.
pub fn binary_shape(op: &'static str, a: &Tensor, b: &Tensor) -> Result<Dims> {
    layout::broadcast(op, a.sizes(), b.sizes())
}

/// Both operands converted to `common`, which is in the class, through `k`, to a fresh tensor.
pub(crate) fn forward2<K, O>(op: &'static str, k: &K, a: &Tensor, b: &Tensor, common: DType) -> Result<Tensor>
where
    K: Numeric2<O>,
    O: OutType,
{
    let out_dtype = O::of(common);
    let alike = a.dtype() == common && b.dtype() == common && layout::same_sizes(a.sizes(), b.sizes());
    if alike && a.is_contiguous() && b.is_contiguous() {
        let out = a.empty_beside(out_dtype)?;
        // SAFETY: (1) as tested; (2, 3) the output is fresh.
        unsafe { k.run_flat((a, 1), (b, 1), &out) };
        return Ok(out);
    }
    if a.dtype() == common && is_one_beside(b, a) && a.is_contiguous() {
        return forward2_few(k, a, b, false, common);
    }
    if b.dtype() == common && is_one_beside(a, b) && b.is_contiguous() {
        return forward2_few(k, b, a, true, common);
    }
    forward2_general(op, k, a, b, common)
}

/// Whether `one` is a single element, such as a number, for an op with the few elements of `x`.
#[inline(always)]
fn is_one_beside(one: &Tensor, x: &Tensor) -> bool {
    one.numel() == 1 && x.numel() <= FEW && one.ndim() <= x.ndim() && x.dtype().half().is_none()
}

/// [`forward2`] of a contiguous tensor of the common dtype and a single element, which is an operand of the loop
/// without a tensor of the common dtype in between.
fn forward2_few<K, O>(k: &K, x: &Tensor, one: &Tensor, one_first: bool, common: DType) -> Result<Tensor>
where
    K: Numeric2<O>,
    O: OutType,
{
    let out = out_beside_one(x, one, O::of(common))?;
    // SAFETY: (1) callers have tested it; (2, 3) the output is fresh, of the sizes of the contiguous operand.
    unsafe { k.run_few(x, one.item()?, one_first, &out)? };
    Ok(out)
}

fn forward2_general<K, O>(op: &'static str, k: &K, a: &Tensor, b: &Tensor, common: DType) -> Result<Tensor>
where
    K: Numeric2<O>,
    O: OutType,
{
    let (ca, cb) = (converted::<O>(a, common)?, converted::<O>(b, common)?);
    let (a, b) = (&*ca, &*cb);
    // A contiguous tensor and a single element, such as a number.
    let alike = a.dtype() == b.dtype();
    if alike && a.is_contiguous() && b.numel() == 1 && b.ndim() <= a.ndim() {
        let out = out_beside_one(a, b, O::of(common))?;
        // SAFETY: (1) as tested; (2, 3) the output is fresh, of the sizes of the contiguous operand.
        unsafe { k.run_flat((a, 1), (b, 0), &out) };
        return Ok(out);
    }
    if alike && b.is_contiguous() && a.numel() == 1 && a.ndim() <= b.ndim() {
        let out = out_beside_one(b, a, O::of(common))?;
        // SAFETY: (1) as tested; (2, 3) the output is fresh, of the sizes of the contiguous operand.
        unsafe { k.run_flat((a, 0), (b, 1), &out) };
        return Ok(out);
    }
    let sizes = binary_shape(op, a, b)?;
    let out = out_like(&sizes, O::of(common), &[a, b])?;
    // SAFETY: (1) the sizes are those that the operands broadcast to; (2, 3) the output is fresh.
    unsafe { k.run(a, b, &out) };
    Ok(out)
}

/// The operand in the common dtype. A single element does not go through the strided conversion. A number combined with
/// halves stays a float32, in which halves are computed, unless results are bools.
fn converted<'a, O: OutType>(x: &'a Tensor, common: DType) -> Result<Cow<'a, Tensor>> {
    if x.dtype() == common {
        return Ok(Cow::Borrowed(x));
    }
    if x.ndim() == 0 && O::of(common).half().is_some() {
        return Tensor::full(&[], x.item()?, DType::Float32).map(Cow::Owned);
    }
    if x.numel() == 1 {
        return Tensor::full(x.sizes(), x.item()?, common).map(Cow::Owned);
    }
    copy::cast(x, common).map(Cow::Owned)
}

/// As [`forward2`], into an existing tensor; `false` if its dtype is another than the result's.
///
/// # Safety
/// No two elements of `out` share memory.
pub(crate) unsafe fn forward2_into<K, O>(
    op: &'static str,
    k: &K,
    a: &Tensor,
    b: &Tensor,
    common: DType,
    out: &Tensor,
) -> Result<bool>
where
    K: Numeric2<O>,
    O: OutType,
{
    // The usual target: operand 0, which has the dtype and the sizes of the result.
    if a.is_same(out) && out.is_contiguous() && out.dtype() == common && O::of(common) == common {
        if b.dtype() == common && b.is_contiguous() && layout::same_sizes(b.sizes(), out.sizes()) && are_apart(b, out) {
            // SAFETY: (1, 2) as tested; (3) the duty of callers.
            unsafe { k.run_flat((a, 1), (b, 1), out) };
            return Ok(true);
        }
        if is_one_beside(b, out) {
            // SAFETY: (1) as tested; (2) operand 0 is the output; (3) the duty of callers.
            unsafe { k.run_few(a, b.item()?, false, out)? };
            return Ok(true);
        }
    }
    // The usual case beside that: all lie in the same way, and the target apart from the operands.
    let whole = |x: &Tensor| x.dtype() == common && x.is_contiguous() && x.sizes() == out.sizes();
    if out.is_contiguous()
        && out.dtype() == O::of(common)
        && whole(a)
        && whole(b)
        && !copy::ranges_meet(a, out)
        && !copy::ranges_meet(b, out)
    {
        // SAFETY: (1) as tested; (2) no operand shares memory with the output; (3) the duty of callers.
        unsafe { k.run_flat((a, 1), (b, 1), out) };
        return Ok(true);
    }
    let sizes = binary_shape(op, a, b)?;
    crate::autograd::apply::check_target(op, &sizes, O::of(common), out)?;
    if out.dtype() != O::of(common) {
        return Ok(false);
    }
    let (a, b) = (converted::<O>(a, common)?, converted::<O>(b, common)?);
    // An operand that overlaps the target in another layout would be read after it was written.
    let apart = |x| -> Result<Cow<'_, Tensor>> {
        let x: Cow<'_, Tensor> = x;
        let same = || x.op_ptr() == out.op_ptr() && x.strides() == out.strides() && x.sizes() == out.sizes();
        if x.is_same(out) || same() || !copy::ranges_meet(&x, out) { Ok(x) } else { copy::copy(&x).map(Cow::Owned) }
    };
    let (a, b) = (apart(a)?, apart(b)?);
    let whole = |x: &Tensor| x.is_contiguous() && x.sizes() == out.sizes();
    if a.dtype() == b.dtype() && whole(out) && whole(&a) && (whole(&b) || b.numel() == 1) {
        // SAFETY: (1) as tested; (2) operands are the target or disjoint from it; (3) the duty of callers.
        unsafe { k.run_flat((&a, 1), (&b, isize::from(whole(&b))), out) };
    } else {
        // SAFETY: (1) the sizes were checked to be those that the operands broadcast to; (2, 3) as above.
        unsafe { k.run(&a, &b, out) };
    }
    Ok(true)
}

/// Whether two contiguous tensors of one dtype and size have the same elements in the same places, or none in common.
#[inline(always)]
fn are_apart(a: &Tensor, b: &Tensor) -> bool {
    let (bytes, a, b) = (a.nbytes(), a.op_ptr().addr(), b.op_ptr().addr());
    a.abs_diff(b) >= bytes || a == b
}

/// What operands a kernel takes, and what its results are.
pub trait OutType {
    /// The dtypes that the kernel is there for.
    const DTYPES: Dtypes;
    /// The dtype of results.
    fn of(common: DType) -> DType;
}
/// Results have the operands' dtype: any but complex ones.
pub enum Same {}
/// As [`Same`], but results are bool.
pub enum Bools {}
/// As [`Bools`], for kernels that take complex numbers too.
pub enum RingBools {}
/// As [`Same`], for kernels that take complex numbers too.
pub enum Rings {}
/// As [`Same`], for kernels on floats and complex numbers.
pub enum Fields {}
/// As [`Same`], for kernels on floats only.
#[derive(Debug)]
pub enum Floats {}
/// As [`Floats`], for bodies written in vectors.
#[derive(Debug)]
pub enum Lanes {}
/// As [`Same`], for functions of float64 and its complex numbers, which serve float32 too.
pub enum Doubles {}
/// As [`Same`], for kernels on integers and floats.
pub enum Reals {}
/// As [`Same`], for kernels on the integer types and bool.
pub enum Integral {}
/// As [`Same`], for kernels on the integer types.
pub enum Ints {}
macro_rules! same_dtype {
    ($($marker:ident $dtypes:expr;)*) => { $(
        impl OutType for $marker {
            const DTYPES: Dtypes = $dtypes;
            #[inline(always)]
            fn of(common: DType) -> DType {
                common
            }
        }
        impl<T: Copy> Of<T> for $marker {
            type T = T;
        }
    )* };
}
same_dtype! {
    Same Dtypes::ORDERED;
    Rings Dtypes::ALL;
    Fields Dtypes::FIELDS.or(Dtypes::HALVES);
    Floats Dtypes::FLOATS.or(Dtypes::HALVES);
    Lanes Dtypes::FLOATS.or(Dtypes::HALVES);
    Doubles Dtypes::FIELDS.or(Dtypes::HALVES);
    Reals Dtypes::REALS.or(Dtypes::HALVES);
    Integral Dtypes::INTEGRAL;
    Ints Dtypes::INTS;
}
macro_rules! bools {
    ($($marker:ident $dtypes:expr;)*) => { $(
        impl OutType for $marker {
            const DTYPES: Dtypes = $dtypes;
            fn of(_: DType) -> DType {
                DType::Bool
            }
        }
        impl<T> Of<T> for $marker {
            type T = Truth;
        }
    )* };
}
bools! {
    Bools Dtypes::ORDERED;
    RingBools Dtypes::ALL;
}

/// Where the elements of an operand begin, and how far a flat loop moves from one to the next.
pub type At = (*mut u8, isize);

/// A kernel that is there for every dtype of the class `O`.
///
/// The duties of those who call it: 1. the operands have one dtype of the class (with halves, one may be a float32 of
/// one element) and broadcast to the sizes of the output, whose dtype is that of results; 2. each of them is the output
/// itself, or disjoint from it; 3. no two elements of the output share memory.
pub trait Numeric2<O> {
    /// # Safety
    /// Duties 1, 2 and 3.
    unsafe fn run(&self, a: &Tensor, b: &Tensor, out: &Tensor);
    /// Over a contiguous output, with operands that are contiguous too (step 1) or a single element (step 0).
    ///
    /// # Safety
    /// Duties 1, 2 and 3, and the steps are as said.
    #[inline(always)]
    unsafe fn run_flat(&self, (a, sa): (&Tensor, isize), (b, sb): (&Tensor, isize), out: &Tensor) {
        let (pa, pb, po, n) = (a.op_ptr(), b.op_ptr(), out.op_ptr(), out.numel());
        // SAFETY: those of callers, whose tensors have as many elements there; halves are for the other loop.
        unsafe {
            if !self.run_flat_at(a.dtype(), (pa, sa), (pb, sb), po, n) {
                self.run(a, b, out);
            }
        }
    }
    /// As [`Numeric2::run_flat`], of `n` elements where they are; false, and nothing is written, for halves.
    ///
    /// # Safety
    /// As [`Numeric2::run_flat`], for operands of `dtype`.
    unsafe fn run_flat_at(&self, _: DType, _: At, _: At, _: *mut u8, _: usize) -> bool {
        false
    }
    /// Over a contiguous output of at most `FEW` elements, with one contiguous operand that is no half, and a number,
    /// which is rounded to its dtype and is the first operand if `number_first` is set.
    ///
    /// # Safety
    /// Duties 1, 2 and 3, and the operands are as said.
    unsafe fn run_few(&self, x: &Tensor, number: Scalar, number_first: bool, out: &Tensor) -> Result<()> {
        let number = Tensor::full(&[], number, x.dtype())?;
        let (a, b) = if number_first { (&number, x) } else { (x, &number) };
        // SAFETY: those of callers; the number is a tensor of its own.
        unsafe { self.run(a, b, out) };
        Ok(())
    }
}

/// As many elements as the walk would have in one piece: there a number is repeated without it, which costs less, and
/// the loop of two operands takes both as they are.
const FEW: usize = STRIDED_PIECE;

/// `number` as often as there are elements in a tensor of few.
#[inline(always)]
fn repeated<T: FromScalar + Copy>(number: Scalar, n: usize) -> [MaybeUninit<T>; FEW] {
    let mut many = [MaybeUninit::uninit(); FEW];
    many[..n].fill(MaybeUninit::new(T::from_scalar(number)));
    many
}

macro_rules! numeric2 {
    ($out:ty, $class:ident, $others:ident, $($bound:tt)*) => {
        impl<K> Numeric2<$out> for K where K: $($bound)* {
            unsafe fn run(&self, a: &Tensor, b: &Tensor, out: &Tensor) {
                let sizes = out.sizes();
                let (sa, sb) = (expanded_strides(a.sizes(), a.strides(), sizes), expanded_strides(b.sizes(), b.strides(), sizes));
                match_dtype!($class, computed(a, b), T => {
                    // SAFETY: (1) S1, S3 and the expansion of both operands to `sizes`; (2, 3) those of callers.
                    unsafe { map2(self, sizes, a.ptr::<T>().cast_const(), &sa, b.ptr::<T>().cast_const(), &sb, out.op_ptr().cast::<<$out as Of<T>>::T>(), out.strides()) };
                }, else {
                    // SAFETY: those of callers.
                    unsafe { $others(self, (a, &sa), (b, &sb), out) }
                })
            }
            #[inline]
            unsafe fn run_flat_at(&self, dtype: DType, (a, sa): At, (b, sb): At, out: *mut u8, n: usize) -> bool {
                match_dtype!($class, dtype, T => {
                    let (pa, pb) = (a.cast::<T>().cast_const(), b.cast::<T>().cast_const());
                    let po = out.cast::<<$out as Of<T>>::T>();
                    // SAFETY: (1) operands with step 1 have the output's size and are contiguous, those with step 0 one
                    // element; (2, 3) those of callers.
                    unsafe {
                        if sa == 1 && sb == 1 {
                            map2_contiguous(self, n, pa, pb, po);
                        } else {
                            map2(self, &[n], pa, &[sa], pb, &[sb], po, &[1]);
                        }
                    }
                }, else return false);
                true
            }
            unsafe fn run_few(&self, x: &Tensor, number: Scalar, number_first: bool, out: &Tensor) -> Result<()> {
                match_dtype!($class, x.dtype(), T => {
                    let (n, x, po) = (out.numel(), x.ptr::<T>().cast_const(), out.op_ptr().cast::<<$out as Of<T>>::T>());
                    let many = repeated::<T>(number, n);
                    let many = many.as_ptr().cast::<T>();
                    let (a, b) = if number_first { (many, x) } else { (x, many) };
                    // SAFETY: (1) both have `n` elements one after the other; (2, 3) those of callers.
                    unsafe { map2_contiguous(self, n, a, b, po) };
                });
                Ok(())
            }
        }
    };
}
impl<K> Numeric2<Lanes> for K
where
    K: Body<f32, 2> + Body<f64, 2>,
{
    unsafe fn run(&self, a: &Tensor, b: &Tensor, out: &Tensor) {
        let sizes = out.sizes();
        let sa = expanded_strides(a.sizes(), a.strides(), sizes);
        let sb = expanded_strides(b.sizes(), b.strides(), sizes);
        match_dtype!(floats, computed(a, b), T => {
            let (pa, pb) = (a.ptr::<T>().cast_const(), b.ptr::<T>().cast_const());
            // SAFETY: as in `numeric2`.
            unsafe { lanes2(self, sizes, pa, &sa, pb, &sb, out.ptr::<T>(), out.strides()) };
        }, else {
            check_half(computed(a, b));
            let operands = [(out, out.strides()), (a, &sa[..]), (b, &sb[..])].map(|(x, s)| operand(x, s));
            // SAFETY: as in `numeric2`, for halves, which the walk gives as float32.
            unsafe { walk_lanes(self, sizes, operands) };
        })
    }
    unsafe fn run_flat_at(&self, dtype: DType, (a, sa): At, (b, sb): At, out: *mut u8, n: usize) -> bool {
        match_dtype!(floats, dtype, T => {
            let (pa, pb) = (a.cast::<T>().cast_const(), b.cast::<T>().cast_const());
            // SAFETY: as in `numeric2`.
            unsafe { lanes2(self, &[n], pa, &[sa], pb, &[sb], out.cast::<T>(), &[1]) };
        }, else return false);
        true
    }
    unsafe fn run_few(&self, x: &Tensor, number: Scalar, number_first: bool, out: &Tensor) -> Result<()> {
        match_dtype!(floats, x.dtype(), T => {
            let (n, x) = (out.numel(), x.ptr::<T>().cast_const());
            let many = repeated::<T>(number, n);
            let many = many.as_ptr().cast::<T>();
            let (a, b) = if number_first { (many, x) } else { (x, many) };
            // SAFETY: as in `numeric2`.
            unsafe { lanes2(self, &[n], a, &[1], b, &[1], out.ptr::<T>(), &[1]) };
        });
        Ok(())
    }
}

/// One of two kernels of one class: an op without its factor, and with it.
pub enum Either<A, B> {
    First(A),
    Second(B),
}

impl<O, A: Numeric2<O>, B: Numeric2<O>> Numeric2<O> for Either<A, B> {
    unsafe fn run(&self, a: &Tensor, b: &Tensor, out: &Tensor) {
        // SAFETY: those of callers.
        unsafe {
            match self {
                Either::First(k) => k.run(a, b, out),
                Either::Second(k) => k.run(a, b, out),
            }
        }
    }
    #[inline]
    unsafe fn run_flat_at(&self, dtype: DType, a: At, b: At, out: *mut u8, n: usize) -> bool {
        // SAFETY: those of callers.
        unsafe {
            match self {
                Either::First(k) => k.run_flat_at(dtype, a, b, out, n),
                Either::Second(k) => k.run_flat_at(dtype, a, b, out, n),
            }
        }
    }
    #[inline]
    unsafe fn run_few(&self, x: &Tensor, number: Scalar, number_first: bool, out: &Tensor) -> Result<()> {
        // SAFETY: those of callers.
        unsafe {
            match self {
                Either::First(k) => k.run_few(x, number, number_first, out),
                Either::Second(k) => k.run_few(x, number, number_first, out),
            }
        }
    }
}

/// The dtype that a loop is for: that of both operands, or that of halves with a number.
fn computed(a: &Tensor, b: &Tensor) -> DType {
    if b.dtype().half().is_some() { b.dtype() } else { a.dtype() }
}

/// That a loop is for halves, where it is for no other dtype.
pub(super) fn check_half(dtype: DType) {
    if dtype.half().is_none() {
        undeclared(dtype);
    }
}

/// The loop of halves. Strides are those of the result's sizes.
///
/// # Safety
/// As [`Numeric2`] has it.
unsafe fn halves2<K: Map2<f32, f32, f32>>(
    k: &K,
    (a, sa): (&Tensor, &[isize]),
    (b, sb): (&Tensor, &[isize]),
    out: &Tensor,
) {
    check_half(computed(a, b));
    let (o, x, y) = (operand(out, out.strides()), operand(a, sa), operand(b, sb));
    // SAFETY: as in `numeric2`.
    unsafe { map_halves2(k, out.sizes(), o, x, y) };
}

/// As [`halves2`], of a comparison, to which the walk gives halves as float32.
///
/// # Safety
/// As [`Numeric2`] has it.
unsafe fn compared2<K: Map2<f32, f32, Truth>>(
    k: &K,
    (a, sa): (&Tensor, &[isize]),
    (b, sb): (&Tensor, &[isize]),
    out: &Tensor,
) {
    check_half(computed(a, b));
    let (o, x, y) = (operand(out, out.strides()), operand(a, sa), operand(b, sb));
    // SAFETY: as in `numeric2`.
    unsafe { walk2::<f32, f32, Truth, _>(k, out.sizes(), o, x, y) };
}

/// The loop of halves of a class that has none.
///
/// # Safety
/// None.
unsafe fn none2<K>(_: &K, (a, _): (&Tensor, &[isize]), _: (&Tensor, &[isize]), _: &Tensor) {
    undeclared(a.dtype())
}

/// Maps an operand type to the result's.
pub trait Of<T> {
    type T: Copy;
}
numeric2!(Rings, rings, halves2, Map2<Truth, Truth, Truth> + Map2<u8, u8, u8> + Map2<i8, i8, i8> + Map2<i16, i16, i16>
    + Map2<i32, i32, i32> + Map2<i64, i64, i64> + Map2<f32, f32, f32> + Map2<f64, f64, f64>
    + Map2<Complex<f32>, Complex<f32>, Complex<f32>> + Map2<Complex<f64>, Complex<f64>, Complex<f64>>);
numeric2!(Fields, fields, halves2, Map2<f32, f32, f32> + Map2<f64, f64, f64>
    + Map2<Complex<f32>, Complex<f32>, Complex<f32>> + Map2<Complex<f64>, Complex<f64>, Complex<f64>>);
numeric2!(Same, numeric, halves2, Map2<Truth, Truth, Truth> + Map2<u8, u8, u8> + Map2<i8, i8, i8> + Map2<i16, i16, i16>
    + Map2<i32, i32, i32> + Map2<i64, i64, i64> + Map2<f32, f32, f32> + Map2<f64, f64, f64>);
numeric2!(Bools, numeric, compared2, Map2<Truth, Truth, Truth> + Map2<u8, u8, Truth> + Map2<i8, i8, Truth> + Map2<i16, i16, Truth>
    + Map2<i32, i32, Truth> + Map2<i64, i64, Truth> + Map2<f32, f32, Truth> + Map2<f64, f64, Truth>);
numeric2!(RingBools, rings, compared2, Map2<Truth, Truth, Truth> + Map2<u8, u8, Truth> + Map2<i8, i8, Truth>
    + Map2<i16, i16, Truth> + Map2<i32, i32, Truth> + Map2<i64, i64, Truth> + Map2<f32, f32, Truth>
    + Map2<f64, f64, Truth> + Map2<Complex<f32>, Complex<f32>, Truth> + Map2<Complex<f64>, Complex<f64>, Truth>);
numeric2!(Floats, floats, halves2, Map2<f32, f32, f32> + Map2<f64, f64, f64>);
numeric2!(Reals, reals, halves2, Map2<u8, u8, u8> + Map2<i8, i8, i8> + Map2<i16, i16, i16> + Map2<i32, i32, i32>
    + Map2<i64, i64, i64> + Map2<f32, f32, f32> + Map2<f64, f64, f64>);
numeric2!(Integral, integral, none2, Map2<Truth, Truth, Truth> + Map2<u8, u8, u8> + Map2<i8, i8, i8> + Map2<i16, i16, i16>
    + Map2<i32, i32, i32> + Map2<i64, i64, i64>);
numeric2!(Ints, ints, none2, Map2<u8, u8, u8> + Map2<i8, i8, i8> + Map2<i16, i16, i16> + Map2<i32, i32, i32>
    + Map2<i64, i64, i64>);

/// The dtype of an op of a tensor and a number, from the tensor's: the number only raises the category.
pub fn dtype_with_number(x: DType, number: Scalar) -> DType {
    match () {
        () if number.category() <= x.category() => x,
        // The complex dtype of that precision.
        () if x.is_floating() => x.complex(),
        () => number.dtype(),
    }
}

/// Refuses a number that `dtype` cannot represent.
pub fn check_number(op: &'static str, number: Scalar, dtype: DType) -> Result<()> {
    // A negative integer may wrap once into the unsigned type, as in torch; a float may not.
    let below = if matches!(number, Scalar::Float(_)) { 0.0 } else { -255.0 };
    let (lo, hi, name) = match dtype {
        DType::UInt8 => (below, 255.0, "uint8_t"),
        DType::Int8 => (-128.0, 127.0, "int8_t"),
        DType::Int16 => (-32768.0, 32767.0, "int16_t"),
        DType::Int32 => (-2147483648.0, 2147483647.0, "int"),
        DType::Int64 => (i64::MIN as f64, i64::MAX as f64, "int64_t"),
        DType::Float16 => (-65504.0, 65504.0, "c10::Half"),
        DType::BFloat16 => (-f64::from(BFLOAT16_MAX), f64::from(BFLOAT16_MAX), "c10::BFloat16"),
        DType::UInt16 => (-65535.0, 65535.0, "uint16_t"),
        DType::UInt32 => (-4294967295.0, 4294967295.0, "uint32_t"),
        DType::UInt64 => (i64::MIN as f64, u64::MAX as f64, "uint64_t"),
        DType::Float32 => (f64::from(f32::MIN), f64::from(f32::MAX), "float"),
        DType::Float64 => (f64::MIN, f64::MAX, "double"),
        DType::Bool | DType::Complex32 | DType::Complex64 | DType::Complex128 => return Ok(()),
    };
    let v = number.as_f64();
    let special = dtype.is_floating() && !v.is_finite();
    let imaginary = matches!(number, Scalar::Complex(_, y) if y != 0.0);
    if imaginary || !(special || (lo..=hi).contains(&v)) {
        return Err(Error::shape(
            op,
            format!(
                "value cannot be converted to type {name} without overflow: {number:?} is out of range of {}",
                dtype.name()
            ),
        ));
    }
    Ok(())
}

/// The largest finite number of that dtype: all bits of its 8 bits of precision set.
const BFLOAT16_MAX: f32 = f32::from_bits(0x7f7f_0000);
