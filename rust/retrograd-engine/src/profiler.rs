//! Sessions that note what runs on a thread, and when: ops, nodes of backward passes, functions, labels, memory.
//!
//! A session belongs to a thread, and a bit of the thread's mode word ([`mode::PROFILED`]) says that it is open:
//! without it an op does nothing more than to look at that bit. Events are plain records in order of their beginning.
//! Their times say what is nested in what.
//!
//! ```
//! use retrograd_engine::{Tensor, autograd, profiler};
//! let x = Tensor::from_slice(&[1.0f32, 2.0], &[2]).unwrap();
//! x.set_requires_grad(true).unwrap();
//! profiler::open(profiler::Options::default()).unwrap();
//! autograd::backward(&x.mul(&x).unwrap().sum(None).unwrap()).unwrap();
//! let recording = profiler::close().unwrap();
//! let names: Vec<String> = recording.events.iter().map(|e| recording.name(e)).collect();
//! assert_eq!(names[..2], ["aten::mul", "aten::sum"]);
//! assert!(names.contains(&"MulBackward0".to_string()));
//! ```

use std::borrow::Cow;
use std::cell::RefCell;
use std::collections::HashMap;
use std::fmt::Write;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::Instant;

use parking_lot::Mutex;

use crate::autograd::erased::{AnyPrimitive, op_name};
use crate::autograd::mode;
use crate::autograd::node::{LEAF_SEQ, Node};
use crate::call_site::{self, CallSite};
use crate::compile::record;
use crate::error::{Error, Result};
use crate::kernels::thread_values::ThreadValue;
use crate::storage::reclaim::{Reading, reading};
use crate::storage::watch;
use crate::tensor::{Noted, Tensor};
use crate::thread;

/// What a session notes besides names and times.
#[derive(Clone, Default)]
pub struct Options {
    /// The arguments of ops: sizes, strides and dtypes of tensors, and the values of the others.
    pub args: bool,
    /// Bytes of storages that are made and freed.
    pub memory: bool,
    /// The lines of the host program that a call came through.
    pub stacks: bool,
    /// Is told of events as they begin and end; nothing is kept then.
    pub ranges: Option<Arc<dyn Ranges>>,
}

/// A tool outside that shows ranges of time, which nest.
pub trait Ranges: Send + Sync {
    fn push(&self, text: &str);
    fn pop(&self);
}

/// What an event is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Kind {
    /// A call of an op.
    Op,
    /// A call of an op that writes to its first operand.
    InPlaceOp,
    /// The forward of a custom Function.
    Function,
    /// All that the engine does for a node.
    Evaluation,
    /// The rule of a node.
    Rule,
    /// What the user gave a name to.
    Label,
    /// Memory that was made (or, with a negative number of bytes, freed) outside of all others.
    Memory,
}

