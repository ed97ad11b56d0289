//! Products in tiles against `ndarray` in f64, by the CPU's tiles if it has them and by plain ones.

use half::bf16;
use ndarray::Array2;

use super::super::driver::Product;
use super::super::tests::{SHAPES, Shape, index};
use super::super::{Layout, gemm_bf16};
use super::{BLOCK, Block, Lines, SIDE, TERMS, TILE, Tiles, copy_each, products};
use crate::parallel::set_num_threads;
use crate::testing::noise;
use crate::thresholds::matmul::{TILE_COLUMNS, TILE_ROWS, TILE_TERMS};

/// Tiles in plain loops.
struct Plain;

impl Tiles for Plain {
    unsafe fn copy<const PAIRS: bool>(&self, from: Lines, rows: usize, k: usize, to: *mut u16) {
        // SAFETY: our duties.
        unsafe { copy_each::<PAIRS>(from, rows, k, to) }
    }

    unsafe fn multiply<const DOWN: usize, const ACROSS: usize>(&self, block: &Block) {
        // SAFETY: duties 1 and 2; places in a tile are as `Tiles::copy` says.
        unsafe {
            for (i, j) in (0..DOWN * SIDE).flat_map(|i| (0..ACROSS * SIDE).map(move |j| (i, j))) {
                let c = block.c.add(i * BLOCK + j);
                let mut sum = if block.is_first { 0.0 } else { *c };
                let row = (i / SIDE) as isize * block.a_down + (i % SIDE) as isize * block.a_row;
                for step in 0..block.tiles {
                    let a = block.a.wrapping_byte_offset(row + step as isize * block.a_next);
                    let b = block.b.add((step * ACROSS + j / SIDE) * TILE + j % SIDE * 2);
                    let mut p = 0;
                    while p < TERMS {
                        let [x, y] = [*a.add(p), *b.add(p / 2 * TERMS + p % 2)];
                        sum += f32::from_bits(u32::from(x) << 16) * f32::from_bits(u32::from(y) << 16);
                        p += 1;
                    }
                }
                *c = sum;
            }
        }
    }
}

/// Calls a function for each form of tiles that this machine has.
macro_rules! with_tiles {
    ($f:ident($($arg:expr),*)) => {
        $f("plain", &|| Plain $(, $arg)*);
        #[cfg(all(target_arch = "x86_64", target_os = "linux", not(miri)))]
        if let Some(amx) = super::super::amx::Amx::detect() {
            $f("AMX", &|| super::super::amx::Configured::new(amx) $(, $arg)*);
        }
    };
}

/// `len` numbers in -1 .. 1.
fn numbers(seed: u64, len: usize) -> Vec<u16> {
    noise(seed, len).into_iter().map(|x| bf16::from_f64(x).to_bits()).collect()
}

fn wide(x: u16) -> f64 {
    bf16::from_bits(x).to_f64()
}

/// Whether a result is a sum near `want`, rounded once.
fn is_near(got: u16, want: f64, bound: f64) -> bool {
    bf16::from_f64(want - bound).to_f64() <= wide(got) && wide(got) <= bf16::from_f64(want + bound).to_f64()
}

