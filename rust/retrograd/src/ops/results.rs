//! What ops return: tensors of this crate for those of the engine, and results that have names.

use crate::engine::{self, ops::OneOrMany};
use crate::{DType, Result, Tensor};

/// The engine's result as this crate returns it.
pub(crate) trait FromEngine<E>: Sized {
    fn from_engine(made: E) -> Self;
}

#[inline]
pub(crate) fn face<E, T: FromEngine<E>>(made: Result<E>) -> Result<T> {
    made.map(T::from_engine)
}

macro_rules! same {
    ($($t:ty)*) => {$(
        impl FromEngine<$t> for $t {
            #[inline]
            fn from_engine(made: $t) -> Self {
                made
            }
        }
    )*};
}

same!(bool i64 DType);

impl FromEngine<engine::Tensor> for Tensor {
    #[inline]
    fn from_engine(made: engine::Tensor) -> Self {
        Self(made)
    }
}

impl FromEngine<Vec<engine::Tensor>> for Vec<Tensor> {
    #[inline]
    fn from_engine(made: Vec<engine::Tensor>) -> Self {
        // In place: a tensor here is laid out as the engine's.
        made.into_iter().map(Tensor).collect()
    }
}

impl FromEngine<(engine::Tensor, engine::Tensor)> for (Tensor, Tensor) {
    #[inline]
    fn from_engine((a, b): (engine::Tensor, engine::Tensor)) -> Self {
        (Tensor(a), Tensor(b))
    }
}

impl FromEngine<OneOrMany> for Tensor {
    fn from_engine(made: OneOrMany) -> Self {
        match made {
            OneOrMany::One(tensor) => Self(tensor),
            OneOrMany::Many(mut tensors) => Self(tensors.swap_remove(0)),
        }
    }
}

impl FromEngine<OneOrMany> for Vec<Tensor> {
    fn from_engine(made: OneOrMany) -> Self {
        match made {
            OneOrMany::One(tensor) => vec![Tensor(tensor)],
            OneOrMany::Many(tensors) => Self::from_engine(tensors),
        }
    }
}

impl FromEngine<engine::tensor::MaybeNamed> for Vec<Tensor> {
    fn from_engine(made: engine::tensor::MaybeNamed) -> Self {
        Self::from_engine(made.0)
    }
}

