//! Tensors as text.

use std::fmt;

use crate::engine::ops::index::{IndexItem, get};
use crate::engine::tensor::default_dtype;
use crate::engine::tensor::format::{
    PrintOptions, Values, add_suffixes, format_tensor, size_suffix, sizes_suffix, visit_printed,
};
use crate::engine::tensor::sparse::Elements;
use crate::engine::{self, DType, Result, Scalar};
use crate::{Complex, Tensor};

/// How many values `{:?}` shows.
const FIRST: usize = 6;

/// As Python prints the tensor. A precision, as in `{:.2}`, is the number of digits after the point.
///
/// ```
/// use retrograd::tensor;
///
/// let x = tensor![[1f32, 2.0], [3.0, 4.25]];
/// assert_eq!(x.to_string(), "tensor([[1.0000, 2.0000],\n        [3.0000, 4.2500]])");
/// assert_eq!(format!("{:.1}", tensor![0.25f32].requires_grad_(true)), "tensor([0.2], requires_grad=True)");
/// ```
impl fmt::Display for Tensor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let default = PrintOptions::default();
        let options = PrintOptions { precision: f.precision().unwrap_or(default.precision), ..default };
        match text(&self.0, &options) {
            Ok(text) => f.write_str(&text),
            Err(_) => fmt::Debug::fmt(&self.0, f),
        }
    }
}

/// Shape, dtype and the first values, in one line.
///
/// ```
/// assert_eq!(format!("{:?}", retrograd::tensor![[1f32, 2.5]]), "Tensor([1, 2], float32, [1.0, 2.5])");
/// ```
impl fmt::Debug for Tensor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Tensor({:?}, {}", self.shape(), self.dtype().name())?;
        if self.requires_grad() {
            f.write_str(", requires_grad")?;
        }
        if let Ok(values) = first(&self.0) {
            f.write_str(", [")?;
            for (i, value) in values.into_iter().enumerate() {
                write!(f, "{}{}", if i > 0 { ", " } else { "" }, Value(value, self.dtype()))?;
            }
            f.write_str(if self.numel() > FIRST { ", ..]" } else { "]" })?;
        }
        f.write_str(")")
    }
}

/// A number with the digits that its dtype has.
struct Value(Scalar, DType);

impl fmt::Display for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let double = matches!(self.1, DType::Float64 | DType::Complex128);
        match self.0 {
            Scalar::Bool(b) => b.fmt(f),
            Scalar::Int(i) => i.fmt(f),
            Scalar::UInt(i) => i.fmt(f),
            Scalar::Float(x) if double => fmt::Debug::fmt(&x, f),
            Scalar::Float(x) => fmt::Debug::fmt(&(x as f32), f),
            Scalar::Complex(x, y) if double => write!(f, "{x}{y:+}j"),
            Scalar::Complex(x, y) => write!(f, "{}{:+}j", x as f32, y as f32),
        }
    }
}

/// The first elements in row-major order.
fn first(t: &engine::Tensor) -> Result<Vec<Scalar>> {
    let t = t.detach();
    let last = t.numel().min(FIRST);
    (0..last)
        .map(|mut at| {
            let mut index: Vec<IndexItem> = Vec::new();
            for &n in t.sizes().iter().rev() {
                index.push(IndexItem::Int((at % n) as i64));
                at /= n;
            }
            index.reverse();
            get(&t, &index)?.item()
        })
        .collect()
}

/// The elements that are printed, as one of the kinds that printing knows.
enum Gathered {
    Bool(Vec<bool>),
    Int(Vec<i128>),
    Float(Vec<f64>),
    Complex(Vec<(f64, f64)>),
}

