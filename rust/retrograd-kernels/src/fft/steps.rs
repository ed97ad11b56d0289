//! Transforms of columns: each lane of a vector transforms its own.
//!
//! They are Stockham's (W. T. Cochran et al., "What is the fast Fourier transform?", Proc. IEEE 55 (1967)): a step
//! transforms `radix` numbers at a time, and writes them where the next one finds what it needs in order.

use std::f64::consts::TAU;

use super::butterfly::{C, butterfly};
use crate::real::Real;
use crate::simd::{InstructionSet, Isa, Task, Vector, for_isa};

/// The factors that steps have code for, in the order in which they are tried.
const RADICES: [usize; 6] = [8, 7, 5, 4, 3, 2];

/// One step, of `n / before` numbers of which `radix` are transformed at a time, `rest` apart.
struct Step<T> {
    radix: usize,
    /// The product of the radices of the steps before.
    before: usize,
    rest: usize,
    /// What the results are multiplied by, `2 (radix - 1)` numbers for each of `rest`.
    twiddles: Vec<T>,
}

/// The steps for columns of one length.
pub struct Steps<T>(Vec<Step<T>>);

/// The radices whose product is `n`: none, if there is a factor that no step has or if there are not two.
pub fn radices(n: usize) -> Option<Vec<usize>> {
    let (mut rest, mut found) = (n, Vec::new());
    for radix in RADICES {
        while rest > 1 && rest.is_multiple_of(radix) {
            rest /= radix;
            found.push(radix);
        }
    }
    if rest > 1 {
        return None;
    }
    match found[..] {
        [8] => found = vec![4, 2],
        [4] => found = vec![2, 2],
        // 4 x 4 takes fewer operations.
        [.., 8, 2] => {
            found.truncate(found.len() - 2);
            found.extend([4, 4]);
        }
        _ => {}
    }
    (found.len() > 1).then_some(found)
}

/// `exp(-2 pi i k / n)`.
pub fn root(k: usize, n: usize) -> (f64, f64) {
    let (sin, cos) = (TAU * (k % n) as f64 / n as f64).sin_cos();
    (cos, -sin)
}

impl<T: Real> Steps<T> {
    /// The steps of columns of `n` numbers, if `n` has two factors and no large prime one.
    pub fn new(n: usize) -> Option<Self> {
        let mut before = 1;
        let step = |radix| {
            let rest = n / before / radix;
            let mut twiddles = Vec::new();
            for p in 0..rest {
                for j in 1..radix {
                    let (re, im) = root(p * j, n / before);
                    twiddles.extend([T::of(re), T::of(im)]);
                }
            }
            let step = Step { radix, before, rest, twiddles };
            before *= radix;
            step
        };
        Some(Self(radices(n)?.into_iter().map(step).collect()))
    }
}

/// Memory that columns are read from.
pub trait Source<T>: Copy {
    /// Whether rows may end within a vector; those of others go on to the end of one.
    const ENDS: bool;
    /// The vector that begins at `column` of row `row`; of one that is not `WHOLE`, as much as there is.
    ///
    /// # Safety
    /// 1. The CPU has the instructions of `V`. 2. The columns are readable and initialised, and all of a vector's if
    ///    `WHOLE`.
    unsafe fn load<V: Vector<Elem = T>, const WHOLE: bool>(&self, row: usize, column: usize) -> C<V>;
    /// As many rows taken as one, where rows go on to the end of a vector.
    #[inline(always)]
    fn joined(self, _rows: usize) -> Self {
        self
    }
}

/// Memory that columns are written to.
pub trait Sink<T>: Copy {
    /// As of [`Source`].
    const ENDS: bool;
    /// Writes `z` from `column` of row `row` on; of a vector that is not `WHOLE`, as much as there is.
    ///
    /// # Safety
    /// 1. The columns are writable, and all of a vector's if `WHOLE`.
    unsafe fn store<V: Vector<Elem = T>, const WHOLE: bool>(&self, row: usize, column: usize, z: C<V>);
    /// As of [`Source`].
    #[inline(always)]
    fn joined(self, _rows: usize) -> Self {
        self
    }
}

