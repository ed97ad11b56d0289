//! The tensor of programs, which is the engine's under another type: methods of one name return a tensor here, and a
//! `Result` there.

use std::borrow::Cow;

use crate::{DType, Error, Result, engine, site};

/// A handle on numbers in some shape, with the history that gradients need.
///
/// A clone is the same tensor: it has the same memory, the same gradient and the same history. A copy is
/// `ops::clone(&x)`.
///
/// There is no `==` of tensors: two of them are equal in several ways. Whether handles are the same tensor says
/// [`Tensor::same`]; which elements are equal, as a tensor of bools, says `x.eq(&y)`; and whether all of them are says
/// `x.equal(&y)`.
///
/// ```compile_fail,E0369
/// # use retrograd::tensor;
/// assert!(tensor![1.0] == tensor![1.0]);
/// ```
#[derive(Clone)]
#[repr(transparent)]
pub struct Tensor(pub(crate) engine::Tensor);

impl Tensor {
    /// This tensor as the engine knows it.
    #[inline]
    pub fn engine(&self) -> &engine::Tensor {
        &self.0
    }

    // ---- layout

    /// Sizes, one per axis.
    ///
    /// ```
    /// assert_eq!(retrograd::tensor![[1.0, 2.0, 3.0]].shape(), [1, 3]);
    /// ```
    #[inline]
    pub fn shape(&self) -> &[usize] {
        self.0.sizes()
    }

    /// The size along one dimension, counted from the end if it is negative.
    ///
    /// # Panics
    /// If there is no such dimension.
    ///
    /// ```
    /// assert_eq!(retrograd::tensor![[1.0, 2.0, 3.0]].size(-1), 3);
    /// ```
    #[track_caller]
    pub fn size(&self, dim: i64) -> usize {
        let ndim = self.ndim();
        let axis = if dim < 0 { dim + ndim as i64 } else { dim };
        let size = usize::try_from(axis).ok().and_then(|axis| self.shape().get(axis).copied());
        site::done(size.ok_or_else(|| engine::ErrorKind::DimRange { op: "size", dim, ndim }.into()))
    }

    /// Strides in elements, one per axis.
    #[inline]
    pub fn strides(&self) -> &[isize] {
        self.0.strides()
    }

    /// How many axes there are.
    #[inline]
    pub fn ndim(&self) -> usize {
        self.0.ndim()
    }

    /// How many axes there are: torch's name of [`Tensor::ndim`].
    #[inline]
    pub fn dim(&self) -> usize {
        self.0.ndim()
    }

    /// How many elements there are.
    #[inline]
    pub fn numel(&self) -> usize {
        self.0.numel()
    }

    /// The type of the elements.
    #[inline]
    pub fn dtype(&self) -> DType {
        self.0.dtype()
    }

    /// Whether the elements are floating point numbers.
    #[inline]
    pub fn is_floating_point(&self) -> bool {
        self.dtype().is_floating()
    }

    /// Whether the elements are complex numbers.
    #[inline]
    pub fn is_complex(&self) -> bool {
        self.dtype().is_complex()
    }

    /// Whether the elements lie in memory in row-major order, one after the other.
    #[inline]
    pub fn is_contiguous(&self) -> bool {
        self.0.is_contiguous()
    }

    // ---- identity

    /// Whether both are handles on one tensor.
    ///
    /// ```
    /// use retrograd::tensor;
    ///
    /// let x = tensor![1.0];
    /// assert!(x.same(&x.clone()) && !x.same(&tensor![1.0]));
    /// ```
    #[inline]
    pub fn same(&self, other: &Tensor) -> bool {
        self.0.is_same(&other.0)
    }

    /// A number that no other tensor has while this one lives.
    #[inline]
    pub fn id(&self) -> usize {
        self.0.id()
    }

    /// How many in-place writes there were to the memory that this tensor shares with its views.
    #[inline]
    pub fn version(&self) -> u32 {
        self.0.version()
    }

    // ---- elements

