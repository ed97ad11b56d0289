//! Memory that processes share: a file without a name, which is gone with the last process that has it.

use std::collections::HashMap;
use std::ptr::NonNull;

use parking_lot::Mutex;

use super::Storage;
use crate::counted::{Counted, WeakCounted};
use crate::error::{Error, Result};

/// The bytes of a file, readable and writable for as long as the value lives. The file cannot become shorter.
pub(super) struct Mapping {
    ptr: NonNull<u8>,
    /// Not 0.
    length: usize,
    file: i32,
    /// No other file has these numbers while somebody has this one.
    identity: (u64, u64),
}

// SAFETY: the value owns the mapping and the file; sharing the bytes between threads is S4.
unsafe impl Send for Mapping {}
// SAFETY: as above.
unsafe impl Sync for Mapping {}

impl Mapping {
    pub fn ptr(&self) -> *mut u8 {
        self.ptr.as_ptr()
    }
    pub fn file(&self) -> i32 {
        self.file
    }
}

/// Storages by the identity of their file.
type ByFile = HashMap<(u64, u64), WeakCounted<Storage>>;

/// The storages over files.
pub(super) static STORAGES: Mutex<Option<ByFile>> = Mutex::new(None);

/// Remembers the storage of a file, for when the file comes back from another process.
pub(super) fn remember(mapping: &Mapping, storage: &Counted<Storage>) {
    insert(STORAGES.lock().get_or_insert_default(), mapping.identity, storage);
}

/// The storage over the file of `mapping`, if need be one that `make` makes.
pub(super) fn storage_of(mapping: Mapping, make: impl FnOnce(Mapping) -> Counted<Storage>) -> Counted<Storage> {
    let mut storages = STORAGES.lock();
    let storages = storages.get_or_insert_default();
    let identity = mapping.identity;
    match storages.get(&identity).and_then(WeakCounted::upgrade) {
        Some(storage) if storage.bytes().max(1) == mapping.length => storage,
        _ => {
            let storage = make(mapping);
            insert(storages, identity, &storage);
            storage
        }
    }
}

fn insert(storages: &mut ByFile, identity: (u64, u64), storage: &Counted<Storage>) {
    if storages.len() == storages.capacity() {
        storages.retain(|_, storage| storage.strong_count() > 0);
    }
    storages.insert(identity, Counted::downgrade(storage));
}

fn failed(op: &'static str, what: &str) -> Error {
    Error::autograd(format!("{op}: unable to share memory: {what}: {}", std::io::Error::last_os_error()))
}

#[cfg(target_os = "linux")]
mod linux {
    use std::ptr::null_mut;

    use super::{Error, Mapping, NonNull, Result, failed};

    /// Closes a file, unless somebody takes it.
    struct Open(i32);
    impl Drop for Open {
        fn drop(&mut self) {
            // SAFETY: the value owns the file.
            unsafe { libc::close(self.0) };
        }
    }

    impl Mapping {
        /// A new file of zeros. All its memory is there: later, a lack of it would be a fault and no error.
        pub fn new(op: &'static str, bytes: usize) -> Result<Self> {
            let flags = libc::MFD_CLOEXEC | libc::MFD_ALLOW_SEALING;
            // SAFETY: a string that ends with 0. The C library of older systems has no function for this call.
            let file = unsafe { libc::syscall(libc::SYS_memfd_create, c"retrograd".as_ptr(), flags) };
            let file = Open(i32::try_from(file).expect("a file's number"));
            if file.0 < 0 {
                return Err(failed(op, "no file"));
            }
            let length = libc::off_t::try_from(bytes.max(1)).expect("a storage is no larger than the address space");
            // SAFETY: the call touches no memory of the process.
            if unsafe { libc::fallocate(file.0, 0, 0, length) } != 0 {
                return Err(failed(op, &format!("no memory for {bytes} bytes")));
            }
            // SAFETY: as above.
            if unsafe { libc::fcntl(file.0, libc::F_ADD_SEALS, libc::F_SEAL_SHRINK | libc::F_SEAL_GROW) } != 0 {
                return Err(failed(op, "no seals"));
            }
            Self::map(op, file, bytes)
        }
        /// The first bytes of a file that another process made. Files that could become shorter are refused.
        pub fn of(op: &'static str, file: i32, bytes: usize) -> Result<Self> {
            // SAFETY: the call touches no memory of the process, and says so if there is no such file.
            let file = Open(unsafe { libc::fcntl(file, libc::F_DUPFD_CLOEXEC, 3) });
            if file.0 < 0 {
                return Err(failed(op, "no file"));
            }
            // SAFETY: as above.
            let seals = unsafe { libc::fcntl(file.0, libc::F_GET_SEALS) };
            if seals < 0 || seals & libc::F_SEAL_SHRINK == 0 {
                return Err(Error::autograd(format!("{op}: the file is no shared memory: it could become shorter")));
            }
            Self::map(op, file, bytes)
        }
        fn map(op: &'static str, file: Open, bytes: usize) -> Result<Self> {
            // SAFETY: numbers, for which any bytes are values.
            let mut facts: libc::stat64 = unsafe { std::mem::zeroed() };
            // SAFETY: `facts` may be written.
            if unsafe { libc::fstat64(file.0, &mut facts) } != 0 {
                return Err(failed(op, "no size"));
            }
            let length = bytes.max(1);
            if usize::try_from(facts.st_size).is_ok_and(|size| size < length) {
                return Err(Error::autograd(format!(
                    "{op}: the file of shared memory has {} bytes, not {bytes}",
                    facts.st_size
                )));
            }
            // SAFETY: the system chooses the address.
            let ptr = unsafe {
                libc::mmap(null_mut(), length, libc::PROT_READ | libc::PROT_WRITE, libc::MAP_SHARED, file.0, 0)
            };
            match NonNull::new(ptr.cast()) {
                Some(ptr) if ptr.as_ptr() != libc::MAP_FAILED.cast() => {
                    let identity = (facts.st_dev, facts.st_ino);
                    let mapping = Self { ptr, length, file: file.0, identity };
                    std::mem::forget(file); // it is the mapping's
                    Ok(mapping)
                }
                _ => Err(failed(op, &format!("no addresses for {bytes} bytes"))),
            }
        }
    }

    impl Drop for Mapping {
        fn drop(&mut self) {
            // SAFETY: the value owns both, and nobody has the address any more (R1 and S1).
            unsafe {
                libc::munmap(self.ptr.as_ptr().cast(), self.length);
                libc::close(self.file);
            }
        }
    }
}

#[cfg(not(target_os = "linux"))]
impl Mapping {
    pub fn new(op: &'static str, _bytes: usize) -> Result<Self> {
        Err(Error::autograd(format!("{op}: memory is shared between processes on Linux alone")))
    }
    pub fn of(op: &'static str, _file: i32, bytes: usize) -> Result<Self> {
        Self::new(op, bytes)
    }
}
