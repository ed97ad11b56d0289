use num_complex::Complex;

use super::super::real::Real;
use super::super::simd::{InstructionSet, Vector};
use super::super::strided::row_major;
use super::super::truth::Truth;
use super::*;
use crate::naive::positions;
use crate::thresholds::pointwise::STREAMED;

#[derive(Clone, Copy)]
struct Affine;
impl Map1<f32, f32> for Affine {
    const LIGHT: bool = true;
    #[inline(always)]
    fn f(&self, a: f32) -> f32 {
        a * 3.0 - 1.0
    }
}
#[derive(Clone, Copy)]
struct Sub;
impl Map2<f32, f32, f32> for Sub {
    const LIGHT: bool = true;
    #[inline(always)]
    fn f(&self, a: f32, b: f32) -> f32 {
        a - 2.0 * b
    }
}
impl Map2<Complex<f32>, Complex<f32>, Complex<f32>> for Sub {
    const LIGHT: bool = true;
    #[inline(always)]
    fn f(&self, a: Complex<f32>, b: Complex<f32>) -> Complex<f32> {
        a - b * 2.0
    }
}
/// [`Affine`] in vectors.
struct Affines;
impl<T: Real> Body<T, 1> for Affines {
    #[inline(always)]
    fn f<V: Vector<Elem = T>>(&self, [a]: [V; 1]) -> V {
        a * a.of(3.0) - a.of(1.0)
    }
}
/// [`Sub`] in vectors.
struct Subs;
impl<T: Real> Body<T, 2> for Subs {
    #[inline(always)]
    fn f<V: Vector<Elem = T>>(&self, [a, b]: [V; 2]) -> V {
        a - a.of(2.0) * b
    }
}
#[derive(Clone, Copy)]
struct Less;
impl Map2<f64, f64, bool> for Less {
    #[inline(always)]
    fn f(&self, a: f64, b: f64) -> bool {
        a < b
    }
}
#[derive(Clone, Copy)]
struct Choose;
impl Map3<Truth, f64, f64, f64> for Choose {
    const LIGHT: bool = true;
    #[inline(always)]
    fn f(&self, a: Truth, b: f64, c: f64) -> f64 {
        if a.get() { b } else { c }
    }
}

const UGLY: [usize; 14] = [0, 1, 2, 7, 8, 9, 15, 16, 17, 31, 32, 33, 100, 600];

/// A named layout: the offset of position 0 in a buffer, the buffer's size, and the strides.
fn layouts(sizes: &[usize]) -> Vec<(&'static str, usize, usize, Vec<isize>)> {
    let n: usize = sizes.iter().product::<usize>().max(1);
    let plain = row_major(sizes).to_vec();
    let mut transposed = vec![1isize; sizes.len()];
    for i in 1..sizes.len() {
        transposed[i] = transposed[i - 1] * sizes[i - 1] as isize;
    }
    let spaced: Vec<isize> = plain.iter().map(|s| s * 3).collect();
    let negative: Vec<isize> = plain.iter().map(|s| -s).collect();
    // Rows with two elements between them.
    let mut wider = sizes.to_vec();
    if let Some(last) = wider.last_mut() {
        *last += 2;
    }
    let gaps = row_major(&wider).to_vec();
    vec![
        ("plain", 0, n, plain),
        ("transposed", 0, n, transposed),
        ("spaced", 0, 3 * n, spaced),
        ("negative", n - 1, n, negative),
        ("gaps", 0, wider.iter().product::<usize>().max(1), gaps),
    ]
}

fn expanded(sizes: &[usize], mask: usize) -> Vec<isize> {
    let kept: Vec<usize> = sizes.iter().enumerate().map(|(i, &s)| if mask >> i & 1 == 1 { 1 } else { s }).collect();
    let strides = row_major(&kept);
    (0..sizes.len()).map(|i| if mask >> i & 1 == 1 { 0 } else { strides[i] }).collect()
}

fn shapes() -> Vec<Vec<usize>> {
    let mut shapes: Vec<Vec<usize>> = UGLY.iter().map(|&n| vec![n]).collect();
    for &n in &UGLY {
        shapes.extend([vec![3, n], vec![n, 5], vec![2, n, 3]]);
    }
    shapes.extend([
        vec![],
        vec![33, 31],
        vec![17, 300],
        vec![2, 257],
        vec![3, 5, 150],
        vec![2, 3, 2, 5],
        vec![1, 4, 1],
    ]);
    shapes
}

