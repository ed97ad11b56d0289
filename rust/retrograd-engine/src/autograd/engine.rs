//! The engine: from roots to leaves, each node once, in descending sequence number.
//!
//! A run gives every reachable node a dense slot. Slots are found through the node itself (`mark` holds run and slot)
//! when no other run is under way, and through a table otherwise, so that runs may overlap in threads or nest in hooks.
//! Leaves accumulate as soon as they have received all their gradients; all others in the order of their number.

mod chain;
mod deep_stack;
mod fit;
mod frame;
mod modes;
mod roots;
#[cfg(test)]
mod tests;

use smallvec::SmallVec;

use chain::Ahead;
pub use chain::{nodes_in_chains, set_chain_sizes};
pub use deep_stack::{Carried, Threads, register};
pub(crate) use fit::fit;
use fit::validate;
use frame::{Around, Entered, Frame, Slots, next_run};
pub use frame::{AtEnd, current_run, queue_callback, run_reaches, runs_are_for_all_leaves};
use modes::Modes;
pub use roots::{backward, grad, root, root_grad};

use super::anomaly;
use super::arith;
use super::finite;
use super::hooks::NodeHooks;
use super::mode;
use super::node::{Edge, Grads, NodeRef, Output, Run};
use crate::call_site::CallSite;
use crate::error::{Error, Result};
use crate::profiler;
use crate::storage::reclaim;
use crate::tensor::{Tensor, flag, layout};

/// A tensor (or edge) that differentiation starts from, with its gradient.
pub struct Root {
    pub edge: Edge,
    pub grad: Tensor,
}

/// What a run is for.
pub enum Target {
    /// Accumulate into this leaf, or into `.grad` of this non-leaf.
    Accumulate(Edge),
    /// Report the gradient that is received here.
    Capture(Edge),
}

/// Options of a run.
pub struct Backward {
    pub roots: Vec<Root>,
    pub retain_graph: bool,
    pub create_graph: bool,
    /// Empty: accumulate into every leaf.
    pub targets: Vec<Target>,
}

/// A reachable node or leaf during a run.
struct Task<'a> {
    /// An edge that leads to it: what is reachable lives as long as the roots do, which the run holds.
    vertex: &'a Edge,
    /// Where its gradients begin in [`Reachable::grads`].
    grads: usize,
    /// Where its edges begin in [`Reachable::next`].
    next: usize,
    /// Edges into this vertex from nodes that have not been processed.
    pending: u32,
    /// Differentiation starts here: hooks see the gradient whatever it is for.
    is_root: bool,
    /// The node itself runs (a captured input's own node does not, unless something behind it is needed).
    runs: bool,
    /// Captured outputs: (output, position in the result).
    captures: SmallVec<[(u32, u32); 0]>,
}

impl<'a> Task<'a> {
    fn edges(&self) -> &'a [Option<Edge>] {
        match self.vertex {
            Edge::Node(output) => &output.node.edges,
            Edge::Leaf(_) => &[],
        }
    }
    fn outputs(&self) -> usize {
        match self.vertex {
            Edge::Node(output) => output.node.outputs.len(),
            Edge::Leaf(_) => 1,
        }
    }
    /// Leaves have no number: they run as soon as they have received all their gradients.
    fn seq(&self) -> Option<u64> {
        match self.vertex {
            Edge::Node(output) => Some(output.node.seq),
            Edge::Leaf(_) => None,
        }
    }
    fn is_leaf(&self) -> bool {
        matches!(self.vertex, Edge::Leaf(_))
    }
}

/// What can be reached from the roots, by slot, and the gradients on their way through it.
#[derive(Default)]
struct Reachable<'a> {
    tasks: Vec<Task<'a>>,
    /// What each output received so far, one task after the other.
    grads: Vec<Option<Tensor>>,
    /// The slot that each edge leads to, one task after the other; [`NOWHERE`] for an edge that is none.
    next: Vec<u32>,
}

const NOWHERE: u32 = u32::MAX;

impl<'a> Reachable<'a> {
    /// Gives what `edge` leads to a slot.
    fn add(&mut self, edge: &'a Edge, slots: &mut Slots) -> u32 {
        let slot = self.tasks.len() as u32;
        slots.set(edge, slot);
        let task = Task {
            vertex: edge,
            grads: self.grads.len(),
            next: 0,
            pending: 0,
            is_root: false,
            runs: false,
            captures: SmallVec::new(),
        };
        for _ in 0..task.outputs() {
            self.grads.push(None);
        }
        self.tasks.push(task);
        slot
    }
}