#[derive(Clone, Copy, Debug)]
enum Name {
    Known(&'static str),
    /// In [`Recording::names`].
    Listed(u32),
}

/// Something that ran.
#[derive(Clone, Debug)]
pub struct Event {
    name: Name,
    pub kind: Kind,
    /// When it began and ended, in nanoseconds of a monotonic clock.
    pub start: u64,
    pub end: u64,
    /// The number of the first node that a forward event made, or of the node that a backward event is of; -1 if none.
    pub sequence_nr: i64,
    /// The thread that made the node of a backward event; 0 for all others, and for nodes of leaves.
    pub forward_thread: u32,
    /// The thread on which it ended, if it is another one than it began on; else 0.
    pub ended_on: u32,
    /// Where in the host program it began.
    pub site: CallSite,
    /// Bytes made less bytes freed while this was the innermost event.
    pub bytes: i64,
    args: u32,
    stack: u32,
}

/// Memory that was made or freed.
#[derive(Clone, Copy, Debug)]
pub struct Change {
    pub at: u64,
    /// Negative if it was freed.
    pub bytes: i64,
    /// What the session saw made and not freed until then.
    pub total: i64,
    pub address: usize,
    /// Index of the event in which it happened, or which stands for it.
    pub event: u32,
    /// Where in the host program it happened.
    pub site: CallSite,
}

/// What a session noted.
#[derive(Debug)]
pub struct Recording {
    /// In the order of their beginning.
    pub events: Vec<Event>,
    /// With [`Options::memory`].
    pub changes: Vec<Change>,
    /// The thread of the session, numbered from 1 in the order in which sessions met them.
    pub thread: u32,
    /// The first of the numbers that the events have in the process, one after the other.
    pub first_id: u64,
    /// When the session began and ended.
    pub start: u64,
    pub end: u64,
    names: Vec<String>,
    args: Vec<Vec<(&'static str, Noted)>>,
    stacks: Vec<Box<[CallSite]>>,
    label_args: HashMap<u32, String>,
}

/// Ops that torch's profiles call otherwise than torch's functions are called.
const TORCH_NAMES: &[(&str, &str)] = &[
    ("affine_grid", "affine_grid_generator"),
    ("bfloat16", "to"),
    ("bool", "to"),
    ("byte", "to"),
    ("char", "to"),
    ("cross_entropy", "cross_entropy_loss"),
    ("double", "to"),
    ("float", "to"),
    ("grid_sample", "grid_sampler"),
    ("half", "to"),
    ("int", "to"),
    ("logsigmoid", "log_sigmoid"),
    ("long", "to"),
    ("short", "to"),
];

impl Recording {
    /// The name of an event: `aten::mul`, `MulBackward0`, or as the user gave it.
    pub fn name(&self, event: &Event) -> String {
        let name = self.plain_name(event);
        let of_torch = TORCH_NAMES.iter().find(|(ours, _)| *ours == name).map_or(name, |(_, torchs)| torchs);
        match event.kind {
            Kind::Op => format!("aten::{of_torch}"),
            Kind::InPlaceOp => format!("aten::{}_", of_torch.trim_end_matches('_')),
            Kind::Evaluation => format!("autograd::engine::evaluate_function: {name}"),
            _ => name.to_owned(),
        }
    }
    /// The name without what is added by its kind.
    pub fn plain_name(&self, event: &Event) -> &str {
        match event.name {
            Name::Known(name) => name,
            Name::Listed(i) => &self.names[i as usize],
        }
    }
    /// The arguments, by name, with [`Options::args`].
    pub fn args(&self, event: &Event) -> &[(&'static str, Noted)] {
        at(&self.args, event.args).map_or(&[], Vec::as_slice)
    }
    /// The places that the call came through, innermost first, with [`Options::stacks`].
    pub fn stack(&self, event: &Event) -> &[CallSite] {
        at(&self.stacks, event.stack).map_or(&[], |stack| stack)
    }
    /// What the user said besides the name of a label.
    pub fn label_args(&self, index: usize) -> Option<&str> {
        self.label_args.get(&(index as u32)).map(String::as_str)
    }
}

/// The element whose index and one is `i`.
fn at<T>(list: &[T], i: u32) -> Option<&T> {
    list.get((i as usize).wrapping_sub(1))
}

/// A session that is open.
struct Session {
    options: Options,
    /// No other session of the process has this number.
    serial: u32,
    made: Recording,
    /// Events that have not ended, the innermost last.
    open: Vec<u32>,
    /// Ranges of a tool outside that have not ended.
    outside: Vec<(Name, Kind)>,
    /// Where names are in `Recording::names`.
    listed: HashMap<String, u32>,
    stacks: HashMap<Box<[CallSite]>, u32>,
    labels: Vec<(u32, Arc<End>)>,
    /// What the clock showed last: no two events have the same time.
    last: u64,
    total: i64,
}

/// The end of a label, which may come on any thread.
#[derive(Default)]
struct End {
    at: AtomicU64,
    thread: AtomicU32,
}

static SESSION: ThreadValue<RefCell<Option<Box<Session>>>> = ThreadValue::new(|| RefCell::new(None));

/// Runs `f` on the session of this thread. `None` without one; and while the thread ends.
fn session<R>(f: impl FnOnce(&mut Session) -> R) -> Option<R> {
    SESSION.try_with(|s| s.try_borrow_mut().ok()?.as_deref_mut().map(f)).ok()?
}

/// The number of the next event of the process.
static NEXT_ID: AtomicU64 = AtomicU64::new(1);

/// Nanoseconds of a monotonic clock that all threads share.
fn clock() -> u64 {
    static ORIGIN: OnceLock<Instant> = OnceLock::new();
    ORIGIN.get_or_init(Instant::now).elapsed().as_nanos() as u64 + 1
}

/// The number of a thread among those that sessions met.
fn public_thread(number: u32) -> u32 {
    static MET: Mutex<Vec<u32>> = Mutex::new(Vec::new());
    let mut met = MET.lock();
    let place = met.iter().position(|&n| n == number).unwrap_or_else(|| {
        met.push(number);
        met.len() - 1
    });
    place as u32 + 1
}

/// Opens a session on this thread.
///
/// # Errors
/// If one is open.
pub fn open(options: Options) -> Result<()> {
    if is_open() {
        return Err(Error::autograd(
            "Profiler is already enabled on this thread. One session notes all: leave the outer block first, or use \
             record_function for a part of it",
        ));
    }
    if record::is_recording() {
        record::refuse(|| "a profiler session was opened".into());
    }
    at_fork();
    let notes_memory = options.memory;
    let session = Box::new(Session::new(options));
    SESSION.set(Some(session));
    if notes_memory {
        watch::begin(memory_changed);
    }
    mode::set(mode::PROFILED, true);
    Ok(())
}

/// Closes the session of this thread, if one is open: what has not ended ends now.
pub fn close() -> Option<Recording> {
    mode::set(mode::PROFILED, false);
    let session = SESSION.take()?;
    if session.options.memory {
        watch::end();
    }
    Some(session.close())
}

/// Whether a session is open on this thread.
#[inline]
pub fn is_open() -> bool {
    mode::word() & mode::PROFILED != 0
}

/// A forked process has no session.
fn at_fork() {
    #[cfg(all(unix, not(miri)))]
    {
        extern "C" fn leave() {
            mode::set(mode::PROFILED, false);
            watch::forget();
            // Not dropped: the memory is shared with the parent until somebody writes to it.
            let _ = SESSION.try_with(|s| s.try_borrow_mut().map(|mut s| std::mem::forget(s.take())));
        }
        static ONCE: std::sync::Once = std::sync::Once::new();
        ONCE.call_once(|| {
            // SAFETY: a function that lives as long as the process.
            unsafe { libc::pthread_atfork(None, None, Some(leave)) };
        });
    }
}

/// The session of a thread, while another one continues for it; the mode word has the rest.
#[derive(Default)]
pub(crate) struct Carried(Option<Box<Session>>);

impl Carried {
    pub fn exchange(&mut self) {
        self.0 = SESSION.replace(self.0.take());
    }
}

/// Which event of which session; zero: none.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Id {
    session: u32,
    event: u32,
}

impl Id {
    const NONE: Self = Self { session: 0, event: 0 };
}

/// An event that ends when this is dropped.
#[must_use = "the event ends when this is dropped"]
pub struct Span(Id);

impl Span {
    /// Nothing is noted.
    #[inline]
    fn none() -> Self {
        Self(Id::NONE)
    }
}

impl Drop for Span {
    #[inline]
    fn drop(&mut self) {
        match self.0.session {
            0 => {}
            RECORDED => record::leave_op(),
            _ => end(self.0),
        }
    }
}

/// A call of an op, during which the thread is reading (R1 in [`crate::storage::reclaim`]).
#[must_use = "the call ends when this is dropped"]
pub struct InOp {
    _span: Span,
    _reading: Reading,
}

impl InOp {
    /// Whether operands are to be converted: asked at the entry of an op that has a policy for it.
    #[inline]
    pub fn autocasts(&self) -> bool {
        self._reading.mode() & mode::AUTOCAST != 0
    }
}

/// Notes a call that reads the one element of a tensor.
pub fn item(t: &Tensor) -> InOp {
    op("item", false, || vec![("input", Noted::of(t))])
}

/// Begins the call of an op whose arguments are what `args` lists by name.
#[inline]
pub fn op(name: &'static str, in_place: bool, args: impl Fn() -> Vec<(&'static str, Noted)>) -> InOp {
    let _reading = reading();
    let _span = match _reading.mode() & (mode::PROFILED | mode::RECORDED) {
        0 => Span::none(),
        mode::PROFILED => begin_op(Name::Known(name), in_place, &args),
        _ => recorded_op(name),
    };
    InOp { _span, _reading }
}

/// Begins the call of an op while a function is recorded.
#[cold]
fn recorded_op(name: &'static str) -> Span {
    record::enter_op(name);
    Span(Id { session: RECORDED, ..Id::NONE })
}

/// In the place of a session's number.
const RECORDED: u32 = u32::MAX;

type Args<'a> = &'a dyn Fn() -> Vec<(&'static str, Noted)>;

#[cold]
fn begin_op(name: Name, in_place: bool, args: Args<'_>) -> Span {
    begin(Begins { args: Some(args), ..Begins::new(name, if in_place { Kind::InPlaceOp } else { Kind::Op }) })
}

/// Begins a primitive of the engine; part of the op that is under way if that has its name.
#[cold]
pub(crate) fn primitive(op: &dyn AnyPrimitive, in_place: bool, xs: &[&Tensor]) -> Span {
    let name = op_name(op);
    let is_part = session(|s| match s.around() {
        Some((Name::Known(around), Kind::Op | Kind::InPlaceOp)) => {
            around.trim_end_matches('_') == name.trim_end_matches('_')
        }
        _ => false,
    });
    if is_part != Some(false) {
        return Span::none();
    }
    let operands = || xs.iter().map(|x| ("", Noted::of(x)));
    let params = || op.params().into_iter().map(|(name, value)| (name, Noted::Value(value)));
    let name = match name {
        Cow::Borrowed(name) => Name::Known(name),
        Cow::Owned(name) => listed(&name),
    };
    begin_op(name, in_place, &|| operands().chain(params()).collect())
}

/// Begins the forward of a custom Function.
pub fn function(name: &str, args: Args<'_>) -> Span {
    if !is_open() {
        return Span::none();
    }
    begin(Begins { args: Some(args), ..Begins::new(listed(name), Kind::Function) })
}

/// Begins all that the engine does for a node; for a leaf, `node` is `None`.
#[inline]
pub(crate) fn evaluation(node: Option<&Node>) -> Span {
    if is_open() { begin_node(node, Kind::Evaluation, None) } else { Span::none() }
}

/// Begins the rule of a node.
#[inline]
pub(crate) fn rule(node: Option<&Node>, grads: &[Option<Tensor>]) -> Span {
    if is_open() { begin_node(node, Kind::Rule, Some(grads)) } else { Span::none() }
}

#[cold]
fn begin_node(node: Option<&Node>, kind: Kind, grads: Option<&[Option<Tensor>]>) -> Span {
    let args = || grads.unwrap_or_default().iter().map(|g| ("", g.as_ref().map_or(Noted::Other, Noted::of))).collect();
    let name = match node.map(Node::name) {
        None => Name::Known("torch::autograd::AccumulateGrad"),
        Some(Cow::Borrowed(name)) => Name::Known(name),
        Some(Cow::Owned(name)) => listed(&name),
    };
    let (sequence_nr, forward_thread) = match node {
        Some(node) if node.seq != LEAF_SEQ => (node.seq as i64, public_thread(node.thread)),
        _ => (-1, 0),
    };
    begin(Begins { args: Some(&args), sequence_nr, forward_thread, ..Begins::new(name, kind) })
}

fn listed(name: &str) -> Name {
    let number = session(|s| s.list(name)).unwrap_or(0);
    Name::Listed(number)
}

/// What is known of an event as it begins.
struct Begins<'a> {
    name: Name,
    kind: Kind,
    args: Option<Args<'a>>,
    sequence_nr: i64,
    forward_thread: u32,
}

impl Begins<'_> {
    fn new(name: Name, kind: Kind) -> Self {
        Self { name, kind, args: None, sequence_nr: -1, forward_thread: 0 }
    }
}

