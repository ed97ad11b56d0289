//! `repr` of tensors, and `set_printoptions`.

use parking_lot::Mutex;
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::{PyTuple, PyType};
use retrograd_engine::storage::reclaim::reading;
use retrograd_engine::tensor::format::{
    PrintOptions, Values, add_suffixes, format_tensor, size_suffix, sizes_suffix, visit_printed,
};
use retrograd_engine::tensor::sparse::Elements;
use retrograd_engine::tensor::{FromScalar, default_dtype};
use retrograd_engine::{DType, Scalar, Tensor};

use crate::wrap::PyTensor;

const DEFAULT: PrintOptions =
    PrintOptions { precision: 4, threshold: 1000, edgeitems: 3, linewidth: 80, sci_mode: None };

static OPTIONS: Mutex<PrintOptions> = Mutex::new(DEFAULT);

/// Set how tensors are printed.
///
/// Args: `precision` digits after the point; `threshold` elements beyond which a tensor is summarised; `edgeitems` kept
/// at each end of an axis in a summary; `linewidth` columns; `profile` "default", "short" or "full", applied first;
/// `sci_mode` scientific notation on or off, or decided from the values if None.
/// Raises: ValueError for a negative threshold and an unknown profile.
///
/// >>> rg.set_printoptions(precision=2)
/// >>> rg.tensor([3.14159])
/// tensor([3.14])
/// >>> rg.set_printoptions(profile="default")
#[pyfunction]
#[pyo3(signature = (precision = None, threshold = None, edgeitems = None, linewidth = None, profile = None, sci_mode = None))]
fn set_printoptions(
    precision: Option<usize>,
    threshold: Option<f64>,
    edgeitems: Option<usize>,
    linewidth: Option<usize>,
    profile: Option<&str>,
    sci_mode: Option<bool>,
) -> PyResult<()> {
    let mut options = match profile {
        None => OPTIONS.lock().clone(),
        Some("default") => DEFAULT,
        Some("short") => PrintOptions { precision: 2, edgeitems: 2, ..DEFAULT },
        Some("full") => PrintOptions { threshold: usize::MAX, ..DEFAULT },
        Some(other) => {
            return Err(PyValueError::new_err(format!(
                "set_printoptions: no profile '{other}': it is 'default', 'short' or 'full'"
            )));
        }
    };
    if let Some(n) = threshold {
        if n.is_nan() || n < 0.0 {
            return Err(PyValueError::new_err(format!("set_printoptions: threshold must not be negative, got {n}")));
        }
        options.threshold = n as usize; // saturates: infinity is "never"
    }
    options.precision = precision.unwrap_or(options.precision);
    options.edgeitems = edgeitems.unwrap_or(options.edgeitems);
    options.linewidth = linewidth.unwrap_or(options.linewidth);
    options.sci_mode = sci_mode;
    *OPTIONS.lock() = options;
    Ok(())
}

/// The elements that are printed, as one of the kinds that printing knows.
enum Gathered {
    Bool(Vec<bool>),
    Int(Vec<i128>),
    Float(Vec<f64>),
    Complex(Vec<(f64, f64)>),
}

impl Gathered {
    fn of(t: &Tensor, options: &PrintOptions) -> Self {
        let all = printed(t, options).into_iter();
        match t.dtype() {
            DType::Bool => Self::Bool(all.map(|s| !s.is_zero()).collect()),
            d if d.is_integral() => {
                let int = |s| if let Scalar::UInt(i) = s { i.into() } else { s.as_i64().into() };
                Self::Int(all.map(int).collect())
            }
            d if d.is_complex() => {
                let parts = |s| if let Scalar::Complex(re, im) = s { (re, im) } else { (s.as_f64(), 0.0) };
                Self::Complex(all.map(parts).collect())
            }
            _ => Self::Float(all.map(Scalar::as_f64).collect()),
        }
    }
    fn values(&self) -> Values<'_> {
        match self {
            Self::Bool(v) => Values::Bool(v),
            Self::Int(v) => Values::Int(v),
            Self::Float(v) => Values::Float(v),
            Self::Complex(v) => Values::Complex(v),
        }
    }
}

/// The elements that are shown, in order.
fn printed(t: &Tensor, options: &PrintOptions) -> Vec<Scalar> {
    let mut out = Vec::new();
    let reading = reading();
    let bits = t.lazy_bits();
    let strides = t.strides();
    retrograd_engine::match_dtype!(any, t.dtype(), T => {
        let start = t.data_ptr(&reading).cast::<T>();
        visit_printed(t.sizes(), options, |index| {
            let offset: isize = index.iter().zip(strides).map(|(&i, &s)| i as isize * s).sum();
            // SAFETY: (1) The index is inside the sizes, so the element is in the storage (S1, S3) and aligned (S2).
            // (2) It is read by value through a raw pointer (S4).
            out.push(bits.of(unsafe { start.offset(offset).read() }.to_scalar()));
        });
    });
    out
}

/// The text between `prefix` and the closing parenthesis, both included.
fn text(t: &Tensor, prefix: &str) -> String {
    let _reading = reading();
    if retrograd_engine::compile::is_recording() {
        retrograd_engine::compile::read("repr", t);
    }
    if let Some(Ok((value, dim, level))) = t.batch_parts() {
        let value = text(&value, "tensor(").replace('\n', "\n    ");
        return format!("BatchedTensor(lvl={level}, bdim={dim}, value=\n    {value}\n)");
    }
    if let Some(elements) = t.elements() {
        return sparse_text(t, &elements, prefix);
    }
    let options = OPTIONS.lock().clone();
    let mut suffixes: Vec<String> = size_suffix(t.sizes(), &options).into_iter().collect();
    let (dtype, default) = (t.dtype(), default_dtype());
    // The brackets of an empty tensor have no values that would distinguish an int64 from a float.
    let told = dtype == default
        || t.numel() > 0 && (matches!(dtype, DType::Int64 | DType::Bool) || dtype == Scalar::Complex(0.0, 0.0).dtype());
    if !told {
        suffixes.push(format!("dtype=retrograd.{}", dtype.name()));
    }
    suffixes.extend(derivative_suffixes(t));
    let values = Gathered::of(t, &options);
    format_tensor(prefix, t.sizes(), &values.values(), &options, &suffixes)
}

