//! Written by the crate `retrograd-generator`, for `make face`: change the roster, or that crate.

use crate::Tensor;
use crate::engine::ops as engine;
use crate::ops::options::*;
use crate::ops::{Geqrf, LobpcgMethod, Plu, Qr, SignLogabsdet, TriangularSolution, Usv, as_dims};
use crate::shape::Dims;

op! {
    {
        /// The Cholesky factorization; see `linalg.cholesky`.
        ///
        /// ```
        /// use retrograd::tensor;
        ///
        /// assert_eq!(tensor![[4f32]].cholesky().to_vec::<f64>()?, [2.0]);
        /// # Ok::<(), retrograd::Error>(())
        /// ```
        ///
        /// Needs the feature `linalg`.
    }
    fn [cholesky try_cholesky cholesky_with try_cholesky_with] ([] input: &Tensor)
    method [cholesky try_cholesky cholesky_with try_cholesky_with] ([] &self) {let input = self;}
    -> Tensor = engine::linalg::cholesky::cholesky, (input.engine(), false)
    {[] o: UpperOptions => Tensor = (input.engine(), o.upper)}
}

op! {
    {
        /// The solution of `A X = b` with triangular matrices `A`, and a copy of them; see `linalg.solve_triangular`.
        ///
        /// Args: `input` the right side; `upper` which triangle of `A` is read; `transpose` takes the transpose of `A`;
        /// `unitriangular` takes ones for the diagonal.
        ///
        /// Returns: `(solution, cloned_coefficient)`.
        ///
        /// Derivative: that of `linalg.solve_triangular`.
        ///
        /// Errors: if shapes or dtypes do not fit.
        ///
        /// ```
        /// use retrograd::tensor;
        ///
        /// assert_eq!(tensor![[4f32]].triangular_solve(&tensor![[2f32]]).solution.to_vec::<f64>()?, [2.0]);
        /// # Ok::<(), retrograd::Error>(())
        /// ```
        ///
        /// Needs the feature `linalg`.
    }
    fn [triangular_solve try_triangular_solve triangular_solve_with try_triangular_solve_with] ([] input: &Tensor,
        a: &Tensor)
    method [triangular_solve try_triangular_solve triangular_solve_with try_triangular_solve_with] ([] &self,
        a: &Tensor) {let input = self;}
    -> TriangularSolution = engine::linalg::triangular::triangular_solve, (input.engine(), a.engine(), true, false,
        false)
    {[] o: TriangularSolveOptions => TriangularSolution = (input.engine(), a.engine(), o.upper, o.transpose,
        o.unitriangular)}
}

op! {
    {
        /// The solution of `A X = B` by the Cholesky factor of `A`.
        ///
        /// Args: `input` the right side `B` (\*, n, k); `L` what `linalg.cholesky` returned, (\*, n, n), of which one
        /// triangle is read; `upper` says that it is `U = L^H`. Batches broadcast.
        ///
        /// Returns: a tensor of the shape of `B`, broadcast.
        ///
        /// Derivative: `gB = A^-1 g`, and the triangle of `(gA + gA^H) L` with `gA = -gB X^H`.
        ///
        /// Errors: if shapes or dtypes do not fit.
        ///
        /// ```
        /// use retrograd::tensor;
        ///
        /// assert_eq!(tensor![[8f32]].cholesky_solve(&tensor![[2f32]]).to_vec::<f64>()?, [2.0]);
        /// # Ok::<(), retrograd::Error>(())
        /// ```
        ///
        /// Needs the feature `linalg`.
    }
    fn [cholesky_solve try_cholesky_solve cholesky_solve_with try_cholesky_solve_with] ([] input: &Tensor, l: &Tensor)
    method [cholesky_solve try_cholesky_solve cholesky_solve_with try_cholesky_solve_with] ([] &self,
        l: &Tensor) {let input = self;}
    -> Tensor = engine::linalg::cholesky_solve::cholesky_solve, (input.engine(), l.engine(), false)
    {[] o: UpperOptions => Tensor = (input.engine(), l.engine(), o.upper)}
}

