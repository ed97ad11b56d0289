//! The Mersenne twister MT19937 and its 5056-byte saved state.
//!
//! Matsumoto and Nishimura, "Mersenne Twister: a 623-dimensionally equidistributed uniform pseudo-random number
//! generator", ACM TOMACS 8 (1998): a state of 624 words, the recurrence
//! `x[k+624] = x[k+397] ^ A * (top bit of x[k], low 31 bits of x[k+1])`, and a tempering of each word on its way out.
//! Seeding is the 2002 initialisation of the same authors (multiplier 1812433253), from the low 32 bits of the seed.
//!
//! The saved state is little-endian and has the layout torch's CPU generator saves, so a checkpoint moves both ways:
//!
//! | bytes | field |
//! | --- | --- |
//! | 0..8 | initial seed, u64 |
//! | 8..12 | `left`: draws until the block is renewed, plus one, i32 |
//! | 12..16 | 1 (seeded), i32 |
//! | 16..24 | `next`: words of the block already drawn, u64 |
//! | 24..5016 | 624 state words, a u64 each |
//! | 5016..5024 | unused, zero |
//! | 5024..5032 | cached normal, f64 |
//! | 5032..5040 | unused, zero |
//! | 5040..5044 | 1 if the f64 above is valid, i32 |
//! | 5048..5052 | cached normal, f32 |
//! | 5052 | 1 if the f32 above is valid |
//!
//! The bytes between these fields are padding: written as zero, never read.

/// Words in the state.
const N: usize = 624;
/// Distance of the middle word of the recurrence.
const M: usize = 397;
/// Length of a saved state in bytes.
const STATE_BYTES: usize = 5056;
const WORDS_AT: usize = 24;

/// A seeded stream of random words, with the second half of the last Box-Muller pair.
#[derive(Clone, Debug, PartialEq)]
pub struct Mt19937 {
    words: [u32; N],
    /// Words of the block drawn so far. Meaningless while `left` is 1, but saved and restored as it is.
    next: usize,
    /// Draws until the block is renewed, plus one. 1 means that the next draw renews it.
    /// Invariant: `left == 1 && next <= N`, or `left + next == N + 1` with both at least 1.
    left: usize,
    initial_seed: u64,
    /// The sine half of the last pair that `fill::normal_f32` or `fill::normal_f64` drew one at a time.
    pub(super) cached_normal_f64: Option<f64>,
    /// No fill of this module reads or writes it. It is here because a saved state may carry one.
    cached_normal_f32: Option<f32>,
}

impl Mt19937 {
    /// A generator seeded with `seed`.
    pub fn new(seed: u64) -> Self {
        let mut words = [0; N];
        words[0] = seed as u32; // The low half on purpose: the stream depends on 32 bits, `initial_seed` keeps 64.
        for k in 1..N {
            let before = words[k - 1];
            words[k] = 1_812_433_253_u32.wrapping_mul(before ^ (before >> 30)).wrapping_add(k as u32);
        }
        Self { words, next: 0, left: 1, initial_seed: seed, cached_normal_f64: None, cached_normal_f32: None }
    }

    /// Start the stream again from `seed`. The cached normals are dropped.
    pub fn seed(&mut self, seed: u64) {
        *self = Self::new(seed);
    }

    /// The seed this stream was started from, all 64 bits.
    pub fn initial_seed(&self) -> u64 {
        self.initial_seed
    }

    /// The next 32 random bits.
    #[inline]
    pub fn random(&mut self) -> u32 {
        if self.left == 1 {
            self.renew();
        }
        self.left -= 1;
        let word = self.words[self.next];
        self.next += 1;
        temper(word)
    }

    /// The next 64 random bits: two draws, the first in the high half.
    #[inline]
    pub fn random64(&mut self) -> u64 {
        let high = self.random();
        join(high, self.random())
    }

    /// Fill `out` with draws, the same ones as `out.len()` calls of [`random`](Self::random), a block at a time.
    pub(super) fn fill_u32(&mut self, mut out: &mut [u32]) {
        while !out.is_empty() {
            if self.left == 1 {
                self.renew();
            }
            let take = (self.left - 1).min(out.len());
            let (now, later) = out.split_at_mut(take);
            for (o, &word) in now.iter_mut().zip(&self.words[self.next..self.next + take]) {
                *o = temper(word);
            }
            self.next += take;
            self.left -= take;
            out = later;
        }
    }

    /// Compute the next 624 words. Afterwards `next` is 0 and `left` is `N + 1`, one above what a saved state may hold:
    /// both callers draw at least one word before they return, which restores the invariant.
    fn renew(&mut self) {
        let old = self.words;
        // A new word needs the new word 227 places before it (624 - 397). In runs of at most 227 words
        // no run reads itself, so each is a plain vector loop.
        let run = N - M;
        for k in 0..run {
            self.words[k] = old[k + M] ^ twist(old[k], old[k + 1]);
        }
        for start in [run, 2 * run] {
            let end = (start + run).min(N - 1);
            let (done, todo) = self.words.split_at_mut(start);
            let length = end - start;
            let earlier = &done[start - run..][..length];
            let pairs = old[start..end].iter().zip(&old[start + 1..=end]);
            for ((word, &back), (&u, &v)) in todo[..length].iter_mut().zip(earlier).zip(pairs) {
                *word = back ^ twist(u, v);
            }
        }
        self.words[N - 1] = self.words[M - 1] ^ twist(old[N - 1], self.words[0]);
        self.next = 0;
        self.left = N + 1;
    }

