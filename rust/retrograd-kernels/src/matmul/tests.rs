//! Against the product of `ndarray` in f64, over awkward sizes, every layout and every instruction set that
//! this CPU runs.

use ndarray::Ix2;

use super::driver::{self, Product};
use super::few::{Few, MOST};
use super::simd::{self, Simd};
use super::{GemmScalar, Layout, gemm, gemm_batch, gemm_slices};
use crate::naive;
use crate::parallel::set_num_threads;
use crate::thresholds::matmul::{DEPTH_BYTES, DOT_PART, NEAR_BYTES, PANEL};

/// Element types that are compared in f64.
trait Real: simd::Float + PartialEq + std::fmt::Debug {
    const EPS: f64;
    fn of(x: f64) -> Self;
    fn f64(self) -> f64;
}
impl Real for f32 {
    const EPS: f64 = f32::EPSILON as f64;
    fn of(x: f64) -> Self {
        x as f32
    }
    fn f64(self) -> f64 {
        self.into()
    }
}
impl Real for f64 {
    const EPS: f64 = f64::EPSILON;
    fn of(x: f64) -> Self {
        x
    }
    fn f64(self) -> f64 {
        self
    }
}

/// Numbers in -1 .. 1, the same in every run.
struct Numbers(u64);
impl Numbers {
    fn next(&mut self) -> f64 {
        self.0 = self.0.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (self.0 >> 33) as f64 / (1u64 << 30) as f64 - 1.0
    }
    fn vec<T: Real>(&mut self, len: usize) -> Vec<T> {
        (0..len).map(|_| T::of(self.next())).collect()
    }
}

/// The layout of a matrix, and how long its slice is. Gaps between rows are found untouched afterwards.
#[derive(Clone, Copy, Debug)]
pub(super) enum Shape {
    Rows,
    Columns,
    WideRows,
    Strided,
    Backwards,
}
pub(super) const SHAPES: [Shape; 5] = [Shape::Rows, Shape::Columns, Shape::WideRows, Shape::Strided, Shape::Backwards];

impl Shape {
    pub(super) fn place(self, rows: usize, cols: usize) -> (Layout, usize) {
        let (r, c) = (rows as isize, cols as isize);
        let (offset, rs, cs) = match self {
            Self::Rows => (0, c, 1),
            Self::Columns => (0, 1, r),
            Self::WideRows => (3, c + 5, 1),
            Self::Strided => (1, 3 * c + 2, 3),
            Self::Backwards => ((rows * cols).saturating_sub(1), -c, -1),
        };
        let len = offset + rows * rs.unsigned_abs() + cols * cs.unsigned_abs() + 1;
        (Layout { rows, cols, offset, rs, cs }, len)
    }
}

pub(super) fn index(l: &Layout, i: usize, j: usize) -> usize {
    (l.offset as isize + i as isize * l.rs + j as isize * l.cs) as usize
}

/// A function with the arguments of [`gemm`] after the element type.
type Run<T> = unsafe fn(&Product<T>);