/// Checks one product of operands and a result of these layouts; what is around them is NaN, and stays.
fn check<T: Tiles>(
    name: &str,
    begin: &(dyn Fn() -> T + Sync),
    [m, n, k]: [usize; 3],
    [a, b, c]: [Shape; 3],
    accumulate: bool,
) {
    let ((al, a_len), (bl, b_len), (cl, c_len)) = (a.place(m, k), b.place(k, n), c.place(m, n));
    assert!(al.fits(a_len) && bl.fits(b_len) && cl.fits(c_len) && cl.distinct());
    let nan = bf16::NAN.to_bits();
    let filled = |l: &Layout, len, seed, is_read: bool| {
        let mut x = vec![nan; len];
        for (at, value) in numbers(seed, l.rows * l.cols).into_iter().enumerate().filter(|_| is_read) {
            x[index(l, at / l.cols, at % l.cols)] = value;
        }
        x
    };
    let (a, b, before) = (filled(&al, a_len, 1, true), filled(&bl, b_len, 2, true), filled(&cl, c_len, 3, accumulate));
    let mut got = before.clone();
    let (is_all, conj) = (true, [false; 2]);
    let (pa, pb) = (a[al.offset..].as_ptr(), b[bl.offset..].as_ptr());
    let c = got[cl.offset..].as_mut_ptr();
    let [(a_rs, a_cs), (b_rs, b_cs), (c_rs, c_cs)] = [al, bl, cl].map(|l| (l.rs, l.cs));
    let p = Product { m, n, k, a: pa, a_rs, a_cs, b: pb, b_rs, b_cs, accumulate, c, c_rs, c_cs, conj, is_all };
    // SAFETY: the layouts fit their slices, as just checked, and no extent is zero.
    unsafe { products(begin, 1, [0; 3], &p) };
    let of = |x: &[u16], l: &Layout| Array2::from_shape_fn((l.rows, l.cols), |(i, j)| wide(x[index(l, i, j)]));
    let (a, b) = (of(&a, &al), of(&b, &bl));
    let (mut wants, mut sizes) = (a.dot(&b), a.map(|x| x.abs()).dot(&b.map(|x| x.abs())));
    if accumulate {
        let start = of(&before, &cl);
        sizes += &start.abs();
        wants += &start;
    }
    for ((i, j), &want) in wants.indexed_iter() {
        // k + 1 roundings of at most eps / 2 each, relative to the sum of magnitudes, and the last one.
        let bound = (k as f64 + 1.0) * f64::from(f32::EPSILON) * sizes[[i, j]];
        let at = index(&cl, i, j);
        assert!(
            is_near(got[at], want, bound),
            "{name}: ({i}, {j}) of {m} x {n} x {k}: {}, not {want}; {al:?} {bl:?} {cl:?} accumulate {accumulate}",
            wide(got[at])
        );
        got[at] = before[at];
    }
    assert_eq!(got, before, "{name}: wrote outside C; {cl:?}");
}

/// The sizes around the edges of tiles and of blocks, in layouts by turns.
fn sweep<T: Tiles>(name: &str, begin: &(dyn Fn() -> T + Sync)) {
    let sizes = [1, 2, 15, 16, 17, 31, 32, 33, 47, 48, 49, 63, 64, 65];
    let depths = [1, 2, 31, 32, 33, 64, 65, 96, 97];
    let mut turn = 0;
    let mut shapes = || {
        turn += 1;
        ([turn, turn / 5, turn / 25].map(|i| SHAPES[i % 5]), turn % 2 == 0)
    };
    for (i, m) in sizes.into_iter().enumerate() {
        for (j, n) in sizes.into_iter().enumerate() {
            for l in 0..2 {
                let (shapes, accumulate) = shapes();
                check(name, begin, [m, n, depths[(2 * i + 5 * j + 4 * l) % depths.len()]], shapes, accumulate);
            }
        }
    }
    for _ in 0..2 * SHAPES.len().pow(3) {
        let (shapes, accumulate) = shapes();
        check(name, begin, [33, 18, 35], shapes, accumulate);
    }
    // A in place, its rows contiguous: whole tiles, and not.
    for m in [16, 32, 48, 80, 81] {
        for (a, k) in [Shape::Rows, Shape::WideRows, Shape::Backwards].into_iter().flat_map(|a| [(a, 64), (a, 65)]) {
            check(name, begin, [m, 20, k], [a, Shape::Rows, Shape::Rows], m == 48);
        }
    }
}

#[test]
fn products_in_tiles() {
    with_tiles!(sweep());
}

/// Several blocks of each kind: of rows and their panels of B kept, of terms, and of columns beside these.
fn blocks<T: Tiles>(name: &str, begin: &(dyn Fn() -> T + Sync)) {
    let rows = [Shape::Rows; 3];
    let [m, n, k] = [TILE_ROWS + 1, TILE_COLUMNS + 1, TILE_TERMS + 1];
    check(name, begin, [m, 33, 40], rows, false);
    check(name, begin, [m, 70, 40], [Shape::Columns, Shape::Columns, Shape::Rows], true);
    check(name, begin, [17, 18, k], rows, true);
    check(name, begin, [40, 33, 2 * k], [Shape::Columns; 3], false);
    check(name, begin, [18, n, k], rows, true);
    check(name, begin, [m, 2, k], rows, false);
    check(name, begin, [48, 20, TILE_TERMS + TERMS], rows, false);
    if cfg!(small_blocks) {
        check(name, begin, [2 * m, 3 * n, 3 * k], rows, true);
    }
}

