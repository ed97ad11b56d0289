//! The golden numbers were recorded from torch 2.13 (Linux x86-64, AVX2), seed 42 unless a test says otherwise.

use super::fused::Fused;
use super::*;
use crate::truth::Truth;

fn seeded() -> Mt19937 {
    Mt19937::new(42)
}

fn bits_f32(fill: impl FnOnce(&mut [f32]), n: usize) -> Vec<u32> {
    let mut out = vec![0.0; n];
    fill(&mut out);
    out.into_iter().map(f32::to_bits).collect()
}

fn bits_f64(fill: impl FnOnce(&mut [f64]), n: usize) -> Vec<u64> {
    let mut out = vec![0.0; n];
    fill(&mut out);
    out.into_iter().map(f64::to_bits).collect()
}

fn integers(fill: impl FnOnce(&mut [i64]), n: usize) -> Vec<i64> {
    let mut out = vec![0; n];
    fill(&mut out);
    out
}

fn pick<T: Copy, const K: usize>(from: &[T], at: [usize; K]) -> [T; K] {
    at.map(|k| from[k])
}

fn byte_sum(state: &[u8]) -> u64 {
    state.iter().map(|&byte| u64::from(byte)).sum()
}

/// The check value of the C++ standard for the seed 5489: the 10000th word.
#[test]
fn engine_is_mt19937() {
    let mut generator = Mt19937::new(5489);
    let last = (0..10_000).map(|_| generator.random()).last();
    assert_eq!(last, Some(4_123_659_995));
}

#[test]
fn seed_keeps_64_bits_and_uses_32() {
    let mut wide = Mt19937::new((1 << 40) + 7);
    assert_eq!(wide.initial_seed(), (1 << 40) + 7);
    assert_eq!(wide.random64(), Mt19937::new(7).random64());
    wide.seed(7);
    assert_eq!(wide, Mt19937::new(7));
}

#[test]
fn block_fill_equals_single_draws() {
    let (mut blocks, mut singles) = (seeded(), seeded());
    for n in [0, 1, 3, 620, 623, 624, 625, 1248, 1500, 7] {
        let mut words = vec![0; n];
        blocks.fill_u32(&mut words);
        assert!(words.iter().all(|&word| word == singles.random()), "{n} words");
        assert_eq!(blocks, singles, "after {n} words");
    }
}

#[test]
fn uniform_golden() {
    assert_eq!(
        bits_f32(|out| uniform_f32(&mut seeded(), out, 0.0, 1.0), 4),
        [0x3f61_dc66, 0x3f6a_3db3, 0x3ec4_06b8, 0x3f75_950e]
    );
    assert_eq!(
        bits_f32(|out| uniform_f32(&mut seeded(), out, -1.3, 2.7), 4),
        [0x400e_a933, 0x4017_0a80, 0x3e6d_0290, 0x4022_61db]
    );
    assert_eq!(
        bits_f64(|out| uniform_f64(&mut seeded(), out, 0.0, 1.0), 3),
        [0x3fad_c66c_bea3_db30, 0x3fb0_1ae1_77ac_a870, 0x3fbf_a356_3cce_a238]
    );
    assert_eq!(
        bits_f64(|out| uniform_f64(&mut seeded(), out, -1.3, 2.7), 3),
        [0xbff1_13ff_34f8_5167, 0xbff0_c614_6ee1_a2b1, 0xbfe9_c7ee_7b32_487e]
    );
}

#[test]
fn uniform_stays_below_the_upper_end() {
    // Bounds that differ by one ulp: half of all draws round up to `hi`, and become `lo`.
    let (lo, hi) = (1.0_f32, 1.0_f32.next_up());
    let mut out = [0.0; 1000];
    uniform_f32(&mut seeded(), &mut out, lo.into(), hi.into());
    assert!(out.iter().all(|&x| x == lo));
    uniform_f32(&mut seeded(), &mut out, 3.0, 3.0);
    assert!(out.iter().all(|&x| x == 3.0));
}