/// Checks one product of layouts `a`, `b` and `c`, each in a slice of the length given.
fn check<T: Real>(
    name: &str,
    run: Run<T>,
    (al, a_len): (Layout, usize),
    (bl, b_len): (Layout, usize),
    (cl, c_len): (Layout, usize),
    accumulate: bool,
) {
    let mut numbers = Numbers(7);
    let (mut a, mut b) = (numbers.vec::<T>(a_len), numbers.vec::<T>(b_len));
    // What is outside of the matrices is not to reach any sum.
    for (x, l) in [(&mut a, &al), (&mut b, &bl)] {
        let mut inside = vec![false; x.len()];
        (0..l.rows).for_each(|i| (0..l.cols).for_each(|j| inside[index(l, i, j)] = true));
        x.iter_mut().zip(inside).filter(|(_, inside)| !inside).for_each(|(x, _)| *x = T::of(f64::NAN));
    }
    let before = if accumulate { numbers.vec::<T>(c_len) } else { vec![T::of(f64::NAN); c_len] };
    let mut c = before.clone();
    let (m, n, k) = (al.rows, bl.cols, al.cols);
    for l in [(&al, a_len), (&bl, b_len), (&cl, c_len)] {
        assert!(l.0.fits(l.1), "{l:?}");
    }
    assert!(cl.distinct());
    // SAFETY: the asserts are those of `gemm_slices`; the callers pass `m`, `n` and `k` not zero
    // and an instruction set of this CPU.
    unsafe {
        run(&Product {
            m,
            n,
            k,
            a: a.as_ptr().add(al.offset),
            a_rs: al.rs,
            a_cs: al.cs,
            b: b.as_ptr().add(bl.offset),
            b_rs: bl.rs,
            b_cs: bl.cs,
            accumulate,
            c: c.as_mut_ptr().add(cl.offset),
            c_rs: cl.rs,
            c_cs: cl.cs,
            conj: [false; 2],
            is_all: true,
        });
    }
    let wide = |values: &[T], l: &Layout| {
        let wide: Vec<f64> = values.iter().map(|x| x.f64()).collect();
        let array = naive::array(&wide, l.offset, &[l.rows, l.cols], &[l.rs, l.cs]).to_owned();
        array.into_dimensionality::<Ix2>().unwrap()
    };
    let (a, b) = (wide(&a, &al), wide(&b, &bl));
    let (mut wants, mut sizes) = (a.dot(&b), a.abs().dot(&b.abs()));
    if accumulate {
        let start = wide(&before, &cl);
        sizes += &start.abs();
        wants += &start;
    }
    let mut inside = vec![false; c_len];
    for i in 0..m {
        for j in 0..n {
            let at = index(&cl, i, j);
            inside[at] = true;
            let (want, size) = (wants[[i, j]], sizes[[i, j]]);
            // k + 1 roundings of at most eps / 2 each, relative to the sum of magnitudes, and as
            // many of the reference itself; twice that for the higher-order terms.
            let bound = 2.0 * (k as f64 + 1.0) * T::EPS * size;
            let got = c[at].f64();
            assert!(
                (got - want).abs() <= bound,
                "{name}: ({i}, {j}) of {m} x {n} x {k}: {got}, not {want}; {al:?} {bl:?} {cl:?} \
                 accumulate {accumulate}"
            );
        }
    }
    for (at, &inside) in inside.iter().enumerate() {
        let same = c[at] == before[at] || (c[at].f64().is_nan() && before[at].f64().is_nan());
        assert!(inside || same, "{name}: wrote outside C at {at}; {cl:?}");
    }
}

/// Two vectors merged at each lane.
fn merges<V: Simd>()
where
    V::Elem: Real,
{
    let mut numbers = Numbers(5);
    let (a, b): (Vec<V::Elem>, Vec<V::Elem>) = (numbers.vec(V::LEN), numbers.vec(V::LEN));
    for from in 0..=V::LEN {
        let mut got = a.clone();
        // What is not read may be missing.
        let rest = &b[from..];
        // SAFETY: the callers pass an instruction set of this CPU; elements `from ..` behind the pointer are those of
        // `rest`.
        unsafe { V::load(a.as_ptr()).merge(rest.as_ptr().wrapping_sub(from), from).store(got.as_mut_ptr()) }
        assert_eq!(got, [&a[..from], rest].concat());
    }
}

/// The product of row-major C with these operands, as `run` computes it.
fn product_of<T: Real>(
    [m, n, k]: [usize; 3],
    (a, al): (&[T], &Layout),
    (b, bl): (&[T], &Layout),
    start: Option<&[T]>,
    run: &dyn Fn(&Product<T>),
) -> Vec<T> {
    let mut c = start.map_or_else(|| vec![T::of(f64::NAN); m * n], <[T]>::to_vec);
    run(&Product {
        m,
        n,
        k,
        a: a[al.offset..].as_ptr(),
        a_rs: al.rs,
        a_cs: al.cs,
        b: b[bl.offset..].as_ptr(),
        b_rs: bl.rs,
        b_cs: bl.cs,
        accumulate: start.is_some(),
        c: c.as_mut_ptr(),
        c_rs: n as isize,
        c_cs: 1,
        conj: [false; 2],
        is_all: false,
    });
    c
}