macro_rules! results {
    ($($(#[$doc:meta])* $name:ident { $($(#[$of:meta])* $field:ident: $t:ty),* $(,)? } $from:tt)*) => {$(
        $(#[$doc])*
        #[derive(Clone, Debug)]
        pub struct $name {
            $($(#[$of])* pub $field: $t,)*
        }
        results!(@from $from $name $($field)*);
    )*};
    (@from pair $name:ident $a:ident $b:ident) => {
        impl FromEngine<(engine::Tensor, engine::Tensor)> for $name {
            #[inline]
            fn from_engine(($a, $b): (engine::Tensor, engine::Tensor)) -> Self {
                Self { $a: Tensor($a), $b: Tensor($b) }
            }
        }
    };
    (@from list $name:ident $($field:ident)*) => {
        impl FromEngine<Vec<engine::Tensor>> for $name {
            fn from_engine(made: Vec<engine::Tensor>) -> Self {
                let mut made = made.into_iter().map(Tensor);
                $(let $field = made.next().expect(concat!("the engine returns ", stringify!($field)));)*
                Self { $($field),* }
            }
        }
    };
    (@from nested $name:ident $a:ident $b:ident) => {
        impl FromEngine<(engine::Tensor, Vec<engine::Tensor>)> for $name {
            fn from_engine(($a, $b): (engine::Tensor, Vec<engine::Tensor>)) -> Self {
                Self { $a: Tensor($a), $b: Vec::from_engine($b) }
            }
        }
    };
}

results! {
    /// Elements that were chosen, and where they stood.
    ValuesIndices {
        /// The elements.
        values: Tensor,
        /// Their indices along the dimension, of dtype int64.
        indices: Tensor,
    } pair
    /// The smallest and the largest element.
    MinMax {
        /// The smallest.
        min: Tensor,
        /// The largest.
        max: Tensor,
    } pair
    /// Numbers as mantissas and powers of two.
    MantissaExponent {
        /// Between a half and one, or their negatives.
        mantissa: Tensor,
        /// The power of two, of dtype int32.
        exponent: Tensor,
    } pair
    /// A histogram.
    Histogram {
        /// How much fell into each bin.
        hist: Tensor,
        /// The edges of the bins, one more than there are bins.
        bin_edges: Tensor,
    } pair
    /// A histogram of several dimensions.
    HistogramDd {
        /// How much fell into each bin.
        hist: Tensor,
        /// The edges of the bins, per dimension.
        bin_edges: Vec<Tensor>,
    } nested
    /// A Cholesky factor, and whether it is one.
    CholeskyInfo {
        /// The factor.
        l: Tensor,
        /// Zero, or the order of the leading minor that is not positive definite.
        info: Tensor,
    } pair
    /// A solution by triangular matrices.
    TriangularSolution {
        /// The solution.
        solution: Tensor,
        /// A copy of the coefficients.
        cloned_coefficient: Tensor,
    } pair
    /// An LDL decomposition in compact form.
    Ldl {
        /// Both factors in one matrix.
        ld: Tensor,
        /// The pivots.
        pivots: Tensor,
    } pair
    /// An LDL decomposition in compact form, and whether it is one.
    LdlInfo {
        /// Both factors in one matrix.
        ld: Tensor,
        /// The pivots.
        pivots: Tensor,
        /// Zero, or the number of a pivot that is zero.
        info: Tensor,
    } list
    /// An LU decomposition.
    Plu {
        /// The permutation.
        p: Tensor,
        /// The lower triangle, with ones on its diagonal.
        l: Tensor,
        /// The upper triangle.
        u: Tensor,
    } list
    /// An LU decomposition in compact form.
    Lu {
        /// Both factors in one matrix.
        lu: Tensor,
        /// The pivots.
        pivots: Tensor,
    } pair
    /// An LU decomposition in compact form, and whether it is one.
    LuInfo {
        /// Both factors in one matrix.
        lu: Tensor,
        /// The pivots.
        pivots: Tensor,
        /// Zero, or the number of a pivot that is zero.
        info: Tensor,
    } list
    /// A solution, and whether it is one.
    SolutionInfo {
        /// The solution.
        result: Tensor,
        /// Zero, or the number of a pivot that is zero.
        info: Tensor,
    } pair
    /// An inverse, and whether it is one.
    InverseInfo {
        /// The inverse.
        inverse: Tensor,
        /// Zero, or the number of a pivot that is zero.
        info: Tensor,
    } pair
    /// A determinant as its sign and the logarithm of its absolute value.
    SignLogabsdet {
        /// The sign.
        sign: Tensor,
        /// The logarithm.
        logabsdet: Tensor,
    } pair
    /// A QR decomposition.
    Qr {
        /// Orthonormal columns.
        q: Tensor,
        /// The upper triangle.
        r: Tensor,
    } pair
    /// A QR decomposition as Householder reflectors.
    Geqrf {
        /// The reflectors, and `R` above them.
        a: Tensor,
        /// Their factors.
        tau: Tensor,
    } pair
    /// Eigenvalues and eigenvectors.
    Eig {
        /// The eigenvalues.
        eigenvalues: Tensor,
        /// The eigenvectors, one per column.
        eigenvectors: Tensor,
    } pair
    /// A singular value decomposition, with the right vectors as rows.
    Svd {
        /// The left singular vectors, one per column.
        u: Tensor,
        /// The singular values, falling.
        s: Tensor,
        /// The right singular vectors, conjugated, one per row.
        vh: Tensor,
    } list
    /// A singular value decomposition, with the right vectors as columns.
    Usv {
        /// The left singular vectors, one per column.
        u: Tensor,
        /// The singular values, falling.
        s: Tensor,
        /// The right singular vectors, one per column.
        v: Tensor,
    } list
    /// Least squares.
    Lstsq {
        /// The solution.
        solution: Tensor,
        /// The squares that are left, or nothing.
        residuals: Tensor,
        /// The rank of the matrix, or nothing.
        rank: Tensor,
        /// Its singular values, or nothing.
        singular_values: Tensor,
    } list
}
