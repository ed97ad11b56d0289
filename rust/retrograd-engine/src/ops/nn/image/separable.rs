//! Linear maps that treat each of the last axes separately, by a table: padding with an image's own elements, and
//! resampling.

use std::sync::Arc;

use crate::autograd::Grads;
use crate::autograd::apply::apply1;
use crate::autograd::primitive::{Batch, ComplexRule, Halves, Outs, Primitive, Save, Tangents, Vjp, one, out};
use crate::error::{Error, Result};
use crate::kernels::resample::{ResampleTable, Sources, along};
use crate::ops::Value;
use crate::tensor::complex::by_parts;
use crate::tensor::copy;
use crate::tensor::layout::{checked_numel, numel};
use crate::tensor::{DType, Dims, Dtypes, Element, MemoryFormat, Strides, Tensor};

/// What the node of an op shows.
#[derive(Debug)]
pub(super) struct Face {
    pub node: &'static str,
    /// The node of the reverse.
    pub back: &'static str,
    /// What torch calls the loop.
    pub kernel: &'static str,
    pub params: Vec<(&'static str, Value)>,
}

/// Applies a table along each of the last axes; `None` leaves an axis alone. Reverse: the transposed tables. With
/// `SAVES` the node keeps the operand, which no rule uses, since torch's does.
#[derive(Clone, Debug)]
pub(super) struct Separable<const SAVES: bool> {
    pub tables: Arc<[Option<ResampleTable>]>,
    pub face: Arc<Face>,
    /// Whether this is the reverse of the op that the face describes.
    pub reversed: bool,
    /// Whether the result is row-major whatever the operand is; else images with channels last stay so.
    pub plain: bool,
}

impl<const SAVES: bool> Separable<SAVES> {
    pub fn new(tables: Vec<Option<ResampleTable>>, face: Face) -> Self {
        Self { tables: tables.into(), face: Arc::new(face), reversed: false, plain: false }
    }
    fn transposed(&self) -> Self {
        let tables = self.tables.iter().map(|t| t.as_ref().map(ResampleTable::transposed)).collect();
        Self { tables, face: self.face.clone(), reversed: !self.reversed, plain: self.plain }
    }
}

/// What a [`Separable`] does, whatever it saves: compiled once.
struct Maps<'a> {
    tables: &'a [Option<ResampleTable>],
    plain: bool,
}

/// The name of the op in errors.
const NAME: &str = "resample";