fn begin(what: Begins<'_>) -> Span {
    // Asked before the session is borrowed: the host's code may drop tensors, which the session notes.
    let site = CallSite::here();
    let Some((serial, options)) = session(|s| (s.serial, s.options.clone())) else { return Span::none() };
    if let Some(ranges) = &options.ranges {
        ranges.push(&range_text(&what, options.args));
        session(|s| s.outside.push((what.name, what.kind)));
        return Span(Id { session: serial, event: OUTSIDE });
    }
    let args = what.args.filter(|_| options.args).map(|args| args());
    let stack = options.stacks.then(call_site::stack);
    Span(session(|s| s.begin(&what, site, args, stack)).unwrap_or(Id::NONE))
}

/// In [`Id::event`]: a range of a tool outside.
const OUTSIDE: u32 = u32::MAX;

#[cold]
fn end(id: Id) {
    if id.event == OUTSIDE {
        let ranges = session(|s| {
            let ranges = s.options.ranges.clone().filter(|_| s.serial == id.session)?;
            s.outside.pop();
            Some(ranges)
        });
        if let Some(ranges) = ranges.flatten() {
            ranges.pop();
        }
        return;
    }
    session(|s| {
        if s.serial == id.session {
            s.end(id.event);
        }
    });
}

/// What a tool outside shows of an event.
fn range_text(what: &Begins<'_>, with_sizes: bool) -> String {
    let mut text =
        session(|s| s.made.name(&Event { name: what.name, kind: what.kind, ..Event::NONE })).unwrap_or_default();
    let args = what.args.map(|args| args()).unwrap_or_default();
    match what.kind {
        Kind::Op | Kind::InPlaceOp | Kind::Function => {
            let requires_grad = args.iter().any(|(_, a)| matches!(a, Noted::Tensor { requires_grad: true, .. }));
            if requires_grad && mode::records(mode::word()) {
                let _ = write!(text, ", seq = {}", thread::local(|t| t.next_seq.get()));
            }
        }
        Kind::Evaluation if what.sequence_nr >= 0 => {
            let _ = write!(text, ", stashed seq = {}", what.sequence_nr);
        }
        _ => {}
    }
    if with_sizes && !args.is_empty() {
        let sizes: Vec<&[usize]> = args.iter().map(|(_, a)| a.sizes()).collect();
        let _ = write!(text, ", sizes = {sizes:?}");
    }
    text
}

