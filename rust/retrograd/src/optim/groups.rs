//! Optimizers whose step is one rule for each group of parameters.

use std::collections::{BTreeSet, HashSet};
use std::sync::LazyLock;

use crate::engine::autograd::GradGuard;
use crate::engine::ops::{Form, memory, roster};
use crate::engine::{Tensor as Inner, tensor::default_dtype};
use crate::nn::StateDict;
use crate::optim::Optimizer;
use crate::{DType, Error, Result, Tensor, site};

/// The tensors that a rule remembers of one parameter, in the order of [`Rule::SLOTS`]; `None` before it begins them.
pub type State = Vec<Option<Tensor>>;

/// An option, where it is.
pub enum Number<'a> {
    Float(&'a mut f64),
    Flag(&'a mut bool),
}

/// The options of an optimizer, and what it does by them to parameters and their states.
///
/// ```
/// use retrograd::optim::{GroupOptimizer, Number, Optimizer, Rule, State};
/// use retrograd::{Result, Tensor, engine};
///
/// /// Steps along the sign of the gradient.
/// #[derive(Clone, Copy)]
/// struct SignDescent {
///     lr: f64,
/// }
///
/// impl Rule for SignDescent {
///     const NAME: &'static str = "SignDescent";
///     const SLOTS: &'static [&'static str] = &[];
///
///     fn check(&self) -> Result<()> {
///         Ok(())
///     }
///     fn numbers(&mut self) -> Vec<(&'static str, Number<'_>)> {
///         vec![("lr", Number::Float(&mut self.lr))]
///     }
///     fn update(&self, params: &[Tensor], grads: &[Tensor], _: &mut [State]) -> Result<()> {
///         for (p, g) in params.iter().zip(grads) {
///             p.engine().add_(&g.engine().sign()?.times(-self.lr)?)?;
///         }
///         Ok(())
///     }
/// }
///
/// let x = engine::Tensor::from_slice(&[1.0, 2.0], &[2])?;
/// x.set_requires_grad(true)?;
/// engine::autograd::backward(&x.square()?.sum(None)?)?;
/// GroupOptimizer::from_options([Tensor::from(x.clone())], SignDescent { lr: 0.5 })?.step()?;
/// assert_eq!(x.to_vec::<f64>()?, [0.5, 1.5]);
/// # Ok::<(), retrograd::Error>(())
/// ```
pub trait Rule: Clone {
    /// The optimizer's name, for errors.
    const NAME: &'static str;

    /// Names of the tensors in a state.
    const SLOTS: &'static [&'static str];

    /// Refuses options that are out of range.
    fn check(&self) -> Result<()>;

    /// The options by name. The rate is `lr`.
    fn numbers(&mut self) -> Vec<(&'static str, Number<'_>)>;

    /// Updates parameters in place. Ops are not recorded meanwhile. An error leaves parameters and states as they were
    /// if what the rule cannot do can be known before.
    ///
    /// `params` are detached, and all three lists have one item for each parameter. Complex parameters come as pairs of
    /// real numbers.
    fn update(&self, params: &[Tensor], grads: &[Tensor], states: &mut [State]) -> Result<()>;
}

/// Parameters with one set of options.
pub struct Group<R> {
    /// The options, which may change from step to step.
    pub options: R,
    params: Vec<Tensor>,
    states: Vec<State>,
}

impl<R> Group<R> {
    /// The parameters, which stay the same.
    pub fn params(&self) -> &[Tensor] {
        &self.params
    }
}

/// An optimizer of groups of parameters, each of which has options of its own. [`Sgd`](super::Sgd),
/// [`Adam`](super::Adam), [`AdamW`](super::AdamW) and [`RmsProp`](super::RmsProp) are this with their rules.
///
/// ```
/// use retrograd::nn::{Linear, Module};
/// use retrograd::optim::{Optimizer, Sgd};
///
/// let (body, head) = (Linear::new(4, 8), Linear::new(8, 2));
/// let mut optimizer = Sgd::with(body.parameters(), 0.1, |o| o.momentum(0.9));
/// optimizer.add_group(head.parameters(), |o| o.lr(0.01))?;
/// assert_eq!(optimizer.lrs(), [0.1, 0.01]);
/// optimizer.groups_mut()[0].options.lr = 0.05;
/// # Ok::<(), retrograd::Error>(())
/// ```
pub struct GroupOptimizer<R> {
    defaults: R,
    groups: Vec<Group<R>>,
}

impl<R: Rule> GroupOptimizer<R> {
    /// An optimizer of these parameters with these options.
    ///
    /// An error for options out of range, an empty list of parameters, a parameter that occurs twice or is no leaf.
    pub fn from_options(params: impl IntoIterator<Item = Tensor>, options: R) -> Result<Self> {
        let mut made = Self { defaults: options, groups: Vec::new() };
        made.add_group(params, |options| options)?;
        Ok(made)
    }