/// Runs the graph. Returns the captured gradients in the order of the `Capture` targets.
pub fn run(call: Backward) -> Result<Vec<Option<Tensor>>> {
    let around = Around::here();
    let captured = if around.depth > 0 && around.depth.is_multiple_of(deep_stack::DEPTH) {
        deep_stack::run(|| run_here(call, around))
    } else {
        run_here(call, around)
    };
    // Hooks may have given parameters other memory in the midst of an op.
    reclaim::collect();
    captured
}

fn run_here(call: Backward, around: Around) -> Result<Vec<Option<Tensor>>> {
    let id = next_run();
    let mut slots = Slots::claim(id);
    let Backward { roots, retain_graph, create_graph, targets } = call;
    let (roots, root_grads): (SmallVec<[Edge; 1]>, SmallVec<[Tensor; 1]>) =
        roots.into_iter().map(|root| (root.edge, root.grad)).unzip();
    let mut reached = discover(&roots, &mut slots);
    let tasks = &mut reached.tasks;
    let (captures, needed) = mark_targets(&targets, tasks, &slots);
    let mut captured: Vec<Option<Tensor>> = vec![None; captures];
    let mut order: SmallVec<[u32; 8]> =
        (0..tasks.len() as u32).filter(|&i| tasks[i as usize].seq().is_some()).collect();
    order.sort_unstable_by_key(|&i| std::cmp::Reverse(tasks[i as usize].seq()));
    let modes = Modes::enter(create_graph);
    let _nodes = anomaly::is_on().then(|| anomaly::used(roots.iter()));
    for (edge, grad) in roots.iter().zip(root_grads) {
        let slot = slots.get(edge).expect("roots were discovered");
        let task = &mut reached.tasks[slot as usize];
        task.is_root = true;
        accumulate_input(&mut reached.grads[task.grads + edge.nr() as usize], grad, create_graph)?;
    }
    let mut frame = Frame::new(id, slots, needed, around);
    let entered = Entered::new(&mut frame);
    let frame = entered.0;
    let how = How { create_graph, retain_graph, called_at: CallSite::here(), modes: &modes };
    // Leaves that are roots themselves have nothing to wait for.
    for i in 0..reached.tasks.len() {
        if reached.tasks[i].is_leaf() && reached.tasks[i].pending == 0 {
            step(i, None, &mut reached, frame, &mut captured, how)?;
        }
    }
    let mut ahead = Vec::new();
    for (at, &i) in order.iter().enumerate() {
        let i = i as usize;
        if chain::is_large(reached.grads.get(reached.tasks[i].grads)) {
            ahead = chain::start(&order[at..], &reached, frame, how)?;
        }
        for leaf in step(i, ahead.pop(), &mut reached, frame, &mut captured, how)? {
            step(leaf as usize, None, &mut reached, frame, &mut captured, how)?;
        }
    }
    drop(modes);
    frame.finish()?;
    Ok(captured)
}

#[derive(Clone, Copy)]
struct How<'a> {
    create_graph: bool,
    retain_graph: bool,
    called_at: CallSite,
    modes: &'a Modes,
}

/// Every node and leaf that can be reached from the roots, with the number of edges into it.
fn discover<'a>(roots: &'a [Edge], slots: &mut Slots) -> Reachable<'a> {
    let mut reached = Reachable::default();
    for root in roots {
        if slots.get(root).is_none() {
            reached.add(root, slots);
        }
    }
    let mut at = 0;
    while at < reached.tasks.len() {
        reached.tasks[at].next = reached.next.len();
        for edge in reached.tasks[at].edges() {
            let slot = match edge {
                Some(edge) => {
                    let slot = slots.get(edge).unwrap_or_else(|| reached.add(edge, slots));
                    reached.tasks[slot as usize].pending += 1;
                    slot
                }
                None => NOWHERE,
            };
            reached.next.push(slot);
        }
        at += 1;
    }
    reached
}

/// Whether the graph behind `outputs`, or behind tangents of theirs, reaches a leaf that is none of `inputs`: what is
/// computed from it has a history even without them. Leaves of transforms that ended do not count.
pub fn leads_elsewhere(outputs: &[Tensor], inputs: &[Tensor]) -> Result<bool> {
    let mut edges = Vec::new();
    let mut values: SmallVec<[Tensor; 4]> = outputs.iter().map(Tensor::physical).collect();
    while let Some(y) = values.pop() {
        edges.extend(y.grad_edge()?);
        // A tangent has tangents of its own, at the levels outside.
        values.extend(y.tangents()?.iter().map(Tensor::physical));
    }
    edges_lead_elsewhere(edges, inputs)
}

