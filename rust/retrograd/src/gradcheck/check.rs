//! Jacobians by differences, by the backward pass and by forward mode.
//!
//! A Jacobian is measured along directions: an input is moved by eps times one, or a gradient is sent back along one.
//! With the unit vectors as directions its entries come out, with random ones a projection that depends on all of them.
//!
//! A complex tensor has two real parts. Of a complex output, reverse mode looks at one part at a time; a complex input
//! is moved along both, and the row of the Jacobian is the gradient as reverse mode has it: the slope along the real
//! part plus i times that along the imaginary one. Forward mode moves one part of a complex input at a time, and
//! compares outputs whole.
//!
//! Each entry is moved alone, and each row is pulled back in a run of its own: in a batch of rows, a wrong derivative
//! could be hidden by a wrong batching rule.

use std::sync::Arc;

use super::numbers::{Draws, Number, parts, place, read, shown, write_like};
use super::report::{Failure, Outcome, Report};
use crate::Result;
use crate::engine::autograd::engine::{root, run};
use crate::engine::autograd::forward::{self, make_dual, unpack_dual};
use crate::engine::autograd::{Backward, Root, Target};
use crate::engine::transforms::Level;
use crate::engine::{self, Error};

type Raw = engine::Tensor;

/// What is in each place of arguments.
pub(super) type Places = Vec<Option<Raw>>;

/// The function under check.
pub(super) type Evaluate<'a> = dyn Fn(&Places) -> Result<Places> + 'a;

/// How closely is looked.
#[derive(Clone, Copy, Debug)]
pub(super) struct Tolerances {
    pub eps: f64,
    pub atol: f64,
    pub rtol: f64,
    pub nondet: f64,
    pub grad_dtypes: bool,
}

/// What is checked: a function at inputs, its differentiable inputs and outputs, and how closely.
#[derive(Clone)]
pub(super) struct Check<'a> {
    pub f: &'a Evaluate<'a>,
    pub inputs: Places,
    /// What messages call the inputs, by place.
    pub names: Vec<String>,
    /// What a message says of the inputs and outputs.
    pub note: &'static str,
    /// Places of the inputs that are moved.
    pub differentiable: Vec<usize>,
    /// These inputs.
    pub sources: Vec<Raw>,
    /// Places of the outputs that are compared.
    pub positions: Vec<usize>,
    /// These outputs.
    pub outputs: Vec<Raw>,
    pub tolerances: Tolerances,
}

/// The elements of each output.
pub(super) type Values = Vec<Vec<Number>>;

/// A row per direction in the input, a column per element of the output.
pub(super) type Matrix = Vec<Vec<Number>>;

/// One block of the Jacobian, measured in two ways.
#[derive(Clone)]
pub(super) struct Pair {
    /// Index in `Check::sources`.
    pub source: usize,
    /// Index in `Check::outputs`.
    pub output: usize,
    /// Which part of a complex output was looked at, or of a complex input was moved in forward mode.
    pub imaginary: bool,
    pub forward: bool,
    /// Along random directions, instead of entry by entry.
    pub projected: bool,
    /// Of the entries, or of their projection.
    pub atol: f64,
    pub numerical: Matrix,
    pub analytical: Matrix,
}

/// The Jacobian by differences.
pub(super) struct Measured {
    /// Of each source, for each of its real parts: the random directions, if it is not measured in full.
    directions: Option<Vec<Vec<Vec<f64>>>>,
    /// Of each source, for each of its real parts, along each direction: the slopes of each output.
    pub slopes: Vec<Vec<Vec<Values>>>,
}

/// A copy of a tensor without history, that requires grad.
pub(super) fn leaf(t: &Raw) -> Result<Raw> {
    let t = t.detach();
    t.set_requires_grad(true)?;
    Ok(t)
}

impl<'a> Check<'a> {
    /// What messages call a source.
    pub fn name(&self, source: usize) -> &str {
        &self.names[self.differentiable[source]]
    }

