//! Forward mode through a custom function: its `jvp`, which runs right after `forward`, or its backward, transposed.

use super::arguments::Places;
use super::call::{Custom, Finish, call, zeros};
use super::context::{Available, Context};
use crate::engine::autograd::engine::run;
use crate::engine::autograd::forward::{check_sizes, own_tangents, propagate_through};
use crate::engine::autograd::{Backward, GradGuard, Grads, Root, Target, is_grad_enabled};
use crate::engine::generator::default_generator;
use crate::engine::{self, Error, transforms};
use crate::{Result, Tensor};

type Raw = engine::Tensor;

/// Gives the results of a call tangents, at every level at which an operand has one.
pub(super) fn propagate(finish: &Finish, dirty: &[Raw], results: &[Option<Raw>], requires_grad: &[bool]) -> Result<()> {
    let operands: Vec<&Raw> = finish.operands.iter().collect();
    let outs: Vec<Raw> =
        results.iter().zip(requires_grad).filter(|(_, on)| **on).filter_map(|(t, _)| t.clone()).collect();
    own_tangents(dirty)?;
    let name = finish.rules.name();
    let tangents = Tangents { finish, dirty, results, requires_grad };
    propagate_through(&operands, &outs, &mut |ts| tangents.of(ts), name)
}

struct Tangents<'a> {
    finish: &'a Finish<'a>,
    dirty: &'a [Raw],
    results: &'a [Option<Raw>],
    requires_grad: &'a [bool],
}

impl Tangents<'_> {
    /// The tangents of the differentiable results, from those of the operands.
    fn of(&self, ts: &[Option<Raw>]) -> Result<Grads> {
        let (inputs, notes) = (self.finish.inputs, self.finish.notes());
        let mut each = ts.iter();
        let by_place: Vec<Option<&Raw>> =
            inputs.iter().map(|x| x.as_ref().and_then(|_| each.next()).and_then(Option::as_ref)).collect();
        let given = inputs.iter().zip(&by_place).map(|(x, t)| match (x, t) {
            (None, _) => Ok(None),
            (Some(_), Some(t)) => Ok(Some(Tensor(Raw::clone(t)))),
            (Some(x), None) => zeros(x.0.sizes(), x.0.dtype(), notes.materialize).map(|t| Some(Tensor(t))),
        });
        let given = given.collect::<Result<Places>>()?;
        let saved = Available::Here(notes.save_for_forward.as_ref().unwrap_or(&notes.save).clone());
        let received = by_place.iter().map(Option::is_some).collect();
        let ctx = Context::of_rule(self.finish.ctx.needs.clone(), notes.kept.clone(), saved, received);
        let returned = match self.finish.rules.jvp(&ctx, given)? {
            Some(returned) => returned,
            None if self.dirty.is_empty() => transposed(self.finish.function, inputs, &by_place)?,
            None => {
                return Err(missing(
                    self.finish.rules.name(),
                    "and writes to its inputs, so that it cannot be run again",
                ));
            }
        };
        self.checked(returned, ts)
    }

    fn checked(&self, returned: Places, ts: &[Option<Raw>]) -> Result<Grads> {
        let name = self.finish.rules.name();
        if returned.len() != self.results.len() {
            return Err(Error::autograd(format!(
                "Function's jvp returned an invalid number of forward gradients (expected {} but got {}): this is {name}",
                self.results.len(),
                returned.len()
            )));
        }
        let mut tangents = Grads::new();
        for (k, (tangent, result)) in returned.into_iter().zip(self.results).enumerate() {
            match (&tangent, result, self.requires_grad[k]) {
                (_, None, _) | (None, Some(_), false) => continue,
                (Some(_), Some(_), false) => {
                    return Err(Error::autograd(format!(
                        "Function's jvp returned a gradient at position {k}, but  the corresponding forward output is not \
                         a differentiable Tensor.You should return None at that position instead. This is {name}"
                    )));
                }
                (Some(t), Some(result), true) => self.check(result, &t.0, ts)?,
                (None, Some(_), true) => {}
            }
            tangents.push(tangent.map(|t| t.0));
        }
        Ok(tangents)
    }

    /// The rules on tangents of results that share memory with operands.
    fn check(&self, result: &Raw, tangent: &Raw, ts: &[Option<Raw>]) -> Result<()> {
        let (operands, name) = (&self.finish.operands, self.finish.rules.name());
        let base = |x: &Raw| x.base().unwrap_or(x).clone();
        check_sizes(result, tangent)?;
        if self.dirty.iter().any(|d| d.is_same(result)) {
            let before = operands.iter().position(|x| x.is_same(result)).and_then(|i| ts[i].as_ref());
            if before.is_some_and(|before| !before.is_same(tangent)) {
                return Err(Error::autograd(format!(
                    "An inplace custom Function is not modifying the forward mode gradients inplace. If the forward is \
                     modifying an input inplace, then the jvp function must modify the corresponding gradient inplace. \
                     This is {name}"
                )));
            }
        } else if tangent.base().is_none() && result.base().is_some_and(|b| operands.iter().any(|x| base(x).is_same(b)))
        {
            return Err(Error::autograd(format!(
                "A custom Function's forward is returning a view (or an input as-is) but the jvp is not returning a view. \
                 This is {name}"
            )));
        }
        Ok(())
    }
}

