//! Structures of tensors, taken apart and put together.
//!
//! What transforms, `checkpoint` and compiled functions take and return are trees: a tensor, or tuples, vectors and
//! structs of trees. A tree lists its tensors, and can be made again with others in their places.

mod impls;
mod structure;

pub use structure::Structure;

use crate::engine;
use crate::{Error, Result, Tensor};

/// A structure of tensors, such as the parameters of a model.
///
/// Trees are: [`Tensor`], `()`, tuples of up to eight trees, `Vec`, arrays, `Option` and `Box` of trees, `BTreeMap`
/// from strings to trees (its values are listed in the order of the keys), `PhantomData`; and structs and enums of
/// these with `#[derive(Tree)]`. A field marked `#[tree(skip)]` is a constant: no tensor of it is seen, and a tree with
/// other tensors gets a clone of it.
///
/// ```
/// use retrograd::{Tensor, Tree, tensor};
///
/// #[derive(Tree)]
/// struct Layer {
///     weight: Tensor,
///     bias: Option<Tensor>,
///     #[tree(skip)]
///     name: String,
/// }
///
/// # fn main() -> retrograd::Result<()> {
/// let layer = Layer { weight: tensor![1.0, 2.0], bias: None, name: "first".into() };
/// assert_eq!(layer.tensors().len(), 1);
/// assert_eq!(layer.structure().to_string(), "Layer { weight: tensor, bias: None }");
///
/// let doubled = layer.map_tensors(&mut |t| Ok(t * 2.0))?;
/// assert_eq!(doubled.weight.to_vec::<f64>()?, [2.0, 4.0]);
/// assert_eq!(doubled.name, "first");
/// # Ok(())
/// # }
/// ```
pub trait Tree: Sized {
    /// This structure with a `T` in the place of each tensor: what a Jacobian is, where it has a tree for each tensor
    /// of a result. For structs that derive `Tree` it is a `Vec`, in the order in which they list their tensors.
    type Each<T>;

    /// Calls `see` with each tensor, in order.
    fn visit_tensors<'a>(&'a self, see: &mut dyn FnMut(&'a Tensor));

    /// The same structure with another tensor in the place of each, in order.
    ///
    /// # Errors
    /// Those of `make`.
    fn map_tensors(&self, make: &mut dyn FnMut(&Tensor) -> Result<Tensor>) -> Result<Self>;

    /// What `make` gives for each tensor, in the form of this structure.
    ///
    /// # Errors
    /// Those of `make`.
    fn each_tensor<T>(&self, make: &mut dyn FnMut(&Tensor) -> Result<T>) -> Result<Self::Each<T>>;

    /// The structure without the tensors, to compare it with another one, or to print it.
    fn structure(&self) -> Structure;

    /// The tensors, in order.
    fn tensors(&self) -> Vec<&Tensor> {
        let mut all = Vec::new();
        self.visit_tensors(&mut |t| all.push(t));
        all
    }

    /// The same structure with these tensors, in order.
    ///
    /// # Errors
    /// If there are more or fewer of them than this tree has.
    ///
    /// ```
    /// use retrograd::{Tensor, Tree};
    ///
    /// # fn main() -> retrograd::Result<()> {
    /// let pair = (Tensor::from(1.0), vec![Tensor::from(2.0)]);
    /// let other = pair.with_tensors([Tensor::from(3.0), Tensor::from(4.0)])?;
    /// assert_eq!(other.1[0].item::<f64>()?, 4.0);
    /// assert!(pair.with_tensors([Tensor::from(3.0)]).is_err());
    /// # Ok(())
    /// # }
    /// ```
    fn with_tensors(&self, tensors: impl IntoIterator<Item = Tensor>) -> Result<Self> {
        let mut given = tensors.into_iter();
        let made = self.map_tensors(&mut |_| given.next().ok_or_else(|| other_count(self, "fewer")))?;
        match given.next() {
            None => Ok(made),
            Some(_) => Err(other_count(self, "more")),
        }
    }
}

#[cold]
fn other_count(tree: &impl Tree, how: &str) -> Error {
    let count = tree.tensors().len();
    Error::value(
        "Tree::with_tensors",
        format!("got {how} tensors than the {count} of the structure {}", tree.structure()),
    )
}

/// The tensors of a tree, as the engine has them.
pub(crate) fn flatten(tree: &impl Tree) -> Vec<engine::Tensor> {
    let mut all = Vec::new();
    tree.visit_tensors(&mut |t| all.push(t.0.clone()));
    all
}

/// As [`Tree::with_tensors`], where the number of tensors is right.
pub(crate) fn unflatten<T: Tree>(like: &T, tensors: Vec<engine::Tensor>) -> Result<T> {
    like.with_tensors(tensors.into_iter().map(Tensor))
}

/// The structure alone, as a tree that holds no memory: to make others like it later.
pub(crate) fn template<T: Tree>(tree: &T) -> Result<T> {
    let nothing = Tensor(engine::Tensor::empty(&[0], engine::DType::Float32)?);
    tree.map_tensors(&mut |_| Ok(nothing.clone()))
}
