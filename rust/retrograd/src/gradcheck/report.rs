//! The report of a failed check: the worst entry, both values, the bound, and what the cause may be.

use std::fmt;

use super::check::{Check, Matrix, Pair};
use super::numbers::{Number, general, parts, place, shown};
use crate::engine::DType;
use crate::engine::autograd::Edge;
use crate::engine::tensor::format::{PrintOptions, Values, format_tensor, visit_printed};
use crate::{Error, Result};

/// Why a function did not pass [`gradcheck`](super::gradcheck). Its text is the diagnosis, and so is what `unwrap`
/// prints.
#[derive(Clone)]
pub struct Report(Box<Facts>);

#[derive(Clone)]
struct Facts {
    failure: Failure,
    text: String,
    mismatch: Option<Mismatch>,
    error: Option<Error>,
}

/// What kind of failure a [`Report`] is about.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum Failure {
    /// The check cannot be made as it was asked for: no input to check, options that contradict each other.
    Usage,
    /// The function returned an error, or other outputs near the inputs than at them.
    Function,
    /// The backward pass gives another Jacobian than differences.
    Backward,
    /// Forward mode gives another Jacobian than differences.
    Forward,
    /// No output requires grad, but one depends on an input.
    NotConstant,
    /// Two backward passes gave different gradients.
    NotReentrant,
    /// A gradient has another shape or dtype than its input.
    Gradient,
    /// The gradients for a sum of gradients are not the sum of the gradients for each.
    NotLinear,
    /// Gradients of zero lead to others.
    ZeroGradients,
    /// Missing gradients are not taken for zeros.
    UndefinedGradients,
    /// Missing tangents are not taken for zeros.
    UndefinedTangents,
    /// A batch of gradients leads to other gradients than its members.
    BatchedGradients,
    /// A batch of tangents leads to other tangents than its members.
    BatchedTangents,
}

/// The entry of a Jacobian that is furthest from what it should be.
#[derive(Clone, PartialEq, Debug)]
#[non_exhaustive]
pub struct Mismatch {
    /// Which input: its place in the arguments.
    pub input: usize,
    /// Where in the input.
    pub input_entry: Vec<usize>,
    /// Which output that requires grad.
    pub output: usize,
    /// Where in the output.
    pub output_entry: Vec<usize>,
    /// The derivative by differences.
    pub numerical: Number,
    /// The derivative by the rules.
    pub analytical: Number,
    /// How far they may be apart: `atol + rtol * |numerical|`.
    pub bound: f64,
}

/// The result of a part of a check.
pub(super) type Outcome<T> = Result<T, Report>;

impl Report {
    pub(super) fn new(failure: Failure, text: impl Into<String>) -> Self {
        Self(Box::new(Facts { failure, text: text.into(), mismatch: None, error: None }))
    }

    /// What failed.
    pub fn failure(&self) -> Failure {
        self.0.failure
    }

    /// The entry that is furthest off, if Jacobians were compared entry by entry.
    pub fn mismatch(&self) -> Option<&Mismatch> {
        self.0.mismatch.as_ref()
    }

    /// The error that the function or its rules returned, if that is what failed.
    pub fn error(&self) -> Option<&Error> {
        self.0.error.as_ref()
    }

    pub(super) fn with_mismatch(mut self, mismatch: Option<Mismatch>) -> Self {
        self.0.mismatch = mismatch;
        self
    }

    pub(super) fn with_error(mut self, error: Error) -> Self {
        self.0.error = Some(error);
        self
    }

    /// The same after another text.
    pub(super) fn after(mut self, text: &str) -> Self {
        self.0.text.insert_str(0, text);
        self
    }
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0.text)
    }
}

impl fmt::Debug for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "gradcheck: {self}")
    }
}

impl std::error::Error for Report {}

impl From<Error> for Report {
    fn from(error: Error) -> Self {
        Self::new(Failure::Function, format!("f, or one of its rules, returned an error: {error}")).with_error(error)
    }
}

/// By how many times the bound the values differ; infinite if one of them is not finite.
pub(super) fn excess(expected: Number, got: Number, atol: f64, rtol: f64) -> f64 {
    if !expected.is_finite() || !got.is_finite() {
        return f64::INFINITY;
    }
    let error = (got - expected).abs();
    if error == 0.0 { 0.0 } else { error / (atol + rtol * expected.abs()) }
}

