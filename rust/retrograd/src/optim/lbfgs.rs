//! L-BFGS: steps along the gradient times an inverse Hessian that is estimated from the last steps.

use std::collections::VecDeque;

use crate::engine::Tensor as Inner;
use crate::engine::autograd::{GradGuard, backward};
use crate::engine::ops::{memory, view};
use crate::nn::StateDict;
use crate::optim::groups::{check_number, pairs};
use crate::optim::line_search::{Point, strong_wolfe};
use crate::{DType, Error, Result, Tensor, site};

/// Options of [`Lbfgs`].
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LbfgsOptions {
    lr: f64,
    max_iter: usize,
    max_eval: Option<usize>,
    tolerance_grad: f64,
    tolerance_change: f64,
    history_size: usize,
    strong_wolfe: bool,
}

impl Default for LbfgsOptions {
    fn default() -> Self {
        Self {
            lr: 1.0,
            max_iter: 20,
            max_eval: None,
            tolerance_grad: 1e-7,
            tolerance_change: 1e-9,
            history_size: 100,
            strong_wolfe: false,
        }
    }
}

impl LbfgsOptions {
    /// The length of a step, or of the first one that the line search tries: 1.
    pub fn lr(self, lr: f64) -> Self {
        Self { lr, ..self }
    }
    /// The most iterations of a step: 20.
    pub fn max_iter(self, max_iter: usize) -> Self {
        Self { max_iter, ..self }
    }
    /// The most evaluations of the loss in a step: a quarter more than iterations.
    pub fn max_eval(self, max_eval: usize) -> Self {
        Self { max_eval: Some(max_eval), ..self }
    }
    /// A step ends when no entry of the gradient is larger: 1e-7.
    pub fn tolerance_grad(self, tolerance_grad: f64) -> Self {
        Self { tolerance_grad, ..self }
    }
    /// A step ends when parameters or loss change by less: 1e-9.
    pub fn tolerance_change(self, tolerance_change: f64) -> Self {
        Self { tolerance_change, ..self }
    }
    /// How many past steps are kept, each of which takes twice the memory of the parameters: 100.
    pub fn history_size(self, history_size: usize) -> Self {
        Self { history_size, ..self }
    }
    /// Whether lengths of steps are searched for that fulfil the strong Wolfe conditions, in place of `lr`: false.
    pub fn strong_wolfe(self, strong_wolfe: bool) -> Self {
        Self { strong_wolfe, ..self }
    }
}

/// A past step: by how much the gradient and the parameters changed, and 1 over the product of both.
struct Past {
    grad: Inner,
    step: Inner,
    ro: f64,
}

/// Where the last iteration ended.
struct Last {
    direction: Inner,
    t: f64,
    grad: Inner,
    history: VecDeque<Past>,
    /// The estimate of the inverse Hessian before the history, a multiple of the identity.
    scale: f64,
}

/// Minimises a function that is the same in all iterations, by an estimate of its curvature from the last steps.
///
/// A step calls the function several times, and computes the gradients itself. Parameters are floating or complex, of
/// one dtype.
///
/// ```
/// use retrograd::{Tensor, engine, optim::Lbfgs};
///
/// let x = engine::Tensor::from_slice(&[-1.0, 2.0], &[2])?;
/// x.set_requires_grad(true)?;
/// let mut optimizer = Lbfgs::with([Tensor::from(x.clone())], |o| o.strong_wolfe(true));
/// let loss = || x.plus(-3.0)?.square()?.sum(None).map(Tensor::from);
/// assert_eq!(optimizer.try_step(loss)?, 17.0);
/// assert!((x.to_vec::<f64>()?[1] - 3.0).abs() < 1e-6);
/// # Ok::<(), retrograd::Error>(())
/// ```
#[doc(alias = "LBFGS")]
pub struct Lbfgs {
    params: Vec<Tensor>,
    options: LbfgsOptions,
    last: Option<Last>,
    iterations: usize,
    evaluations: usize,
}

const OP: &str = "Lbfgs";

impl Lbfgs {
    /// An optimizer of these parameters with the usual options.
    ///
    /// Panics where [`try_with`](Self::try_with) has an error.
    #[track_caller]
    pub fn new(params: impl IntoIterator<Item = Tensor>) -> Self {
        site::done(Self::try_with(params, |options| options))
    }

    /// As [`new`](Self::new), with an error in the place of a panic.
    pub fn try_new(params: impl IntoIterator<Item = Tensor>) -> Result<Self> {
        Self::try_with(params, |options| options)
    }

