//! Tiles of bfloat16 by AMX, the matrix unit of Intel's server CPUs (since 2023), on Linux.
//!
//! The unit has eight registers of 16 rows of 64 bytes. A thread says first how they are used and gives them back at
//! the end ([`Configured`]): while they hold something, the system saves 8 KB more with each change of threads. A
//! process asks the system once for them. Rust has no stable functions for the instructions: they are assembly.
//!
//! Unlike float32 products elsewhere, the unit takes subnormal numbers (below 1.2e-38) for zero and gives zero for
//! subnormal sums; NaN and infinities are as in float32.

use std::arch::asm;
use std::arch::x86_64::*;
use std::sync::OnceLock;

use super::bf16::{BLOCK, Block, Lines, SIDE, TERMS, TILE, Tiles, copy_each};
use super::simd::Simd;
use super::x86::Avx512F32;

/// Proof that this CPU has AMX for bfloat16 and AVX-512 for copies, and that this process may use both.
#[derive(Clone, Copy)]
pub(super) struct Amx(());

impl Amx {
    /// The first call asks the system.
    pub(super) fn detect() -> Option<Self> {
        static ALLOWED: OnceLock<bool> = OnceLock::new();
        ALLOWED.get_or_init(|| has_tiles() && may_use_tiles()).then_some(Self(()))
    }
}

/// Whether the CPU has the instructions and the system saves the registers.
#[allow(unused_unsafe, reason = "to ask the CPU is safe in later versions")]
fn has_tiles() -> bool {
    let has_copies = is_x86_feature_detected!("avx512f")
        && is_x86_feature_detected!("avx512bw")
        && is_x86_feature_detected!("avx512vl")
        && is_x86_feature_detected!("xsave");
    if !has_copies {
        return false;
    }
    /// Bits of leaf 7: AMX for bfloat16, and tiles.
    const CPU: u32 = 1 << 22 | 1 << 24;
    /// Bits of what the system saves: how tiles are used, and what is in them.
    const SYSTEM: u64 = 1 << 17 | 1 << 18;
    // SAFETY: a CPU with AVX-512 has leaf 7. (xgetbv) `xsave` was detected, which asks whether the system has it on.
    unsafe { __cpuid_count(7, 0).edx & CPU == CPU && system_saves() & SYSTEM == SYSTEM }
}

/// The registers that the system saves.
///
/// # Safety
/// 1. The CPU has `xgetbv`, and the system allows it.
#[target_feature(enable = "xsave")]
unsafe fn system_saves() -> u64 {
    // SAFETY: duty 1.
    unsafe { _xgetbv(0) }
}

/// Asks for the registers, for all threads of this process. The system refuses if it is old, or if the stack of a
/// signal handler is too small.
fn may_use_tiles() -> bool {
    const ARCH_REQ_XCOMP_PERM: libc::c_long = 0x1023;
    const XFEATURE_XTILEDATA: libc::c_long = 18;
    // SAFETY: this call has two numbers and changes no memory of ours.
    unsafe { libc::syscall(libc::SYS_arch_prctl, ARCH_REQ_XCOMP_PERM, XFEATURE_XTILEDATA) == 0 }
}

/// How registers are used: palette 1, and for each of eight its bytes of a row and its rows.
#[repr(C, align(64))]
struct Configuration {
    palette: u8,
    start_row: u8,
    reserved: [u8; 14],
    row_bytes: [u16; 16],
    rows: [u8; 16],
}

static WHOLE_TILES: Configuration = Configuration {
    palette: 1,
    start_row: 0,
    reserved: [0; 14],
    row_bytes: [64, 64, 64, 64, 64, 64, 64, 64, 0, 0, 0, 0, 0, 0, 0, 0],
    rows: [16, 16, 16, 16, 16, 16, 16, 16, 0, 0, 0, 0, 0, 0, 0, 0],
};

/// Proof that this thread has whole tiles in all registers; gives them back when it is dropped.
pub(super) struct Configured(std::marker::PhantomData<*const ()>);

impl Configured {
    pub(super) fn new(_: Amx) -> Self {
        // SAFETY: an `Amx` exists, so the CPU has the instruction and the process may use it; the 64 bytes of the
        // configuration are those that palette 1 allows.
        unsafe {
            asm!("ldtilecfg [{}]", in(reg) &raw const WHOLE_TILES, options(nostack, readonly, preserves_flags),
                out("tmm0") _, out("tmm1") _, out("tmm2") _, out("tmm3") _,
                out("tmm4") _, out("tmm5") _, out("tmm6") _, out("tmm7") _);
        }
        Self(std::marker::PhantomData)
    }
}

