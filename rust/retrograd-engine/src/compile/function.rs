//! Functions of Rust that are recorded and replayed.

use std::sync::Arc;

use parking_lot::Mutex;

use super::record::{self, Refusal};
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
    kinds: Mutex<Kinds>,
}

/// The kinds of calls of a function: those that are replayed, and calls that were recorded in the hope that two are
/// alike.
///
/// Calls are of one kind if tensors of the same layout were given, and their keys are equal: what a `K` says of the
/// arguments and of the results besides that they are tensors. `Y` is what a replay gives besides tensors.
pub struct Kinds<K = (), Y = ()> {
    replayed: Vec<Arc<Kind<K, Y>>>,
    /// Each with how many of its kind there were.
    pending: Vec<(Call<K>, u32)>,
    given_up: Option<String>,
}

/// A kind of calls that is replayed.
pub struct Kind<K, Y> {
    pub arguments: K,
    pub program: Program,
    /// The result without tensors.
    pub rest: Y,
}

/// A call that was recorded.
pub struct Call<K> {
    pub arguments: K,
    pub results: K,
    pub recording: Recording,
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
    Compiled { function, kinds: Mutex::default() }
}

/// Ends a recording that was not ended.
struct Abandoned;

impl Drop for Abandoned {
    fn drop(&mut self) {
        record::abandon();
    }
}

/// What a function returns, and the recording of the call or why there is none. `tensors` are those of a result.
///
/// # Errors
/// Those of the function.
pub fn recorded<T>(
    inputs: &[Tensor],
    function: impl FnOnce() -> Result<T>,
    tensors: impl FnOnce(&T) -> Vec<Tensor>,
) -> Result<(T, Result<Recording, Refusal>)> {
    record::begin(inputs);
    let abandoned = Abandoned;
    let result = function()?;
    let recording = record::end(&tensors(&result));
    std::mem::forget(abandoned);
    Ok((result, recording))
}

impl<F: Fn(&[Tensor]) -> Result<Vec<Tensor>>> Compiled<F> {
    /// The results of the function.
    ///
    /// # Errors
    /// Those of the function.
    pub fn call(&self, inputs: &[Tensor]) -> Result<Vec<Tensor>> {
        let kinds = self.kinds.lock().replayed().to_vec();
        for kind in kinds {
            match kind.program.replay(inputs, &[])? {
                Replayed::Done(results) => return Ok(results),
                Replayed::Busy => return (self.function)(inputs),
                Replayed::Other => {}
            }
        }
        let given_up = self.kinds.lock().given_up().is_some();
        if given_up || !record::modes_allow() {
            return (self.function)(inputs);
        }
        let (results, recording) = recorded(inputs, || (self.function)(inputs), Clone::clone)?;
        let mut kinds = self.kinds.lock();
        match recording {
            Ok(recording) => kinds.take(Call { arguments: (), results: (), recording }, || Ok(()))?,
            Err(refusal) => kinds.give_up(refusal.why),
        }
        Ok(results)
    }

    /// How many kinds of calls are replayed.
    pub fn programs(&self) -> usize {
        self.kinds.lock().replayed().len()
    }

    /// Why the function runs as it is, if it is not recorded any more.
    pub fn given_up(&self) -> Option<String> {
        self.kinds.lock().given_up().map(str::to_owned)
    }
}

impl<K, Y> Default for Kinds<K, Y> {
    fn default() -> Self {
        Self { replayed: Vec::new(), pending: Vec::new(), given_up: None }
    }
}

impl<K: PartialEq, Y> Kinds<K, Y> {
    /// The kinds that are replayed.
    pub fn replayed(&self) -> &[Arc<Kind<K, Y>>] {
        &self.replayed
    }

    /// Why the function runs as it is, if it is not recorded any more.
    pub fn given_up(&self) -> Option<&str> {
        self.given_up.as_deref()
    }

    /// Records the function no more.
    pub fn give_up(&mut self, why: String) {
        *self = Self { given_up: Some(why), ..Self::default() };
    }

    /// Makes a program of a call and an earlier one that is like it, and gives up where there are too many kinds, or no
    /// two calls that are alike.
    ///
    /// # Errors
    /// If there is no memory for the program, and those of `rest`.
    pub fn take(&mut self, call: Call<K>, rest: impl FnOnce() -> Result<Y>) -> Result<()> {
        let is_like =
            |before: &Call<K>| before.arguments == call.arguments && call.recording.has_inputs_of(&before.recording);
        let Some(at) = self.pending.iter().position(|(before, _)| is_like(before)) else {
            if self.pending.len() >= LIMIT {
                self.give_up(format!("{LIMIT} calls in a row were of different kinds"));
            } else {
                self.pending.push((call, 1));
            }
            return Ok(());
        };
        let (before, attempts) = self.pending.swap_remove(at);
        let difference = match call.recording.differs(&before.recording) {
            Err(how) => Some(how),
            Ok(numbers) if !numbers.is_empty() => Some("a number among operands was another one".into()),
            Ok(_) if before.results != call.results => Some("the results were structured otherwise".into()),
            Ok(_) => None,
        };
        match difference {
            None if self.replayed.len() >= LIMIT => {
                self.give_up(format!("{LIMIT} kinds of calls were recorded, and this one is another"));
            }
            None => {
                let program = Program::new(call.recording, &[])?;
                self.replayed.push(Arc::new(Kind { arguments: call.arguments, program, rest: rest()? }));
            }
            Some(how) if attempts + 1 >= ATTEMPTS => self.give_up(format!("no two calls did the same: {how}")),
            Some(_) => self.pending.push((call, attempts + 1)),
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
            let kinds = function.kinds.lock();
            let blocks = kinds.replayed()[0].program.in_blocks();
            assert!(blocks > 40, "{blocks}");
        }
    }

    #[test]
    fn elements_that_a_run_makes_are_there_before_they_are_read() {
        let n = 3 * super::super::blocks::FROM + 7;
        let function = compile(|xs| {
            let y = xs[0].times(2.0)?;
            let z = y.mul(&xs[0])?.mul(&y.select(0, n as i64 - 1)?)?;
            Ok(vec![z.plus(0.5)?.mul(&y)?])
        });
        for i in 0..4 {
            let x = [noise(i, &[n])];
            assert_eq!(bits(&function.call(&x).unwrap()), bits(&(function.function)(&x).unwrap()));
        }
        assert_eq!(function.programs(), 1);
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
