//! Transforms of real numbers, of an even number of them: by the transform of half as many complex ones, whose real
//! parts are the numbers at even places (W. H. Press et al., "Numerical Recipes", section 12.3).

use super::butterfly::C;
use super::steps::{Input, Output, Packed, Pairs, Planes, Sink, Source, Transformed};
use super::{Plan, Table, pad, padded, root};
use crate::simd::{Isa, Task, Vector, for_isa};

/// The transform of lines of real numbers, and its inverse.
pub struct RealPlan<T> {
    half: Plan<T>,
    /// Planes of `-i exp(-2 pi i k / n)` for `k` up to `n / 2`.
    roots: Table<T>,
}

impl<T: Transformed> RealPlan<T> {
    /// The transform of lines of `n` real numbers; None for lengths, or for a CPU, that this is not good for.
    pub fn new(n: usize) -> Option<Self> {
        n.is_multiple_of(2).then(|| Plan::new(n / 2))?.map(Self::with)
    }

    pub(super) fn with(half: Plan<T>) -> Self {
        let n = half.n;
        let step = Self::table_step(&half);
        let mut roots = Table::zeros(2 * step);
        for k in 0..=n {
            let (re, im) = root(k, 2 * n);
            roots.set(k, im);
            roots.set(step + k, -re);
        }
        Self { half, roots }
    }

    fn table_step(half: &Plan<T>) -> usize {
        padded::<T>(half.n + 1) + pad::<T>()
    }

    /// Numbers of type `T` of memory that a transform works in, of arbitrary values.
    pub fn work(&self) -> usize {
        self.half.work()
    }

    /// The first `n / 2 + 1` complex numbers of the transform of `n` real ones, times `scale`; the imaginary parts of
    /// the first one and the last one are 0.
    ///
    /// # Safety
    /// 1. `from` is readable and initialised for `n` numbers, `to` writable for `n + 2`, and `work` for as many as
    ///    [`RealPlan::work`] says. 2. All are disjoint.
    pub unsafe fn forward(&self, scale: T, from: *const T, to: *mut T, work: *mut T) {
        let n = self.half.n;
        let flat = self.flat(self.half.free(work));
        // SAFETY: (1, 2) duties 1 and 2; (Spectrum) ours.
        unsafe {
            let line = self.half.line(from.cast_mut(), false);
            self.half.matrix(Input::Pairs(line), Output::Packed(Packed(flat)), work);
            *flat.re.add(n) = *flat.re;
            *flat.im.add(n) = *flat.im;
            for_isa(self.half.level, Spectrum { plan: self, scale, flat, to });
        }
    }

    /// The inverse of [`RealPlan::forward`], times `n` and `scale`: the imaginary parts of the first number and of the
    /// last one count as 0, and these two are multiplied by `ends` first.
    ///
    /// # Safety
    /// 1. `from` is readable and initialised for `n + 2` numbers, `to` writable for `n`, and `work` for as many as
    ///    [`RealPlan::work`] says. 2. All are disjoint.
    pub unsafe fn inverse(&self, scale: T, ends: T, from: *const T, to: *mut T, work: *mut T) {
        let [first, second] = self.half.planes(work);
        // SAFETY: (Half) ours; (1, 2) duties 1 and 2.
        unsafe {
            for_isa(self.half.level, Half { plan: self, ends, from, flat: self.flat(first), to: second });
            self.half.matrix(Input::Planes(second), Output::Pairs(self.half.transposed_line(to, true, scale)), work);
        }
    }

    fn root(&self, k: usize) -> Planes<T> {
        let at = self.roots.ptr().wrapping_add(k);
        Planes { re: at, im: at.wrapping_add(Self::table_step(&self.half)), step: 0 }
    }

    /// A line of as many complex numbers in planes, with room for two vectors before and behind it.
    fn flat(&self, planes: Planes<T>) -> Planes<T> {
        let before = 2 * pad::<T>();
        Planes { re: planes.re.wrapping_add(before), im: planes.im.wrapping_add(before), step: self.half.rows }
    }
}

/// The spectrum of a line, of the transform of half the length in `flat`, whose first number is also behind its last.
///
/// Duties: those of [`RealPlan::forward`]; `flat` has room for two vectors before and behind the line.
struct Spectrum<'p, T> {
    plan: &'p RealPlan<T>,
    scale: T,
    flat: Planes<T>,
    to: *mut T,
}

