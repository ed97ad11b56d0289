//! The sizes at which kernels take another path: blocks, parts and tiles, and the amount of work that is divided among
//! threads.
//!
//! Speed and the order of rounding depend on them, and nothing else may. In a build with `--cfg small_blocks` all of
//! them are so small that the sizes in tests exceed them: `make small-blocks-test` runs the tests once more on it. That
//! build is slow, and its code is otherwise the same.
//!
//! Not in this file: how long vectors are ([`simd`](crate::simd) knows), and which blocks the pool of memory keeps
//! ([`memory`](crate::memory)).

/// `usual`, or `small` in a build with small blocks.
const fn size(usual: usize, small: usize) -> usize {
    if cfg!(small_blocks) { small } else { usual }
}

pub mod parallel {
    use super::*;

    /// Work of less than this many nanoseconds is never divided.
    pub const WORTH_SHARING: f64 = size(10_000, 0) as f64;
    /// Work of less than this many nanoseconds is not divided if workers have to be woken.
    pub const WORTH_WAKING: f64 = size(60_000, 0) as f64;
    /// A piece should take at least this many thousandths of a nanosecond.
    const PIECE_PS: usize = size(4_000_000, 100);
    /// A piece should take at least this many nanoseconds.
    pub const PIECE: f64 = PIECE_PS as f64 / 1000.0;
}

pub mod pointwise {
    use super::*;

    /// From this many elements on, work may be divided among threads.
    pub const MANY: usize = size(1 << 15, 4);
    /// Elements of the innermost axis that stay together then.
    pub const TOGETHER: usize = size(1024, 16);
    /// Results of so many bytes are written past the caches,
    pub const STREAMED: usize = size(16 << 20, 64);
    /// if they are at least this part of the last one, too.
    pub const SHARE_OF_CACHE: usize = size(8, usize::MAX);
    /// Bytes of a piece: five of them fit in any L1.
    pub const PIECE_BYTES: usize = size(4096, 128);
    /// Elements of a piece if an operand is strided: each then touches a line of its own, and those are to stay in L1
    /// for the next rows, which find their elements in the same lines.
    pub const STRIDED_PIECE: usize = size(256, 8);
    /// Rows of at least this many elements have pieces of their own, unless they follow each other.
    pub const LONG_ROW: usize = size(64, 4);
    // Shorter rows fit in a piece.
    const _: () = assert!(LONG_ROW <= STRIDED_PIECE && LONG_ROW <= PIECE_BYTES / 16);
    /// Rows of at least this many elements are computed as they lie, and a broadcast operand stays in a register, if
    /// the body has such a loop.
    pub const IN_ROWS: usize = 4;
    /// Elements of a run whose output is its first input, which is then read from a copy.
    pub const COPIED: usize = size(256, 4);
    /// Complex numbers whose parts are taken apart at a time; a multiple of every vector's length.
    pub const PLANAR: usize = size(256, 16);
    /// About so many bytes are copied from the first ones, which the first-level cache keeps.
    pub const REPEATED: usize = size(1 << 13, 64);
    /// Side of the square that a transposing copy moves at a time: lines of both sides stay in L1 meanwhile.
    pub const SQUARE: usize = size(16, 2);
}

pub mod grid {
    use super::*;

    /// Points whose taps are found together.
    pub const BLOCK: usize = size(64, 16);
}

pub mod finite {
    use super::*;

    /// Elements that are looked at between two decisions whether to go on; also what a thread takes at a time.
    pub const BLOCK: usize = size(4096, 8);
}

pub mod reduce {
    use super::*;

