//! Joins of tensors that first get the same number of axes, and grids: hstack and related ops, atleast_1d and related
//! ops, block_diag, meshgrid.

use retrograd_macros::op;

use super::{cat, reshape_to};
use crate::autograd::Grads;
use crate::autograd::apply::apply1;
use crate::autograd::primitive::{Batch, ComplexRule, Outs, Primitive, Save, Tangents, Vjp, out};
use crate::error::{Error, Result};
use crate::ops::pointwise::result_type;
use crate::tensor::copy;
use crate::tensor::{Dims, Scalar, Tensor};

/// `input` with at least 1 axis.
///
/// Returns: a view of a 0-dim tensor, others as they are. Several `tensors`, or a list of them, give a
/// tuple. Derivative: `g` in the sizes of `input`.
///
/// >>> rg.atleast_1d(rg.tensor(1.0)).tolist()
/// [1.0]
#[op(function)]
pub fn atleast_1d(input: &Tensor) -> Result<Tensor> {
    if input.ndim() == 0 { reshape_to(input, &[1]) } else { Ok(input.clone()) }
}

/// `input` with at least 2 axes, a vector being a row.
///
/// Returns: a view of a tensor with fewer axes, others as they are. Several `tensors`, or a list of them, give a tuple.
/// Derivative: `g` in the sizes of `input`.
///
/// >>> rg.atleast_2d(rg.tensor([1.0, 2.0])).tolist()
/// [[1.0, 2.0]]
#[op(function)]
pub fn atleast_2d(input: &Tensor) -> Result<Tensor> {
    match input.ndim() {
        0 => reshape_to(input, &[1, 1]),
        1 => input.unsqueeze(0),
        _ => Ok(input.clone()),
    }
}

/// `input` with at least 3 axes, a vector being the middle one, a matrix the first two.
///
/// Returns: a view of a tensor with fewer axes, others as they are. Several `tensors`, or a list of them, give a tuple.
/// Derivative: `g` in the sizes of `input`.
///
/// >>> rg.atleast_3d(rg.tensor([1.0, 2.0])).tolist()
/// [[[1.0], [2.0]]]
#[op(function)]
pub fn atleast_3d(input: &Tensor) -> Result<Tensor> {
    match input.ndim() {
        0 => reshape_to(input, &[1, 1, 1]),
        1 => input.unsqueeze(0)?.unsqueeze(-1),
        2 => input.unsqueeze(-1),
        _ => Ok(input.clone()),
    }
}

/// Several tensors, each with at least 1 axis.
///
/// >>> [x.tolist() for x in rg.atleast_1d(rg.tensor(1.0), rg.tensor([2.0]))]
/// [[1.0], [2.0]]
#[op(function, name = "atleast_1d")]
pub fn all_atleast_1d(#[size] tensors: &[Tensor]) -> Result<Vec<Tensor>> {
    tensors.iter().map(atleast_1d).collect()
}

/// Several tensors, each with at least 2 axes.
///
/// >>> [x.tolist() for x in rg.atleast_2d(rg.tensor(1.0), rg.tensor([2.0]))]
/// [[[1.0]], [[2.0]]]
#[op(function, name = "atleast_2d")]
pub fn all_atleast_2d(#[size] tensors: &[Tensor]) -> Result<Vec<Tensor>> {
    tensors.iter().map(atleast_2d).collect()
}

/// Several tensors, each with at least 3 axes.
///
/// >>> [x.tolist() for x in rg.atleast_3d(rg.tensor(1.0), rg.tensor([2.0]))]
/// [[[[1.0]]], [[[2.0]]]]
#[op(function, name = "atleast_3d")]
pub fn all_atleast_3d(#[size] tensors: &[Tensor]) -> Result<Vec<Tensor>> {
    tensors.iter().map(atleast_3d).collect()
}

fn some(op: &'static str, tensors: &[Tensor]) -> Result<()> {
    if tensors.is_empty() {
        return Err(Error::shape(op, format!("{op} expects a non-empty TensorList")));
    }
    Ok(())
}