/// As [`leads_elsewhere`], from edges on.
pub(crate) fn edges_lead_elsewhere(edges: impl IntoIterator<Item = Edge>, inputs: &[Tensor]) -> Result<bool> {
    let inputs: SmallVec<[Tensor; 2]> = inputs.iter().map(Tensor::physical).collect();
    let mut slots = Slots::claim(next_run());
    let mut todo: Vec<Edge> = edges.into_iter().collect();
    while let Some(edge) = todo.pop() {
        if slots.get(&edge).is_some() {
            continue;
        }
        slots.set(&edge, 0);
        match &edge {
            Edge::Leaf(leaf) if leaf.has_flag(flag::CLOSED) || inputs.iter().any(|x| x.is_same(leaf)) => {}
            Edge::Leaf(_) => return Ok(true),
            Edge::Node(output) => todo.extend(output.node.edges.iter().flatten().cloned()),
        }
    }
    Ok(false)
}

/// Decides which nodes are needed and which run. Returns the number of captures, and by slot what is needed (empty:
/// everything).
fn mark_targets(targets: &[Target], tasks: &mut [Task], slots: &Slots) -> (usize, Vec<bool>) {
    if targets.is_empty() {
        for v in tasks {
            v.runs = true;
        }
        return (0, Vec::new());
    }
    let mut needed = vec![false; tasks.len()];
    let mut captures = 0;
    for target in targets {
        match target {
            Target::Capture(edge) => {
                let position = captures;
                captures += 1;
                if let Some(slot) = slots.get(edge) {
                    needed[slot as usize] = true;
                    tasks[slot as usize].captures.push((edge.nr(), position));
                }
            }
            Target::Accumulate(edge) => {
                if let Some(slot) = slots.get(edge) {
                    needed[slot as usize] = true;
                    tasks[slot as usize].runs = true;
                }
            }
        }
    }
    // From the earliest node on, so that what a node leads to is decided before the node.
    let mut order: Vec<u32> = (0..tasks.len() as u32).collect();
    order.sort_unstable_by_key(|&i| tasks[i as usize].seq());
    for i in order {
        let mut edges = tasks[i as usize].edges().iter().flatten();
        if edges.any(|e| slots.get(e).is_some_and(|s| needed[s as usize])) {
            needed[i as usize] = true;
            tasks[i as usize].runs = true;
        }
    }
    (captures as usize, needed)
}

/// Adds a gradient to what an output received so far.
fn accumulate_input(sum: &mut Option<Tensor>, grad: Tensor, create_graph: bool) -> Result<()> {
    *sum = Some(match sum.take() {
        None => grad,
        Some(sum) => super::accumulate::add(sum, &grad, create_graph)?,
    });
    Ok(())
}

/// Leaves that have received all their gradients.
type Ready = SmallVec<[u32; 4]>;

/// Processes a node or leaf that has received all its gradients: hooks, captures, rule or accumulation, and the edges.
/// Returns the leaves that are to be processed next. The rule of a node that is `ahead` has run.
fn step(
    i: usize,
    ahead: Option<Ahead>,
    reached: &mut Reachable,
    frame: &Frame,
    captured: &mut [Option<Tensor>],
    how: How<'_>,
) -> Result<Ready> {
    let task = &reached.tasks[i];
    let vertex = task.vertex;
    let grads = &mut reached.grads[task.grads..][..task.outputs()];
    let next = &reached.next[task.next..][..task.edges().len()];
    let _evaluation = match vertex {
        Edge::Node(output) => profiler::evaluation(Some(&output.node)),
        Edge::Leaf(_) => profiler::evaluation(None),
    };
    let (needed, arrived) = (frame.needs(i as u32), grads.iter().any(Option::is_some));
    let wanted = needed && arrived;
    let shown = arrived && (needed || task.is_root);
    let results = anomaly::watched(
        || vertex.output().node,
        || {
            if shown {
                match vertex {
                    Edge::Node(output) => tensor_hooks(&output.node, grads)?,
                    Edge::Leaf(leaf) => leaf_hooks(leaf, &mut grads[0])?,
                }
                for &(nr, position) in &task.captures {
                    captured[position as usize] = grads[nr as usize].clone();
                }
            }
            if let Some(ahead) = ahead {
                return ahead.finish(how);
            }
            match vertex {
                Edge::Leaf(leaf) if wanted && task.runs => run_leaf(leaf, grads, how).map(|()| Grads::new()),
                Edge::Node(Output { node, .. }) if task.runs && (wanted || needed && node.rule.takes_nothing()) => {
                    run_node(node, grads, next, frame, how)
                }
                _ => Ok(Grads::new()),
            }
        },
    )?;
    // Before they are handed on: a result that is one of them is then nobody else's.
    for grad in grads {
        *grad = None;
    }
    how.modes.again();
    match vertex {
        Edge::Leaf(_) => Ok(Ready::new()),
        Edge::Node(output) => propagate(i, &output.node, results, reached, frame, how),
    }
}

