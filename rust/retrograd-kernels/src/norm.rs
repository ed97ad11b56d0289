//! Runs of standardized elements: what layer_norm, group_norm, batch_norm and their gradients do with contiguous
//! elements that share a mean and a deviation. All slices of a call have one length.

use super::pointwise::{Body, row, row_of};
use super::real::Real;
use super::rows::{self, Terms};
use super::simd::{InstructionSet, Isa, Task, Vector, for_isa};
use crate::thresholds::norm::BLOCK;

/// `o = f(inputs)`. No duties.
struct Each<'a, F, T, const K: usize> {
    f: F,
    inputs: [&'a [T]; K],
    o: &'a mut [T],
}
impl<T: Real, const K: usize, F: Body<T, K>> Task for Each<'_, F, T, K> {
    type Out = ();
    const WIDE: bool = true;
    #[inline(always)]
    unsafe fn run<S: Isa>(self) {
        // SAFETY: Task 2.
        unsafe { row_of::<S, T, K, F>(&self.f, self.inputs, self.o) }
    }
}

/// Runs `f` with the best instructions.
fn each<T: Real, const K: usize, F: Body<T, K>>(f: F, inputs: [&[T]; K], o: &mut [T]) {
    // SAFETY: the task has no duties.
    unsafe { for_isa(InstructionSet::detect(), Each { f, inputs, o }) }
}

/// `(x - mean) scale w + b` of an element, its weight and its shift.
struct Standardize<T> {
    mean: T,
    scale: T,
}
impl<T: Real> Body<T, 3> for Standardize<T> {
    #[inline(always)]
    fn f<V: Vector<Elem = T>>(&self, [x, w, b]: [V; 3]) -> V {
        ((x - x.splat(self.mean)) * x.splat(self.scale)).fma(w, b)
    }
}

/// `(x - mean) scale + shift`.
struct Affine<T> {
    mean: T,
    scale: T,
    shift: T,
}
impl<T: Real> Body<T, 1> for Affine<T> {
    #[inline(always)]
    fn f<V: Vector<Elem = T>>(&self, [x]: [V; 1]) -> V {
        (x - x.splat(self.mean)).fma(x.splat(self.scale), x.splat(self.shift))
    }
}

/// `g a + (x - mean) b + c`, or with `g w` for `g`.
struct Project<T> {
    mean: T,
    factors: [T; 3],
}
impl<T: Real> Project<T> {
    #[inline(always)]
    fn of<V: Vector<Elem = T>>(&self, x: V, g: V) -> V {
        let [a, b, c] = self.factors;
        g.fma(x.splat(a), (x - x.splat(self.mean)).fma(x.splat(b), x.splat(c)))
    }
}
impl<T: Real> Body<T, 2> for Project<T> {
    #[inline(always)]
    fn f<V: Vector<Elem = T>>(&self, [x, g]: [V; 2]) -> V {
        self.of(x, g)
    }
}
impl<T: Real> Body<T, 3> for Project<T> {
    #[inline(always)]
    fn f<V: Vector<Elem = T>>(&self, [x, g, w]: [V; 3]) -> V {
        self.of(x, g * w)
    }
}

/// `sum + g (x - mean) scale`.
struct Along<T> {
    mean: T,
    scale: T,
}
impl<T: Real> Body<T, 3> for Along<T> {
    #[inline(always)]
    fn f<V: Vector<Elem = T>>(&self, [x, g, sum]: [V; 3]) -> V {
        g.fma((x - x.splat(self.mean)) * x.splat(self.scale), sum)
    }
}

/// `y = (x - mean) scale w + b`, weights and shifts by element.
pub fn standardize<T: Real>(x: &[T], mean: T, scale: T, w: &[T], b: &[T], y: &mut [T]) {
    each(Standardize { mean, scale }, [x, w, b], y);
}

/// `y = (x - mean) scale + shift`.
pub fn shift_and_scale<T: Real>(x: &[T], mean: T, scale: T, shift: T, y: &mut [T]) {
    each(Affine { mean, scale, shift }, [x], y);
}

/// `o = q a + (x - mean) b + c` for the factors `[a, b, c]`, where `q` is `g`, or `g w` for weights by element.
pub fn project<T: Real>(x: &[T], g: &[T], w: Option<&[T]>, mean: T, factors: [T; 3], o: &mut [T]) {
    match w {
        Some(w) => each(Project { mean, factors }, [x, g, w], o),
        None => each(Project { mean, factors }, [x, g], o),
    }
}