/// Tensors joined side by side: along the first axis for vectors, else along the second; see `cat`.
///
/// Raises: RuntimeError for an empty list or sizes that do not fit.
///
/// >>> rg.hstack([rg.tensor([1.0]), rg.tensor([2.0, 3.0])]).tolist()
/// [1.0, 2.0, 3.0]
#[op(function, out)]
pub fn hstack(tensors: &[Tensor]) -> Result<Tensor> {
    some("hstack", tensors)?;
    let lines = all_atleast_1d(tensors)?;
    cat(&lines, i64::from(lines[0].ndim() > 1))
}

/// Tensors joined one below the other, vectors being rows; see `cat`.
///
/// Raises: RuntimeError for an empty list or sizes that do not fit.
///
/// >>> rg.vstack([rg.tensor([1.0, 2.0]), rg.tensor([3.0, 4.0])]).tolist()
/// [[1.0, 2.0], [3.0, 4.0]]
#[op(function, out, aliases("row_stack"))]
pub fn vstack(tensors: &[Tensor]) -> Result<Tensor> {
    some("vstack", tensors)?;
    cat(&all_atleast_2d(tensors)?, 0)
}

/// Tensors joined along the third axis; see `atleast_3d` and `cat`.
///
/// Raises: RuntimeError for an empty list or sizes that do not fit.
///
/// >>> rg.dstack([rg.tensor([1.0, 2.0]), rg.tensor([3.0, 4.0])]).tolist()
/// [[[1.0, 3.0], [2.0, 4.0]]]
#[op(function, out)]
pub fn dstack(tensors: &[Tensor]) -> Result<Tensor> {
    some("dstack", tensors)?;
    cat(&all_atleast_3d(tensors)?, 2)
}

/// Tensors joined along the second axis, vectors being columns; see `cat`.
///
/// Raises: RuntimeError for an empty list or sizes that do not fit.
///
/// >>> rg.column_stack([rg.tensor([1.0, 2.0]), rg.tensor([3.0, 4.0])]).tolist()
/// [[1.0, 3.0], [2.0, 4.0]]
#[op(function, out)]
pub fn column_stack(tensors: &[Tensor]) -> Result<Tensor> {
    some("column_stack", tensors)?;
    let columns = tensors.iter().map(|t| if t.ndim() < 2 { reshape_to(t, &[t.numel(), 1]) } else { Ok(t.clone()) });
    cat(&columns.collect::<Result<Vec<_>>>()?, 1)
}

/// `block_diag`. Reverse: each operand's block of `g`.
#[derive(Clone, Debug)]
struct BlockDiag {
    /// Rows and columns of each operand.
    blocks: Vec<[usize; 2]>,
    /// Axes in front that are batches.
    lead: usize,
}

impl BlockDiag {
    /// Where each block begins.
    fn corners(&self) -> impl Iterator<Item = ([usize; 2], [usize; 2])> {
        self.blocks.iter().scan([0, 0], |at, &[rows, columns]| {
            let corner = *at;
            *at = [corner[0] + rows, corner[1] + columns];
            Some((corner, [rows, columns]))
        })
    }
}