/// Whether all values are within their bounds.
pub(super) fn agree(expected: &[Number], got: &[Number], atol: f64, rtol: f64) -> bool {
    expected.len() == got.len() && expected.iter().zip(got).all(|(&e, &g)| excess(e, g, atol, rtol) <= 1.0)
}

fn matrices_agree(expected: &Matrix, got: &Matrix, atol: f64, rtol: f64) -> bool {
    expected.len() == got.len() && expected.iter().zip(got).all(|(e, g)| agree(e, g, atol, rtol))
}

/// Whether the Jacobians of a pair agree.
pub(super) fn passed(pair: &Pair, rtol: f64) -> bool {
    matrices_agree(&pair.numerical, &pair.analytical, pair.atol, rtol)
}

/// Row and column of the largest excess over the bound.
pub(super) fn worst(expected: &Matrix, got: &Matrix, atol: f64, rtol: f64) -> (usize, usize) {
    let mut found = (-1.0, (0, 0));
    for (i, (es, gs)) in expected.iter().zip(got).enumerate() {
        for (k, (&e, &g)) in es.iter().zip(gs).enumerate() {
            let excess = excess(e, g, atol, rtol);
            if excess > found.0 {
                found = (excess, (i, k));
            }
        }
    }
    found.1
}

/// Two values that differ, the expected one first, with the bound that they exceed.
pub(super) fn comparison(names: [&str; 2], values: [Number; 2], atol: f64, rtol: f64) -> String {
    let ([expected, got], [name, other]) = (values, names);
    format!(
        "{name} {expected}, {other} {got}, difference {}, {} times the bound {} = atol {} + rtol {} * |{name}|",
        general((got - expected).abs(), 3),
        general(excess(expected, got, atol, rtol), 3),
        general(atol + rtol * expected.abs(), 3),
        general(atol, 6),
        general(rtol, 6)
    )
}

/// Numbers as a tensor of these sizes.
pub(super) fn tensor(values: &[Number], sizes: &[usize]) -> String {
    let options = PrintOptions::default();
    let mut printed = Vec::new();
    visit_printed(sizes, &options, |index| {
        let at = index.iter().zip(sizes).fold(0, |at, (i, n)| at * n + i);
        printed.push((values[at].re, values[at].im));
    });
    let complex = values.iter().any(|v| v.im != 0.0);
    let suffix = [format!("dtype={}", if complex { "complex128" } else { "float64" })];
    if complex {
        return format_tensor("tensor(", sizes, &Values::Complex(&printed), &options, &suffix);
    }
    let reals: Vec<f64> = printed.iter().map(|v| v.0).collect();
    format_tensor("tensor(", sizes, &Values::Float(&reals), &options, &suffix)
}

/// The matrix for display; of a projection the number.
fn shown_matrix(entries: &Matrix, projected: bool) -> String {
    match entries.as_slice() {
        [row] if projected && row.len() == 1 => row[0].to_string(),
        _ => tensor(&entries.concat(), &[entries.len(), entries.first().map_or(0, Vec::len)]),
    }
}

/// Which Jacobians differ, with what was measured.
pub(super) fn headline(check: &Check, pair: &Pair) -> String {
    let looked_at = if pair.forward { &check.sources[pair.source] } else { &check.outputs[pair.output] };
    let part = match looked_at.dtype().is_complex() {
        true => format!(
            "While considering the {} part of complex {} only, ",
            if pair.imaginary { "imaginary" } else { "real" },
            if pair.forward { "inputs" } else { "outputs" }
        ),
        false => String::new(),
    };
    format!(
        "{part}Jacobian {}mismatch for output {} with respect to input {},\nnumerical:{}\nanalytical:{}\n",
        if pair.forward { "computed with forward mode " } else { "" },
        check.positions[pair.output],
        check.differentiable[pair.source],
        shown_matrix(&pair.numerical, pair.projected),
        shown_matrix(&pair.analytical, pair.projected)
    )
}

fn failure_of(pair: &Pair) -> Failure {
    if pair.forward { Failure::Forward } else { Failure::Backward }
}