    /// Adds parameters with options that the closure makes of those of the optimizer.
    ///
    /// An error as of [`from_options`](Self::from_options), and for parameters that are in another group.
    pub fn add_group(&mut self, params: impl IntoIterator<Item = Tensor>, options: impl FnOnce(R) -> R) -> Result<()> {
        let params: Vec<Tensor> = params.into_iter().collect();
        let options = options(self.defaults.clone());
        options.check()?;
        if params.is_empty() {
            return Err(Error::value(R::NAME, "optimizer got an empty parameter list"));
        }
        let known: HashSet<usize> = self.groups.iter().flat_map(|g| &g.params).map(|p| p.0.id()).collect();
        let mut own = HashSet::new();
        for p in &params {
            if !p.0.is_leaf() {
                let detail = "can't optimize a non-leaf Tensor: give the optimizer the tensors themselves that it is \
                              made of";
                return Err(Error::value(R::NAME, detail));
            }
            if known.contains(&p.0.id()) {
                return Err(Error::value(R::NAME, "some parameters appear in more than one parameter group"));
            }
            if !own.insert(p.0.id()) {
                return Err(Error::value(R::NAME, "optimizer contains a parameter group with duplicate parameters"));
            }
        }
        let states = vec![vec![None; R::SLOTS.len()]; params.len()];
        self.groups.push(Group { options, params, states });
        Ok(())
    }

    /// The groups, in the order in which they were added.
    pub fn groups(&self) -> &[Group<R>] {
        &self.groups
    }

    /// The groups, whose options may be changed.
    pub fn groups_mut(&mut self) -> &mut [Group<R>] {
        &mut self.groups
    }
}

/// A tensor as pairs of real numbers, if it is complex.
fn real(x: &Inner) -> Result<Inner> {
    if !x.dtype().is_complex() {
        return Ok(x.clone());
    }
    // What waits to be conjugated has no pairs in memory.
    if x.lazy_bits().any() { pairs(&memory::cloned(x)?) } else { pairs(x) }
}

/// A complex tensor as pairs of real numbers, over the same memory.
pub(super) fn pairs(x: &Inner) -> Result<Inner> {
    static VIEW_AS_REAL: LazyLock<fn(Form, &Inner) -> Result<Inner>> = LazyLock::new(|| {
        let entry = roster().find(|entry| entry.path() == "view_as_real");
        entry.and_then(|entry| entry.direct.one).expect("an op of one tensor")
    });
    VIEW_AS_REAL(Form::New, x)
}

fn number(value: f64, dtype: DType) -> Result<Tensor> {
    Inner::full(&[], value.into(), dtype).map(Tensor)
}

impl<R: Rule> Optimizer for GroupOptimizer<R> {
    #[track_caller]
    fn step(&mut self) -> Result<()> {
        site::here();
        let _off = GradGuard::new(false);
        for group in &mut self.groups {
            let (mut params, mut grads, mut states, mut at) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
            for (i, p) in group.params.iter().enumerate() {
                let Some(g) = p.0.grad() else { continue };
                params.push(Tensor(real(&p.0.detach())?));
                grads.push(Tensor(if g.is_sparse() { g } else { real(&g)? }));
                at.push(i);
            }
            states.extend(at.iter().map(|&i| std::mem::take(&mut group.states[i])));
            let done = match params.is_empty() {
                true => Ok(()),
                false => group.options.update(&params, &grads, &mut states),
            };
            for (i, state) in at.into_iter().zip(states) {
                group.states[i] = state;
            }
            done?;
        }
        Ok(())
    }

    fn zero_grad(&self) {
        for p in self.groups.iter().flat_map(|g| &g.params).filter(|p| p.0.grad().is_some()) {
            // What is no leaf any more has no gradient of its own.
            let _ = p.0.set_grad(None);
        }
    }

    fn lrs(&self) -> Vec<f64> {
        self.groups.iter().map(|group| lr(&mut group.options.clone()).map_or(0.0, |lr| *lr)).collect()
    }

    fn set_lrs(&mut self, lrs: &[f64]) {
        for (group, &new) in self.groups.iter_mut().zip(lrs) {
            if let Some(lr) = lr(&mut group.options) {
                *lr = new;
            }
        }
    }

