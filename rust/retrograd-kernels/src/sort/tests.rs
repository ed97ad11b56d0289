use std::cmp::Ordering;

use half::{bf16, f16};

use super::keys::{KeyBuffers, Packing, list, tightest};
use super::*;
use crate::testing::noise;
use crate::thresholds::sort::HELD;
use crate::truth::Truth;

/// Numbers of every kind, many of them equal.
fn mixed(n: usize) -> Vec<f64> {
    let noise = noise(n as u64 + 1, n);
    let special = [f64::NAN, -0.0, 0.0, f64::INFINITY, f64::NEG_INFINITY, 1.0, -f64::NAN];
    let each = |(i, x): (usize, &f64)| match i % 7 {
        0 => special[i / 7 % 7],
        1..=3 => (x * 4.0).round(),
        _ => *x * 100.0,
    };
    noise.iter().enumerate().map(each).collect()
}

/// The indices in order, by the definition.
fn order<T: Copy>(x: &[T], falling: bool, compare: impl Fn(T, T) -> Ordering) -> Vec<usize> {
    let mut order: Vec<usize> = (0..x.len()).collect();
    order.sort_by(|&i, &j| if falling { compare(x[j], x[i]) } else { compare(x[i], x[j]) });
    order
}

/// NaN last and equal to itself.
fn floats<T: PartialOrd + Copy>(a: T, b: T) -> Ordering {
    let is_nan = |x: T| x.partial_cmp(&x).is_none();
    a.partial_cmp(&b).unwrap_or_else(|| is_nan(a).cmp(&is_nan(b)))
}

/// The first `k` in order, and no others.
struct First {
    k: usize,
    falling: bool,
}

impl Pick for First {
    fn falling(&self) -> bool {
        self.falling
    }
    fn needs(&self, _: usize) -> usize {
        self.k
    }
    fn pick<K: Key>(&self, keys: &mut Keys<K>) -> Result<()> {
        keys.sort_first(self.k)
    }
}

/// Every number of requested elements, contiguous and with gaps, against the definition.
fn check<T: Ranked>(x: &[T], compare: impl Fn(T, T) -> Ordering + Copy) {
    let n = x.len();
    for falling in [false, true] {
        let want = order(x, falling, compare);
        let all = [1, n / 3, n, 2, 5, HELD, HELD + 1, n / 40, n / 16, n - n / 3];
        let some = if cfg!(miri) { &all[..3] } else { &all };
        for &k in some.iter().filter(|&&k| k > 0 && k <= n) {
            for step in [1isize, 3, -1] {
                let mut memory: Vec<T> =
                    x.iter().flat_map(|&v| [v; 3]).step_by(if step == 3 { 1 } else { 3 }).collect();
                if step < 0 {
                    memory.reverse();
                }
                let (line, start) = (Line { n, step }, if step < 0 { n - 1 } else { 0 });
                let (mut values, mut at) = (vec![x[0]; k], vec![-1i64; k]);
                let to = Line { n: k, step: 1 };
                let pick = First { k, falling };
                // SAFETY: a line of `n`, and results of `k`.
                unsafe {
                    let (v, i) = (values.as_mut_ptr(), at.as_mut_ptr());
                    choose_along(&[], &[], &[], line, to, memory.as_ptr().add(start), v, i, &pick).unwrap();
                }
                let got: Vec<usize> = at.iter().map(|&i| i as usize).collect();
                assert_eq!(got, want[..k], "{k} of {n}, falling {falling}, step {step}");
                assert!(got.iter().zip(&values).all(|(&i, v)| v.rank() == x[i].rank()));
            }
        }
    }
}

/// Miri takes half a second for a line, and is run with small blocks, of which it sees many all the same.
const SIZES: &[usize] =
    if cfg!(miri) { &[1, 2, 23] } else { &[1, 2, 3, 31, 63, 64, 65, 127, 129, 255, 257, 700, 1025, 5003] };