    /// With options that the closure sets.
    ///
    /// Panics where [`try_with`](Self::try_with) has an error.
    #[track_caller]
    pub fn with(params: impl IntoIterator<Item = Tensor>, options: impl FnOnce(LbfgsOptions) -> LbfgsOptions) -> Self {
        site::done(Self::try_with(params, options))
    }

    /// As [`with`](Self::with), with an error for a negative rate, an empty list of parameters, a parameter that is no
    /// leaf, and parameters of several dtypes.
    pub fn try_with(
        params: impl IntoIterator<Item = Tensor>,
        options: impl FnOnce(LbfgsOptions) -> LbfgsOptions,
    ) -> Result<Self> {
        let (params, options): (Vec<Tensor>, _) = (params.into_iter().collect(), options(LbfgsOptions::default()));
        check_number(OP, "learning rate", options.lr)?;
        let Some(first) = params.first() else {
            return Err(Error::value(OP, "optimizer got an empty parameter list"));
        };
        if params.iter().any(|p| !p.0.is_leaf()) {
            return Err(Error::value(OP, "can't optimize a non-leaf Tensor"));
        }
        if let Some(other) = params.iter().find(|p| p.0.dtype() != first.0.dtype()) {
            let (a, b) = (first.0.dtype().name(), other.0.dtype().name());
            return Err(Error::value(OP, format!("parameters have one dtype, not {a} and {b}")));
        }
        Ok(Self { params, options, last: None, iterations: 0, evaluations: 0 })
    }

    /// How many iterations there were in all steps.
    pub fn iterations(&self) -> usize {
        self.iterations
    }

    /// How often the loss was evaluated in all steps.
    pub fn evaluations(&self) -> usize {
        self.evaluations
    }

    /// Iterates. `loss` computes the loss, of one element, from the parameters as they are when it is called; gradients
    /// are computed here. Returns the first loss.
    ///
    /// An error where there is none to compute, or parameters cannot be written.
    #[track_caller]
    pub fn step(&mut self, mut loss: impl FnMut() -> Tensor) -> Result<f64> {
        site::here();
        self.iterate(&mut || Ok(loss()))
    }

    /// As [`step`](Self::step), of a loss that may be an error, which ends the step.
    #[track_caller]
    pub fn try_step(&mut self, mut loss: impl FnMut() -> Result<Tensor>) -> Result<f64> {
        site::here();
        self.iterate(&mut loss)
    }

    /// What the next step goes on from, as tensors by name: `state.0.d`, `state.0.old_dirs`.
    ///
    /// ```
    /// use retrograd::{Tensor, engine, optim::Lbfgs};
    ///
    /// let x = engine::Tensor::from_slice(&[-1.0], &[1])?;
    /// x.set_requires_grad(true)?;
    /// let mut optimizer = Lbfgs::new([Tensor::from(x.clone())]);
    /// optimizer.try_step(|| x.square()?.sum(None).map(Tensor::from))?;
    /// let state = optimizer.state_dict()?;
    /// Lbfgs::new([Tensor::from(x)]).load_state_dict(&state)?;
    /// # Ok::<(), retrograd::Error>(())
    /// ```
    pub fn state_dict(&self) -> Result<StateDict> {
        let _off = GradGuard::new(false);
        let mut dict = StateDict::new();
        let mut put = |name: &str, value: Inner| dict.insert(format!("state.0.{name}"), Tensor(value));
        put("n_iter", Inner::from_slice(&[self.iterations as i64], &[])?);
        put("func_evals", Inner::from_slice(&[self.evaluations as i64], &[])?);
        if let Some(last) = &self.last {
            put("d", last.direction.clone());
            put("t", Inner::from_slice(&[last.t], &[])?);
            put("H_diag", Inner::from_slice(&[last.scale], &[])?);
            put("prev_flat_grad", last.grad.clone());
            let ro: Vec<f64> = last.history.iter().map(|past| past.ro).collect();
            put("ro", Inner::from_slice(&ro, &[ro.len()])?);
            if !ro.is_empty() {
                let all = |of: fn(&Past) -> &Inner| -> Vec<Inner> { last.history.iter().map(of).cloned().collect() };
                put("old_dirs", view::join::stack(&all(|past| &past.grad), 0)?);
                put("old_stps", view::join::stack(&all(|past| &past.step), 0)?);
            }
        }
        Ok(dict)
    }