    /// The elements where they are, for reading, of the type that the tensor's dtype has: float32 as `f32`, and bools
    /// as [`Truth`](engine::tensor::Truth). With the feature `ndarray`, `array()` of it is an `ArrayViewD`;
    /// `as_slice()` is a slice, if the elements are row-major.
    ///
    /// Until it is dropped the memory stays as it is: ops in place refuse every tensor that shares it, and this
    /// function waits for those that are under way on other threads. So take it for a moment.
    ///
    /// # Errors
    /// For another type; if the memory is shared with another library; for tensors under `vmap`.
    ///
    /// ```
    /// let x = retrograd::tensor![[1f32, 2.0], [3.0, 4.0]];
    /// let elements = x.elements::<f32>()?;
    /// assert_eq!(elements.as_slice(), Some(&[1.0, 2.0, 3.0, 4.0][..]));
    /// # Ok::<(), retrograd::Error>(())
    /// ```
    #[track_caller]
    pub fn elements<T: engine::tensor::Element>(&self) -> Result<engine::TensorView<T>> {
        site::here();
        self.0.view()
    }

    // ---- autograd

    /// Whether ops on this tensor are recorded.
    #[inline]
    pub fn requires_grad(&self) -> bool {
        self.0.requires_grad()
    }

    /// Marks this leaf as wanting a gradient, or not; returns it.
    ///
    /// # Panics
    /// For a dtype that is neither floating point nor complex, and for `false` on a tensor that an op computed.
    ///
    /// ```
    /// let weight = retrograd::tensor![1.0, 2.0].requires_grad_(true);
    /// assert!(weight.requires_grad() && weight.is_leaf());
    /// ```
    #[track_caller]
    pub fn requires_grad_(&self, on: bool) -> Tensor {
        site::done(self.try_requires_grad_(on))
    }

    /// As [`Tensor::requires_grad_`], with the error.
    #[track_caller]
    pub fn try_requires_grad_(&self, on: bool) -> Result<Tensor> {
        site::here();
        self.0.set_requires_grad(on)?;
        Ok(self.clone())
    }

    /// Whether no op computed this tensor, as far as autograd knows.
    pub fn is_leaf(&self) -> bool {
        self.0.is_leaf()
    }

    /// The gradient that [`Tensor::backward`] accumulated, if it did.
    #[inline]
    pub fn grad(&self) -> Option<Tensor> {
        self.0.grad().map(Tensor)
    }

    /// Replaces the gradient.
    ///
    /// # Errors
    /// If its shape or dtype is not this tensor's, or if it is this tensor.
    #[track_caller]
    pub fn set_grad(&self, grad: Option<&Tensor>) -> Result<()> {
        site::here();
        self.0.set_grad(grad.map(|grad| grad.0.clone()))
    }

    /// Drops the gradient, as `zero_grad` of an optimizer does: the next one is not added to it.
    ///
    /// ```
    /// let x = retrograd::tensor![2.0].requires_grad_(true);
    /// (&x * &x).backward()?;
    /// assert!(x.grad().is_some());
    /// x.zero_grad();
    /// assert!(x.grad().is_none());
    /// # Ok::<(), retrograd::Error>(())
    /// ```
    #[track_caller]
    pub fn zero_grad(&self) {
        site::done(self.set_grad(None));
    }

    /// Has the gradient of a tensor that an op computed accumulated into its [`grad`](Tensor::grad) too.
    ///
    /// # Errors
    /// If the tensor does not require grad.
    #[track_caller]
    pub fn retain_grad(&self) -> Result<()> {
        site::here();
        self.0.retain_grad()
    }

    /// Whether the gradient of this tensor, which an op computed, is retained.
    pub fn retains_grad(&self) -> bool {
        self.0.retains_grad()
    }

    /// A leaf over the same memory that does not require grad. Writes to either count for both.
    ///
    /// ```
    /// let x = retrograd::tensor![2.0].requires_grad_(true);
    /// assert!(!(&x * &x).detach().requires_grad());
    /// ```
    #[inline]
    pub fn detach(&self) -> Tensor {
        Tensor(self.0.detach())
    }

    /// Forgets the history in place; returns the tensor.
    ///
    /// # Errors
    /// For a view.
    #[track_caller]
    pub fn detach_(&self) -> Result<Tensor> {
        site::here();
        self.0.detach_()?;
        Ok(self.clone())
    }