    /// The whole state, in the layout the module's documentation draws.
    pub fn state(&self) -> Vec<u8> {
        let mut bytes = vec![0; STATE_BYTES];
        let mut put = |at: usize, field: &[u8]| bytes[at..at + field.len()].copy_from_slice(field);
        put(0, &self.initial_seed.to_le_bytes());
        put(8, &(self.left as i32).to_le_bytes());
        put(12, &1_i32.to_le_bytes());
        put(16, &(self.next as u64).to_le_bytes());
        for (k, &word) in self.words.iter().enumerate() {
            put(WORDS_AT + 8 * k, &u64::from(word).to_le_bytes());
        }
        if let Some(normal) = self.cached_normal_f64 {
            put(5024, &normal.to_le_bytes());
            put(5040, &1_i32.to_le_bytes());
        }
        if let Some(normal) = self.cached_normal_f32 {
            put(5048, &normal.to_le_bytes());
            put(5052, &[1]);
        }
        bytes
    }

    /// Continue from a state that [`state`](Self::state) or torch saved.
    ///
    /// # Errors
    /// The state is refused, and the generator left as it was, if the length is not 5056, a field is outside what a
    /// generator can hold, or the words are the one state that yields only zeros. Stricter than torch, which takes
    /// positions beyond the block and then reads past it.
    pub fn set_state(&mut self, state: &[u8]) -> Result<(), String> {
        if state.len() != STATE_BYTES {
            return Err(format!(
                "Expected a CPUGeneratorImplState of size {STATE_BYTES} but found the input RNG state size to be {}",
                state.len()
            ));
        }
        let left = read_i32(state, 8);
        let seeded = read_i32(state, 12);
        let next = read_u64(state, 16);
        if seeded != 1 {
            return Err(format!("generator state: the seeded flag at byte 12 is {seeded}, expected 1"));
        }
        if !(1..=N as i32).contains(&left) {
            return Err(format!("generator state: left (byte 8) is {left}, expected 1 to {N}"));
        }
        if next > N as u64 {
            return Err(format!("generator state: next (byte 16) is {next}, expected 0 to {N}"));
        }
        let (left, next) = (left as usize, next as usize);
        if left != 1 && left + next != N + 1 {
            return Err(format!(
                "generator state: left {left} and next {next} disagree, their sum should be {}",
                N + 1
            ));
        }
        let mut words = [0; N];
        for (k, word) in words.iter_mut().enumerate() {
            let wide = read_u64(state, WORDS_AT + 8 * k);
            *word = u32::try_from(wide)
                .map_err(|_| format!("generator state: word {k} is {wide:#x}, which is more than 32 bits"))?;
        }
        // Only the top bit of word 0 is part of the 19937-bit state.
        if words[0] >> 31 == 0 && words[1..].iter().all(|&word| word == 0) {
            return Err("generator state: the words are all zero, from which every draw is zero".into());
        }
        let f64_normal = f64::from_bits(read_u64(state, 5024));
        let f32_normal = f32::from_bits(read_i32(state, 5048).cast_unsigned());
        let cached_normal_f64 = cached(read_i32(state, 5040), f64_normal, f64_normal.is_finite(), 5040)?;
        let cached_normal_f32 = cached(i32::from(state[5052]), f32_normal, f32_normal.is_finite(), 5052)?;
        let initial_seed = read_u64(state, 0);
        *self = Self { words, next, left, initial_seed, cached_normal_f64, cached_normal_f32 };
        Ok(())
    }
}

/// Two draws as one 64-bit word, the first in the high half.
#[inline]
pub(super) fn join(first: u32, second: u32) -> u64 {
    u64::from(first) << 32 | u64::from(second)
}

/// The cached normal that a flag of 0 or 1 announces.
fn cached<T>(flag: i32, value: T, finite: bool, at: usize) -> Result<Option<T>, String> {
    match (flag, finite) {
        (0, _) => Ok(None),
        (1, true) => Ok(Some(value)),
        (1, false) => Err(format!("generator state: the cached normal announced at byte {at} is not finite")),
        _ => Err(format!("generator state: the flag at byte {at} is {flag}, expected 0 or 1")),
    }
}

fn read_u64(bytes: &[u8], at: usize) -> u64 {
    let mut field = [0; 8];
    field.copy_from_slice(&bytes[at..at + 8]);
    u64::from_le_bytes(field)
}

fn read_i32(bytes: &[u8], at: usize) -> i32 {
    let mut field = [0; 4];
    field.copy_from_slice(&bytes[at..at + 4]);
    i32::from_le_bytes(field)
}

/// The product with the matrix A of the recurrence, branch-free.
#[inline(always)]
fn twist(u: u32, v: u32) -> u32 {
    let mixed = (u & 0x8000_0000) | (v & 0x7fff_ffff);
    (mixed >> 1) ^ ((v & 1).wrapping_neg() & 0x9908_b0df)
}

/// The output transformation T of the paper.
#[inline(always)]
fn temper(word: u32) -> u32 {
    let mut y = word;
    y ^= y >> 11;
    y ^= (y << 7) & 0x9d2c_5680;
    y ^= (y << 15) & 0xefc6_0000;
    y ^ (y >> 18)
}
