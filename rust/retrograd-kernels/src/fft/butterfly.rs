//! Transforms of 2 to 8 complex numbers, in each lane of vectors. All are forward.

use crate::simd::Vector;

/// A complex number in each lane.
#[derive(Clone, Copy, Debug)]
pub struct C<V> {
    pub re: V,
    pub im: V,
}

impl<V: Vector> C<V> {
    #[inline(always)]
    pub fn plus(self, o: Self) -> Self {
        Self { re: self.re + o.re, im: self.im + o.im }
    }
    #[inline(always)]
    pub fn minus(self, o: Self) -> Self {
        Self { re: self.re - o.re, im: self.im - o.im }
    }
    #[inline(always)]
    pub fn times(self, o: Self) -> Self {
        let (re, im) = (self.im * o.im, self.im * o.re);
        Self { re: self.re.fma(o.re, -re), im: self.re.fma(o.im, im) }
    }
    /// `self - i o`.
    #[inline(always)]
    fn plus_turned(self, o: Self) -> Self {
        Self { re: self.re + o.im, im: self.im - o.re }
    }
    /// `self + i o`.
    #[inline(always)]
    fn minus_turned(self, o: Self) -> Self {
        Self { re: self.re - o.im, im: self.im + o.re }
    }
    /// `self * by + o` for a real `by`.
    #[inline(always)]
    fn fma(self, by: V, o: Self) -> Self {
        Self { re: self.re.fma(by, o.re), im: self.im.fma(by, o.im) }
    }
    #[inline(always)]
    pub fn conj(self) -> Self {
        Self { re: self.re, im: -self.im }
    }
}

/// `b[j] = sum of a[k] exp(-2 pi i j k / R)`, for an `R` of 2, 3, 4, 5, 7 or 8.
#[inline(always)]
pub fn butterfly<V: Vector, const R: usize>(a: [C<V>; R]) -> [C<V>; R] {
    let mut b = a;
    if R == 2 {
        (b[0], b[1]) = (a[0].plus(a[1]), a[0].minus(a[1]));
    } else if R == 4 {
        let four = four([a[0], a[1], a[2], a[3]]);
        (b[0], b[1], b[2], b[3]) = (four[0], four[1], four[2], four[3]);
    } else if R == 8 {
        let (even, odd) = (four([a[0], a[2], a[4], a[6]]), four([a[1], a[3], a[5], a[7]]));
        let root = a[0].re.of(std::f64::consts::FRAC_1_SQRT_2);
        (b[0], b[4]) = (even[0].plus(odd[0]), even[0].minus(odd[0]));
        (b[2], b[6]) = (even[2].plus_turned(odd[2]), even[2].minus_turned(odd[2]));
        // 1 - i, and 1 + i.
        let turned = odd[1].plus_turned(odd[1]);
        (b[1], b[5]) = (turned.fma(root, even[1]), turned.fma(-root, even[1]));
        let turned = odd[3].minus_turned(odd[3]);
        (b[3], b[7]) = (turned.fma(-root, even[3]), turned.fma(root, even[3]));
    } else {
        // What is multiplied by a root and by its conjugate.
        let (mut sums, mut differences) = (a, a);
        let mut all = a[0];
        for k in 1..R.div_ceil(2) {
            sums[k] = a[k].plus(a[R - k]);
            differences[k] = a[k].minus(a[R - k]);
            all = all.plus(sums[k]);
        }
        b[0] = all;
        for j in 1..R.div_ceil(2) {
            let (re, im) = ROOTS[R][j];
            let mut cosines = sums[1].fma(a[0].re.of(re), a[0]);
            let mut sines = C { re: differences[1].re * a[0].re.of(im), im: differences[1].im * a[0].re.of(im) };
            for k in 2..R.div_ceil(2) {
                let (re, im) = ROOTS[R][j * k % R];
                cosines = sums[k].fma(a[0].re.of(re), cosines);
                sines = differences[k].fma(a[0].re.of(im), sines);
            }
            (b[j], b[R - j]) = (cosines.plus_turned(sines), cosines.minus_turned(sines));
        }
    }
    b
}

#[inline(always)]
fn four<V: Vector>(a: [C<V>; 4]) -> [C<V>; 4] {
    let (even, odd) = (a[0].plus(a[2]), a[1].plus(a[3]));
    let (less, turned) = (a[0].minus(a[2]), a[1].minus(a[3]));
    [even.plus(odd), less.plus_turned(turned), even.minus(odd), less.minus_turned(turned)]
}

/// `(cos, sin)` of `2 pi k / R`, at `[R][k]`, for the odd ones.
const ROOTS: [[(f64, f64); 8]; 8] = {
    let mut roots = [[(1.0, 0.0); 8]; 8];
    const HALF_ROOT_3: f64 = 0.866_025_403_784_438_6;
    roots[3] = mirrored(3, [(-0.5, HALF_ROOT_3), (0.0, 0.0), (0.0, 0.0)]);
    roots[5] = mirrored(
        5,
        [
            (0.309_016_994_374_947_45, 0.951_056_516_295_153_5),
            (-0.809_016_994_374_947_5, 0.587_785_252_292_473_1),
            (0.0, 0.0),
        ],
    );
    roots[7] = mirrored(
        7,
        [
            (0.623_489_801_858_733_5, 0.781_831_482_468_029_8),
            (-0.222_520_933_956_314_4, 0.974_927_912_181_823_6),
            (-0.900_968_867_902_419_1, 0.433_883_739_117_558_1),
        ],
    );
    roots
};

/// The roots from the first half of them without 1.
const fn mirrored(n: usize, half: [(f64, f64); 3]) -> [(f64, f64); 8] {
    let mut roots = [(1.0, 0.0); 8];
    let mut k = 1;
    while k <= n / 2 {
        roots[k] = half[k - 1];
        roots[n - k] = (half[k - 1].0, -half[k - 1].1);
        k += 1;
    }
    roots
}