fn run_node(node: &NodeRef, grads: &mut [Option<Tensor>], next: &[u32], frame: &Frame, how: How<'_>) -> Result<Grads> {
    if let Some(hooks) = node.hooks.get() {
        pre_hooks(hooks, grads)?;
    }
    let run = Run { create_graph: how.create_graph, frees: !how.retain_graph, needs: needed_inputs(next, frame) };
    let mut results = {
        let _rule = profiler::rule(Some(node), grads);
        node.rule.apply(node, grads, run)?
    };
    if node.rule.op().is_none() && mode::word() & mode::DETECT_NAN != 0 {
        finite::check_rule(node, &results, grads, || saved_by(node), mode::word())?;
    }
    let finished = finish_node(node, &mut results, grads);
    if !how.retain_graph
        && let Some(saved) = node.rule.saved_slots()
    {
        match &finished {
            Ok(()) => saved.release(how.called_at),
            Err(_) => saved.unclaim(run),
        }
    }
    finished.map(|()| results)
}

/// What a foreign rule saved, as far as it can still be had.
fn saved_by(node: &NodeRef) -> Vec<(String, Tensor)> {
    let saved = node.rule.saved_slots().and_then(|saved| saved.unpack(node, false).ok()).unwrap_or_default();
    finite::saved_names(node, &saved)
}

fn finish_node(node: &NodeRef, results: &mut Grads, grads: &[Option<Tensor>]) -> Result<()> {
    validate(node, results)?;
    if let Some(hooks) = node.hooks.get() {
        let mut shown = node.shown(results);
        post_hooks(hooks, &mut shown, grads)?;
        node.put_shown(shown, results);
    }
    Ok(())
}

fn pre_hooks(hooks: &NodeHooks, grads: &mut [Option<Tensor>]) -> Result<()> {
    let pre: Vec<_> = hooks.pre.lock().iter().map(|(_, h)| h.clone()).collect();
    for hook in pre {
        if let Some(new) = hook.call(grads)? {
            finite::check_hook(&new, grads)?;
            if new.len() != grads.len() {
                let (had, has) = (grads.len(), new.len());
                return Err(Error::autograd(format!(
                    "a hook has returned an incorrect number of values (expected {had}, but got {has})"
                )));
            }
            for (grad, new) in grads.iter_mut().zip(new) {
                *grad = new;
            }
        }
    }
    Ok(())
}

fn post_hooks(hooks: &NodeHooks, results: &mut Grads, grads: &[Option<Tensor>]) -> Result<()> {
    let post: Vec<_> = hooks.post.lock().iter().map(|(_, h)| h.clone()).collect();
    for hook in post {
        if let Some(new) = hook.call(results, grads)? {
            finite::check_hook(&new, results)?;
            *results = new;
        }
    }
    Ok(())
}

/// Hands a node's results to what is next, and counts its edges as dealt with. Returns the leaves that became ready.
fn propagate(
    i: usize,
    node: &NodeRef,
    mut results: Grads,
    reached: &mut Reachable,
    frame: &Frame,
    how: How<'_>,
) -> Result<Ready> {
    let mut ready = Ready::new();
    let first = reached.tasks[i].next;
    for (i, edge) in node.edges.iter().enumerate() {
        let Some(edge) = edge else { continue };
        let slot = reached.next[first + i];
        let next = &mut reached.tasks[slot as usize];
        if let Some(g) = results.get_mut(i).and_then(Option::take)
            && frame.needs(slot)
        {
            let sum = &mut reached.grads[next.grads + edge.nr() as usize];
            if sum.is_none() {
                *sum = Some(g);
            } else {
                let add = || accumulate_input(sum, g, how.create_graph);
                anomaly::watched(|| node.clone(), || add().map(|()| Grads::new()))?;
            }
        }
        next.pending -= 1;
        if next.pending == 0 && next.is_leaf() {
            ready.push(slot);
        }
    }
    Ok(ready)
}

