//! Jacobians and Hessians. All rows, or columns, are computed together.
//!
//! By rows a function is called once, and its graph gives the VJPs of a batch of unit vectors. By columns it is called
//! once on inputs that move along a batch of unit vectors: values are computed once, tangents are batches. Where a rule
//! does not know batches there is a loop.

use std::panic::Location;

use super::Returned;
use super::record::{Record, Views, demand_tensors, gradients, zeros};
use super::running::Running;
use crate::engine::autograd::forward::{self, Level};
use crate::engine::ops::create::range::eye;
use crate::engine::ops::memory::cloned;
use crate::engine::ops::view::{cat, diagonal, movedim, narrow, reshape, select, stack, unsqueeze};
use crate::engine::transforms::Open;
use crate::engine::{Tensor, transforms};
use crate::random_state::RandomState;
use crate::tree::{Tree, flatten, template, unflatten};
use crate::{Error, Result, site};

/// Options of [`jacobian_with`] and [`jacrev_with`].
#[derive(Clone, Debug, Default)]
pub struct JacobianOptions {
    chunk_size: Option<usize>,
}

impl JacobianOptions {
    /// The most rows of the Jacobian of a result that are computed together; by default all of them. Fewer need less
    /// memory, and more time.
    #[must_use]
    pub fn chunk_size(self, size: impl Into<Option<usize>>) -> Self {
        Self { chunk_size: size.into() }
    }

    /// The size of a part of `count` rows or columns.
    fn chunk(&self, count: usize) -> usize {
        self.chunk_size.unwrap_or(count).max(1)
    }

    fn demand_chunks(&self, caller: &'static str) -> Result<()> {
        match self.chunk_size {
            Some(0) => Err(Error::value(caller, "`chunk_size` should be greater than 0.")),
            _ => Ok(()),
        }
    }
}

/// The function that gives the Jacobian of `f`: by reverse mode, as [`jacrev`], where the results have no more elements
/// than the argument, and else by forward mode, as [`jacfwd`]; `f` is then called twice, with the same random numbers.
///
/// The Jacobian has the structure of the result of `f`, with a tree like the argument in the place of each tensor
/// ([`Tree::Each`]), whose tensors have the sizes of that result, then those of that tensor of the argument. Of a
/// tensor with respect to a tensor it is a tensor.
///
/// # Errors
/// For complex tensors, for integers, if `f` returns no tensors, and those of `f`: as `f` returns them, see
/// [`Returned`].
///
/// ```
/// use retrograd::{Tensor, func, tensor};
///
/// # fn main() -> retrograd::Result<()> {
/// let jacobian = func::jacobian(|x: &Tensor| x * x)(&tensor![1.0, 2.0]);
/// assert_eq!(jacobian.to_vec::<f64>()?, [2.0, 0.0, 0.0, 4.0]);
/// # Ok(())
/// # }
/// ```
#[track_caller]
pub fn jacobian<X: Tree, R: Returned>(f: impl Fn(&X) -> R) -> impl Fn(&X) -> R::With<<R::Value as Tree>::Each<X>> {
    jacobian_with(f, |options| options)
}

/// As [`jacobian`], with options: how many rows, or columns, are computed together. By forward mode `f` is called once
/// for each part of the columns, with the same random numbers.
///
/// # Errors
/// Those of [`jacobian`], and for a `chunk_size` of 0.
///
/// ```
/// use retrograd::{Tensor, func, tensor};
///
/// # fn main() -> retrograd::Result<()> {
/// let jacobian = func::jacobian_with(|x: &Tensor| x.cumsum(0), |o| o.chunk_size(2))(&tensor![1.0, 2.0, 3.0]);
/// assert_eq!(jacobian.to_vec::<f64>()?, [1.0, 0.0, 0.0, 1.0, 1.0, 0.0, 1.0, 1.0, 1.0]);
/// # Ok(())
/// # }
/// ```
#[track_caller]
pub fn jacobian_with<X: Tree, R: Returned>(
    f: impl Fn(&X) -> R,
    options: impl FnOnce(JacobianOptions) -> JacobianOptions,
) -> impl Fn(&X) -> R::With<<R::Value as Tree>::Each<X>> {
    let made = Location::caller();
    let options = options(JacobianOptions::default());
    move |x| {
        site::at(made);
        let by_rows = || by_rows("jacobian", |x| f(x).into_result(), x, true, &options);
        let by_columns = || by_columns("jacobian", &|x| f(x).into_result(), x, &options);
        let random = RandomState::now();
        let found = by_rows().and_then(|found| match found {
            Some(found) => Ok(found),
            None => {
                random.set()?;
                by_columns()
            }
        });
        R::give_of(found, made)
    }
}

