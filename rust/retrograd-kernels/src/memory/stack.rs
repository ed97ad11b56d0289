//! A lock-free stack. The links live in nodes that are never freed, and not in the blocks: a thread that was overtaken
//! between reading a head and replacing it reads a stale link, never unmapped memory, and the head's tag makes it try
//! again. (The tag has 32 bits; being fooled takes a stall of exactly a multiple of 2^32 operations.)
//!
//! `tests/loom.rs` runs this file under every order of its threads.

use crate::sync::atomic::Ordering::{Acquire, Relaxed, Release};
use crate::sync::atomic::{AtomicPtr, AtomicU32, AtomicU64};

/// A place on a stack, for one block.
pub struct Node {
    pub block: AtomicPtr<u8>,
    /// The node below, plus 1; 0 for none.
    pub below: AtomicU32,
}

/// The top node plus 1 (0 for none) in the low half, a tag in the high half that changes with each operation.
pub struct Head(pub AtomicU64);

impl Head {
    pub fn is_empty(&self) -> bool {
        self.0.load(Relaxed) as u32 == 0
    }

    pub fn push(&self, nodes: &[Node], node: u32) {
        let mut head = self.0.load(Relaxed);
        loop {
            nodes[node as usize].below.store(head as u32, Relaxed);
            // Release publishes `below` and the node's block to the Acquire in `pop`.
            let new = Self::next_tag(head) | u64::from(node + 1);
            match self.0.compare_exchange_weak(head, new, Release, Relaxed) {
                Ok(_) => return,
                Err(now) => head = now,
            }
        }
    }

    pub fn pop(&self, nodes: &[Node]) -> Option<u32> {
        let mut head = self.0.load(Acquire);
        loop {
            let node = (head as u32).checked_sub(1)?;
            // Stale if another thread was faster, and then the exchange fails.
            let below = nodes[node as usize].below.load(Relaxed);
            let new = Self::next_tag(head) | u64::from(below);
            // Acquire suffices for the nodes below too: heads change by exchanges alone, which continue the release
            // sequence of every earlier push.
            match self.0.compare_exchange_weak(head, new, Acquire, Acquire) {
                Ok(_) => return Some(node),
                Err(now) => head = now,
            }
        }
    }

    fn next_tag(head: u64) -> u64 {
        ((head >> 32).wrapping_add(1)) << 32
    }
}
