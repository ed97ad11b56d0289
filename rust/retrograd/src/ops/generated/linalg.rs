//! Written by the crate `retrograd-generator`, for `make face`: change the roster, or that crate.

#![cfg_attr(not(feature = "linalg"), allow(unused_imports))]

use crate::engine::ops as engine;
use crate::ops::options::*;
use crate::ops::{
    CholeskyInfo, Eig, InverseInfo, Ldl, LdlInfo, Lstsq, LstsqDriver, Lu, LuInfo, MatrixNorm, Plu, Qr, SignLogabsdet,
    SolutionInfo, Svd, SvdDriver, Tensors, as_dims, as_scalar,
};
use crate::shape::Dims;
use crate::{Scalar, Tensor};

op! {
    {
        /// The norm of vectors: of all elements, or over dimensions; a real number.
        ///
        /// Args: `x` a floating or complex dtype; `ord` the order `p` of `sum(abs(x) ** p) ** (1 / p)`, infinity for
        /// the largest magnitude, minus infinity for the smallest, 0 for the number of elements that are not zero;
        /// `dim`, `keepdim` as for `sum`; `dtype` converts first.
        ///
        /// Returns: a tensor without (or with size 1 in) the dimensions.
        ///
        /// Derivative: `g` times that of the norm, 0 where the norm is 0; none for order 0.
        ///
        /// Errors: for integers, or an order without identity over no elements.
        ///
        /// ```
        /// use retrograd::{ops, tensor};
        ///
        /// assert_eq!(ops::linalg::vector_norm(&tensor![3f32, 4.0]).item::<f64>()?, 5.0);
        /// # Ok::<(), retrograd::Error>(())
        /// ```
    }
    fn [vector_norm try_vector_norm vector_norm_with try_vector_norm_with] ([] x: &Tensor)
    -> Tensor = engine::reduce::norm::vector_norm, (x.engine(), Scalar::Int(2), None, false, None)
    {[] o: VectorNormOptions => Tensor = (x.engine(), o.ord, o.dim.as_ref().map(Dims::as_slice), o.keepdim, o.dtype)}
}

op! {
    {
        /// The norm of matrices by a name.
        ///
        /// Args: `A` a floating or complex dtype; `ord` `MatrixNorm::Fro` for the root of the sum of squares,
        /// `MatrixNorm::Nuc` for the sum of the singular values; `dim` the two axes of the matrices; `keepdim` keeps
        /// them with size 1; `dtype` converts first.
        ///
        /// Derivative: as for `linalg.vector_norm` and `linalg.svdvals`.
        ///
        /// Errors: for integers, fewer than 2 dims or another name.
        ///
        /// ```
        /// use retrograd::{ops, tensor};
        ///
        /// assert_eq!(ops::linalg::matrix_norm(&tensor![[3f32, 0.0], [0.0, 4.0]]).item::<f64>()?, 5.0);
        /// # Ok::<(), retrograd::Error>(())
        /// ```
    }
    fn [matrix_norm try_matrix_norm matrix_norm_with try_matrix_norm_with] ([] a: &Tensor)
    -> Tensor = engine::reduce::norm::matrix_norm, (a.engine(), "fro", &[-2, -1], false, None)
    {[] o: MatrixNormOptions => Tensor = (a.engine(), o.ord.name(), o.dim.as_slice(), o.keepdim, o.dtype)}
}

op! {
    {
        /// The norm of matrices by a number.
        ///
        /// Args: `ord` 1 for the largest sum of magnitudes of a column, infinity for that of a row, -1 and minus
        /// infinity for the smallest; 2 for the largest singular value, -2 for the smallest; others as above.
        ///
        /// ```
        /// use retrograd::{ops, tensor};
        ///
        /// assert_eq!(ops::linalg::matrix_norm_ord(&tensor![[1f32, 2.0], [3.0, 4.0]], 1).item::<f64>()?, 6.0);
        /// # Ok::<(), retrograd::Error>(())
        /// ```
        #[doc(alias = "matrix_norm")]
    }
    fn [matrix_norm_ord try_matrix_norm_ord matrix_norm_ord_with try_matrix_norm_ord_with] ([] a: &Tensor,
        ord: impl Into<Scalar>)
    -> Tensor = engine::reduce::norm::matrix_norm_number, (a.engine(), as_scalar(ord), &[-2, -1], false, None)
    {[] o: MatrixNormOrdOptions => Tensor = (a.engine(), as_scalar(ord), o.dim.as_slice(), o.keepdim, o.dtype)}
}

op! {
    {
        /// As `matrix_norm_ord`, along `dim`.
    }
    fn [matrix_norm_ord_dim try_matrix_norm_ord_dim] ([] a: &Tensor, ord: impl Into<Scalar>, dim: impl Into<Dims>)
    -> Tensor = engine::reduce::norm::matrix_norm_number, (a.engine(), as_scalar(ord), as_dims(dim).as_slice(), false,
        None)
    {}
}

op! {
    {
        /// The norm of matrices by a name; see `linalg.matrix_norm`.
        ///
        /// ```
        /// use retrograd::{ops, tensor};
        ///
        /// let y = ops::linalg::norm_named(&tensor![[3f32, 0.0], [0.0, 4.0]], ops::MatrixNorm::Fro);
        /// assert_eq!(y.item::<f64>()?, 5.0);
        /// # Ok::<(), retrograd::Error>(())
        /// ```
        #[doc(alias = "norm")]
    }
    fn [norm_named try_norm_named norm_named_with try_norm_named_with] ([] a: &Tensor, ord: MatrixNorm)
    -> Tensor = engine::reduce::norm::linalg_norm_named, (a.engine(), ord.name(), None, false, None)
    {[] o: DimKeepdimDtypeOptions => Tensor = (a.engine(), ord.name(), o.dim.as_ref().map(Dims::as_slice), o.keepdim,
        o.dtype)}
}

op! {
    {
        /// As `norm_named`, along `dim`.
    }
    fn [norm_named_dim try_norm_named_dim] ([] a: &Tensor, ord: MatrixNorm, dim: impl Into<Dims>)
    -> Tensor = engine::reduce::norm::linalg_norm_named, (a.engine(), ord.name(), Some(as_dims(dim).as_slice()), false,
        None)
    {}
}

op! {
    {
        /// The norm of vectors or, with an order and two axes, of matrices.
        ///
        /// Args: `A` a floating or complex dtype; `ord` an order, `None` for the root of the sum of squares; `dim` one
        /// axis or two, `None` for all; `keepdim` keeps them with size 1; `dtype` converts first.
        ///
        /// Returns: `linalg.vector_norm`, or `linalg.matrix_norm` for an order and two axes.
        ///
        /// Errors: for more axes, and as these do.
        ///
        /// ```
        /// use retrograd::{ops, tensor};
        ///
        /// assert_eq!(ops::linalg::norm(&tensor![3f32, 4.0]).item::<f64>()?, 5.0);
        /// # Ok::<(), retrograd::Error>(())
        /// ```
    }
    fn [norm try_norm norm_with try_norm_with] ([] a: &Tensor)
    -> Tensor = engine::reduce::norm::linalg_norm, (a.engine(), None, None, false, None)
    {[] o: LinalgNormOptions => Tensor = (a.engine(), o.ord, o.dim.as_ref().map(Dims::as_slice), o.keepdim, o.dtype)}
}

