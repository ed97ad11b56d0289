//! Chains of pointwise nodes, of large gradients: all of their rules on one block of elements, and then on the next.
//!
//! A rule reads the gradient and what its op saved, and writes a gradient that the next rule reads again. Of more
//! elements than the caches hold, each of these is a way to memory and back. The rule of a pointwise op is one of each
//! element alone ([`Batch::Pointwise`](crate::autograd::Batch)), so several that lead to one another can run on a
//! block of elements, of which the gradients between them are still in the cache when they are read, and so are the
//! parts of a gradient that several of them send to one place.
//!
//! The rules are those of the ops: they are given blocks of the gradient and of saved tensors as tensors of one axis.
//! What leaves the chain is written, block by block, to gradients of full size. Each node still gets its turn, in which
//! its gradients are handed on and its saved tensors are freed, so sums have the order that they always have. One block
//! is computed before all others; what is not as a chain needs it, failures among it, has all nodes run one by one.

use std::ops::Range;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};

use smallvec::SmallVec;

use super::super::anomaly;
use super::super::apply::run_rule;
use super::super::arith;
use super::super::erased::Batching;
use super::super::mode::{self, GradGuard};
use super::super::node::{Edge, Grads, NodeRef, Run};
use super::super::saved::SavedTensors;
use super::fit::validate;
use super::frame::Frame;
use super::{How, Reachable, needed_inputs};
use crate::error::Result;
use crate::interrupt;
use crate::kernels::parallel::split;
use crate::kernels::pointwise::copy_part;
use crate::storage::reclaim::reading;
use crate::tensor::{DType, Tensor};

/// From how many elements on nodes are run together.
static FROM: AtomicUsize = AtomicUsize::new(1 << 18);
/// Elements of a block.
static BLOCK: AtomicUsize = AtomicUsize::new(1 << 14);
/// How many nodes have run together with others.
static RAN: AtomicU64 = AtomicU64::new(0);

/// How many gradients of full size may leave a chain: they are there at the same time as all that its nodes have saved.
const PLACES: usize = 3;
/// How many nodes a chain may have: finding them takes time of the second order.
const LONGEST: usize = 64;

/// Modes in which each rule runs alone: somebody sees it, or what it returns, or its ops do something else.
const ALONE: u32 = mode::SPECIAL | mode::AUTOCAST | mode::INFERENCE | mode::INSIDE | mode::WATCH_WRITES;

/// Sets from how many elements on nodes are run together, and how many elements a block has. Returns what they were.
/// For tests: gradients have the same bits whatever these are.
pub fn set_chain_sizes(from: usize, block: usize) -> (usize, usize) {
    (FROM.swap(from, Ordering::Relaxed), BLOCK.swap(block.max(1), Ordering::Relaxed))
}

/// How many nodes of this process have run together with others.
pub fn nodes_in_chains() -> u64 {
    RAN.load(Ordering::Relaxed)
}

/// Whether a gradient is of so many elements that [`start`] is worth a call.
#[inline]
pub(super) fn is_large(grad: Option<&Option<Tensor>>) -> bool {
    matches!(grad, Some(Some(g)) if g.numel() >= FROM.load(Ordering::Relaxed))
}

/// A node whose rule has run, and whose turn has not come.
pub(super) struct Ahead<'a> {
    node: &'a NodeRef,
    run: Run,
    grads: Grads,
    /// Its saved tensors are the run's.
    claimed: bool,
}

impl Ahead<'_> {
    /// The node's turn: its gradients, as they are handed on. Who wrote to saved tensors meanwhile, as to a `.grad`
    /// that an op has used, is told.
    pub fn finish(mut self, how: How<'_>) -> Result<Grads> {
        let saved = self.node.rule.saved_slots();
        if let Some(saved) = saved {
            saved.check_versions(self.node)?;
        }
        let mut grads = std::mem::take(&mut self.grads);
        validate(self.node, &mut grads)?;
        if let (Some(saved), false) = (saved, how.retain_graph) {
            saved.release(how.called_at);
        }
        self.claimed = false;
        Ok(grads)
    }
}

