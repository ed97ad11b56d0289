//! `max_unpool1d`, `max_unpool2d`, `max_unpool3d`: maxima back at their places.

use retrograd_macros::op;

use super::pool_indices::{AtPlaces, paired};
use super::{crossed, plane, with_plane};
use crate::autograd::Grads;
use crate::autograd::apply::apply1;
use crate::autograd::primitive::{Batch, Halves, Outs, Primitive, Save, Tangents, Vjp, maybe, out};
use crate::error::{Error, Result, Sizes};
use crate::kernels::pool;
use crate::match_dtype;
use crate::ops::view;
use crate::tensor::layout::{checked_numel, numel};
use crate::tensor::{DType, Dtypes, Tensor};

/// `x` at places of zeros of the size `plane`; of several for one place the last stays. Reverse: `g` at the places.
#[derive(Clone, Copy, Debug)]
struct MaxUnpool {
    rank: usize,
    plane: [usize; 3],
}

impl Primitive for MaxUnpool {
    const NAME: &'static str = "max_unpool";
    const SAVE: &'static [Save] = &[Save::input(1, "indices")];
    const DTYPES: Dtypes = Dtypes::FLOATS.or(Dtypes::HALVES);
    const HALVES: Halves = Halves::InFloat32;
    // Places count from the beginning of their own plane, and any axes may stand in front.
    const BATCH: Batch<Self> = Batch::Lift(|op, _, _| Ok(*op));
    const JVP: Tangents<Self> = Tangents::Linear(0b1);
    fn node(&self) -> &'static str {
        if self.rank == 2 { "MaxUnpool2DBackward0" } else { "MaxUnpool3DBackward0" }
    }
    fn inputs(&self) -> u32 {
        0b01
    }
    fn kernel_name(&self) -> &'static str {
        if self.rank == 2 { "max_unpool2d" } else { "max_unpool3d" }
    }
    fn forward(&self, xs: &[&Tensor]) -> Result<Outs> {
        let (x, at) = paired(Self::NAME, xs[0], xs[1], true)?;
        let sizes = with_plane(x.sizes(), self.rank, self.plane);
        checked_numel(Self::NAME, &sizes)?;
        let (inner, outer) = (numel(&self.plane), plane(x.sizes(), self.rank).iter().product());
        match_dtype!(floats, x.dtype(), T => {
            let mut bad = None;
            let y = Tensor::build::<T>(&sizes, |y| {
                y.fill(0.0);
                bad = pool::place(x.as_slice::<T>().unwrap_or(&[]), at.as_slice::<i64>().unwrap_or(&[]), y, inner, outer);
            })?;
            if inner == 0 {
                bad = at.as_slice::<i64>().and_then(|at| at.first().copied());
            }
            match bad {
                None => Ok(out(y)),
                Some(i) => Err(Error::shape(Self::NAME, format!(
                    "Found an invalid max index: {i} (output volumes are of size {})", crossed(&self.plane[3 - self.rank..])
                ))),
            }
        })
    }
    fn vjp(&self, cx: &Vjp) -> Result<Grads> {
        let back = AtPlaces { rank: self.rank, node: self.node() };
        let mut grads = maybe(cx.when(0, || apply1(back, &[cx.g(), cx.saved(0)?]))?);
        grads.push(None);
        Ok(grads)
    }
}

/// The arguments of a call.
struct Call<'a> {
    kernel: &'a [i64],
    stride: Option<&'a [i64]>,
    padding: &'a [i64],
    out: Option<&'a [i64]>,
}

/// The sizes that pooling had started from, along `rank` axes.
fn sizes_of(op: &'static str, x: &Tensor, call: &Call, rank: usize) -> Result<Vec<usize>> {
    let each = |given: &[i64], what: &str| match given {
        [one] => Ok(vec![*one; rank]),
        each if each.len() == rank => Ok(each.to_vec()),
        _ => Err(Error::shape(op, format!("{what} must be one number or {rank}, got {}", given.len()))),
    };
    let kernel = each(call.kernel, "kernel_size")?;
    let stride = call.stride.map_or_else(|| Ok(kernel.clone()), |s| each(s, "stride"))?;
    let padding = each(call.padding, "padding")?;
    if x.ndim() < rank {
        return Err(Error::index(op, format!("tuple index out of range: the input has only {} dims", x.ndim())));
    }
    let inner = &x.sizes()[x.ndim() - rank..];
    let full = |a: usize| {
        let [n, k, s, p] = [inner[a] as i128, kernel[a].into(), stride[a].into(), padding[a].into()];
        (n - 1) * s + k - 2 * p
    };
    let shown = |v: &[i64]| {
        let list = v.iter().map(i64::to_string).collect::<Vec<_>>().join(", ");
        if v.len() == 1 { format!("({list},)") } else { format!("({list})") }
    };
    let sizes: Vec<i128> = match call.out {
        None => (0..rank).map(full).collect(),
        Some(given) => {
            let own = if given.len() == rank + 2 { &given[2..] } else { given };
            if own.len() != rank {
                return Err(Error::value(
                    op,
                    format!(
                        "output_size should be a sequence containing {rank} or {} elements, but it has a length of '{}'",
                        rank + 2,
                        own.len()
                    ),
                ));
            }
            for (a, &n) in own.iter().enumerate() {
                let (least, most) = (full(a) - i128::from(stride[a]), full(a) + i128::from(stride[a]));
                if !(least < n.into() && i128::from(n) < most) {
                    return Err(Error::value(
                        op,
                        format!("invalid output_size \"{}\" (dim {a} must be between {least} and {most})", shown(own)),
                    ));
                }
            }
            own.iter().map(|&n| n.into()).collect()
        }
    };
    if let Some((a, n)) = sizes.iter().enumerate().find(|(_, n)| **n < 0) {
        return Err(Error::value(
            op,
            format!(
                "max_unpooling: output_size must contain non-negative spatial dimensions, but got output_size[{a}]={n}"
            ),
        ));
    }
    let checked = |&n: &i128| usize::try_from(n).map_err(|_| Error::shape(op, format!("a size of {n} is too large")));
    let sizes = sizes.iter().map(checked).collect::<Result<Vec<_>>>()?;
    if rank == 3 && stride.iter().any(|&s| s <= 0) {
        return Err(Error::shape(op, format!("strides should be greater than zero, but got stride: {stride:?}")));
    }
    Ok(sizes)
}