impl Primitive for BlockDiag {
    const NAME: &'static str = "block_diag";
    const SAVE: &'static [Save] = &[];
    const COMPLEX: ComplexRule = ComplexRule::RealLinear;
    const BATCH: Batch<Self> = Batch::Lift(|p, _, _| Ok(Self { lead: p.lead + 1, blocks: p.blocks.clone() }));
    const JVP: Tangents<Self> = Tangents::Linear(u32::MAX);
    fn forward(&self, xs: &[&Tensor]) -> Result<Outs> {
        let lead = &xs[0].sizes()[..self.lead];
        let mut sizes = Dims::from_slice(lead);
        for side in 0..2 {
            sizes.push(self.blocks.iter().fold(0usize, |sum, block| sum.saturating_add(block[side])));
        }
        let whole = Tensor::full(&sizes, Scalar::Int(0), result_type(xs))?;
        for (x, ([row, column], block)) in xs.iter().zip(self.corners()) {
            if x.numel() == 0 {
                continue;
            }
            let mut sizes = Dims::from_slice(lead);
            sizes.extend(block);
            let offset = row * whole.strides()[self.lead] as usize + column;
            let place = Tensor::from_parts(whole.storage(), whole.dtype(), &sizes, whole.strides(), offset)?;
            copy::copy_into(&reshape_to(x, &sizes)?, &place)?;
        }
        Ok(out(whole))
    }
    fn vjp(&self, cx: &Vjp) -> Result<Grads> {
        let (g, lead) = (cx.g(), self.lead as i64);
        let mut grads = Grads::new();
        for (i, ([row, column], [rows, columns])) in self.corners().enumerate() {
            grads.push(cx.when(i, || {
                let part = g.narrow(lead, row as i64, rows as i64)?.narrow(lead + 1, column as i64, columns as i64)?;
                reshape_to(&part, cx.sizes(i))
            })?);
        }
        Ok(grads)
    }
}

/// The matrix with the tensors as blocks on its diagonal, zeros elsewhere.
///
/// Args: `tensors` one after the other, or in a list; of at most 2 dims, vectors being rows. Returns: a fresh matrix of
/// the promoted dtype. Derivative: each tensor's block of `g`. Raises: RuntimeError for more dims.
///
/// >>> rg.block_diag(rg.tensor([[1.0], [2.0]]), rg.tensor(3.0)).tolist()
/// [[1.0, 0.0], [2.0, 0.0], [0.0, 3.0]]
#[op(function)]
pub fn block_diag(#[size] tensors: &[Tensor]) -> Result<Tensor> {
    if let Some((i, t)) = tensors.iter().enumerate().find(|(_, t)| t.ndim() > 2) {
        return Err(Error::shape(
            "block_diag",
            format!("Input tensors must have 2 or fewer dimensions. Input {i} has {} dimensions", t.ndim()),
        ));
    }
    let blocks = tensors.iter().map(|t| match *t.sizes() {
        [rows, columns] => [rows, columns],
        _ => [1, t.numel()],
    });
    let blocks: Vec<[usize; 2]> = blocks.collect();
    if blocks.is_empty() {
        return Tensor::empty(&[1, 0], crate::tensor::default_dtype());
    }
    apply1(BlockDiag { blocks, lead: 0 }, &tensors.iter().collect::<Vec<_>>())
}

/// The grid that vectors span: for each of them a tensor with as many axes as there are vectors, that varies along one.
///
/// Args: `tensors` one after the other, or in a list: vectors or 0-dim tensors of one dtype; `indexing` is "ij" if the
/// first varies along the first axis (what None means, with a warning), "xy" if the first two change places. Returns: a
/// tuple of views. Derivative: `g` summed over the other axes. Raises: RuntimeError for other shapes, several dtypes or
/// no tensor.
///
/// >>> x, y = rg.meshgrid(rg.tensor([1.0, 2.0]), rg.tensor([3.0, 4.0]), indexing="ij")
/// >>> x.tolist(), y.tolist()
/// ([[1.0, 1.0], [2.0, 2.0]], [[3.0, 4.0], [3.0, 4.0]])
#[op(function, "(*, indexing=None)")]
pub fn meshgrid(#[size] tensors: &[Tensor], indexing: Option<&str>) -> Result<Vec<Tensor>> {
    let Some(first) = tensors.first() else {
        return Err(Error::shape("meshgrid", "meshgrid expects a non-empty TensorList"));
    };
    for t in tensors {
        if t.dtype() != first.dtype() {
            return Err(Error::dtype(
                "meshgrid",
                format!(
                    "torch.meshgrid expects all tensors to have the same dtype, got {} and {}",
                    first.dtype().name(),
                    t.dtype().name()
                ),
            ));
        }
        if t.ndim() > 1 {
            return Err(Error::shape(
                "meshgrid",
                format!("torch.meshgrid: Expected 0D or 1D tensor in the tensor list but got: {:?}", t.sizes()),
            ));
        }
    }
    let swapped = match indexing {
        None => {
            crate::warn::warn(
                "meshgrid: in an upcoming release, it will be required to pass the indexing argument. \
                 Call with indexing=\"ij\" for the present behavior.",
            )?;
            false
        }
        Some("ij") => false,
        Some("xy") => tensors.len() > 1,
        Some(other) => {
            return Err(Error::shape(
                "meshgrid",
                format!("torch.meshgrid: indexing must be one of \"xy\" or \"ij\", but received: {other}"),
            ));
        }
    };
    let mut order: Vec<usize> = (0..tensors.len()).collect();
    if swapped {
        order.swap(0, 1);
    }
    let sizes: Dims = order.iter().map(|&i| tensors[i].numel()).collect();
    let mut grids = Vec::with_capacity(tensors.len());
    for (axis, &i) in order.iter().enumerate() {
        let mut line: Dims = std::iter::repeat_n(1, sizes.len()).collect();
        line[axis] = sizes[axis];
        let size: Vec<i64> = sizes.iter().map(|&n| n as i64).collect();
        grids.push(super::view_to(&tensors[i], &line)?.expand(&size)?);
    }
    if swapped {
        grids.swap(0, 1);
    }
    Ok(grids)
}