/// A product without blocks has the bits that it has in blocks, up to the largest one, and the next size is in blocks.
fn without_blocks<V: Simd>(name: &str)
where
    V::Elem: Real,
{
    let (width, rows) = (2 * V::LEN, V::ROWS);
    // Of one depth block: where there are several, their sums are added up.
    let deepest = (PANEL / width).min(DEPTH_BYTES / size_of::<V::Elem>());
    let sizes = [
        [2, 2, 1],
        [4, 4, 4],
        [3, V::LEN, 2],
        [rows + 1, V::LEN + 1, 5],
        [3 * rows, width, deepest],
        [3 * rows + 1, 2 * width + 3, deepest],
        [3, 5 * width - 1, deepest],
    ];
    let mut numbers = Numbers(11);
    for [m, n, k] in sizes {
        for (a, b) in SHAPES.into_iter().flat_map(|a| SHAPES.map(|b| (a, b))) {
            let ((al, a_len), (bl, b_len)) = (a.place(m, k), b.place(k, n));
            let (a, b) = (numbers.vec::<V::Elem>(a_len), numbers.vec::<V::Elem>(b_len));
            let start = numbers.vec::<V::Elem>(m * n);
            for start in [None, Some(&start[..])] {
                let of = |run: &dyn Fn(&Product<V::Elem>)| product_of([m, n, k], (&a, &al), (&b, &bl), start, run);
                // SAFETY: the layouts fit their slices, C is row-major, and no size is zero; the callers pass an
                // instruction set of this CPU, and the product was asked for.
                let direct = of(&|p| unsafe {
                    let fits = !cfg!(small_blocks) && b_len * size_of::<V::Elem>() <= NEAR_BYTES;
                    assert!(!fits || driver::in_place::<V>(p));
                    if driver::in_place::<V>(p) {
                        driver::rows::<V, true>(p);
                    } else {
                        driver::product::<V>(p);
                    }
                });
                // SAFETY: as above.
                let blocks = of(&|p| unsafe { driver::blocked::<V>(p, None) });
                assert_eq!(direct, blocks, "{name}: {m} x {n} x {k}, {al:?} {bl:?} accumulate {}", start.is_some());
            }
        }
    }
}

/// Parts of C have the bits of the whole, wherever it is cut.
fn parts<V: Simd>(name: &str)
where
    V::Elem: Real,
{
    let mut numbers = Numbers(13);
    let rows = V::ROWS;
    for (m, n, k) in [(2 * rows + 3, 2, 2 * V::LEN + 1), (rows, 3, 7), (5, V::LEN + 1, 9), (4, 4, 40), (9, 1, 40)] {
        for (a, b) in SHAPES.into_iter().flat_map(|a| SHAPES.map(|b| (a, b))) {
            let ((al, a_len), (bl, b_len)) = (a.place(m, k), b.place(k, n));
            let (a, b) = (numbers.vec::<V::Elem>(a_len), numbers.vec::<V::Elem>(b_len));
            let of = |from: usize, m: usize| {
                let al = Layout { rows: m, offset: index(&al, from, 0), ..al };
                // SAFETY: rows `from .. from + m` are in the layout; the callers pass an instruction set of this CPU.
                product_of([m, n, k], (&a, &al), (&b, &bl), None, &|p| unsafe { driver::product::<V>(p) })
            };
            let whole = of(0, m);
            for cut in 2..=m - 2 {
                assert_eq!(
                    whole,
                    [of(0, cut), of(cut, m - cut)].concat(),
                    "{name}: {m} x {n} x {k} at {cut}, {al:?} {bl:?}"
                );
            }
        }
    }
}

/// All products of few terms, alone and in batches: of which none reads or writes what is another's.
fn few_terms<V: Simd>(name: &str)
where
    V::Elem: Real,
{
    // SAFETY: those of `check`.
    let run: Run<V::Elem> = |p| unsafe { V::call(&Few { count: 1, apart: [0; 3], first: *p }) };
    for (m, n, k) in (0..MOST.pow(3)).map(|i| (i % MOST + 1, i / MOST % MOST + 1, i / MOST.pow(2) + 1)) {
        for i in 0..SHAPES.len().pow(3) {
            let [a, b, c] = [i % SHAPES.len(), i / SHAPES.len() % SHAPES.len(), i / SHAPES.len().pow(2)];
            let (a, b) = (SHAPES[a].place(m, k), SHAPES[b].place(k, n));
            let accumulate = (i + m + n + k) % 2 == 0;
            check(&format!("{name} few"), run, a, b, SHAPES[c].place(m, n), accumulate);
        }
    }
}

