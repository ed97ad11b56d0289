//! Layers of recurrent cells: over time, in both directions, one on the other.

use super::cell::{Cell, State, Weights, refused};
use super::sequence;
use crate::error::Result;
use crate::ops::nn::plain_dropout;
use crate::ops::view::{cat, stack, unbind};
use crate::tensor::Tensor;
use smallvec::smallvec;

/// Sequences of a batch.
pub(super) enum Steps {
    /// (time, batch, features): all of one length.
    Padded,
    /// (steps of all, features), first the first steps, longest sequence first: how many sequences have each step.
    Packed(Vec<usize>),
}

/// A stack of layers.
pub(super) struct Stack<'a> {
    pub cell: Cell,
    pub weights: Vec<Weights<'a>>,
    pub layers: usize,
    pub dropout: f64,
    pub train: bool,
    pub bidirectional: bool,
}

fn each(state: &State, f: impl Fn(&Tensor) -> Result<Tensor>) -> Result<State> {
    state.iter().map(f).collect()
}

/// Sequences `from..to` of a state.
fn part(state: &State, from: usize, to: usize) -> Result<State> {
    each(state, |x| x.narrow(0, from as i64, (to - from) as i64))
}

/// States one after the other along the batch.
fn joined(states: &[State]) -> Result<State> {
    if let [one] = states {
        return Ok(one.clone());
    }
    (0..states[0].len()).map(|k| cat(&states.iter().map(|s| s[k].clone()).collect::<Vec<_>>(), 0)).collect()
}

impl Stack<'_> {
    /// One layer in one direction: the hidden states of all steps, and the last state.
    fn pass(
        &self,
        x: &Tensor,
        steps: &Steps,
        first: &State,
        weights: &Weights,
        backwards: bool,
    ) -> Result<(Tensor, State)> {
        if self.cell == Cell::Lstm
            && matches!(steps, Steps::Padded)
            && let Some(done) = sequence::lstm(x, first, weights, backwards)?
        {
            return Ok(done);
        }
        let x = weights.of_input(x)?;
        match steps {
            Steps::Padded => {
                let mut xs = unbind(&x, 0)?;
                if backwards {
                    xs.reverse();
                }
                let mut state = first.clone();
                let mut hidden = Vec::with_capacity(xs.len());
                for x in &xs {
                    state = self.cell.step(x, &state, weights)?;
                    hidden.push(state[0].clone());
                }
                if backwards {
                    hidden.reverse();
                }
                Ok((stack(&hidden, 0)?, state))
            }
            Steps::Packed(counts) if backwards => self.pass_back(&x, counts, first, weights),
            Steps::Packed(counts) => self.pass_on(&x, counts, first, weights),
        }
    }

    /// Packed, forwards: sequences end, and leave the batch at its end.
    fn pass_on(&self, x: &Tensor, counts: &[usize], first: &State, weights: &Weights) -> Result<(Tensor, State)> {
        let (mut state, mut last, mut offset) = (first.clone(), counts[0], 0);
        let (mut hidden, mut ended) = (Vec::with_capacity(counts.len()), Vec::new());
        for &count in counts {
            if count < last {
                ended.push(part(&state, count, last)?);
                state = part(&state, 0, count)?;
                last = count;
            }
            let x = x.narrow(0, offset as i64, count as i64)?;
            offset += count;
            state = self.cell.step(&x, &state, weights)?;
            hidden.push(state[0].clone());
        }
        ended.push(state);
        ended.reverse();
        Ok((cat(&hidden, 0)?, joined(&ended)?))
    }

    /// Packed, backwards: sequences begin, and join the batch at its end.
    fn pass_back(&self, x: &Tensor, counts: &[usize], first: &State, weights: &Weights) -> Result<(Tensor, State)> {
        let mut last = counts[counts.len() - 1];
        let (mut state, mut offset) = (part(first, 0, last)?, counts.iter().sum::<usize>());
        let mut hidden = Vec::with_capacity(counts.len());
        for &count in counts.iter().rev() {
            if count > last {
                state = joined(&[state, part(first, last, count)?])?;
                last = count;
            }
            offset -= count;
            state = self.cell.step(&x.narrow(0, offset as i64, count as i64)?, &state, weights)?;
            hidden.push(state[0].clone());
        }
        hidden.reverse();
        Ok((cat(&hidden, 0)?, state))
    }

    /// All layers: the hidden states of the last one, and the last states of all.
    pub(super) fn run(&self, input: &Tensor, steps: &Steps, states: &[State]) -> Result<(Tensor, Vec<State>)> {
        let directions = 1 + usize::from(self.bidirectional);
        if states.len() != self.layers * directions {
            return Err(refused(format!(
                "Expected {} hidden states in stacked_rnn: got {} for {} layers in {directions} direction(s)",
                if states.len() < self.layers * directions { "more" } else { "less" },
                states.len(),
                self.layers
            )));
        }
        if self.weights.len() != states.len() {
            return Err(refused(format!(
                "Expected {} weights in stacked_rnn: got those of {} layers, for {}",
                if self.weights.len() < states.len() { "more" } else { "less" },
                self.weights.len(),
                states.len()
            )));
        }
        let batch = match steps {
            Steps::Padded => input.sizes()[1],
            Steps::Packed(counts) => counts[0],
        };
        for (state, weights) in states.iter().zip(&self.weights) {
            for t in state {
                if t.ndim() != 2 || t.sizes()[0] != batch {
                    let whole = |t: &[usize]| [&[states.len()], t].concat();
                    return Err(refused(format!(
                        "Expected hidden size ({}, {batch}, hidden), got {:?}",
                        states.len(),
                        whole(t.sizes())
                    )));
                }
            }
            weights.check(self.cell, state[state.len() - 1].sizes()[1])?;
        }
        let (mut x, mut ends) = (input.clone(), Vec::with_capacity(states.len()));
        for layer in 0..self.layers {
            let mut outs = Vec::with_capacity(directions);
            for k in 0..directions {
                let at = layer * directions + k;
                let (y, end) = self.pass(&x, steps, &states[at], &self.weights[at], k == 1)?;
                outs.push(y);
                ends.push(end);
            }
            x = if let [one] = &outs[..] { one.clone() } else { cat(&outs, -1)? };
            if self.dropout != 0.0 && self.train && layer + 1 < self.layers {
                x = plain_dropout(&x, self.dropout, true)?;
            }
        }
        Ok((x, ends))
    }
}

