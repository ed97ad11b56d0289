//! The extension module `retrograd._core`: the one crate that knows both Python and the engine.

mod allocator;
mod anomaly;
mod anythread;
mod autocast;
mod autograd;
mod buffer;
mod call;
mod call_site;
mod class;
mod compile;
mod construct;
mod convert;
mod dlpack;
mod dtype;
mod dual;
mod errors;
mod export;
mod format;
mod function;
mod generator;
mod hook;
mod index;
mod inspect;
mod node;
mod object_slot;
mod optim;
mod overrides;
mod print;
mod profiler;
mod saved;
mod scope;
mod shared;
mod signature;
mod size;
mod tensor;
mod threads;
mod transforms;
mod wrap;

use pyo3::exceptions::PyImportError;
use pyo3::ffi;
use pyo3::prelude::*;
use retrograd_engine::kernels::memory;

/// Registers the classes that are written in Python and made by the core.
#[pyfunction]
fn _register_classes(size: &Bound<'_, PyAny>) -> PyResult<()> {
    size::set_class(size)
}

/// Bytes in tensors' memory, and bytes that the pool has besides; exact while no other thread works with tensors.
#[pyfunction]
fn _memory_stats() -> (usize, usize) {
    let stats = memory::memory_stats();
    (stats.live_bytes, stats.cached_bytes + stats.lent_bytes)
}

/// The most bytes there were in tensors' memory, bytes kept for reuse, bytes by which blocks in use are larger than
/// they need to be, how often a block was reused, and how often one was taken from the system.
#[pyfunction]
fn _memory_counts() -> (usize, usize, usize, u64, u64) {
    let stats = memory::memory_stats();
    (stats.peak_bytes, stats.cached_bytes, stats.lent_bytes, stats.hits, stats.misses)
}

/// Counts the most there was in tensors' memory anew.
#[pyfunction]
fn _reset_peak_memory() {
    memory::reset_peak();
}

/// Gives the memory that is kept for reuse back to the system.
#[pyfunction]
fn _empty_cache(py: Python<'_>) {
    py.detach(memory::empty_cache);
}

/// Sets how many bytes may be kept for reuse, and returns how many might.
#[pyfunction]
fn _set_cache_limit(py: Python<'_>, bytes: usize) -> usize {
    py.detach(|| memory::set_cache_limit(bytes))
}

/// Sets how many threads one op may use.
#[pyfunction]
fn _set_num_threads(n: usize) {
    retrograd_engine::kernels::parallel::set_num_threads(n);
}

/// How many threads one op may use.
#[pyfunction]
fn _num_threads() -> usize {
    retrograd_engine::kernels::parallel::num_threads()
}

/// Only the main interpreter can have this module: objects, classes and the interpreter's lock are found process-wide.
fn demand_main_interpreter() -> PyResult<()> {
    // SAFETY: the interpreter is held, so there is a current one.
    let id = unsafe { ffi::PyInterpreterState_GetID(ffi::PyInterpreterState_Get()) };
    if id == 0 { Ok(()) } else { Err(PyImportError::new_err("retrograd does not support sub-interpreters")) }
}

/// Whether memory that nobody initialised is filled.
#[pyfunction]
fn _fill_uninitialised(on: bool) {
    retrograd_engine::ops::create::fill_uninitialised(on);
}

// Objects need no lock of the interpreter (see `object_slot`), and an op sees one layout of a tensor from its beginning
// to its end (R3 in `storage::reclaim`).
#[pymodule(gil_used = false)]
fn _core(m: &Bound<'_, PyModule>) -> PyResult<()> {
    demand_main_interpreter()?;
    retrograd_engine::warn::set_sink(errors::warn);
    retrograd_engine::interrupt::set_host(errors::interrupted);
    allocator::register(m)?;
    tensor::register(m)?;
    dtype::register(m)?;
    size::register(m)?;
    format::register(m)?;
    generator::register(m)?;
    node::register(m)?;
    hook::register(m)?;
    autocast::register(m)?;
    autograd::register(m)?;
    function::register(m)?;
    dual::register(m)?;
    scope::register(m)?;
    profiler::register(m)?;
    call_site::register(m)?;
    threads::register();
    anomaly::register(m)?;
    saved::register(m)?;
    inspect::register(m)?;
    transforms::register(m)?;
    construct::register(m)?;
    export::register(m)?;
    dlpack::register(m)?;
    shared::register(m)?;
    print::register(m)?;
    compile::register(m)?;
    optim::register(m)?;
    overrides::register(m)?;
    call::register(m)?;
    m.add("__version__", env!("CARGO_PKG_VERSION"))?;
    m.add_function(wrap_pyfunction!(_memory_stats, m)?)?;
    m.add_function(wrap_pyfunction!(_memory_counts, m)?)?;
    m.add_function(wrap_pyfunction!(_reset_peak_memory, m)?)?;
    m.add_function(wrap_pyfunction!(_empty_cache, m)?)?;
    m.add_function(wrap_pyfunction!(_set_cache_limit, m)?)?;
    m.add_function(wrap_pyfunction!(_set_num_threads, m)?)?;
    m.add_function(wrap_pyfunction!(_num_threads, m)?)?;
    m.add_function(wrap_pyfunction!(_fill_uninitialised, m)?)?;
    m.add_function(wrap_pyfunction!(_register_classes, m)?)?;
    // What starts with an underscore is for the package alone.
    let public: Vec<String> = m.index()?.extract::<Vec<String>>()?;
    m.setattr("__all__", public.into_iter().filter(|name| !name.starts_with('_')).collect::<Vec<_>>())
}