/// The report on a pair of Jacobians that differ, entry by entry.
pub(super) fn report(check: &Check, pair: &Pair) -> Report {
    let rtol = check.tolerances.rtol;
    let (i, k) = worst(&pair.numerical, &pair.analytical, pair.atol, rtol);
    let (x, output) = (&check.sources[pair.source], &check.outputs[pair.output]);
    let producer = match output.grad_edge() {
        Ok(Some(Edge::Node(made))) => format!(", made by {}", made.node.name()),
        _ => String::new(),
    };
    let values = [pair.numerical[i][k], pair.analytical[i][k]];
    let (input_entry, output_entry) = (place(i, x.sizes()), place(k, output.sizes()));
    let text = format!(
        "{}{}Worst at {}, entry {}, output {}, entry {}{producer}:\n  {}\nLikely cause: {}\n",
        headline(check, pair),
        check.note,
        check.name(pair.source),
        shown(&input_entry),
        check.positions[pair.output],
        shown(&output_entry),
        comparison(["numerical", "analytical"], values, pair.atol, rtol),
        cause(check, pair, i, k)
    );
    Report::new(failure_of(pair), text).with_mismatch(Some(Mismatch {
        input: check.differentiable[pair.source],
        input_entry,
        output: check.positions[pair.output],
        output_entry,
        numerical: values[0],
        analytical: values[1],
        bound: pair.atol + rtol * values[0].abs(),
    }))
}

/// A report without entries.
pub(super) fn report_of_projection(check: &Check, pair: &Pair) -> Report {
    Report::new(failure_of(pair), headline(check, pair))
}

fn cause(check: &Check, pair: &Pair, i: usize, k: usize) -> String {
    // Where the function cannot be asked again, its rules are looked at.
    let in_function = cause_in_function(check, pair, i, k).ok().flatten();
    in_function.or_else(|| cause_in_rule(check, pair)).unwrap_or_else(|| {
        "the rule of the op behind this output, or of one that it rests on, is wrong in these entries; check the ops one by \
         one"
            .into()
    })
}

/// Whether the function or the way it is checked is to blame, rather than a rule.
fn cause_in_function(check: &Check, pair: &Pair, i: usize, k: usize) -> Outcome<Option<String>> {
    let (x, output) = (&check.sources[pair.source], &check.outputs[pair.output]);
    let (first, second) = (check.values(&check.inputs)?, check.values(&check.inputs)?);
    if format!("{first:?}") != format!("{second:?}") {
        let cause =
            "f gives different results for the same inputs, so differences mean nothing; fix its random numbers";
        return Ok(Some(cause.into()));
    }
    if !pair.numerical.iter().flatten().all(|n| n.is_finite()) {
        return Ok(Some("f is not finite within eps of the input; move the input into the domain of f".into()));
    }
    for &imaginary in parts(x) {
        let (above, below) = check.neighbours(pair.source, &check.unit_step(pair.source, i, imaginary))?;
        let here = first[pair.output][k];
        let over = |d: Number| d.scaled(1.0 / check.tolerances.eps);
        let (right, left) = (over(above[pair.output][k] - here), over(here - below[pair.output][k]));
        // No smooth function's slopes to the left and to the right differ so much.
        if (right - left).abs() > 10.0 * check.tolerances.atol + 0.1 * (right.abs() + left.abs()) {
            return Ok(Some("f has a kink or a jump within eps of this entry; move the input away from it".into()));
        }
    }
    let precise = |t: &&crate::engine::Tensor| !matches!(t.dtype(), DType::Float64 | DType::Complex128);
    Ok([x, output].into_iter().find(precise).map(|low| {
        format!(
            "differences drown in the rounding of {}; check in double precision, or with larger eps and atol",
            low.dtype().name()
        )
    }))
}