/// The numbers from `k` on of a line in planes, and the conjugates of those from `n - k` backwards.
///
/// # Safety
/// 1. The CPU has the instructions of `V`. 2. The line has `n + 1` numbers, and two vectors before and behind it are
///    readable.
#[inline(always)]
unsafe fn mirrored<V: Vector>(line: Planes<V::Elem>, n: usize, k: usize) -> [C<V>; 2] {
    // SAFETY: duties 1 and 2: `k` is at most a vector beyond `n`.
    unsafe {
        let back = (n as isize) - (k as isize) - (V::LEN as isize) + 1;
        let ahead = C { re: V::load(line.re.add(k)), im: V::load(line.im.add(k)) };
        let back = C { re: V::load(line.re.offset(back)).reversed(), im: -V::load(line.im.offset(back)).reversed() };
        [ahead, back]
    }
}

/// Twice the numbers of the spectrum from `k` on, of the transform of half the length.
///
/// # Safety
/// As [`mirrored`], and of `root` a vector is readable.
#[inline(always)]
unsafe fn untangled<V: Vector>(line: Planes<V::Elem>, root: Planes<V::Elem>, n: usize, k: usize) -> C<V> {
    // SAFETY: ours.
    unsafe {
        let [ahead, back] = mirrored::<V>(line, n, k);
        ahead.plus(back).plus(ahead.minus(back).times(load(root)))
    }
}

impl<T: Transformed> Task for Spectrum<'_, T> {
    type Out = ();
    const WIDE: bool = true;
    plain_in_tests_alone!();

    #[inline(always)]
    unsafe fn run<S: Isa>(self) {
        let Spectrum { plan, scale, flat, to } = self;
        let n = plan.half.n;
        let half = scale.mul(T::of(0.5));
        let sink = Pairs { at: to, step: 0, width: n + 1, scale: [half; 2] };
        // SAFETY: Task 2, and our duties.
        unsafe {
            let mut k = 0;
            while k + T::Vector::<S>::LEN <= n + 1 {
                sink.store::<_, true>(0, k, untangled::<T::Vector<S>>(flat, plan.root(k), n, k));
                k += T::Vector::<S>::LEN;
            }
            if k <= n {
                sink.store::<_, false>(0, k, untangled::<T::Vector<S>>(flat, plan.root(k), n, k));
            }
            *to.add(1) = T::ZERO;
            *to.add(2 * n + 1) = T::ZERO;
        }
    }
}

/// # Safety
/// As `load` of planes.
#[inline(always)]
unsafe fn load<V: Vector>(planes: Planes<V::Elem>) -> C<V> {
    // SAFETY: ours.
    unsafe { planes.load::<V, true>(0, 0) }
}

/// What the inverse transform of half the length makes the line of, from the spectrum.
///
/// Duties: those of [`RealPlan::inverse`]; `flat` has room for a line and two vectors before and behind it, `to` for
/// the rows of the matrix; they are disjoint.
struct Half<'p, T> {
    plan: &'p RealPlan<T>,
    ends: T,
    from: *const T,
    flat: Planes<T>,
    to: Planes<T>,
}

impl<T: Transformed> Task for Half<'_, T> {
    type Out = ();
    const WIDE: bool = true;
    plain_in_tests_alone!();

    #[inline(always)]
    unsafe fn run<S: Isa>(self) {
        let Half { plan, ends, from, flat, to } = self;
        let (n, len) = (plan.half.n, T::Vector::<S>::LEN);
        let from = Pairs { at: from.cast_mut(), step: 0, width: n + 1, scale: [T::ONE; 2] };
        let columns = plan.half.columns;
        // SAFETY: Task 2, and our duties.
        unsafe {
            let mut k = 0;
            while k + len <= n + 1 {
                let z: C<T::Vector<S>> = from.load::<_, true>(0, k);
                flat.store::<_, true>(0, k, z);
                k += len;
            }
            if k <= n {
                let z: C<T::Vector<S>> = from.load::<_, false>(0, k);
                flat.store::<_, true>(0, k, z);
            }
            for end in [0, n] {
                *flat.re.add(end) = (*flat.re.add(end)).mul(ends);
                *flat.im.add(end) = T::ZERO;
            }
            for row in 0..plan.half.rows {
                for column in (0..columns).step_by(len) {
                    let k = row * columns + column;
                    let [ahead, back] = mirrored::<T::Vector<S>>(flat, n, k);
                    let root = load(plan.root(k));
                    let z = ahead.plus(back).plus(ahead.minus(back).times(root.conj()));
                    to.store::<_, true>(row, column, z.conj());
                }
            }
        }
    }
}