    /// Elements per block of a row: a quarter of L1 for f64.
    pub const BLOCK: usize = size(1024, 8);
    /// Rows that a strip takes before it is joined into its cascade.
    pub const GROUP: usize = size(64, 4);
    /// Bytes of accumulators that a strip keeps in L1.
    pub const STRIP_BYTES: usize = size(2048, 128);
    /// Elements of a long row that one thread takes at a time.
    pub const PART: usize = BLOCK * size(32, 1);
    /// Narrow contiguous matrices are read as wide ones of about this many columns.
    pub const WIDE: usize = size(128, 8);
    // A wide row fits in a strip.
    const _: () = assert!(WIDE <= STRIP_BYTES / 16);
    /// Halves that are made float32 at a time, where a row has no more: they stay in the second-level cache.
    pub const CONVERTED: usize = size(1 << 14, 8);
    /// Halves of as many short rows as stay in the first-level cache are made float32 at a time.
    pub const NEAR: usize = size(1 << 12, 4);
    /// Rows of at most so many elements are reduced in order, one by one or as columns; longer ones of floats in
    /// vectors.
    pub const IN_ORDER: usize = size(16, 4);
    const _: () = assert!(IN_ORDER <= BLOCK && IN_ORDER <= GROUP);
    /// Bytes of such rows that are copied at a time so that they are columns.
    pub const TURNED: usize = size(32 << 10, 1 << 10);
    // Of the largest elements, there is place for more columns than are read as wide rows.
    const _: () = assert!(TURNED / IN_ORDER / 16 * 2 > WIDE);
    /// Columns that a scan over an outer axis carries at once.
    pub const SCAN_COLUMNS: usize = size(256, 4);
    /// Partial results of a row in which an extreme is looked for: enough to fill vectors.
    pub const BEST_LANES: usize = size(64, 4);
    /// As many where the row is short, and the shortest such row.
    pub const BEST_LEAST: usize = size(16, 2);
    /// Columns that are looked at side by side for their extremes.
    pub const BEST_STRIP: usize = size(256, 4);
    /// Indices as wide as float32, so that the same masks select them; for longer axes the block is stored separately.
    pub const BEST_BLOCK: usize = size(1 << 30, 4);
}

pub mod rows {
    use super::*;

    /// Elements of rows that are exponentiated before the first one is scaled: they stay in the first-level cache.
    pub const SOFTMAX: usize = size(2048, 8);
}

pub mod norm {
    use super::*;

    /// Elements whose partial sums are joined before the next ones: rounding errors grow with this, not with the run.
    pub const BLOCK: usize = size(1024, 4);
    /// Rows whose share of the weight's gradient is added up together.
    pub const ROWS: usize = size(64, 2);
    /// Channels with fewer elements in a row than this are walked side by side, as the columns of a matrix: runs of 49,
    /// of 32 entries, take 0.6 times as long as one by one, and single elements 0.01 times.
    pub const SHORT: usize = size(100, 3);
    /// Columns that such a matrix has, about, where entries are shorter.
    pub const WIDE: usize = size(128, 8);
}

pub mod columns {
    use super::*;

    /// Rows whose columns are summed up one after the other: rounding errors grow with this, not with the number of
    /// rows; and a part is read again from the cache.
    pub const PART: usize = size(64, 2);
    /// Rows that are taken at a time: sums are loaded and stored once for as many elements.
    pub const ROWS: usize = size(8, 2);
}

pub mod matmul {
    use super::*;

    /// Bytes of one row of terms: a block of B of this depth, two vectors wide, stays in the second-level cache next to
    /// a block of A.
    pub const DEPTH_BYTES: usize = size(2560, 16);
    /// Rows of a block of A: with `DEPTH_BYTES`, about 430 kilobytes.
    pub const BLOCK_ROWS: usize = size(168, 3);
    /// Panels of B, two vectors wide, beside which A is read in place, unless its columns are far from one another.
    pub const FEW_PANELS: usize = size(8, 1);
    /// Bytes from a column of A to the next from which on they are far.
    pub const FAR_BYTES: usize = size(512, 16);
    /// Columns of a block of B kept packed between blocks of rows.
    pub const BLOCK_COLUMNS: usize = size(2048, 32);
    /// What fits the first-level cache next to the tile's other traffic.
    pub const NEAR_BYTES: usize = size(24 << 10, 16);
    /// Elements of a panel of B, counted as two vectors wide, that is copied to the stack, in a product without blocks.
    pub const PANEL: usize = size(4096, 32);
    /// Terms of a row times a column that one thread takes at a time.
    pub const DOT_PART: usize = size(1 << 16, 8);
    /// Products of fewer terms stay on the calling thread.
    pub const FEW_TERMS: usize = size(500_000, 1);
    /// Halves of an operand that are made float32 at a time.
    pub const WIDENED: usize = size(1 << 20, 64);
    /// Terms of a product of bfloat16 from which on it goes by the tiles of the matrix unit. Of a batch, products of 16
    /// cubed take 0.30 us each in tiles and 0.14 by float32, of 32 cubed 0.35 and 0.6; one by itself takes 3 us more by
    /// float32, for its copies (one thread on a Xeon, Emerald Rapids).
    pub const TILE_WORK: usize = size(1 << 12, 1);
    /// Rows of a block of A in tiles: with `TILE_TERMS`, half of the second-level cache.
    pub const TILE_ROWS: usize = size(512, 64);
    /// Terms of a block in tiles. With 512, and sums that wait in memory, 1024 cubed takes 1.2 times as long.
    pub const TILE_TERMS: usize = size(1024, 64);
    /// Columns of a block in tiles whose sums wait for more terms.
    pub const TILE_COLUMNS: usize = size(512, 64);
    /// Numbers of B in tiles that are kept from one block of rows to the next.
    pub const TILE_KEPT: usize = size(1 << 20, 4096);
    /// Parts of columns for threads begin at multiples of this many, so that nearly all panels are whole.
    pub const GRAIN: usize = size(32, 1);
}