impl Gathered {
    fn of(t: &engine::Tensor, options: &PrintOptions) -> Result<Self> {
        let t = t.detach();
        // What is not summarised is read at once.
        if t.numel() <= options.threshold && options.edgeitems > 0 {
            return Ok(match t.dtype() {
                DType::Bool => Self::Bool(t.to_vec()?),
                DType::UInt64 => Self::Int(t.to_vec::<u64>()?.into_iter().map(i128::from).collect()),
                d if d.is_integral() => Self::Int(t.to_vec::<i64>()?.into_iter().map(i128::from).collect()),
                d if d.is_complex() => {
                    Self::Complex(t.to_vec::<Complex<f64>>()?.into_iter().map(|z| (z.re, z.im)).collect())
                }
                _ => Self::Float(t.to_vec()?),
            });
        }
        let mut read = Vec::new();
        visit_printed(t.sizes(), options, |index| {
            let index: Vec<_> = index.iter().map(|&i| IndexItem::Int(i as i64)).collect();
            read.push(get(&t, &index).and_then(|element| element.item()));
        });
        let read: Vec<Scalar> = read.into_iter().collect::<Result<_>>()?;
        Ok(match t.dtype() {
            DType::Bool => Self::Bool(read.into_iter().map(|s| !s.is_zero()).collect()),
            d if d.is_integral() => Self::Int(
                read.into_iter().map(|s| if let Scalar::UInt(i) = s { i.into() } else { s.as_i64().into() }).collect(),
            ),
            d if d.is_complex() => Self::Complex(
                read.into_iter()
                    .map(|s| if let Scalar::Complex(x, y) = s { (x, y) } else { (s.as_f64(), 0.0) })
                    .collect(),
            ),
            _ => Self::Float(read.into_iter().map(Scalar::as_f64).collect()),
        })
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

fn text(t: &engine::Tensor, options: &PrintOptions) -> Result<String> {
    if let Some(parts) = t.batch_parts() {
        let (value, dim, level) = parts?;
        let value = text(&value, options)?.replace('\n', "\n    ");
        return Ok(format!("BatchedTensor(lvl={level}, bdim={dim}, value=\n    {value}\n)"));
    }
    if let Some(elements) = t.elements() {
        return sparse_text(t, &elements, options);
    }
    let mut suffixes: Vec<String> = size_suffix(t.sizes(), options).into_iter().collect();
    let dtype = t.dtype();
    // The brackets of an empty tensor have no values that would distinguish an int64 from a float.
    if dtype != default_dtype() && (t.numel() == 0 || !is_told_by_values(dtype)) {
        suffixes.push(format!("dtype=retrograd.{}", dtype.name()));
    }
    suffixes.extend(derivative_suffixes(t, options)?);
    Ok(format_tensor("tensor(", t.sizes(), &Gathered::of(t, options)?.values(), options, &suffixes))
}

/// Whether printed values say that they have this dtype, and no other one of their kind.
fn is_told_by_values(dtype: DType) -> bool {
    matches!(dtype, DType::Int64 | DType::Bool) || dtype == Scalar::Complex(0.0, 0.0).dtype()
}

/// What says how a tensor is differentiated.
fn derivative_suffixes(t: &engine::Tensor, options: &PrintOptions) -> Result<Vec<String>> {
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
    if let Some(tangent) = t.tangent()? {
        suffixes.push(format!("tangent={}", text(&tangent, options)?));
    }
    Ok(suffixes)
}

/// The text of a sparse tensor: its parts one below the other.
fn sparse_text(t: &engine::Tensor, elements: &Elements, options: &PrintOptions) -> Result<String> {
    let (prefix, indent) = ("tensor(", " ".repeat("tensor(".len()));
    let parts: Vec<(&str, &engine::Tensor)> = match elements {
        Elements::Coo(coo) => vec![("indices", &coo.indices), ("values", &coo.values)],
        Elements::Csr(csr) => vec![("crow_indices", &csr.crow), ("col_indices", &csr.col), ("values", &csr.values)],
    };
    let one = |(i, (name, part)): (usize, (&str, &engine::Tensor))| {
        let before = if i == 0 { prefix } else { &indent };
        let size = (part.numel() == 0).then(|| sizes_suffix(part.sizes()));
        let values = Gathered::of(part, options)?;
        let before = format!("{before}{name}=tensor(");
        Ok(format_tensor(&before, part.sizes(), &values.values(), options, size.as_slice()))
    };
    let mut body = parts.into_iter().enumerate().map(one).collect::<Result<Vec<String>>>()?.join(",\n");
    let mut suffixes = vec![sizes_suffix(t.sizes()), format!("nnz={}", elements.nnz())];
    if t.dtype() != default_dtype() && !is_told_by_values(t.dtype()) {
        suffixes.push(format!("dtype=retrograd.{}", t.dtype().name()));
    }
    suffixes.push(format!("layout=retrograd.{}", t.layout().name()));
    suffixes.extend(derivative_suffixes(t, options)?);
    add_suffixes(&mut body, indent.len(), options.linewidth, &suffixes, matches!(elements, Elements::Coo(_)));
    Ok(body)
}