/// The function that gives the Jacobian of `f` by reverse mode: for few results of many arguments. See [`jacobian`].
///
/// ```
/// use retrograd::{Tensor, func, tensor};
///
/// # fn main() -> retrograd::Result<()> {
/// let product = |(a, b): &(Tensor, Tensor)| a * b;
/// let (by_a, by_b) = func::jacrev(product)(&(tensor![1.0, 2.0], tensor![3.0, 4.0]));
/// assert_eq!(by_a.to_vec::<f64>()?, [3.0, 0.0, 0.0, 4.0]);
/// assert_eq!(by_b.to_vec::<f64>()?, [1.0, 0.0, 0.0, 2.0]);
/// # Ok(())
/// # }
/// ```
#[track_caller]
pub fn jacrev<X: Tree, R: Returned>(f: impl Fn(&X) -> R) -> impl Fn(&X) -> R::With<<R::Value as Tree>::Each<X>> {
    jacrev_with(f, |options| options)
}

/// As [`jacrev`], with options: how many rows are computed together. `f` is called once all the same.
///
/// # Errors
/// Those of [`jacobian`], and for a `chunk_size` of 0.
///
/// ```
/// use retrograd::{Tensor, func, tensor};
///
/// # fn main() -> retrograd::Result<()> {
/// let rows = func::jacrev_with(|x: &Tensor| x * x, |o| o.chunk_size(1))(&tensor![1.0, 2.0]);
/// assert_eq!(rows.to_vec::<f64>()?, [2.0, 0.0, 0.0, 4.0]);
/// # Ok(())
/// # }
/// ```
#[track_caller]
pub fn jacrev_with<X: Tree, R: Returned>(
    f: impl Fn(&X) -> R,
    options: impl FnOnce(JacobianOptions) -> JacobianOptions,
) -> impl Fn(&X) -> R::With<<R::Value as Tree>::Each<X>> {
    let made = Location::caller();
    let options = options(JacobianOptions::default());
    move |x| {
        site::at(made);
        let found = by_rows("jacrev", |x| f(x).into_result(), x, false, &options);
        R::give_of(found.map(|found| found.expect("rows whatever their number")), made)
    }
}

/// The function that gives the Jacobian of `f` by forward mode: for many results of few arguments. See [`jacobian`].
///
/// `f` is called once, so random numbers in it are the same for all columns.
///
/// ```
/// use retrograd::{Tensor, func};
///
/// # fn main() -> retrograd::Result<()> {
/// let powers = |x: &Tensor| vec![x * x * x, x * x];
/// let derivatives = func::jacfwd(powers)(&Tensor::from(3.0));
/// assert_eq!(derivatives[0].item::<f64>()?, 27.0);
/// assert_eq!(derivatives[1].item::<f64>()?, 6.0);
/// # Ok(())
/// # }
/// ```
#[track_caller]
pub fn jacfwd<X: Tree, R: Returned>(f: impl Fn(&X) -> R) -> impl Fn(&X) -> R::With<<R::Value as Tree>::Each<X>> {
    let made = Location::caller();
    move |x| {
        site::at(made);
        R::give_of(by_columns("jacfwd", &|x| f(x).into_result(), x, &JacobianOptions::default()), made)
    }
}