impl Drop for Ahead<'_> {
    fn drop(&mut self) {
        if let (Some(saved), true) = (self.node.rule.saved_slots(), self.claimed) {
            saved.unclaim(self.run);
        }
    }
}

/// Runs the rules of the nodes from the first of `order` on, as far as they are a chain. Returns them, the last one
/// first; none if there is no chain.
pub(super) fn start<'a>(order: &[u32], reached: &Reachable<'a>, frame: &Frame, how: How<'_>) -> Result<Vec<Ahead<'a>>> {
    if how.create_graph || mode::word() & ALONE != 0 || anomaly::is_on() {
        return Ok(Vec::new());
    }
    let _reading = reading();
    let Some(g) = &reached.grads[reached.tasks[order[0] as usize].grads] else { return Ok(Vec::new()) };
    let chain = Chain::of(order, g, reached, frame, !how.retain_graph);
    if chain.links.len() < 2 {
        return Ok(Vec::new());
    }
    let mut ahead = Vec::with_capacity(chain.links.len());
    let mut saved = Vec::with_capacity(chain.links.len());
    for link in &chain.links {
        match link.node.rule.saved_slots().map(|slots| slots.unpack_for(link.node, link.run)) {
            None => saved.push(SavedTensors::new()),
            Some(Ok(values)) => saved.push(values),
            // The node says so when its turn comes.
            Some(Err(_)) => return Ok(Vec::new()),
        }
        ahead.push(Ahead { node: link.node, run: link.run, grads: Grads::new(), claimed: true });
    }
    let blocks = Blocks { chain: &chain, saved: &saved, g, block: BLOCK.load(Ordering::Relaxed) };
    let Some(grads) = blocks.all()? else { return Ok(Vec::new()) };
    for (ahead, grads) in ahead.iter_mut().zip(grads) {
        ahead.grads = grads;
    }
    RAN.fetch_add(ahead.len() as u64, Ordering::Relaxed);
    ahead.reverse();
    Ok(ahead)
}

/// A node of a chain.
struct Link<'a> {
    slot: u32,
    node: &'a NodeRef,
    run: Run,
    /// Where the gradient goes that each edge takes.
    ways: SmallVec<[Way; 3]>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Way {
    /// Nobody wants it.
    Nowhere,
    /// To another node of the chain, by its number there.
    On(usize),
    /// Out of the chain, to this place among [`Chain::places`].
    Out(usize),
}

/// Where a gradient goes that leaves a chain.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Place {
    /// To this output of what has the slot, where nothing else has arrived: what the chain sends there is added up.
    Sum(u32, u32),
    /// It is handed on alone, by this edge of the node with the slot.
    Alone(u32, usize),
}

/// Nodes that follow one another in the order of the run. All but the first receive what others among them send, and
/// nothing else.
#[derive(Default)]
struct Chain<'a> {
    links: SmallVec<[Link<'a>; 8]>,
    places: SmallVec<[Place; 4]>,
}

impl<'a> Chain<'a> {
    /// The chain that begins with the first of `order`, whose gradient is `g`.
    fn of(order: &[u32], g: &Tensor, reached: &Reachable<'a>, frame: &Frame, frees: bool) -> Self {
        let mut chain = Self::default();
        if !is_plain(g) || !g.dtype().is_floating() || !(g.is_contiguous() || is_one_number(g)) {
            return chain;
        }
        // As many of the first nodes as send gradients to few places.
        let mut length = 0;
        for &slot in &order[..order.len().min(LONGEST)] {
            if !chain.links.is_empty() && !chain.sends_all(slot, reached) {
                break;
            }
            let Some(link) = Link::of(slot, g, reached, frame, frees) else { break };
            chain.places.retain(|place| !matches!(place, Place::Sum(to, _) if *to == slot));
            let mut silent = true;
            for (_, edge, place) in link.wanted(g, reached) {
                silent &= is_silent(edge);
                if !chain.places.contains(&place) {
                    chain.places.push(place);
                }
            }
            chain.links.push(link);
            if chain.places.len() <= PLACES {
                length = chain.links.len();
            }
            // A hook would run before the next node.
            if !silent {
                break;
            }
        }
        chain.links.truncate(length);
        chain.lay_ways(g, reached);
        chain
    }