/// Real and imaginary parts in memory of their own; rows of whole vectors, `step` apart.
#[derive(Clone, Copy)]
pub struct Planes<T> {
    pub re: *mut T,
    pub im: *mut T,
    pub step: usize,
}

impl<T: Real> Source<T> for Planes<T> {
    const ENDS: bool = false;
    #[inline(always)]
    unsafe fn load<V: Vector<Elem = T>, const WHOLE: bool>(&self, row: usize, column: usize) -> C<V> {
        let at = row * self.step + column;
        // SAFETY: duties 1 and 2.
        unsafe { C { re: V::load(self.re.add(at)), im: V::load(self.im.add(at)) } }
    }
    #[inline(always)]
    fn joined(self, rows: usize) -> Self {
        Self { step: rows * self.step, ..self }
    }
}

impl<T: Real> Sink<T> for Planes<T> {
    const ENDS: bool = false;
    #[inline(always)]
    unsafe fn store<V: Vector<Elem = T>, const WHOLE: bool>(&self, row: usize, column: usize, z: C<V>) {
        let at = row * self.step + column;
        // SAFETY: duty 1.
        unsafe {
            z.re.store(self.re.add(at));
            z.im.store(self.im.add(at));
        }
    }
    #[inline(always)]
    fn joined(self, rows: usize) -> Self {
        Self { step: rows * self.step, ..self }
    }
}

/// Planes whose rows, of `to.step` numbers, follow each other.
#[derive(Clone, Copy)]
pub struct Packed<T>(pub Planes<T>);

impl<T: Real> Sink<T> for Packed<T> {
    const ENDS: bool = true;
    #[inline(always)]
    unsafe fn store<V: Vector<Elem = T>, const WHOLE: bool>(&self, row: usize, column: usize, z: C<V>) {
        let at = row * self.0.step + column;
        // SAFETY: duty 1.
        unsafe {
            if WHOLE {
                z.re.store(self.0.re.add(at));
                z.im.store(self.0.im.add(at));
            } else {
                z.re.store_first(self.0.re.add(at), self.0.step - column);
                z.im.store_first(self.0.im.add(at), self.0.step - column);
            }
        }
    }
}

/// Planes whose numbers are multiplied by those at the same place of others when they are written.
#[derive(Clone, Copy)]
pub struct Multiplied<T> {
    pub to: Planes<T>,
    pub by: Planes<T>,
}

impl<T: Real> Sink<T> for Multiplied<T> {
    const ENDS: bool = false;
    #[inline(always)]
    unsafe fn store<V: Vector<Elem = T>, const WHOLE: bool>(&self, row: usize, column: usize, z: C<V>) {
        // SAFETY: a value of this type is proof of its instructions; duty 1, of planes as large as the others.
        unsafe { self.to.store::<V, WHOLE>(row, column, z.times(self.by.load::<V, WHOLE>(row, column))) }
    }
    #[inline(always)]
    fn joined(self, rows: usize) -> Self {
        Self { to: Sink::joined(self.to, rows), by: Sink::joined(self.by, rows) }
    }
}

/// Planes whose numbers are multiplied, when they are written, by a number of their row and by one that `by` has for
/// their row and column.
#[derive(Clone, Copy)]
pub struct Turned<T> {
    pub to: Planes<T>,
    pub by: Planes<T>,
    /// Pairs, one of each row.
    pub rows: *const T,
}