#[test]
fn few_normals_golden_and_the_cache_carries_over() {
    let mut generator = seeded();
    let three = bits_f32(|out| normal_f32(&mut generator, out, 1.3, 0.7), 3);
    assert_eq!(three, [0x3fc4_9145, 0x3fb1_f0fb, 0x3fbb_6867]);
    assert_eq!(bits_f32(|out| normal_f32(&mut generator, out, 1.3, 0.7), 1), [0x3fbb_09b0]);
    assert_eq!(
        bits_f64(|out| normal_f64(&mut seeded(), out, 1.3, 0.7), 3),
        [0x3ff8_9228_98f7_85a4, 0x3ff6_3e1f_50c8_9035, 0x3ff7_6d0c_eccb_f179]
    );
}

#[test]
fn sixteen_normals_golden() {
    let f32s = bits_f32(|out| normal_f32(&mut seeded(), out, 1.3, 0.7), 16);
    assert_eq!(pick(&f32s, [0, 1, 7, 8, 15]), [0x4029_869b, 0x4015_d490, 0x3e34_f986, 0x3f46_0471, 0x3fea_b711]);
    let f64s = bits_f64(|out| normal_f64(&mut seeded(), out, 1.3, 0.7), 16);
    assert_eq!(
        pick(&f64s, [0, 1, 8, 15]),
        [0x3ff8_27b0_12e3_d2e1, 0x3ff7_83be_dfc2_929b, 0x3ff6_be31_08a5_1cc2, 0x3fd0_5aea_922f_2a98]
    );
}

#[test]
fn a_ragged_tail_is_redrawn_golden() {
    let f32s = bits_f32(|out| normal_f32(&mut seeded(), out, 1.3, 0.7), 17);
    assert_eq!(pick(&f32s, [0, 1, 7, 8, 16]), [0x4029_869b, 0x3f98_199e, 0x401e_7de6, 0x3fc6_48f8, 0x3f8a_a602]);
    let f64s = bits_f64(|out| normal_f64(&mut seeded(), out, 1.3, 0.7), 17);
    assert_eq!(
        pick(&f64s, [0, 1, 8, 16]),
        [0x3ff8_27b0_12e3_d2e1, 0x4002_d35a_d51e_0c82, 0x3ff5_3b00_634b_fa13, 0x3ff7_97e9_eaf5_b400]
    );
}

/// Every bit of 1000 numbers, folded into one word.
#[test]
fn a_thousand_normals_golden() {
    let f32s = bits_f32(|out| normal_f32(&mut seeded(), out, 0.0, 1.0), 1000);
    let folded = f32s.iter().fold(0_u64, |sum, &bits| sum.rotate_left(5) ^ u64::from(bits));
    assert_eq!(folded, 0x4bad_7855_bfed_74df);
}

/// The fused instruction and the function that replaces it must give the same bits.
#[test]
fn normals_do_not_depend_on_the_instruction_set() {
    let mut dispatched = vec![0.0; 4096];
    normal_f32(&mut seeded(), &mut dispatched, 0.5, 2.0);
    let mut plain = vec![0.0; 4096];
    uniform_f32(&mut seeded(), &mut plain, 0.0, 1.0);
    normal::ShapeF32 { data: &mut plain, mean: 0.5, std: 2.0 }.run();
    assert_eq!(dispatched, plain);
}

#[test]
fn the_extreme_uniforms_give_finite_normals() {
    let largest = 1.0 - f32::EPSILON / 2.0;
    let mut group = [largest; 16];
    group[..4].fill(0.0);
    group[8] = 0.0;
    normal::ShapeF32 { data: &mut group, mean: 0.0, std: 1.0 }.run();
    assert!(group.iter().all(|x| x.is_finite()));
    assert!(group[..4].iter().all(|&x| x == 0.0), "u1 = 0 is the centre");
    assert!((group[7] - (48.0 * std::f32::consts::LN_2).sqrt()).abs() < 1e-5, "u1 = 1 - 2^-24 is the far end");
}

