//! `retrograd.Generator`.

use pyo3::prelude::*;
use retrograd_engine::Generator;
use retrograd_engine::generator::{DEFAULT_SEED, default_generator};

use crate::errors::to_py;

/// A source of random numbers, equal to torch's CPU generator from the same seed.
///
/// >>> g = rg.Generator().manual_seed(7)
/// >>> g.initial_seed()
/// 7
/// >>> state = g.get_state()
/// >>> first = rg.rand(2, generator=g)
/// >>> g.set_state(state) is g
/// True
/// >>> rg.equal(rg.rand(2, generator=g), first)
/// True
#[pyclass(name = "Generator", module = "retrograd", frozen, skip_from_py_object)]
#[derive(Clone)]
pub struct PyGenerator(pub Generator);

#[pymethods]
impl PyGenerator {
    #[new]
    #[pyo3(signature = (device = None))]
    fn new(device: Option<&Bound<'_, PyAny>>) -> PyResult<Self> {
        crate::construct::device::check(device)?;
        Ok(Self(Generator::new(DEFAULT_SEED)))
    }
    /// Restart from a seed. Returns the generator.
    fn manual_seed<'py>(slf: Bound<'py, Self>, seed: &Bound<'py, PyAny>) -> PyResult<Bound<'py, Self>> {
        let seed = seed_of(seed)?;
        slf.get().0.with(|g| g.seed(seed));
        Ok(slf)
    }
    /// Restart from a seed that the operating system chooses. Returns the seed, of 64 bits.
    ///
    /// >>> generator = rg.Generator()
    /// >>> generator.seed() == generator.initial_seed()
    /// True
    fn seed(&self, py: Python<'_>) -> PyResult<u64> {
        let chosen: [u8; 8] = py.import("os")?.call_method1("urandom", (8,))?.extract()?;
        let seed = u64::from_le_bytes(chosen);
        self.0.with(|g| g.seed(seed));
        Ok(seed)
    }
    /// Where its numbers are made: the CPU.
    #[getter]
    fn device<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        crate::construct::cpu(py)
    }
    /// Another generator that continues from the same state.
    ///
    /// >>> generator = rg.Generator().manual_seed(3)
    /// >>> other = generator.clone_state()
    /// >>> rg.equal(rg.rand(2, generator=generator), rg.rand(2, generator=other))
    /// True
    fn clone_state(&self) -> PyResult<Self> {
        let twin = Generator::new(DEFAULT_SEED);
        let state = self.0.read(|g| g.state());
        twin.with(|g| g.set_state(&state)).map_err(pyo3::exceptions::PyRuntimeError::new_err)?;
        Ok(Self(twin))
    }
    /// The seed of the last restart.
    fn initial_seed(&self) -> u64 {
        self.0.read(|g| g.initial_seed())
    }
    /// The state as a uint8 tensor, in torch's layout.
    fn get_state<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let state = self.0.read(|g| g.state());
        crate::wrap::wrap(py, retrograd_engine::Tensor::from_slice(&state, &[state.len()]).map_err(to_py)?)
    }
    /// Restore a state; refused, and nothing changed, if it is not one. Returns the generator.
    #[pyo3(signature = (new_state, /))]
    fn set_state<'py>(slf: Bound<'py, Self>, new_state: &Bound<'_, PyAny>) -> PyResult<Bound<'py, Self>> {
        slf.get().restore(new_state)?;
        Ok(slf)
    }
    /// For copies and pickles: another generator that continues from the same state.
    fn __reduce__<'py>(slf: &Bound<'py, Self>) -> PyResult<(Bound<'py, PyAny>, (), Bound<'py, PyAny>)> {
        Ok((slf.get_type().into_any(), (), slf.get().get_state(slf.py())?))
    }
    fn __setstate__(&self, state: &Bound<'_, PyAny>) -> PyResult<()> {
        self.restore(state)
    }
}

impl PyGenerator {
    fn restore(&self, new_state: &Bound<'_, PyAny>) -> PyResult<()> {
        let refuse = |why: String| Err(pyo3::exceptions::PyTypeError::new_err(why));
        let Some(t) = crate::wrap::unwrap(new_state) else {
            return refuse(format!("expected a retrograd.ByteTensor, but got {}", crate::call::type_name(new_state)));
        };
        if t.dtype() != retrograd_engine::DType::UInt8 {
            return refuse(format!("RNG state must be a retrograd.ByteTensor, got {}", t.dtype().name()));
        }
        let bytes = t.to_vec::<u8>().map_err(to_py)?;
        self.0.with(|g| g.set_state(&bytes)).map_err(pyo3::exceptions::PyRuntimeError::new_err)
    }
}

pub fn extract(v: &Bound<'_, PyAny>) -> Option<Generator> {
    v.cast::<PyGenerator>().ok().map(|g| g.get().0.clone())
}

/// A seed: any integer that fits 64 bits, negative ones as two's complement.
pub fn seed_of(v: &Bound<'_, PyAny>) -> PyResult<u64> {
    v.extract::<u64>().or_else(|_| v.extract::<i64>().map(|s| s as u64))
}

/// Seed the default generator. Returns it.
///
/// >>> rg.manual_seed(0) is rg.default_generator or rg.initial_seed()
/// 0
#[pyfunction]
fn manual_seed(seed: &Bound<'_, PyAny>) -> PyResult<PyGenerator> {
    retrograd_engine::generator::manual_seed(seed_of(seed)?);
    Ok(PyGenerator(default_generator().clone()))
}

pub fn register(m: &Bound<'_, PyModule>) -> PyResult<()> {
    m.add_class::<PyGenerator>()?;
    m.add("default_generator", PyGenerator(default_generator().clone()))?;
    m.add_function(wrap_pyfunction!(manual_seed, m)?)
}
