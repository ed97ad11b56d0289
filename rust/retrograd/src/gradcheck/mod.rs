//! Derivatives, compared with differences: [`gradcheck`] for first derivatives, [`gradgradcheck`] for second ones.
//!
//! In a test, `unwrap` prints the diagnosis: which entry of which input is off, both values, the bound, and the likely
//! cause.
//!
//! ```
//! use retrograd::prelude::*;
//!
//! fn smooth_step(x: &Tensor, edge: &Tensor) -> Tensor {
//!     let t = x - edge;
//!     &t * &t * (3.0 - 2.0 * &t)
//! }
//!
//! #[test]
//! fn the_derivatives_of_the_step_are_right() {
//!     let (x, edge) = (tensor![0.3, 0.7, 1.1], tensor![0.2, 0.5, -0.4]);
//!     let step = |(x, edge): &(Tensor, Tensor)| smooth_step(x, edge);
//!     gradcheck(step, &(x, edge)).forward(true).second(true).run().unwrap();
//! }
//! # let (x, edge) = (tensor![0.3, 0.7, 1.1], tensor![0.2, 0.5, -0.4]);
//! # let step = |(x, edge): &(Tensor, Tensor)| smooth_step(x, edge);
//! # gradcheck(step, &(x, edge)).forward(true).second(true).run().unwrap();
//! ```
//!
//! Points should be of double precision, away from kinks, and neither symmetric nor all ones: a transposed matrix hides
//! there.
//!
//! A check that fails says why:
//!
//! ```
//! use retrograd::prelude::*;
//!
//! let square = custom_op("square", |x: &Tensor| x * x, |g, x, _| g * x); // forgets a factor of 2
//! let report = gradcheck(|x: &Tensor| square.call(x), &tensor![1.0, 2.0]).run().unwrap_err();
//! assert_eq!(
//!     report.to_string(),
//!     "Jacobian mismatch for output 0 with respect to input 0,
//! numerical:tensor([[2.0000, 0.0000],
//!         [0.0000, 4.0000]], dtype=float64)
//! analytical:tensor([[1., 0.],
//!         [0., 2.]], dtype=float64)
//! Worst at input 0, entry (1), output 0, entry (1), made by SquareBackward:
//!   numerical 4, analytical 2, difference 2, 4.88e+03 times the bound 0.00041 = atol 1e-05 + rtol \
//! 0.0001 * |numerical|
//! Likely cause: the gradient is 0.5 times what it should be: a factor is missing, or a second use of the \
//! input is not accumulated
//! "
//! );
//! ```

#![allow(clippy::test_attr_in_doctest, reason = "the example shows where a check belongs; a hidden line runs it")]

mod check;
mod numbers;
mod properties;
mod report;

pub use numbers::Number;
pub use report::{Failure, Mismatch, Report};

use crate::engine::autograd::engine::{root, run};
use crate::engine::autograd::{Backward, GradGuard, Root, Target};
use crate::engine::{self, Error};
use crate::func::Returned;
use crate::{Result, Tensor, Tree};
use check::{Check, Evaluate, Pair, Places, Tolerances, leaf};
use numbers::{Draws, write_like};
use report::{Outcome, passed, report, report_of_projection};

type Raw = engine::Tensor;