op! {
    {
        /// The matrix product, by the ranks of the operands: see `matmul`.
        ///
        /// Args, Returns, Derivative, Errors: as there.
        ///
        /// ```
        /// use retrograd::{Tensor, ops};
        ///
        /// assert_eq!(ops::linalg::matmul(&Tensor::ones([4, 2, 3]), &Tensor::ones([3, 5])).shape(), [4, 2, 5]);
        /// ```
    }
    fn [matmul try_matmul] ([] input: &Tensor, other: &Tensor)
    -> Tensor = engine::matmul::compose::linalg_matmul, (input.engine(), other.engine())
    {}
}

op! {
    {
        /// The cross product of vectors of 3 elements along an axis.
        ///
        /// Args: `other` with as many axes, which broadcast; `dim` the axis of size 3.
        ///
        /// Returns: a fresh tensor.
        ///
        /// Derivative: `other x g` and `g x input`.
        ///
        /// Errors: if the axis has another size.
        ///
        /// ```
        /// use retrograd::{ops, tensor};
        ///
        /// let y = ops::linalg::cross(&tensor![1f32, 0.0, 0.0], &tensor![0f32, 1.0, 0.0]);
        /// assert_eq!(y.to_vec::<f64>()?, [0.0, 0.0, 1.0]);
        /// # Ok::<(), retrograd::Error>(())
        /// ```
    }
    fn [cross try_cross cross_with try_cross_with] ([] input: &Tensor, other: &Tensor)
    -> Tensor = engine::matmul::linalg::linalg_cross, (input.engine(), other.engine(), -1)
    {[] o: TrapezoidAtOptions => Tensor = (input.engine(), other.engine(), o.dim)}
}

op! {
    {
        /// As `cross`, along `dim`.
    }
    fn [cross_dim try_cross_dim] ([] input: &Tensor, other: &Tensor, dim: i64)
    -> Tensor = engine::matmul::linalg::linalg_cross, (input.engine(), other.engine(), dim)
    {}
}

op! {
    {
        /// The sums of products along an axis, the first factors conjugated.
        ///
        /// Args: `x`, `y` of one floating or complex dtype, with shapes that broadcast; `dim` the axis.
        ///
        /// Returns: a tensor without the axis.
        ///
        /// Derivative: `g * y` and `g * x`.
        ///
        /// Errors: if the axis has different sizes, for integers, or if the dtypes differ.
        ///
        /// ```
        /// use retrograd::{Tensor, ops, tensor};
        ///
        /// let y = ops::linalg::vecdot(&tensor![[1f32, 2.0], [3.0, 4.0]], &Tensor::ones([2]));
        /// assert_eq!(y.to_vec::<f64>()?, [3.0, 7.0]);
        /// # Ok::<(), retrograd::Error>(())
        /// ```
    }
    fn [vecdot try_vecdot vecdot_with try_vecdot_with] ([] x: &Tensor, y: &Tensor)
    -> Tensor = engine::matmul::linalg::vecdot, (x.engine(), y.engine(), -1)
    {[] o: TrapezoidAtOptions => Tensor = (x.engine(), y.engine(), o.dim)}
}

op! {
    {
        /// As `vecdot`, along `dim`.
    }
    fn [vecdot_dim try_vecdot_dim] ([] x: &Tensor, y: &Tensor, dim: i64)
    -> Tensor = engine::matmul::linalg::vecdot, (x.engine(), y.engine(), dim)
    {}
}

op! {
    {
        /// A view of the diagonals of matrices; see `diagonal`.
        ///
        /// Args: `offset` which diagonal; `dim1`, `dim2` the axes of the matrices.
        ///
        /// ```
        /// use retrograd::{ops, tensor};
        ///
        /// assert_eq!(ops::linalg::diagonal(&tensor![[1f32, 2.0], [3.0, 4.0]]).to_vec::<f64>()?, [1.0, 4.0]);
        /// # Ok::<(), retrograd::Error>(())
        /// ```
    }
    fn [diagonal try_diagonal diagonal_with try_diagonal_with] ([] a: &Tensor)
    -> Tensor = engine::matmul::linalg::linalg_diagonal, (a.engine(), 0, -2, -1)
    {[] o: DiagEmbedOptions => Tensor = (a.engine(), o.offset, o.dim1, o.dim2)}
}