op! {
    {
        /// The inverse of `A` by its Cholesky factor.
        ///
        /// Args: `L` what `linalg.cholesky` returned, (\*, n, n), of which one triangle is read; `upper` says that it
        /// is `U = L^H`.
        ///
        /// Returns: a tensor of the same shape.
        ///
        /// Derivative: the triangle of `(gA + gA^H) L` with `gA = -A^-1 g A^-1`.
        ///
        /// Errors: if a diagonal element is zero, if matrices are not square.
        ///
        /// ```
        /// use retrograd::tensor;
        ///
        /// assert_eq!(tensor![[2f32]].cholesky_inverse().to_vec::<f64>()?, [0.25]);
        /// # Ok::<(), retrograd::Error>(())
        /// ```
        ///
        /// Needs the feature `linalg`.
    }
    fn [cholesky_inverse try_cholesky_inverse cholesky_inverse_with try_cholesky_inverse_with] ([] l: &Tensor)
    method [cholesky_inverse try_cholesky_inverse cholesky_inverse_with try_cholesky_inverse_with] ([] &self) {let l =
        self;}
    -> Tensor = engine::linalg::cholesky_solve::cholesky_inverse, (l.engine(), false)
    {[] o: UpperOptions => Tensor = (l.engine(), o.upper)}
}

op! {
    {
        /// The factors of `A = P L U` in one matrix, and the pivots; see `linalg.lu_factor_ex`.
        ///
        /// Args: `get_infos` returns the numbers of `linalg.lu_factor_ex` too.
        ///
        /// Returns: `(LU, pivots)` or `(LU, pivots, info)`.
        ///
        /// Needs the feature `linalg`.
    }
    fn [lu try_lu lu_with try_lu_with] ([] input: &Tensor)
    method [lu try_lu lu_with try_lu_with] ([] &self) {let input = self;}
    -> Vec<Tensor> = engine::linalg::lu::lu_of, (input.engine(), true, false)
    {[] o: LuOptions => Vec<Tensor> = (input.engine(), o.pivot, o.get_infos)}
}

op! {
    {
        /// The matrices `P`, `L` and `U` of what `linalg.lu_factor` returned.
        ///
        /// Args: `LU_data` (\*, m, n); `LU_pivots` its pivots, int32; `unpack_data`, `unpack_pivots` leave `L` and `U`,
        /// or `P`, empty.
        ///
        /// Returns: `(P, L, U)`.
        ///
        /// Derivative: the triangles of `g`.
        ///
        /// Errors: for pivots that are no rows.
        ///
        /// Needs the feature `linalg`.
    }
    fn [lu_unpack try_lu_unpack lu_unpack_with try_lu_unpack_with] ([] lu_data: &Tensor, lu_pivots: &Tensor)
    -> Plu = engine::linalg::lu::lu_unpack, (lu_data.engine(), lu_pivots.engine(), true, true)
    {[] o: LuUnpackOptions => Plu = (lu_data.engine(), lu_pivots.engine(), o.unpack_data, o.unpack_pivots)}
}

op! {
    {
        /// The solution of `A x = b` by the factors of `A`; see `linalg.lu_solve`.
        ///
        /// Needs the feature `linalg`.
    }
    fn [lu_solve try_lu_solve] ([] input: &Tensor, lu_data: &Tensor, lu_pivots: &Tensor)
    method [lu_solve try_lu_solve] ([] &self, lu_data: &Tensor, lu_pivots: &Tensor) {let input = self;}
    -> Tensor = engine::linalg::lu::lu_solve, (input.engine(), lu_data.engine(), lu_pivots.engine())
    {}
}

op! {
    {
        /// The inverses of square matrices; see `linalg.inv`.
        ///
        /// ```
        /// use retrograd::tensor;
        ///
        /// assert_eq!(tensor![[2f32]].inverse().to_vec::<f64>()?, [0.5]);
        /// # Ok::<(), retrograd::Error>(())
        /// ```
        ///
        /// Needs the feature `linalg`.
    }
    fn [inverse try_inverse] ([] input: &Tensor)
    method [inverse try_inverse] ([] &self) {let input = self;}
    -> Tensor = engine::linalg::solve::inverse, (input.engine())
    {}
}

op! {
    {
        /// The determinants of square matrices; see `linalg.det`.
        ///
        /// ```
        /// use retrograd::tensor;
        ///
        /// assert_eq!(tensor![[2f32]].det().item::<f64>()?, 2.0);
        /// # Ok::<(), retrograd::Error>(())
        /// ```
        ///
        /// Needs the feature `linalg`.
    }
    fn [det try_det] ([] input: &Tensor)
    method [det try_det] ([] &self) {let input = self;}
    -> Tensor = engine::linalg::determinant::det, (input.engine())
    {}
}