fn numbers(n: usize) -> Vec<f32> {
    (0..n).map(|i| ((i * 37 + 11) % 101) as f32 - 50.0).collect()
}

#[test]
fn copies_of_expanded_operands() {
    for level in InstructionSet::available() {
        for sizes in shapes() {
            let n = sizes.iter().product();
            for mask in 1..1 << sizes.len() {
                let sa = expanded(&sizes, mask);
                let a = numbers(n);
                for (name, io, no, so) in layouts(&sizes) {
                    let mut o = vec![7e9f32; no];
                    let mut want = o.clone();
                    for (p, q) in positions(&sizes, &sa, 0).iter().zip(positions(&sizes, &so, io)) {
                        want[q] = a[*p];
                    }
                    // SAFETY: the layouts are in their buffers, which are distinct.
                    unsafe { copy_strided_at(level, &sizes, a.as_ptr(), &sa, o.as_mut_ptr().add(io), &so) };
                    assert!(o == want, "{level:?} {sizes:?} {mask:b} {name}");
                }
            }
        }
    }
}

#[test]
fn map1_and_copy_on_every_layout() {
    for level in InstructionSet::available() {
        for sizes in shapes() {
            for (_, ia, na, sa) in layouts(&sizes) {
                let a = numbers(na);
                let pa = positions(&sizes, &sa, ia);
                for (name, io, no, so) in layouts(&sizes) {
                    let mut o = vec![7e9f32; no];
                    let (mut copy, mut lanes) = (o.clone(), o.clone());
                    let mut want = (o.clone(), o.clone());
                    for (p, q) in pa.iter().zip(positions(&sizes, &so, io)) {
                        want.0[q] = Affine.f(a[*p]);
                        want.1[q] = a[*p];
                    }
                    // SAFETY: the layouts are in their buffers, which are distinct.
                    unsafe {
                        map1_at(level, &Affine, &sizes, a.as_ptr().add(ia), &sa, o.as_mut_ptr().add(io), &so);
                        copy_strided_at(level, &sizes, a.as_ptr().add(ia), &sa, copy.as_mut_ptr().add(io), &so);
                        lanes1_at(level, &Affines, &sizes, a.as_ptr().add(ia), &sa, lanes.as_mut_ptr().add(io), &so);
                    }
                    assert!(lanes == want.0, "{level:?} {sizes:?} {name}");
                    assert!(o == want.0, "{level:?} {sizes:?} {name}");
                    assert!(copy == want.1, "{level:?} {sizes:?} {name}");
                }
                // In place.
                let mut o = a.clone();
                let mut want = a.clone();
                pa.iter().for_each(|&p| want[p] = Affine.f(a[p]));
                let p = o.as_mut_ptr();
                // SAFETY: the layout is in the buffer; the output is the input.
                unsafe { map1_at(level, &Affine, &sizes, p.add(ia), &sa, p.add(ia), &sa) };
                assert!(o == want, "{level:?} {sizes:?} in place");
                let mut o = a.clone();
                let p = o.as_mut_ptr();
                // SAFETY: the layout is in the buffer; the output is the input.
                unsafe { lanes1_at(level, &Affines, &sizes, p.add(ia), &sa, p.add(ia), &sa) };
                assert!(o == want, "{level:?} {sizes:?} in place");
            }
        }
    }
}