#[test]
fn floats_by_the_definition() {
    for &n in SIZES {
        let x = mixed(n);
        check(&x, floats);
        check(&x.iter().map(|&v| v as f32).collect::<Vec<_>>(), floats);
        check(&x.iter().map(|&v| f16::from_f64(v)).collect::<Vec<_>>(), floats);
        check(&x.iter().map(|&v| bf16::from_f64(v)).collect::<Vec<_>>(), floats);
    }
}

#[test]
fn integers_by_the_definition() {
    for &n in SIZES {
        let x = mixed(n);
        // Over the whole range of the type, and within a few.
        for scale in [1.0, 1e17] {
            check(&x.iter().map(|&v| (v * scale) as i64).collect::<Vec<_>>(), |a, b| a.cmp(&b));
        }
        check(&x.iter().map(|&v| (v * 1e7) as i32).collect::<Vec<_>>(), |a, b| a.cmp(&b));
        check(&x.iter().map(|&v| (v * 1e3) as i16).collect::<Vec<_>>(), |a, b| a.cmp(&b));
        check(&x.iter().map(|&v| v as i8).collect::<Vec<_>>(), |a, b| a.cmp(&b));
        check(&x.iter().map(|&v| v as u8).collect::<Vec<_>>(), |a, b| a.cmp(&b));
        check(&x.iter().map(|&v| Truth::from(v > 0.0)).collect::<Vec<_>>(), |a, b| a.cmp(&b));
        check(&vec![7i64; n], |a, b| a.cmp(&b));
        check(&(0..n as i64).collect::<Vec<_>>(), |a, b| a.cmp(&b));
        check(&(0..n as i64).rev().collect::<Vec<_>>(), |a, b| a.cmp(&b));
    }
}

#[test]
fn lines_in_order_and_of_equal_floats() {
    for &n in SIZES {
        let rising: Vec<f32> = (0..n).map(|i| i as f32 - 40.0).collect();
        check(&rising, floats);
        check(&rising.iter().rev().copied().collect::<Vec<_>>(), floats);
        // Each number several times, and the last of a line in front.
        check(&rising.iter().map(|v| (v / 5.0).floor()).collect::<Vec<_>>(), floats);
        for last in [f32::NAN, f32::INFINITY, f32::NEG_INFINITY, -0.0] {
            for rest in [0.0, f32::NAN, f32::NEG_INFINITY] {
                let mut x = vec![rest; n];
                x[n - 1] = last;
                check(&x, floats);
            }
        }
    }
}

/// The indices that sort a line by keys of this width, how many numbers, and how many keys repeat the one before.
fn by_width<T: Ranked, K: Key>(x: &[T], packing: &Packing<T::Rank>) -> (Vec<usize>, usize, usize) {
    assert!(packing.fits::<K>());
    let mut buffers = KeyBuffers::<K>::default();
    let line = Line { n: x.len(), step: 1 };
    // SAFETY: the elements of `x`; the keys fit.
    unsafe { list(x.as_ptr(), line, packing, &mut buffers.line).unwrap() };
    let mut keys = Keys::new::<T>(&mut buffers, packing, true);
    keys.sort().unwrap();
    let repeated = (1..keys.count()).filter(|&i| keys.is_repeated(i - 1)).count();
    ((0..keys.count()).map(|i| keys.index(i)).collect(), keys.numbers(), repeated)
}

#[test]
fn every_width_of_keys_gives_the_same() {
    for &n in SIZES {
        let x: Vec<f32> = mixed(n).iter().map(|&v| v as f32).collect();
        let want = order(&x, false, floats);
        let numbers = x.iter().filter(|x| !x.is_nan()).count();
        let repeated = want.windows(2).filter(|pair| x[pair[0]] == x[pair[1]]).count();
        let whole = Packing::whole(n, false);
        // SAFETY: the elements of `x`.
        let tight = unsafe { tightest(x.as_ptr(), Line { n, step: 1 }, whole) };
        let want = (want, numbers, repeated);
        for packing in [whole, tight] {
            assert_eq!(by_width::<f32, u64>(&x, &packing), want);
            assert_eq!(by_width::<f32, u128>(&x, &packing), want);
        }
    }
}

