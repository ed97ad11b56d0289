//! What owns parameters: the trait [`Module`], and what walks through one.

use std::collections::{BTreeMap, HashSet};
use std::marker::PhantomData;
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use crate::engine::autograd::GradGuard;
use crate::engine::ops::memory;
use crate::nn::state::{Incompatible, LoadOptions, StateDict, load};
use crate::{DType, Result, Tensor, site};

/// A struct that owns parameters: tensors that are trained, in fields, and in fields of fields.
///
/// `#[derive(Module)]` implements it. A [`Tensor`] in a field is a parameter by the name of the field; those of a field
/// that is a module itself have its name and a dot before theirs, as in `layers.0.weight`. `Option`, `Vec`, arrays,
/// tuples, `Box`, `Arc` and `BTreeMap<String, _>` of modules are modules; numbers, strings and `bool` are modules
/// without parameters. `#[module(buffer)]` on a field says that its tensors are state that is not trained, and
/// `#[module(skip)]` leaves a field of any other type out.
///
/// ```
/// use retrograd::Tensor;
/// use retrograd::nn::{Forward, Linear, Module};
///
/// #[derive(Module)]
/// struct Mlp {
///     layers: Vec<Linear>,
///     width: usize,
/// }
///
/// impl Forward for Mlp {
///     fn forward(&self, x: &Tensor) -> Tensor {
///         self.layers.iter().fold(x.clone(), |x, layer| layer.forward(&x))
///     }
/// }
///
/// let mlp = Mlp { layers: vec![Linear::new(3, 8), Linear::new(8, 2)], width: 8 };
/// let names: Vec<String> = mlp.named_parameters().into_iter().map(|(name, _)| name).collect();
/// assert_eq!(names, ["layers.0.weight", "layers.0.bias", "layers.1.weight", "layers.1.bias"]);
/// assert_eq!(mlp.num_parameters(), 3 * 8 + 8 + 8 * 2 + 2);
/// ```
///
/// A field of another type is an error, unless it is left out:
///
/// ```compile_fail,E0277
/// #[derive(retrograd::nn::Module)]
/// struct Net {
///     started: std::time::Instant,
/// }
/// ```
///
/// As is what is no struct:
///
/// ```compile_fail
/// #[derive(retrograd::nn::Module)]
/// enum Either {
///     Layer(retrograd::nn::Linear),
/// }
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` is no module",
    label = "has no parameters that are known",
    note = "`#[derive(Module)]` makes a struct a module; `#[module(skip)]` on a field leaves it out"
)]
pub trait Module {
    /// Shows every tensor to a visitor, and every module in this one, by name: what the derive writes.
    ///
    /// ```
    /// use retrograd::{Tensor, nn::{Linear, Module, Visitor}};
    ///
    /// struct Doubled(Linear);
    ///
    /// impl Module for Doubled {
    ///     fn visit(&self, visitor: &mut Visitor<'_>) {
    ///         visitor.field("inner", &self.0);
    ///     }
    /// }
    ///
    /// assert_eq!(Doubled(Linear::new(1, 1)).named_parameters()[0].0, "inner.weight");
    /// ```
    fn visit(&self, visitor: &mut Visitor<'_>);

    /// The parameters with their names, in the order of the fields. A tensor that is in several places comes once.
    ///
    /// ```
    /// use retrograd::nn::{Linear, Module};
    ///
    /// assert_eq!(Linear::new(3, 2).named_parameters()[1].0, "bias");
    /// ```
    fn named_parameters(&self) -> Vec<(String, Tensor)> {
        once(self, |member| matches!(member, Member::Parameter(_)))
    }

    /// The parameters, in the order of the fields: what an optimizer takes.
    ///
    /// ```
    /// use retrograd::nn::{Linear, Module};
    ///
    /// assert_eq!(Linear::new(3, 2).parameters().len(), 2);
    /// ```
    fn parameters(&self) -> Vec<Tensor> {
        self.named_parameters().into_iter().map(|(_, tensor)| tensor).collect()
    }

    /// The buffers with their names: tensors that belong to the state and are not trained.
    ///
    /// ```
    /// use retrograd::nn::{BatchNorm1d, Module};
    ///
    /// let names: Vec<String> = BatchNorm1d::new(3).named_buffers().into_iter().map(|(name, _)| name).collect();
    /// assert_eq!(names, ["running_mean", "running_var", "num_batches_tracked"]);
    /// ```
    fn named_buffers(&self) -> Vec<(String, Tensor)> {
        once(self, |member| matches!(member, Member::Buffer(_)))
    }

    /// How many numbers the parameters have.
    ///
    /// ```
    /// use retrograd::nn::{Linear, Module};
    ///
    /// assert_eq!(Linear::new(3, 2).num_parameters(), 8);
    /// ```
    fn num_parameters(&self) -> usize {
        self.parameters().iter().map(|p| p.0.numel()).sum()
    }

    /// The parameters and buffers by name, detached: tensors over the same memory.
    ///
    /// A tensor that is in several places has several names. [`safetensors::save`](crate::safetensors::save) writes the
    /// dict to a file, and torch reads it.
    ///
    /// ```
    /// use retrograd::nn::{Linear, Module};
    ///
    /// let state = Linear::new(3, 2).state_dict();
    /// assert_eq!(state["weight"].engine().sizes(), [2, 3]);
    /// ```
    fn state_dict(&self) -> StateDict {
        let mut state = StateDict::new();
        walk(self, &mut |name, member| {
            if let Member::Parameter(t) | Member::Buffer(t) = member {
                state.insert(name.to_owned(), Tensor(t.0.detach()));
            }
        });
        state
    }

    /// Copies the tensors of a state dict into the parameters and buffers of their names.
    ///
    /// An error, and nothing is written, if a name is missing or unexpected, or a shape differs; it has them all.
    ///
    /// ```
    /// use retrograd::nn::{Linear, Module};
    ///
    /// let (from, to) = (Linear::new(3, 2), Linear::new(3, 2));
    /// to.load_state_dict(&from.state_dict())?;
    /// let error = Linear::new(3, 4).load_state_dict(&from.state_dict()).unwrap_err();
    /// assert!(error.to_string().contains("size mismatch for bias"));
    /// # Ok::<(), retrograd::Error>(())
    /// ```
    fn load_state_dict(&self, state: &StateDict) -> Result<()> {
        load(self, state, LoadOptions::default()).map(drop)
    }

    /// As [`load_state_dict`](Self::load_state_dict), with options: `strict(false)` takes what is there. Returns the
    /// names that were missing or unexpected.
    ///
    /// ```
    /// use retrograd::nn::{Linear, Module};
    ///
    /// let state = Linear::with(3, 2, |o| o.bias(false)).state_dict();
    /// let left = Linear::new(3, 2).load_state_dict_with(&state, |o| o.strict(false))?;
    /// assert_eq!(left.missing_keys, ["bias"]);
    /// # Ok::<(), retrograd::Error>(())
    /// ```
    fn load_state_dict_with(
        &self,
        state: &StateDict,
        options: impl FnOnce(LoadOptions) -> LoadOptions,
    ) -> Result<Incompatible>
    where
        Self: Sized,
    {
        load(self, state, options(LoadOptions::default()))
    }

    /// Lets the gradients of all parameters go.
    ///
    /// ```
    /// use retrograd::nn::{Linear, Module};
    ///
    /// let layer = Linear::new(3, 2);
    /// layer.zero_grad();
    /// assert!(layer.parameters()[0].engine().grad().is_none());
    /// ```
    fn zero_grad(&self) {
        for p in self.parameters() {
            // What is no leaf has no gradient of its own, and refuses to be given one.
            if p.0.grad().is_some() {
                let _ = p.0.set_grad(None);
            }
        }
    }

    /// Says to all layers whether they are trained, as they are at first: `Dropout` and batch normalization differ.
    ///
    /// ```
    /// use retrograd::{Tensor, engine, nn::{Dropout, Forward, Module}};
    ///
    /// let mut layer = Dropout::new(1.0);
    /// layer.train(false);
    /// let x = Tensor::from(engine::Tensor::from_slice(&[1.0], &[1])?);
    /// assert_eq!(layer.forward(&x).engine().to_vec::<f64>()?, [1.0]);
    /// # Ok::<(), retrograd::Error>(())
    /// ```
    fn train(&mut self, on: bool) {
        walk(self, &mut |_, member| {
            if let Member::Training(flag) = member {
                flag.set(on);
            }
        });
    }

    /// [`train(false)`](Self::train).
    ///
    /// ```
    /// use retrograd::nn::{BatchNorm1d, Module};
    ///
    /// BatchNorm1d::new(3).eval();
    /// ```
    fn eval(&mut self) {
        self.train(false);
    }

    /// Has all parameters require gradients, or none of them, in place.
    ///
    /// Panics for a parameter whose dtype has no gradients, and for one that is no leaf.
    ///
    /// ```
    /// use retrograd::nn::{Linear, Module};
    ///
    /// let layer = Linear::new(3, 2);
    /// layer.requires_grad_(false);
    /// assert!(!layer.parameters()[0].engine().requires_grad());
    /// ```
    #[track_caller]
    fn requires_grad_(&self, on: bool) {
        site::here();
        site::done(self.try_requires_grad_(on));
    }

    /// As [`requires_grad_`](Self::requires_grad_), with an error in the place of a panic.
    #[track_caller]
    fn try_requires_grad_(&self, on: bool) -> Result<()> {
        site::here();
        self.parameters().iter().try_for_each(|p| p.0.set_requires_grad(on))
    }

    /// Converts floating parameters and buffers to a dtype, in place, and lets their gradients go.
    ///
    /// Panics for a dtype that is not floating, and where memory is short.
    ///
    /// ```
    /// use retrograd::{DType, nn::{Linear, Module}};
    ///
    /// let layer = Linear::new(3, 2);
    /// layer.to_dtype(DType::Float64);
    /// assert_eq!(layer.parameters()[0].engine().dtype(), DType::Float64);
    /// ```
    #[track_caller]
    fn to_dtype(&self, dtype: DType) {
        site::here();
        site::done(self.try_to_dtype(dtype));
    }

    /// As [`to_dtype`](Self::to_dtype), with an error in the place of a panic, after which nothing is converted.
    #[track_caller]
    fn try_to_dtype(&self, dtype: DType) -> Result<()> {
        site::here();
        if !dtype.is_floating() {
            return Err(crate::Error::type_error(
                "to_dtype",
                format!(
                    "nn.Module.to only accepts floating point or complex dtypes, but got desired dtype={}",
                    dtype.name()
                ),
            ));
        }
        let _off = GradGuard::new(false);
        let both = self.named_parameters().into_iter().chain(self.named_buffers());
        let floats = both.map(|(_, t)| t).filter(|t| t.0.dtype().is_floating() && t.0.dtype() != dtype);
        let converted: Vec<(Tensor, crate::engine::Tensor)> =
            floats.map(|t| Ok((t.clone(), memory::cast(&t.0.detach(), dtype)?))).collect::<Result<_>>()?;
        for (tensor, values) in converted {
            if tensor.0.grad().is_some() {
                tensor.0.set_grad(None)?;
            }
            tensor.0.set_data(&values)?;
        }
        Ok(())
    }
}

/// A module that makes a tensor of a tensor, and so can be a part of [`Sequential`](super::Sequential).
///
/// ```
/// use retrograd::{Tensor, engine, nn::{Forward, Linear}};
///
/// let x = Tensor::from(engine::Tensor::from_slice(&[1f32, 2.0, 3.0], &[1, 3])?);
/// assert_eq!(Linear::new(3, 2).forward(&x).engine().sizes(), [1, 2]);
/// # Ok::<(), retrograd::Error>(())
/// ```
pub trait Forward: Module {
    /// The output for an input. Panics where ops cannot take the input: a layer of this crate at the line of its
    /// caller, a module of the program at its own line that calls the op or layer. Through a `&dyn Forward` a layer
    /// does not learn its caller, and names its own line; a `Box<dyn Forward>` and other pointers tell it.
    // No `#[track_caller]`: it would hold for modules of the program, and hide their lines behind that of their caller.
    fn forward(&self, x: &Tensor) -> Tensor;