/// Products of a batch are those that each is by itself.
fn batches<T: GemmScalar + PartialEq + std::fmt::Debug>(of: impl Fn(usize) -> T) {
    for [m, n, k] in [[3, 3, 3], [3, 1, 3], [1, 4, 2], [4, 4, 4], [5, 2, 3], [2, 3, 5], [2, 2, 0], [0, 3, 3]] {
        let count = 5;
        let [a, b, c] = [(m * k, 3), (k * n, 5), (m * n, 7)]
            .map(|(len, step)| (0..count * len + 1).map(|i| of(i * step)).collect::<Vec<T>>());
        let [rows, sizes] = [[k, n, n].map(|step| step as isize), [m * k, k * n, m * n].map(|step| step as isize)];
        // One A for all, one B for all, or an A and a B for each; from the last product to the first.
        for (apart, first) in [
            ([0, sizes[1], sizes[2]], 0),
            ([sizes[0], 0, sizes[2]], 0),
            (sizes, 0),
            (sizes.map(|step| -step), count as isize - 1),
        ] {
            for accumulate in [false, true] {
                let start = apart.map(|step| (-step).max(0) * first);
                let [mut together, mut alone] = [c.clone(), c.clone()];
                let [x, y] = [a[start[0] as usize..].as_ptr(), b[start[1] as usize..].as_ptr()];
                let [to, one] = [&mut together, &mut alone].map(|c| c[start[2] as usize..].as_mut_ptr());
                let ([ra, rb, rc], conj) = (rows, [false; 2]);
                // SAFETY: row-major matrices one after the other, or one for all, are in the vectors; C has one for
                // each.
                unsafe {
                    gemm_batch(count, apart, m, n, k, x, ra, 1, y, rb, 1, accumulate, to, rc, 1, conj);
                    for i in 0..count as isize {
                        let [x, y] = [x.wrapping_offset(i * apart[0]), y.wrapping_offset(i * apart[1])];
                        let one = one.wrapping_offset(i * apart[2]);
                        gemm_batch(1, [0; 3], m, n, k, x, ra, 1, y, rb, 1, accumulate, one, rc, 1, conj);
                    }
                }
                assert_eq!(together, alone, "{m} x {n} x {k} {apart:?} {accumulate}");
                assert!(together.last() == c.last() && (together != c || m * n == 0 || k == 0 && accumulate));
            }
        }
    }
}

#[test]
fn products_of_batches() {
    // Without a zero, so that no product is one.
    batches(|i| (i % 13) as f32 + 0.5);
    batches(|i| (i % 11) as f64 + 0.25);
    batches(|i| (i % 7) as i32 + 1);
    batches(|i| num_complex::Complex::new((i % 5) as f32 + 1.0, (i % 3) as f32));
}

/// Which way is taken, at the limits of each; rows of operands contiguous, or their columns.
fn ways<V: Simd>()
where
    V::Elem: Real,
{
    let way = |[m, n, k]: [usize; 3], a: Shape, b: Shape| {
        let ((al, a_len), (bl, b_len)) = (a.place(m, k), b.place(k, n));
        let (a, b) = (vec![V::Elem::of(0.0); a_len], vec![V::Elem::of(0.0); b_len]);
        let way = std::cell::Cell::new(None);
        product_of([m, n, k], (&a, &al), (&b, &bl), None, &|p| way.set(Some(driver::Way::best::<V>(p))));
        way.get().unwrap()
    };
    use driver::Way::{Dots, Rows};
    let (rows, columns, long) = (Shape::Rows, Shape::Columns, 8 * V::LEN);
    // Columns that fill half of a vector, or less.
    for n in [2, 4].into_iter().filter(|n| 2 * n <= V::LEN) {
        assert_eq!(way([long, n, long], rows, columns), Dots { transposed: false });
        assert_eq!(way([n, long, long], rows, columns), Dots { transposed: true });
        assert_eq!(way([n, long, long], rows, rows), Rows { transposed: false });
    }
    assert_eq!(way([long, 5, long], rows, columns), Rows { transposed: false });
    assert_eq!(way([long, long, 2], rows, columns), Rows { transposed: false });
    if V::LEN > 4 {
        assert_eq!(way([long, 2, long], columns, rows), Rows { transposed: true });
    }
}