#[test]
fn map2_on_layouts_broadcasts_and_in_place() {
    for level in InstructionSet::available() {
        for sizes in shapes() {
            let n: usize = sizes.iter().product();
            let (a, b) = (numbers(3 * n + 3), numbers(3 * n + 9));
            let b = &b[6..];
            let mut ways: Vec<(usize, Vec<isize>)> = layouts(&sizes).into_iter().map(|l| (l.1, l.3)).collect();
            ways.extend((1..1usize << sizes.len()).map(|mask| (0, expanded(&sizes, mask))));
            for (ia, sa) in &ways {
                for (ib, sb) in &ways {
                    let (pa, pb) = (positions(&sizes, sa, *ia), positions(&sizes, sb, *ib));
                    for (name, io, no, so) in layouts(&sizes) {
                        let mut o = vec![7e9f32; no];
                        let mut want = o.clone();
                        let po = positions(&sizes, &so, io);
                        (0..n).for_each(|i| want[po[i]] = Sub.f(a[pa[i]], b[pb[i]]));
                        // SAFETY: the layouts are in their buffers, which are distinct.
                        unsafe {
                            let o = o.as_mut_ptr().add(io);
                            map2_at(level, &Sub, &sizes, a.as_ptr().add(*ia), sa, b.as_ptr().add(*ib), sb, o, &so);
                        }
                        assert!(o == want, "{level:?} {sizes:?} {name} {sa:?} {sb:?}");
                        let mut o = vec![7e9f32; no];
                        // SAFETY: the layouts are in their buffers, which are distinct.
                        unsafe {
                            let o = o.as_mut_ptr().add(io);
                            lanes2(&Subs, &sizes, a.as_ptr().add(*ia), sa, b.as_ptr().add(*ib), sb, o, &so);
                        }
                        assert!(o == want, "{sizes:?} {name} {sa:?} {sb:?} of vectors");
                    }
                }
                if sa.iter().zip(&sizes).any(|(&s, &n)| s == 0 && n > 1) {
                    continue;
                }
                // The output on the left operand, on the right one, and on both.
                for (ib, sb) in &ways {
                    let (pa, pb) = (positions(&sizes, sa, *ia), positions(&sizes, sb, *ib));
                    let (mut left, mut right, mut both) = (a.clone(), a.clone(), a.clone());
                    let mut want = (a.clone(), a.clone(), a.clone());
                    for i in 0..n {
                        want.0[pa[i]] = Sub.f(a[pa[i]], b[pb[i]]);
                        want.1[pa[i]] = Sub.f(b[pb[i]], a[pa[i]]);
                        want.2[pa[i]] = Sub.f(a[pa[i]], a[pa[i]]);
                    }
                    // SAFETY: the layouts are in their buffers; the output is an input, or distinct.
                    unsafe {
                        let b = b.as_ptr().add(*ib);
                        let p = left.as_mut_ptr().add(*ia);
                        map2_at(level, &Sub, &sizes, p, sa, b, sb, p, sa);
                        let p = right.as_mut_ptr().add(*ia);
                        map2_at(level, &Sub, &sizes, b, sb, p, sa, p, sa);
                        let p = both.as_mut_ptr().add(*ia);
                        map2_at(level, &Sub, &sizes, p, sa, p, sa, p, sa);
                    }
                    assert!((left, right, both) == want, "{level:?} {sizes:?} {sa:?} {sb:?} in place");
                }
            }
        }
    }
}

#[test]
fn complex_numbers_stay_in_registers() {
    for sizes in shapes() {
        let n: usize = sizes.iter().product();
        let [a, b]: [Vec<_>; 2] = [3, 7].map(|by| {
            let parts = numbers(n + by);
            parts.iter().zip(&parts[by..]).map(|(&re, &im)| Complex::new(re, im)).collect()
        });
        for (left, right) in (0..1 << sizes.len()).flat_map(|x| (0..1 << sizes.len()).map(move |y| (x, y))) {
            let (sa, sb, so) = (expanded(&sizes, left), expanded(&sizes, right), row_major(&sizes));
            let (pa, pb) = (positions(&sizes, &sa, 0), positions(&sizes, &sb, 0));
            let want: Vec<Complex<f32>> = (0..n).map(|i| Sub.f(a[pa[i]], b[pb[i]])).collect();
            for level in InstructionSet::available() {
                let mut o = vec![Complex::new(7e9, 7e9); n];
                // SAFETY: the layouts are in their buffers, which are distinct.
                unsafe { map2_at(level, &Sub, &sizes, a.as_ptr(), &sa, b.as_ptr(), &sb, o.as_mut_ptr(), &so) };
                assert!(o == want, "{level:?} {sizes:?} {left} {right}");
                if left == 0 {
                    let mut o = a[..n].to_vec();
                    let p = o.as_mut_ptr();
                    // SAFETY: as above; the output is the first operand.
                    unsafe { map2_at(level, &Sub, &sizes, p, &so, b.as_ptr(), &sb, p, &so) };
                    assert!(o == want, "{level:?} {sizes:?} {right} in place");
                }
            }
        }
    }
}