/// What is wrong with the analytical Jacobian as a whole, if it is a known kind of wrong.
fn cause_in_rule(check: &Check, pair: &Pair) -> Option<String> {
    let (atol, rtol) = (check.tolerances.atol, check.tolerances.rtol);
    let (numerical, analytical) = (&pair.numerical, &pair.analytical);
    let (ns, entries) = (numerical.concat(), analytical.concat());
    let zero = |v: &Number| *v == Number::default();
    if !entries.iter().all(|v| v.is_finite()) {
        return Some(
            "the rule leaves its domain (a division by zero, a log or root of zero), or uses memory nobody wrote"
                .into(),
        );
    }
    if entries.iter().all(zero) {
        return Some(match pair.forward {
            true => "there is no tangent: a detach(), item() or conversion on the way cuts it off, the backward is \
                     once_differentiable, or the rule gives None or zeros"
                .into(),
            false => "there is no gradient: a detach(), no_grad, item() or conversion on the way cuts the graph, the \
                      backward is once_differentiable, or the rule gives None or zeros"
                .into(),
        });
    }
    // Along the imaginary unit, a rule that forgets to conjugate is off by a sign more.
    let sign = if pair.imaginary { -1.0 } else { 1.0 };
    let conjugates: Vec<Number> = entries.iter().map(|v| v.conj().scaled(sign)).collect();
    if agree(&ns, &conjugates, atol, rtol) {
        return Some("the gradient is conjugated".into());
    }
    if let Some(factor) = common_factor(&ns, &entries, atol, rtol) {
        return Some(cause_of_factor(factor));
    }
    let columns = analytical.first().map_or(0, Vec::len);
    let transposed: Matrix = (0..columns).map(|k| analytical.iter().map(|row| row[k]).collect()).collect();
    let square = |m: &Matrix| m.len() == numerical.len();
    if square(&transposed) && matrices_agree(numerical, &transposed, atol, rtol) {
        return Some("the Jacobian is transposed".into());
    }
    let ordered = |values: &[Number]| {
        let mut sorted = values.to_vec();
        sorted.sort_by(|a, b| a.re.total_cmp(&b.re).then(a.im.total_cmp(&b.im)));
        sorted
    };
    if agree(&ordered(&ns), &ordered(&entries), atol, rtol) {
        return Some(
            "the right values in the wrong places: the gradient is permuted, or reshaped instead of permuted back"
                .into(),
        );
    }
    let empty = numerical.iter().zip(analytical).filter(|(r, s)| !r.iter().all(zero) && s.iter().all(zero)).count();
    if empty > 0 {
        return Some(format!(
            "there is no gradient for {empty} of {} elements of the input: a use of it is forgotten",
            numerical.len()
        ));
    }
    if ns.iter().zip(&entries).all(|(&n, a)| zero(a) || excess(n, *a, atol, rtol) <= 1.0) {
        return Some(
            "some terms are missing: a use of the input is not accumulated, or an output's gradient is ignored".into(),
        );
    }
    None
}

/// The number that the analytical entries are times the numerical ones, if there is one.
fn common_factor(ns: &[Number], entries: &[Number], atol: f64, rtol: f64) -> Option<Number> {
    let top = (0..ns.len()).max_by(|&a, &b| ns[a].abs().total_cmp(&ns[b].abs()))?;
    if ns[top].abs() <= atol {
        return None;
    }
    let factor = entries[top].over(ns[top]);
    let near = ns.iter().zip(entries).all(|(&n, &a)| excess(factor * n, a, 10.0 * atol, rtol) <= 1.0);
    near.then_some(factor)
}

fn cause_of_factor(factor: Number) -> String {
    let four = factor.general(4);
    if factor.im.abs() > 1e-3 * factor.re.abs() {
        return format!("a factor is wrong: the gradient is {four} times what it should be everywhere");
    }
    let (factor, four) = (factor.re, general(factor.re, 4));
    if (factor + 1.0).abs() < 1e-3 {
        return "the sign is wrong".into();
    }
    if factor > 1.5 && (factor - factor.round()).abs() < 1e-3 {
        return format!(
            "the gradient is {four} times too large: it is accumulated twice, or a factor is applied twice"
        );
    }
    if 0.0 < factor && factor < 0.75 && (1.0 / factor - (1.0 / factor).round()).abs() < 1e-3 {
        return format!(
            "the gradient is {four} times what it should be: a factor is missing, or a second use of the input is not \
             accumulated"
        );
    }
    format!("a factor is wrong: the gradient is {four} times what it should be everywhere")
}
