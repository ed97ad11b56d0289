//! Written by the crate `retrograd-generator`, for `make face`: change the roster, or that crate.

use crate::engine::ops as engine;
use crate::ops::options::*;
use crate::ops::{Tensors, as_dims};
use crate::shape::Dims;
use crate::{Scalar, Tensor};

pub use crate::ops::outer as ger;
pub use crate::ops::try_outer as try_ger;

op! {
    {
        /// The matrix product of two matrices.
        ///
        /// Args: `input` (n, m), `mat2` (m, p), of one dtype, any dtype but bool; halves add up in float32. Nothing is
        /// broadcast.
        ///
        /// Returns: a tensor of shape (n, p).
        ///
        /// Derivative: `g @ mat2.t()` and `input.t() @ g`.
        ///
        /// Errors: if an operand is no matrix, the inner sizes differ, or the dtypes do.
        ///
        /// ```
        /// use retrograd::tensor;
        ///
        /// assert_eq!(tensor![[1f32, 2.0]].mm(&tensor![[3f32], [4.0]]).to_vec::<f64>()?, [11.0]);
        /// # Ok::<(), retrograd::Error>(())
        /// ```
    }
    fn [mm try_mm] ([] input: &Tensor, mat2: &Tensor)
    method [mm try_mm] ([] &self, mat2: &Tensor) {let input = self;}
    -> Tensor = engine::matmul::mm::mm, (input.engine(), mat2.engine())
    {}
}

op! {
    {
        /// The matrix products of two batches of matrices, entry by entry.
        ///
        /// Args: `input` (b, n, m), `mat2` (b, m, p), of one dtype, any dtype but bool. Nothing is broadcast.
        ///
        /// Returns: a tensor of shape (b, n, p).
        ///
        /// Derivative: `bmm(g, mat2.mT)` and `bmm(input.mT, g)`.
        ///
        /// Errors: if an operand has not three dims, or sizes or dtypes are incompatible.
        ///
        /// ```
        /// use retrograd::Tensor;
        ///
        /// assert_eq!(Tensor::ones([2, 1, 3]).bmm(&Tensor::ones([2, 3, 1])).to_vec::<f64>()?, [3.0, 3.0]);
        /// # Ok::<(), retrograd::Error>(())
        /// ```
    }
    fn [bmm try_bmm] ([] input: &Tensor, mat2: &Tensor)
    method [bmm try_bmm] ([] &self, mat2: &Tensor) {let input = self;}
    -> Tensor = engine::matmul::bmm::bmm, (input.engine(), mat2.engine())
    {}
}

op! {
    {
        /// `beta * input + alpha * bmm(batch1, batch2)`.
        ///
        /// Args: `input` broadcastable to (b, n, p), `batch1` (b, n, m), `batch2` (b, m, p), all of one dtype, any
        /// dtype but bool; `beta`, `alpha` numbers. With `beta=0` the input is not read.
        ///
        /// Returns: a tensor of shape (b, n, p).
        ///
        /// Derivative: `beta * g`, `alpha * bmm(g, batch2.mT)`, `alpha * bmm(batch1.mT, g)`.
        ///
        /// Errors: if ranks, sizes or dtypes are incompatible.
        ///
        /// ```
        /// use retrograd::Tensor;
        ///
        /// let y = Tensor::ones([1]).baddbmm(&Tensor::ones([2, 1, 3]), &Tensor::ones([2, 3, 1]));
        /// assert_eq!(y.to_vec::<f64>()?, [4.0, 4.0]);
        /// # Ok::<(), retrograd::Error>(())
        /// ```
    }
    fn [baddbmm try_baddbmm baddbmm_with try_baddbmm_with] ([] input: &Tensor, batch1: &Tensor, batch2: &Tensor)
    method [baddbmm try_baddbmm baddbmm_with try_baddbmm_with] ([] &self, batch1: &Tensor,
        batch2: &Tensor) {let input = self;}
    in_place {
        /// The in-place form of `baddbmm`: writes to the tensor, and returns it.
    } [baddbmm_ try_baddbmm_ baddbmm_with_ try_baddbmm_with_] ([] &self, batch1: &Tensor,
        batch2: &Tensor) {let input = self;} {engine::matmul::bmm::baddbmm_as}
    -> Tensor = engine::matmul::bmm::baddbmm, (input.engine(), batch1.engine(), batch2.engine(), Scalar::Int(1),
        Scalar::Int(1))
    {[] o: BetaAlphaOptions => Tensor = (input.engine(), batch1.engine(), batch2.engine(), o.beta, o.alpha)}
}