#[test]
fn map3_and_mixed_dtypes() {
    for level in InstructionSet::available() {
        for sizes in shapes() {
            let n: usize = sizes.iter().product();
            let values: Vec<f64> = numbers(3 * n + 3).iter().map(|&x| x as f64).collect();
            for (_, ia, na, sa) in layouts(&sizes) {
                let mask: Vec<Truth> = (0..na).map(|i| (i % 3 == 0).into()).collect();
                let sb = expanded(&sizes, 1);
                for (_, io, no, so) in layouts(&sizes) {
                    let mut o: Vec<f64> = (0..no).map(|i| i as f64).collect();
                    let mut want = o.clone();
                    let (pa, pb, po) =
                        (positions(&sizes, &sa, ia), positions(&sizes, &sb, 0), positions(&sizes, &so, io));
                    (0..n).for_each(|i| want[po[i]] = Choose.f(mask[pa[i]], values[pb[i]], o[po[i]]));
                    let mut less = vec![false; na];
                    // SAFETY: the layouts are in their buffers; the output is the third input.
                    unsafe {
                        let (m, p) = (mask.as_ptr().add(ia), o.as_mut_ptr().add(io));
                        map3_at(level, &Choose, &sizes, m, &sa, values.as_ptr(), &sb, p, &so, p, &so);
                        let l = less.as_mut_ptr().add(ia);
                        map2_at(level, &Less, &sizes, values.as_ptr(), &sb, p, &so, l, &sa);
                    }
                    assert!(o == want, "{level:?} {sizes:?}");
                    (0..n).for_each(|i| assert_eq!(less[pa[i]], values[pb[i]] < o[po[i]]));
                }
            }
        }
    }
}

#[test]
fn convert_and_fill() {
    for level in InstructionSet::available() {
        for &n in &UGLY {
            let a: Vec<f32> = numbers(2 * n).iter().map(|x| x * 0.37).collect();
            let mut ints = vec![0i8; n];
            let mut flags = vec![Truth::FALSE; n];
            let mut filled = vec![0i64; 2 * n];
            // SAFETY: every buffer has the elements that its stride reaches.
            unsafe {
                convert_at(level, &[n], a.as_ptr(), &[2], ints.as_mut_ptr(), &[1]);
                convert_at(level, &[n], a.as_ptr(), &[1], flags.as_mut_ptr(), &[1]);
                fill(5i64, &[n], filled.as_mut_ptr(), &[2]);
            }
            for i in 0..n {
                assert_eq!(ints[i], a[2 * i] as i8);
                assert_eq!(flags[i].get(), a[i] != 0.0);
                assert_eq!(filled[2 * i..2 * i + 2], [5, 0]);
            }
        }
    }
}

/// `Sub` as a body whose loops take halves as float32, through pieces.
#[derive(Clone, Copy)]
struct HeavySub;
impl Map2<f32, f32, f32> for HeavySub {
    #[inline(always)]
    fn f(&self, a: f32, b: f32) -> f32 {
        a - 2.0 * b
    }
}

#[derive(Clone, Copy)]
struct Square<const LIGHT: bool>;
impl<const LIGHT: bool> Map1<f32, f32> for Square<LIGHT> {
    const LIGHT: bool = LIGHT;
    #[inline(always)]
    fn f(&self, a: f32) -> f32 {
        a * a
    }
}