/// A part of a program that has a name, from the moment in which this is made until it is ended.
pub struct Label {
    id: Id,
    end: Arc<End>,
}

/// Begins a label; `None` if no session is open on this thread. `args` is shown with it in traces.
pub fn label(name: &str, args: Option<&str>) -> Option<Label> {
    if !is_open() {
        return None;
    }
    let span = std::mem::ManuallyDrop::new(begin(Begins::new(listed(name), Kind::Label)));
    let (id, end) = (span.0, Arc::new(End::default()));
    if id.event != OUTSIDE && id != Id::NONE {
        session(|s| {
            s.labels.push((id.event, end.clone()));
            if let Some(args) = args {
                s.made.label_args.insert(id.event, args.to_owned());
            }
        });
    }
    Some(Label { id, end })
}

impl Label {
    /// Ends it, on this thread.
    pub fn end(self) {
        self.end.thread.store(thread::number(), Ordering::Relaxed);
        self.end.at.store(clock(), Ordering::Release);
        end(self.id);
    }
}

/// A node was made: it is that of the call that is under way.
#[cold]
pub(crate) fn node_made(sequence_nr: u64) {
    session(|s| s.node_made(sequence_nr as i64));
}

/// Bytes were made at an address, or freed.
fn memory_changed(bytes: i64, address: usize) {
    if is_open() {
        let site = CallSite::here();
        session(|s| {
            if s.options.memory {
                s.memory_changed(bytes, address, site);
            }
        });
    }
}

