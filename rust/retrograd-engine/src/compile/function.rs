//! Functions of Rust that are recorded and replayed.

use parking_lot::Mutex;

use super::record;
use super::recording::Recording;
use super::replay::{Program, Replayed};
use crate::error::Result;
use crate::tensor::Tensor;

/// How many kinds of calls are replayed, and how many calls of one kind are recorded in the hope that two are alike.
const LIMIT: usize = 8;
const ATTEMPTS: u32 = 3;

/// A function that is recorded and replayed: see [`compile`].
pub struct Compiled<F> {
    function: F,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    programs: Vec<std::sync::Arc<Program>>,
    /// Calls that were recorded, each with how many of its kind there were.
    pending: Vec<(Recording, u32)>,
    given_up: Option<String>,
}

/// Records what `function` does, and replays it.
///
/// The first two calls of a kind run as they are, and are recorded: every op, and those of backward passes and of
/// optimizers' steps. If both did the same, later calls of that kind are replayed: no graph is made, steps that nobody
/// needs are left out, runs of pointwise steps are taken together, and memory is planned. A call is of the kind if its
/// tensors have the same sizes, strides, dtypes and `requires_grad`, and the tensors that the closure captures are
/// where they were. What the closure does besides ops is not done at a replay, and other values that it captures are
/// those of the first calls.
///
/// A function that reads elements (`item`, `to_vec`) runs as it is; [`Compiled::given_up`] says why.
///
/// ```
/// use retrograd_engine::{Tensor, compile};
/// let f = compile(|xs| Ok(vec![xs[0].mul(&xs[0])?.sin()?.sum(None)?]));
/// for i in 0..4 {
///     let x = Tensor::from_slice(&[i as f64, 1.0], &[2]).unwrap();
///     let y = f.call(&[x.clone()]).unwrap();
///     let expected = (i as f64 * i as f64).sin() + 1f64.sin();
///     assert!((y[0].item().unwrap().as_f64() - expected).abs() < 1e-12);
/// }
/// assert_eq!(f.programs(), 1);
/// ```
pub fn compile<F: Fn(&[Tensor]) -> Result<Vec<Tensor>>>(function: F) -> Compiled<F> {
    Compiled { function, state: Mutex::default() }
}

/// Ends a recording that was not ended.
struct Abandoned;

impl Drop for Abandoned {
    fn drop(&mut self) {
        record::abandon();
    }
}

impl<F: Fn(&[Tensor]) -> Result<Vec<Tensor>>> Compiled<F> {
    /// The results of the function.
    ///
    /// # Errors
    /// Those of the function.
    pub fn call(&self, inputs: &[Tensor]) -> Result<Vec<Tensor>> {
        let programs = self.state.lock().programs.clone();
        for program in programs {
            match program.replay(inputs, &[])? {
                Replayed::Done(results) => return Ok(results),
                Replayed::Busy => return (self.function)(inputs),
                Replayed::Other => {}
            }
        }
        let given_up = self.state.lock().given_up.is_some();
        if given_up || !record::modes_allow() {
            return (self.function)(inputs);
        }
        record::begin(inputs);
        let abandoned = Abandoned;
        let results = (self.function)(inputs)?;
        let recorded = record::end(&results);
        std::mem::forget(abandoned);
        let mut state = self.state.lock();
        match recorded {
            Ok(recording) => state.take(recording)?,
            Err(refusal) => state.give_up(refusal.why),
        }
        Ok(results)
    }

    /// How many kinds of calls are replayed.
    pub fn programs(&self) -> usize {
        self.state.lock().programs.len()
    }

    /// Why the function runs as it is, if it is not recorded any more.
    pub fn given_up(&self) -> Option<String> {
        self.state.lock().given_up.clone()
    }
}

impl State {
    fn give_up(&mut self, why: String) {
        self.pending.clear();
        self.programs.clear();
        self.given_up = Some(why);
    }

