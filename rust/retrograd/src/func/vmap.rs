//! `vmap`: one call of a function on batched tensors instead of a call on each entry of the batch.

use std::fmt;
use std::panic::Location;

use super::Returned;
use crate::engine::ops::view::{cat, narrow};
pub use crate::engine::transforms::Randomness;
use crate::engine::transforms::{Open, depth};
use crate::engine::{self, Tensor};
use crate::random_state::RandomState;
use crate::tree::{Structure, Tree, flatten, template, unflatten};
use crate::{Error, Result, site};

/// Which axis of each tensor of a tree is the batch: one for all of them, or one for each part of the tree.
///
/// It is made of an integer, negative ones counted from the end; of `None`, for what goes to every entry as it is; or
/// of a tuple, array or `Vec` of such, one for each part of the tree: of a tuple, of a vector, for each field of a
/// struct that is no constant.
///
/// ```
/// use retrograd::func::Axes;
///
/// assert_eq!(Axes::from(0).to_string(), "0");
/// assert_eq!(Axes::from((0, None, [1, -1])).to_string(), "(0, None, (1, -1))");
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Axes(Of);

#[derive(Clone, Debug, PartialEq, Eq)]
enum Of {
    All(Option<i64>),
    Parts(Vec<Axes>),
}

impl Axes {
    fn parts(parts: impl IntoIterator<Item = Axes>) -> Self {
        Self(Of::Parts(parts.into_iter().collect()))
    }

    /// The axis of each tensor of a structure; `None` if the parts are not those of the structure.
    fn spread(&self, structure: &Structure, into: &mut Vec<Option<i64>>) -> Option<()> {
        match &self.0 {
            Of::All(axis) => into.extend(std::iter::repeat_n(*axis, structure.count())),
            Of::Parts(parts) => {
                if structure.is_tensor() || structure.parts().len() != parts.len() {
                    return None;
                }
                for (axes, part) in parts.iter().zip(structure.parts()) {
                    axes.spread(part, into)?;
                }
            }
        }
        Some(())
    }
}

impl fmt::Display for Axes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.0 {
            Of::All(None) => f.write_str("None"),
            Of::All(Some(axis)) => axis.fmt(f),
            Of::Parts(parts) => {
                f.write_str("(")?;
                for (i, part) in parts.iter().enumerate() {
                    write!(f, "{}{part}", if i > 0 { ", " } else { "" })?;
                }
                f.write_str(if parts.len() == 1 { ",)" } else { ")" })
            }
        }
    }
}

impl From<i64> for Axes {
    fn from(axis: i64) -> Self {
        Self(Of::All(Some(axis)))
    }
}

impl From<Option<i64>> for Axes {
    fn from(axis: Option<i64>) -> Self {
        Self(Of::All(axis))
    }
}

impl<A: Into<Axes>> From<Vec<A>> for Axes {
    fn from(parts: Vec<A>) -> Self {
        Self::parts(parts.into_iter().map(Into::into))
    }
}

impl<A: Into<Axes>, const N: usize> From<[A; N]> for Axes {
    fn from(parts: [A; N]) -> Self {
        Self::parts(parts.into_iter().map(Into::into))
    }
}

/// Axes of tuples, each part named by how it is reached.
macro_rules! tuples {
    ($($($part:ident $at:tt),*;)*) => {$(
        impl<$($part: Into<Axes>),*> From<($($part,)*)> for Axes {
            fn from(parts: ($($part,)*)) -> Self {
                Self::parts([$(parts.$at.into()),*])
            }
        }
    )*};
}

tuples! {
    A 0;
    A 0, B 1;
    A 0, B 1, C 2;
    A 0, B 1, C 2, D 3;
    A 0, B 1, C 2, D 3, E 4;
    A 0, B 1, C 2, D 3, E 4, F 5;
    A 0, B 1, C 2, D 3, E 4, F 5, G 6;
    A 0, B 1, C 2, D 3, E 4, F 5, G 6, H 7;
}

/// Options of [`vmap_with`].
#[derive(Clone, Debug)]
pub struct VmapOptions {
    in_dims: Axes,
    out_dims: Axes,
    randomness: Randomness,
    chunk_size: Option<usize>,
}