#[test]
fn keys_are_narrow_where_the_numbers_are() {
    let packing = |x: &[i64]| {
        // SAFETY: the elements of `x`.
        unsafe { tightest(x.as_ptr(), Line { n: x.len(), step: 1 }, Packing::whole(x.len(), true)) }
    };
    let close = packing(&[1 << 60, (1 << 60) + 5, (1 << 60) + 3]);
    assert!(close.rank_bits == 3 && close.index_bits == 2 && close.fits::<u64>());
    let far = packing(&[i64::MIN, i64::MAX]);
    assert!(far.rank_bits == 64 && !far.fits::<u64>() && far.fits::<u128>());
    let same = packing(&[3; 100]);
    assert!(same.rank_bits == 0 && by_width::<i64, u64>(&[3; 100], &same).0 == (0..100).collect::<Vec<_>>());
    // NaN that is not in the line is not among its keys, and equals no key.
    let x = [1.0, 1.0, 2.0];
    // SAFETY: the elements of `x`.
    let packing = unsafe { tightest(x.as_ptr(), Line { n: 3, step: 1 }, Packing::whole(3, false)) };
    assert_eq!(by_width::<f64, u64>(&x, &packing), (vec![0, 1, 2], 3, 1));
}

#[test]
fn long_lines_and_many_lines_in_pieces() {
    let n = if cfg!(miri) { 100 } else { (1 << 17) + 77 };
    let x: Vec<f32> = mixed(n).iter().map(|&v| v as f32).collect();
    let want = order(&x, false, floats);
    let (mut values, mut at) = (vec![0f32; n], vec![0i64; n]);
    let line = Line { n, step: 1 };
    // SAFETY: a line of `n` and results of as many.
    unsafe {
        let (v, i) = (values.as_mut_ptr(), at.as_mut_ptr());
        choose_along(&[], &[], &[], line, line, x.as_ptr(), v, i, &First { k: n, falling: false }).unwrap();
    }
    assert!(at.iter().zip(&want).all(|(&got, &want)| got as usize == want));
    // Lines along the middle axis of three, of which the outermost has a negative stride.
    let [a, b, c] = if cfg!(miri) { [2, 11, 3] } else { [5usize, 37, 500] };
    let (sb, sa) = (c as isize, (b * c) as isize);
    let x = &x.repeat(2)[..a * b * c];
    let (mut values, mut at) = (vec![0f32; a * b * c], vec![0i64; a * b * c]);
    let line = Line { n: b, step: sb };
    // SAFETY: all positions of the three axes.
    unsafe {
        let (v, i) = (values.as_mut_ptr(), at.as_mut_ptr());
        let last = x.as_ptr().add((a - 1) * b * c);
        choose_along(&[a, c], &[-sa, 1], &[sa, 1], line, line, last, v, i, &First { k: b, falling: true }).unwrap();
    }
    for i in 0..a {
        for k in 0..c {
            let line: Vec<f32> = (0..b).map(|j| x[((a - 1 - i) * b + j) * c + k]).collect();
            let want = order(&line, true, floats);
            assert!((0..b).all(|j| at[(i * b + j) * c + k] as usize == want[j]));
        }
    }
}

/// Some elements of their order, from one place on.
struct Part {
    first: super::First,
    falling: bool,
}

impl Part {
    fn place(&self, numbers: usize, n: usize) -> usize {
        match self.first {
            super::First::At(first) => first,
            super::First::ByNumbers(first) => first(numbers, n),
        }
    }
}