#[test]
fn products_in_blocks_of_tiles() {
    with_tiles!(blocks());
}

/// Row-major products of a batch, or one.
fn of_rows<T: Tiles>(
    begin: &(dyn Fn() -> T + Sync),
    count: usize,
    [m, n, k]: [usize; 3],
    a: &[u16],
    b: &[u16],
) -> Vec<u16> {
    let mut c = vec![0; count * m * n];
    let [a_rs, b_rs, c_rs] = [k, n, n].map(|x| x as isize);
    let apart = [m * k, k * n, m * n].map(|x| x as isize);
    let (a, b, out) = (a.as_ptr(), b.as_ptr(), c.as_mut_ptr());
    let (accumulate, conj, is_all) = (false, [false; 2], true);
    let (a_cs, b_cs, c_cs) = (1, 1, 1);
    let p = Product { m, n, k, a, a_rs, a_cs, b, b_rs, b_cs, accumulate, c: out, c_rs, c_cs, conj, is_all };
    // SAFETY: the callers pass slices of `count` matrices, and no extent of zero.
    unsafe { products(begin, count, apart, &p) };
    c
}

/// Neither the number of threads nor where C is cut changes a bit.
fn threads<T: Tiles>(name: &str, begin: &(dyn Fn() -> T + Sync)) {
    // One product cut between rows, one between columns, of one block of terms and of two, and a batch.
    let deep = if cfg!(small_blocks) { 2 * TILE_TERMS } else { TILE_TERMS + 5 };
    for (count, [m, n, k]) in [(1, [610, 250, 130]), (1, [40, 700, deep]), (7, [90, 100, 333])] {
        let (a, b) = (numbers(5, count * m * k), numbers(6, count * k * n));
        set_num_threads(1);
        let alone = of_rows(begin, count, [m, n, k], &a, &b);
        set_num_threads(3);
        assert_eq!(alone, of_rows(begin, count, [m, n, k], &a, &b), "{name}: {count} of {m} x {n} x {k}");
        let part = 37;
        assert_eq!(alone[..part * n], of_rows(begin, 1, [part, n, k], &a, &b), "{name}: rows of {m} x {n} x {k}");
    }
}

#[test]
fn threads_change_no_bit_of_products_in_tiles() {
    with_tiles!(threads());
}

/// NaN and infinities as in float32, also zero times infinity; the last rounding to the nearest, ties to even; a sum
/// with C that is rounded once.
fn special<T: Tiles>(name: &str, begin: &(dyn Fn() -> T + Sync)) {
    let bits = |x: f32| bf16::from_f32(x).to_bits();
    for k in [2, 31, 32, 70] {
        for [m, n] in [[2, 3], [17, 40]] {
            for (x, y, want) in [
                (f32::INFINITY, 0.0, f32::NAN),
                (f32::INFINITY, -2.0, f32::NEG_INFINITY),
                (f32::NAN, 0.0, f32::NAN),
                (2.0, f32::NAN, f32::NAN),
                (3e38, 3e38, f32::INFINITY),
                // 1 + 1/128 + (1/256 or a little more): ties go to the even number.
                (1.0, 1.0 / 256.0, 1.0),
                (1.0, 3.0 / 256.0, 1.0 + 2.0 / 128.0),
            ] {
                let is_tie = y.abs() < 1.0 && y != 0.0;
                // One row of A and one column of B have the number at the last term; with ties, ones before.
                let (mut a, mut b) = (vec![0; m * k], vec![0; k * n]);
                a[m * k - 1] = bits(x);
                b[k * n - 1] = bits(y);
                if is_tie {
                    a[(m - 1) * k] = bits(1.0);
                    b[n - 1] = bits(1.0);
                }
                let c = of_rows(begin, 1, [m, n, k], &a, &b);
                let got = bf16::from_bits(c[m * n - 1]).to_f32();
                assert!(got == want || got.is_nan() && want.is_nan(), "{name}: {x} * {y} is {got}; {m} x {n} x {k}");
                // Elsewhere a zero of the other operand meets the number.
                let is_odd = |z: f32| z.is_nan() || z.is_infinite();
                for (at, &c) in c[..m * n - 1].iter().enumerate() {
                    let is_met = at / n == m - 1 && is_odd(x) || at % n == n - 1 && is_odd(y);
                    assert_eq!(bf16::from_bits(c).is_nan(), is_met, "{name}: {x} * {y} at {at} of {m} x {n} x {k}");
                }
            }
        }
    }
}

