//! One row of C: a vector times a matrix, and the dot product as its narrowest case. Memory
//! limits the speed here, so B is read in place, once.

use super::simd::{Float, Simd};

/// `y = x B`, or `y += x B`.
pub(crate) struct VectorTimesMatrix<T> {
    pub n: usize,
    pub k: usize,
    /// `k` elements, with stride `xs`.
    pub x: *const T,
    pub xs: isize,
    /// `k` x `n`.
    pub b: *const T,
    pub b_rs: isize,
    pub b_cs: isize,
    /// `n` elements, with stride `ys`.
    pub y: *mut T,
    pub ys: isize,
    pub accumulate: bool,
}

impl<T: Float> VectorTimesMatrix<T> {
    /// Writes or adds `value` at `y[j]`.
    ///
    /// # Safety
    /// `j < n`, and `y` is as its comment says.
    #[inline(always)]
    unsafe fn put(&self, j: usize, value: T) {
        // SAFETY: the duty of this function.
        unsafe {
            let y = self.y.offset(j as isize * self.ys);
            *y = if self.accumulate { value.plus(*y) } else { value };
        }
    }

    /// The scalar dot product of the terms from `from` on with column `j`.
    ///
    /// # Safety
    /// `j < n`, and `x` and `b` are as their comments say.
    #[inline(always)]
    unsafe fn dot(&self, from: usize, j: usize) -> T {
        let mut sum = T::ZERO;
        for p in from..self.k {
            let p = p as isize;
            // SAFETY: the duty of this function, p < k.
            let (x, b) =
                unsafe { (*self.x.offset(p * self.xs), *self.b.offset(p * self.b_rs + j as isize * self.b_cs)) };
            sum = sum.plus(x.times(b));
        }
        sum
    }
}

/// Computes the row.
///
/// # Safety
/// 1. The CPU has the instructions of `V`.
/// 2. `x` and `b` are readable, `y` writable (and readable, if `accumulate`), as the comments of
///    [`VectorTimesMatrix`] say.
/// 3. `y` overlaps neither `x` nor `b`.
#[inline(always)]
pub(super) unsafe fn body<V: Simd>(r: &VectorTimesMatrix<V::Elem>) {
    // SAFETY: the duties of the three functions are those of this one, and the unit strides that
    // they ask for are tested here.
    unsafe {
        if r.b_cs == 1 {
            let mut j = 0;
            while r.n - j >= 8 * V::LEN {
                across::<V, 8>(r, j, V::LEN);
                j += 8 * V::LEN;
            }
            while r.n - j >= 4 * V::LEN {
                across::<V, 4>(r, j, V::LEN);
                j += 4 * V::LEN;
            }
            while j < r.n {
                let last = V::LEN.min(r.n - j);
                across::<V, 1>(r, j, last);
                j += last;
            }
        } else if r.n == 1 && r.b_rs == 1 && r.xs == 1 {
            down_one::<V>(r);
        } else {
            for j in 0..r.n {
                r.put(j, r.dot(0, j));
            }
        }
    }
}

/// Columns `j ..` of `C` vectors, the last one `last` elements long, where `b_cs == 1`.
///
/// # Safety
/// The duties of [`body`], and `j + (C - 1) * LEN + last <= n`, `last <= LEN`.
#[inline(always)]
unsafe fn across<V: Simd, const C: usize>(r: &VectorTimesMatrix<V::Elem>, j: usize, last: usize) {
    // SAFETY: duties 1 to 3 of `body`; every column touched is less than n by the last duty. The
    // array has space for C vectors.
    unsafe {
        let mut acc = [V::zero(); C];
        for p in 0..r.k {
            let x = V::splat(r.x.offset(p as isize * r.xs));
            let b = r.b.offset(p as isize * r.b_rs + j as isize);
            for (i, acc) in acc.iter_mut().enumerate() {
                let b = b.add(i * V::LEN);
                let full = i + 1 < C || last == V::LEN;
                let v = if full { V::load(b) } else { V::load_first(b, last) };
                *acc = x.fma(v, *acc);
            }
        }
        for (i, &(mut v)) in acc.iter().enumerate() {
            let j = j + i * V::LEN;
            let len = if i + 1 < C { V::LEN } else { last };
            if r.ys == 1 {
                let y = r.y.add(j);
                if r.accumulate {
                    v = v.plus(V::load_first(y, len));
                }
                v.store_first(y, len);
            } else {
                let mut lanes = [V::Elem::ZERO; 16];
                v.store(lanes.as_mut_ptr());
                for (l, &x) in lanes[..len].iter().enumerate() {
                    r.put(j + l, x);
                }
            }
        }
    }
}

/// The sum of the lanes, pairwise.
///
/// # Safety
/// The CPU has the instructions of `V`.
#[inline(always)]
pub(crate) unsafe fn sum<V: Simd>(v: V) -> V::Elem {
    let mut lanes = [V::Elem::ZERO; 16];
    // SAFETY: the duty of this function; no vector is longer than 16 elements.
    unsafe { v.store(lanes.as_mut_ptr()) }
    let mut width = V::LEN;
    while width > 1 {
        width /= 2;
        for i in 0..width {
            lanes[i] = lanes[i].plus(lanes[i + width]);
        }
    }
    lanes[0]
}

/// One dot product, of the only column, in four chains, where `b_rs == 1` and `xs == 1`.
///
/// # Safety
/// The duties of [`body`], and `n == 1`.
#[inline(always)]
unsafe fn down_one<V: Simd>(r: &VectorTimesMatrix<V::Elem>) {
    // SAFETY: duties 1 to 3 of `body`; terms up to p + 4 * LEN <= k of one column are read.
    unsafe {
        let mut acc = [V::zero(); 4];
        let b = r.b;
        let mut p = 0;
        while r.k - p >= 4 * V::LEN {
            for (i, acc) in acc.iter_mut().enumerate() {
                let p = p + i * V::LEN;
                *acc = V::load(r.x.add(p)).fma(V::load(b.add(p)), *acc);
            }
            p += 4 * V::LEN;
        }
        while r.k - p >= V::LEN {
            acc[0] = V::load(r.x.add(p)).fma(V::load(b.add(p)), acc[0]);
            p += V::LEN;
        }
        let all = acc[0].plus(acc[1]).plus(acc[2].plus(acc[3]));
        r.put(0, sum(all).plus(r.dot(p, 0)));
    }
}