pub mod conv {
    use super::*;

    /// Images whose share of the weight's gradient is one sum.
    pub const IMAGES: usize = size(16, 1);
    /// Positions of images that are one product, of images with fewer.
    pub const COLUMNS: usize = size(512, 64);
    /// Elements of their padded copies, which stay in the second-level cache.
    pub const COPIED: usize = size(1 << 17, 1 << 8);
}

pub mod attention {
    use super::*;

    /// Rows of a tile.
    pub const ROWS: usize = size(64, 2);
    /// Columns of a tile, and the distance of its rows.
    pub const COLUMNS: usize = size(256, 4);
    /// From this many rows on, transposed operands are copied to panels, whose copy costs as much as one row of
    /// products.
    pub const PACKED_FROM: usize = size(16, 2);
    /// Columns of a panel, of half as many if it would take too many bytes.
    pub const PANEL: usize = size(64, 4);
    // Tiles begin where panels begin.
    const _: () = assert!(COLUMNS.is_multiple_of(PANEL));
    /// A panel of this many bytes is read in place by the product.
    pub const PANEL_BYTES: usize = size(24 << 10, 64);
}

pub mod sort {
    use super::*;

    /// A line this many times as long as what is needed of it is looked through for that (measured: equal at 8).
    pub const FEW: usize = size(16, 2);
    /// Elements that are looked at together for those in front.
    pub const BLOCK: usize = size(64, 2);
    /// Up to this many keys in front are held in order while the line is looked through.
    pub const HELD: usize = size(8, 2);
    /// Up to this many elements of many lines are put in order side by side.
    pub const SHORT: usize = size(24, 4);
    /// Up to this many keys are each put in the place that counting gives them.
    pub const BY_PLACES: usize = size(24, 2);
    /// Elements for each digit from which on a line is sorted by digits (measured: equal at 40).
    pub const BY_DIGITS: usize = size(64, 1);
    /// Elements from which on the passes over one line are divided.
    pub const LONG: usize = size(1 << 17, 4);
    /// Into how many pieces.
    pub const PIECES: usize = size(16, 3);
}

pub mod random {
    use super::*;

    /// Words drawn at a time: 1 KiB of stack, and long enough for the conversion loops to be vector loops.
    pub const CHUNK: usize = size(256, 4);
    /// Normal numbers drawn and then shaped while they are still in the first-level cache. A multiple of those that are
    /// shaped together.
    pub const PART: usize = size(2048, 16);
}

pub mod index {
    use super::*;

    /// Elements of a mask that are counted together, and whose positions one thread writes.
    pub const MASK_PART: usize = size(1 << 14, 5);
    /// Elements of an index that a thread takes at a time at least; those that are copied are checked while in L1.
    pub const CHUNK: usize = size(1024, 4);
    /// Columns beside an indexed axis that a thread takes at least: a cache line of float32.
    pub const LINE: usize = size(16, 2);
}
