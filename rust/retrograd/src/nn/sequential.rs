//! Modules one after another.

use crate::nn::module::{Forward, Module, Visitor};
use crate::{Result, Tensor, site};

/// Modules one after another, each of which gets what the one before it made. Their names are numbers, from 0.
///
/// ```
/// use retrograd::{DType, Tensor, engine, nn::{self, Forward, Linear, Module, Sequential}};
///
/// let model = Sequential::new()
///     .push(Linear::new(3, 8))
///     .push_fn(nn::relu)
///     .push(Linear::new(8, 2));
/// let x = Tensor::from(engine::Tensor::ones(&[5, 3], DType::Float32)?);
/// assert_eq!(model.forward(&x).engine().sizes(), [5, 2]);
/// assert_eq!(model.named_parameters()[2].0, "2.weight");
/// # Ok::<(), retrograd::Error>(())
/// ```
#[derive(Default)]
pub struct Sequential {
    modules: Vec<Box<dyn Forward + Send + Sync>>,
}

impl Sequential {
    /// No modules: what makes its input.
    pub fn new() -> Self {
        Self::default()
    }

    /// With another module at the end.
    #[must_use]
    pub fn push(mut self, module: impl Forward + Send + Sync + 'static) -> Self {
        self.modules.push(Box::new(module));
        self
    }

    /// With a function at the end, such as [`relu`](super::relu). It counts in the names, as its module does in torch.
    #[must_use]
    pub fn push_fn(self, function: impl Fn(&Tensor) -> Tensor + Send + Sync + 'static) -> Self {
        self.push(Function(function))
    }

    /// How many modules there are.
    pub fn len(&self) -> usize {
        self.modules.len()
    }

    /// Whether there is no module.
    pub fn is_empty(&self) -> bool {
        self.modules.is_empty()
    }
}

impl Module for Sequential {
    fn visit(&self, visitor: &mut Visitor<'_>) {
        self.modules.visit(visitor);
    }
}

impl Forward for Sequential {
    #[track_caller]
    fn forward(&self, x: &Tensor) -> Tensor {
        site::done(self.try_forward(x))
    }

    #[track_caller]
    fn try_forward(&self, x: &Tensor) -> Result<Tensor> {
        let place = site::of_layer();
        self.modules.iter().try_fold(x.clone(), |x, module| site::in_list(place, || module.try_forward(&x)))
    }
}

struct Function<F>(F);

impl<F> Module for Function<F> {
    fn visit(&self, _: &mut Visitor<'_>) {}
}

impl<F: Fn(&Tensor) -> Tensor> Forward for Function<F> {
    fn forward(&self, x: &Tensor) -> Tensor {
        (self.0)(x)
    }
}
