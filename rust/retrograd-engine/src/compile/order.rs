//! The order of steps: those that can be taken together come one after the other, as far as what they wait for allows.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap, HashMap};
use std::ops::Range;

use super::blocks::FROM;
use super::pointwise::Pointwise;
use super::recording::{Buffer, Origin, Step, ValueId, What, Window};

/// Steps may be gathered whatever memory that takes, if it is no more than this: it stays in a core's cache.
const CACHED: usize = 1 << 20;

/// An order in which fewer passes over memory are made, by the places that steps have now; `None` if there is none, or
/// if more memory would be in use at a time.
pub(super) fn gathered(
    steps: &[Step],
    loops: &[Option<Pointwise>],
    values: &[Window],
    buffers: &[Buffer],
) -> Option<Vec<usize>> {
    let classes: Vec<Class> =
        loops.iter().map(|step| step.as_ref().map(|step| step.n).filter(|&n| n >= FROM)).collect();
    let mut order = Vec::with_capacity(steps.len());
    let mut start = 0;
    while start < steps.len() {
        // What writes, or draws random numbers, stays where it is among the others.
        let stays = |step: &Step| step.draws || !matches!(step.what, What::Op(_) | What::Rule { .. });
        let end = steps[start..].iter().position(stays).map_or(steps.len(), |n| start + n);
        gather(start..end, steps, &classes, values, &mut order);
        order.extend((end < steps.len()).then_some(end));
        start = end + 1;
    }
    let as_it_is: Vec<usize> = (0..steps.len()).collect();
    let most = |order: &[usize]| most_at_a_time(order, steps, values, buffers);
    let better = passes(&order, &classes) < passes(&as_it_is, &classes) && {
        let now = most(&order);
        now <= CACHED || now <= most(&as_it_is)
    };
    better.then_some(order)
}

/// Loops over as many elements are of one class; other steps are of none.
type Class = Option<usize>;

/// Adds steps to the order, which make what they make and do nothing else: those of a class as long as there are any
/// that wait for nothing, then those of none, then those of another.
fn gather(range: Range<usize>, steps: &[Step], classes: &[Class], values: &[Window], order: &mut Vec<usize>) {
    let buffer = |v: ValueId| values[v as usize].buffer;
    let mut maker: HashMap<u32, usize> = HashMap::new();
    let mut followers: Vec<Vec<usize>> = vec![Vec::new(); range.len()];
    let mut awaited = vec![0usize; range.len()];
    let mut ready: BTreeMap<Class, BinaryHeap<Reverse<usize>>> = BTreeMap::new();
    for i in range.clone() {
        for &v in steps[i].xs.iter().chain(&steps[i].outs).flatten() {
            if let Some(&of) = maker.get(&buffer(v)) {
                followers[of - range.start].push(i);
                awaited[i - range.start] += 1;
            }
        }
        steps[i].outs.iter().flatten().for_each(|&v| {
            maker.insert(buffer(v), i);
        });
        if awaited[i - range.start] == 0 {
            ready.entry(classes[i]).or_default().push(Reverse(i));
        }
    }
    let mut class = None;
    loop {
        let next = |class: &Class| ready.get(class).and_then(|heap| heap.peek()).map(|&Reverse(i)| (i, *class));
        let Some((i, of)) = next(&class).or_else(|| next(&None)).or_else(|| ready.keys().filter_map(next).min()) else {
            break;
        };
        class = of;
        ready.get_mut(&class).expect("it has one").pop();
        order.push(i);
        for &follower in &followers[i - range.start] {
            awaited[follower - range.start] -= 1;
            if awaited[follower - range.start] == 0 {
                ready.entry(classes[follower]).or_default().push(Reverse(follower));
            }
        }
    }
}

/// How often loops go through memory, if those of a class that follow each other do so once.
fn passes(order: &[usize], classes: &[Class]) -> usize {
    let mut before = None;
    let begins = |&&i: &&usize| std::mem::replace(&mut before, classes[i]) != classes[i] && classes[i].is_some();
    order.iter().filter(begins).count()
}

/// How many bytes of what steps make are in use at a time, at most.
fn most_at_a_time(order: &[usize], steps: &[Step], values: &[Window], buffers: &[Buffer]) -> usize {
    let mut last = vec![None; buffers.len()];
    let made = |v: ValueId| {
        let b = values[v as usize].buffer as usize;
        matches!(buffers[b].origin, Origin::Step).then_some(b)
    };
    let used = |i: usize| steps[i].xs.iter().chain(&steps[i].outs).flatten().filter_map(|&v| made(v));
    for (at, &i) in order.iter().enumerate() {
        used(i).for_each(|b| last[b] = Some(at));
    }
    let mut is_there = vec![false; buffers.len()];
    let (mut now, mut most) = (0, 0);
    for (at, &i) in order.iter().enumerate() {
        for b in used(i) {
            if !std::mem::replace(&mut is_there[b], true) {
                now += buffers[b].bytes;
            }
        }
        most = most.max(now);
        for b in used(i) {
            if last[b] == Some(at) && std::mem::replace(&mut is_there[b], false) {
                now -= buffers[b].bytes;
            }
        }
    }
    most
}