op! {
    {
        /// The signs of determinants, and the logarithms of their magnitudes; see `linalg.slogdet`.
        ///
        /// ```
        /// use retrograd::tensor;
        ///
        /// assert_eq!(tensor![[-1f32]].slogdet().sign.item::<f64>()?, -1.0);
        /// # Ok::<(), retrograd::Error>(())
        /// ```
        ///
        /// Needs the feature `linalg`.
    }
    fn [slogdet try_slogdet] ([] input: &Tensor)
    method [slogdet try_slogdet] ([] &self) {let input = self;}
    -> SignLogabsdet = engine::linalg::determinant::slogdet, (input.engine())
    {}
}

op! {
    {
        /// The logarithms of determinants.
        ///
        /// Args: `input` (\*, n, n) of dtype float32, float64, complex64 or complex128.
        ///
        /// Returns: a number for each matrix: NaN if the determinant is negative, `-inf` if it is zero.
        ///
        /// Derivative: `g A^-H`.
        ///
        /// Errors: if matrices are not square.
        ///
        /// Needs the feature `linalg`.
    }
    fn [logdet try_logdet] ([] input: &Tensor)
    method [logdet try_logdet] ([] &self) {let input = self;}
    -> Tensor = engine::linalg::determinant::logdet, (input.engine())
    {}
}

op! {
    {
        /// The QR decomposition of matrices; see `linalg.qr`.
        ///
        /// Args: `some` `true` for the mode "reduced" there, `false` for "complete".
        ///
        /// ```
        /// use retrograd::tensor;
        ///
        /// assert_eq!(tensor![[3f32], [4.0]].qr().r.abs().to_vec::<f64>()?, [5.0]);
        /// # Ok::<(), retrograd::Error>(())
        /// ```
        ///
        /// Needs the feature `linalg`.
    }
    fn [qr try_qr qr_with try_qr_with] ([] input: &Tensor)
    method [qr try_qr qr_with try_qr_with] ([] &self) {let input = self;}
    -> Qr = engine::linalg::qr::qr, (input.engine(), true)
    {[] o: SomeOptions => Qr = (input.engine(), o.some)}
}

op! {
    {
        /// The QR decomposition in LAPACK's format, for `ormqr` and `linalg.householder_product`.
        ///
        /// Args: `input` (\*, m, n) of dtype float32, float64, complex64 or complex128.
        ///
        /// Returns: `(a, tau)`: `R` on and above the diagonal of `a`, and below the vectors of the reflections `I -
        /// tau[i] v v^H`, whose product is `Q`.
        ///
        /// Derivative: none.
        ///
        /// Errors: if there are fewer than 2 dims.
        ///
        /// ```
        /// use retrograd::tensor;
        ///
        /// assert_eq!(tensor![[2f32]].geqrf().tau.to_vec::<f64>()?, [0.0]);
        /// # Ok::<(), retrograd::Error>(())
        /// ```
        ///
        /// Needs the feature `linalg`.
    }
    fn [geqrf try_geqrf] ([] input: &Tensor)
    method [geqrf try_geqrf] ([] &self) {let input = self;}
    -> Geqrf = engine::linalg::qr::geqrf, (input.engine())
    {}
}

op! {
    {
        /// The first columns of the product of Householder reflections; see `linalg.householder_product`.
        ///
        /// ```
        /// use retrograd::tensor;
        ///
        /// assert_eq!(tensor![[0f32], [1.0]].orgqr(&tensor![1f32]).to_vec::<f64>()?, [0.0, -1.0]);
        /// # Ok::<(), retrograd::Error>(())
        /// ```
        ///
        /// Needs the feature `linalg`.
    }
    fn [orgqr try_orgqr] ([] input: &Tensor, input2: &Tensor)
    method [orgqr try_orgqr] ([] &self, input2: &Tensor) {let input = self;}
    -> Tensor = engine::linalg::qr::orgqr, (input.engine(), input2.engine())
    {}
}