    /// The check with these outputs in place of its own.
    pub fn of(&self, positions: Vec<usize>, outputs: Vec<Raw>) -> Self {
        Self { positions, outputs, ..self.clone() }
    }

    /// The outputs of the function, with a history; by place.
    pub fn outputs_at(&self, inputs: &Places) -> Outcome<Places> {
        Ok((self.f)(inputs)?)
    }

    /// The elements of the outputs, with other elements in one source.
    fn values_at(&self, source: usize, values: &[Number]) -> Outcome<Values> {
        let mut inputs = self.inputs.clone();
        inputs[self.differentiable[source]] = Some(leaf(&write_like(values, &self.sources[source])?)?);
        self.values(&inputs)
    }

    /// The elements of the outputs.
    pub fn values(&self, inputs: &Places) -> Outcome<Values> {
        let found = self.outputs_at(inputs)?;
        let each = self.positions.iter().zip(&self.outputs).map(|(&k, like)| {
            let Some(Some(o)) = found.get(k) else {
                return Err(Report::new(
                    Failure::Function,
                    format!("Expected `f` to return the same outputs each time, but output {k} is there at the inputs alone."),
                ));
            };
            if o.sizes() != like.sizes() || o.dtype() != like.dtype() {
                let (what, at, near) = match o.sizes() == like.sizes() {
                    true => ("dtype", like.dtype().name().to_owned(), o.dtype().name().to_owned()),
                    false => ("shape", format!("{:?}", like.sizes()), format!("{:?}", o.sizes())),
                };
                return Err(Report::new(
                    Failure::Function,
                    format!(
                        "Expected `f` to return outputs with the same {what} when inputs are perturbed by {}, but got: {what}s \
                         {at} and {near}. This is output {k}, at the inputs and near them.",
                        self.tolerances.eps
                    ),
                ));
            }
            Ok(read(o)?)
        });
        each.collect()
    }

    // ---- by differences

    /// The outputs a step above and a step below the inputs.
    pub fn neighbours(&self, source: usize, step: &[Number]) -> Outcome<(Values, Values)> {
        let here = read(&self.sources[source])?;
        let above: Vec<Number> = here.iter().zip(step).map(|(&x, &d)| x + d).collect();
        let below: Vec<Number> = here.iter().zip(step).map(|(&x, &d)| x - d).collect();
        Ok((self.values_at(source, &above)?, self.values_at(source, &below)?))
    }

    /// The step along a unit vector, with the length eps.
    pub fn unit_step(&self, source: usize, entry: usize, imaginary: bool) -> Vec<Number> {
        let mut step = vec![Number::default(); self.sources[source].numel()];
        step[entry] = Number::unit(imaginary).scaled(self.tolerances.eps);
        step
    }

    /// The central differences of every output along a step.
    fn slope(&self, source: usize, step: &[Number]) -> Outcome<Values> {
        let (above, below) = self.neighbours(source, step)?;
        let width = 1.0 / (2.0 * self.tolerances.eps);
        let of = |(a, b): (Vec<Number>, Vec<Number>)| a.iter().zip(&b).map(|(&a, &b)| (a - b).scaled(width)).collect();
        Ok(above.into_iter().zip(below).map(of).collect())
    }