/// The function that gives the Hessian of `f`, by forward mode over reverse mode.
///
/// `f` returns a tensor, usually without axes. The Hessian has the structure of the argument with a tree like the
/// argument in the place of each tensor; its tensors have the sizes of the result, of one tensor, and of the other.
/// With respect to a tensor it is a tensor.
///
/// # Errors
/// Those of [`jacrev`] and [`jacfwd`].
///
/// ```
/// use retrograd::{Tensor, func};
///
/// # fn main() -> retrograd::Result<()> {
/// let f = |(a, b): &(Tensor, Tensor)| a * a * b;
/// let ((aa, ab), (ba, bb)) = func::hessian(f)(&(Tensor::from(3.0), Tensor::from(5.0)));
/// assert_eq!([aa.item::<f64>()?, bb.item::<f64>()?], [10.0, 0.0]);
/// assert_eq!([ab.item::<f64>()?, ba.item::<f64>()?], [6.0, 6.0]);
/// # Ok(())
/// # }
/// ```
#[track_caller]
pub fn hessian<X: Tree, R: Returned<Value = crate::Tensor>>(f: impl Fn(&X) -> R) -> impl Fn(&X) -> R::With<X::Each<X>> {
    let made = Location::caller();
    move |x| {
        site::at(made);
        let together = JacobianOptions::default();
        let rows = |x: &X| -> Result<X> {
            let found = by_rows("hessian", |x| f(x).into_result(), x, false, &together)?;
            Ok(found.expect("rows whatever their number"))
        };
        R::give_of(by_columns("hessian", &rows, x, &together), made)
    }
}

fn demand_real(caller: &str, what: &str, tensors: &[Tensor]) -> Result<()> {
    let Some(i) = tensors.iter().position(|t| t.dtype().is_complex()) else { return Ok(()) };
    Err(Error::autograd(format!(
        "{caller}: Expected all {what} to be real but received complex tensor at flattened input idx: {i}: take \
         view_as_real of it"
    )))
}

fn numel(tensors: &[Tensor]) -> usize {
    tensors.iter().map(Tensor::numel).sum()
}

fn signed(sizes: &[usize]) -> Vec<i64> {
    sizes.iter().map(|&n| n as i64).collect()
}

fn joined(a: &[usize], b: &[usize]) -> Vec<usize> {
    [a, b].concat()
}

/// `length` unit vectors of the space that the elements of `tensors` span, from one on: for each tensor its part of
/// them, a batch along the first axis.
fn units(tensors: &[Tensor], start: usize, length: usize) -> Result<Vec<Tensor>> {
    let mut first = 0;
    let part = |t: &Tensor| {
        let n = t.numel();
        let batch = if (start, length) == (first, n) {
            eye(n as i64, None, t.dtype().into())?
        } else {
            let zeros = Tensor::zeros(&[length, n], t.dtype())?;
            diagonal(&zeros, start as i64 - first as i64, 0, 1)?.copy_(&Tensor::ones(&[], t.dtype())?)?;
            zeros
        };
        first += n;
        reshape(&batch, &signed(&joined(&[length], t.sizes())))
    };
    tensors.iter().map(part).collect()
}

/// The parts of `count` rows or columns: where each starts, and how many it has. There is one at least.
fn parts(count: usize, options: &JacobianOptions) -> impl Iterator<Item = (usize, usize)> {
    let chunk = options.chunk(count);
    (0..count.max(1)).step_by(chunk).map(move |start| (start, chunk.min(count - start)))
}

// ---- rows

/// The Jacobian by reverse mode; `None` if `only_if_few`, and the results have more elements than the argument.
fn by_rows<X: Tree, Y: Tree>(
    caller: &'static str,
    f: impl FnOnce(&X) -> Result<Y>,
    x: &X,
    only_if_few: bool,
    options: &JacobianOptions,
) -> Result<Option<Y::Each<X>>> {
    options.demand_chunks(caller)?;
    let given = flatten(x);
    demand_real(caller, "inputs", &given)?;
    let (_running, outside) = Running::reversing(Some(&given));
    let record = Record::call(caller, f, x, outside)?;
    if only_if_few && numel(&record.outs) > numel(&given) {
        return Ok(None);
    }
    demand_real(caller, "outputs", &record.outs)?;
    let mut outs = record.outs.iter();
    let blocks = record.y.each_tensor(&mut |_| {
        let out = outs.next().expect("as many as there are places");
        unflatten(x, blocks(&record.views, out, options)?)
    })?;
    Ok(Some(blocks))
}