impl Event {
    const NONE: Self = Self {
        name: Name::Known("[memory]"),
        kind: Kind::Memory,
        start: 0,
        end: 0,
        sequence_nr: -1,
        forward_thread: 0,
        ended_on: 0,
        site: CallSite(0),
        bytes: 0,
        args: 0,
        stack: 0,
    };
}

impl Session {
    fn new(options: Options) -> Self {
        static SERIAL: AtomicU32 = AtomicU32::new(1);
        let start = clock();
        Self {
            options,
            serial: SERIAL.fetch_add(1, Ordering::Relaxed),
            made: Recording {
                events: Vec::new(),
                changes: Vec::new(),
                thread: public_thread(thread::number()),
                first_id: 0,
                start,
                end: 0,
                names: Vec::new(),
                args: Vec::new(),
                stacks: Vec::new(),
                label_args: HashMap::new(),
            },
            open: Vec::new(),
            outside: Vec::new(),
            listed: HashMap::new(),
            stacks: HashMap::new(),
            labels: Vec::new(),
            last: start,
            total: 0,
        }
    }
    /// The time, later than any before.
    fn now(&mut self) -> u64 {
        self.last = clock().max(self.last + 1);
        self.last
    }
    fn list(&mut self, name: &str) -> u32 {
        if let Some(&number) = self.listed.get(name) {
            return number;
        }
        let number = self.made.names.len() as u32;
        self.made.names.push(name.to_owned());
        self.listed.insert(name.to_owned(), number);
        number
    }
    fn begin(
        &mut self,
        what: &Begins<'_>,
        site: CallSite,
        args: Option<Vec<(&'static str, Noted)>>,
        stack: Option<Box<[CallSite]>>,
    ) -> Id {
        let event = self.made.events.len() as u32;
        // The last number is that of ranges outside; nobody waits for so many events.
        if event == OUTSIDE {
            return Id::NONE;
        }
        let args = args.map_or(0, |args| {
            self.made.args.push(args);
            self.made.args.len() as u32
        });
        let stack = stack.map_or(0, |stack| {
            let next = self.made.stacks.len() as u32 + 1;
            *self.stacks.entry(stack).or_insert_with_key(|stack| {
                self.made.stacks.push(stack.clone());
                next
            })
        });
        let Begins { name, kind, sequence_nr, forward_thread, .. } = *what;
        let start = self.now();
        self.made.events.push(Event {
            name,
            kind,
            start,
            sequence_nr,
            forward_thread,
            site,
            args,
            stack,
            ..Event::NONE
        });
        self.open.push(event);
        Id { session: self.serial, event }
    }
    fn end(&mut self, event: u32) {
        let now = self.now();
        self.made.events[event as usize].end = now;
        if let Some(at) = self.open.iter().rposition(|&open| open == event) {
            self.open.remove(at);
        }
    }
    /// What the innermost event or range is.
    fn around(&self) -> Option<(Name, Kind)> {
        let event = |&event: &u32| (self.made.events[event as usize].name, self.made.events[event as usize].kind);
        self.open.last().map(event).or(self.outside.last().copied())
    }
    /// The innermost event that has not ended, here or elsewhere.
    fn innermost(&mut self) -> Option<u32> {
        while let Some(&event) = self.open.last() {
            let ended = self.labels.iter().rev().find(|(label, _)| *label == event);
            if ended.is_none_or(|(_, end)| end.at.load(Ordering::Acquire) == 0) {
                return Some(event);
            }
            self.open.pop();
        }
        None
    }
    fn node_made(&mut self, sequence_nr: i64) {
        for &event in self.open.iter().rev() {
            let event = &mut self.made.events[event as usize];
            let is_call = matches!(event.kind, Kind::Op | Kind::InPlaceOp | Kind::Function);
            if !is_call || event.sequence_nr >= 0 {
                break;
            }
            event.sequence_nr = sequence_nr;
        }
    }
    fn memory_changed(&mut self, bytes: i64, address: usize, site: CallSite) {
        self.total += bytes;
        let event = self.innermost();
        let at = self.now();
        let event = match event {
            Some(event) => {
                self.made.events[event as usize].bytes += bytes;
                event
            }
            None => {
                self.made.events.push(Event { start: at, end: at, bytes, site, ..Event::NONE });
                self.made.events.len() as u32 - 1
            }
        };
        self.made.changes.push(Change { at, bytes, total: self.total, address, event, site });
    }
    fn close(mut self) -> Recording {
        let (mine, now) = (self.made.thread, self.now());
        for (event, end) in &self.labels {
            let at = end.at.load(Ordering::Acquire);
            let event = &mut self.made.events[*event as usize];
            if event.end == 0 && at != 0 {
                event.end = at.clamp(event.start, now);
            }
            let on = end.thread.load(Ordering::Relaxed);
            if at != 0 && public_thread(on) != mine {
                event.ended_on = public_thread(on);
            }
        }
        for event in &mut self.made.events {
            if event.end == 0 {
                event.end = now;
            }
        }
        self.made.end = now;
        self.made.first_id = NEXT_ID.fetch_add(self.made.events.len() as u64, Ordering::Relaxed);
        self.made
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::autograd::backward;

    fn ones(n: usize) -> Tensor {
        Tensor::full(&[n], 1i64.into(), crate::tensor::DType::Float32).unwrap()
    }

    fn noted(options: Options, f: impl FnOnce()) -> Recording {
        open(options).unwrap();
        f();
        close().unwrap()
    }

    fn names(r: &Recording) -> Vec<String> {
        r.events.iter().map(|e| r.name(e)).collect()
    }

    #[test]
    fn a_million_events_fit() {
        assert!(size_of::<Event>() <= 100, "{} bytes", size_of::<Event>());
    }

    #[test]
    fn backward_events_have_the_numbers_of_forward_ones() {
        let x = ones(3);
        x.set_requires_grad(true).unwrap();
        let r = noted(Options::default(), || backward(&x.exp().unwrap().sum(None).unwrap()).unwrap());
        let find = |name: &str| r.events.iter().find(|&e| r.name(e) == name).unwrap();
        let (exp, outer, inner) =
            (find("aten::exp"), find("autograd::engine::evaluate_function: ExpBackward0"), find("ExpBackward0"));
        assert!(exp.sequence_nr >= 0 && exp.kind == Kind::Op && exp.forward_thread == 0);
        for e in [outer, inner] {
            assert_eq!((e.sequence_nr, e.forward_thread), (exp.sequence_nr, r.thread));
        }
        assert!(outer.start < inner.start && inner.end < outer.end);
        let leaf = find("torch::autograd::AccumulateGrad");
        assert_eq!((leaf.sequence_nr, leaf.forward_thread, leaf.kind), (-1, 0, Kind::Rule));
        let last_of_node = find("autograd::engine::evaluate_function: ExpBackward0").end;
        assert!(leaf.start > last_of_node, "the leaf comes after the node that led to it");
        assert!(r.events.windows(2).all(|w| w[0].start < w[1].start));
    }

    #[test]
    fn a_primitive_is_part_of_the_op_of_its_name() {
        let x = ones(3);
        let r = noted(Options { args: true, ..Options::default() }, || {
            drop(x.add(&x).unwrap());
            drop(x.add_(&x).unwrap());
        });
        assert_eq!(names(&r), ["aten::add", "aten::add_"]);
        assert_eq!(r.args(&r.events[0])[0].1.sizes(), [3]);
        assert_eq!(noted(Options::default(), || drop(x.add(&x).unwrap())).args.len(), 0);
    }

    #[test]
    fn memory_belongs_to_the_innermost_event_or_to_one_of_its_own() {
        let r = noted(Options { memory: true, ..Options::default() }, || {
            let label = label("part", Some("more")).unwrap();
            let x = ones(100);
            label.end();
            drop(x);
        });
        assert_eq!(names(&r), ["part", "[memory]"]);
        assert_eq!((r.events[0].bytes, r.events[1].bytes), (400, -400));
        assert_eq!(
            r.changes.iter().map(|c| (c.bytes, c.total, c.event)).collect::<Vec<_>>(),
            [(400, 400, 0), (-400, 0, 1)]
        );
        assert_eq!((r.label_args(0), r.label_args(1)), (Some("more"), None));
        assert_eq!(names(&noted(Options::default(), || drop(ones(100)))), [""; 0]);
    }

    #[test]
    fn labels_end_where_they_are_left() {
        let r = noted(Options::default(), || {
            let (outer, late) = (label("outer", None).unwrap(), label("late", None).unwrap());
            outer.end();
            std::thread::scope(|s| drop(s.spawn(|| late.end())));
            std::mem::forget(label("open", None).unwrap());
        });
        let [outer, late, open] = &r.events[..] else { panic!("{:?}", names(&r)) };
        assert!(outer.end < late.end && open.end == r.end);
        assert_eq!((outer.ended_on, open.ended_on), (0, 0));
        assert!(late.ended_on != 0 && late.ended_on != r.thread);
        assert!(label("nothing", None).is_none());
    }

    #[test]
    fn one_session_at_a_time() {
        open(Options::default()).unwrap();
        assert!(open(Options::default()).unwrap_err().to_string().contains("already enabled on this thread"));
        std::thread::scope(|s| {
            drop(s.spawn(|| assert!(!is_open() && noted(Options::default(), || ()).events.is_empty())))
        });
        let span = function("left over", &Vec::new);
        assert!(close().is_some() && close().is_none() && !is_open());
        let r = noted(Options::default(), || drop(span));
        assert!(r.events.is_empty(), "a span of one session is no event of another");
    }

    #[test]
    fn ids_go_on_over_sessions() {
        let first = noted(Options::default(), || drop(label("a", None)));
        let second = noted(Options::default(), || drop(label("b", None)));
        assert!(second.first_id > first.first_id && first.events.len() == 1);
    }
}
