//! The backward pass of a replayed function: a program of its own, which a node runs.

use std::any::Any;
use std::borrow::Cow;
use std::sync::Arc;

use parking_lot::Mutex;

use super::compare::OtherNumber;
use super::recording::{Buffer, Joint, LeafOf, Origin, Output, Recording, ValueId};
use super::replay::{Program, Replayed};
use crate::autograd::node::{Grads, Node, NodeRef, OutMeta, Rule, Run};
use crate::error::{Error, Result};
use crate::tensor::{Scalar, Tensor, copy};

/// Where the backward pass finds what it needs of the call.
#[derive(Clone, Copy, Debug)]
pub(super) enum Kept {
    /// Among the additional results of the forward program.
    Result(usize),
    /// This argument.
    Argument(usize),
}

/// What is left to do when somebody differentiates the results.
pub(super) struct BackwardProgram {
    program: Program,
    kept: Vec<Kept>,
    wanted: Vec<LeafOf>,
    /// The results that have a history.
    pub live: Vec<usize>,
    /// Captured tensors that the pass reads.
    reads: Vec<Tensor>,
}

/// Parts a recording into the function, with what its backward pass needs as additional results, and that pass.
pub(super) fn parted(
    mut recording: Recording,
    numbers: &[OtherNumber],
    word: u32,
) -> Result<(Recording, Option<Arc<BackwardProgram>>)> {
    let Some(Joint { first, live, wanted, grads }) = recording.backward.take() else { return Ok((recording, None)) };
    let arguments = recording.inputs.len() - live.len();
    let steps = recording.steps.split_off(first);
    let cotangents = recording.inputs.split_off(arguments);
    let values = &recording.values;
    let buffer = |v: ValueId| values[v as usize].buffer as usize;
    let mut made = vec![false; recording.buffers.len()];
    for step in &recording.steps {
        step.outs.iter().flatten().for_each(|&v| made[buffer(v)] = true);
        step.written().iter().for_each(|&v| made[buffer(v)] = true);
    }
    let mut inputs = cotangents;
    let mut buffers: Vec<Buffer> = Vec::with_capacity(recording.buffers.len());
    for old in &recording.buffers {
        let origin = match &old.origin {
            Origin::Input(i) if *i >= arguments => Origin::Input(i - arguments),
            other => other.clone(),
        };
        buffers.push(Buffer { origin, bytes: old.bytes, storage: old.storage.clone() });
    }
    let (mut kept, mut additional, mut reads) = (Vec::new(), Vec::new(), Vec::new());
    let mut met = vec![false; buffers.len()];
    let used = steps.iter().flat_map(|step| step.xs.iter().flatten().copied()).chain(grads.iter().flatten().copied());
    for v in used {
        let b = buffer(v);
        if std::mem::replace(&mut met[b], true) {
            continue;
        }
        let how = match &recording.buffers[b].origin {
            Origin::Input(i) if *i < arguments => Kept::Argument(*i),
            Origin::Step | Origin::Constant(_) if made[b] => {
                additional.push(v);
                Kept::Result(additional.len() - 1)
            }
            Origin::Captured(x) => {
                reads.push(x.clone());
                continue;
            }
            _ => continue,
        };
        // The window that the pass is given: an argument is given as it is.
        let shown = match how {
            Kept::Argument(i) => recording.inputs[i].alias(),
            Kept::Result(_) => {
                let w = &values[v as usize];
                Tensor::from_parts(recording.buffers[b].storage.clone(), w.dtype, &w.sizes, &w.strides, w.offset)?
            }
        };
        buffers[b].origin = Origin::Input(inputs.len());
        inputs.push(shown);
        kept.push(how);
    }
    let outputs = grads.iter().flatten().map(|&value| Output { value, has_history: false, is_itself: false }).collect();
    let present: Vec<bool> = grads.iter().map(Option::is_some).collect();
    let backward = Recording {
        inputs,
        buffers,
        values: recording.values.clone(),
        steps,
        leaves: Vec::new(),
        outputs,
        backward: None,
    };
    let wanted: Vec<LeafOf> = wanted.into_iter().zip(present).filter(|(_, is)| *is).map(|(leaf, _)| leaf).collect();
    let program = Program::of(backward, numbers, word, None)?;
    recording.outputs.extend(additional.into_iter().map(|value| Output {
        value,
        has_history: false,
        is_itself: false,
    }));
    Ok((recording, Some(Arc::new(BackwardProgram { program, kept, wanted, live, reads }))))
}