    /// Whether the nodes send all that a node receives.
    fn sends_all(&self, slot: u32, reached: &Reachable) -> bool {
        let task = &reached.tasks[slot as usize];
        let outputs = &reached.grads[task.grads..][..task.outputs()];
        let sent = self.links.iter().flat_map(|link| next_of(link.slot, reached)).filter(|&&to| to == slot).count();
        sent == task.pending as usize && outputs.iter().all(Option::is_none) && task.captures.is_empty()
    }

    /// Notes where the gradients of each edge go, now that it is known which nodes there are.
    fn lay_ways(&mut self, g: &Tensor, reached: &Reachable<'a>) {
        self.places.clear();
        let slots: SmallVec<[u32; 8]> = self.links.iter().map(|link| link.slot).collect();
        for link in &mut self.links {
            let mut ways = SmallVec::from_elem(Way::Nowhere, link.node.edges.len());
            for (i, _, place) in link.wanted(g, reached) {
                let inside = slots.iter().position(|&slot| matches!(place, Place::Sum(to, _) if to == slot));
                ways[i] = match inside {
                    Some(at) => Way::On(at),
                    None => Way::Out(self.places.iter().position(|&known| known == place).unwrap_or_else(|| {
                        self.places.push(place);
                        self.places.len() - 1
                    })),
                };
            }
            link.ways = ways;
        }
    }
}

impl<'a> Link<'a> {
    /// The node with this slot, if it runs, and its rule can run on blocks of a gradient like `g`.
    fn of(slot: u32, g: &Tensor, reached: &Reachable<'a>, frame: &Frame, frees: bool) -> Option<Self> {
        let task = &reached.tasks[slot as usize];
        let Edge::Node(output) = task.vertex else { return None };
        let run = Run { create_graph: false, frees, needs: needed_inputs(next_of(slot, reached), frame) };
        let runs = task.runs && frame.needs(slot) && run.needs != 0 && runs_in_blocks(&output.node, g);
        runs.then(|| Self { slot, node: &output.node, run, ways: SmallVec::new() })
    }

    /// The edges whose gradients are wanted, with their numbers, and where these go if they leave the chain.
    fn wanted(&self, g: &Tensor, reached: &Reachable<'a>) -> impl Iterator<Item = (usize, &'a Edge, Place)> {
        self.node.edges.iter().enumerate().filter_map(move |(i, edge)| {
            let edge = edge.as_ref().filter(|_| self.run.needs(i))?;
            let (to, nr) = (next_of(self.slot, reached)[i], edge.nr());
            let received = reached.grads[reached.tasks[to as usize].grads + nr as usize].is_some();
            let adds_up = !received && edge.expects() == (g.sizes(), g.dtype());
            Some((i, edge, if adds_up { Place::Sum(to, nr) } else { Place::Alone(self.slot, i) }))
        })
    }
}

/// The slots that the edges of a node lead to.
fn next_of<'r>(slot: u32, reached: &'r Reachable) -> &'r [u32] {
    let task = &reached.tasks[slot as usize];
    &reached.next[task.next..][..task.edges().len()]
}

/// Whether the rule of a node can run on blocks of a gradient like `g`.
fn runs_in_blocks(node: &NodeRef, g: &Tensor) -> bool {
    let [output] = &node.outputs[..] else { return false };
    let fits = |x: &Tensor| is_plain(x) && (x.ndim() == 0 || x.is_contiguous() && x.sizes() == g.sizes());
    output.dtype == g.dtype()
        && output.sizes[..] == *g.sizes()
        && node.hooks.get().is_none()
        && node.edges.len() <= 31
        && node.rule.op().is_some_and(|op| op.facts().batch == Batching::Pointwise)
        && node.rule.saved_slots().is_none_or(|slots| slots.hold_only(&fits))
}