impl Drop for Configured {
    fn drop(&mut self) {
        // SAFETY: a value of this type is proof of the instruction.
        unsafe {
            asm!("tilerelease", options(nomem, nostack, preserves_flags),
                out("tmm0") _, out("tmm1") _, out("tmm2") _, out("tmm3") _,
                out("tmm4") _, out("tmm5") _, out("tmm6") _, out("tmm7") _);
        }
    }
}

/// A block of sums: registers 0 to 3 are the sums, row by row, 4 and 5 tiles of A, 6 and 7 tiles of B.
macro_rules! block {
    ($block:ident, $across:literal: loads $load:expr; zeros $zero:expr; step $step:expr; stores $store:expr) => {{
        let Block { tiles, a, a_row, a_down, a_next, b, c, is_first } = *$block;
        asm!(
            "test {first}, {first}",
            "jnz 3f",
            $load,
            "jmp 2f",
            "3:",
            $zero,
            "2:",
            $step,
            "add {a}, {next}",
            "add {low}, {next}",
            concat!("add {b}, 1024 * ", $across),
            "dec {tiles}",
            "jnz 2b",
            $store,
            first = in(reg) usize::from(is_first),
            a = inout(reg) a => _,
            low = inout(reg) a.wrapping_byte_offset(a_down) => _,
            row = in(reg) a_row,
            next = in(reg) a_next,
            b = inout(reg) b => _,
            b_row = in(reg) 64usize,
            c = in(reg) c,
            c_row = in(reg) 4 * BLOCK,
            tiles = inout(reg) tiles => _,
            out("tmm0") _, out("tmm1") _, out("tmm2") _, out("tmm3") _,
            out("tmm4") _, out("tmm5") _, out("tmm6") _, out("tmm7") _,
            options(nostack)
        )
    }};
}

impl Tiles for Configured {
    unsafe fn copy<const PAIRS: bool>(&self, from: Lines, rows: usize, k: usize, to: *mut u16) {
        // SAFETY: duties 1 and 2; a value of this type is proof of the instructions; a stride is as each asks.
        unsafe {
            if from.step == 1 {
                copy_vectors::<PAIRS, true>(from, rows, k, to);
            } else if from.apart == 1 {
                copy_vectors::<PAIRS, false>(from, rows, k, to);
            } else {
                copy_each::<PAIRS>(from, rows, k, to);
            }
        }
    }