op! {
    {
        /// The product of several matrices, in the order that takes the fewest multiplications.
        ///
        /// Args: `tensors` two or more matrices; the first and the last may be vectors, a row and a column, whose axes
        /// are not in the result.
        ///
        /// Derivative: that of the products.
        ///
        /// Errors: for fewer than two or other shapes.
        ///
        /// ```
        /// use retrograd::{Tensor, ops};
        ///
        /// let y = ops::linalg::multi_dot([Tensor::ones([2, 3]), Tensor::ones([3, 4]), Tensor::ones([4])]);
        /// assert_eq!(y.shape(), [2]);
        /// ```
    }
    fn [multi_dot try_multi_dot] (['a] tensors: impl Into<Tensors<'a>>)
    -> Tensor = engine::matmul::linalg::multi_dot, (tensors.into().engine())
    {}
}

op! {
    {
        /// A square matrix, or each of a batch, multiplied by itself.
        ///
        /// Args: `A` of shape `(*, m, m)`; `n` how often, 0 for the identity, a negative one for powers of the inverse.
        ///
        /// Returns: a tensor of the same shape.
        ///
        /// Derivative: that of the products and of the inverse.
        ///
        /// Errors: for matrices that are not square; for a singular matrix and a negative `n`.
        ///
        /// ```
        /// use retrograd::{ops, tensor};
        ///
        /// let y = ops::linalg::matrix_power(&tensor![[1f32, 1.0], [0.0, 1.0]], 5);
        /// assert_eq!(y.to_vec::<f64>()?, [1.0, 5.0, 0.0, 1.0]);
        /// # Ok::<(), retrograd::Error>(())
        /// ```
    }
    fn [matrix_power try_matrix_power] ([] a: &Tensor, n: i64)
    -> Tensor = engine::matmul::linalg::matrix_power, (a.engine(), n)
    {}
}

op! {
    {
        /// The powers of each element, from 0 on, along a new last axis.
        ///
        /// Args: `x` of any shape, a 0-dim tensor as one of length 1; `N` how many powers, by default the size of the
        /// last axis.
        ///
        /// Returns: a fresh tensor; integers become int64.
        ///
        /// Derivative: that of the powers.
        ///
        /// Errors: for `N` below 2.
        ///
        /// ```
        /// use retrograd::{ops, tensor};
        ///
        /// let y = ops::linalg::vander_with(&tensor![2f32, 3.0], |o| o.n(3));
        /// assert_eq!(y.to_vec::<f64>()?, [1.0, 2.0, 4.0, 1.0, 3.0, 9.0]);
        /// # Ok::<(), retrograd::Error>(())
        /// ```
    }
    fn [vander try_vander vander_with try_vander_with] ([] x: &Tensor)
    -> Tensor = engine::matmul::linalg::linalg_vander, (x.engine(), None)
    {[] o: VanderOptions => Tensor = (x.engine(), o.n)}
}

op! {
    {
        /// The exponential of a square matrix, or of each of a batch; see `matrix_exp`.
        ///
        /// Args: `A` as the `input` there.
        ///
        /// ```
        /// use retrograd::{ops, tensor};
        ///
        /// let y = ops::linalg::matrix_exp(&tensor![[0f32, 1.0], [0.0, 0.0]]);
        /// assert_eq!(y.to_vec::<f64>()?, [1.0, 1.0, 0.0, 1.0]);
        /// # Ok::<(), retrograd::Error>(())
        /// ```
    }
    fn [matrix_exp try_matrix_exp] ([] a: &Tensor)
    -> Tensor = engine::matmul::exponential::linalg_matrix_exp, (a.engine())
    {}
}

#[cfg(feature = "linalg")]
op! {
    {
        /// The Cholesky factorization of Hermitian (or real symmetric) positive-definite matrices: `A = L L^H`.
        ///
        /// Args: `A` (\*, n, n) of dtype float32, float64, complex64 or complex128, of which one triangle is read;
        /// `upper` gives `U = L^H` instead, of the upper triangle.
        ///
        /// Returns: triangular matrices of the same shape.
        ///
        /// Derivative: `L^-H phi(L^H g) L^-1` made Hermitian, with `phi` the lower triangle whose diagonal is halved
        /// (Murray 2016).
        ///
        /// Errors: if a matrix is not positive-definite, if matrices are not square.
        ///
        /// ```
        /// use retrograd::{ops, tensor};
        ///
        /// assert_eq!(ops::linalg::cholesky(&tensor![[4f32, 2.0], [2.0, 5.0]]).to_vec::<f64>()?, [2.0, 0.0, 1.0, 2.0]);
        /// # Ok::<(), retrograd::Error>(())
        /// ```
        ///
        /// Needs the feature `linalg`.
    }
    fn [cholesky try_cholesky cholesky_with try_cholesky_with] ([] a: &Tensor)
    -> Tensor = engine::linalg::cholesky::linalg_cholesky, (a.engine(), false)
    {[] o: UpperOptions => Tensor = (a.engine(), o.upper)}
}

#[cfg(feature = "linalg")]
op! {
    {
        /// The Cholesky factorization, with a number for each matrix that says whether it succeeded; see
        /// `linalg.cholesky`.
        ///
        /// Args: `A`, `upper` as there; `check_errors` raises as it does.
        ///
        /// Returns: `(L, info)`: `info`, int32, is 0, or the order of the first leading minor that is not
        /// positive-definite; then the matrix holds what was computed till then.
        ///
        /// ```
        /// use retrograd::{ops, tensor};
        ///
        /// assert_eq!(ops::linalg::cholesky_ex(&tensor![[1f32, 2.0], [2.0, 1.0]]).info.item::<i64>()?, 2);
        /// # Ok::<(), retrograd::Error>(())
        /// ```
        ///
        /// Needs the feature `linalg`.
    }
    fn [cholesky_ex try_cholesky_ex cholesky_ex_with try_cholesky_ex_with] ([] a: &Tensor)
    -> CholeskyInfo = engine::linalg::cholesky::cholesky_ex, (a.engine(), false, false)
    {[] o: CholeskyExOptions => CholeskyInfo = (a.engine(), o.upper, o.check_errors)}
}

#[cfg(feature = "linalg")]
op! {
    {
        /// The solution of `A X = B`, or of `X A = B`, with triangular matrices `A`.
        ///
        /// Args: `A` (\*, n, n) and `B` (\*, n, k), or (\*, k, n) with `left(false)`, of one dtype, float32, float64,
        /// complex64 or complex128, whose batches broadcast; `upper` which triangle of `A` is read; `left` which
        /// equation; `unitriangular` takes ones for the diagonal.
        ///
        /// Returns: a tensor of the shape of `B`, broadcast. A zero on the diagonal gives infinities or NaN.
        ///
        /// Derivative: `gB = A^-H g` and the triangle of `-gB X^H` (Giles 2008, 2.3.1).
        ///
        /// Errors: if shapes or dtypes do not fit.
        ///
        /// Needs the feature `linalg`.
    }
    fn [solve_triangular try_solve_triangular solve_triangular_with try_solve_triangular_with] ([] a: &Tensor,
        b: &Tensor, upper: bool)
    -> Tensor = engine::linalg::triangular::solve_triangular, (a.engine(), b.engine(), upper, true, false)
    {[] o: SolveTriangularOptions => Tensor = (a.engine(), b.engine(), upper, o.left, o.unitriangular)}
}

#[cfg(feature = "linalg")]
op! {
    {
        /// The factorization `A = L D L^T` of symmetric matrices, or `L D L^H` of Hermitian ones.
        ///
        /// Args: `A` (\*, n, n) of dtype float32, float64, complex64 or complex128, of which the lower triangle is
        /// read; `hermitian` says which of both complex matrices are.
        ///
        /// Returns: `(LD, pivots)`: `D`, which has blocks of one or two rows, and below it `L`, without its ones; and
        /// the rows that were swapped, as LAPACK's `sytrf` has them: negative for blocks of two rows. There is no
        /// derivative.
        ///
        /// Errors: if a block of `D` is zero, if matrices are not square.
        ///
        /// ```
        /// use retrograd::{ops, tensor};
        ///
        /// assert_eq!(ops::linalg::ldl_factor(&tensor![[0f32, 2.0], [2.0, 0.0]]).pivots.to_vec::<i64>()?, [-2, -2]);
        /// # Ok::<(), retrograd::Error>(())
        /// ```
        ///
        /// Needs the feature `linalg`.
    }
    fn [ldl_factor try_ldl_factor ldl_factor_with try_ldl_factor_with] ([] a: &Tensor)
    -> Ldl = engine::linalg::ldl::ldl_factor, (a.engine(), false)
    {[] o: HermitianOptions => Ldl = (a.engine(), o.hermitian)}
}

#[cfg(feature = "linalg")]
op! {
    {
        /// As `linalg.ldl_factor`, with a number for each matrix.
        ///
        /// Args: `A`, `hermitian` as there; `check_errors` raises as it does.
        ///
        /// Returns: `(LD, pivots, info)`: `info`, int32, is 0, or the first block of `D`, from 1 on, that is zero.
        /// There is no derivative.
        ///
        /// ```
        /// use retrograd::{Tensor, ops};
        ///
        /// assert_eq!(ops::linalg::ldl_factor_ex(&Tensor::zeros([2, 2])).info.item::<i64>()?, 1);
        /// # Ok::<(), retrograd::Error>(())
        /// ```
        ///
        /// Needs the feature `linalg`.
    }
    fn [ldl_factor_ex try_ldl_factor_ex ldl_factor_ex_with try_ldl_factor_ex_with] ([] a: &Tensor)
    -> LdlInfo = engine::linalg::ldl::ldl_factor_ex, (a.engine(), false, false)
    {[] o: LdlFactorExOptions => LdlInfo = (a.engine(), o.hermitian, o.check_errors)}
}

#[cfg(feature = "linalg")]
op! {
    {
        /// The solution of `A X = B` by the factors of `A`.
        ///
        /// Args: `LD`, `pivots` what `linalg.ldl_factor` returned, with the same `hermitian`; `B` (\*, n, k), whose
        /// batch broadcasts with theirs.
        ///
        /// Returns: a tensor of the shape of `B`, broadcast. There is no derivative.
        ///
        /// Errors: if shapes or dtypes do not fit.
        ///
        /// Needs the feature `linalg`.
    }
    fn [ldl_solve try_ldl_solve ldl_solve_with try_ldl_solve_with] ([] ld: &Tensor, pivots: &Tensor, b: &Tensor)
    -> Tensor = engine::linalg::ldl::ldl_solve, (ld.engine(), pivots.engine(), b.engine(), false)
    {[] o: HermitianOptions => Tensor = (ld.engine(), pivots.engine(), b.engine(), o.hermitian)}
}

#[cfg(feature = "linalg")]
op! {
    {
        /// The LU factorization with row pivoting, `A = P L U`.
        ///
        /// Args: `A` (\*, m, n) of dtype float32, float64, complex64 or complex128; `pivot` must be `true`.
        ///
        /// Returns: `(P, L, U)`: permutations (\*, m, m), lower triangles (\*, m, k) with ones on the diagonal, upper
        /// triangles (\*, k, n), with `k = min(m, n)`. Singular matrices are factored too; they have no derivative.
        ///
        /// Derivative: that of Walter and Lehmann (2010).
        ///
        /// Errors: for fewer than 2 dims.
        ///
        /// Needs the feature `linalg`.
    }
    fn [lu try_lu lu_with try_lu_with] ([] a: &Tensor)
    -> Plu = engine::linalg::lu::linalg_lu, (a.engine(), true)
    {[] o: PivotOptions => Plu = (a.engine(), o.pivot)}
}

#[cfg(feature = "linalg")]
op! {
    {
        /// The factors of `A = P L U` in one matrix, and the pivots.
        ///
        /// Args: `A` (\*, m, n) of dtype float32, float64, complex64 or complex128; `pivot` must be `true`.
        ///
        /// Returns: `(LU, pivots)`: `U` and below its diagonal `L`, without its ones; and in int32, from 1 on, the row
        /// that each row was swapped with.
        ///
        /// Derivative: that of Walter and Lehmann (2010).
        ///
        /// Errors: if a diagonal element of `U` is zero.
        ///
        /// ```
        /// use retrograd::{ops, tensor};
        ///
        /// assert_eq!(ops::linalg::lu_factor(&tensor![[1f32, 2.0], [2.0, 2.0]]).pivots.to_vec::<i64>()?, [2, 2]);
        /// # Ok::<(), retrograd::Error>(())
        /// ```
        ///
        /// Needs the feature `linalg`.
    }
    fn [lu_factor try_lu_factor lu_factor_with try_lu_factor_with] ([] a: &Tensor)
    -> Lu = engine::linalg::lu::lu_factor, (a.engine(), true)
    {[] o: PivotOptions => Lu = (a.engine(), o.pivot)}
}

#[cfg(feature = "linalg")]
op! {
    {
        /// As `linalg.lu_factor`, with a number for each matrix.
        ///
        /// Args: `A`, `pivot` as there; `check_errors` raises as it does.
        ///
        /// Returns: `(LU, pivots, info)`: `info`, int32, is 0, or the first diagonal element of `U`, from 1 on, that is
        /// zero.
        ///
        /// ```
        /// use retrograd::{Tensor, ops};
        ///
        /// assert_eq!(ops::linalg::lu_factor_ex(&Tensor::zeros([2, 2])).info.item::<i64>()?, 1);
        /// # Ok::<(), retrograd::Error>(())
        /// ```
        ///
        /// Needs the feature `linalg`.
    }
    fn [lu_factor_ex try_lu_factor_ex lu_factor_ex_with try_lu_factor_ex_with] ([] a: &Tensor)
    -> LuInfo = engine::linalg::lu::lu_factor_ex, (a.engine(), true, false)
    {[] o: LuFactorExOptions => LuInfo = (a.engine(), o.pivot, o.check_errors)}
}

#[cfg(feature = "linalg")]
op! {
    {
        /// The solution of `A X = B`, or `X A = B`, by the factors of `A`.
        ///
        /// Args: `LU`, `pivots` what `linalg.lu_factor` returned for (\*, n, n); `B` (\*, n, k), or (\*, k, n) unless
        /// `left`; `adjoint` takes the adjoint of `A`. Batches broadcast.
        ///
        /// Returns: a tensor of the shape of `B`, broadcast.
        ///
        /// Derivative: `gB = A^-H g`, and those of the factors from `-gB X^H`.
        ///
        /// Errors: if shapes or dtypes do not fit.
        ///
        /// Needs the feature `linalg`.
    }
    fn [lu_solve try_lu_solve lu_solve_with try_lu_solve_with] ([] lu: &Tensor, pivots: &Tensor, b: &Tensor)
    -> Tensor = engine::linalg::lu::linalg_lu_solve, (lu.engine(), pivots.engine(), b.engine(), true, false)
    {[] o: LuSolveOptions => Tensor = (lu.engine(), pivots.engine(), b.engine(), o.left, o.adjoint)}
}

#[cfg(feature = "linalg")]
op! {
    {
        /// The solution of `A X = B`, or of `X A = B`, with square matrices `A`.
        ///
        /// Args: `A` (\*, n, n); `B` (\*, n, k), or (\*, k, n) unless `left`, of the same dtype, float32, float64,
        /// complex64 or complex128; batches broadcast. A `B` of one dim, or of the shape (\*, n) of `A` without its
        /// last axis, is vectors.
        ///
        /// Returns: a tensor of the shape of `B`, broadcast.
        ///
        /// Derivative: `gB = A^-H g` and `gA = -gB X^H` (Giles 2008, 2.3.1).
        ///
        /// Errors: if a matrix is singular, if shapes or dtypes do not fit.
        ///
        /// ```
        /// use retrograd::{ops, tensor};
        ///
        /// let y = ops::linalg::solve(&tensor![[2f32, 0.0], [1.0, 1.0]], &tensor![2f32, 3.0]);
        /// assert_eq!(y.to_vec::<f64>()?, [1.0, 2.0]);
        /// # Ok::<(), retrograd::Error>(())
        /// ```
        ///
        /// Needs the feature `linalg`.
    }
    fn [solve try_solve solve_with try_solve_with] ([] a: &Tensor, b: &Tensor)
    -> Tensor = engine::linalg::solve::solve, (a.engine(), b.engine(), true)
    {[] o: SolveOptions => Tensor = (a.engine(), b.engine(), o.left)}
}

#[cfg(feature = "linalg")]
op! {
    {
        /// The solution of `A X = B`, with a number for each matrix that says whether there is one; see `linalg.solve`.
        ///
        /// Args: `A`, `B`, `left` as there; `check_errors` raises as it does.
        ///
        /// Returns: `(result, info)`: `info`, int32, is 0, or the diagonal element of the factor `U`, from 1 on, that
        /// is zero.
        ///
        /// ```
        /// use retrograd::{Tensor, ops};
        ///
        /// assert_eq!(ops::linalg::solve_ex(&Tensor::zeros([1, 1]), &Tensor::ones([1])).info.item::<i64>()?, 1);
        /// # Ok::<(), retrograd::Error>(())
        /// ```
        ///
        /// Needs the feature `linalg`.
    }
    fn [solve_ex try_solve_ex solve_ex_with try_solve_ex_with] ([] a: &Tensor, b: &Tensor)
    -> SolutionInfo = engine::linalg::solve::solve_ex, (a.engine(), b.engine(), true, false)
    {[] o: SolveExOptions => SolutionInfo = (a.engine(), b.engine(), o.left, o.check_errors)}
}

#[cfg(feature = "linalg")]
op! {
    {
        /// The inverses of square matrices.
        ///
        /// Args: `A` (\*, n, n) of dtype float32, float64, complex64 or complex128.
        ///
        /// Returns: a tensor of the same shape.
        ///
        /// Derivative: `-A^-H g A^-H` (Giles 2008, 2.2.3).
        ///
        /// Errors: if a matrix is singular, if matrices are not square.
        ///
        /// ```
        /// use retrograd::{ops, tensor};
        ///
        /// assert_eq!(ops::linalg::inv(&tensor![[2f32, 0.0], [0.0, 4.0]]).to_vec::<f64>()?, [0.5, 0.0, 0.0, 0.25]);
        /// # Ok::<(), retrograd::Error>(())
        /// ```
        ///
        /// Needs the feature `linalg`.
    }
    fn [inv try_inv] ([] a: &Tensor)
    -> Tensor = engine::linalg::solve::inv, (a.engine())
    {}
}

#[cfg(feature = "linalg")]
op! {
    {
        /// The inverses of square matrices, with a number for each that says whether there is one; see `linalg.inv`.
        ///
        /// Args: `check_errors` raises as `linalg.inv` does.
        ///
        /// Returns: `(inverse, info)`: `info`, int32, is 0, or the diagonal element of the factor `U`, from 1 on, that
        /// is zero.
        ///
        /// ```
        /// use retrograd::{Tensor, ops};
        ///
        /// assert_eq!(ops::linalg::inv_ex(&Tensor::zeros([1, 1])).info.item::<i64>()?, 1);
        /// # Ok::<(), retrograd::Error>(())
        /// ```
        ///
        /// Needs the feature `linalg`.
    }
    fn [inv_ex try_inv_ex inv_ex_with try_inv_ex_with] ([] a: &Tensor)
    -> InverseInfo = engine::linalg::solve::inv_ex, (a.engine(), false)
    {[] o: InvExOptions => InverseInfo = (a.engine(), o.check_errors)}
}

#[cfg(feature = "linalg")]
op! {
    {
        /// The tensor that `tensordot` takes back to the identity: the inverse of a matrix whose rows are the first
        /// `ind` axes.
        ///
        /// Args: `A` whose first `ind` axes have as many elements as the others.
        ///
        /// Returns: a tensor with the axes in the other order, the last ones first.
        ///
        /// Derivative: that of `linalg.inv`.
        ///
        /// Errors: if sizes do not fit, if there is no inverse.
        ///
        /// Needs the feature `linalg`.
    }
    fn [tensorinv try_tensorinv tensorinv_with try_tensorinv_with] ([] a: &Tensor)
    -> Tensor = engine::linalg::solve::tensorinv, (a.engine(), 2)
    {[] o: TensorinvOptions => Tensor = (a.engine(), o.ind)}
}

#[cfg(feature = "linalg")]
op! {
    {
        /// The tensor `X` with `tensordot(A, X, X.ndim) = B`.
        ///
        /// Args: `A` whose first axes are those of `B`, and whose others have as many elements; `dims` axes of `A` that
        /// are moved to the end before.
        ///
        /// Returns: a tensor with the other axes of `A`.
        ///
        /// Derivative: that of `linalg.solve`.
        ///
        /// Errors: if sizes do not fit, if there is no solution.
        ///
        /// Needs the feature `linalg`.
    }
    fn [tensorsolve try_tensorsolve tensorsolve_with try_tensorsolve_with] ([] a: &Tensor, b: &Tensor)
    -> Tensor = engine::linalg::solve::tensorsolve, (a.engine(), b.engine(), None)
    {[] o: DimsOptions => Tensor = (a.engine(), b.engine(), o.dims.as_ref().map(Dims::as_slice))}
}

#[cfg(feature = "linalg")]
op! {
    {
        /// The determinants of square matrices.
        ///
        /// Args: `A` (\*, n, n) of dtype float32, float64, complex64 or complex128.
        ///
        /// Returns: a number for each matrix, 1 of empty ones.
        ///
        /// Derivative: `g` times the cofactors, `det A^-H`; those of singular matrices too.
        ///
        /// Errors: if matrices are not square.
        ///
        /// ```
        /// use retrograd::{ops, tensor};
        ///
        /// assert_eq!(ops::linalg::det(&tensor![[2f32, 1.0], [1.0, 3.0]]).item::<f64>()?, 5.0);
        /// # Ok::<(), retrograd::Error>(())
        /// ```
        ///
        /// Needs the feature `linalg`.
    }
    fn [det try_det] ([] a: &Tensor)
    -> Tensor = engine::linalg::determinant::linalg_det, (a.engine())
    {}
}

#[cfg(feature = "linalg")]
op! {
    {
        /// The signs of determinants, and the logarithms of their magnitudes.
        ///
        /// Args: `A` (\*, n, n) of dtype float32, float64, complex64 or complex128.
        ///
        /// Returns: `(sign, logabsdet)`: the sign has the dtype of `A`, and is a number of magnitude 1, or 0 for a
        /// singular matrix, whose logarithm is `-inf`.
        ///
        /// Derivative: `A^-H` times the gradient of the logarithm, and of complex matrices `-i Im(conj(g) sign)`.
        ///
        /// Errors: if matrices are not square.
        ///
        /// ```
        /// use retrograd::{ops, tensor};
        ///
        /// assert_eq!(ops::linalg::slogdet(&tensor![[0f32, 1.0], [1.0, 0.0]]).sign.item::<f64>()?, -1.0);
        /// # Ok::<(), retrograd::Error>(())
        /// ```
        ///
        /// Needs the feature `linalg`.
    }
    fn [slogdet try_slogdet] ([] a: &Tensor)
    -> SignLogabsdet = engine::linalg::determinant::linalg_slogdet, (a.engine())
    {}
}

#[cfg(feature = "linalg")]
op! {
    {
        /// The QR decomposition of matrices: `A = Q R`, with orthonormal columns of `Q` and an upper triangle `R`.
        ///
        /// Args: `A` (\*, m, n) of dtype float32, float64, complex64 or complex128; `mode` `QrMode::Reduced` for
        /// `min(m, n)` columns and rows, `QrMode::Complete` for `m` of them, `QrMode::R` for `R` alone, with an empty
        /// `Q`.
        ///
        /// Returns: `(Q, R)`.
        ///
        /// Derivative: `(gQ + Q copyltu(R gR^H - gQ^H Q)) R^-H` (Seeger et al. 2017, 4.3), of matrices whose first
        /// `min(m, n)` columns are linearly independent; not with mode `QrMode::R`, nor with `QrMode::Complete` and
        /// more rows than columns.
        ///
        /// Errors: there, and for other modes.
        ///
        /// ```
        /// use retrograd::{ops, tensor};
        ///
        /// assert_eq!(ops::linalg::qr(&tensor![[3f32], [4.0]]).r.abs().to_vec::<f64>()?, [5.0]);
        /// # Ok::<(), retrograd::Error>(())
        /// ```
        ///
        /// Needs the feature `linalg`.
    }
    fn [qr try_qr qr_with try_qr_with] ([] a: &Tensor)
    -> Qr = engine::linalg::qr::linalg_qr, (a.engine(), "reduced")
    {[] o: QrOptions => Qr = (a.engine(), o.mode.name())}
}

#[cfg(feature = "linalg")]
op! {
    {
        /// The first columns of the product of Householder reflections, as `geqrf` gives them.
        ///
        /// Args: `input` (\*, m, n) whose columns have the reflections' vectors below the diagonal, `tau` (\*, k) with
        /// `m >= n >= k`, of one dtype.
        ///
        /// Returns: (\*, m, n), the first `n` columns of `H[0] H[1] ...` with `H[i] = I - tau[i] v v^H`.
        ///
        /// Derivative: that of a product, a factor at a time.
        ///
        /// Errors: if shapes or dtypes do not fit.
        ///
        /// ```
        /// use retrograd::{ops, tensor};
        ///
        /// let y = ops::linalg::householder_product(&tensor![[0f32], [1.0]], &tensor![1f32]);
        /// assert_eq!(y.to_vec::<f64>()?, [0.0, -1.0]);
        /// # Ok::<(), retrograd::Error>(())
        /// ```
        ///
        /// Needs the feature `linalg`.
    }
    fn [householder_product try_householder_product] ([] input: &Tensor, tau: &Tensor)
    -> Tensor = engine::linalg::qr::householder_product, (input.engine(), tau.engine())
    {}
}

#[cfg(feature = "linalg")]
op! {
    {
        /// The eigenvalues and eigenvectors of Hermitian (or real symmetric) matrices: `A = V diag(w) V^H`.
        ///
        /// Args: `A` (\*, n, n) of dtype float32, float64, complex64 or complex128; `UPLO` which triangle is read,
        /// `Triangle::Lower` or `Triangle::Upper`.
        ///
        /// Returns: `(eigenvalues, eigenvectors)`: real numbers in ascending order, and orthonormal columns.
        ///
        /// Derivative: `V (diag(gw) + skew(V^H gV) / E) V^H`, where `E` has the distances of eigenvalues (Giles 2008,
        /// 3.1). Eigenvectors have an arbitrary sign or phase: a loss that depends on phases is refused. Repeated
        /// eigenvalues that the loss does not separate add nothing; otherwise the derivative is infinite or NaN.
        ///
        /// Errors: if there are infinities or NaN; if matrices are not square.
        ///
        /// ```
        /// use retrograd::{ops, tensor};
        ///
        /// assert_eq!(ops::linalg::eigh(&tensor![[2f32, 1.0], [1.0, 2.0]]).eigenvalues.to_vec::<f64>()?, [1.0, 3.0]);
        /// # Ok::<(), retrograd::Error>(())
        /// ```
        ///
        /// Needs the feature `linalg`.
    }
    fn [eigh try_eigh eigh_with try_eigh_with] ([] a: &Tensor)
    -> Eig = engine::linalg::eigh::linalg_eigh, (a.engine(), "L")
    {[] o: UploOptions => Eig = (a.engine(), o.uplo.name())}
}

#[cfg(feature = "linalg")]
op! {
    {
        /// The eigenvalues of Hermitian (or real symmetric) matrices, in ascending order.
        ///
        /// Args: as `linalg.eigh`.
        ///
        /// Returns: real numbers (\*, n).
        ///
        /// Derivative: `V diag(g) V^H`, of any matrix.
        ///
        /// Errors: as there.
        ///
        /// ```
        /// use retrograd::{ops, tensor};
        ///
        /// assert_eq!(ops::linalg::eigvalsh(&tensor![[2f32, 1.0], [1.0, 2.0]]).to_vec::<f64>()?, [1.0, 3.0]);
        /// # Ok::<(), retrograd::Error>(())
        /// ```
        ///
        /// Needs the feature `linalg`.
    }
    fn [eigvalsh try_eigvalsh eigvalsh_with try_eigvalsh_with] ([] a: &Tensor)
    -> Tensor = engine::linalg::eigh::eigvalsh, (a.engine(), "L")
    {[] o: UploOptions => Tensor = (a.engine(), o.uplo.name())}
}

#[cfg(feature = "linalg")]
op! {
    {
        /// The eigenvalues and eigenvectors of square matrices: `A V = V diag(w)`.
        ///
        /// Args: `A` (\*, n, n) of dtype float32, float64, complex64 or complex128.
        ///
        /// Returns: `(eigenvalues, eigenvectors)`, both complex: in no particular order, and columns of length 1.
        ///
        /// Derivative: `V^-H (diag(gw) + (V^H gV - V^H V Re(diag(V^H gV))) / conj(E)) V^H`, where `E` has the distances
        /// of eigenvalues (Giles 2008, 3.1; Boeddeker et al. 2017); a loss that depends on the phases of eigenvectors
        /// is refused; repeated eigenvalues as for `linalg.eigh`.
        ///
        /// Errors: if matrices are not square, or have infinities or NaN; if the iteration does not converge.
        ///
        /// ```
        /// use retrograd::{ops, tensor};
        ///
        /// let y = ops::linalg::eig(&tensor![[0f32, 1.0], [-1.0, 0.0]]).eigenvalues.abs();
        /// assert_eq!(y.to_vec::<f64>()?, [1.0, 1.0]);
        /// # Ok::<(), retrograd::Error>(())
        /// ```
        ///
        /// Needs the feature `linalg`.
    }
    fn [eig try_eig] ([] a: &Tensor)
    -> Eig = engine::linalg::eig::linalg_eig, (a.engine())
    {}
}

#[cfg(feature = "linalg")]
op! {
    {
        /// The eigenvalues of square matrices, complex numbers in no particular order.
        ///
        /// Args: as `linalg.eig`.
        ///
        /// Returns: (\*, n).
        ///
        /// Derivative: `V^-H diag(g) V^H`.
        ///
        /// Errors: as there.
        ///
        /// ```
        /// use retrograd::{ops, tensor};
        ///
        /// assert_eq!(ops::linalg::eigvals(&tensor![[0f32, 1.0], [-1.0, 0.0]]).abs().to_vec::<f64>()?, [1.0, 1.0]);
        /// # Ok::<(), retrograd::Error>(())
        /// ```
        ///
        /// Needs the feature `linalg`.
    }
    fn [eigvals try_eigvals] ([] a: &Tensor)
    -> Tensor = engine::linalg::eig::eigvals, (a.engine())
    {}
}

#[cfg(feature = "linalg")]
op! {
    {
        /// The singular value decomposition of matrices: `A = U diag(S) Vh`.
        ///
        /// Args: `A` (\*, m, n) of dtype float32, float64, complex64 or complex128; `full_matrices` makes `U` (\*, m,
        /// m) and `Vh` (\*, n, n) bases, otherwise they have `min(m, n)` columns and rows; `driver` is for other
        /// devices.
        ///
        /// Returns: `(U, S, Vh)`, `S` real and in descending order.
        ///
        /// Derivative: see Townsend 2016, and Wan and Zhang 2019 for complex numbers; singular vectors have an
        /// arbitrary sign or phase, and a loss that depends on phases is refused. Repeated values that the loss does
        /// not separate add nothing; otherwise the derivative is infinite or NaN.
        ///
        /// Errors: if there are infinities or NaN.
        ///
        /// ```
        /// use retrograd::{ops, tensor};
        ///
        /// assert_eq!(ops::linalg::svd(&tensor![[3f32, 0.0], [0.0, 4.0]]).s.to_vec::<f64>()?, [4.0, 3.0]);
        /// # Ok::<(), retrograd::Error>(())
        /// ```
        ///
        /// Needs the feature `linalg`.
    }
    fn [svd try_svd svd_with try_svd_with] ([] a: &Tensor)
    -> Svd = engine::linalg::svd::linalg_svd, (a.engine(), true, None)
    {[] o: SvdOptions => Svd = (a.engine(), o.full_matrices, o.driver.map(SvdDriver::name))}
}

#[cfg(feature = "linalg")]
op! {
    {
        /// The singular values of matrices, in descending order.
        ///
        /// Args: as `linalg.svd`.
        ///
        /// Returns: real numbers (\*, min(m, n)).
        ///
        /// Derivative: `U diag(g) V^H`, of any matrix.
        ///
        /// Errors: as there.
        ///
        /// ```
        /// use retrograd::{ops, tensor};
        ///
        /// assert_eq!(ops::linalg::svdvals(&tensor![[3f32, 0.0], [0.0, 4.0]]).to_vec::<f64>()?, [4.0, 3.0]);
        /// # Ok::<(), retrograd::Error>(())
        /// ```
        ///
        /// Needs the feature `linalg`.
    }
    fn [svdvals try_svdvals svdvals_with try_svdvals_with] ([] a: &Tensor)
    -> Tensor = engine::linalg::svd::svdvals, (a.engine(), None)
    {[] o: SvdvalsOptions => Tensor = (a.engine(), o.driver.map(SvdDriver::name))}
}

#[cfg(feature = "linalg")]
op! {
    {
        /// The pseudoinverse of matrices (Moore and Penrose).
        ///
        /// Args: `A` (\*, m, n) of dtype float32, float64, complex64 or complex128; singular values up to `max(atol,
        /// rtol * largest)` count as 0, where `rtol` is `max(m, n)` times epsilon, or 0 if `atol` is positive;
        /// `hermitian` says that matrices are Hermitian (or real symmetric), of which the lower triangle is read.
        ///
        /// Returns: (\*, n, m).
        ///
        /// Derivative: `-P^H g P^H + P^H P g^H (I - P A) + (I - A P) g^H P P^H`, of matrices whose rank stays (Golub
        /// and Pereyra 1973).
        ///
        /// Errors: if there are infinities or NaN.
        ///
        /// ```
        /// use retrograd::{ops, tensor};
        ///
        /// assert_eq!(ops::linalg::pinv(&tensor![[2f32, 0.0], [0.0, 0.0]]).to_vec::<f64>()?, [0.5, 0.0, 0.0, 0.0]);
        /// # Ok::<(), retrograd::Error>(())
        /// ```
        ///
        /// Needs the feature `linalg`.
    }
    fn [pinv try_pinv pinv_with try_pinv_with] ([] a: &Tensor)
    -> Tensor = engine::linalg::pinv::pinv, (a.engine(), None, None, false)
    {[] o: AtolRtolHermitianOptions => Tensor = (a.engine(), o.atol, o.rtol, o.hermitian)}
}

#[cfg(feature = "linalg")]
op! {
    {
        /// The pseudoinverse, with tolerances for each matrix of a batch.
        ///
        /// Args: `atol`, `rtol` tensors of the shape of the batch, or that broadcast to it.
        ///
        /// Needs the feature `linalg`.
        #[doc(alias = "pinv")]
    }
    fn [pinv_tensors try_pinv_tensors pinv_tensors_with try_pinv_tensors_with] ([] a: &Tensor)
    -> Tensor = engine::linalg::pinv::pinv_tensors, (a.engine(), None, None, false)
    {['o] o: PinvTensorsOptions<'o> => Tensor = (a.engine(), o.atol.map(Tensor::engine), o.rtol.map(Tensor::engine),
        o.hermitian)}
}

#[cfg(feature = "linalg")]
op! {
    {
        /// The pseudoinverse, with the older name of `rtol`, `rcond`.
        ///
        /// Needs the feature `linalg`.
        #[doc(alias = "pinv")]
    }
    fn [pinv_rcond try_pinv_rcond pinv_rcond_with try_pinv_rcond_with] ([] a: &Tensor, rcond: f64)
    -> Tensor = engine::linalg::pinv::pinv_rcond, (a.engine(), rcond, false)
    {[] o: HermitianOptions => Tensor = (a.engine(), rcond, o.hermitian)}
}

#[cfg(feature = "linalg")]
op! {
    {
        /// The pseudoinverse, with the older name of `rtol`, `rcond`, for each matrix of a batch.
        ///
        /// Needs the feature `linalg`.
        #[doc(alias = "pinv")]
    }
    fn [pinv_rcond_tensor try_pinv_rcond_tensor pinv_rcond_tensor_with try_pinv_rcond_tensor_with] ([] a: &Tensor,
        rcond: &Tensor)
    -> Tensor = engine::linalg::pinv::pinv_rcond_tensor, (a.engine(), rcond.engine(), false)
    {[] o: HermitianOptions => Tensor = (a.engine(), rcond.engine(), o.hermitian)}
}

#[cfg(feature = "linalg")]
op! {
    {
        /// How many singular values of matrices are not 0.
        ///
        /// Args: `A`, `atol`, `rtol`, `hermitian` as for `linalg.pinv`.
        ///
        /// Returns: int64, of the shape of the batch.
        ///
        /// Derivative: none.
        ///
        /// Errors: as there.
        ///
        /// ```
        /// use retrograd::{ops, tensor};
        ///
        /// assert_eq!(ops::linalg::matrix_rank(&tensor![[1f32, 2.0], [2.0, 4.0]]).item::<i64>()?, 1);
        /// # Ok::<(), retrograd::Error>(())
        /// ```
        ///
        /// Needs the feature `linalg`.
    }
    fn [matrix_rank try_matrix_rank matrix_rank_with try_matrix_rank_with] ([] a: &Tensor)
    -> Tensor = engine::linalg::pinv::matrix_rank, (a.engine(), None, None, false)
    {[] o: AtolRtolHermitianOptions => Tensor = (a.engine(), o.atol, o.rtol, o.hermitian)}
}

#[cfg(feature = "linalg")]
op! {
    {
        /// How many singular values are not 0, with tolerances for each matrix of a batch.
        ///
        /// Args: `atol`, `rtol` tensors of the shape of the batch, or that broadcast to it.
        ///
        /// Needs the feature `linalg`.
        #[doc(alias = "matrix_rank")]
    }
    fn [matrix_rank_tensors try_matrix_rank_tensors matrix_rank_tensors_with try_matrix_rank_tensors_with] ([] input:
        &Tensor)
    -> Tensor = engine::linalg::pinv::matrix_rank_tensors, (input.engine(), None, None, false)
    {['o] o: PinvTensorsOptions<'o> => Tensor = (input.engine(), o.atol.map(Tensor::engine), o.rtol.map(Tensor::engine),
        o.hermitian)}
}

#[cfg(feature = "linalg")]
op! {
    {
        /// How many singular values are larger than `tol`.
        ///
        /// Needs the feature `linalg`.
        #[doc(alias = "matrix_rank")]
    }
    fn [matrix_rank_tol try_matrix_rank_tol matrix_rank_tol_with try_matrix_rank_tol_with] ([] a: &Tensor, tol: f64)
    -> Tensor = engine::linalg::pinv::matrix_rank_tol, (a.engine(), tol, false)
    {[] o: HermitianOptions => Tensor = (a.engine(), tol, o.hermitian)}
}

#[cfg(feature = "linalg")]
op! {
    {
        /// How many singular values are larger than `tol`, for each matrix of a batch.
        ///
        /// Needs the feature `linalg`.
        #[doc(alias = "matrix_rank")]
    }
    fn [matrix_rank_tol_tensor try_matrix_rank_tol_tensor matrix_rank_tol_tensor_with try_matrix_rank_tol_tensor_with]
        ([] input: &Tensor,
        tol: &Tensor)
    -> Tensor = engine::linalg::pinv::matrix_rank_tol_tensor, (input.engine(), tol.engine(), false)
    {[] o: HermitianOptions => Tensor = (input.engine(), tol.engine(), o.hermitian)}
}

#[cfg(feature = "linalg")]
op! {
    {
        /// Solutions by least squares: the `X` of smallest length among those for which `|A X - B|` is smallest.
        ///
        /// Args: `A` (\*, m, n) and `B` (\*, m, k), or (\*, m) for one right side each, of one dtype, float32, float64,
        /// complex64 or complex128, of one batch; `rcond` singular values up to `rcond` times the largest count as 0,
        /// by default `max(m, n)` times epsilon; `driver` `LstsqDriver::Gelsy`, the default, `LstsqDriver::Gelsd`,
        /// `LstsqDriver::Gelss`, or `LstsqDriver::Gels` for matrices of full rank.
        ///
        /// Returns: `(solution, residuals, rank, singular_values)`: (\*, n, k); the squares of `|A X - B|` if `m > n`,
        /// all matrices have rank `n` and the driver is not `LstsqDriver::Gelsy`, or else empty; the rank unless the
        /// driver is `LstsqDriver::Gels`; the singular values for `LstsqDriver::Gelsd` and `LstsqDriver::Gelss`.
        ///
        /// Derivative: that of `pinv(A) @ B` (Golub and Pereyra 1973), for matrices whose rank stays, and of the
        /// residuals.
        ///
        /// Errors: if shapes or dtypes do not fit; if there are infinities or NaN.
        ///
        /// Needs the feature `linalg`.
    }
    fn [lstsq try_lstsq lstsq_with try_lstsq_with] ([] a: &Tensor, b: &Tensor)
    -> Lstsq = engine::linalg::lstsq::lstsq, (a.engine(), b.engine(), None, None)
    {[] o: LstsqOptions => Lstsq = (a.engine(), b.engine(), o.rcond, o.driver.map(LstsqDriver::name))}
}

#[cfg(feature = "linalg")]
op! {
    {
        /// The condition number of matrices: how much a relative error may grow in a solution.
        ///
        /// Args: `A` (\*, m, n) of dtype float32, float64, complex64 or complex128; `p` `None` or 2 for the largest
        /// singular value over the smallest, -2 for its inverse; 1, -1, infinity or minus infinity for the product of
        /// the norms of a square matrix and of its inverse.
        ///
        /// Returns: real numbers of the shape of the batch; infinite or NaN for a singular matrix.
        ///
        /// Derivative: that of the norms.
        ///
        /// Errors: for another `p`, or if matrices are not square for one that needs it.
        ///
        /// ```
        /// use retrograd::{ops, tensor};
        ///
        /// assert_eq!(ops::linalg::cond(&tensor![[2f32, 0.0], [0.0, 1.0]]).item::<f64>()?, 2.0);
        /// # Ok::<(), retrograd::Error>(())
        /// ```
        ///
        /// Needs the feature `linalg`.
    }
    fn [cond try_cond cond_with try_cond_with] ([] a: &Tensor)
    -> Tensor = engine::linalg::spectrum::cond, (a.engine(), None)
    {[] o: CondOptions => Tensor = (a.engine(), o.p)}
}

#[cfg(feature = "linalg")]
op! {
    {
        /// The condition number of square matrices by the name of a norm.
        ///
        /// Args: `p` `MatrixNorm::Fro` or `MatrixNorm::Nuc`.
        ///
        /// ```
        /// use retrograd::{ops, tensor};
        ///
        /// let y = ops::linalg::cond_named(&tensor![[1f32, 0.0], [0.0, 1.0]], ops::MatrixNorm::Nuc);
        /// assert_eq!(y.item::<f64>()?, 4.0);
        /// # Ok::<(), retrograd::Error>(())
        /// ```
        ///
        /// Needs the feature `linalg`.
        #[doc(alias = "cond")]
    }
    fn [cond_named try_cond_named] ([] a: &Tensor, p: MatrixNorm)
    -> Tensor = engine::linalg::spectrum::cond_named, (a.engine(), p.name())
    {}
}