    fn state_dict(&self) -> StateDict {
        let mut dict = StateDict::new();
        let mut first = 0;
        for (g, group) in self.groups.iter().enumerate() {
            let numbers: Vec<i64> = (first..first + group.params.len()).map(|i| i as i64).collect();
            let mut put = |name: &str, value: Result<Tensor>| {
                dict.insert(format!("param_groups.{g}.{name}"), site::done(value));
            };
            put("params", Inner::from_slice(&numbers, &[numbers.len()]).map(Tensor));
            for (name, option) in group.options.clone().numbers() {
                match option {
                    Number::Float(x) => put(name, number(*x, DType::Float64)),
                    Number::Flag(on) => put(name, number(f64::from(u8::from(*on)), DType::Bool)),
                }
            }
            for (i, state) in group.states.iter().enumerate() {
                for (slot, tensor) in R::SLOTS.iter().zip(state) {
                    if let Some(tensor) = tensor {
                        dict.insert(format!("state.{}.{slot}", first + i), tensor.clone());
                    }
                }
            }
            first += group.params.len();
        }
        dict
    }

    fn load_state_dict(&mut self, dict: &StateDict) -> Result<()> {
        let fail = |detail: String| Error::value(R::NAME, detail);
        let groups: BTreeSet<&str> =
            dict.keys().filter_map(|key| key.strip_prefix("param_groups.")?.split('.').next()).collect();
        if groups.len() != self.groups.len() {
            return Err(fail(format!(
                "loaded state dict has a different number of parameter groups, {} and not {}",
                groups.len(),
                self.groups.len()
            )));
        }
        let get = |key: String| dict.get(&key).ok_or_else(|| fail(format!("loaded state dict lacks {key}")));
        let _off = GradGuard::new(false);
        let (mut loaded, mut first) = (Vec::new(), 0);
        for (g, group) in self.groups.iter().enumerate() {
            let size = get(format!("param_groups.{g}.params"))?.0.numel();
            if size != group.params.len() {
                return Err(fail(format!(
                    "loaded state dict contains a parameter group that doesn't match the size of optimizer's group: it \
                     has {size} parameters, not {}",
                    group.params.len()
                )));
            }
            let mut options = group.options.clone();
            for (name, option) in options.numbers() {
                let value = get(format!("param_groups.{g}.{name}"))?.0.item()?.as_f64();
                match option {
                    Number::Float(x) => *x = value,
                    Number::Flag(on) => *on = value != 0.0,
                }
            }
            options.check()?;
            let mut states = Vec::new();
            for (i, p) in group.params.iter().enumerate() {
                let of_slot = |slot: &&str| -> Result<Option<Tensor>> {
                    let key = format!("state.{}.{slot}", first + i);
                    let Some(given) = dict.get(&key) else { return Ok(None) };
                    state_of(&given.0, &p.0, *slot == STEP).map_err(|e| fail(format!("{key}: {e}"))).map(Some)
                };
                states.push(R::SLOTS.iter().map(of_slot).collect::<Result<State>>()?);
            }
            first += group.params.len();
            loaded.push((options, states));
        }
        for (group, (options, states)) in self.groups.iter_mut().zip(loaded) {
            (group.options, group.states) = (options, states);
        }
        Ok(())
    }
}

/// The rate among the options.
fn lr<R: Rule>(options: &mut R) -> Option<&mut f64> {
    options.numbers().into_iter().find_map(|(name, option)| match option {
        Number::Float(lr) if name == "lr" => Some(lr),
        _ => None,
    })
}

/// A copy of a state as a parameter needs it: of its shape and dtype, but for a number of steps.
fn state_of(given: &Inner, p: &Inner, is_step: bool) -> Result<Tensor> {
    let own = real(p)?;
    let sizes: &[usize] = if is_step { &[] } else { own.sizes() };
    // A complex state, as torch has it, is one of pairs here.
    let given = real(given)?;
    let fits = if is_step { given.numel() == 1 } else { given.sizes() == sizes };
    if !fits {
        return Err(Error::shape("state", format!("expected the shape {sizes:?}, got {:?}", given.sizes())));
    }
    let dtype = if is_step { step_dtype() } else { own.dtype() };
    let made = if is_step { Inner::zeros(&[], dtype)? } else { own.detach().empty_like_layout(dtype)? };
    made.copy_(&if is_step { given.reshape(&[])? } else { given })?;
    Ok(Tensor(made))
}

// ---- what rules share

/// The slot that counts the steps.
pub(super) const STEP: &str = "step";

/// The dtype of a count of steps.
pub(super) fn step_dtype() -> DType {
    if default_dtype() == DType::Float64 { DType::Float64 } else { DType::Float32 }
}