    #[inline]
    unsafe fn multiply<const DOWN: usize, const ACROSS: usize>(&self, block: &Block) {
        debug_assert!(block.tiles > 0);
        // SAFETY: a value of this type is proof of the instructions and that registers have whole tiles. Duties 1 and
        // 2: tiles are read and written where the block says.
        unsafe {
            match (DOWN, ACROSS) {
                (1, 1) => block!(block, 1:
                    loads "tileloadd tmm0, [{c} + 1 * {c_row}]";
                    zeros "tilezero tmm0";
                    step "tileloadd tmm4, [{a} + 1 * {row}]
                        tileloadd tmm6, [{b} + 1 * {b_row}]
                        tdpbf16ps tmm0, tmm4, tmm6";
                    stores "tilestored [{c} + 1 * {c_row}], tmm0"),
                (1, _) => block!(block, 2:
                    loads "tileloadd tmm0, [{c} + 1 * {c_row}]
                        tileloadd tmm1, [{c} + 1 * {c_row} + 64]";
                    zeros "tilezero tmm0
                        tilezero tmm1";
                    step "tileloadd tmm4, [{a} + 1 * {row}]
                        tileloadd tmm6, [{b} + 1 * {b_row}]
                        tdpbf16ps tmm0, tmm4, tmm6
                        tileloadd tmm7, [{b} + 1 * {b_row} + 1024]
                        tdpbf16ps tmm1, tmm4, tmm7";
                    stores "tilestored [{c} + 1 * {c_row}], tmm0
                        tilestored [{c} + 1 * {c_row} + 64], tmm1"),
                (_, 1) => block!(block, 1:
                    loads "tileloadd tmm0, [{c} + 1 * {c_row}]
                        tileloadd tmm2, [{c} + 1 * {c_row} + 2048]";
                    zeros "tilezero tmm0
                        tilezero tmm2";
                    step "tileloadd tmm4, [{a} + 1 * {row}]
                        tileloadd tmm6, [{b} + 1 * {b_row}]
                        tdpbf16ps tmm0, tmm4, tmm6
                        tileloadd tmm5, [{low} + 1 * {row}]
                        tdpbf16ps tmm2, tmm5, tmm6";
                    stores "tilestored [{c} + 1 * {c_row}], tmm0
                        tilestored [{c} + 1 * {c_row} + 2048], tmm2"),
                _ => block!(block, 2:
                    loads "tileloadd tmm0, [{c} + 1 * {c_row}]
                        tileloadd tmm1, [{c} + 1 * {c_row} + 64]
                        tileloadd tmm2, [{c} + 1 * {c_row} + 2048]
                        tileloadd tmm3, [{c} + 1 * {c_row} + 2112]";
                    zeros "tilezero tmm0
                        tilezero tmm1
                        tilezero tmm2
                        tilezero tmm3";
                    step "tileloadd tmm4, [{a} + 1 * {row}]
                        tileloadd tmm6, [{b} + 1 * {b_row}]
                        tdpbf16ps tmm0, tmm4, tmm6
                        tileloadd tmm7, [{b} + 1 * {b_row} + 1024]
                        tdpbf16ps tmm1, tmm4, tmm7
                        tileloadd tmm5, [{low} + 1 * {row}]
                        tdpbf16ps tmm2, tmm5, tmm6
                        tdpbf16ps tmm3, tmm5, tmm7";
                    stores "tilestored [{c} + 1 * {c_row}], tmm0
                        tilestored [{c} + 1 * {c_row} + 64], tmm1
                        tilestored [{c} + 1 * {c_row} + 2048], tmm2
                        tilestored [{c} + 1 * {c_row} + 2112], tmm3"),
            }
        }
    }
}

/// [`Tiles::copy`] of rows whose terms are contiguous, or without `ROWS` of terms whose rows are. Vectors hold pairs of
/// terms: 16 pairs of one row, or one pair of 16 rows. The first are the rows of a tile of A, the second those of a
/// tile of B, and each is the transpose of the other.
///
/// # Safety
/// 1. Those of [`Tiles::copy`]. 2. The CPU has the instructions. 3. The terms, or the rows, are contiguous.
#[target_feature(enable = "avx512f,avx512bw,avx512vl")]
unsafe fn copy_vectors<const PAIRS: bool, const ROWS: bool>(from: Lines, rows: usize, k: usize, to: *mut u16) {
    let mut to = to;
    for p in (0..k).step_by(TERMS) {
        for i in (0..rows).step_by(SIDE) {
            let (from, rows, terms) = (from.from(i, p), SIDE.min(rows - i), TERMS.min(k - p));
            // SAFETY: duties 1 to 3, for a tile.
            unsafe {
                if rows == SIDE && terms == TERMS {
                    copy_tile::<PAIRS, ROWS, true>(from, rows, terms, to);
                } else {
                    copy_tile::<PAIRS, ROWS, false>(from, rows, terms, to);
                }
            }
            to = to.wrapping_add(TILE);
        }
    }
}

/// # Safety
/// Those of [`copy_vectors`], for a tile; with `WHOLE`, all of it.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vl")]
unsafe fn copy_tile<const PAIRS: bool, const ROWS: bool, const WHOLE: bool>(
    from: Lines,
    rows: usize,
    terms: usize,
    to: *mut u16,
) {
    // SAFETY: duties 1 to 3: rows and terms that there are not are not read, and nothing behind a mask.
    unsafe {
        let mut v = [Avx512F32::zero(); SIDE];
        if ROWS {
            let mask = ((1u64 << terms) - 1) as __mmask32;
            for (i, v) in v.iter_mut().enumerate().take(if WHOLE { SIDE } else { rows }) {
                let row = from.first.wrapping_offset(i as isize * from.apart).cast::<i16>();
                let row = if WHOLE { _mm512_loadu_epi16(row) } else { _mm512_maskz_loadu_epi16(mask, row) };
                *v = Avx512F32(_mm512_castsi512_ps(row));
            }
        } else {
            let mask = ((1u32 << rows) - 1) as __mmask16;
            let load = |p: usize| {
                let term = from.first.wrapping_offset(p as isize * from.step).cast::<i16>();
                let term = if WHOLE {
                    _mm256_loadu_epi16(term)
                } else if p < terms {
                    _mm256_maskz_loadu_epi16(mask, term)
                } else {
                    _mm256_setzero_si256()
                };
                _mm512_cvtepu16_epi32(term)
            };
            for (i, v) in v.iter_mut().enumerate() {
                let pair = _mm512_or_si512(load(2 * i), _mm512_slli_epi32::<16>(load(2 * i + 1)));
                *v = Avx512F32(_mm512_castsi512_ps(pair));
            }
        }
        if PAIRS == ROWS {
            Avx512F32::swap(&mut v);
        }
        for (i, v) in v.into_iter().enumerate() {
            v.store(to.cast::<f32>().add(i * SIDE));
        }
    }
}