/// Compares the gradients of a function with central differences, and sees that its backward pass behaves; the methods
/// of what is returned choose what is checked, and [`Gradcheck::run`] does it.
///
/// `f` is given `inputs`, a tree of tensors: a [`Tensor`], a tuple, an array or a `Vec` of them, a struct that derives
/// [`Tree`]. It returns another one, or a [`Result`] of it. The inputs that require grad are checked, and if none does,
/// all of floating point or complex dtype. They are neither written to, nor given a gradient: `f` sees copies, which
/// require grad. Outputs that do not require grad are left alone; if none does, all must be constant.
///
/// An entry passes if |analytical - numerical| <= `atol` + `rtol` * |numerical|, and both are finite.
///
/// ```
/// use retrograd::prelude::*;
/// gradcheck(|x: &Tensor| x * x * x, &tensor![0.5, 1.5]).run().unwrap();
/// ```
pub fn gradcheck<'a, I: Tree + 'a, R: Returned>(f: impl Fn(&I) -> R + 'a, inputs: &I) -> Gradcheck<'a> {
    Gradcheck::new(f, inputs, true)
}

/// Compares second derivatives with differences: [`gradcheck`] of the map from inputs and cotangents to gradients.
///
/// The cotangents are random, from a seed. [`Gradcheck::forward`] differentiates the backward pass in forward mode too.
/// A backward that cannot be differentiated shows as an analytical Jacobian of zeros.
///
/// ```
/// use retrograd::prelude::*;
/// gradgradcheck(|x: &Tensor| x * x * x, &tensor![0.5, 1.5]).run().unwrap();
/// ```
pub fn gradgradcheck<'a, I: Tree + 'a, R: Returned>(f: impl Fn(&I) -> R + 'a, inputs: &I) -> Gradcheck<'a> {
    Gradcheck { second: true, ..Gradcheck::new(f, inputs, false) }
}

/// A check of derivatives: what [`gradcheck`] and [`gradgradcheck`] return.
#[must_use = "nothing is checked before run()"]
pub struct Gradcheck<'a> {
    f: Box<Evaluate<'a>>,
    inputs: Places,
    first: bool,
    second: bool,
    tolerances: Tolerances,
    backward: bool,
    forward: bool,
    undefined: bool,
    batched: bool,
    batched_forward: bool,
    fast: bool,
    seed: u64,
}

impl<'a> Gradcheck<'a> {
    fn new<I: Tree + 'a, R: Returned>(f: impl Fn(&I) -> R + 'a, inputs: &I, first: bool) -> Self {
        // A copy of the tree, with the same tensors: so that the check may outlive the expression that made the inputs.
        let own = inputs.map_tensors(&mut |t| Ok(t.clone()));
        let places = |tree: &[&Tensor]| -> Places { tree.iter().map(|t| Some(t.0.clone())).collect() };
        Self {
            inputs: places(&inputs.tensors()),
            f: Box::new(move |xs: &Places| {
                let given =
                    own.as_ref().map_err(Error::clone)?.with_tensors(xs.iter().flatten().cloned().map(Tensor))?;
                Ok(places(&f(&given).into_result()?.tensors()))
            }),
            first,
            second: false,
            tolerances: Tolerances { eps: 1e-6, atol: 1e-5, rtol: 1e-4, nondet: 0.0, grad_dtypes: false },
            backward: true,
            forward: false,
            undefined: true,
            batched: false,
            batched_forward: false,
            fast: false,
            seed: 21,
        }
    }

    /// How far to either side the inputs are moved: 1e-6.
    pub fn eps(mut self, eps: f64) -> Self {
        self.tolerances.eps = eps;
        self
    }
    /// The absolute part of the bound: 1e-5.
    pub fn atol(mut self, atol: f64) -> Self {
        self.tolerances.atol = atol;
        self
    }
    /// The part of the bound that is relative to the derivative by differences: 1e-4. torch has 1e-3, by which a rule
    /// passes that is 0.1 % off.
    pub fn rtol(mut self, rtol: f64) -> Self {
        self.tolerances.rtol = rtol;
        self
    }
    /// How far two backward passes may be apart: 0.
    pub fn nondet_tol(mut self, tol: f64) -> Self {
        self.tolerances.nondet = tol;
        self
    }
    /// Whether the backward pass is checked; on. Of second derivatives: backward over backward.
    pub fn backward(mut self, on: bool) -> Self {
        self.backward = on;
        self
    }
    /// Whether forward mode is checked; off. Of second derivatives: forward over backward.
    pub fn forward(mut self, on: bool) -> Self {
        self.forward = on;
        self
    }
    /// Whether second derivatives are checked after first ones; off, but of [`gradgradcheck`].
    pub fn second(mut self, on: bool) -> Self {
        self.second = on;
        self
    }
    /// Whether gradients and tangents that are not there must count as zeros; on.
    pub fn check_undefined(mut self, on: bool) -> Self {
        self.undefined = on;
        self
    }
    /// Whether gradients must have the dtypes of their inputs as rules return them; off.
    pub fn check_grad_dtypes(mut self, on: bool) -> Self {
        self.tolerances.grad_dtypes = on;
        self
    }
    /// Whether a batch of gradients, as `vmap` runs it, must give what its members give one by one; off.
    pub fn batched(mut self, on: bool) -> Self {
        self.batched = on;
        self
    }
    /// Whether a batch of tangents must give what its members give one by one; off. Needs [`Gradcheck::forward`].
    pub fn batched_forward(mut self, on: bool) -> Self {
        self.batched_forward = on;
        self
    }
    /// Whether one random projection of each Jacobian is compared instead of all entries; off.
    pub fn fast(mut self, on: bool) -> Self {
        self.fast = on;
        self
    }
    /// What random directions, gradients and tangents come from: 21. A check gives the same answer each time.
    pub fn seed(mut self, seed: u64) -> Self {
        self.seed = seed;
        self
    }

    /// Makes the check.
    ///
    /// Errors: a [`Report`], whose text names the input, the entry, both values, the bound and a likely cause.
    pub fn run(self) -> Result<(), Report> {
        // Whatever mode the caller is in.
        let _on = GradGuard::new(true);
        self.check_options()?;
        let (inputs, differentiable) = self.leaves()?;
        let names: Vec<String> = (0..inputs.len()).map(|i| format!("input {i}")).collect();
        let base = Check {
            f: &*self.f,
            sources: differentiable.iter().filter_map(|&i| inputs[i].clone()).collect(),
            inputs,
            names,
            note: "",
            differentiable,
            positions: Vec::new(),
            outputs: Vec::new(),
            tolerances: self.tolerances,
        };
        if self.first {
            self.check(&base)?;
        }
        if self.second { self.check_second(&base) } else { Ok(()) }
    }

    fn check_options(&self) -> Outcome<()> {
        let usage = |text: &str| Err(Report::new(Failure::Usage, text));
        if !(self.forward || self.backward) {
            return usage("Expected at least one of forward or backward to be true");
        }
        if self.batched && !self.backward {
            return usage("Setting batched requires backward to be true");
        }
        if self.batched_forward && !self.forward {
            return usage("Setting batched_forward requires forward to be true");
        }
        if !(self.tolerances.eps.is_finite() && self.tolerances.eps > 0.0) {
            return usage("eps is a positive number, by which inputs are moved");
        }
        Ok(())
    }

    /// The inputs with a leaf in the place of each that is checked, and their places.
    fn leaves(&self) -> Outcome<(Places, Vec<usize>)> {
        let places = |wanted: &dyn Fn(&Raw) -> bool| -> Vec<usize> {
            (0..self.inputs.len()).filter(|&i| self.inputs[i].as_ref().is_some_and(wanted)).collect()
        };
        let mut differentiable = places(&|x| x.requires_grad());
        if differentiable.is_empty() {
            differentiable = places(&|x| x.dtype().is_differentiable());
        }
        if differentiable.is_empty() {
            return Err(Report::new(
                Failure::Usage,
                "gradcheck expects at least one input tensor to require gradient, but there is none of floating point or \
                 complex dtype.",
            ));
        }
        let mut inputs = self.inputs.clone();
        for &i in &differentiable {
            inputs[i] = inputs[i].as_ref().map(leaf).transpose()?;
        }
        Ok((inputs, differentiable))
    }

    fn check(&self, base: &Check) -> Outcome<()> {
        let found = base.outputs_at(&base.inputs)?;
        let having = |wanted: &dyn Fn(&Raw) -> bool| -> (Vec<usize>, Vec<Raw>) {
            let each = found.iter().enumerate().filter_map(|(k, y)| Some((k, y.clone().filter(wanted)?)));
            each.unzip()
        };
        let (positions, outputs) = having(&|y| y.requires_grad());
        if outputs.is_empty() {
            let (positions, outputs) = having(&|y| y.dtype().is_differentiable());
            return self.check_constant(&base.of(positions, outputs));
        }
        self.check_derivatives(&base.of(positions, outputs))
    }

    fn check_derivatives(&self, check: &Check) -> Outcome<()> {
        let mut draws = Draws::new(self.seed);
        let mut draws = self.fast.then_some(&mut draws);
        let measured = check.measure(draws.as_deref_mut())?;
        let mut compare = |pair: Pair| compare(check, &pair);
        if self.backward {
            check.reverse_pairs(&measured, draws, &mut compare)?;
        }
        if self.forward {
            check.forward_pairs(&measured, &mut compare)?;
            if self.undefined {
                properties::check_undefined_tangents(check, self.seed)?;
            }
        }
        if self.batched_forward {
            properties::check_batched_tangents(check, self.seed)?;
        }
        if self.batched {
            properties::check_batched_gradients(check, self.seed)?;
        }
        if self.backward {
            properties::check_linear(check, self.seed)?;
            properties::check_zero_gradients(check)?;
            if self.undefined {
                properties::check_undefined_gradients(check)?;
            }
        }
        Ok(())
    }

    /// Outputs that do not require grad do not depend on the inputs.
    fn check_constant(&self, check: &Check) -> Outcome<()> {
        let mut draws = Draws::new(self.seed);
        let measured = check.measure(self.fast.then_some(&mut draws))?;
        let limit = if self.fast { self.tolerances.nondet } else { 0.0 };
        for (i, parts) in measured.slopes.iter().enumerate() {
            for (k, values) in parts.iter().flatten().flat_map(|outputs| outputs.iter().enumerate()) {
                // NaN is not constant.
                if !values.iter().all(|v| v.abs() <= limit) {
                    return Err(Report::new(
                        Failure::NotConstant,
                        format!(
                            "Numerical gradient for function expected to be zero: no output requires grad, but output {} \
                             depends on {}. Likely cause: a detach(), no_grad, item() or conversion on the way cuts the \
                             graph",
                            check.positions[k],
                            check.name(i)
                        ),
                    ));
                }
            }
        }
        Ok(())
    }

    /// The check of the map from inputs and cotangents to gradients.
    fn check_second(&self, base: &Check) -> Outcome<()> {
        let mut draws = Draws::new(self.seed);
        let found = base.outputs_at(&base.inputs)?;
        let count = base.inputs.len();
        let mut second = base.clone();
        // By place of the outputs: whether it has a cotangent among the inputs.
        let mut weighted = Vec::new();
        for (k, y) in found.iter().enumerate() {
            let Some(y) = y.as_ref().filter(|y| y.requires_grad()) else { continue };
            let cotangent = leaf(&write_like(&draws.values(y), y)?)?;
            second.names.push(format!("input {} (gradient of output {k})", count + weighted.len()));
            second.differentiable.push(count + weighted.len());
            second.sources.push(cotangent.clone());
            second.inputs.push(Some(cotangent));
            weighted.push(k);
        }
        let gradients = |xs: &Places| -> Result<Places> {
            let (inputs, cotangents) = xs.split_at(count);
            let outputs = (self.f)(&inputs.to_vec())?;
            let mut roots: Vec<Root> = Vec::new();
            for (n, (&k, cotangent)) in weighted.iter().zip(cotangents).enumerate() {
                let y = outputs.get(k).and_then(Option::as_ref).ok_or_else(|| {
                    Error::autograd(format!("gradgradcheck: f gave no output {k}, which it gave at the inputs"))
                })?;
                roots.push(root(y, cotangent.as_ref(), n)?);
            }
            let target = |&i: &usize| match inputs[i].as_ref().map(Raw::grad_edge).transpose()?.flatten() {
                Some(edge) => Ok(Target::Capture(edge)),
                None => Err(Error::autograd("gradgradcheck: f detached one of its inputs in place")),
            };
            let targets = base.differentiable.iter().map(target).collect::<Result<Vec<Target>>>()?;
            run(Backward { roots, retain_graph: true, create_graph: true, targets })
        };
        if weighted.is_empty() {
            return self.check(base);
        }
        second.f = &gradients;
        second.note = "(Outputs are gradients here, in the order of the inputs of f that are checked. Inputs are those of f, \
                       then the gradients of its outputs.)\n";
        self.check(&second)
    }
}