op! {
    {
        /// The product of a matrix with the orthogonal factor of `geqrf`: `Q C`, or with `transpose` or from the right.
        ///
        /// Args: `input` (\*, m, k) and `tau` (\*, k) as `geqrf` gives them, `other` (\*, m, n), or (\*, n, m) with
        /// `left(false)`, of one dtype; `left` multiplies from the left, `transpose` by `Q^H`.
        ///
        /// Returns: a tensor of the shape of `other`.
        ///
        /// Derivative: that of a product, a factor at a time.
        ///
        /// Errors: if shapes or dtypes do not fit.
        ///
        /// Needs the feature `linalg`.
    }
    fn [ormqr try_ormqr ormqr_with try_ormqr_with] ([] input: &Tensor, input2: &Tensor, input3: &Tensor)
    method [ormqr try_ormqr ormqr_with try_ormqr_with] ([] &self, input2: &Tensor, input3: &Tensor) {let input = self;}
    -> Tensor = engine::linalg::qr::ormqr, (input.engine(), input2.engine(), input3.engine(), true, false)
    {[] o: OrmqrOptions => Tensor = (input.engine(), input2.engine(), input3.engine(), o.left, o.transpose)}
}

op! {
    {
        /// The singular value decomposition of matrices, `input = U diag(S) V^H`; see `linalg.svd`.
        ///
        /// Args: `some` as the negation of `full_matrices` there; `compute_uv` `false` gives zeros for `U` and `V`.
        ///
        /// Returns: `(U, S, V)`.
        ///
        /// ```
        /// use retrograd::tensor;
        ///
        /// assert_eq!(tensor![[3f32, 0.0], [0.0, 4.0]].svd().s.to_vec::<f64>()?, [4.0, 3.0]);
        /// # Ok::<(), retrograd::Error>(())
        /// ```
        ///
        /// Needs the feature `linalg`.
    }
    fn [svd try_svd svd_with try_svd_with] ([] input: &Tensor)
    method [svd try_svd svd_with try_svd_with] ([] &self) {let input = self;}
    -> Usv = engine::linalg::svd::svd, (input.engine(), true, true)
    {[] o: SomeComputeUvOptions => Usv = (input.engine(), o.some, o.compute_uv)}
}

op! {
    {
        /// The pseudoinverse of matrices; see `linalg.pinv`.
        ///
        /// Args: `rcond` as `rtol` there.
        ///
        /// ```
        /// use retrograd::tensor;
        ///
        /// assert_eq!(tensor![[2f32, 0.0], [0.0, 0.0]].pinverse().to_vec::<f64>()?, [0.5, 0.0, 0.0, 0.0]);
        /// # Ok::<(), retrograd::Error>(())
        /// ```
        ///
        /// Needs the feature `linalg`.
    }
    fn [pinverse try_pinverse pinverse_with try_pinverse_with] ([] input: &Tensor)
    method [pinverse try_pinverse pinverse_with try_pinverse_with] ([] &self) {let input = self;}
    -> Tensor = engine::linalg::pinv::pinverse, (input.engine(), 1e-15)
    {[] o: PinverseOptions => Tensor = (input.engine(), o.rcond)}
}