/// The sizes around each limit of tile, vector and block, and some primes, for the vectors `V`.
fn sweep<V: Simd>(name: &str)
where
    V::Elem: Real,
{
    merges::<V>();
    without_blocks::<V>(name);
    few_terms::<V>(name);
    parts::<V>(name);
    if !cfg!(small_blocks) {
        ways::<V>();
    }
    let run: Run<V::Elem> = driver::product::<V>;
    let (r, l) = (V::ROWS, V::LEN);
    let place = |shape: Shape, rows, cols| shape.place(rows, cols);
    let rows = [1, 2, 3, 4, 5, r - 1, r, r + 1, 2 * r + 1, 37];
    let columns = [1, 2, 3, 4, 5, l - 1, l, l + 1, 2 * l - 1, 2 * l, 2 * l + 1, 4 * l + 3, 8 * l + 1];
    for m in rows {
        for n in columns {
            for k in [1, 2, l, l + 1, 4 * l + 3] {
                for (a, b) in [(0, 0), (0, 1), (1, 0), (1, 1)] {
                    let (a, b) = (place(SHAPES[a], m, k), place(SHAPES[b], k, n));
                    check(name, run, a, b, place(Shape::Rows, m, n), false);
                    check(name, run, a, b, place(Shape::Columns, m, n), true);
                    check(name, run, a, b, place(Shape::WideRows, m, n), k % 2 == 0);
                }
            }
        }
    }
    for (m, n, k) in [(1, 41, 23), (41, 1, 23), (1, 1, 97), (5, 7, 3), (29, 71, 31)] {
        for a in SHAPES {
            for b in SHAPES {
                for c in SHAPES {
                    for accumulate in [false, true] {
                        let (a, b) = (place(a, m, k), place(b, k, n));
                        check(name, run, a, b, place(c, m, n), accumulate);
                    }
                }
            }
        }
    }
    // Several blocks of each kind, copied and not.
    for (m, n, k) in [(307, 151, 61), (43, 331, 70), (3, 2081, 5), (61, 2081, 17), (33, 67, 1031), (509, 67, 521)] {
        for (a, b) in [(0, 0), (0, 1), (1, 0), (3, 4)] {
            let (a, b) = (place(SHAPES[a], m, k), place(SHAPES[b], k, n));
            check(name, run, a, b, place(Shape::Rows, m, n), true);
        }
    }
    // Expanded operands: strides of zero.
    let zero = |rows, cols, rs, cs| (Layout { rows, cols, offset: 0, rs, cs }, rows * cols + 1);
    for (m, n, k) in [(1, 1, 33), (1, 40, 9), (40, 1, 9), (15, 40, 33)] {
        for (rs, cs) in [(0, 1), (1, 0), (0, 0)] {
            let (a, b) = (zero(m, k, rs, cs), zero(k, n, rs, cs));
            check(name, run, a, place(Shape::Rows, k, n), place(Shape::Rows, m, n), false);
            check(name, run, place(Shape::Rows, m, k), b, place(Shape::Rows, m, n), false);
        }
    }
}

#[test]
fn plain_f32() {
    sweep::<simd::PlainF32>("plain f32");
}

#[test]
fn plain_f64() {
    sweep::<simd::PlainF64>("plain f64");
}

#[cfg(target_arch = "x86_64")]
mod x86_64 {
    use super::super::x86::{Avx2F32, Avx2F64, Avx512F32, Avx512F64};
    use super::sweep;

    #[test]
    fn avx2_f32() {
        if is_x86_feature_detected!("avx2") && is_x86_feature_detected!("fma") {
            sweep::<Avx2F32>("AVX2 f32");
        }
    }

    #[test]
    fn avx2_f64() {
        if is_x86_feature_detected!("avx2") && is_x86_feature_detected!("fma") {
            sweep::<Avx2F64>("AVX2 f64");
        }
    }

    #[test]
    fn avx512_f32() {
        if is_x86_feature_detected!("avx512f") {
            sweep::<Avx512F32>("AVX-512 f32");
        }
    }

    #[test]
    fn avx512_f64() {
        if is_x86_feature_detected!("avx512f") {
            sweep::<Avx512F64>("AVX-512 f64");
        }
    }
}

