//! Whether two calls of a function did the same.

use std::collections::HashMap;

use super::program::input_metas;
use super::recording::{Origin, Recording, Window};
use crate::tensor::{Scalar, Tensor};

/// A number among operands that was another one at another call.
#[derive(Clone, Copy, Debug)]
pub struct OtherNumber {
    pub(super) buffer: u32,
    pub before: Scalar,
    pub now: Scalar,
}

impl OtherNumber {
    /// Whether these are the numbers, to the bit.
    pub fn is(&self, before: Scalar, now: Scalar) -> bool {
        same_number(self.before, before) && same_number(self.now, now)
    }
}

impl Recording {
    /// How this recording differs from an earlier one of the same function. `Ok` if the steps are the same, with the
    /// numbers among operands that are not.
    pub fn differs(&self, other: &Self) -> Result<Vec<OtherNumber>, String> {
        let mut numbers = Vec::new();
        match self.differs_in(other, &mut numbers) {
            Some(how) => Err(how),
            None => Ok(numbers),
        }
    }

    /// Whether both are of calls whose tensors have the same layouts, dtypes and places in the graph.
    pub fn has_inputs_of(&self, other: &Self) -> bool {
        input_metas(&self.inputs) == input_metas(&other.inputs)
    }

    fn differs_in(&self, other: &Self, numbers: &mut Vec<OtherNumber>) -> Option<String> {
        if self.steps.len() != other.steps.len() {
            return Some(format!("it took {} steps, and then {}", other.steps.len(), self.steps.len()));
        }
        let (mut a, mut b) = (String::new(), String::new());
        // Captured tensors by where they were met first.
        let mut seen: HashMap<(u32, u32), ()> = HashMap::new();
        for (i, (x, y)) in self.steps.iter().zip(&other.steps).enumerate() {
            a.clear();
            b.clear();
            x.describe(&mut a);
            y.describe(&mut b);
            if a != b {
                return Some(format!("step {i} was {}, and then {}", y.name(), x.name()));
            }
            for (&v, &w) in x.xs.iter().chain(&x.outs).zip(y.xs.iter().chain(&y.outs)) {
                let (Some(v), Some(w)) = (v, w) else { continue };
                let (v, w) = (&self.values[v as usize], &other.values[w as usize]);
                if !self.is_window_of(v, other, w) {
                    return Some(format!("step {i}, {}, had operands of other layouts", x.name()));
                }
                if seen.insert((v.buffer, w.buffer), ()).is_none()
                    && let Some(how) = self.origin_differs(other, v.buffer, w.buffer, numbers)
                {
                    return Some(format!("step {i}, {}, had {how}", x.name()));
                }
            }
        }
        if self.outputs != other.outputs {
            return Some("it returned other results".into());
        }
        for output in &self.outputs {
            let (v, w) = (&self.values[output.value as usize], &other.values[output.value as usize]);
            if !self.is_window_of(v, other, w) {
                return Some("it returned results of other layouts".into());
            }
            if let Some(how) = self.origin_differs(other, v.buffer, w.buffer, numbers) {
                return Some(format!("it returned {how}"));
            }
        }
        if self.leaves.len() != other.leaves.len() {
            return Some("it touched the gradients of other leaves".into());
        }
        for (x, y) in self.leaves.iter().zip(&other.leaves) {
            if !x.of.is_same(&y.of) || x.found != y.found || x.now != y.now {
                return Some("it left other gradients".into());
            }
        }
        match (&self.backward, &other.backward) {
            (None, None) => None,
            (Some(x), Some(y))
                if x.first == y.first
                    && x.live == y.live
                    && x.grads == y.grads
                    && x.wanted.len() == y.wanted.len()
                    && x.wanted.iter().zip(&y.wanted).all(|(x, y)| x.is_same(y)) =>
            {
                None
            }
            _ => Some("its results have other histories".into()),
        }
    }

    /// Whether two windows show the same of the same buffer.
    fn is_window_of(&self, v: &Window, other: &Self, w: &Window) -> bool {
        let alike = v.sizes == w.sizes && v.strides == w.strides && v.dtype == w.dtype && v.buffer == w.buffer;
        alike && v.offset as isize - self.begins(v) == w.offset as isize - other.begins(w)
    }

    /// Where the tensor begins through which a buffer came to the function: another one may begin elsewhere.
    fn begins(&self, w: &Window) -> isize {
        let start = match &self.buffers[w.buffer as usize].origin {
            Origin::Input(i) => self.inputs.get(*i).map(Tensor::storage_offset),
            Origin::Grad(leaf) => self.leaves[*leaf].found.map(|v| self.values[v as usize].offset),
            _ => None,
        };
        start.unwrap_or(0) as isize
    }

    fn origin_differs(&self, other: &Self, a: u32, b: u32, numbers: &mut Vec<OtherNumber>) -> Option<String> {
        let buffer = a;
        let (a, b) = (&self.buffers[a as usize], &other.buffers[b as usize]);
        let how = match (&a.origin, &b.origin) {
            (Origin::Input(i), Origin::Input(j)) if i == j => return None,
            (Origin::Captured(x), Origin::Captured(y)) if x.shares_storage(y) => return None,
            (Origin::Grad(i), Origin::Grad(j)) if i == j => return None,
            (Origin::Step, Origin::Step) => return None,
            (Origin::Number(x), Origin::Number(y)) if same_number(*x, *y) => return None,
            (Origin::Constant(x), Origin::Constant(y)) if x == y => return None,
            (Origin::Number(x), Origin::Number(y)) if x.category() == y.category() => {
                numbers.push(OtherNumber { buffer, before: *y, now: *x });
                return None;
            }
            (Origin::Number(x), Origin::Number(y)) => format!("the number {y:?}, and then {x:?}"),
            (Origin::Constant(_), Origin::Constant(_)) => "a tensor of the function's own with other elements".into(),
            _ => "an operand from elsewhere".into(),
        };
        Some(how)
    }
}

/// Whether two numbers are the same, to the bit.
fn same_number(a: Scalar, b: Scalar) -> bool {
    match (a, b) {
        (Scalar::Float(a), Scalar::Float(b)) => a.to_bits() == b.to_bits(),
        (Scalar::Complex(a, b), Scalar::Complex(c, d)) => (a.to_bits(), b.to_bits()) == (c.to_bits(), d.to_bits()),
        (a, b) => a == b,
    }
}