#[test]
fn moments_of_the_normals() {
    let mut out = vec![0.0; 100_000];
    normal_f32(&mut seeded(), &mut out, 3.0, 2.0);
    let n = out.len() as f64;
    let mean = out.iter().map(|&x| f64::from(x)).sum::<f64>() / n;
    let variance = out.iter().map(|&x| (f64::from(x) - mean).powi(2)).sum::<f64>() / n;
    // Four standard errors: 2 / sqrt(n) of the mean, 4 sqrt(2 / n) of the variance.
    assert!((mean - 3.0).abs() < 0.026, "{mean}");
    assert!((variance - 4.0).abs() < 0.072, "{variance}");
}

#[test]
fn random_below_golden() {
    assert_eq!(integers(|out| random_below(&mut seeded(), out, -5, 95), 6), [37, 62, 71, 9, 21, 30]);
    // The last range that takes 32 bits and the first that takes 64.
    assert_eq!(
        integers(|out| random_below(&mut seeded(), out, 0, (1 << 28) - 1), 3),
        [266_460_267, 199_900_607, 56_755_051]
    );
    assert_eq!(
        integers(|out| random_below(&mut seeded(), out, 0, 1 << 28), 3),
        [199_900_595, 250_975_502, 127_521_863]
    );
    assert_eq!(
        integers(|out| random_below(&mut seeded(), out, i64::MIN, i64::MAX), 2),
        [-2_314_326_399_425_823_309, 8_314_211_556_539_077_902]
    );
}

#[test]
fn random_below_stays_in_range() {
    for (lo, hi) in [(0, 1), (-3, 4), (i64::MAX - 2, i64::MAX), (i64::MIN, i64::MIN + 5), (-1 << 62, 1 << 62)] {
        let out = integers(|out| random_below(&mut seeded(), out, lo, hi), 500);
        assert!(out.iter().all(|x| (lo..hi).contains(x)), "{lo}..{hi}");
    }
}

#[test]
#[should_panic(expected = "is empty")]
fn random_below_refuses_an_empty_range() {
    random_below(&mut seeded(), &mut [0], 3, 3);
}

#[test]
fn permutation_golden() {
    assert_eq!(integers(|out| permutation(&mut seeded(), out), 10), [2, 6, 1, 8, 4, 5, 0, 9, 3, 7]);
    let mut sorted = integers(|out| permutation(&mut seeded(), out), 1001);
    sorted.sort_unstable();
    assert!(sorted.iter().copied().eq(0..1001));
    for n in [0, 1] {
        let mut generator = seeded();
        integers(|out| permutation(&mut generator, out), n);
        assert_eq!(generator, seeded(), "{n} elements need no draw");
    }
}

#[test]
fn bernoulli_golden() {
    let mut out = [Truth::FALSE; 12];
    bernoulli(&mut seeded(), &mut out, 0.3);
    assert_eq!(out.map(|t| u8::from(t.get())), [1, 1, 1, 1, 0, 0, 0, 0, 1, 1, 1, 0]);
    bernoulli(&mut seeded(), &mut out, 0.0);
    assert!(out.iter().all(|x| !x.get()));
    bernoulli(&mut seeded(), &mut out, 1.0);
    assert!(out.iter().all(|x| x.get()));
}