    /// The same memory as a leaf that counts its own writes: autograd does not see them.
    #[inline]
    pub fn data(&self) -> Tensor {
        Tensor(self.0.data())
    }

    /// Takes over memory, shape and dtype of another tensor, and keeps its own place in graphs.
    ///
    /// # Errors
    /// If this tensor requires grad and the other's dtype cannot have one.
    #[track_caller]
    pub fn set_data(&self, other: &Tensor) -> Result<()> {
        site::here();
        self.0.set_data(&other.0)
    }

    /// The name of the node that computed this tensor, as torch has it; none for a leaf.
    ///
    /// ```
    /// let x = retrograd::tensor![2.0].requires_grad_(true);
    /// assert_eq!((&x * &x).grad_fn_name().as_deref(), Some("MulBackward0"));
    /// assert_eq!(x.grad_fn_name(), None);
    /// ```
    pub fn grad_fn_name(&self) -> Option<Cow<'static, str>> {
        let node = self.0.grad_fn().ok().flatten()?.node;
        Some(match node.name() {
            Cow::Borrowed(name) => name.rsplit("::").next().unwrap_or(name).into(),
            Cow::Owned(name) => name.rsplit("::").next().unwrap_or(&name).to_owned().into(),
        })
    }

    /// The tensor that this one is a view of, as far as autograd knows.
    pub fn base(&self) -> Option<Tensor> {
        self.0.base().cloned().map(Tensor)
    }

    // ---- rows

    /// The parts along the first axis, as views. Their gradients are joined in one step.
    ///
    /// # Panics
    /// For a tensor without axes.
    ///
    /// ```
    /// let x = retrograd::tensor![[1, 2], [3, 4], [5, 6]];
    /// let sums: Vec<i32> = x.rows().map(|row| row.to_vec::<i32>().unwrap().iter().sum()).collect();
    /// assert_eq!(sums, [3, 7, 11]);
    /// ```
    #[track_caller]
    pub fn rows(&self) -> Rows {
        site::done(self.try_rows())
    }

    /// As [`Tensor::rows`], with the error.
    #[track_caller]
    pub fn try_rows(&self) -> Result<Rows> {
        site::here();
        if self.ndim() == 0 {
            return Err(Error::type_error("rows", "iteration over a 0-d tensor: it has one element, item() gives it"));
        }
        self.0.unbind(0).map(|rows| Rows(rows.into_iter()))
    }
}

/// The parts of a tensor along its first axis: [`Tensor::rows`].
#[derive(Debug)]
pub struct Rows(std::vec::IntoIter<engine::Tensor>);

impl Iterator for Rows {
    type Item = Tensor;
    fn next(&mut self) -> Option<Tensor> {
        self.0.next().map(Tensor)
    }
    fn size_hint(&self) -> (usize, Option<usize>) {
        self.0.size_hint()
    }
}

impl DoubleEndedIterator for Rows {
    fn next_back(&mut self) -> Option<Tensor> {
        self.0.next_back().map(Tensor)
    }
}

impl ExactSizeIterator for Rows {}

/// The parts along the first axis: [`Tensor::rows`].
impl IntoIterator for &Tensor {
    type Item = Tensor;
    type IntoIter = Rows;
    #[track_caller]
    fn into_iter(self) -> Rows {
        self.rows()
    }
}

impl From<engine::Tensor> for Tensor {
    #[inline]
    fn from(tensor: engine::Tensor) -> Self {
        Self(tensor)
    }
}

impl From<Tensor> for engine::Tensor {
    #[inline]
    fn from(tensor: Tensor) -> Self {
        tensor.0
    }
}

impl From<&Tensor> for Tensor {
    #[inline]
    fn from(tensor: &Tensor) -> Self {
        tensor.clone()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tensor_is_the_engines() -> Result<()> {
        let given = engine::Tensor::from_slice(&[1.0, 2.0], &[2])?;
        let tensor = Tensor::from(given.clone());
        assert_eq!(tensor.engine().id(), given.id());
        assert_eq!(engine::Tensor::from(tensor.clone()).id(), given.id());
        assert_eq!(size_of::<Option<Tensor>>(), size_of::<engine::Tensor>());
        Ok(())
    }
}