/// The Jacobians of one result, for each of the inputs.
fn blocks(views: &Views, out: &Tensor, options: &JacobianOptions) -> Result<Vec<Tensor>> {
    let found = match out.numel() > 0 && out.requires_grad() {
        true => {
            let parts: Vec<_> =
                parts(out.numel(), options).map(|part| rows(views, out, part)).collect::<Result<_>>()?;
            (0..views.xs.len()).map(|i| column(&parts, i, whole)).collect::<Result<_>>()?
        }
        false => vec![None; views.xs.len()],
    };
    let block = |(rows, x): (Option<Tensor>, &Tensor)| {
        let sizes = joined(out.sizes(), x.sizes());
        match rows {
            None => Tensor::zeros(&sizes, x.dtype()),
            Some(rows) => views.settled(&reshape(&rows, &signed(&sizes))?),
        }
    };
    found.into_iter().zip(&views.xs).map(block).collect()
}

/// `count` rows of the Jacobian of `out`, from one on: for each of the inputs a batch of rows, `None` for zeros.
fn rows(views: &Views, out: &Tensor, (start, count): (usize, usize)) -> Result<Vec<Option<Tensor>>> {
    let outs = std::slice::from_ref(out);
    let along = |g: Tensor| gradients(outs, &[Some(g)], &views.xs, true, views.keep);
    let batch = units(outs, start, count)?.swap_remove(0);
    if count == 1 {
        let found = along(reshape(&batch, &signed(out.sizes()))?)?;
        return found.into_iter().map(|g| g.map(|g| unsqueeze(&g, 0)).transpose()).collect();
    }
    let together = || -> Result<Vec<Option<Tensor>>> {
        let open = Open::private(count);
        let level = open.level();
        let found = along(batch.batch(0, &level)?)?;
        found.into_iter().map(|g| g.map(|g| g.unbatch(0, &level)).transpose()).collect()
    };
    // Whatever the error was, the loop decides whether it is one.
    together().or_else(|_| {
        let each = (0..count).map(|i| along(select(&batch, 0, i as i64)?)).collect::<Result<Vec<_>>>()?;
        (0..views.xs.len()).map(|i| column(&each, i, stack)).collect()
    })
}

/// What all rows, or parts, have at place `i`, joined along the first axis; that is the same for all whether there is
/// something.
fn column(
    each: &[Vec<Option<Tensor>>],
    i: usize,
    join: impl FnOnce(&[Tensor], i64) -> Result<Tensor>,
) -> Result<Option<Tensor>> {
    let column: Option<Vec<Tensor>> = each.iter().map(|row| row[i].clone()).collect();
    column.map(|column| join(&column, 0)).transpose()
}

/// Parts along an axis, joined. One part is all.
fn whole(parts: &[Tensor], axis: i64) -> Result<Tensor> {
    match parts {
        [only] => Ok(only.clone()),
        _ => cat(parts, axis),
    }
}

// ---- columns

/// The Jacobian by forward mode.
fn by_columns<X: Tree, Y: Tree>(
    caller: &'static str,
    f: &dyn Fn(&X) -> Result<Y>,
    x: &X,
    options: &JacobianOptions,
) -> Result<Y::Each<X>> {
    options.demand_chunks(caller)?;
    let xs = flatten(x);
    demand_real(caller, "inputs", &xs)?;
    let _running = Running::pushing(&xs);
    let (y, moved) = along_units(caller, f, x, &xs, options)?;
    let mut moved = moved.iter();
    y.each_tensor(&mut |_| unflatten(x, columns(moved.next().expect("as many as there are places"), &xs)?))
}

/// The Jacobians of one result, for each of the inputs, from its derivatives along all their elements.
fn columns(moved: &Tensor, xs: &[Tensor]) -> Result<Vec<Tensor>> {
    let mut first = 0;
    let part = |x: &Tensor| {
        let part = if xs.len() == 1 { moved.clone() } else { narrow(moved, 0, first, x.numel() as i64)? };
        first += x.numel() as i64;
        reshape(&movedim(&part, &[0], &[-1])?, &signed(&joined(&moved.sizes()[1..], x.sizes())))
    };
    xs.iter().map(part).collect()
}