#[test]
fn state_golden() {
    let mut generator = seeded();
    normal_f64(&mut generator, &mut [0.0; 3], 0.0, 1.0);
    let state = generator.state();
    assert_eq!(state.len(), 5056);
    assert_eq!(state[..24], [42, 0, 0, 0, 0, 0, 0, 0, 105, 2, 0, 0, 1, 0, 0, 0, 8, 0, 0, 0, 0, 0, 0, 0]);
    assert_eq!(state[24..32], [0x43, 0xe9, 0x26, 0x2b, 0, 0, 0, 0]);
    assert_eq!(state[5024..5032], [0x22, 0x7c, 0x0a, 0x7b, 0x8d, 0x7b, 0xcd, 0x3f]);
    assert_eq!(byte_sum(&state), 320_076);

    let mut generator = Mt19937::new((1 << 40) + 7);
    uniform_f32(&mut generator, &mut [0.0; 700], 0.0, 1.0);
    let state = generator.state();
    assert_eq!(state[..24], [7, 0, 0, 0, 0, 1, 0, 0, 37, 2, 0, 0, 1, 0, 0, 0, 76, 0, 0, 0, 0, 0, 0, 0]);
    assert_eq!(byte_sum(&state), 316_439);
}

#[test]
fn state_round_trip() {
    // Fresh, inside a block, at its end, just past it, and with a cached normal.
    for (words, normals) in [(0, 0), (100, 0), (624, 0), (625, 0), (10, 3)] {
        let mut generator = seeded();
        generator.fill_u32(&mut vec![0; words]);
        normal_f32(&mut generator, &mut vec![0.0; normals], 0.0, 1.0);
        let mut other = Mt19937::new(1);
        other.set_state(&generator.state()).unwrap();
        assert_eq!(other, generator, "after {words} words and {normals} normals");
        let next = |g: &mut Mt19937| bits_f64(|out| normal_f64(g, out, 0.0, 1.0), 700);
        assert_eq!(next(&mut other), next(&mut generator));
    }
}

#[test]
fn state_carries_the_f32_cache() {
    let mut state = seeded().state();
    state[5048..5053].copy_from_slice(&[0, 0, 0xc0, 0x3f, 1]);
    let mut generator = Mt19937::new(1);
    generator.set_state(&state).unwrap();
    assert_eq!(generator.state(), state);
}

#[test]
fn bad_states_are_refused_and_change_nothing() {
    let mut drawn = seeded();
    drawn.random();
    let good = drawn.state();
    let with = |at: usize, field: &[u8]| {
        let mut state = good.clone();
        state[at..at + field.len()].copy_from_slice(field);
        state
    };
    let mut zeros = good.clone();
    zeros[24..5016].fill(0);
    zeros[24] = 1; // Below the top bit of word 0, so not part of the state.
    let cases = [
        (Vec::new(), "of size 5056 but found the input RNG state size to be 0"),
        (good[..5055].to_vec(), "size to be 5055"),
        ([&good[..], &[0]].concat(), "size to be 5057"),
        (with(12, &[0]), "seeded"),
        (with(8, &0_i32.to_le_bytes()), "left (byte 8) is 0"),
        (with(8, &(-1_i32).to_le_bytes()), "left (byte 8) is -1"),
        (with(8, &625_i32.to_le_bytes()), "left (byte 8) is 625"),
        (with(16, &625_u64.to_le_bytes()), "next (byte 16) is 625"),
        (with(16, &u64::MAX.to_le_bytes()), "next (byte 16)"),
        (with(16, &624_u64.to_le_bytes()), "disagree"),
        (with(8, &300_i32.to_le_bytes()), "disagree"),
        (with(24 + 8 * 5 + 4, &[1]), "word 5"),
        (zeros, "all zero"),
        (with(5040, &[2]), "flag at byte 5040 is 2"),
        (with(5052, &[7]), "flag at byte 5052 is 7"),
        ([&good[..5024], &f64::NAN.to_le_bytes(), &good[5032..5040], &[1], &good[5041..]].concat(), "not finite"),
        (with(5048, &[0, 0, 0x80, 0x7f, 1]), "not finite"),
    ];
    let mut generator = Mt19937::new(1);
    for (state, reason) in cases {
        let refusal = generator.set_state(&state).unwrap_err();
        let named = ["generator state: ", "Expected a CPUGeneratorImplState"].iter().any(|n| refusal.starts_with(n));
        assert!(named && refusal.contains(reason), "{refusal}");
        assert_eq!(generator, Mt19937::new(1), "{reason}");
    }
}