#[test]
fn halves_are_computed_with_in_float32() {
    fn check<F: Map2<f32, f32, f32>, G: Map1<f32, f32>>(
        (two, one): (F, G),
        half: Half,
        get: fn(u16) -> f32,
        of: fn(f32) -> u16,
    ) {
        for sizes in shapes() {
            let n: usize = sizes.iter().product();
            for (_, ia, na, sa) in layouts(&sizes) {
                let a: Vec<u16> = numbers(na).iter().map(|&x| of(x * 0.37)).collect();
                let b: Vec<u16> = numbers(n + 1).iter().map(|&x| of(x * 1.7)).collect();
                // One that no half is.
                let number = [1.0f32 / 3.0];
                let (sb, still) = (expanded(&sizes, 1), vec![0; sizes.len()]);
                let (pa, pb) = (positions(&sizes, &sa, ia), positions(&sizes, &sb, 0));
                let run = |f: &dyn Fn(Operand, Operand, Operand, Operand), want: &dyn Fn(f32, f32) -> f32| {
                    let (mut o, mut expected) = (a.clone(), a.clone());
                    (0..n).for_each(|i| expected[pa[i]] = of(want(get(a[pa[i]]), get(b[pb[i]]))));
                    // SAFETY: the first place of the layout.
                    let p = unsafe { o.as_mut_ptr().add(ia) };
                    let (out, first) = (Operand::halves(half, p, &sa), Operand::halves(half, p, &sa));
                    let second = Operand::halves(half, b.as_ptr().cast_mut(), &sb);
                    f(out, first, second, Operand::input(number.as_ptr(), &still));
                    assert_eq!(o, expected, "{half:?} {sizes:?} {sa:?}");
                };
                // SAFETY: the layouts are in their buffers; the output is the first input, or also the second one.
                unsafe {
                    run(&|o, a, b, _| map_halves2(&two, &sizes, o, a, b), &|a, b| a - 2.0 * b);
                    run(&|o, a, b, _| map_halves2(&two, &sizes, o, b, a), &|a, b| b - 2.0 * a);
                    run(&|o, a, _, c| map_halves2(&two, &sizes, o, a, c), &|a, _| a - 2.0 * number[0]);
                    run(&|o, a, _, c| map_halves2(&two, &sizes, o, c, a), &|a, _| number[0] - 2.0 * a);
                    run(&|o, a, _, _| map_halves1(&one, &sizes, o, a), &|a, _| a * a);
                }
            }
        }
    }
    let (brain, of_brain) = (|x| half::bf16::from_bits(x).to_f32(), |x| half::bf16::from_f32(x).to_bits());
    let (ieee, of_ieee) = (|x| half::f16::from_bits(x).to_f32(), |x| half::f16::from_f32(x).to_bits());
    check((Sub, Square::<true>), Half::BF16, brain, of_brain);
    check((Sub, Square::<true>), Half::F16, ieee, of_ieee);
    check((HeavySub, Square::<false>), Half::BF16, brain, of_brain);
    check((HeavySub, Square::<false>), Half::F16, ieee, of_ieee);
}

/// From every format to every other: halves, float32, and what casts of float32 make of them.
#[test]
fn halves_are_converted_in_every_layout() {
    use half::{bf16, f16};
    for sizes in shapes() {
        let n: usize = sizes.iter().product();
        for (_, ia, na, sa) in layouts(&sizes) {
            let plain = row_major(&sizes).to_vec();
            let at = positions(&sizes, &sa, ia);
            let floats: Vec<f32> = numbers(na).iter().map(|x| x * 0.37).collect();
            let ieee: Vec<f16> = floats.iter().map(|&x| f16::from_f32(x)).collect();
            let brain: Vec<bf16> = floats.iter().map(|&x| bf16::from_f32(x)).collect();
            let (mut as_floats, mut as_ieee, mut as_brain) = (vec![0f32; n], vec![f16::ZERO; n], vec![bf16::ZERO; n]);
            let (mut ints, mut back) = (vec![0i32; n], vec![bf16::ZERO; n]);
            // SAFETY: the layouts are in their buffers, and the outputs apart.
            unsafe {
                let halves = |half, p: *const u16| Operand::halves(half, p.cast_mut().add(ia), &sa);
                let to_ieee = Operand::halves(Half::F16, as_ieee.as_mut_ptr().cast(), &plain);
                let to_brain = Operand::halves(Half::BF16, as_brain.as_mut_ptr().cast(), &plain);
                let to_floats = Operand::output(as_floats.as_mut_ptr(), &plain);
                let (from_ieee, from_brain) =
                    (halves(Half::F16, ieee.as_ptr().cast()), halves(Half::BF16, brain.as_ptr().cast()));
                convert_halves(&sizes, to_floats, from_ieee);
                (0..n).for_each(|i| assert_eq!(as_floats[i], ieee[at[i]].to_f32(), "{sizes:?} {sa:?}"));
                convert_halves(&sizes, to_floats, from_brain);
                (0..n).for_each(|i| assert_eq!(as_floats[i], brain[at[i]].to_f32(), "{sizes:?} {sa:?}"));
                convert_halves(&sizes, to_ieee, Operand::input(floats.as_ptr().add(ia), &sa));
                (0..n).for_each(|i| assert_eq!(as_ieee[i], ieee[at[i]], "{sizes:?} {sa:?}"));
                convert_halves(&sizes, to_brain, Operand::input(floats.as_ptr().add(ia), &sa));
                (0..n).for_each(|i| assert_eq!(as_brain[i], brain[at[i]], "{sizes:?} {sa:?}"));
                convert_halves(&sizes, to_brain, from_ieee);
                (0..n).for_each(|i| assert_eq!(as_brain[i], bf16::from_f32(ieee[at[i]].to_f32())));
                convert_halves(&sizes, to_ieee, from_brain);
                (0..n).for_each(|i| assert_eq!(as_ieee[i], f16::from_f32(brain[at[i]].to_f32())));
                walk1::<f32, i32, _>(&Convert, &sizes, Operand::output(ints.as_mut_ptr(), &plain), from_brain);
                (0..n).for_each(|i| assert_eq!(ints[i], brain[at[i]].to_f32() as i32, "{sizes:?} {sa:?}"));
                let to_back = Operand::halves(Half::BF16, back.as_mut_ptr().cast(), &plain);
                walk1::<i32, f32, _>(&Convert, &sizes, to_back, Operand::input(ints.as_ptr(), &plain));
                (0..n).for_each(|i| assert_eq!(back[i].to_f32(), ints[i] as f32, "{sizes:?} {sa:?}"));
            }
        }
    }
}

