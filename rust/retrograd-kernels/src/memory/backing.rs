//! The source of the pool's memory: the allocator, and on Linux the system for large blocks, except under Miri, which
//! checks the allocator alone.

use super::ALIGNMENT;
use std::alloc::Layout;
use std::ptr::NonNull;

/// The size of a huge page, and from which size on blocks are mapped.
pub const HUGE: usize = 2 << 20;

/// Fresh memory, aligned to `ALIGNMENT`, to `HUGE` if it is that large. `size` must not be 0.
pub fn obtain(size: usize) -> Option<NonNull<u8>> {
    #[cfg(all(target_os = "linux", not(miri)))]
    if size >= HUGE {
        return linux::map(size);
    }
    let layout = Layout::from_size_align(size, ALIGNMENT).ok()?;
    assert!(size > 0, "the pool obtains no empty block");
    let alloc = if cfg!(miri) { std::alloc::alloc_zeroed } else { std::alloc::alloc };
    // SAFETY: the layout is not empty.
    NonNull::new(unsafe { alloc(layout) })
}

/// # Safety
/// 1. `block` was obtained by [`obtain`] with this `size`.
/// 2. It is not used from now on.
pub unsafe fn give_back(block: NonNull<u8>, size: usize) {
    #[cfg(all(target_os = "linux", not(miri)))]
    if size >= HUGE {
        // SAFETY: by duties 1 and 2 this is a whole mapping of ours, no longer used.
        return unsafe { linux::unmap(block.as_ptr(), size) };
    }
    // SAFETY: `obtain` made this layout, so it is valid.
    let layout = unsafe { Layout::from_size_align_unchecked(size, ALIGNMENT) };
    // SAFETY: by duty 1 the block was allocated with this layout; duty 2.
    unsafe { std::alloc::dealloc(block.as_ptr(), layout) };
}

/// The memory this process may use, in bytes.
#[cfg(any(not(target_os = "linux"), miri))]
pub fn memory() -> usize {
    usize::MAX
}

#[cfg(all(target_os = "linux", not(miri)))]
pub use linux::memory;

#[cfg(all(target_os = "linux", not(miri)))]
mod linux {
    use super::HUGE;
    use std::ptr::{NonNull, null_mut};

    /// Map `size` bytes at a multiple of `HUGE`, advised to use huge pages.
    pub fn map(size: usize) -> Option<NonNull<u8>> {
        // Recent kernels align a large mapping themselves.
        let mut start = map_anywhere(size)?;
        if start.align_offset(HUGE) != 0 {
            // SAFETY: just mapped with this size, and nobody knows of it.
            unsafe { unmap(start, size) };
            // Map more, and keep the aligned part.
            let slack = HUGE;
            start = map_anywhere(size.checked_add(slack)?)?;
            let head = start.align_offset(HUGE);
            // SAFETY: (1) `head` is below `HUGE`, so all three parts are in the mapping. (2) Nobody knows of it, and
            // only the part from `head`, `size` long, stays in use.
            start = unsafe {
                let kept = start.add(head);
                unmap(start, head);
                unmap(kept.add(size), slack - head);
                kept
            };
        }
        // SAFETY: the range is a mapping of ours. Without huge pages the advice fails and nothing is lost.
        unsafe { libc::madvise(start.cast(), size, libc::MADV_HUGEPAGE) };
        NonNull::new(start)
    }

    fn map_anywhere(size: usize) -> Option<*mut u8> {
        // SAFETY: a private anonymous mapping at an address of the kernel's choice touches no memory in use.
        let start = unsafe {
            libc::mmap(
                null_mut(),
                size,
                libc::PROT_READ | libc::PROT_WRITE,
                libc::MAP_PRIVATE | libc::MAP_ANONYMOUS,
                -1,
                0,
            )
        };
        (start != libc::MAP_FAILED).then_some(start.cast())
    }

    /// # Safety
    /// 1. The range is empty, or whole pages mapped by [`map_anywhere`].
    /// 2. It is not used from now on.
    pub unsafe fn unmap(start: *mut u8, size: usize) {
        if size > 0 {
            // Can fail only when splitting a mapping passes the limit on their number; the pages then stay mapped.
            // SAFETY: the duties of this function.
            unsafe { libc::munmap(start.cast(), size) };
        }
    }

    /// The memory this process may use: the machine's, or its control group's limit if that is less.
    pub fn memory() -> usize {
        // SAFETY: `sysconf` only reads its argument.
        let (pages, page) = unsafe { (libc::sysconf(libc::_SC_PHYS_PAGES), libc::sysconf(libc::_SC_PAGESIZE)) };
        let pages = usize::try_from(pages).unwrap_or(usize::MAX);
        let page = usize::try_from(page).unwrap_or(1);
        let limits = ["/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory/memory.limit_in_bytes"];
        let limits = limits.iter().filter_map(|path| std::fs::read_to_string(path).ok()?.trim().parse().ok());
        limits.fold(pages.saturating_mul(page), usize::min)
    }
}