    /// As [`forward`](Self::forward), with an error in the place of a panic, if the module says how: layers of this
    /// crate do. Without a definition of its own it is `forward`, and panics where that does.
    ///
    /// [`Sequential`](super::Sequential) and pointers, such as `Box<dyn Forward>`, call this one of their modules, also
    /// where their own `forward` is called.
    fn try_forward(&self, x: &Tensor) -> Result<Tensor> {
        Ok(self.forward(x))
    }
}

/// Whether a layer is trained; [`Module::train`] says so. A field of this type is no parameter.
///
/// ```
/// use retrograd::nn::{Module, Training};
///
/// #[derive(Module)]
/// struct Noise {
///     training: Training,
/// }
///
/// let mut noise = Noise { training: Training::default() };
/// assert!(noise.training.is_on());
/// noise.eval();
/// assert!(!noise.training.is_on());
/// ```
#[derive(Debug)]
pub struct Training(AtomicBool);

impl Default for Training {
    fn default() -> Self {
        Self(AtomicBool::new(true))
    }
}

impl Clone for Training {
    fn clone(&self) -> Self {
        Self(AtomicBool::new(self.is_on()))
    }
}

impl Training {
    /// Whether the layer is trained.
    pub fn is_on(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }

    fn set(&self, on: bool) {
        self.0.store(on, Ordering::Relaxed);
    }
}

/// What a [`Visitor`] meets.
#[derive(Clone, Copy)]
enum Member<'a> {
    Parameter(&'a Tensor),
    Buffer(&'a Tensor),
    Training(&'a Training),
}

/// Walks through a module: [`Module::visit`] shows it the fields.
pub struct Visitor<'a> {
    /// The names of the fields on the way, with dots between them.
    path: String,
    /// Whether tensors are buffers here.
    buffers: bool,
    meet: &'a mut dyn FnMut(&str, Member<'_>),
}

impl Visitor<'_> {
    /// Shows a module in a field of this name. A tensor is one, whose only parameter is itself.
    pub fn field<M: Module + ?Sized>(&mut self, name: &str, module: &M) {
        let length = self.path.len();
        if length > 0 {
            self.path.push('.');
        }
        self.path.push_str(name);
        module.visit(self);
        self.path.truncate(length);
    }