op! {
    {
        /// `beta * input + alpha * (mat1 @ mat2)`.
        ///
        /// Args: `input` broadcastable to (n, p), `mat1` (n, m), `mat2` (m, p), all of one dtype, any dtype but bool;
        /// `beta`, `alpha` numbers, truncated for integers. With `beta=0` the input is not read.
        ///
        /// Returns: a tensor of shape (n, p).
        ///
        /// Derivative: `beta * g`, `alpha * g @ mat2.t()`, `alpha * mat1.t() @ g`.
        ///
        /// Errors: if ranks, sizes or dtypes are incompatible.
        ///
        /// ```
        /// use retrograd::{Tensor, tensor};
        ///
        /// let y = tensor![1f32].addmm_with(&Tensor::ones([2, 3]), &Tensor::ones([3, 2]), |o| o.alpha(2));
        /// assert_eq!(y.to_vec::<f64>()?, [7.0, 7.0, 7.0, 7.0]);
        /// # Ok::<(), retrograd::Error>(())
        /// ```
    }
    fn [addmm try_addmm addmm_with try_addmm_with] ([] input: &Tensor, mat1: &Tensor, mat2: &Tensor)
    method [addmm try_addmm addmm_with try_addmm_with] ([] &self, mat1: &Tensor, mat2: &Tensor) {let input = self;}
    in_place {
        /// The in-place form of `addmm`: writes to the tensor, and returns it.
    } [addmm_ try_addmm_ addmm_with_ try_addmm_with_] ([] &self, mat1: &Tensor,
        mat2: &Tensor) {let input = self;} {engine::matmul::addmm::addmm_as}
    -> Tensor = engine::matmul::addmm::addmm, (input.engine(), mat1.engine(), mat2.engine(), Scalar::Int(1),
        Scalar::Int(1))
    {[] o: BetaAlphaOptions => Tensor = (input.engine(), mat1.engine(), mat2.engine(), o.beta, o.alpha)}
}

op! {
    {
        /// `beta * input + alpha * (mat @ vec)`.
        ///
        /// Args: `input` broadcastable to (n,), `mat` (n, m), `vec` (m,), all of one dtype, any dtype but bool; `beta`,
        /// `alpha` numbers. With `beta=0` the input is not read.
        ///
        /// Returns: a tensor of shape (n,).
        ///
        /// Derivative: `beta * g`, `alpha * outer(g, vec)`, `alpha * mat.t() @ g`.
        ///
        /// Errors: if ranks, sizes or dtypes are incompatible.
        ///
        /// ```
        /// use retrograd::Tensor;
        ///
        /// assert_eq!(Tensor::ones([2]).addmv(&Tensor::ones([2, 3]), &Tensor::ones([3])).to_vec::<f64>()?, [4.0, 4.0]);
        /// # Ok::<(), retrograd::Error>(())
        /// ```
    }
    fn [addmv try_addmv addmv_with try_addmv_with] ([] input: &Tensor, mat: &Tensor, vec: &Tensor)
    method [addmv try_addmv addmv_with try_addmv_with] ([] &self, mat: &Tensor, vec: &Tensor) {let input = self;}
    in_place {
        /// The in-place form of `addmv`: writes to the tensor, and returns it.
    } [addmv_ try_addmv_ addmv_with_ try_addmv_with_] ([] &self, mat: &Tensor,
        vec: &Tensor) {let input = self;} {engine::matmul::addmm::addmv_as}
    -> Tensor = engine::matmul::addmm::addmv, (input.engine(), mat.engine(), vec.engine(), Scalar::Int(1),
        Scalar::Int(1))
    {[] o: BetaAlphaOptions => Tensor = (input.engine(), mat.engine(), vec.engine(), o.beta, o.alpha)}
}