/// Rows of few elements and few bytes, whose inner loops are of their own, in every order of three axes.
#[test]
fn copies_of_short_rows() {
    fn check<T: Copy + PartialEq + std::fmt::Debug>(of: impl Fn(usize) -> T) {
        const ORDERS: [[usize; 3]; 6] = [[0, 1, 2], [0, 2, 1], [1, 0, 2], [1, 2, 0], [2, 0, 1], [2, 1, 0]];
        for n in [1, 2, 3, 4, 5, 6, 7, 8, 9, 12, 15, 16, 17, 24, 32, 33, 64, 130] {
            for (rows, planes) in [(1, 2), (2, 3), (5, 1), (3, 17), (19, 2)] {
                let sizes = [planes, rows, n];
                for order in ORDERS {
                    // Places of `a` with a gap behind the innermost axis, those of `o` without or with one.
                    for [gap_a, gap_o] in [[0, 0], [2, 0], [0, 1]] {
                        let strides = |order: [usize; 3], gap: usize| {
                            let (mut strides, mut next) = ([0isize; 3], 1);
                            for (nth, axis) in order.into_iter().rev().enumerate() {
                                strides[axis] = next as isize;
                                next = next * sizes[axis] + if nth == 0 { gap } else { 0 };
                            }
                            (strides, next)
                        };
                        let ((sa, na), (so, no)) = (strides(order, gap_a), strides([0, 1, 2], gap_o));
                        let a: Vec<T> = (0..na).map(|i| of(i + 1)).collect();
                        let (mut o, mut want) = (vec![of(0); no], vec![of(0); no]);
                        for (p, q) in positions(&sizes, &sa, 0).into_iter().zip(positions(&sizes, &so, 0)) {
                            want[q] = a[p];
                        }
                        // SAFETY: the layouts are in their buffers, which are distinct.
                        unsafe { copy_strided(&sizes, a.as_ptr(), &sa, o.as_mut_ptr(), &so) };
                        assert!(o == want, "{sizes:?} {order:?} {gap_a} {gap_o}");
                    }
                }
            }
        }
    }
    check(|i| i as u8);
    check(|i| i as u16);
    check(|i| i as f32);
    check(|i| i as f64);
    check(|i| [i as u64, !i as u64]);
}