fn unpool(op: &'static str, x: &Tensor, indices: &Tensor, sizes: &[usize]) -> Result<Tensor> {
    let rank = sizes.len();
    let fail = |detail: String| Err(Error::shape(op, detail));
    if indices.dtype() != DType::Int64 {
        return fail(format!(
            "elements in indices should be type int64 but got: {}",
            indices.dtype().scalar_type_name()
        ));
    }
    if !(rank + 1..=rank + 2).contains(&x.ndim()) {
        return fail(format!(
            "Input to max_unpooling{rank}d should be a {}d or {}d Tensor, but got a tensor with {} dimensions.",
            rank + 1,
            rank + 2,
            x.ndim()
        ));
    }
    if x.sizes() != indices.sizes() {
        return fail(format!(
            "Expected shape of indices to be same as that of the input tensor ({}) but got indices tensor with shape: {}",
            Sizes(x.sizes()),
            Sizes(indices.sizes())
        ));
    }
    if let Some(a) = (1..x.ndim()).find(|&a| x.sizes()[a] == 0) {
        return fail(format!(
            "Expected input to have non-zero size for non-batch dimensions, but got {} with dimension {a} being empty.",
            Sizes(x.sizes())
        ));
    }
    let mut plane = [1; 3];
    plane[3 - rank..].copy_from_slice(sizes);
    apply1(MaxUnpool { rank, plane }, &[x, indices])
}

/// Over the last one, two or three axes; one is the first of two.
fn unpooled(op: &'static str, x: &Tensor, indices: &Tensor, call: Call, rank: usize) -> Result<Tensor> {
    let mut sizes = sizes_of(op, x, &call, rank)?;
    if rank > 1 {
        return unpool(op, x, indices, &sizes);
    }
    sizes.push(1);
    view::squeeze_dim(&unpool(op, &x.unsqueeze(-1)?, &indices.unsqueeze(-1)?, &sizes)?, -1)
}

/// The ops over one, two and three axes.
macro_rules! max_unpools {
    ($($name:ident: $rank:literal, $whole:literal, $pool:literal, $sizes:literal, $call:literal => $shown:literal;)*) => { $(
        #[doc = concat!(" Maxima at the places of a ", $whole, " that `", $pool, "` found them at, zeros elsewhere.")]
        ///
        #[doc = concat!(" Args: `input` ", $sizes, ", floating dtype; `indices` int64 of the same shape, as")]
        #[doc = concat!(" `", $pool, "` returns them; `kernel_size`, `stride` and `padding` as given there; `output_size`")]
        /// the sizes of what was pooled, where these do not follow from the other arguments. Returns: a tensor of the
        /// sizes before pooling. Derivative: `g` at the places. Raises: RuntimeError for an index that names no place;
        /// ValueError for an `output_size` that does not go with the others.
        ///
        #[doc = concat!(" >>> rg.nn.functional.", stringify!($name), "(", $call, ").tolist()")]
        #[doc = concat!(" ", $shown)]
        #[op(function, module = "nn.functional", "(stride=None, padding=0, output_size=None)")]
        pub fn $name(
            input: &Tensor,
            indices: &Tensor,
            kernel_size: &[i64],
            stride: Option<&[i64]>,
            padding: &[i64],
            output_size: Option<&[i64]>,
        ) -> Result<Tensor> {
            let call = Call { kernel: kernel_size, stride, padding, out: output_size };
            unpooled(stringify!($name), input, indices, call, $rank)
        }
    )* };
}

max_unpools! {
    max_unpool1d: 1, "row", "max_pool1d", "(N, C, W) or (C, W)",
    "rg.tensor([[3.0, 2.0]]), rg.tensor([[1, 2]]), 2" => "[[0.0, 3.0, 2.0, 0.0]]";

    max_unpool2d: 2, "plane", "max_pool2d", "(N, C, H, W) or (C, H, W)",
    "rg.tensor([[[9.0]]]), rg.tensor([[[2]]]), 2" => "[[[0.0, 0.0], [9.0, 0.0]]]";

    max_unpool3d: 3, "block", "max_pool3d", "(N, C, D, H, W) or (C, D, H, W)",
    "rg.tensor([[[[9.0]]]]), rg.tensor([[[[1]]]]), (1, 1, 2)" => "[[[[0.0, 9.0]]]]";
}
