//! Writing files so that none is ever half written.

use std::fs::{self, File};
use std::hash::{BuildHasher, RandomState};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

/// Has `write` write a file that appears at `path`, whole, at the end. After an error, what was there is there still.
pub(super) fn replace<E: From<io::Error>>(
    path: &Path,
    write: impl FnOnce(&mut BufWriter<File>) -> Result<(), E>,
) -> Result<(), E> {
    // Where links lead: the file there is replaced, not the link.
    let target = fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
    let known = fs::metadata(&target).ok();
    if known.as_ref().is_some_and(|known| !known.is_file()) {
        // Such as a pipe.
        let mut file = BufWriter::new(File::options().write(true).open(&target)?);
        write(&mut file)?;
        return Ok(file.flush()?);
    }
    let part = beside(&target)?;
    let mut file = BufWriter::new(File::options().write(true).create_new(true).open(&part)?);
    let done = (|| {
        write(&mut file)?;
        file.flush()?;
        if let Some(known) = known {
            fs::set_permissions(&part, known.permissions())?;
        }
        Ok(fs::rename(&part, &target)?)
    })();
    if done.is_err() {
        let _ = fs::remove_file(&part);
    }
    done
}

/// A name in the same folder that no file has.
fn beside(target: &Path) -> io::Result<PathBuf> {
    let name = target.file_name().ok_or_else(|| io::Error::new(io::ErrorKind::InvalidInput, "it names no file"))?;
    let name: String = name.to_string_lossy().chars().take(100).collect();
    let random = RandomState::new().hash_one(&name);
    // A process that was forked draws the same; WebAssembly has no processes, and panics if asked for the number of
    // one.
    let process = if cfg!(target_family = "wasm") { 0 } else { std::process::id() };
    Ok(target.with_file_name(format!(".{name}.{process}.{random:016x}.part")))
}
