//! Memory for the keys of one line after the other.

use std::marker::PhantomData;
use std::ops::{Deref, DerefMut};

use super::keys::Key;
use crate::Result;
use crate::memory::Block;

/// Keys in memory of the pool: fresh memory of the system costs long lines as much as sorting them (page faults).
#[derive(Debug)]
pub struct Buffer<K> {
    block: Option<Block>,
    /// Keys that are initialised, from the start of the block on.
    len: usize,
    keys: PhantomData<K>,
}

impl<K> Default for Buffer<K> {
    fn default() -> Self {
        Self { block: None, len: 0, keys: PhantomData }
    }
}

impl<K: Key> Buffer<K> {
    /// Space for `n` keys, aligned; those that were here are gone.
    pub fn clear(&mut self, n: usize) -> Result<*mut K> {
        self.len = 0;
        let bytes = n.saturating_mul(size_of::<K>());
        if self.block.as_ref().is_none_or(|block| block.bytes() < bytes) {
            self.block = None;
            self.block = Some(Block::new(bytes)?);
        }
        Ok(self.ptr())
    }
    fn ptr(&self) -> *mut K {
        self.block.as_ref().map_or(std::ptr::dangling_mut(), |block| block.ptr().as_ptr().cast())
    }
    /// # Safety
    /// 1. The first `len` keys of the space that [`Buffer::clear`] made are initialised.
    pub unsafe fn set_len(&mut self, len: usize) {
        self.len = len;
    }
    /// Keeps the first `k > 0` in order, the last of them at the end.
    pub fn cut(&mut self, k: usize) {
        if k < self.len {
            self.select_nth_unstable(k - 1);
            self.len = k;
        }
    }
}

impl<K: Key> Deref for Buffer<K> {
    type Target = [K];
    fn deref(&self) -> &[K] {
        // SAFETY: a block is aligned to more than the widest key needs; `len` keys are initialised, and nobody else has
        // the block.
        unsafe { std::slice::from_raw_parts(self.ptr(), self.len) }
    }
}

impl<K: Key> DerefMut for Buffer<K> {
    fn deref_mut(&mut self) -> &mut [K] {
        // SAFETY: as above.
        unsafe { std::slice::from_raw_parts_mut(self.ptr(), self.len) }
    }
}
