//! Copies of what views look at: `expand_copy` and the like, each the copy of its view, with a node of its own name.

use retrograd_macros::op;

use super::{axes, expand, shape, slice, split, strided, unfold};
use crate::error::Result;
use crate::ops::{Entry, memory};
use crate::tensor::{DType, Tensor};

/// The copies of one view, or of several.
trait Copied: Sized {
    fn copied(self, node: &'static str) -> Result<Self>;
}

impl Copied for Tensor {
    fn copied(self, node: &'static str) -> Result<Self> {
        memory::clone_called(&self, node)
    }
}

impl Copied for Vec<Tensor> {
    fn copied(self, node: &'static str) -> Result<Self> {
        self.iter().map(|view| memory::clone_called(view, node)).collect()
    }
}

/// Lists copies: entry, names of the copy and of the view in Python, name in Rust, parameters, further arguments of
/// `#[op]`, type of the result, node, the view, and the example with its result.
macro_rules! copies {
    ($($entry:ident $python:literal $viewed:literal $name:ident($($params:tt)*) [$($facts:tt)*] $result:ty,
        $node:literal, $view:expr, $example:literal, $shown:literal;)*) => {
        /// Entries of this family.
        pub static ROSTER: &[&Entry] = &[$(&$entry),*];
        $(
            #[doc = concat!(" What the view of the same arguments looks at, in fresh memory; see `", $viewed, "`.")]
            ///
            #[doc = concat!(" >>> ", $example)]
            #[doc = concat!(" ", $shown)]
            #[op(function, norust, name = $python, $($facts)*)]
            pub fn $name($($params)*) -> Result<$result> {
                $view?.copied($node)
            }
        )*
    };
}
copies! {
    ALIAS_COPY "alias_copy" "Tensor.view" alias_copy(input: &Tensor) [out] Tensor, "AliasBackward0_copy",
        shape::alias(input),
        "rg.alias_copy(rg.ones(2)).tolist()", "[1.0, 1.0]";
    AS_STRIDED_COPY "as_strided_copy" "as_strided" as_strided_copy(
        input: &Tensor, size: &[i64], stride: &[i64], storage_offset: Option<i64>
    ) [out, "(storage_offset=None)"] Tensor, "AsStridedBackward0_copy",
        strided::as_strided(input, size, stride, storage_offset),
        "rg.as_strided_copy(rg.tensor([1.0, 2.0]), (2, 2), (0, 1)).tolist()", "[[1.0, 2.0], [1.0, 2.0]]";
    DIAGONAL_COPY "diagonal_copy" "diagonal" diagonal_copy(input: &Tensor, offset: i64, dim1: i64, dim2: i64)
        [out, "(offset=0, dim1=0, dim2=1)"] Tensor, "DiagonalBackward0_copy",
        slice::diagonal(input, offset, dim1, dim2), "rg.diagonal_copy(rg.ones(2, 2)).tolist()", "[1.0, 1.0]";
    EXPAND_COPY "expand_copy" "Tensor.expand" expand_copy(input: &Tensor, size: &[i64], implicit: bool)
        [out, "(*, implicit=False)"] Tensor, "ExpandBackward0_copy",
        { let _ = implicit; expand::expand(input, size) }, "rg.expand_copy(rg.ones(1), (2,)).tolist()", "[1.0, 1.0]";
    NARROW_COPY "narrow_copy" "narrow" narrow_copy(input: &Tensor, dim: i64, start: i64, length: i64)
        [method, out] Tensor, "NarrowCopyBackward0", slice::narrow(input, dim, start, length),
        "rg.narrow_copy(rg.ones(3), 0, 1, 2).tolist()", "[1.0, 1.0]";
    PERMUTE_COPY "permute_copy" "permute" permute_copy(input: &Tensor, dims: &[i64]) [out] Tensor,
        "PermuteBackward0_copy",
        axes::permute(input, dims), "rg.permute_copy(rg.ones(1, 2), (1, 0)).tolist()", "[[1.0], [1.0]]";
    SELECT_COPY "select_copy" "select" select_copy(input: &Tensor, dim: i64, index: i64) [out] Tensor,
        "SelectBackward0_copy",
        slice::select(input, dim, index), "rg.select_copy(rg.ones(2, 1), 0, 1).tolist()", "[1.0]";
    SLICE_COPY "slice_copy" "slice_scatter" slice_copy(
        input: &Tensor, dim: i64, start: Option<i64>, end: Option<i64>, step: i64
    )
        [out, "(dim=0, start=None, end=None, step=1)"] Tensor, "SliceBackward0_copy",
        input.slice(dim, start, end, step), "rg.slice_copy(rg.ones(3), 0, 1).tolist()", "[1.0, 1.0]";
    SPLIT_COPY "split_copy" "split" split_copy(input: &Tensor, split_size: i64, dim: i64) ["(dim=0)"] Vec<Tensor>,
        "SplitBackward0_copy", split::split(input, split_size, dim),
        "[x.tolist() for x in rg.split_copy(rg.ones(3), 2)]", "[[1.0, 1.0], [1.0]]";
    SPLIT_WITH_SIZES_COPY "split_with_sizes_copy" "split_with_sizes" split_with_sizes_copy(
        input: &Tensor, split_sizes: &[i64], dim: i64
    )
        ["(dim=0)"] Vec<Tensor>, "SplitWithSizesBackward0_copy", split::split_with_sizes(input, split_sizes, dim),
        "[x.tolist() for x in rg.split_with_sizes_copy(rg.ones(3), (1, 2))]", "[[1.0], [1.0, 1.0]]";
    SQUEEZE_COPY "squeeze_copy" "squeeze" squeeze_copy(input: &Tensor) [out] Tensor, "SqueezeBackward0_copy",
        axes::squeeze_all(input), "rg.squeeze_copy(rg.ones(1, 1)).tolist()", "1.0";
    SQUEEZE_DIM_COPY "squeeze_copy" "squeeze" squeeze_dim_copy(input: &Tensor, dim: i64) [out] Tensor,
        "SqueezeBackward1_copy",
        axes::squeeze_dim(input, dim), "rg.squeeze_copy(rg.ones(1, 1), 0).tolist()", "[1.0]";
    SQUEEZE_DIMS_COPY "squeeze_copy" "squeeze" squeeze_dims_copy(input: &Tensor, dim: &[i64]) [out] Tensor,
        "SqueezeBackward2_copy", axes::squeeze_dims(input, dim),
        "rg.squeeze_copy(rg.ones(1, 1), (0, 1)).tolist()", "1.0";
    T_COPY "t_copy" "t" t_copy(input: &Tensor) [out] Tensor, "TBackward0_copy", axes::t(input),
        "rg.t_copy(rg.ones(1, 2)).tolist()", "[[1.0], [1.0]]";
    TRANSPOSE_COPY "transpose_copy" "transpose" transpose_copy(input: &Tensor, dim0: i64, dim1: i64) [out] Tensor,
        "TransposeBackward0_copy", axes::transpose(input, dim0, dim1),
        "rg.transpose_copy(rg.ones(1, 2), 0, 1).tolist()", "[[1.0], [1.0]]";
    UNBIND_COPY "unbind_copy" "unbind" unbind_copy(input: &Tensor, dim: i64) ["(dim=0)"] Vec<Tensor>,
        "UnbindBackward0_copy",
        split::unbind(input, dim), "[x.tolist() for x in rg.unbind_copy(rg.ones(2))]", "[1.0, 1.0]";
    UNFOLD_COPY "unfold_copy" "Tensor.unfold" unfold_copy(input: &Tensor, dimension: i64, size: i64, step: i64)
        [out] Tensor, "UnfoldBackward0_copy", unfold::unfold(input, dimension, size, step),
        "rg.unfold_copy(rg.ones(3), 0, 2, 1).tolist()", "[[1.0, 1.0], [1.0, 1.0]]";
    UNSQUEEZE_COPY "unsqueeze_copy" "unsqueeze" unsqueeze_copy(input: &Tensor, dim: i64) [out] Tensor,
        "UnsqueezeBackward0_copy",
        axes::unsqueeze(input, dim), "rg.unsqueeze_copy(rg.ones(2), 0).tolist()", "[[1.0, 1.0]]";
    VIEW_COPY "view_copy" "Tensor.view" view_copy(input: &Tensor, size: &[i64]) [out] Tensor, "ViewBackward0_copy",
        shape::reshape(input, size), "rg.view_copy(rg.ones(2), (2, 1)).tolist()", "[[1.0], [1.0]]";
    VIEW_DTYPE_COPY "view_copy" "Tensor.view" view_dtype_copy(input: &Tensor, dtype: DType) [out] Tensor,
        "ViewBackward0_copy",
        shape::view_dtype(input, dtype), "rg.view_copy(rg.ones(1), rg.int32).tolist()", "[1065353216]";
}