/// Whether nothing of the host language runs when a gradient arrives.
fn is_silent(edge: &Edge) -> bool {
    let Edge::Leaf(leaf) = edge else { return true };
    let hooked = leaf.live_accumulator().is_some_and(|node| node.hooks.get().is_some());
    let meta = leaf.inner().meta.get();
    !hooked && meta.is_none_or(|meta| meta.hooks.lock().is_empty() && meta.post_accumulate.lock().is_empty())
}

/// Whether a tensor is its elements and no more.
fn is_plain(x: &Tensor) -> bool {
    !x.is_batched() && !x.may_have_tangent() && !x.lazy_bits().any()
}

/// Whether all elements are one place in memory, as in the gradient of a sum.
fn is_one_number(x: &Tensor) -> bool {
    x.strides().iter().zip(x.sizes()).all(|(&stride, &n)| stride == 0 || n == 1)
}

/// The elements of a block, as a tensor of one axis. Numbers are what they are.
fn window(x: &Tensor, elements: &Range<usize>) -> Result<Tensor> {
    if x.ndim() == 0 {
        return Ok(x.clone());
    }
    let (first, stride) = if x.is_contiguous() { (elements.start, 1) } else { (0, 0) };
    Tensor::from_parts(x.storage(), x.dtype(), &[elements.len()], &[stride], x.storage_offset() + first)
}

/// Writes the gradient of some elements to its place in the whole; false, with nothing written, if it is not its
/// elements in a row.
fn write(grad: &Tensor, whole: &Tensor, elements: &Range<usize>) -> Result<bool> {
    if !is_plain(grad) || !grad.is_contiguous() {
        return Ok(false);
    }
    let to = window(whole, elements)?;
    let (reading, size) = (reading(), whole.dtype().size());
    // SAFETY: (1) both are contiguous and have these elements, of one dtype; (2) the whole is new, and no other block
    // writes these elements.
    unsafe {
        let (from, to) = (grad.data_ptr(&reading).cast_const(), to.data_ptr(&reading));
        copy_part(from, to, elements.len() * size, whole.numel() * size);
    }
    Ok(true)
}

/// What leaves the chain at a place: the first node and edge that it comes from, and the sum of all that does.
struct Sum {
    from: (usize, usize),
    grad: Tensor,
}

/// The sums of a block, or of all elements, by place; `None` where rules gave nothing.
type Sums = SmallVec<[Option<Sum>; 4]>;

/// The rules of a chain, on blocks.
struct Blocks<'a, 'b> {
    chain: &'a Chain<'b>,
    /// What each node has saved.
    saved: &'a [SavedTensors],
    /// The gradient of the first one.
    g: &'a Tensor,
    block: usize,
}

impl Blocks<'_, '_> {
    /// The gradients of all nodes but those that stay in the chain; `None` if the nodes have to run one after the
    /// other.
    fn all(&self) -> Result<Option<Vec<Grads>>> {
        let asked = interrupt::asked();
        let first = self.first();
        if interrupt::asked() != asked {
            // The host may have ended it. Nobody could end what other threads do.
            return first.map(|_| None);
        }
        let Ok(Some(sums)) = first else { return Ok(None) };
        if !self.others(&sums) {
            return Ok(None);
        }
        let none = |link: &Link| link.node.edges.iter().map(|_| None).collect();
        let mut grads: Vec<Grads> = self.chain.links.iter().map(none).collect();
        for Sum { from: (link, edge), grad } in sums.into_iter().flatten() {
            grads[link][edge] = Some(grad);
        }
        Ok(Some(grads))
    }

    /// Gradients of full size that leave the chain, of which the first block is there: new ones, or the one that came
    /// in, where ops have handed that on.
    fn first(&self) -> Result<Option<Sums>> {
        let elements = 0..self.block.min(self.g.numel());
        let Some(mut sums) = self.run(&elements)? else { return Ok(None) };
        for Sum { grad, .. } in sums.iter_mut().flatten() {
            if grad.shares_storage(self.g) && grad.storage_offset() == self.g.storage_offset() {
                *grad = self.g.clone();
                continue;
            }
            let whole = Tensor::empty(self.g.sizes(), grad.dtype())?;
            if !write(grad, &whole, &elements)? {
                return Ok(None);
            }
            *grad = whole;
        }
        Ok(Some(sums))
    }