/// Values whose bits a move as floats could change are moved too: every one of these is another NaN.
#[test]
fn transposes_keep_bits_at_all_sizes() {
    fn check<T: Copy + PartialEq + std::fmt::Debug>(of: impl Fn(usize) -> T) {
        for level in InstructionSet::available() {
            for (n, rows) in [(16, 16), (17, 16), (16, 33), (40, 23), (63, 65)] {
                let a: Vec<T> = (0..n * rows).map(&of).collect();
                let mut o = vec![of(0); n * rows];
                // SAFETY: `n * rows` elements on both sides.
                unsafe {
                    let (from, to) = ([1, rows as isize], [n as isize, 1]);
                    copy_strided_at(level, &[rows, n], a.as_ptr(), &from, o.as_mut_ptr(), &to);
                }
                assert!((0..n * rows).all(|k| o[k] == a[k % n * rows + k / n]), "{level:?} {n} {rows}");
            }
        }
    }
    check(|i| 0x7f80_0001u32 + i as u32);
    check(|i| 0x7ff0_0000_0000_0001u64 + i as u64);
    check(|i| 0x7c01u16 + i as u16);
}

#[test]
fn rows_are_joined() {
    for rows in [1, 2, 7, 100] {
        for widths in [&[1, 0, 3][..], &[31, 32], &[33, 64, 65], &[512, 513, 511]] {
            let parts: Vec<Vec<u8>> = (0u8..)
                .zip(widths)
                .map(|(k, width)| (0..rows * width).map(|i| (i * 7) as u8 ^ (k << 6)).collect())
                .collect();
            let total: usize = widths.iter().sum();
            let mut o = vec![0u8; rows * total];
            let given: Vec<(*const u8, usize)> = parts.iter().zip(widths).map(|(p, &w)| (p.as_ptr(), w)).collect();
            // SAFETY: (1) `rows` rows of each width, and of all; (2) a vector of its own.
            unsafe { join_rows(rows, &given, o.as_mut_ptr()) };
            let want: Vec<u8> = (0..rows)
                .flat_map(|r| parts.iter().zip(widths).flat_map(move |(p, &w)| p[r * w..(r + 1) * w].to_vec()))
                .collect();
            assert!(o == want, "{rows} {widths:?}");
        }
    }
}

#[test]
fn results_beyond_the_caches() {
    let n = STREAMED / size_of::<f32>() + 37;
    let (a, b) = (numbers(n), numbers(n + 5));
    let b = &b[5..];
    let want: Vec<f32> = a.iter().zip(b).map(|(&a, &b)| Sub.f(a, b)).collect();
    // The output begins at, before and behind the beginning of a vector, and nothing around it is written.
    for start in [0, 1, 3] {
        let mut o = vec![-7.0f32; n + 8];
        // SAFETY: (1-3) `n` elements of vectors that are longer, or as long.
        unsafe { map2(&Sub, &[n], a.as_ptr(), &[1], b.as_ptr(), &[1], o[start..].as_mut_ptr(), &[1]) };
        assert!(o[start..start + n] == want[..] && [&o[..start], &o[start + n..]].concat().iter().all(|&x| x == -7.0));
        o.fill(-7.0);
        // SAFETY: as before; the vectors do not overlap.
        unsafe { copy_strided(&[n], want.as_ptr(), &[1], o[start..].as_mut_ptr(), &[1]) };
        assert!(o[start..start + n] == want[..] && [&o[..start], &o[start + n..]].concat().iter().all(|&x| x == -7.0));
    }
    // Rows with gaps between them, in the output and in an input.
    let (rows, row, gap) = (n / 1000, 1000, 1003);
    let mut o = vec![-7.0f32; rows * gap];
    let wide = numbers(rows * gap);
    let (sizes, dense, apart) = ([rows, row], [row as isize, 1], [gap as isize, 1]);
    // SAFETY: (1-3) as many elements as the vectors have.
    unsafe { map2(&Sub, &sizes, wide.as_ptr(), &apart, b.as_ptr(), &dense, o.as_mut_ptr(), &apart) };
    for (i, x) in o.iter().enumerate() {
        let (y, x_) = (i / gap, i % gap);
        let want = if x_ < row { Sub.f(wide[i], b[y * row + x_]) } else { -7.0 };
        assert_eq!(*x, want, "{i}");
    }
    // Rows that share a piece, and long ones, beside one row for all, one number for each row, and a plane for each of
    // two matrices.
    for row in [7, 100, 5000] {
        let rows = n.div_ceil(2 * row);
        let (sizes, a) = ([2, rows, row], numbers(2 * rows * row));
        let (dense, b) = ([(rows * row) as isize, row as isize, 1], numbers(rows * row));
        for strides in [[0, 0, 1], [0, 1, 0], [1, 0, 0], [0, row as isize, 1]] {
            let mut o = vec![-7.0f32; 2 * rows * row + 3];
            // SAFETY: (1-3) as many elements as the vectors have, or fewer.
            unsafe { map2(&Sub, &sizes, a.as_ptr(), &dense, b.as_ptr(), &strides, o[3..].as_mut_ptr(), &dense) };
            assert!(o[..3] == [-7.0; 3]);
            let places = positions(&sizes, &strides, 0);
            for (i, x) in o[3..].iter().enumerate() {
                assert_eq!(*x, Sub.f(a[i], b[places[i]]), "{sizes:?} {strides:?} {i}");
            }
        }
    }
    // An output that is an input.
    let mut o = a.clone();
    // SAFETY: (1-3) `n` elements; the output is the first input.
    unsafe { map2(&Sub, &[n], o.as_ptr(), &[1], b.as_ptr(), &[1], o.as_mut_ptr(), &[1]) };
    assert!(o == want);
}