/// The result of `f` without tensors, and the derivatives of each of its tensors along each element of the inputs, in a
/// first axis.
fn along_units<X: Tree, Y: Tree>(
    caller: &'static str,
    f: &dyn Fn(&X) -> Result<Y>,
    x: &X,
    xs: &[Tensor],
    options: &JacobianOptions,
) -> Result<(Y, Vec<Tensor>)> {
    let random = RandomState::now();
    let mut shape = None;
    let mut each = Vec::new();
    for (start, count) in parts(numel(xs), options) {
        if start > 0 {
            random.set()?;
        }
        let (y, moved) = along(caller, f, x, xs, &units(xs, start, count)?, count)?;
        each.push(moved.into_iter().map(Some).collect());
        shape = Some(y);
    }
    Ok((shape.expect("there is a part"), every(&each, whole)?))
}

/// What all parts have at each place, joined.
fn every(each: &[Vec<Option<Tensor>>], join: impl Fn(&[Tensor], i64) -> Result<Tensor>) -> Result<Vec<Tensor>> {
    let count = each.first().map_or(0, Vec::len);
    let joined = (0..count).map(|i| column(each, i, &join)).collect::<Result<Option<Vec<_>>>>()?;
    Ok(joined.unwrap_or_default())
}

/// As [`along_units`], along each of `count` tangents.
fn along<X: Tree, Y: Tree>(
    caller: &'static str,
    f: &dyn Fn(&X) -> Result<Y>,
    x: &X,
    xs: &[Tensor],
    tangents: &[Tensor],
    count: usize,
) -> Result<(Y, Vec<Tensor>)> {
    let random = RandomState::now();
    let tangent = |i: usize| tangents.iter().map(|t| select(t, 0, i as i64)).collect::<Result<Vec<_>>>();
    if count == 1 {
        let (y, moved) = moving(caller, f, x, xs, &tangent(0)?, None)?;
        return Ok((y, moved.iter().map(|t| unsqueeze(t, 0)).collect::<Result<_>>()?));
    }
    let together = || {
        let open = Open::private(count);
        let level = open.level();
        let batched = tangents.iter().map(|t| t.batch(0, &level)).collect::<Result<Vec<_>>>()?;
        let (y, moved) = moving(caller, f, x, xs, &batched, Some(&level))?;
        Ok((y, moved.iter().map(|t| t.unbatch(0, &level)).collect::<Result<Vec<_>>>()?))
    };
    // Whatever the error was, the loop decides whether it is one.
    together().or_else(|error: Error| {
        let mut last = None;
        let mut each = Vec::new();
        for i in 0..count {
            random.set()?;
            let (y, moved) = moving(caller, f, x, xs, &tangent(i)?, None)?;
            last = Some(y);
            each.push(moved.into_iter().map(Some).collect());
        }
        Ok((last.ok_or(error)?, every(&each, stack)?))
    })
}

/// The result of `f` without tensors, and the derivatives of its tensors along a tangent, which may be a batch at the
/// private level `along`.
fn moving<X: Tree, Y: Tree>(
    caller: &'static str,
    f: &dyn Fn(&X) -> Result<Y>,
    x: &X,
    xs: &[Tensor],
    tangents: &[Tensor],
    along: Option<&std::sync::Arc<transforms::Level>>,
) -> Result<(Y, Vec<Tensor>)> {
    let number = forward::depth();
    let _level = Level::enter();
    // Copies, so that what the function writes to its argument stays inside.
    let dual = |(x, t): (&Tensor, &Tensor)| forward::make_dual(&cloned(x)?, t, number, along);
    let duals = xs.iter().zip(tangents).map(dual).collect::<Result<_>>()?;
    let y = f(&unflatten(x, duals)?)?;
    let outs = flatten(&y);
    demand_tensors(caller, &outs)?;
    demand_real(caller, "outputs", &outs)?;
    let moved = |out: &Tensor| {
        let (primal, tangent) = forward::unpack_dual(out, number)?;
        tangent.map_or_else(|| zeros(&primal), Ok)
    };
    Ok((template(&y)?, outs.iter().map(moved).collect::<Result<_>>()?))
}