impl Maps<'_> {
    fn apply(&self, x: &Tensor) -> Result<Tensor> {
        let dtype = x.dtype();
        match dtype {
            DType::Float32 => self.run::<f32>(x),
            DType::Float64 => self.run::<f64>(x),
            DType::Complex64 | DType::Complex128 => by_parts(x, &|x| self.apply(x)),
            // Weights of integers are ones.
            _ => copy::cast(&self.run::<i64>(&copy::cast(x, DType::Int64)?)?, dtype),
        }
    }
    /// The axes in the order that keeps intermediate results small, above all for the last one, along which elements
    /// are gathered one by one: shrinking ones first and in their order, then the others from the last on.
    fn order(&self, ndim: usize) -> Vec<(usize, &ResampleTable)> {
        let first = ndim - self.tables.len();
        let tables = self.tables.iter().enumerate().filter_map(|(i, t)| Some((first + i, t.as_ref()?)));
        let (mut order, mut growing): (Vec<_>, Vec<_>) = tables.partition(|(_, t)| t.to() < t.from());
        growing.reverse();
        order.append(&mut growing);
        order
    }
    fn run<T: Element + crate::kernels::real::Ring>(&self, x: &Tensor) -> Result<Tensor> {
        let order = self.order(x.ndim());
        if order.is_empty() {
            return copy::copy(x);
        }
        if !self.plain
            && let Some(axes) = MemoryFormat::suggested(x.sizes(), x.strides()).axes()
        {
            // The axes in memory order, of the operand and of the result.
            let turned: Dims = axes.iter().rev().copied().collect();
            let y = Self::run_in_order::<T>(
                x.permuted(&turned)?,
                order.into_iter().map(|(axis, table)| (place_in(&turned, axis), table)),
            )?;
            let back: Dims = (0..x.ndim()).map(|axis| place_in(&turned, axis)).collect();
            return y.permuted(&back);
        }
        if let Some(y) = self.run_copies::<T>(x)? {
            return Ok(y);
        }
        Self::run_in_order::<T>(x.clone(), order.into_iter())
    }
    /// All axes at once, where each line of the result is made of one line of the operand: `None` where the tables of
    /// other axes than the last sum.
    fn run_copies<T: Element + crate::kernels::real::Ring>(&self, x: &Tensor) -> Result<Option<Tensor>> {
        let [axes @ .., Some(last)] = self.tables else { return Ok(None) };
        let first = x.ndim() - self.tables.len();
        let fits = |(table, &n): (&Option<ResampleTable>, &usize)| table.as_ref().is_some_and(|t| t.from() == n);
        if !self.tables.iter().zip(&x.sizes()[first..]).all(fits) {
            return Ok(None);
        }
        let (mut places, mut span) = (vec![0], 1);
        for table in axes.iter().flatten() {
            let Some(copies) = table.copies() else { return Ok(None) };
            places = places.iter().flat_map(|&at| copies.iter().map(move |&i| at * table.from() + i)).collect();
            span *= table.from();
        }
        let mut sizes = Dims::from_slice(x.sizes());
        for (size, table) in sizes[first..].iter_mut().zip(self.tables.iter().flatten()) {
            *size = table.to();
        }
        checked_numel(NAME, &sizes)?;
        let (x, lines) = (copy::contiguous(x)?, numel(&sizes[..x.ndim() - 1]));
        let sources = Sources { places: &places, span };
        Tensor::build::<T>(&sizes, |y| along(last, sources, x.as_slice::<T>().unwrap_or(&[]), y, lines, 1)).map(Some)
    }
    fn run_in_order<'a, T: Element + crate::kernels::real::Ring>(
        x: Tensor,
        order: impl Iterator<Item = (usize, &'a ResampleTable)>,
    ) -> Result<Tensor> {
        let mut x = copy::contiguous(&x)?;
        for (axis, table) in order {
            let mut sizes = Dims::from_slice(x.sizes());
            if sizes[axis] != table.from() {
                return Err(Error::shape(NAME, format!("axis {axis} of {x:?} should have size {}", table.from())));
            }
            sizes[axis] = table.to();
            checked_numel(NAME, &sizes)?;
            let (outer, inner) = (numel(&sizes[..axis]), numel(&sizes[axis + 1..]));
            x = Tensor::build::<T>(&sizes, |y| {
                along(table, Sources::SAME, x.as_slice::<T>().unwrap_or(&[]), y, outer, inner)
            })?;
        }
        Ok(x)
    }
}

/// Where an axis stands in an order of axes.
fn place_in(order: &[usize], axis: usize) -> usize {
    order.iter().position(|&a| a == axis).expect("an order names every axis")
}

impl Tensor {
    /// The axes in another order, over the same memory, not recorded.
    fn permuted(&self, axes: &[usize]) -> Result<Tensor> {
        let sizes: Dims = axes.iter().map(|&a| self.sizes()[a]).collect();
        let strides: Strides = axes.iter().map(|&a| self.strides()[a]).collect();
        Tensor::from_parts(self.storage(), self.dtype(), &sizes, &strides, self.storage_offset())
    }
}

impl<const SAVES: bool> Primitive for Separable<SAVES> {
    const NAME: &'static str = NAME;
    const SAVE: &'static [Save] = if SAVES { &[Save::input(0, "self")] } else { &[] };
    const DTYPES: Dtypes = Dtypes::ALL;
    const HALVES: Halves = Halves::InFloat32;
    const COMPLEX: ComplexRule = ComplexRule::RealLinear;
    // The axes count from the end, and any may stand in front.
    const BATCH: Batch<Self> = Batch::Lift(|op, _, _| Ok(op.clone()));
    const JVP: Tangents<Self> = Tangents::Linear(0b1);
    fn node(&self) -> &'static str {
        if self.reversed { self.face.back } else { self.face.node }
    }
    fn kernel_name(&self) -> &'static str {
        self.face.kernel
    }
    fn forward(&self, xs: &[&Tensor]) -> Result<Outs> {
        Maps { tables: &self.tables, plain: self.plain }.apply(xs[0]).map(out)
    }
    fn vjp(&self, cx: &Vjp) -> Result<Grads> {
        // The reverse needs nothing of the operand.
        let Self { tables, face, reversed, plain } = self.transposed();
        let back = Separable::<false> { tables, face, reversed, plain };
        apply1(back, &[cx.g()]).map(one)
    }
    fn params(&self) -> Vec<(&'static str, Value)> {
        if self.reversed { Vec::new() } else { self.face.params.clone() }
    }
}