#[test]
fn what_is_there_is_repeated() {
    for cycle in [1, 3, 64, 100, 5000, 10_000] {
        for all in [0, 1, cycle - 1, cycle, cycle + 1, 3 * cycle, 7 * cycle + 2, 70_001] {
            let mut o = vec![255u8; all.max(cycle) + 8];
            let first: Vec<u8> = (0..cycle).map(|i| (i * 7 + i / 251) as u8).collect();
            o[..cycle].copy_from_slice(&first);
            // SAFETY: (1) a vector that is longer, the first bytes of which were just written.
            unsafe { repeat(o.as_mut_ptr(), cycle, all) };
            let want = (0..all.max(cycle)).map(|i| first[i % cycle]).chain([255; 8]);
            assert!(o.into_iter().eq(want), "{cycle} of {all}");
        }
    }
    // SAFETY: (1) no bytes.
    unsafe { repeat(std::ptr::NonNull::dangling().as_ptr(), 0, 0) };
}

#[test]
fn rows_are_picked() {
    for (rows, width, gap) in [(1, 3, 0), (7, 32, 5), (100, 65, 0), (300, 512, 3), (300, 513, 0)] {
        let step = width + gap;
        let a: Vec<u8> = (0..rows * step).map(|i| (i * 7 + i / 251) as u8).collect();
        for n in [0, 1, 9, 1500, 5000] {
            let mut index: Vec<i64> = (0..n).map(|i| (i * i * 31 + i) as i64 % rows as i64).collect();
            let mut o = vec![0u8; n * width];
            let mut pick = |index: &[i64]| {
                // SAFETY: (1) `rows` rows of that width, and `n` of the output; (2) a vector of its own.
                unsafe { pick_rows(index, rows, a.as_ptr(), step as isize, width, o.as_mut_ptr()) }
            };
            assert!(pick(&index));
            if n > 0 {
                for wrong in [-1, rows as i64, i64::MIN, i64::MAX] {
                    let right = std::mem::replace(&mut index[n * 2 / 3], wrong);
                    assert!(!pick(&index), "{wrong} of {rows}");
                    index[n * 2 / 3] = right;
                }
            }
            assert!(pick(&index));
            let want: Vec<u8> =
                index.iter().flat_map(|&i| a[i as usize * step..i as usize * step + width].to_vec()).collect();
            assert!(o == want, "{n} of {rows} rows of {width} bytes");
        }
    }
}

#[test]
fn runs_of_every_length_are_copied() {
    let from: Vec<u8> = (0..2000).map(|i| (i * 31 % 251) as u8).collect();
    for n in (0..300).chain(1000..1700) {
        for shift in [0, 1, 5] {
            let mut to = vec![255; 1720];
            // SAFETY: (1) as many bytes on both sides; (2) two vectors.
            unsafe { copy_run(from.as_ptr().add(shift), to.as_mut_ptr().add(3), n) };
            let mut wanted = vec![255; 1720];
            wanted[3..3 + n].copy_from_slice(&from[shift..shift + n]);
            assert_eq!(to, wanted, "{n} bytes");
        }
    }
}
