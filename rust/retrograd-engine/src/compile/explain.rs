//! What a program does, step by step, and how long its steps take.

use std::time::{Duration, Instant};

use super::program::{Place, Plan};
use super::recording::ValueId;

/// A step of a program, for people.
pub struct Explained {
    pub op: String,
    /// The operands, and the results after arrows.
    pub operands: Vec<String>,
    /// The same number for steps that are taken together, block by block.
    pub run: Option<usize>,
    /// Bytes of what the step reads and writes, but for numbers and for what is only there block by block.
    pub bytes: usize,
}

/// The steps of a plan, in their order.
pub(super) fn explained(plan: &Plan) -> Vec<Explained> {
    let place = |v: ValueId| &plan.places[plan.values[v as usize].buffer as usize];
    let name = |v: ValueId| {
        let w = &plan.values[v as usize];
        let from = match place(v) {
            Place::Input(i) => format!("argument {i}"),
            Place::Captured(_) => "captured".into(),
            Place::Grad(_) => "grad".into(),
            Place::Fixed(number) => return number.item().map_or_else(|_| "number".into(), |n| format!("{n:?}")),
            Place::Arena(_) => format!("%{}", w.buffer),
            Place::Own | Place::Made => format!("%{} (own memory)", w.buffer),
            Place::Number(i) => return format!("number {i}"),
            Place::Nowhere => format!("%{} (a block)", w.buffer),
        };
        format!("{from} {}{:?}", w.dtype.name(), &w.sizes[..])
    };
    let bytes = |v: ValueId| match place(v) {
        Place::Fixed(_) | Place::Number(_) | Place::Nowhere => 0,
        _ => {
            let w = &plan.values[v as usize];
            // An element that is repeated is one.
            let sizes = w.sizes.iter().zip(&w.strides).map(|(&n, &stride)| if stride == 0 { n.min(1) } else { n });
            sizes.product::<usize>() * w.dtype.size()
        }
    };
    let steps = plan.steps.iter().enumerate().map(|(i, planned)| {
        let (xs, outs) = (planned.step.xs.iter().flatten(), planned.step.outs.iter().flatten());
        Explained {
            op: planned.step.name(),
            bytes: xs.clone().chain(outs.clone()).map(|&v| bytes(v)).sum(),
            operands: xs.map(|&v| name(v)).chain(outs.map(|&v| format!("-> {}", name(v)))).collect(),
            run: plan.runs.iter().position(|run| run.steps.contains(&i)),
        }
    });
    steps.collect()
}

/// Is told where a replay is.
pub(super) trait Watch {
    /// The step `at` begins, and what began before has ended.
    fn begins(&mut self, at: usize);
}

/// Looks away.
pub(super) struct Nobody;

impl Watch for Nobody {
    #[inline(always)]
    fn begins(&mut self, _: usize) {}
}

/// How long each step took. That of steps which are taken together is the time of the first of them.
#[derive(Default)]
pub struct Times {
    pub of: Vec<Duration>,
    under_way: Option<Instant>,
}

impl Watch for Times {
    fn begins(&mut self, at: usize) {
        let now = Instant::now();
        if let Some(since) = self.under_way {
            self.of.push(now - since);
        }
        self.of.resize(at, Duration::ZERO);
        self.under_way = Some(Instant::now());
    }
}