op! {
    {
        /// `beta * input + alpha * outer(vec1, vec2)`.
        ///
        /// Args: `input` broadcastable to (n, m), `vec1` (n,), `vec2` (m,), any dtypes, which are promoted; `beta`,
        /// `alpha` numbers. With `beta=0` the input is not read.
        ///
        /// Returns: a tensor of shape (n, m).
        ///
        /// Derivative: `beta * g`, `alpha * g @ vec2`, `alpha * g.t() @ vec1`.
        ///
        /// Errors: if ranks or sizes are incompatible, or for fractions with integers.
        ///
        /// ```
        /// use retrograd::{Tensor, tensor};
        ///
        /// assert_eq!(Tensor::zeros([2, 1]).addr(&tensor![1f32, 2.0], &tensor![3f32]).to_vec::<f64>()?, [3.0, 6.0]);
        /// # Ok::<(), retrograd::Error>(())
        /// ```
    }
    fn [addr try_addr addr_with try_addr_with] ([] input: &Tensor, vec1: &Tensor, vec2: &Tensor)
    method [addr try_addr addr_with try_addr_with] ([] &self, vec1: &Tensor, vec2: &Tensor) {let input = self;}
    in_place {
        /// The in-place form of `addr`: writes to the tensor, and returns it.
    } [addr_ try_addr_ addr_with_ try_addr_with_] ([] &self, vec1: &Tensor,
        vec2: &Tensor) {let input = self;} {engine::matmul::sums::addr_as}
    -> Tensor = engine::matmul::sums::addr, (input.engine(), vec1.engine(), vec2.engine(), Scalar::Int(1),
        Scalar::Int(1))
    {[] o: BetaAlphaOptions => Tensor = (input.engine(), vec1.engine(), vec2.engine(), o.beta, o.alpha)}
}

op! {
    {
        /// `beta * input + alpha * (batch1 @ batch2).sum(0)`.
        ///
        /// Args: `input` broadcastable to (n, p), `batch1` (b, n, m), `batch2` (b, m, p), all of one dtype, any dtype
        /// but bool; `beta`, `alpha` numbers. With `beta=0` the input is not read.
        ///
        /// Returns: a tensor of shape (n, p).
        ///
        /// Derivative: `beta * g`, `alpha * g @ batch2.mT`, `alpha * batch1.mT @ g`.
        ///
        /// Errors: if ranks, sizes or dtypes are incompatible.
        ///
        /// ```
        /// use retrograd::Tensor;
        ///
        /// let y = Tensor::ones([1]).addbmm(&Tensor::ones([2, 1, 3]), &Tensor::ones([2, 3, 1]));
        /// assert_eq!(y.to_vec::<f64>()?, [7.0]);
        /// # Ok::<(), retrograd::Error>(())
        /// ```
    }
    fn [addbmm try_addbmm addbmm_with try_addbmm_with] ([] input: &Tensor, batch1: &Tensor, batch2: &Tensor)
    method [addbmm try_addbmm addbmm_with try_addbmm_with] ([] &self, batch1: &Tensor,
        batch2: &Tensor) {let input = self;}
    in_place {
        /// The in-place form of `addbmm`: writes to the tensor, and returns it.
    } [addbmm_ try_addbmm_ addbmm_with_ try_addbmm_with_] ([] &self, batch1: &Tensor,
        batch2: &Tensor) {let input = self;} {engine::matmul::sums::addbmm_as}
    -> Tensor = engine::matmul::sums::addbmm, (input.engine(), batch1.engine(), batch2.engine(), Scalar::Int(1),
        Scalar::Int(1))
    {[] o: BetaAlphaOptions => Tensor = (input.engine(), batch1.engine(), batch2.engine(), o.beta, o.alpha)}
}

