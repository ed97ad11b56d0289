//! What the pool keeps, in a process where nothing else uses it: sizes that vary, and a phase of the program that ends.

use retrograd_kernels::memory::{Block, MemoryStats, empty_cache, memory_stats, reset_peak, set_cache_limit};

const MB: usize = 1 << 20;

fn block(bytes: usize) -> Block {
    Block::new(bytes).expect("there is memory")
}

fn held(stats: &MemoryStats) -> usize {
    stats.live_bytes + stats.lent_bytes + stats.cached_bytes
}

#[test]
fn the_pool_keeps_what_is_likely_to_be_used() {
    a_block_is_lent_and_comes_back();
    the_limit_is_respected();
    varying_sizes_share_their_blocks();
    a_loop_over_the_same_sizes_finds_its_blocks();
    what_an_earlier_phase_used_is_given_back();
}

fn a_block_is_lent_and_comes_back() {
    let large = block(12 * MB);
    let address = large.ptr();
    drop(large);
    let before = memory_stats();
    let small = block(9 * MB); // Of the class of 10 MB.
    assert_eq!((small.ptr(), small.bytes()), (address, 9 * MB));
    let during = memory_stats();
    assert_eq!((during.hits, during.misses), (before.hits + 1, before.misses));
    assert_eq!((during.live_bytes, during.lent_bytes), (before.live_bytes + 10 * MB, 2 * MB));
    drop(small);
    let after = memory_stats();
    assert_eq!((after.live_bytes, after.lent_bytes), (before.live_bytes, 0));
    assert_eq!(after.cached_bytes, before.cached_bytes);
    assert_eq!(block(12 * MB).ptr(), address);
    // A block more than three classes above is too large.
    assert_ne!(block(6 * MB).ptr(), address);
}

fn the_limit_is_respected() {
    let before = set_cache_limit(12 * MB);
    assert!(memory_stats().cached_bytes <= 13 * MB); // With lists of this thread.
    drop([block(7 * MB), block(8 * MB)]);
    assert!(memory_stats().cached_bytes <= 13 * MB);
    assert_eq!(set_cache_limit(before), 12 * MB);
    empty_cache();
    assert_eq!(memory_stats().cached_bytes, 0);
}

fn varying_sizes_share_their_blocks() {
    let mut state = 1_usize;
    let mut most = 0;
    let before = memory_stats().misses;
    reset_peak();
    for _ in 0..400 {
        let blocks: Vec<Block> = (0..4)
            .map(|_| {
                // A linear congruential generator, whose high bits are a size from 0.25 to 32 MB.
                state = state.wrapping_mul(6364136223846793005).wrapping_add(1);
                block(MB / 4 + (state >> 33) % (32 * MB - MB / 4))
            })
            .collect();
        most = most.max(held(&memory_stats()));
        drop(blocks);
    }
    let stats = memory_stats();
    assert!((80 * MB..=132 * MB).contains(&stats.peak_bytes), "{stats:?}");
    assert!(most <= stats.peak_bytes / 4 * 7 + 4 * MB, "{} of {} MB", most / MB, stats.peak_bytes / MB);
    assert!(stats.misses - before <= 200, "{stats:?}");
}

fn a_loop_over_the_same_sizes_finds_its_blocks() {
    let step = || {
        let sizes = [31, 3, 17, 9, 30, 5, 12, 2, 24];
        let kept: Vec<Block> = sizes.map(|mb| block(mb * MB)).into();
        drop(sizes.map(|mb| block(mb * MB / 2)));
        drop(kept);
    };
    (0..10).for_each(|_| step());
    let before = memory_stats().misses;
    (0..4000).for_each(|_| step()); // Over several windows.
    assert_eq!(memory_stats().misses, before);
}

fn what_an_earlier_phase_used_is_given_back() {
    assert!(memory_stats().cached_bytes > 64 * MB);
    for _ in 0..1 << 16 {
        drop(block(MB));
    }
    assert!(memory_stats().cached_bytes <= 64 * MB, "{:?}", memory_stats());
}