impl VmapOptions {
    /// Which axes of the argument are mapped over; 0 of all tensors by default.
    #[must_use]
    pub fn in_dims(self, axes: impl Into<Axes>) -> Self {
        Self { in_dims: axes.into(), ..self }
    }
    /// Where the results have the batch; 0 by default. `None` is for what is the same for all entries, and comes back
    /// as it is.
    #[must_use]
    pub fn out_dims(self, axes: impl Into<Axes>) -> Self {
        Self { out_dims: axes.into(), ..self }
    }
    /// What random ops in the function do: by default they are refused.
    #[must_use]
    pub fn randomness(self, randomness: Randomness) -> Self {
        Self { randomness, ..self }
    }
    /// The most entries that one call has; by default all of them. The function is called for each part of the batch.
    #[must_use]
    pub fn chunk_size(self, size: impl Into<Option<usize>>) -> Self {
        Self { chunk_size: size.into(), ..self }
    }
}

impl Default for VmapOptions {
    fn default() -> Self {
        Self { in_dims: 0.into(), out_dims: 0.into(), randomness: Randomness::Error, chunk_size: None }
    }
}

/// The function that maps `f` over the first axis of its argument, by a single call of `f`.
///
/// `f` gets batched tensors, which show the sizes of one entry and hold all of them; the results have the batch as
/// their first axis. `f` cannot branch on values, or take them out with `item`. What it captures is the same for all
/// entries.
///
/// # Errors
/// For tensors without axes, for sizes of the batch that differ, for what a batched tensor cannot do, and those of `f`:
/// as `f` returns them, see [`Returned`].
///
/// ```
/// use retrograd::{Tensor, func, tensor};
///
/// # fn main() -> retrograd::Result<()> {
/// let x = tensor![1.0, 2.0, 3.0];
/// let cube = |x: &Tensor| x * x * x;
/// // A derivative for each entry.
/// assert_eq!(func::vmap(func::grad(cube))(&x).to_vec::<f64>()?, [3.0, 12.0, 27.0]);
/// // Each with each: what a function captures is the same for all entries.
/// let table = func::vmap(|a: &Tensor| a * &tensor![1.0, 10.0])(&x);
/// assert_eq!(table.to_vec::<f64>()?, [1.0, 10.0, 2.0, 20.0, 3.0, 30.0]);
/// # Ok(())
/// # }
/// ```
#[track_caller]
pub fn vmap<X: Tree, R: Returned>(f: impl Fn(&X) -> R) -> impl Fn(&X) -> R::With<R::Value> {
    vmap_with(f, |options| options)
}

/// As [`vmap`], with options: other axes, random numbers, parts of the batch.
///
/// ```
/// use retrograd::{Tensor, func, tensor};
///
/// # fn main() -> retrograd::Result<()> {
/// let columns = tensor![[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]];
/// let weighted = |(x, w): &(Tensor, Tensor)| x * w;
/// let map = func::vmap_with(weighted, |o| o.in_dims((1, None)).out_dims(1));
/// let y = map(&(columns, tensor![10.0, 100.0]));
/// assert_eq!(y.to_vec::<f64>()?, [10.0, 20.0, 30.0, 400.0, 500.0, 600.0]);
/// # Ok(())
/// # }
/// ```
#[track_caller]
pub fn vmap_with<X: Tree, R: Returned>(
    f: impl Fn(&X) -> R,
    options: impl FnOnce(VmapOptions) -> VmapOptions,
) -> impl Fn(&X) -> R::With<R::Value> {
    let made = Location::caller();
    let options = options(VmapOptions::default());
    move |x| {
        site::at(made);
        R::give_of(mapped(&|x| f(x).into_result(), x, &options), made)
    }
}

/// The argument of a mapped function: its tensors, and the axis of each that is the batch.
struct Argument {
    leaves: Vec<Tensor>,
    axes: Vec<Option<i64>>,
    size: usize,
}

fn mapped<X: Tree, Y: Tree>(f: &dyn Fn(&X) -> Result<Y>, x: &X, options: &VmapOptions) -> Result<Y> {
    let argument = Argument::of(x, options)?;
    match options.chunk_size {
        Some(0) => Err(Error::value("vmap", "chunk_size should be None or greater than 0. (got 0)")),
        Some(chunk) if chunk < argument.size => in_chunks(f, x, &argument, chunk, options),
        _ => map(f, x, &argument, options),
    }
}

