//! What a program does, step by step, and how long its steps take.

use std::fmt::Write;
use std::time::{Duration, Instant};

use super::program::{Place, Plan};
use super::recording::ValueId;

/// The steps of a plan as text: a line for each, with the run of steps that are taken together, block by block, with
/// the bytes that it reads and writes, but for numbers and for what is only there block by block, and with its time.
pub(super) fn explained(plan: &Plan, title: &str, times: Option<&Times>) -> String {
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
    let microseconds = |time: Duration| time.as_secs_f64() * 1e6;
    let (steps, recorded, runs, arena) = (plan.steps.len(), plan.recorded, plan.runs.len(), plan.arena);
    let mut text = format!("{title}: {steps} of {recorded} steps, {runs} runs, {arena} bytes for what they make");
    let heading = if let Some(times) = times {
        let _ = write!(text, ", {:.1} us", microseconds(times.of.iter().sum()));
        "us"
    } else {
        ""
    };
    let _ = write!(text, "\n step  run       bytes {heading:>9}  op");
    for (i, planned) in plan.steps.iter().enumerate() {
        let run = plan.runs.iter().position(|run| run.steps.contains(&i));
        let is_first = run.is_none_or(|run| plan.runs[run].steps.start == i);
        let time = times.and_then(|times| times.of.get(i)).filter(|_| is_first);
        let time = time.map_or_else(String::new, |&time| format!("{:.1}", microseconds(time)));
        let run = run.map_or_else(String::new, |run| run.to_string());
        let (xs, outs) = (planned.step.xs.iter().flatten(), planned.step.outs.iter().flatten());
        let moved: usize = xs.clone().chain(outs.clone()).map(|&v| bytes(v)).sum();
        let operands: Vec<String> = xs.map(|&v| name(v)).chain(outs.map(|&v| format!("-> {}", name(v)))).collect();
        let (op, operands) = (planned.step.name(), operands.join(", "));
        let _ = write!(text, "\n{i:5} {run:>4} {moved:11} {time:>9}  {op:24} {operands}");
    }
    text
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
    of: Vec<Duration>,
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