#[test]
fn special_numbers_in_tiles() {
    with_tiles!(special());
}

/// Subnormal numbers are zeros to the CPU's tiles, and to no others. The smallest normal number is one to all.
fn subnormal<T: Tiles>(name: &str, begin: &(dyn Fn() -> T + Sync)) {
    let one = bf16::ONE.to_bits();
    for (x, flushed) in [(bf16::MIN_POSITIVE, false), (bf16::MIN_POSITIVE_SUBNORMAL, true)] {
        let want = if flushed && name == "AMX" { 0 } else { x.to_bits() };
        assert_eq!(of_rows(begin, 1, [1, 1, 1], &[x.to_bits()], &[one]), [want], "{name}");
    }
}

#[test]
fn subnormal_numbers_in_tiles() {
    with_tiles!(subnormal());
}

/// A strip of an operand is copied as each element by itself is.
#[test]
#[cfg(all(target_arch = "x86_64", target_os = "linux", not(miri)))]
fn vectors_copy_tiles_as_loops_do() {
    let Some(amx) = super::super::amx::Amx::detect() else { return };
    let tiles = super::super::amx::Configured::new(amx);
    let from = numbers(9, 100 * 100);
    for (rows, k) in
        [1usize, 2, 15, 16, 17, 31, 32].into_iter().flat_map(|m| [1usize, 2, 31, 33, 63, 64].map(|k| (m, k)))
    {
        for (apart, step, first) in [(1, 100, 0), (100, 1, 0), (3, 100, 0), (-100, 1, 9900), (1, -100, 9900)] {
            let lines = Lines { first: from[first..].as_ptr(), apart, step };
            let len = rows.div_ceil(SIDE) * k.div_ceil(TERMS) * TILE;
            for pairs in [false, true] {
                let mut got = vec![[7u16; 32]; len / 32 + 1];
                let mut want = got.clone();
                let [to, other] = [&mut got, &mut want].map(|x| x.as_mut_ptr().cast());
                // SAFETY: up to 32 rows of up to 64 terms, or as many terms of rows, are in a square of 100, also
                // backwards from the last row; both have room for the tiles.
                unsafe {
                    if pairs {
                        tiles.copy::<true>(lines, rows, k, to);
                        copy_each::<true>(lines, rows, k, other);
                    } else {
                        tiles.copy::<false>(lines, rows, k, to);
                        copy_each::<false>(lines, rows, k, other);
                    }
                }
                assert_eq!(got, want, "{rows} x {k}, {apart} and {step}, {pairs}");
            }
        }
    }
}

/// What the engine calls: does all of a product and says so, or nothing. Without rows, columns or terms there is
/// nothing to do in tiles.
#[test]
fn who_has_no_tiles_says_so() {
    for [count, m, n, k] in
        [[0, 64, 64, 64], [1, 0, 64, 64], [1, 64, 0, 64], [1, 64, 64, 0], [1, 64, 64, 64], [3, 40, 64, 9]]
    {
        let (a, b) = (numbers(7, count * m * k), numbers(8, count * k * n));
        let mut c = vec![7; count * m * n];
        let apart = [m * k, k * n, m * n].map(|x| x as isize);
        let ([a_rs, b_rs, c_rs], pa, pb) = ([k, n, n].map(|x| x as isize), a.as_ptr(), b.as_ptr());
        // SAFETY: `count` row-major matrices each.
        let done =
            unsafe { gemm_bf16(count, apart, m, n, k, pa, a_rs, 1, pb, b_rs, 1, false, c.as_mut_ptr(), c_rs, 1) };
        assert!(!done || count * m * n * k > 0);
        #[cfg(all(target_arch = "x86_64", target_os = "linux", not(miri)))]
        if let Some(amx) = super::super::amx::Amx::detect().filter(|_| done) {
            assert_eq!(c, of_rows(&|| super::super::amx::Configured::new(amx), count, [m, n, k], &a, &b));
        }
        assert!(done || c.iter().all(|&c| c == 7));
    }
}