    /// All blocks but the first. False if one of them is not like that.
    fn others(&self, wholes: &Sums) -> bool {
        if wholes.iter().flatten().all(|sum| sum.grad.is_same(self.g)) {
            return true;
        }
        let numel = self.g.numel();
        let failed = AtomicBool::new(false);
        let piece = |blocks: Range<usize>| {
            // Other threads have modes of their own.
            let (_off, _reading) = (GradGuard::new(false), reading());
            for block in blocks {
                let start = (block + 1) * self.block;
                let fits = || self.other(&(start..numel.min(start + self.block)), wholes);
                if failed.load(Ordering::Relaxed) || !matches!(fits(), Ok(true)) {
                    failed.store(true, Ordering::Relaxed);
                    break;
                }
            }
        };
        // About a nanosecond for four elements.
        let cost = (numel * self.chain.links.len()) as f64 * 0.25;
        split(numel.div_ceil(self.block).saturating_sub(1), 1, cost, &piece);
        !failed.into_inner()
    }

    fn other(&self, elements: &Range<usize>, wholes: &Sums) -> Result<bool> {
        let Some(sums) = self.run(elements)? else { return Ok(false) };
        for (sum, whole) in sums.iter().zip(wholes) {
            match (sum, whole) {
                (None, None) => {}
                (Some(sum), Some(whole)) if sum.from == whole.from && sum.grad.dtype() == whole.grad.dtype() => {
                    if !whole.grad.is_same(self.g) && !write(&sum.grad, &whole.grad, elements)? {
                        return Ok(false);
                    }
                }
                _ => return Ok(false),
            }
        }
        Ok(true)
    }

    /// Runs all rules on a block. `None` if a gradient is not what the next rule has to be given.
    fn run(&self, elements: &Range<usize>) -> Result<Option<Sums>> {
        let links = &self.chain.links;
        let mut sums: Sums = self.chain.places.iter().map(|_| None).collect();
        let mut received: SmallVec<[Option<Tensor>; 8]> = links.iter().map(|_| None).collect();
        received[0] = Some(window(self.g, elements)?);
        for (at, (link, saved)) in links.iter().zip(self.saved).enumerate() {
            let Some(g) = received[at].take() else { return Ok(None) };
            let part = |x: &Option<Tensor>| x.as_ref().map(|x| window(x, elements)).transpose();
            let saved = saved.iter().map(part).collect::<Result<_>>()?;
            let grads = run_rule(link.node, &[Some(g)], saved, link.run)?;
            if grads.len() != link.ways.len() {
                return Ok(None);
            }
            for (i, grad) in grads.into_iter().enumerate() {
                let (Some(grad), Some(edge)) = (grad, &link.node.edges[i]) else { continue };
                let (sizes, dtype) = edge.expects();
                // What is to be reduced is rounded once, when the node has its turn.
                let grad = if sizes == self.g.sizes() { cast(grad, dtype)? } else { Some(grad) };
                let Some(grad) = grad.filter(|grad| *grad.sizes() == [elements.len()]) else { return Ok(None) };
                match link.ways[i] {
                    Way::Nowhere => {}
                    Way::On(to) => {
                        received[to] = Some(match received[to].take() {
                            None => grad,
                            Some(sum) => sum.add(&grad)?,
                        });
                    }
                    Way::Out(place) => {
                        sums[place] = Some(match sums[place].take() {
                            None => Sum { from: (at, i), grad },
                            Some(sum) => Sum { grad: sum.grad.add(&grad)?, ..sum },
                        });
                    }
                }
            }
        }
        Ok(Some(sums))
    }
}

/// A gradient in the dtype that it has to have, if floats are what it is and is to be.
fn cast(grad: Tensor, dtype: DType) -> Result<Option<Tensor>> {
    if grad.dtype() == dtype {
        return Ok(Some(grad));
    }
    let floats = grad.dtype().is_floating() && dtype.is_floating();
    floats.then(|| arith::cast(&grad, dtype)).transpose()
}