op! {
    {
        /// About the singular value decomposition of matrices of low rank: `A - M = U diag(S) V^H`.
        ///
        /// Args: `A` (\*, m, n) of dtype float32, float64, complex64 or complex128; `q` how many singular values,
        /// somewhat more than the rank; `niter` how often the random subspace is improved; `M` is subtracted, with a
        /// shape that broadcasts.
        ///
        /// Returns: `(U, S, V)` with `q` columns. Random: `manual_seed` repeats it.
        ///
        /// Derivative: that of the operations (Halko et al. 2009, algorithm 5.1).
        ///
        /// Needs the feature `linalg`.
    }
    fn [svd_lowrank try_svd_lowrank svd_lowrank_with try_svd_lowrank_with] ([] a: &Tensor)
    -> Vec<Tensor> = engine::linalg::lowrank::svd_lowrank, (a.engine(), Some(6), Some(2), None)
    {['o] o: SvdLowrankOptions<'o> => Vec<Tensor> = (a.engine(), o.q, o.niter, o.m.map(Tensor::engine))}
}

op! {
    {
        /// The principal components of matrices of low rank, whose rows are observations.
        ///
        /// Args: `A` (\*, m, n); `q` how many, by default `min(6, m, n)`; `center` subtracts the means of columns;
        /// `niter` as for `svd_lowrank`.
        ///
        /// Returns: `(U, S, V)`: directions are the columns of `V`.
        ///
        /// Derivative: that of the operations.
        ///
        /// Errors: if `q` is negative or larger than `min(m, n)`, or `niter` is negative.
        ///
        /// Needs the feature `linalg`.
    }
    fn [pca_lowrank try_pca_lowrank pca_lowrank_with try_pca_lowrank_with] ([] a: &Tensor)
    -> Vec<Tensor> = engine::linalg::lowrank::pca_lowrank, (a.engine(), None, true, 2)
    {[] o: PcaLowrankOptions => Vec<Tensor> = (a.engine(), o.q, o.center, o.niter)}
}

op! {
    {
        /// Some eigenvalues and eigenvectors of symmetric matrices, the largest or the smallest: `A X = B X diag(E)`.
        ///
        /// Args: `A` (\*, m, m) symmetric, of dtype float32 or float64; `k` how many, by default as many as `X` has
        /// columns, or 1; `B` (\*, m, m) positive-definite, by default the identity; `largest` `false` for the
        /// smallest.
        ///
        /// Returns: `(E, X)`: (\*, k) in descending order, or ascending for the smallest, and (\*, m, k). All of the
        /// matrices is decomposed, which is exact: what torch takes to begin, to precondition and to end an iteration
        /// (`X`, `n`, `iK`, `niter`, `tol`, `method`) is accepted, and changes nothing.
        ///
        /// Derivative: that of `linalg.eigh`.
        ///
        /// Errors: if `m` is less than 3 times `k`; if matrices are not square.
        ///
        /// Needs the feature `linalg`.
    }
    fn [lobpcg try_lobpcg lobpcg_with try_lobpcg_with] ([] a: &Tensor)
    -> Vec<Tensor> = engine::linalg::lowrank::lobpcg, (a.engine(), None, None, None, None, None, None, None, None, None)
    {['o] o: LobpcgOptions<'o> => Vec<Tensor> = (a.engine(), o.k, o.b.map(Tensor::engine), o.x.map(Tensor::engine), o.n,
        o.ik.map(Tensor::engine), o.niter, o.tol, o.largest, o.method.map(LobpcgMethod::name))}
}

op! {
    {
        /// The sum of the singular values of a matrix.
        ///
        /// Args: `input` a matrix of dtype float32, float64, complex64 or complex128; `keepdim` keeps its axes with
        /// size 1.
        ///
        /// Derivative: `g U V^H`.
        ///
        /// Errors: unless it has 2 dims.
        ///
        /// ```
        /// use retrograd::{ops, tensor};
        ///
        /// assert_eq!(ops::nuclear_norm(&tensor![[3f32, 0.0], [0.0, 4.0]]).item::<f64>()?, 7.0);
        /// # Ok::<(), retrograd::Error>(())
        /// ```
        ///
        /// Needs the feature `linalg`.
    }
    fn [nuclear_norm try_nuclear_norm nuclear_norm_with try_nuclear_norm_with] ([] input: &Tensor)
    -> Tensor = engine::linalg::spectrum::nuclear_norm_all, (input.engine(), false)
    {[] o: KeepdimOptions => Tensor = (input.engine(), o.keepdim)}
}

op! {
    {
        /// The sums of the singular values of the matrices in two axes.
        ///
        /// Args: `dim` the axes; `keepdim` keeps them with size 1.
        ///
        /// ```
        /// use retrograd::{Tensor, ops};
        ///
        /// assert_eq!(ops::nuclear_norm_dim(&Tensor::ones([2, 1, 2]), [0, 2]).shape(), [1]);
        /// ```
        ///
        /// Needs the feature `linalg`.
        #[doc(alias = "nuclear_norm")]
    }
    fn [nuclear_norm_dim try_nuclear_norm_dim nuclear_norm_dim_with try_nuclear_norm_dim_with] ([] input: &Tensor,
        dim: impl Into<Dims>)
    -> Tensor = engine::linalg::spectrum::nuclear_norm, (input.engine(), as_dims(dim).as_slice(), false)
    {[] o: KeepdimOptions => Tensor = (input.engine(), as_dims(dim).as_slice(), o.keepdim)}
}