#[test]
fn no_terms_gives_zeros_or_leaves_c() {
    let (a, b) = (Layout::row_major(2, 0), Layout::row_major(0, 3));
    let mut c = [5.0f32; 6];
    gemm_slices((&[], a), (&[], b), true, (&mut c, Layout::row_major(2, 3)));
    assert_eq!(c, [5.0; 6]);
    gemm_slices((&[], a), (&[], b), false, (&mut c, Layout::row_major(2, 3)));
    assert_eq!(c, [0.0; 6]);
}

#[test]
fn no_rows_or_columns_touches_nothing() {
    for (m, n) in [(0, 3), (3, 0), (0, 0)] {
        let (a, b) = (Layout::row_major(m, 2), Layout::row_major(2, n));
        let c = Layout::row_major(m, n);
        gemm_slices((&[1.0f64; 6], a), (&[1.0; 6], b), false, (&mut [], c));
    }
}

#[test]
fn nan_and_infinity_pass_through() {
    let mut c = [0.0f32; 2];
    let (a, b) = (Layout::row_major(1, 2), Layout::row_major(2, 2));
    gemm_slices(
        (&[0.0, 1.0], a),
        (&[f32::INFINITY, 1.0, 1.0, f32::INFINITY], b),
        false,
        (&mut c, Layout::row_major(1, 2)),
    );
    assert!(c[0].is_nan());
    assert_eq!(c[1], f32::INFINITY);
}

#[test]
fn a_zero_times_infinity_is_seen_in_every_form() {
    // Infinity in the last term of the first row of A, and zeros in that of B, but for its last column.
    for [m, n, k] in [[3, 2, 33], [2, 3, 17], [40, 2, 9], [2, 40, 64], [5, 1, 20], [1, 5, 20], [20, 20, 3]] {
        for (al, bl) in [Layout::row_major(m, k), Layout::column_major(m, k)]
            .into_iter()
            .flat_map(|a| [Layout::row_major(k, n), Layout::column_major(k, n)].map(|b| (a, b)))
        {
            let (mut a, mut b, mut c) = (vec![1.0f32; m * k], vec![1.0f32; k * n], vec![0.0f32; m * n]);
            a[index(&al, 0, k - 1)] = f32::INFINITY;
            (0..n - 1).for_each(|j| b[index(&bl, k - 1, j)] = 0.0);
            gemm_slices((&a, al), (&b, bl), false, (&mut c, Layout::row_major(m, n)));
            for (at, c) in c.into_iter().enumerate() {
                let (i, j) = (at / n, at % n);
                let full = if j + 1 < n { k - 1 } else { k } as f32;
                match (i, j + 1 == n) {
                    (0, true) => assert_eq!(c, f32::INFINITY),
                    (0, false) => assert!(c.is_nan(), "{m} x {n} x {k}: {c} at {i}, {j}"),
                    _ => assert_eq!(c, full, "{m} x {n} x {k} at {i}, {j}"),
                }
            }
        }
    }
}

#[test]
fn integers_wrap() {
    let (a, b) = (Layout::row_major(2, 3), Layout::column_major(3, 2));
    let c = Layout::column_major(2, 2);
    let mut got = [1i8; 4];
    gemm_slices((&[100, 2, 3, 4, 5, 6], a), (&[2, 0, 1, 1, 1, 1], b), true, (&mut got, c));
    assert_eq!(got, [(1 + 203i32) as i8, 1 + 14, 1 + 105, 1 + 15]);
    let mut got = [0u8; 4];
    gemm_slices((&[200, 2, 3, 4, 5, 6], a), (&[2, 0, 1, 1, 1, 1], b), false, (&mut got, c));
    assert_eq!(got, [(403 % 256) as u8, 14, 205, 15]);
    macro_rules! same {
        ($($t:ty)*) => {$(
            let mut got = [0 as $t; 4];
            let (x, y) = ([1, 2, 3, 4, 5, 6], [2, 0, 1, 1, 1, 1]);
            gemm_slices((&x, a), (&y, b), false, (&mut got, c));
            assert_eq!(got, [5, 14, 6, 15]);
        )*};
    }
    same!(i16 i32 i64);
}