/// The rule of the node of a replayed call.
struct Replay {
    backward: Arc<BackwardProgram>,
    /// None once it was freed.
    saved: Mutex<Option<Vec<Tensor>>>,
    /// The versions of arguments and captured tensors that the pass reads.
    versions: Vec<(Tensor, u32)>,
    numbers: Vec<Scalar>,
}

impl BackwardProgram {
    /// How many results of the forward program are for the backward pass.
    pub fn additional(&self) -> usize {
        self.kept.iter().filter(|kept| matches!(kept, Kept::Result(_))).count()
    }

    /// Makes results the outputs of a node. `additional` are those that were made for the backward pass.
    pub fn attach(
        self: &Arc<Self>,
        results: &mut [Tensor],
        additional: &[Tensor],
        inputs: &[Tensor],
        numbers: &[Scalar],
    ) -> Result<()> {
        let mut versions: Vec<(Tensor, u32)> = self.reads.iter().map(|x| (x.clone(), x.version())).collect();
        let mut saved = Vec::with_capacity(self.kept.len());
        for kept in &self.kept {
            saved.push(match *kept {
                Kept::Result(i) => additional[i].clone(),
                Kept::Argument(i) => {
                    let x = inputs[i].alias();
                    versions.push((x.clone(), x.version()));
                    x
                }
            });
        }
        let edges = self.wanted.iter().map(|leaf| leaf.of(inputs).grad_edge()).collect::<Result<_>>()?;
        for &i in &self.live {
            // A result of its own, also where it is the memory of an argument.
            results[i] = results[i].alias();
        }
        let outputs = self.live.iter().map(|&i| OutMeta::of(&results[i])).collect();
        let saved = Mutex::new(Some(saved));
        let rule = Replay { backward: self.clone(), saved, versions, numbers: numbers.to_vec() };
        let node: NodeRef = Node::new(rule, edges, outputs);
        for (nr, &i) in self.live.iter().enumerate() {
            results[i].set_history(crate::autograd::node::Output { node: node.clone(), nr: nr as u32 });
        }
        Ok(())
    }
}

impl Rule for Replay {
    fn name(&self) -> Cow<'static, str> {
        "CompiledFunctionBackward".into()
    }
    fn apply(&self, node: &NodeRef, grads: &[Option<Tensor>], run: Run) -> Result<Grads> {
        if run.create_graph {
            return Err(Error::autograd(
                "torch.compile with aot_autograd does not currently support double backward: call the function without \
                 compile, or take the inner gradient inside of it",
            ));
        }
        for (x, version) in &self.versions {
            if x.version() != *version {
                return Err(Error::autograd(format!(
                    "one of the variables needed for gradient computation has been modified by an inplace operation: {} {:?}, \
                     which a compiled function has used, is at version {}; expected version {version} instead",
                    x.dtype().name(),
                    x.sizes(),
                    x.version()
                )));
            }
        }
        let kept = if run.frees { self.saved.lock().take() } else { self.saved.lock().clone() };
        let Some(kept) = kept else {
            return Err(Error::autograd(
                "Trying to backward through the graph a second time (or directly access saved tensors after they have \
                 already been freed). Saved intermediate values of the graph are freed when you call .backward() or \
                 autograd.grad(). Specify retain_graph=True if you need to backward through the graph a second time: the \
                 compiled function keeps what it has saved then.",
            ));
        };
        let mut inputs = Vec::with_capacity(grads.len() + kept.len());
        for (g, meta) in grads.iter().zip(&node.outputs) {
            inputs.push(match g {
                Some(g) => copy::contiguous(g)?.detach(),
                None => Tensor::zeros(&meta.sizes, meta.dtype)?,
            });
        }
        inputs.extend(kept);
        match self.backward.program.replay(&inputs, &self.numbers)? {
            Replayed::Done(grads) => Ok(grads.into_iter().map(Some).collect()),
            Replayed::Other | Replayed::Busy => Err(Error::autograd(
                "compile: the backward pass of a compiled function was asked for in modes, or with tensors, that are not those \
                 of its recording: call the function without compile",
            )),
        }
    }
    fn as_any(&self) -> &dyn Any {
        self
    }
}