    /// The Jacobian by differences, entry by entry, or along random directions.
    pub fn measure(&self, draws: Option<&mut Draws>) -> Outcome<Measured> {
        let sources = 0..self.sources.len();
        let Some(draws) = draws else {
            let entries = |i: usize, im: bool| {
                (0..self.sources[i].numel()).map(|n| self.slope(i, &self.unit_step(i, n, im))).collect::<Outcome<_>>()
            };
            let source = |i: usize| parts(&self.sources[i]).iter().map(|&im| entries(i, im)).collect::<Outcome<_>>();
            return Ok(Measured { directions: None, slopes: sources.map(source).collect::<Outcome<_>>()? });
        };
        let directions: Vec<Vec<Vec<f64>>> =
            self.sources.iter().map(|x| parts(x).iter().map(|_| draws.direction(x)).collect()).collect();
        let along = |i: usize, im: bool| {
            let unit = Number::unit(im).scaled(self.tolerances.eps);
            let step: Vec<Number> = directions[i][usize::from(im)].iter().map(|&w| unit.scaled(w)).collect();
            Ok(vec![self.slope(i, &step)?])
        };
        let source = |i: usize| parts(&self.sources[i]).iter().map(|&im| along(i, im)).collect::<Outcome<_>>();
        let slopes = sources.map(source).collect::<Outcome<_>>()?;
        Ok(Measured { directions: Some(directions), slopes })
    }

    // ---- by the rules

    /// Gradients of the sources from those of some outputs.
    pub fn pull_back(&self, outputs: &[Raw], gradients: &[Raw]) -> Result<Vec<Option<Raw>>> {
        let root = |(k, (y, g)): (usize, (&Raw, &Raw))| root(y, Some(g), k);
        let roots = outputs.iter().zip(gradients).enumerate().map(root).collect::<Result<Vec<Root>>>()?;
        let target = |x: &Raw| match x.grad_edge()? {
            Some(edge) => Ok(Target::Capture(edge)),
            None => Err(Error::autograd("gradcheck: f detached one of its inputs in place")),
        };
        let targets = self.sources.iter().map(target).collect::<Result<Vec<Target>>>()?;
        run(Backward { roots, retain_graph: true, create_graph: false, targets })
    }

    /// The gradients of every source for a gradient of one output, of which two runs must agree.
    pub fn row(&self, output: usize, weights: &[Number]) -> Outcome<Vec<Vec<Number>>> {
        let y = &self.outputs[output];
        let once = || -> Outcome<Vec<Vec<Number>>> {
            // Weights of its own, since a rule may write to what it gets.
            let grads = self.pull_back(std::slice::from_ref(y), &[write_like(weights, y)?])?;
            grads.iter().zip(&self.sources).enumerate().map(|(i, (g, x))| self.gradient(i, g.as_ref(), x)).collect()
        };
        let (first, second) = (once()?, once()?);
        for (i, (a, b)) in first.iter().zip(&second).enumerate() {
            // NaN is left to the comparison with differences.
            let Some(at) = (0..a.len()).find(|&at| (a[at] - b[at]).abs() > self.tolerances.nondet) else { continue };
            return Err(Report::new(
                Failure::NotReentrant,
                format!(
                    "Backward is not reentrant, i.e., running backward with same input and grad_output multiple times gives \
                     different values, although analytical gradient matches numerical gradient. The tolerance for \
                     nondeterminism was {}. Of two passes one gives {} the gradient {} at {}, the next {}. Likely cause: the \
                     backward draws random numbers, or changes what it has saved",
                    self.tolerances.nondet,
                    self.name(i),
                    a[at].general(17),
                    shown(&place(at, self.sources[i].sizes())),
                    b[at].general(17)
                ),
            ));
        }
        Ok(first)
    }

    fn gradient(&self, i: usize, g: Option<&Raw>, x: &Raw) -> Outcome<Vec<Number>> {
        let Some(g) = g else { return Ok(vec![Number::default(); x.numel()]) };
        if g.sizes() != x.sizes() {
            return Err(Report::new(
                Failure::Gradient,
                format!(
                    "Analytical gradient has incorrect size: {:?} for {} of {:?}",
                    g.sizes(),
                    self.name(i),
                    x.sizes()
                ),
            ));
        }
        if self.tolerances.grad_dtypes && g.dtype() != x.dtype() {
            return Err(Report::new(
                Failure::Gradient,
                format!(
                    "Gradient has dtype mismatch: {} for {}, which is {}",
                    g.dtype().name(),
                    self.name(i),
                    x.dtype().name()
                ),
            ));
        }
        Ok(read(g)?)
    }