    /// As [`field`](Self::field), of a module all of whose tensors are buffers.
    pub fn buffer<M: Module + ?Sized>(&mut self, name: &str, module: &M) {
        let before = std::mem::replace(&mut self.buffers, true);
        self.field(name, module);
        self.buffers = before;
    }
}

fn walk<M: Module + ?Sized>(module: &M, meet: &mut dyn FnMut(&str, Member<'_>)) {
    module.visit(&mut Visitor { path: String::new(), buffers: false, meet });
}

/// The tensors that are wanted, each under its first name.
fn once<M: Module + ?Sized>(module: &M, wanted: impl Fn(Member<'_>) -> bool) -> Vec<(String, Tensor)> {
    let (mut found, mut seen) = (Vec::new(), HashSet::new());
    walk(module, &mut |name, member| {
        if let Member::Parameter(t) | Member::Buffer(t) = member
            && wanted(member)
            && seen.insert(t.0.id())
        {
            found.push((name.to_owned(), t.clone()));
        }
    });
    found
}

/// All tensors, under all of their names.
pub(super) fn tensors<M: Module + ?Sized>(module: &M) -> Vec<(String, Tensor)> {
    let mut found = Vec::new();
    walk(module, &mut |name, member| {
        if let Member::Parameter(t) | Member::Buffer(t) = member {
            found.push((name.to_owned(), t.clone()));
        }
    });
    found
}

impl Module for Tensor {
    fn visit(&self, visitor: &mut Visitor<'_>) {
        let member = if visitor.buffers { Member::Buffer(self) } else { Member::Parameter(self) };
        (visitor.meet)(&visitor.path, member);
    }
}

impl Module for Training {
    fn visit(&self, visitor: &mut Visitor<'_>) {
        (visitor.meet)(&visitor.path, Member::Training(self));
    }
}

impl<M: Module> Module for Option<M> {
    fn visit(&self, visitor: &mut Visitor<'_>) {
        if let Some(module) = self {
            module.visit(visitor);
        }
    }
}

impl<M: Module> Module for [M] {
    fn visit(&self, visitor: &mut Visitor<'_>) {
        for (i, module) in self.iter().enumerate() {
            visitor.field(&i.to_string(), module);
        }
    }
}

impl<M: Module> Module for Vec<M> {
    fn visit(&self, visitor: &mut Visitor<'_>) {
        self.as_slice().visit(visitor);
    }
}

impl<M: Module, const N: usize> Module for [M; N] {
    fn visit(&self, visitor: &mut Visitor<'_>) {
        self.as_slice().visit(visitor);
    }
}

impl<M: Module> Module for BTreeMap<String, M> {
    fn visit(&self, visitor: &mut Visitor<'_>) {
        for (name, module) in self {
            visitor.field(name, module);
        }
    }
}

macro_rules! pointers {
    ($($pointer:ident)*) => { $(
        impl<M: Module + ?Sized> Module for $pointer<M> {
            fn visit(&self, visitor: &mut Visitor<'_>) {
                (**self).visit(visitor);
            }
        }

        impl<M: Forward + ?Sized> Forward for $pointer<M> {
            #[track_caller]
            fn forward(&self, x: &Tensor) -> Tensor {
                // A call behind a pointer to a trait has no caller, and the panic shall be at ours.
                site::done(self.try_forward(x))
            }
            #[track_caller]
            fn try_forward(&self, x: &Tensor) -> Result<Tensor> {
                site::in_list(site::of_layer(), || (**self).try_forward(x))
            }
        }
    )* };
}
pointers!(Box Arc Rc);

macro_rules! tuples {
    ($(($($m:ident $i:tt),*))*) => { $(
        impl<$($m: Module),*> Module for ($($m,)*) {
            fn visit(&self, visitor: &mut Visitor<'_>) {
                $(visitor.field(stringify!($i), &self.$i);)*
            }
        }
    )* };
}
tuples! {
    (A 0)
    (A 0, B 1)
    (A 0, B 1, C 2)
    (A 0, B 1, C 2, D 3)
    (A 0, B 1, C 2, D 3, E 4)
    (A 0, B 1, C 2, D 3, E 4, F 5)
}

macro_rules! without_parameters {
    ($($t:ty)*) => { $(
        impl Module for $t {
            fn visit(&self, _: &mut Visitor<'_>) {}
        }
    )* };
}
without_parameters! {
    () bool char i8 i16 i32 i64 i128 isize u8 u16 u32 u64 u128 usize f32 f64 String &'static str DType
}

impl<T: ?Sized> Module for PhantomData<T> {
    fn visit(&self, _: &mut Visitor<'_>) {}
}