impl Pick for Part {
    fn falling(&self) -> bool {
        self.falling
    }
    fn in_order(&self) -> Option<super::First> {
        Some(self.first)
    }
    fn pick<K: Key>(&self, keys: &mut Keys<K>) -> Result<()> {
        keys.sort()?;
        // Only what is asked of few lines is brought to the front: one element.
        keys.to_front(self.place(keys.numbers(), keys.count()));
        Ok(())
    }
}

/// Lines of `n` elements along each of three axes of a box, against the definition.
fn check_short<T: Ranked>(x: &[T], n: usize, lines: usize, compare: impl Fn(T, T) -> Ordering + Copy) {
    // The axis of lines may be the inner or the outer one; there are two lots of them.
    for (step, across) in [(1, n), (lines, 1), (2, 2 * n + 1)] {
        let lot = (n - 1) * step + (lines - 1) * across + 1;
        let memory: Vec<T> = x.iter().copied().cycle().take(2 * lot).collect();
        use super::First::{At, ByNumbers};
        let last: fn(usize, usize) -> usize = |numbers, _| numbers.saturating_sub(1);
        let parts = [(At(0), n), (At(0), n.div_ceil(2)), (At(n / 2), 1), (At(n - 1), 1), (ByNumbers(last), 1)];
        for (first, count) in parts {
            for falling in [false, true] {
                if falling && matches!(first, ByNumbers(_)) {
                    continue;
                }
                let (mut values, mut at) = (vec![memory[0]; 2 * lines * count], vec![-1i64; 2 * lines * count]);
                let (from, to) = (Line { n, step: step as isize }, Line { n: count, step: lines as isize });
                let strides = [[lot, across], [lines * count, 1]].map(|s| s.map(|s| s as isize));
                let pick = Part { first, falling };
                if count > 1 && lines < 8 {
                    continue;
                }
                // SAFETY: all positions of the lines in two lots.
                unsafe {
                    let (a, v, i) = (memory.as_ptr(), values.as_mut_ptr(), at.as_mut_ptr());
                    choose_along(&[2, lines], &strides[0], &strides[1], from, to, a, v, i, &pick).unwrap();
                }
                for (lot_of, line) in (0..2).flat_map(|lot| (0..lines).map(move |line| (lot, line))) {
                    let line_of: Vec<T> = (0..n).map(|i| memory[lot_of * lot + line * across + i * step]).collect();
                    let want = order(&line_of, falling, compare);
                    let numbers = line_of.iter().filter(|x| Some(x.rank()) != T::NAN).count();
                    let first = pick.place(numbers, n);
                    for j in 0..count {
                        let o = lot_of * lines * count + j * lines + line;
                        let i = at[o] as usize;
                        assert_eq!(i, want[first + j], "{n} {lines} {step} {across} {first} {falling} {j} of {line}");
                        assert!(values[o].rank() == line_of[i].rank());
                    }
                }
            }
        }
    }
}

#[test]
fn short_lines_side_by_side() {
    let sizes: &[usize] = if cfg!(miri) { &[3] } else { &[1, 2, 3, 4, 5, 8, 23, 24, 25] };
    for &n in sizes {
        for lines in if cfg!(miri) { &[9][..] } else { &[7, 8, 31, 32, 33, 100] } {
            let x = mixed(n * lines * 5 + 3);
            let lines = *lines;
            check_short(&x, n, lines, floats);
            check_short(&x.iter().map(|&v| v as f32).collect::<Vec<_>>(), n, lines, floats);
            check_short(&x.iter().map(|&v| bf16::from_f64(v)).collect::<Vec<_>>(), n, lines, floats);
            check_short(&x.iter().map(|&v| (v * 1e17) as i64).collect::<Vec<_>>(), n, lines, |a, b| a.cmp(&b));
            check_short(&x.iter().map(|&v| v as i8).collect::<Vec<_>>(), n, lines, |a, b| a.cmp(&b));
            check_short(&x.iter().map(|&v| Truth::from(v > 0.0)).collect::<Vec<_>>(), n, lines, |a, b| a.cmp(&b));
        }
    }
}