    /// Goes on from what [`state_dict`](Self::state_dict) returned, of an optimizer of as many numbers. After an error
    /// the optimizer is as before.
    pub fn load_state_dict(&mut self, dict: &StateDict) -> Result<()> {
        let _off = GradGuard::new(false);
        let get = |name: &str| -> Result<&Inner> {
            let found = dict.get(&format!("state.0.{name}")).map(|t| &t.0);
            found.ok_or_else(|| Error::value(OP, format!("loaded state dict lacks state.0.{name}")))
        };
        let number = |name: &str| -> Result<f64> { Ok(get(name)?.item()?.as_f64()) };
        let dtype = self.params[0].0.dtype().real();
        let per_element = if self.params[0].0.dtype().is_complex() { 2 } else { 1 };
        let numbers = per_element * self.params.iter().map(|p| p.0.numel()).sum::<usize>();
        let copied = |name: &str, sizes: &[usize]| -> Result<Inner> {
            let given = get(name)?;
            if given.sizes() != sizes {
                let detail = format!("state.0.{name}: expected the shape {sizes:?}, got {:?}", given.sizes());
                return Err(Error::shape(OP, detail));
            }
            let made = Inner::zeros(sizes, dtype)?;
            made.copy_(given)?;
            Ok(made)
        };
        let (iterations, evaluations) = (number("n_iter")? as usize, number("func_evals")? as usize);
        let last = if dict.keys().all(|key| key == "state.0.n_iter" || key == "state.0.func_evals") {
            None
        } else {
            let ro = get("ro")?.to_vec::<f64>()?;
            let mut history = VecDeque::new();
            if !ro.is_empty() {
                let [dirs, stps] = ["old_dirs", "old_stps"].map(|name| copied(name, &[ro.len(), numbers]));
                let (dirs, stps) = (dirs?, stps?);
                for (i, ro) in ro.into_iter().enumerate() {
                    history.push_back(Past { grad: dirs.select(0, i as i64)?, step: stps.select(0, i as i64)?, ro });
                }
            }
            Some(Last {
                direction: copied("d", &[numbers])?,
                t: number("t")?,
                grad: copied("prev_flat_grad", &[numbers])?,
                history,
                scale: number("H_diag")?,
            })
        };
        (self.iterations, self.evaluations, self.last) = (iterations, evaluations, last);
        Ok(())
    }

    fn iterate(&mut self, loss: &mut dyn FnMut() -> Result<Tensor>) -> Result<f64> {
        let _off = GradGuard::new(false);
        let o = self.options;
        let max_eval = o.max_eval.unwrap_or(o.max_iter.saturating_mul(5) / 4);
        // Products of tensors of one element have the dtype of the parameters, as in torch.
        let is_single = matches!(self.params[0].0.dtype(), DType::Float32 | DType::Complex64);
        let rounded = |x: f64| if is_single { f64::from(x as f32) } else { x };

        let (first_loss, mut grad) = self.evaluate(loss)?;
        let (mut now, mut evaluations) = (first_loss, 1);
        if largest(&grad)? <= o.tolerance_grad {
            return Ok(first_loss);
        }
        for n in 1..=o.max_iter {
            self.iterations += 1;
            let is_first = self.last.is_none();
            let (direction, history, scale) = match self.last.take() {
                None => (grad.neg()?, VecDeque::new(), 1.0),
                Some(last) => last.next(&grad, o.history_size, rounded)?,
            };
            let mut t = o.lr;
            if is_first {
                t *= (1.0 / grad.abs()?.sum(None)?.item()?.as_f64()).min(1.0);
            }
            let slope = dot(&grad, &direction)?;
            let (before, at) = (now, grad.clone());
            let mut end = slope > -o.tolerance_change;
            if !end {
                let mut is_flat = false;
                if o.strong_wolfe {
                    let start = Point { t: 0.0, loss: now, grad: grad.clone(), slope };
                    let values: Vec<Inner> =
                        self.params.iter().map(|p| memory::cloned(&p.0.detach())).collect::<Result<_>>()?;
                    let most = max_eval.saturating_sub(evaluations);
                    let (found, calls) = strong_wolfe(&start, t, largest(&direction)?, most, |t| {
                        self.go(&direction, t)?;
                        let evaluated = self.evaluate(loss);
                        for (p, value) in self.params.iter().zip(&values) {
                            p.0.copy_(value)?;
                        }
                        let (loss, grad) = evaluated?;
                        let slope = dot(&grad, &direction)?;
                        Ok(Point { t, loss, grad, slope })
                    })?;
                    (now, grad, t) = (found.loss, found.grad, found.t);
                    evaluations += calls;
                    self.go(&direction, t)?;
                    is_flat = largest(&grad)? <= o.tolerance_grad;
                } else {
                    self.go(&direction, t)?;
                    // What the last iteration would compute, the next step computes anew.
                    if n != o.max_iter {
                        (now, grad) = self.evaluate(loss)?;
                        evaluations += 1;
                        is_flat = largest(&grad)? <= o.tolerance_grad;
                    }
                }
                end = n == o.max_iter
                    || evaluations >= max_eval
                    || is_flat
                    || largest(&direction.times(t)?)? <= o.tolerance_change
                    || (now - before).abs() < o.tolerance_change;
            }
            self.last = Some(Last { direction, t, grad: at, history, scale });
            if end {
                break;
            }
        }
        Ok(first_loss)
    }