op! {
    {
        /// The product of a matrix and a vector.
        ///
        /// Args: `input` (n, m), `vec` (m,), of one dtype, any dtype but bool.
        ///
        /// Returns: a tensor of shape (n,).
        ///
        /// Derivative: `outer(g, vec)` and `input.t() @ g`.
        ///
        /// Errors: if ranks, sizes or dtypes are incompatible.
        ///
        /// ```
        /// use retrograd::tensor;
        ///
        /// assert_eq!(tensor![[1f32, 2.0], [3.0, 4.0]].mv(&tensor![1f32, 10.0]).to_vec::<f64>()?, [21.0, 43.0]);
        /// # Ok::<(), retrograd::Error>(())
        /// ```
    }
    fn [mv try_mv] ([] input: &Tensor, vec: &Tensor)
    method [mv try_mv] ([] &self, vec: &Tensor) {let input = self;}
    -> Tensor = engine::matmul::vector::mv, (input.engine(), vec.engine())
    {}
}

op! {
    {
        /// The inner product of two vectors.
        ///
        /// Args: `input`, `tensor` (n,), of one dtype, any dtype but bool; nothing is conjugated.
        ///
        /// Returns: a 0-dim tensor.
        ///
        /// Derivative: `g * tensor` and `g * input`.
        ///
        /// Errors: if an operand has not one dim, or sizes or dtypes differ.
        ///
        /// ```
        /// use retrograd::tensor;
        ///
        /// assert_eq!(tensor![1f32, 2.0].dot(&tensor![3f32, 4.0]).item::<f64>()?, 11.0);
        /// # Ok::<(), retrograd::Error>(())
        /// ```
    }
    fn [dot try_dot] ([] input: &Tensor, tensor: &Tensor)
    method [dot try_dot] ([] &self, tensor: &Tensor) {let input = self;}
    -> Tensor = engine::matmul::vector::dot, (input.engine(), tensor.engine())
    {}
}

op! {
    {
        /// The outer product of two vectors.
        ///
        /// Args: `input` (n,), `vec2` (m,), any dtype; they promote as in `mul`.
        ///
        /// Returns: a tensor of shape (n, m).
        ///
        /// Derivative: `g @ vec2` and `g.t() @ input`.
        ///
        /// Errors: if an operand has not one dim.
        ///
        /// ```
        /// use retrograd::tensor;
        ///
        /// assert_eq!(tensor![1f32, 2.0].outer(&tensor![3f32, 4.0]).to_vec::<f64>()?, [3.0, 4.0, 6.0, 8.0]);
        /// # Ok::<(), retrograd::Error>(())
        /// ```
        #[doc(alias = "ger")]
    }
    fn [outer try_outer] ([] input: &Tensor, vec2: &Tensor)
    method [outer try_outer] ([] &self, vec2: &Tensor) {let input = self;}
    -> Tensor = engine::matmul::vector::outer, (input.engine(), vec2.engine())
    {}
}

op! {
    {
        /// The matrix product, by the ranks of the operands.
        ///
        /// Args: `input`, `other` of one dtype (any dtype but bool) with at least one dim. Two vectors give their inner
        /// product, a matrix and a vector their product; a vector on the left is a row, on the right a column, and its
        /// axis is dropped from the result. With three or more dims the last two are matrices and the dims before them
        /// broadcast.
        ///
        /// Returns: the product.
        ///
        /// Derivative: `g @ other.mT` and `input.mT @ g`, summed over broadcast dims.
        ///
        /// Errors: if an operand has no dims, or sizes or dtypes are incompatible.
        ///
        /// ```
        /// use retrograd::Tensor;
        ///
        /// assert_eq!(Tensor::ones([4, 2, 3]).matmul(&Tensor::ones([3, 5])).shape(), [4, 2, 5]);
        /// ```
    }
    fn [matmul try_matmul] ([] input: &Tensor, other: &Tensor)
    method [matmul try_matmul] ([] &self, other: &Tensor) {let input = self;}
    -> Tensor = engine::matmul::compose::matmul, (input.engine(), other.engine())
    {}
}

