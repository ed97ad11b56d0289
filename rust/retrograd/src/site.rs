//! The place in the program that called an op, for errors: the engine keeps one number per recorded op, here the
//! address of a [`Location`].

use std::cell::Cell;
use std::panic::Location;
use std::ptr::{eq, null};

use crate::engine::call_site::{SourceLocation, SourceLocations, register};
use crate::engine::error::set_spelling;
use crate::{Result, remedies};

thread_local! {
    static HERE: Cell<*const Location<'static>> = const { Cell::new(null()) };
    /// Where a list of layers was called that calls one of them now.
    static LIST: Cell<Option<&'static Location<'static>>> = const { Cell::new(None) };
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

/// As [`here`], of a layer, and says which place that is. A call of a trait's method behind a pointer has no caller,
/// but the line of the method; where [`in_list`] makes the call, its place counts.
#[track_caller]
#[inline]
pub(crate) fn of_layer() -> &'static Location<'static> {
    let caller = Location::caller();
    let is_own = || caller.file().starts_with(file!().trim_end_matches("site.rs"));
    if let Some(place) = LIST.get().filter(|place| eq(HERE.get(), *place) && is_own()) {
        return place;
    }
    at(caller);
    caller
}

/// Calls a layer behind a pointer, as a part of what was called at `place`.
pub(crate) fn in_list<R>(place: &'static Location<'static>, call: impl FnOnce() -> R) -> R {
    struct Outer(Option<&'static Location<'static>>);
    impl Drop for Outer {
        fn drop(&mut self) {
            LIST.set(self.0);
        }
    }
    // The layer before may be a module of the program, with lines of its own.
    at(place);
    let _outer = Outer(LIST.replace(Some(place)));
    call()
}

/// Notes a place, where the caller is not the one that is meant.
#[inline]
pub(crate) fn at(place: &'static Location<'static>) {
    HERE.with(|here| {
        if here.get().is_null() {
            register(&RustLines);
            set_spelling(remedies::spelled);
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