#[test]
fn integers_in_every_layout() {
    let layouts = |rows, cols| [Layout::row_major(rows, cols), Layout::column_major(rows, cols)];
    let value = |i: usize| (i * 2_654_435_761 % 1000) as i64 - 500;
    for [m, n, k] in
        [[1, 1, 9], [9, 1, 5], [1, 9, 5], [5, 7, 3], [5, 8, 3], [8, 5, 4], [3, 20, 1], [2, 2, 0], [12, 3, 7]]
    {
        for (al, bl) in layouts(m, k).into_iter().flat_map(|a| layouts(k, n).map(|b| (a, b))) {
            for (cl, accumulate) in layouts(m, n).into_iter().flat_map(|c| [(c, false), (c, true)]) {
                let (a, b): (Vec<i64>, Vec<i64>) =
                    ((0..m * k).map(value).collect(), (7..7 + k * n).map(value).collect());
                let (mut c, start) = (vec![3; m * n], if accumulate { 3 } else { 0 });
                gemm_slices((&a, al), (&b, bl), accumulate, (&mut c, cl));
                for (i, j) in (0..m).flat_map(|i| (0..n).map(move |j| (i, j))) {
                    let sum: i64 = (0..k).map(|l| a[index(&al, i, l)] * b[index(&bl, l, j)]).sum();
                    assert_eq!(c[index(&cl, i, j)], start + sum, "{m} x {n} x {k} {al:?} {bl:?} {cl:?} at {i}, {j}");
                }
            }
        }
    }
}

/// Rows times columns of one part, of two and of an odd number of them, which is the same number on any thread.
#[test]
fn long_dots() {
    fn check<T: GemmScalar + std::fmt::Debug>(of: impl Fn(i64) -> T, k: usize) {
        let value = |i: usize| (i * 2_654_435_761 % 11) as i64 - 5;
        let (a, b): (Vec<i64>, Vec<i64>) = ((0..2 * k).map(value).collect(), (3..3 + k).map(value).collect());
        let (x, y): (Vec<T>, Vec<T>) = (a.iter().map(|&i| of(i)).collect(), b.iter().map(|&i| of(i)).collect());
        let sum: i64 = (0..k).map(|i| a[2 * i] * b[k - 1 - i]).sum();
        for (threads, accumulate) in [(1, false), (2, true), (3, false)] {
            set_num_threads(threads);
            let mut c = [of(7)];
            // SAFETY: `k` elements of each, every second one, and from the last to the first.
            unsafe {
                let (x, y) = (x.as_ptr(), y.as_ptr().add(k - 1));
                gemm(1, 1, k, x, 9, 2, y, -1, 9, accumulate, c.as_mut_ptr(), 1, 1);
            }
            assert_eq!(c[0], of(if accumulate { 7 + sum } else { sum }), "{k} terms, {threads} threads");
        }
    }
    for k in [1, DOT_PART, 2 * DOT_PART - 1, 2 * DOT_PART, 3 * DOT_PART, 4 * DOT_PART + 5] {
        // Numbers that float32 holds exactly, with all partial sums.
        check(|i| i, k);
        check(|i| i as f32, k);
        check(|i| i as f64, k);
    }
}

#[test]
fn the_same_call_gives_the_same_bits() {
    let mut numbers = Numbers(3);
    let (a, b): (Vec<f32>, Vec<f32>) = (numbers.vec(61 * 700), numbers.vec(700 * 67));
    let product = || {
        let mut c = vec![0.0f32; 61 * 67];
        // SAFETY: all three are row-major matrices of 61 x 700, 700 x 67 and 61 x 67.
        unsafe {
            let (a, b, c) = (a.as_ptr(), b.as_ptr(), c.as_mut_ptr());
            gemm(61, 67, 700, a, 700, 1, b, 67, 1, false, c, 67, 1);
        }
        c
    };
    let first = product();
    let other = std::thread::scope(|s| s.spawn(product).join().expect("no panic"));
    assert_eq!(first, product());
    assert_eq!(first, other);
}

/// [`gemm`] with the arguments of a product.
///
/// # Safety
/// The duties of [`gemm`].
unsafe fn whole<T: GemmScalar>(p: &Product<T>) {
    // SAFETY: our duties.
    unsafe { gemm(p.m, p.n, p.k, p.a, p.a_rs, p.a_cs, p.b, p.b_rs, p.b_cs, p.accumulate, p.c, p.c_rs, p.c_cs) }
}