/// `sum += g (x - mean) scale`.
pub fn add_along<T: Real>(x: &[T], g: &[T], mean: T, scale: T, sum: &mut [T]) {
    /// No duties.
    struct Add<'a, T> {
        f: Along<T>,
        x: &'a [T],
        g: &'a [T],
        sum: &'a mut [T],
    }
    impl<T: Real> Task for Add<'_, T> {
        type Out = ();
        const WIDE: bool = true;
        #[inline(always)]
        unsafe fn run<S: Isa>(self) {
            assert!(self.x.len() == self.sum.len() && self.g.len() == self.sum.len(), "slices of one length");
            let o = self.sum.as_mut_ptr();
            // SAFETY: (1) slices of one length; (2) the output is the third input; (3) Task 2.
            unsafe { row::<S, T, 3, _>(&self.f, self.sum.len(), [self.x.as_ptr(), self.g.as_ptr(), o.cast_const()], o) }
        }
    }
    // SAFETY: the task has no duties.
    unsafe { for_isa(InstructionSet::detect(), Add { f: Along { mean, scale }, x, g, sum }) }
}

/// The sums of `q` and of `q (x - mean)`, where `q` is `g`, or `g w` for weights by element.
pub fn sums<T: Real>(x: &[T], g: &[T], w: Option<&[T]>, mean: T) -> (T, T) {
    assert!(x.len() == g.len() && w.is_none_or(|w| w.len() == g.len()), "slices of one length");
    // SAFETY: the task has no duties.
    unsafe { for_isa(InstructionSet::detect(), Sums { x, g, w, mean }) }
}

/// See [`sums`]. No duties.
struct Sums<'a, T> {
    x: &'a [T],
    g: &'a [T],
    w: Option<&'a [T]>,
    mean: T,
}
impl<T: Real> Task for Sums<'_, T> {
    type Out = (T, T);
    const WIDE: bool = true;
    #[inline(always)]
    unsafe fn run<S: Isa>(self) -> (T, T) {
        let (mut sum, mut along) = (T::ZERO, T::ZERO);
        for start in (0..self.x.len()).step_by(BLOCK) {
            let end = self.x.len().min(start + BLOCK);
            let (x, g) = (&self.x[start..end], &self.g[start..end]);
            // SAFETY: Task 2.
            let [s, a] = unsafe {
                match self.w {
                    Some(w) => rows::sums::<S, T, 3, 2, _>(&Weighted(self.mean), [x, g, &w[start..end]]),
                    None => rows::sums::<S, T, 2, 2, _>(&Weighted(self.mean), [x, g]),
                }
            };
            (sum, along) = (sum.add(s), along.add(a));
        }
        (sum, along)
    }
}

/// `q` and `q (x - mean)`, for one mean.
struct Weighted<T>(T);
impl<T: Real> Terms<T, 2, 2> for Weighted<T> {
    #[inline(always)]
    fn of<V: Vector<Elem = T>>(&self, [x, q]: [V; 2]) -> [V; 2] {
        [q, q * (x - x.splat(self.0))]
    }
}
impl<T: Real> Terms<T, 3, 2> for Weighted<T> {
    #[inline(always)]
    fn of<V: Vector<Elem = T>>(&self, [x, g, w]: [V; 3]) -> [V; 2] {
        Terms::<T, 2, 2>::of(self, [x, g * w])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn numbers(n: usize, by: usize) -> Vec<f64> {
        (0..n).map(|i| ((i * by + 11) % 101) as f64 / 50.0 - 1.0).collect()
    }

    #[test]
    fn by_the_definition() {
        for n in [0, 1, 2, 7, 31, 32, 33, 100, 1023, 1024, 1025, 3000] {
            let (x, g, w, b) = (numbers(n, 37), numbers(n, 53), numbers(n, 29), numbers(n, 71));
            let (mean, scale, factors) = (0.3, 1.7, [0.9, -0.4, 0.2]);
            let close =
                |got: f64, want: f64| assert!((got - want).abs() <= 1e-12 * (1.0 + n as f64), "{n}: {got} {want}");
            let mut o = vec![f64::NAN; n];
            standardize(&x, mean, scale, &w, &b, &mut o);
            (0..n).for_each(|i| close(o[i], (x[i] - mean) * scale * w[i] + b[i]));
            shift_and_scale(&x, mean, scale, 0.25, &mut o);
            (0..n).for_each(|i| close(o[i], (x[i] - mean) * scale + 0.25));
            for weights in [None, Some(&w[..])] {
                let q: Vec<f64> = (0..n).map(|i| g[i] * weights.map_or(1.0, |w| w[i])).collect();
                project(&x, &g, weights, mean, factors, &mut o);
                (0..n).for_each(|i| close(o[i], q[i] * 0.9 - 0.4 * (x[i] - mean) + 0.2));
                let (sum, along) = sums(&x, &g, weights, mean);
                close(sum, q.iter().sum());
                close(along, q.iter().zip(&x).map(|(q, x)| q * (x - mean)).sum());
            }
            let mut total = b.clone();
            add_along(&x, &g, mean, scale, &mut total);
            (0..n).for_each(|i| close(total[i], b[i] + g[i] * (x[i] - mean) * scale));
        }
    }
}