fn missing(name: &str, why: &str) -> Error {
    Error::not_implemented(format!(
        "You must implement the jvp function for custom autograd.Function to use it with forward mode AD: {name} has none, \
         {why}."
    ))
}

/// Tangents of the outputs, given those of the inputs, of a function without a `jvp`.
///
/// The backward is linear in the gradients of the outputs. Differentiated with respect to them, along the tangents, it
/// gives the derivative in the forward direction (J. Townsend, "A new trick for calculating Jacobian vector products",
/// 2017). That takes a second run of the function, and a backward that consists of differentiable ops.
fn transposed(function: &dyn Custom, inputs: &Places, tangents: &[Option<&Raw>]) -> Result<Places> {
    let name = function.rules().name();
    let graph = is_grad_enabled();
    let state = || default_generator().read(Clone::clone);
    let before = state();
    let (inner, gradients, ys, outputs, cotangents) = {
        let _on = GradGuard::new(true);
        let copy = |(x, t): (&Option<Tensor>, &Option<&Raw>)| match (x, t) {
            (Some(x), Some(_)) => linked(&x.0).map(|x| Some(Tensor(x))),
            _ => Ok(x.clone()),
        };
        let xs = inputs.iter().zip(tangents).map(copy).collect::<Result<Places>>()?;
        let outputs = call(function, &xs)?;
        if state() != before {
            default_generator().with(|g| *g = before);
            return Err(missing(name, "and draws random numbers, so that it cannot be run again"));
        }
        let ys: Vec<Raw> = outputs.iter().flatten().filter(|y| y.0.requires_grad()).map(|y| y.0.clone()).collect();
        let zeros = |y: &Raw| transforms::variable(&Raw::full(y.sizes(), 0i64.into(), y.dtype())?);
        let cotangents = ys.iter().map(zeros).collect::<Result<Vec<Raw>>>()?;
        let moving: Vec<Raw> = xs
            .iter()
            .zip(tangents)
            .filter(|(_, t)| t.is_some())
            .filter_map(|(x, _)| Some(x.as_ref()?.0.clone()))
            .collect();
        let inner: Vec<Raw> = moving.iter().filter(|x| x.is_leaf()).chain(&cotangents).cloned().collect();
        let gradients = if ys.is_empty() { Vec::new() } else { pullback(&ys, &cotangents, &moving, true)? };
        (inner, gradients, ys, outputs, cotangents)
    };
    let pairs: Vec<(Raw, Raw)> =
        gradients.into_iter().zip(tangents.iter().flatten()).filter_map(|(g, &t)| Some((g?, t.clone()))).collect();
    if pairs.iter().any(|(g, _)| !g.requires_grad()) {
        return Err(missing(name, "and its backward has no derivative that one could be made from"));
    }
    let mut found: Vec<Option<Raw>> = vec![None; ys.len()];
    if !pairs.is_empty() {
        let (gs, ts): (Vec<Raw>, Vec<Raw>) = pairs.into_iter().unzip();
        found = pullback(&gs, &ts, &cotangents, graph)?;
    }
    let mut found = found.into_iter();
    let result = |y: &Option<Tensor>| match y {
        Some(y) if y.0.requires_grad() => {
            let t = found.next().flatten();
            t.map(|t| transforms::settled(&t, &inner, graph).map(Tensor)).transpose()
        }
        _ => Ok(None),
    };
    let results = outputs.iter().map(result).collect::<Result<Places>>();
    inner.iter().for_each(transforms::close);
    results
}

/// The argument, to be differentiated for: linked to it where it requires grad, with its tangents in any case.
fn linked(x: &Raw) -> Result<Raw> {
    let sizes: Vec<i64> = x.sizes().iter().map(|&n| n as i64).collect();
    let view = x.expand(&sizes)?;
    if view.requires_grad() { Ok(view) } else { transforms::variable(&view) }
}

/// Gradients of `xs` from those of `ys`.
fn pullback(ys: &[Raw], gradients: &[Raw], xs: &[Raw], create_graph: bool) -> Result<Vec<Option<Raw>>> {
    let root = |(k, (y, g)): (usize, (&Raw, &Raw))| engine::autograd::engine::root(y, Some(g), k);
    let roots = ys.iter().zip(gradients).enumerate().map(root).collect::<Result<Vec<Root>>>()?;
    let target = |x: &Raw| {
        let edge = x.grad_edge()?;
        Ok(Target::Capture(edge.ok_or_else(|| Error::autograd("an input of a custom function lost its history"))?))
    };
    let targets = xs.iter().map(target).collect::<Result<Vec<Target>>>()?;
    run(Backward { roots, retain_graph: create_graph, create_graph, targets })
}
