//! The place in the program that called an op, for errors: the engine keeps one number per recorded op, here the
//! address of a [`Location`].

use std::cell::Cell;
use std::panic::Location;
use std::ptr::null;

use crate::Result;
use crate::engine::call_site::{SourceLocation, SourceLocations, register};

thread_local! {
    static HERE: Cell<*const Location<'static>> = const { Cell::new(null()) };
}

struct RustLines;

impl SourceLocations for RustLines {
    fn here(&self) -> u64 {
        HERE.get() as usize as u64
    }

    fn describe(&self, site: u64) -> Option<SourceLocation> {
        let location = site as usize as *const Location<'static>;
        // SAFETY: (1) the engine gives numbers back that `here` gave it: null, or the address of a `Location`. (2) That
        // lives as long as the program.
        let location = unsafe { location.as_ref() }?;
        Some(SourceLocation {
            file: location.file().to_owned(),
            line: location.line(),
            function: String::new(),
            text: line_of(location),
        })
    }
}

/// The line itself, where the source is still at the path that the compiler knew, from the folder of the program.
fn line_of(location: &Location) -> Option<String> {
    let source = std::fs::read_to_string(location.file()).ok()?;
    let line = source.lines().nth(usize::try_from(location.line()).ok()?.checked_sub(1)?)?;
    Some(line.trim().to_owned())
}

/// Notes the caller as the place of the ops that follow on this thread.
#[track_caller]
#[inline]
pub(crate) fn here() {
    at(Location::caller());
}

/// Notes a place, where the caller is not the one that is meant.
#[inline]
pub(crate) fn at(place: &'static Location<'static>) {
    HERE.with(|here| {
        if here.get().is_null() {
            register(&RustLines);
        }
        here.set(place);
    });
}

/// The value, or a panic at the caller's line with the text of the error.
#[track_caller]
#[inline]
pub(crate) fn done<T>(result: Result<T>) -> T {
    match result {
        Ok(value) => value,
        Err(error) => fail(&error),
    }
}

#[track_caller]
#[cold]
#[inline(never)]
fn fail(error: &crate::Error) -> ! {
    panic!("{error}")
}