impl<T: Real> Sink<T> for Turned<T> {
    /// So that rows stay rows; what is written goes on to the end of a vector.
    const ENDS: bool = true;
    #[inline(always)]
    unsafe fn store<V: Vector<Elem = T>, const WHOLE: bool>(&self, row: usize, column: usize, z: C<V>) {
        // SAFETY: a value of this type is proof of its instructions; duty 1, of planes and pairs of as many rows.
        unsafe {
            let [re, im] = [0, 1].map(|part| z.re.splat(*self.rows.add(2 * row + part)));
            let by = self.by.load::<V, WHOLE>(row, column).times(C { re, im });
            self.to.store::<V, WHOLE>(row, column, z.times(by));
        }
    }
}

/// Complex numbers; rows `step` numbers apart, of `width` ones.
#[derive(Clone, Copy)]
pub struct Pairs<T> {
    pub at: *mut T,
    pub step: isize,
    pub width: usize,
    /// Real and imaginary parts are multiplied by. A transform of conjugates is the conjugate of the inverse.
    pub scale: [T; 2],
}

impl<T: Real> Source<T> for Pairs<T> {
    const ENDS: bool = true;
    /// Of the scale, only the sign of the second counts.
    #[inline(always)]
    unsafe fn load<V: Vector<Elem = T>, const WHOLE: bool>(&self, row: usize, column: usize) -> C<V> {
        let left = 2 * (self.width - column);
        // SAFETY: duties 1 and 2.
        let (a, b) = unsafe {
            let p = self.at.cast_const().offset(2 * (row as isize * self.step + column as isize));
            if WHOLE {
                (V::load(p), V::load(p.add(V::LEN)))
            } else if left >= V::LEN {
                (V::load(p), V::load_first(p.add(V::LEN), left - V::LEN))
            } else {
                let a = V::load_first(p, left);
                (a, a.of(0.0))
            }
        };
        let (re, im) = V::deinterleave(a, b);
        C { re, im: im.xor(re.splat(self.scale[1]).and(re.of(-0.0))) }
    }
}

impl<T: Real> Sink<T> for Pairs<T> {
    const ENDS: bool = true;
    #[inline(always)]
    unsafe fn store<V: Vector<Elem = T>, const WHOLE: bool>(&self, row: usize, column: usize, z: C<V>) {
        let scale = self.scale.map(|x| z.re.splat(x));
        let (a, b) = V::interleave(z.re * scale[0], z.im * scale[1]);
        let left = 2 * (self.width - column);
        // SAFETY: duty 1.
        unsafe {
            let p = self.at.offset(2 * (row as isize * self.step + column as isize));
            if WHOLE {
                a.store(p);
                b.store(p.add(V::LEN));
            } else if left >= V::LEN {
                a.store(p);
                b.store_first(p.add(V::LEN), left - V::LEN);
            } else {
                a.store_first(p, left);
            }
        }
    }
}

/// The columns of one vector, `radix` rows of them, from row `from_row` to row `to_row` on.
///
/// # Safety
/// 1. The CPU has the instructions of `V`. 2. Duties of `load` and `store`. 3. `twiddles` are readable.
#[inline(always)]
#[allow(clippy::too_many_arguments, clippy::needless_range_loop)]
unsafe fn numbers<
    V: Vector,
    const R: usize,
    const LAST: bool,
    const WHOLE: bool,
    F: Source<V::Elem>,
    O: Sink<V::Elem>,
>(
    from: F,
    to: O,
    from_row: usize,
    from_step: usize,
    to_row: usize,
    to_step: usize,
    column: usize,
    twiddles: *const V::Elem,
) {
    // SAFETY: ours.
    unsafe {
        let mut a = [from.load::<V, WHOLE>(from_row, column); R];
        for k in 1..R {
            a[k] = from.load::<V, WHOLE>(from_row + from_step * k, column);
        }
        let mut b = butterfly::<V, R>(a);
        if !LAST {
            for j in 1..R {
                let like = b[0].re;
                let (re, im) = (like.splat(*twiddles.add(2 * j - 2)), like.splat(*twiddles.add(2 * j - 1)));
                b[j] = b[j].times(C { re, im });
            }
        }
        for j in 0..R {
            to.store::<V, WHOLE>(to_row + to_step * j, column, b[j]);
        }
    }
}