/// Products that are cut for threads: right, and the same bits with any number of them.
fn cut<T: Real + GemmScalar>() {
    let mut numbers = Numbers(17);
    // Between rows, of one block or several, of one depth or two; and between columns.
    let sizes = [[169, 33, 700], [411, 131, 90], [64, 700, 90]];
    for [m, n, k] in sizes {
        for (a, b) in [(0, 0), (1, 1), (3, 4)].map(|(a, b)| (SHAPES[a], SHAPES[b])) {
            let ((al, a_len), (bl, b_len)) = (a.place(m, k), b.place(k, n));
            let (a, b) = (numbers.vec::<T>(a_len), numbers.vec::<T>(b_len));
            let start = numbers.vec::<T>(m * n);
            for start in [None, Some(&start[..])] {
                let with = |threads| {
                    set_num_threads(threads);
                    // SAFETY: the layouts fit their slices, C is row-major, and no size is zero.
                    product_of([m, n, k], (&a, &al), (&b, &bl), start, &|p| unsafe { whole(p) })
                };
                let alone = with(1);
                for threads in [2, 5] {
                    assert_eq!(alone, with(threads), "{m} x {n} x {k}, {al:?} {bl:?}, {threads} threads");
                }
            }
        }
        set_num_threads(3);
        let expanded = |rows, cols, rs, cs| (Layout { rows, cols, offset: 0, rs, cs }, rows * cols + 1);
        for (c, accumulate) in [(Shape::WideRows, true), (Shape::Columns, false), (Shape::Strided, true)] {
            let c = c.place(m, n);
            check("cut", whole::<T>, Shape::Rows.place(m, k), Shape::Rows.place(k, n), c, accumulate);
            check("cut", whole::<T>, Shape::Columns.place(m, k), Shape::Columns.place(k, n), c, accumulate);
            check("cut", whole::<T>, expanded(m, k, 0, 1), Shape::Rows.place(k, n), c, accumulate);
            check("cut", whole::<T>, Shape::Rows.place(m, k), expanded(k, n, 0, 1), c, accumulate);
        }
    }
}

#[test]
fn in_parts_f32() {
    cut::<f32>();
}

#[test]
fn in_parts_f64() {
    cut::<f64>();
}

#[test]
#[should_panic(expected = "outside the slice")]
fn a_short_slice_is_refused() {
    let l = Layout::row_major(2, 2);
    gemm_slices((&[0.0f32; 4], l), (&[0.0; 3], l), false, (&mut [0.0; 4], l));
}

#[test]
fn elements_of_a_layout_are_distinct_if_one_axis_steps_over_the_other() {
    let distinct = |rows, cols, rs, cs| Layout { rows, cols, rs, cs, offset: 0 }.distinct();
    for (rows, cols) in [(3usize, 4usize), (4, 3)] {
        let (rs, cs) = (rows as isize, cols as isize);
        assert!(distinct(rows, cols, cs, 1) && distinct(rows, cols, cs + 5, 1) && distinct(rows, cols, -cs, -1));
        assert!(distinct(rows, cols, 1, rs) && distinct(rows, cols, 1, rs + 5) && distinct(rows, cols, -1, rs));
        assert!(!distinct(rows, cols, 1, 1) && !distinct(rows, cols, cs - 1, 1) && !distinct(rows, cols, 1, rs - 1));
        assert!(!distinct(rows, cols, cs, 0) && !distinct(rows, cols, 0, rs) && !distinct(rows, cols, 0, 0));
    }
    // An axis of one element never steps, and no elements share nothing.
    assert!(distinct(1, 4, 0, 1) && distinct(4, 1, 1, 0) && distinct(1, 1, 0, 0));
    assert!(!distinct(1, 4, 1, 0) && !distinct(4, 1, 0, 1));
    assert!(distinct(0, 4, 0, 0) && distinct(4, 0, 0, 0));
}

#[test]
#[should_panic(expected = "share a place")]
fn a_repeating_output_is_refused() {
    let l = Layout::row_major(2, 2);
    let repeating = Layout { rs: 0, ..l };
    gemm_slices((&[0.0f32; 4], l), (&[0.0; 4], l), false, (&mut [0.0; 4], repeating));
}