    /// The tangent of every output in forward mode, given one or none for each source, or batches of them.
    pub fn push_forward(&self, tangents: &[Option<Raw>], along: Option<&Arc<Level>>) -> Outcome<Vec<Option<Raw>>> {
        let found = {
            let _level = forward::Level::enter();
            let level = forward::depth() - 1;
            let mut inputs = self.inputs.clone();
            for ((&i, x), t) in self.differentiable.iter().zip(&self.sources).zip(tangents) {
                let dual = match t {
                    Some(t) => make_dual(&x.detach(), t, level, along)?,
                    None => x.detach(),
                };
                dual.set_requires_grad(true)?;
                inputs[i] = Some(dual);
            }
            let results = self.outputs_at(&inputs)?;
            let tangent = |&k: &usize| match results.get(k) {
                Some(Some(y)) => unpack_dual(y, level).map(|(_, t)| t),
                _ => Ok(None),
            };
            self.positions.iter().map(tangent).collect::<Result<Vec<Option<Raw>>>>()?
        };
        for (k, (o, t)) in self.outputs.iter().zip(&found).enumerate() {
            if let Some(t) = t
                && self.tolerances.grad_dtypes
                && t.dtype().is_complex() != o.dtype().is_complex()
            {
                return Err(Report::new(
                    Failure::Gradient,
                    format!(
                        "Forward AD gradient has dtype mismatch: {} for output {k}, which is {}",
                        t.dtype().name(),
                        o.dtype().name()
                    ),
                ));
            }
        }
        Ok(found)
    }

    /// The derivative of every output along a direction in one source, by forward mode.
    fn column(&self, source: usize, direction: &[Number]) -> Outcome<Values> {
        let mut tangents = self.zero_tangents()?;
        tangents[source] = Some(write_like(direction, &self.sources[source])?);
        let found = self.push_forward(&tangents, None)?;
        let values = |(o, t): (&Raw, Option<Raw>)| match t {
            Some(t) => Ok(read(&t)?),
            None => Ok(vec![Number::default(); o.numel()]),
        };
        self.outputs.iter().zip(found).map(values).collect()
    }

    fn zero_tangents(&self) -> Result<Vec<Option<Raw>>> {
        self.sources.iter().map(|x| zeros_like(x).map(Some)).collect()
    }

    // ---- both

    /// Shows every block of the Jacobian by differences and by the backward pass.
    pub fn reverse_pairs(
        &self,
        measured: &Measured,
        mut draws: Option<&mut Draws>,
        see: &mut dyn FnMut(Pair) -> Outcome<()>,
    ) -> Outcome<()> {
        for (imaginary, k) in passes(&self.outputs) {
            let y = &self.outputs[k];
            let unit = Number::unit(imaginary);
            let weights: Vec<Vec<Number>> = match &mut draws {
                Some(draws) => vec![draws.direction(y).iter().map(|&w| unit.scaled(w)).collect()],
                None => (0..y.numel()).map(|at| unit_vector(y.numel(), at, unit)).collect(),
            };
            let rows = weights.iter().map(|w| self.row(k, w)).collect::<Outcome<Vec<_>>>()?;
            for (i, x) in self.sources.iter().enumerate() {
                let numerical = joined(&measured.slopes[i], k, imaginary);
                let pair = |atol, projected, numerical, analytical| Pair {
                    source: i,
                    output: k,
                    imaginary,
                    forward: false,
                    projected,
                    atol,
                    numerical,
                    analytical,
                };
                let atol = self.tolerances.atol;
                let Some(directions) = &measured.directions else {
                    let analytical = (0..x.numel()).map(|n| rows.iter().map(|row| row[i][n]).collect()).collect();
                    see(pair(atol, false, numerical, analytical))?;
                    continue;
                };
                // Errors of atol in every entry move the projection by at most atol times the 1-norms of the
                // directions.
                let norm = |ws: &mut dyn Iterator<Item = f64>| ws.map(f64::abs).sum::<f64>();
                let weights: Vec<f64> = weights[0].iter().map(|w| w.part(imaginary)).collect();
                let reach = norm(&mut weights.iter().copied()) * norm(&mut directions[i].iter().flatten().copied());
                let numerical = vec![vec![dot(&weights, &numerical[0])]];
                let gradient = &rows[0][i];
                let mut projected = Number::default();
                for (part, ws) in directions[i].iter().enumerate() {
                    let along: f64 = ws.iter().zip(gradient).map(|(w, g)| w * g.part(part == 1)).sum();
                    projected = projected + Number::unit(part == 1).scaled(along);
                }
                see(pair(atol * reach, true, numerical, vec![vec![projected]]))?;
            }
        }
        Ok(())
    }