/// The tensor of a slot, which begins as zeros like the parameter, or as one zero if it counts steps.
pub(super) fn begun(state: &mut State, slot: usize, p: &Tensor, is_step: bool) -> Result<Inner> {
    let place = &mut state[slot];
    if let Some(tensor) = place {
        return Ok(tensor.0.clone());
    }
    let made = match is_step {
        true => Inner::zeros(&[], step_dtype())?,
        false => {
            let made = p.0.empty_like_layout(p.0.dtype())?;
            made.copy_(&Inner::zeros(&[], p.0.dtype())?)?;
            made
        }
    };
    *place = Some(Tensor(made.clone()));
    Ok(made)
}

/// The tensors of a slot, for all parameters.
pub(super) fn all_begun(states: &mut [State], slot: usize, params: &[Tensor], is_step: bool) -> Result<Vec<Inner>> {
    states.iter_mut().zip(params).map(|(state, p)| begun(state, slot, p, is_step)).collect()
}

/// The gradient to descend along, with that of the weight decay.
pub(super) fn direction(p: &Inner, g: &Inner, maximize: bool, weight_decay: f64) -> Result<Inner> {
    let g = if maximize { g.neg()? } else { g.clone() };
    if weight_decay == 0.0 { Ok(g) } else { g.add_scaled(p, weight_decay.into()) }
}

/// `x *= by`.
pub(super) fn scale(x: &Inner, by: f64) -> Result<()> {
    x.mul_(&Inner::shared_number(by.into())?).map(drop)
}

/// Refuses a negative option, and one that is no number.
pub(super) fn check_number(op: &'static str, name: &str, value: f64) -> Result<()> {
    if value >= 0.0 { Ok(()) } else { Err(Error::value(op, format!("Invalid {name}: {value:?}"))) }
}

pub(super) fn inner(tensors: &[Tensor]) -> Vec<Inner> {
    tensors.iter().map(|t| t.0.clone()).collect()
}

/// `new` and `with` of an optimizer, of which options `$options` are the rule.
macro_rules! optimizer {
    ($(#[$doc:meta])* $name:ident, $options:ident) => {
        $(#[$doc])*
        pub type $name = $crate::optim::GroupOptimizer<$options>;

        impl $name {
            /// With this rate, and the usual options.
            ///
            /// Panics where [`try_with`](Self::try_with) has an error.
            #[track_caller]
            pub fn new(params: impl IntoIterator<Item = $crate::Tensor>, lr: f64) -> Self {
                $crate::site::done(Self::from_options(params, $options { lr, ..$options::default() }))
            }

            /// As [`new`](Self::new), with an error in the place of a panic.
            pub fn try_new(params: impl IntoIterator<Item = $crate::Tensor>, lr: f64) -> $crate::Result<Self> {
                Self::from_options(params, $options { lr, ..$options::default() })
            }

            /// With this rate, and options that the closure sets.
            ///
            /// Panics where [`try_with`](Self::try_with) has an error.
            #[track_caller]
            pub fn with(
                params: impl IntoIterator<Item = $crate::Tensor>,
                lr: f64,
                options: impl FnOnce($options) -> $options,
            ) -> Self {
                $crate::site::done(Self::try_with(params, lr, options))
            }

            /// As [`with`](Self::with), with an error for options out of range, an empty list of parameters, and
            /// parameters that occur twice or are no leaves.
            pub fn try_with(
                params: impl IntoIterator<Item = $crate::Tensor>,
                lr: f64,
                options: impl FnOnce($options) -> $options,
            ) -> $crate::Result<Self> {
                Self::from_options(params, options($options { lr, ..$options::default() }))
            }
        }
    };
}
pub(super) use optimizer;

/// A struct of options with their defaults, whose setters return it changed, and its numbers by name.
macro_rules! options {
    ($(#[doc = $doc:literal])* $name:ident {
        $($(#[doc = $field_doc:literal])* $field:ident: $t:ident = $default:expr;)*
    }) => {
        $(#[doc = $doc])*
        #[derive(Clone, Copy, Debug, PartialEq)]
        pub struct $name {
            $($(#[doc = $field_doc])* pub $field: $t,)*
        }

        impl Default for $name {
            fn default() -> Self {
                Self { $($field: $default,)* }
            }
        }

        impl $name {
            $(
                $(#[doc = $field_doc])*
                pub fn $field(self, $field: $t) -> Self {
                    Self { $field, ..self }
                }
            )*

            fn by_name(&mut self) -> Vec<(&'static str, $crate::optim::Number<'_>)> {
                vec![$((stringify!($field), $crate::optim::groups::options!(@number $t, &mut self.$field)),)*]
            }
        }
    };
    (@number f64, $x:expr) => { $crate::optim::Number::Float($x) };
    (@number bool, $x:expr) => { $crate::optim::Number::Flag($x) };
}
pub(super) use options;