/// The states of each layer and direction, from one tensor for the hidden states and one for the cell states.
pub(super) fn split_states(whole: &[&Tensor]) -> Result<Vec<State>> {
    let parts = whole.iter().map(|x| unbind(x, 0)).collect::<Result<Vec<_>>>()?;
    let count = parts.iter().map(Vec::len).min().unwrap_or(0);
    Ok((0..count).map(|k| parts.iter().map(|p| p[k].clone()).collect()).collect())
}

/// The last states of all layers and directions: one tensor for the hidden states, one for the cell states.
pub(super) fn stacked_states(ends: &[State]) -> Result<Vec<Tensor>> {
    (0..ends[0].len()).map(|k| stack(&ends.iter().map(|s| s[k].clone()).collect::<Vec<_>>(), 0)).collect()
}

/// The weights of all layers and directions, as they come in a list.
pub(super) fn split_weights<'a>(params: &'a [Tensor], biases: bool, projects: bool) -> Result<Vec<Weights<'a>>> {
    let each = if biases { 4 } else { 2 } + usize::from(projects);
    if !params.len().is_multiple_of(each) {
        return Err(refused(format!(
            "got an incorrect number of RNN parameters: {} are not {each} for each layer and direction",
            params.len()
        )));
    }
    let weights = params.chunks_exact(each).map(|p| Weights {
        input: &p[0],
        hidden: &p[1],
        input_bias: biases.then(|| &p[2]),
        hidden_bias: biases.then(|| &p[3]),
        projection: projects.then(|| &p[each - 1]),
    });
    Ok(weights.collect())
}

/// The state of one layer in one direction.
pub(super) fn state_of(tensors: &[&Tensor]) -> State {
    let mut state: State = smallvec![];
    state.extend(tensors.iter().map(|&t| t.clone()));
    state
}