op! {
    {
        /// The sum of the products of the operands' elements, over every axis that the result does not name.
        ///
        /// Args: `equation` as "ij,jk-\>ik": a letter for every axis of each operand, and those of the result; "..."
        /// means any further axes, which broadcast; a letter that an operand has twice takes its diagonal; without
        /// "-\>" the result has the letters that come once, in alphabetical order. `operands` one after the other, or
        /// in a list.
        ///
        /// Returns: a tensor of the named axes.
        ///
        /// Derivative: the same sum with `g` in the operand's place.
        ///
        /// Errors: if the equation is not understood, or does not fit the operands or these each other.
    }
    fn [einsum try_einsum] (['a] equation: &str, operands: impl Into<Tensors<'a>>)
    -> Tensor = engine::matmul::einsum::einsum, (equation, operands.into().engine())
    {}
}

op! {
    {
        /// The sums of products over the last `dims` axes of one tensor and the first of the other.
        ///
        /// ```
        /// use retrograd::{Tensor, ops};
        ///
        /// assert_eq!(ops::tensordot(&Tensor::ones([2, 3, 4]), &Tensor::ones([3, 4, 5])).shape(), [2, 5]);
        /// ```
    }
    fn [tensordot try_tensordot tensordot_with try_tensordot_with] ([] a: &Tensor, b: &Tensor)
    -> Tensor = engine::matmul::einsum::tensordot_last, (a.engine(), b.engine(), 2)
    {[] o: TensordotOptions => Tensor = (a.engine(), b.engine(), o.dims)}
}

op! {
    {
        /// The sum of products over axes of one tensor and as many of the other.
        ///
        /// Args: `a`, `b` of one dtype; `dims_a` and `dims_b` the axes that go together.
        ///
        /// Returns: a tensor of the axes that are left, those of `a` first.
        ///
        /// Derivative: the same sum with `g` in the operand's place.
        ///
        /// Errors: if the axes do not fit.
        #[doc(alias = "tensordot")]
    }
    fn [tensordot_dims try_tensordot_dims] ([] a: &Tensor, b: &Tensor, dims_a: impl Into<Dims>, dims_b: impl Into<Dims>)
    -> Tensor = engine::matmul::einsum::tensordot, (a.engine(), b.engine(), as_dims(dims_a).as_slice(),
        as_dims(dims_b).as_slice())
    {}
}

op! {
    {
        /// The sums of products over the last axes; with a 0-dim tensor, the product.
        ///
        /// Args: `other` with a last axis as long as that of `input`.
        ///
        /// Returns: a tensor of the other axes, those of `input` first.
        ///
        /// Derivative: the same sum with `g` in the operand's place.
        ///
        /// Errors: if the last axes differ.
        ///
        /// ```
        /// use retrograd::tensor;
        ///
        /// assert_eq!(tensor![1f32, 2.0].inner(&tensor![3f32, 4.0]).item::<f64>()?, 11.0);
        /// # Ok::<(), retrograd::Error>(())
        /// ```
    }
    fn [inner try_inner] ([] input: &Tensor, other: &Tensor)
    method [inner try_inner] ([] &self, other: &Tensor) {let input = self;}
    -> Tensor = engine::matmul::einsum::inner, (input.engine(), other.engine())
    {}
}

op! {
    {
        /// The Kronecker product: every element of `input` times the whole of `other`, as blocks.
        ///
        /// Args: tensors of any shapes; the one with fewer axes gets ones in front.
        ///
        /// Returns: a fresh tensor, each axis the product of two.
        ///
        /// Derivative: the sums of `g * other` and `g * input` over the blocks.
        ///
        /// ```
        /// use retrograd::tensor;
        ///
        /// assert_eq!(tensor![1f32, 2.0].kron(&tensor![1f32, 10.0]).to_vec::<f64>()?, [1.0, 10.0, 2.0, 20.0]);
        /// # Ok::<(), retrograd::Error>(())
        /// ```
    }
    fn [kron try_kron] ([] input: &Tensor, other: &Tensor)
    method [kron try_kron] ([] &self, other: &Tensor) {let input = self;}
    -> Tensor = engine::matmul::einsum::kron, (input.engine(), other.engine())
    {}
}

op! {
    {
        /// The cross product of vectors of 3 elements along an axis; see `linalg.cross`.
        ///
        /// Args: `dim` the axis, by default the first of size 3.
        ///
        /// Errors: if there is none.
        ///
        /// ```
        /// use retrograd::tensor;
        ///
        /// let y = tensor![1f32, 0.0, 0.0].cross_dim(&tensor![0f32, 1.0, 0.0], 0);
        /// assert_eq!(y.to_vec::<f64>()?, [0.0, 0.0, 1.0]);
        /// # Ok::<(), retrograd::Error>(())
        /// ```
    }
    fn [cross try_cross cross_with try_cross_with] ([] input: &Tensor, other: &Tensor)
    method [cross try_cross cross_with try_cross_with] ([] &self, other: &Tensor) {let input = self;}
    -> Tensor = engine::matmul::linalg::cross, (input.engine(), other.engine(), None)
    {[] o: TakeAlongDimOptions => Tensor = (input.engine(), other.engine(), o.dim)}
}

op! {
    {
        /// As `cross`, along `dim`.
    }
    fn [cross_dim try_cross_dim] ([] input: &Tensor, other: &Tensor, dim: i64)
    method [cross_dim try_cross_dim] ([] &self, other: &Tensor, dim: i64) {let input = self;}
    -> Tensor = engine::matmul::linalg::cross, (input.engine(), other.engine(), Some(dim))
    {}
}

op! {
    {
        /// The product of several matrices; see `linalg.multi_dot`.
        ///
        /// Args: `matrices` one after the other.
        ///
        /// Errors: for other shapes.
    }
    fn [chain_matmul try_chain_matmul] (['a] matrices: impl Into<Tensors<'a>>)
    -> Tensor = engine::matmul::linalg::chain_matmul, (matrices.into().engine())
    {}
}

op! {
    {
        /// A square matrix multiplied by itself; see `linalg.matrix_power`.
        ///
        /// ```
        /// use retrograd::tensor;
        ///
        /// assert_eq!(tensor![[2f32]].matrix_power(3).to_vec::<f64>()?, [8.0]);
        /// # Ok::<(), retrograd::Error>(())
        /// ```
    }
    fn [matrix_power try_matrix_power] ([] input: &Tensor, n: i64)
    method [matrix_power try_matrix_power] ([] &self, n: i64) {let input = self;}
    -> Tensor = engine::matmul::linalg::matrix_power_of, (input.engine(), n)
    {}
}

op! {
    {
        /// The distances between the rows of two matrices, or of two batches of them.
        ///
        /// Args: `x1` (..., p, m), `x2` (..., r, m), float32 or float64, whose leading sizes broadcast; `p` the norm of
        /// the differences, 0 or more; `compute_mode` for `p=2`: `CdistMode::Mm` expands the square, which is faster
        /// and less exact, `CdistMode::NoMm` does not, `CdistMode::MmIfNecessary` does so for more than 25 rows.
        ///
        /// Returns: a tensor of sizes (..., p, r).
        ///
        /// Derivative: that of the norm, zero where the distance is.
        ///
        /// Errors: for other shapes or dtypes or a negative `p`; for another mode.
        ///
        /// ```
        /// use retrograd::{ops, tensor};
        ///
        /// let y = ops::cdist(&tensor![[0f32, 0.0]], &tensor![[3f32, 4.0], [1.0, 0.0]]);
        /// assert_eq!(y.to_vec::<f64>()?, [5.0, 1.0]);
        /// # Ok::<(), retrograd::Error>(())
        /// ```
    }
    fn [cdist try_cdist cdist_with try_cdist_with] ([] x1: &Tensor, x2: &Tensor)
    -> Tensor = engine::matmul::cdist::cdist, (x1.engine(), x2.engine(), 2.0, "use_mm_for_euclid_dist_if_necessary")
    {[] o: CdistOptions => Tensor = (x1.engine(), x2.engine(), o.p, o.compute_mode.name())}
}

op! {
    {
        /// The distances between the rows of a matrix: `nn.functional.pdist`.
        ///
        /// Args: `input`, `p` as there. Returns, Derivative, Errors: as there.
        ///
        /// ```
        /// use retrograd::{ops, tensor};
        ///
        /// assert_eq!(ops::pdist(&tensor![[0f32, 0.0], [3.0, 4.0]]).to_vec::<f64>()?, [5.0]);
        /// # Ok::<(), retrograd::Error>(())
        /// ```
    }
    fn [pdist try_pdist pdist_with try_pdist_with] ([] input: &Tensor)
    -> Tensor = engine::matmul::pdist::top_pdist, (input.engine(), 2.0)
    {[] o: PdistOptions => Tensor = (input.engine(), o.p)}
}

op! {
    {
        /// The inner product of two vectors, the first conjugated; as `dot` for real ones.
        ///
        /// Args: `input`, `other` (n,), of one dtype, any dtype but bool.
        ///
        /// Returns: a 0-dim tensor.
        ///
        /// Derivative: `conj(g) * other` and `g * input`.
        ///
        /// Errors: if an operand has not one dim, or sizes or dtypes differ.
        ///
        /// ```
        /// use retrograd::tensor;
        ///
        /// assert_eq!(tensor![1f32, 2.0].vdot(&tensor![3f32, 4.0]).item::<f64>()?, 11.0);
        /// # Ok::<(), retrograd::Error>(())
        /// ```
    }
    fn [vdot try_vdot] ([] input: &Tensor, other: &Tensor)
    method [vdot try_vdot] ([] &self, other: &Tensor) {let input = self;}
    -> Tensor = engine::matmul::vandermonde::vdot, (input.engine(), other.engine())
    {}
}

op! {
    {
        /// The powers of each element of a vector, from the highest to 0, as the columns of a matrix.
        ///
        /// Args: `x` a vector; `N` how many powers, by default as many as `x` has elements; `increasing` puts the
        /// lowest first.
        ///
        /// Returns: a tensor of sizes (len(x), N); integers become int64.
        ///
        /// Derivative: that of the powers.
        ///
        /// Errors: if `x` is no vector or `N` is negative.
        ///
        /// ```
        /// use retrograd::{ops, tensor};
        ///
        /// assert_eq!(ops::vander(&tensor![1i64, 2, 3]).to_vec::<i64>()?, [1, 1, 1, 4, 2, 1, 9, 3, 1]);
        /// # Ok::<(), retrograd::Error>(())
        /// ```
    }
    fn [vander try_vander vander_with try_vander_with] ([] x: &Tensor)
    -> Tensor = engine::matmul::vandermonde::vander, (x.engine(), None, false)
    {[] o: NIncreasingOptions => Tensor = (x.engine(), o.n, o.increasing)}
}

op! {
    {
        /// The exponential of a square matrix, or of each of a batch: `I + A + A^2 / 2 + A^3 / 6 + ...`.
        ///
        /// Args: `input` (..., n, n), a floating or complex dtype.
        ///
        /// Returns: a tensor of the same shape.
        ///
        /// Derivative: the upper right block of the exponential of `[[A^T, g], [0, A^T]]`.
        ///
        /// Errors: if the matrices are not square.
        ///
        /// ```
        /// use retrograd::tensor;
        ///
        /// assert_eq!(tensor![[0f32, 1.0], [0.0, 0.0]].matrix_exp().to_vec::<f64>()?, [1.0, 1.0, 0.0, 1.0]);
        /// # Ok::<(), retrograd::Error>(())
        /// ```
    }
    fn [matrix_exp try_matrix_exp] ([] input: &Tensor)
    method [matrix_exp try_matrix_exp] ([] &self) {let input = self;}
    -> Tensor = engine::matmul::exponential::matrix_exp, (input.engine())
    {}
}