    /// Makes a program of a call and an earlier one that is like it.
    fn take(&mut self, recording: Recording) -> Result<()> {
        let Some(at) = self.pending.iter().position(|(before, _)| recording.has_inputs_of(before)) else {
            if self.pending.len() >= LIMIT {
                self.give_up(format!("{LIMIT} calls in a row were of different kinds"));
            } else {
                self.pending.push((recording, 1));
            }
            return Ok(());
        };
        let (before, attempts) = self.pending.swap_remove(at);
        match recording.differs(&before) {
            Ok(numbers) if numbers.is_empty() => {
                if self.programs.len() >= LIMIT {
                    self.give_up(format!("{LIMIT} kinds of calls were recorded, and this one is another"));
                } else {
                    self.programs.push(Program::new(recording, &[])?.into());
                }
            }
            how if attempts + 1 >= ATTEMPTS => {
                let how = how.err().unwrap_or_else(|| "a number among operands was another one".into());
                self.give_up(format!("no two calls did the same: {how}"));
            }
            _ => self.pending.push((recording, attempts + 1)),
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::autograd::{GradGuard, backward, engine};
    use crate::optim::Sgd;
    use crate::testing::noise;

    fn bits(xs: &[Tensor]) -> Vec<Vec<f64>> {
        xs.iter().map(|x| x.to_vec::<f64>().unwrap()).collect()
    }

    #[test]
    fn a_training_step() {
        let run = |compiled: bool| {
            let w = noise(1, &[4, 3]);
            w.set_requires_grad(true).unwrap();
            let step = |xs: &[Tensor]| {
                w.set_grad(None)?;
                let loss = xs[0].mm(&w)?.tanh()?.sum(None)?;
                backward(&loss)?;
                let grads = [w.grad().unwrap()];
                let _off = GradGuard::new(false);
                Sgd { lr: 0.1, ..Sgd::default() }.step(std::slice::from_ref(&w), &grads, &[])?;
                Ok(vec![loss])
            };
            let function = compile(step);
            let mut all = Vec::new();
            for i in 0..6 {
                let x = [noise(i, &[5, 4])];
                let results = if compiled { function.call(&x) } else { (function.function)(&x) };
                all.extend(bits(&results.unwrap()));
                all.extend(bits(&[w.clone(), w.grad().unwrap()]));
            }
            (all, w.version(), function.programs())
        };
        let (eager, replayed) = (run(false), run(true));
        assert_eq!(eager.0, replayed.0);
        assert_eq!((eager.1, eager.2, replayed.2), (replayed.1, 0, 1));
    }

    /// Of sizes around blocks, in runs that are longer than one.
    #[test]
    fn steps_that_are_taken_together() {
        for n in [super::super::blocks::FROM, 3 * 4096 * 4 + 5, 20_000] {
            let function = compile(|xs| {
                let mut y = xs[0].mul(&xs[1])?;
                for _ in 0..15 {
                    y = y.sin()?.mul(&xs[0])?.plus(0.5)?;
                }
                Ok(vec![engine::grad(&y.sum(None)?, &[&xs[0], &xs[1]], false)?.swap_remove(1).unwrap(), y])
            });
            for i in 0..4 {
                let xs = [noise(i, &[n]), noise(i + 9, &[n])];
                xs.iter().for_each(|x| x.set_requires_grad(true).unwrap());
                let (a, b) = (function.call(&xs).unwrap(), (function.function)(&xs).unwrap());
                assert_eq!(bits(&a), bits(&b));
            }
            assert_eq!(function.programs(), 1);
            let programs = function.state.lock().programs.clone();
            assert!(programs[0].in_blocks() > 40, "{}", programs[0].in_blocks());
        }
    }

    #[test]
    fn what_reads_elements_runs_as_it_is() {
        let function = compile(|xs| xs[0].times(xs[0].sum(None)?.item()?).map(|y| vec![y]));
        for i in 0..3 {
            let x = [noise(i, &[3])];
            assert_eq!(bits(&function.call(&x).unwrap()), bits(&(function.function)(&x).unwrap()));
        }
        assert!(function.given_up().unwrap().contains("item() reads elements"));
        let fails = compile(|xs| xs[0].mm(&xs[0]).map(|y| vec![y]));
        for _ in 0..3 {
            assert!(fails.call(&[noise(1, &[2, 3])]).is_err());
        }
        assert!(!record::is_recording() && fails.given_up().is_none());
    }
}