/// So many vectors of a row are few.
const FEW: usize = 3;

/// One step of every column.
///
/// # Safety
/// 1. The CPU has the instructions of `V`. 2. Duties of `load` and `store` for each row of the columns' length and for
///    each vector that begins before `width`. 3. `from` and `to` are disjoint.
#[inline(always)]
unsafe fn step<V: Vector, const R: usize, const LAST: bool, F: Source<V::Elem>, O: Sink<V::Elem>>(
    step: &Step<V::Elem>,
    width: usize,
    from: F,
    to: O,
) {
    let Step { before, rest, ref twiddles, .. } = *step;
    let ends = const { F::ENDS || O::ENDS };
    // Rows that are read and written alike are taken as one.
    let (before, width, from, to) =
        if ends { (before, width, from, to) } else { (1, before * width, from.joined(before), to.joined(before)) };
    // Of the first step `before` is 1, of the last one `rest`.
    let (rows, vectors) = (before * rest, width.div_ceil(V::LEN));
    // Down the rows inside, if these are short, the many places of a turn move on together; else they would be computed
    // anew for each row. Columns of long rows are too far apart for the cache.
    let (turns, [i_row, i_vector], [j_row, j_vector]) =
        if vectors <= FEW { ([vectors, rows], [0, 1], [1, 0]) } else { ([rows, vectors], [1, 0], [0, 1]) };
    for i in 0..turns[0] {
        for j in 0..turns[1] {
            let (row, column) = (i * i_row + j * j_row, (i * i_vector + j * j_vector) * V::LEN);
            let (p, to_row) = if LAST { (0, row) } else { (row, row * R) };
            let twiddles = twiddles.as_ptr().wrapping_add(2 * p * (R - 1));
            // SAFETY: duties 1 to 3.
            unsafe {
                if !ends || column + V::LEN <= width {
                    numbers::<V, R, LAST, true, F, O>(from, to, row, rows, to_row, before, column, twiddles);
                } else {
                    numbers::<V, R, LAST, false, F, O>(from, to, row, rows, to_row, before, column, twiddles);
                }
            }
        }
    }
}

/// [`step`] of whatever radix, with its duties; `LAST` of the last one of a transform.
struct AnyStep<'s, T, F, O, const LAST: bool> {
    step: &'s Step<T>,
    width: usize,
    from: F,
    to: O,
}

impl<T: Real, F: Source<T>, O: Sink<T>, const LAST: bool> Task for AnyStep<'_, T, F, O, LAST> {
    type Out = ();
    const WIDE: bool = true;
    plain_in_tests_alone!();

    #[inline(always)]
    unsafe fn run<S: Isa>(self) {
        let Self { step: s, width, from, to } = self;
        // SAFETY: (1) Task 2; (2, 3) ours.
        unsafe {
            match s.radix {
                2 => step::<T::Vector<S>, 2, LAST, F, O>(s, width, from, to),
                3 => step::<T::Vector<S>, 3, LAST, F, O>(s, width, from, to),
                4 => step::<T::Vector<S>, 4, LAST, F, O>(s, width, from, to),
                5 => step::<T::Vector<S>, 5, LAST, F, O>(s, width, from, to),
                7 => step::<T::Vector<S>, 7, LAST, F, O>(s, width, from, to),
                _ => step::<T::Vector<S>, 8, LAST, F, O>(s, width, from, to),
            }
        }
    }
}

/// What a transform reads.
#[derive(Clone, Copy)]
pub enum Input<T> {
    Pairs(Pairs<T>),
    Planes(Planes<T>),
}

/// What the last step of a transform writes.
#[derive(Clone, Copy)]
pub enum Output<T> {
    Pairs(Pairs<T>),
    Packed(Packed<T>),
    Multiplied(Multiplied<T>),
    Turned(Turned<T>),
}