    /// Shows every block of the Jacobian by differences and by forward mode.
    pub fn forward_pairs(&self, measured: &Measured, see: &mut dyn FnMut(Pair) -> Outcome<()>) -> Outcome<()> {
        for (imaginary, i) in passes(&self.sources) {
            let (x, unit, part) = (&self.sources[i], Number::unit(imaginary), usize::from(imaginary));
            let (directions, reach): (Vec<Vec<Number>>, f64) = match &measured.directions {
                Some(all) => {
                    let ws = &all[i][part];
                    (vec![ws.iter().map(|&w| unit.scaled(w)).collect()], ws.iter().map(|w| w.abs()).sum())
                }
                None => ((0..x.numel()).map(|at| unit_vector(x.numel(), at, unit)).collect(), 1.0),
            };
            let columns = directions.iter().map(|d| self.column(i, d)).collect::<Outcome<Vec<Values>>>()?;
            for k in 0..self.outputs.len() {
                see(Pair {
                    source: i,
                    output: k,
                    imaginary,
                    forward: true,
                    projected: measured.directions.is_some(),
                    atol: self.tolerances.atol * reach,
                    numerical: measured.slopes[i][part].iter().map(|slopes| slopes[k].clone()).collect(),
                    analytical: columns.iter().map(|column| column[k].clone()).collect(),
                })?;
            }
        }
        Ok(())
    }
}

/// Zeros of the dtype and sizes of a tensor.
pub(super) fn zeros_like(t: &Raw) -> Result<Raw> {
    Raw::full(t.sizes(), 0i64.into(), t.dtype())
}

fn unit_vector(size: usize, at: usize, unit: Number) -> Vec<Number> {
    let mut vector = vec![Number::default(); size];
    vector[at] = unit;
    vector
}

fn dot(weights: &[f64], values: &[Number]) -> Number {
    weights.iter().zip(values).fold(Number::default(), |sum, (&w, v)| sum + v.scaled(w))
}

/// Which parts are looked at one after the other, of which tensors: imaginary parts, then real ones, as torch does. A
/// tensor that is not complex is looked at once, in the first pass.
fn passes(tensors: &[Raw]) -> Vec<(bool, usize)> {
    let complex = |k: &usize| tensors[*k].dtype().is_complex();
    let first = (0..tensors.len()).map(|k| (complex(&k), k));
    first.chain((0..tensors.len()).filter(complex).map(|k| (false, k))).collect()
}

/// The slopes of one part of an output along the real parts of an input, as the gradient has them.
fn joined(along: &[Vec<Values>], output: usize, imaginary: bool) -> Matrix {
    let slope = |part: usize, n: usize, k: usize| along[part][n][output][k].part(imaginary);
    let columns = |n: usize| along[0][n][output].len();
    let entry = |n: usize, k: usize| Number::new(slope(0, n, k), if along.len() > 1 { slope(1, n, k) } else { 0.0 });
    (0..along[0].len()).map(|n| (0..columns(n)).map(|k| entry(n, k)).collect()).collect()
}