/// What says how a tensor is differentiated.
fn derivative_suffixes(t: &Tensor) -> Vec<String> {
    let mut suffixes = Vec::new();
    match t.grad_fn() {
        Ok(Some(edge)) => {
            let name = edge.node.name();
            suffixes.push(format!("grad_fn=<{}>", name.rsplit("::").next().unwrap_or(&name)));
        }
        Ok(None) if t.requires_grad() => suffixes.push("requires_grad=True".into()),
        Ok(None) => {}
        Err(_) => suffixes.push("grad_fn=<Invalid>".into()),
    }
    if let Ok(Some(tangent)) = t.tangent() {
        suffixes.push(format!("tangent={}", text(&tangent, "tensor(")));
    }
    suffixes
}

/// The text of a sparse tensor: its parts one below the other.
fn sparse_text(t: &Tensor, elements: &Elements, prefix: &str) -> String {
    let options = OPTIONS.lock().clone();
    let indent = " ".repeat(prefix.len());
    let parts: Vec<(&str, &Tensor)> = match elements {
        Elements::Coo(coo) => vec![("indices", &coo.indices), ("values", &coo.values)],
        Elements::Csr(csr) => {
            vec![("crow_indices", &csr.crow), ("col_indices", &csr.col), ("values", &csr.values)]
        }
    };
    let one = |(i, (name, part)): (usize, (&str, &Tensor))| {
        let before = if i == 0 { prefix } else { &indent };
        let size = (part.numel() == 0).then(|| sizes_suffix(part.sizes()));
        let values = Gathered::of(part, &options);
        format_tensor(&format!("{before}{name}=tensor("), part.sizes(), &values.values(), &options, size.as_slice())
    };
    let parts: Vec<String> = parts.into_iter().enumerate().map(one).collect();
    let mut body = parts.join(",\n");
    let dtype = t.dtype();
    let mut suffixes = vec![sizes_suffix(t.sizes()), format!("nnz={}", elements.nnz())];
    let usual = [default_dtype(), DType::Int64, DType::Bool, Scalar::Complex(0.0, 0.0).dtype()];
    if !usual.contains(&dtype) {
        suffixes.push(format!("dtype=retrograd.{}", dtype.name()));
    }
    suffixes.push(format!("layout=retrograd.{}", t.layout().name()));
    suffixes.extend(derivative_suffixes(t));
    add_suffixes(&mut body, indent.len(), options.linewidth, &suffixes, matches!(elements, Elements::Coo(_)));
    body
}

/// How an object's class wants to be printed.
#[derive(PartialEq, Eq)]
enum Style {
    Tensor,
    Parameter,
    /// A subclass of either, by its name.
    Named {
        name: String,
        parameter: bool,
    },
}

fn style(slf: &Bound<'_, PyTensor>) -> PyResult<Style> {
    if crate::class::is_exact(slf.as_any()) {
        return Ok(Style::Tensor);
    }
    let is_parameter = |class: &Bound<'_, PyType>| {
        class.name().is_ok_and(|n| n == "Parameter")
            && class.module().is_ok_and(|m| m.to_string().starts_with("retrograd"))
    };
    let class = slf.get_type();
    if is_parameter(&class) {
        return Ok(Style::Parameter);
    }
    let mro: Bound<'_, PyTuple> = class.mro();
    let parameter = mro.iter().any(|c| c.cast::<PyType>().is_ok_and(&is_parameter));
    Ok(Style::Named { name: class.name()?.to_string(), parameter })
}

/// `repr(t)`: the values, then what they do not show: size, dtype, grad_fn or requires_grad, tangent.
pub fn repr(slf: &Bound<'_, PyTensor>) -> PyResult<String> {
    let t = &slf.get().0;
    Ok(match style(slf)? {
        Style::Tensor => text(t, "tensor("),
        Style::Parameter => format!("Parameter containing:\n{}", text(t, "tensor(")),
        Style::Named { name, parameter: false } => {
            let text = text(t, &format!("{name}("));
            // Made a parameter, it stays of its class, and has this mark.
            let marked = slf.getattr(intern!(slf.py(), "_is_param")).and_then(|mark| mark.is_truthy());
            if marked.unwrap_or(false) { format!("Parameter({text})") } else { text }
        }
        Style::Named { name, parameter: true } => {
            format!("Parameter containing:\nParameter({})", text(t, &format!("{name}(")))
        }
    })
}

/// `format(t, spec)`: a 0-dim tensor is formatted as its number.
pub fn format<'py>(slf: &Bound<'py, PyTensor>, spec: &str) -> PyResult<Bound<'py, PyAny>> {
    let t = &slf.get().0;
    if t.ndim() == 0 && crate::class::is_exact(slf.as_any()) {
        return crate::export::item(slf.py(), t)?.call_method1("__format__", (spec,));
    }
    if !spec.is_empty() {
        return Err(PyTypeError::new_err(format!(
            "unsupported format string passed to {}.__format__",
            slf.get_type().name()?
        )));
    }
    Ok(slf.str()?.into_any())
}

pub fn register(m: &Bound<'_, PyModule>) -> PyResult<()> {
    m.add_function(wrap_pyfunction!(set_printoptions, m)?)
}