/// Number types with transforms: `f32` and `f64`. The steps are functions of theirs, so that this crate compiles them,
/// once, and not every one that transforms something.
pub trait Transformed: Real {
    /// A step that is not the last one, of rows of `width` numbers.
    ///
    /// # Safety
    /// 1. Duties of [`AnyStep`].
    #[doc(hidden)]
    #[expect(private_interfaces, reason = "steps are this module's")]
    unsafe fn step(level: InstructionSet, step: &Step<Self>, width: usize, from: Input<Self>, to: Planes<Self>);
    /// The last step.
    ///
    /// # Safety
    /// 1. Duties of [`AnyStep`].
    #[doc(hidden)]
    #[expect(private_interfaces, reason = "steps are this module's")]
    unsafe fn last_step(level: InstructionSet, step: &Step<Self>, width: usize, from: Planes<Self>, to: Output<Self>);
}

macro_rules! transformed {
    ($($T:ty),*) => { $(
        impl Transformed for $T {
            #[expect(private_interfaces, reason = "steps are this module's")]
            unsafe fn step(level: InstructionSet, step: &Step<$T>, width: usize, from: Input<$T>, to: Planes<$T>) {
                // SAFETY: (1) ours.
                unsafe {
                    match from {
                        Input::Pairs(from) => for_isa(level, AnyStep::<$T, _, _, false> { step, width, from, to }),
                        Input::Planes(from) => for_isa(level, AnyStep::<$T, _, _, false> { step, width, from, to }),
                    }
                }
            }
            #[expect(private_interfaces, reason = "steps are this module's")]
            unsafe fn last_step(
                level: InstructionSet,
                step: &Step<$T>,
                width: usize,
                from: Planes<$T>,
                to: Output<$T>,
            ) {
                // SAFETY: (1) ours.
                unsafe {
                    match to {
                        Output::Pairs(to) => for_isa(level, AnyStep::<$T, _, _, true> { step, width, from, to }),
                        Output::Packed(to) => for_isa(level, AnyStep::<$T, _, _, true> { step, width, from, to }),
                        Output::Multiplied(to) => for_isa(level, AnyStep::<$T, _, _, true> { step, width, from, to }),
                        Output::Turned(to) => for_isa(level, AnyStep::<$T, _, _, true> { step, width, from, to }),
                    }
                }
            }
        }
    )* };
}
transformed!(f32, f64);

/// Transforms `width` columns. `planes` are two, by turns: the first step writes to the first.
///
/// # Safety
/// 1. Each of the planes has as many rows as the columns have numbers, of at least `width` numbers. 2. Duties of `load`
///    and `store` for each row and for each vector that begins before `width`, or before the planes' step if rows of
///    `from` or `to` go on. 3. `from` is not the first of the planes, and not `to` the one that [`last_plane`] says.
pub unsafe fn columns<T: Transformed>(
    level: InstructionSet,
    steps: &Steps<T>,
    width: usize,
    from: Input<T>,
    planes: [Planes<T>; 2],
    to: Output<T>,
) {
    let last = steps.0.len() - 1;
    let whole = planes[0].step;
    let first_width = if matches!(from, Input::Pairs(_)) { width } else { whole };
    let last_width = if matches!(to, Output::Multiplied(_)) { whole } else { width };
    // SAFETY: ours; a step does not write what it reads.
    unsafe {
        T::step(level, &steps.0[0], first_width, from, planes[0]);
        for i in 1..last {
            T::step(level, &steps.0[i], whole, Input::Planes(planes[(i + 1) % 2]), planes[i % 2]);
        }
        T::last_step(level, &steps.0[last], last_width, planes[(last + 1) % 2], to);
    }
}

/// Which of the planes the last step reads.
pub fn last_plane<T>(steps: &Steps<T>) -> usize {
    steps.0.len() % 2
}