fn compare(check: &Check, pair: &Pair) -> Outcome<()> {
    if passed(pair, check.tolerances.rtol) {
        return Ok(());
    }
    if !pair.projected {
        return Err(report(check, pair));
    }
    // A projection differs: the block of the Jacobian is measured entry by entry, for the message.
    let projection = report_of_projection(check, pair);
    let message = format!("{projection}\nThese are random projections of the Jacobians (fast mode). ");
    let (i, k) = (pair.source, pair.output);
    let mut block = check.of(vec![check.positions[k]], vec![check.outputs[k].clone()]);
    block.differentiable = vec![check.differentiable[i]];
    block.sources = vec![check.sources[i].clone()];
    let measured = block.measure(None)?;
    let mut see = |slow: Pair| match passed(&slow, block.tolerances.rtol) {
        true => Ok(()),
        false => Err(report(&block, &slow).after(&format!("{message}Entry by entry (slow mode):\n\n"))),
    };
    match pair.forward {
        true => block.forward_pairs(&measured, &mut see)?,
        false => block.reverse_pairs(&measured, None, &mut see)?,
    }
    Err(Report::new(
        projection.failure(),
        format!(
            "{message}Fast gradcheck failed but element-wise differences are small: slow mode passes here. Likely cause: the \
             backward is not linear in grad_output, or the errors of the entries add up; then check with fast(false)"
        ),
    ))
}