    /// The loss and the gradients of all parameters in one line.
    fn evaluate(&mut self, loss: &mut dyn FnMut() -> Result<Tensor>) -> Result<(f64, Inner)> {
        self.evaluations += 1;
        for p in &self.params {
            p.0.set_grad(None)?;
        }
        let value = {
            let _on = GradGuard::new(true);
            let value = loss()?;
            backward(&value.0)?;
            value.0.item()?.as_f64()
        };
        let lines: Vec<Inner> = self.params.iter().map(|p| line(&p.0)).collect::<Result<_>>()?;
        Ok((value, view::join::cat(&lines, 0)?))
    }

    /// Moves all parameters along the direction.
    fn go(&self, direction: &Inner, t: f64) -> Result<()> {
        let mut offset = 0;
        for p in &self.params {
            let p = p.0.detach();
            let p = if p.dtype().is_complex() { pairs(&p)? } else { p };
            let n = p.numel() as i64;
            let sizes: Vec<i64> = p.sizes().iter().map(|&n| n as i64).collect();
            p.add_(&direction.narrow(0, offset, n)?.reshape(&sizes)?.times(t)?)?;
            offset += n;
        }
        Ok(())
    }
}

impl Last {
    /// The next direction, minus the gradient times the estimate of the inverse Hessian; with what it is made of.
    fn next(
        self,
        grad: &Inner,
        history_size: usize,
        rounded: impl Fn(f64) -> f64,
    ) -> Result<(Inner, VecDeque<Past>, f64)> {
        let (mut history, mut scale) = (self.history, self.scale);
        let (y, s) = (grad.sub(&self.grad)?, self.direction.times(self.t)?);
        let ys = dot(&y, &s)?;
        if ys > 1e-10 {
            if history.len() >= history_size {
                history.pop_front();
            }
            scale = rounded(ys / dot(&y, &y)?);
            if history_size > 0 {
                history.push_back(Past { grad: y, step: s, ro: rounded(1.0 / ys) });
            }
        }
        let mut q = grad.neg()?;
        let mut shares = Vec::new();
        for past in history.iter().rev() {
            let share = rounded(dot(&past.step, &q)? * past.ro);
            q = q.add_scaled(&past.grad, (-share).into())?;
            shares.push(share);
        }
        let mut d = q.times(scale)?;
        for (past, share) in history.iter().zip(shares.into_iter().rev()) {
            let back = rounded(dot(&past.grad, &d)? * past.ro);
            d = d.add_scaled(&past.step, rounded(share - back).into())?;
        }
        Ok((d, history, scale))
    }
}

/// The gradient of a parameter in one line; complex numbers are two real ones, and what has no gradient is zero.
fn line(p: &Inner) -> Result<Inner> {
    let grad = match p.grad() {
        Some(grad) if grad.is_sparse() => grad.to_dense(None, None)?,
        Some(grad) => grad,
        None => Inner::zeros(p.sizes(), p.dtype())?,
    };
    if !grad.dtype().is_complex() {
        return memory::cloned(&grad.detach())?.reshape(&[-1]);
    }
    pairs(&memory::cloned(&grad.detach())?)?.reshape(&[-1])
}

fn dot(a: &Inner, b: &Inner) -> Result<f64> {
    Ok(a.dot(b)?.item()?.as_f64())
}

/// The largest magnitude, 0 of nothing.
fn largest(x: &Inner) -> Result<f64> {
    if x.numel() == 0 {
        return Ok(0.0);
    }
    Ok(x.abs()?.max()?.item()?.as_f64())
}