/// The inputs whose gradients are needed, as [`Run::needs`] has them; `next` are the slots that their edges lead to.
fn needed_inputs(next: &[u32], frame: &Frame) -> u32 {
    let mut needs = 0;
    for (i, &slot) in next.iter().enumerate() {
        if slot != NOWHERE && frame.needs(slot) {
            needs |= 1 << i.min(31);
        }
    }
    needs
}

fn leaf_hooks(leaf: &Tensor, grad: &mut Option<Tensor>) -> Result<()> {
    let Some(meta) = leaf.inner().meta.get() else { return Ok(()) };
    let hooks: SmallVec<[_; 2]> = meta.hooks.lock().iter().map(|(_, h)| h.clone()).collect();
    hooks.iter().try_for_each(|hook| call_tensor_hook(&**hook, grad))
}

fn tensor_hooks(node: &NodeRef, grads: &mut [Option<Tensor>]) -> Result<()> {
    let Some(hooks) = node.hooks.get() else { return Ok(()) };
    let list: Vec<_> = hooks.tensor.lock().iter().map(|(_, h)| h.clone()).collect();
    for (nr, hook) in list {
        call_tensor_hook(&*hook, &mut grads[nr as usize])?;
    }
    let retained: Vec<_> = hooks.retain.lock().iter().map(|(nr, t)| (*nr, t.clone())).collect();
    for (nr, weak) in retained {
        if let (Some(t), Some(g)) = (weak.upgrade(), &grads[nr as usize]) {
            retain(&t, g)?;
        }
    }
    Ok(())
}

fn call_tensor_hook(hook: &dyn super::hooks::TensorHook, grad: &mut Option<Tensor>) -> Result<()> {
    if let Some(new) = hook.call(grad.as_ref())? {
        let old = grad.replace(new);
        finite::check_hook(std::slice::from_ref(grad), &[old])?;
    }
    Ok(())
}

/// Adds to `.grad` of a non-leaf; a new tensor each time.
fn retain(t: &Tensor, g: &Tensor) -> Result<()> {
    let current = t.meta().grad.lock().clone();
    let next = match current {
        None if g.is_sparse() => arith::cloned(g)?,
        None => arith::clone_strided(g, &layout::contiguous_strides(g.sizes()))?,
        Some(old) if old.is_sparse() && !g.is_sparse() => g.add(&old)?,
        Some(old) => old.add(g)?,
    };
    let old = t.meta().grad.lock().replace(next);
    drop(old);
    Ok(())
}

/// Accumulates into a leaf; its node takes part only if somebody holds it, for its hooks.
fn run_leaf(leaf: &Tensor, grads: &mut [Option<Tensor>], how: How<'_>) -> Result<()> {
    let node = leaf.live_accumulator();
    let hooks = node.as_ref().and_then(|n| n.hooks.get());
    if let Some(hooks) = hooks {
        pre_hooks(hooks, grads)?;
    }
    // Post hooks are shown the gradient, which then cannot become `.grad` itself.
    let shown = if hooks.is_some() { Grads::from(&*grads) } else { Grads::new() };
    let rule = profiler::rule(None, grads);
    if let Some(g) = grads[0].take() {
        // A leaf may have been detached after its use: then hooks see the gradient, and nothing is stored.
        if leaf.has_history() {
            return Err(Error::autograd(
                "leaf variable has been moved into the graph interior: it was detached in place after an op used it, and \
                 then written to by an op that is part of a graph. Write to a clone of it.",
            ));
        }
        if leaf.requires_grad() {
            super::accumulate::accumulate(leaf, g, how.create_graph)?;
        }
        drop(rule);
        if let Some(meta) = leaf.inner().meta.get() {
            let hooks: SmallVec<[_; 2]> = meta.post_accumulate.lock().iter().map(|(_, h)| h.clone()).collect();
            hooks.iter().try_for_each(|hook| hook.call(leaf))?;
        }
    }
    match hooks {
        Some(hooks) => post_hooks(hooks, &mut Grads::new(), &shown),
        None => Ok(()),
    }
}