impl Argument {
    fn of<X: Tree>(x: &X, options: &VmapOptions) -> Result<Self> {
        let (structure, leaves) = (x.structure(), flatten(x));
        let refused = |why: String| Err(Error::value("vmap", format!("in_dims={}: {why}", options.in_dims)));
        let mut axes = Vec::new();
        if options.in_dims.spread(&structure, &mut axes).is_none() {
            return refused(format!(
                "in_dims is not compatible with the structure of `inputs`. in_dims has structure {} but inputs has \
                 structure {structure}.",
                options.in_dims
            ));
        }
        let mut sizes = Vec::new();
        for (leaf, axis) in leaves.iter().zip(&axes) {
            let (Some(axis), rank) = (axis, leaf.ndim() as i64) else { continue };
            if !(-rank..rank).contains(axis) {
                return refused(format!(
                    "Got in_dim={axis} for some input, but that input is a Tensor of dimensionality {rank} so expected \
                     in_dim to satisfy -{rank} <= in_dim < {rank}."
                ));
            }
            sizes.push(leaf.sizes()[axis.rem_euclid(rank) as usize]);
        }
        let Some(&size) = sizes.first() else {
            return Err(Error::value("vmap", "Expected at least one Tensor to vmap over"));
        };
        if sizes.iter().any(|n| *n != size) {
            return Err(Error::value(
                "vmap",
                format!(
                    "Expected all tensors to have the same size in the mapped dimension, got sizes {sizes:?} for the mapped \
                     dimension"
                ),
            ));
        }
        Ok(Self { leaves, axes, size })
    }

    /// `length` entries of the batch.
    fn part(&self, start: usize, length: usize) -> Result<Self> {
        let part = |(leaf, axis): (&Tensor, &Option<i64>)| match axis {
            Some(axis) => narrow(leaf, *axis, start as i64, length as i64),
            None => Ok(leaf.clone()),
        };
        let leaves = self.leaves.iter().zip(&self.axes).map(part).collect::<Result<_>>()?;
        Ok(Self { leaves, axes: self.axes.clone(), size: length })
    }
}

/// Calls the function on all entries at once.
fn map<X: Tree, Y: Tree>(f: &dyn Fn(&X) -> Result<Y>, x: &X, argument: &Argument, options: &VmapOptions) -> Result<Y> {
    let open = Open::new(argument.size, options.randomness);
    let (level, number) = (open.level(), depth());
    let entry = |(leaf, axis): (&Tensor, &Option<i64>)| match axis {
        Some(axis) => leaf.batch(*axis, &level),
        None => Ok(leaf.clone()),
    };
    let entries = argument.leaves.iter().zip(&argument.axes).map(entry).collect::<Result<_>>()?;
    let y = f(&unflatten(x, entries)?)?;
    let mut places = places(options, &y.structure())?.into_iter();
    y.map_tensors(&mut |t| {
        let out = match places.next().flatten() {
            Some(place) => t.0.unbatch(place, &level)?,
            None if is_batched_at(&t.0, number)? => {
                return Err(Error::value(
                    "vmap",
                    "the function can not return a BatchedTensor when out_dim is None: its entries differ.",
                ));
            }
            None => t.0.clone(),
        };
        Ok(crate::Tensor(out))
    })
}

/// What is batched at the innermost level is so on the outside.
fn is_batched_at(t: &Tensor, number: usize) -> Result<bool> {
    Ok(t.batch_parts().transpose()?.is_some_and(|(_, _, at)| at == number))
}

/// The place of the batch in each result.
fn places(options: &VmapOptions, structure: &Structure) -> Result<Vec<Option<i64>>> {
    let mut places = Vec::new();
    match options.out_dims.spread(structure, &mut places) {
        Some(()) => Ok(places),
        None => Err(Error::value(
            "vmap",
            format!(
                "out_dims is not compatible with the structure of `outputs`. out_dims has structure {} but outputs has \
                 structure {structure}.",
                options.out_dims
            ),
        )),
    }
}

/// Calls the function for one part of the batch after the other.
fn in_chunks<X: Tree, Y: Tree>(
    f: &dyn Fn(&X) -> Result<Y>,
    x: &X,
    argument: &Argument,
    chunk: usize,
    options: &VmapOptions,
) -> Result<Y> {
    let random = (options.randomness == Randomness::Same).then(RandomState::now);
    let mut shape = None;
    let mut rows: Vec<Vec<Tensor>> = Vec::new();
    for start in (0..argument.size).step_by(chunk) {
        if let Some(random) = &random {
            random.set()?;
        }
        let part = argument.part(start, chunk.min(argument.size - start))?;
        let y = map(f, x, &part, options)?;
        rows.push(flatten(&y));
        shape.get_or_insert(template(&y)?);
    }
    let Some(y) = shape else { return map(f, x, argument, options) };
    let whole = |(i, place): (usize, Option<i64>)| -> Result<engine::Tensor> {
        let column = rows.iter().map(|row| row.get(i).cloned()).collect::<Option<Vec<_>>>();
        let column = column.ok_or_else(|| Error::value("vmap", "the parts of the batch gave different structures"))?;
        place.map_or_else(|| Ok(column[0].clone()), |place| cat(&column, place))
    };
    let places = places(options, &y.structure())?;
    unflatten(&y, places.into_iter().enumerate().map(whole).collect::<Result<_>>()?)
}