/// All combinations of an element of each vector, as rows in order; one vector is returned as it is.
///
/// Args: `tensors` one after the other: vectors of one dtype. Returns: a matrix with a column per vector. Derivative:
/// `g` summed over the rows that an element is in. Raises: RuntimeError for other shapes, several dtypes or no tensor.
///
/// >>> rg.cartesian_prod(rg.tensor([1.0, 2.0]), rg.tensor([3.0, 4.0])).tolist()
/// [[1.0, 3.0], [1.0, 4.0], [2.0, 3.0], [2.0, 4.0]]
#[op(function)]
pub fn cartesian_prod(#[size] tensors: &[Tensor]) -> Result<Tensor> {
    if let Some(t) = tensors.iter().find(|t| t.ndim() != 1) {
        return Err(Error::shape("cartesian_prod", format!("Expect a 1D vector, but got shape {:?}", t.sizes())));
    }
    if let [one] = tensors {
        return Ok(one.clone());
    }
    let columns: Vec<Tensor> =
        meshgrid(tensors, Some("ij"))?.iter().map(|grid| grid.flatten(0, -1)).collect::<Result<_>>()?;
    super::stack(&columns, 1)
}

/// The tensors broadcast against one another, as views.
///
/// Args: `tensors` one after the other, or in a list. Returns: a tuple of views. Derivative: `g` summed to each
/// tensor's sizes. Raises: RuntimeError if the shapes do not broadcast.
///
/// >>> [x.tolist() for x in rg.broadcast_tensors(rg.tensor([1.0, 2.0]), rg.tensor(3.0))]
/// [[1.0, 2.0], [3.0, 3.0]]
#[op(function, name = "broadcast_tensors")]
pub fn broadcast_all(#[size] tensors: &[Tensor]) -> Result<Vec<Tensor>> {
    super::broadcast_tensors(tensors)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{gradcheck, noise};

    #[test]
    fn derivatives() {
        let (a, b) = (noise(1, &[2, 3]), noise(2, &[3]));
        gradcheck(&|xs| block_diag(xs)?.exp(), &[a, b.clone(), noise(3, &[])]);
        gradcheck(&|xs| meshgrid(xs, Some("xy"))?[0].exp(), &[b.clone(), noise(4, &[2])]);
        gradcheck(&|xs| column_stack(xs)?.exp(), &[b.clone(), noise(5, &[3, 2])]);
        gradcheck(&|xs| dstack(xs)?.exp(), &[b.clone(), b]);
        let empty = crate::ops::view::expand_to(&noise(1, &[1]), &[0]).unwrap();
        assert_eq!(block_diag(&[empty.clone(), empty]).unwrap().sizes(), [2, 0]);
        assert!(hstack(&[]).is_err() && block_diag(&[noise(1, &[1, 1, 1])]).is_err());
    }
}
