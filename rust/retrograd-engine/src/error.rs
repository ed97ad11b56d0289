//! One error type. A variant holds the facts; `Display` prints them with the remedy; the binding maps each variant to
//! its Python exception once.

mod non_finite;

use std::any::Any;
use std::borrow::Cow;
use std::fmt;
use std::sync::{Arc, OnceLock};

use crate::call_site::SourceLocation;
use crate::kernels::OutOfMemory;
use crate::tensor::dtype::DType;

pub use non_finite::{NonFinite, Operand};

pub type Result<T, E = Error> = std::result::Result<T, E>;

/// What went wrong in a call. One pointer wide, so that `Result<Tensor>` stays small.
#[derive(Clone)]
pub struct Error(Box<ErrorKind>);

#[derive(Clone)]
#[non_exhaustive]
pub enum ErrorKind {
    /// Shapes that do not broadcast together.
    Broadcast { op: &'static str, lhs: Vec<usize>, rhs: Vec<usize> },
    /// Shapes, sizes or counts that an op cannot take.
    Shape { op: &'static str, detail: String },
    /// A dtype that an op cannot take, or two that do not go together.
    DType { op: &'static str, detail: String },
    /// An argument of the wrong type.
    Type { op: &'static str, detail: String },
    /// An argument of the right type and a wrong value.
    Value { op: &'static str, detail: String },
    /// Arguments that exclude each other, where torch asserts that they are not both given.
    Assertion { op: &'static str, detail: String },
    /// A dimension outside `-ndim..ndim`.
    DimRange { op: &'static str, dim: i64, ndim: usize },
    /// An index outside its axis.
    Index { op: &'static str, detail: String },
    /// A saved tensor was written in place after it was saved.
    StaleSave(Box<StaleSave>),
    /// The node ran before, and its saved tensors were freed.
    Freed(Box<Freed>),
    /// A rule of autograd was broken: a write in place to a leaf, a root that does not require grad, ...
    Autograd { detail: String },
    /// An op made a NaN or an infinity while somebody searched for one.
    NonFinite(Box<NonFinite>),
    /// There is no derivative, or no batching.
    NotImplemented { detail: String },
    /// No kernel for a dtype. `kernel` is what torch calls the loop that refuses.
    NoKernel { op: &'static str, kernel: &'static str, dtype: DType },
    /// An op that does not take sparse operands was given one; `backend` is what torch calls those of its layout.
    Sparse { op: &'static str, backend: &'static str },
    /// A call needs the elements of a batched tensor.
    Batched { op: &'static str },
    /// A matrix has no factorization, inverse or solution, or an iteration did not converge.
    Linalg { detail: String },
    /// A buffer could not be allocated.
    OutOfMemory { bytes: usize },
    /// An exception of the host language on its way through the engine.
    Foreign(Arc<dyn Any + Send + Sync>),
}

/// What kind of exception an error is in Python.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ErrorClass {
    Runtime,
    Type,
    Value,
    Assertion,
    Index,
    NotImplemented,
    Linalg,
    Memory,
}

impl ErrorKind {
    /// The exception that the error becomes. A foreign error has its own exception; without one it is a runtime error.
    pub fn class(&self) -> ErrorClass {
        match self {
            ErrorKind::Broadcast { .. }
            | ErrorKind::Shape { .. }
            | ErrorKind::DType { .. }
            | ErrorKind::StaleSave(_)
            | ErrorKind::Freed(_)
            | ErrorKind::NonFinite(_)
            | ErrorKind::Batched { .. }
            | ErrorKind::Autograd { .. }
            | ErrorKind::Foreign(_) => ErrorClass::Runtime,
            ErrorKind::Type { .. } => ErrorClass::Type,
            ErrorKind::Value { .. } => ErrorClass::Value,
            ErrorKind::Assertion { .. } => ErrorClass::Assertion,
            ErrorKind::DimRange { .. } | ErrorKind::Index { .. } => ErrorClass::Index,
            ErrorKind::NotImplemented { .. } | ErrorKind::NoKernel { .. } | ErrorKind::Sparse { .. } => {
                ErrorClass::NotImplemented
            }
            ErrorKind::Linalg { .. } => ErrorClass::Linalg,
            ErrorKind::OutOfMemory { .. } => ErrorClass::Memory,
        }
    }
}

/// The facts of [`ErrorKind::StaleSave`].
#[derive(Clone, Debug)]
pub struct StaleSave {
    pub node: String,
    pub input: &'static str,
    pub dtype: DType,
    pub sizes: Vec<usize>,
    pub saved: u32,
    pub now: u32,
    /// Node that produced the tensor, and which of its outputs it is.
    pub producer: Option<(String, usize)>,
    /// Where the op was called that saved the tensor.
    pub saved_at: Option<SourceLocation>,
    /// Where the last write to it was made.
    pub written_at: Option<SourceLocation>,
    /// Where it was needed: the call of backward.
    pub needed_at: Option<SourceLocation>,
    /// Anomaly mode has printed where the op was called.
    pub traced: bool,
}

/// The facts of [`ErrorKind::Freed`].
#[derive(Clone, Debug)]
pub struct Freed {
    pub node: String,
    /// Where the op was called that made the node.
    pub recorded_at: Option<SourceLocation>,
    /// Where the call was made that freed the saved tensors.
    pub freed_at: Option<SourceLocation>,
    /// Where they were needed again.
    pub needed_at: Option<SourceLocation>,
}

impl Error {
    pub fn kind(&self) -> &ErrorKind {
        &self.0
    }
    pub fn broadcast(op: &'static str, lhs: &[usize], rhs: &[usize]) -> Self {
        ErrorKind::Broadcast { op, lhs: lhs.to_vec(), rhs: rhs.to_vec() }.into()
    }
    pub fn shape(op: &'static str, detail: impl Into<String>) -> Self {
        ErrorKind::Shape { op, detail: detail.into() }.into()
    }
    pub fn dtype(op: &'static str, detail: impl Into<String>) -> Self {
        ErrorKind::DType { op, detail: detail.into() }.into()
    }
    pub fn type_error(op: &'static str, detail: impl Into<String>) -> Self {
        ErrorKind::Type { op, detail: detail.into() }.into()
    }
    pub fn value(op: &'static str, detail: impl Into<String>) -> Self {
        ErrorKind::Value { op, detail: detail.into() }.into()
    }
    pub fn assertion(op: &'static str, detail: impl Into<String>) -> Self {
        ErrorKind::Assertion { op, detail: detail.into() }.into()
    }
    pub fn index(op: &'static str, detail: impl Into<String>) -> Self {
        ErrorKind::Index { op, detail: detail.into() }.into()
    }
    pub fn autograd(detail: impl Into<String>) -> Self {
        ErrorKind::Autograd { detail: detail.into() }.into()
    }
    pub fn not_implemented(detail: impl Into<String>) -> Self {
        ErrorKind::NotImplemented { detail: detail.into() }.into()
    }
    /// A `LinAlgError`; torch names the function in the message.
    pub fn linalg(detail: impl Into<String>) -> Self {
        ErrorKind::Linalg { detail: detail.into() }.into()
    }
    /// `op` has no kernel for `dtype`.
    pub fn no_kernel(op: &'static str, dtype: DType) -> Self {
        ErrorKind::NoKernel { op, kernel: op, dtype }.into()
    }
    /// This build lacks what `what` needs: a feature of the crate.
    pub fn left_out(what: &str, feature: &str) -> Self {
        Self::not_implemented(format!(
            "{what}: this build of retrograd has no {feature}: switch the feature `{feature}` of the crate on"
        ))
    }
    /// Two dtypes have none in common.
    pub fn no_promotion(op: &'static str, a: DType, b: DType) -> Self {
        let (a, b) = (a.scalar_type_name(), b.scalar_type_name());
        Self::dtype(
            op,
            format!(
                "Promotion for uint16, uint32, uint64 types is not supported, attempted to promote {a} and {b}: convert one \
                 with .to()"
            ),
        )
    }
    /// The same error with `name` as its op: the op that the user called, where one that it is composed of refused.
    /// `#[op]` does this for every entry.
    #[cold]
    #[must_use]
    pub fn named(mut self, name: &'static str) -> Self {
        match &mut *self.0 {
            ErrorKind::Broadcast { op, .. }
            | ErrorKind::Shape { op, .. }
            | ErrorKind::DType { op, .. }
            | ErrorKind::Type { op, .. }
            | ErrorKind::Value { op, .. }
            | ErrorKind::Assertion { op, .. }
            | ErrorKind::DimRange { op, .. }
            | ErrorKind::Index { op, .. }
            | ErrorKind::Batched { op }
            | ErrorKind::Sparse { op, .. }
            | ErrorKind::NoKernel { op, .. } => *op = name,
            ErrorKind::NonFinite(facts) => {
                if facts.gradient_of.is_none() {
                    facts.called = Some(name);
                }
            }
            ErrorKind::StaleSave(_)
            | ErrorKind::Freed(_)
            | ErrorKind::Autograd { .. }
            | ErrorKind::NotImplemented { .. }
            | ErrorKind::Linalg { .. }
            | ErrorKind::OutOfMemory { .. }
            | ErrorKind::Foreign(_) => {}
        }
        self
    }
}

impl From<OutOfMemory> for Error {
    #[cold]
    fn from(OutOfMemory { bytes }: OutOfMemory) -> Self {
        ErrorKind::OutOfMemory { bytes }.into()
    }
}

impl From<ErrorKind> for Error {
    #[cold]
    fn from(kind: ErrorKind) -> Self {
        Self(Box::new(kind))
    }
}

/// Prints a shape as Python does: `(2, 3)`, `(4,)`, `()`.
pub struct Shape<'a>(pub &'a [usize]);

impl fmt::Display for Shape<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("(")?;
        for (i, n) in self.0.iter().enumerate() {
            if i > 0 {
                f.write_str(", ")?;
            }
            write!(f, "{n}")?;
        }
        f.write_str(if self.0.len() == 1 { ",)" } else { ")" })
    }
}

/// Prints a shape as torch's messages do: `[2, 3]`.
pub struct Sizes<'a>(pub &'a [usize]);

impl fmt::Display for Sizes<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?}", self.0)
    }
}

/// Spells what a message advises as the host language does: see [`set_spelling`].
pub type Spelling = fn(&str) -> Cow<'_, str>;

static SPELLING: OnceLock<Spelling> = OnceLock::new();

/// Registers how the host language spells what errors and warnings advise: the engine writes it with Python's names.
/// The first registration stays.
pub fn set_spelling(spelling: Spelling) {
    let _ = SPELLING.set(spelling);
}

/// A message as the host language spells it.
pub(crate) fn spelled(message: &str) -> Cow<'_, str> {
    SPELLING.get().map_or(Cow::Borrowed(message), |spelling| spelling(message))
}

/// The message, with remedies as the host language spells them.
impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if SPELLING.get().is_none() { self.0.fmt(f) } else { f.write_str(&spelled(&self.0.to_string())) }
    }
}

/// The message, with remedies as Python spells them.
impl fmt::Display for ErrorKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ErrorKind::Broadcast { op, lhs, rhs } => broadcast_message(f, op, lhs, rhs),
            ErrorKind::Shape { op, detail }
            | ErrorKind::DType { op, detail }
            | ErrorKind::Type { op, detail }
            | ErrorKind::Value { op, detail }
            | ErrorKind::Assertion { op, detail }
            | ErrorKind::Index { op, detail } => write!(f, "{op}: {detail}"),
            ErrorKind::DimRange { op, dim, ndim } => {
                let n = (*ndim).max(1) as i64;
                write!(
                    f,
                    "{op}: Dimension out of range (expected to be in range of [{}, {}], but got {dim})",
                    -n,
                    n - 1
                )
            }
            ErrorKind::StaleSave(s) => s.fmt(f),
            ErrorKind::Freed(freed) => freed.fmt(f),
            ErrorKind::NonFinite(facts) => facts.fmt(f),
            ErrorKind::Autograd { detail } | ErrorKind::NotImplemented { detail } | ErrorKind::Linalg { detail } => {
                f.write_str(detail)
            }
            ErrorKind::NoKernel { op, kernel, dtype } => {
                if op != kernel {
                    write!(f, "{op}: ")?;
                }
                let dtype = dtype.scalar_type_name();
                write!(
                    f,
                    "\"{kernel}\" not implemented for '{dtype}': convert with .to(float32) or another dtype that {op} takes"
                )
            }
            ErrorKind::Sparse { op, backend } => match *op {
                "storage" | "untyped_storage" => {
                    write!(f, "Cannot access storage of SparseTensorImpl: a sparse tensor has none, its values() have")
                }
                "data_ptr" | "tolist" | "__dlpack__" | "__buffer__" | "view_of_memory" => write!(
                    f,
                    "{op}: Cannot access data pointer of Tensor that doesn't have storage: use to_dense() or values() of the \
                     sparse tensor"
                ),
                _ => write!(
                    f,
                    "Could not run 'aten::{op}' with arguments from the '{backend}' backend. {op} does not take sparse tensors: \
                     use to_dense() or values() of them"
                ),
            },
            ErrorKind::Batched { op } => {
                match *op {
                    "item" => f.write_str(
                        "vmap: It looks like you're calling .item() on a Tensor. We don't support vmap over calling .item() \
                         on a Tensor, please try to rewrite what you're doing with other operations. There is no \
                         data-dependent control flow either",
                    )?,
                    "storage" => f.write_str("vmap: Cannot access storage of BatchedTensorImpl")?,
                    "data_ptr" | "numpy" | "tolist" | "__dlpack__" | "__buffer__" => {
                        write!(f, "vmap: {op}: Cannot access data pointer of Tensor that doesn't have storage")?;
                    }
                    op => write!(
                        f,
                        "vmap: It looks like you're attempting to use a Tensor in some data-dependent control flow. We don't \
                         support that yet: {op} reads values"
                    )?,
                }
                f.write_str(
                    ". A tensor inside vmap has the values of all entries of a batch, and no single one: use where() for a \
                     choice, and read values outside the mapped function.",
                )
            }
            ErrorKind::OutOfMemory { bytes } => {
                write!(f, "out of memory: could not allocate {bytes} bytes for a tensor")
            }
            ErrorKind::Foreign(_) => f.write_str("an exception raised by a hook or a custom function"),
        }
    }
}

fn broadcast_message(f: &mut fmt::Formatter<'_>, op: &str, lhs: &[usize], rhs: &[usize]) -> fmt::Result {
    write!(f, "{op}: shapes {} and {} do not broadcast", Shape(lhs), Shape(rhs))?;
    let ndim = lhs.len().max(rhs.len());
    let at = |s: &[usize], axis: usize| (axis + s.len()).checked_sub(ndim).map_or(1, |i| s[i]);
    for axis in (0..ndim).rev() {
        let (l, r) = (at(lhs, axis), at(rhs, axis));
        if l != r && l != 1 && r != 1 {
            return write!(
                f,
                ": The size of tensor a ({l}) must match the size of tensor b ({r}) at non-singleton dimension {axis}"
            );
        }
    }
    Ok(())
}

/// The lines of the user's program that have to do with an error, one per row.
fn locations(f: &mut fmt::Formatter<'_>, rows: &[(&str, &Option<SourceLocation>)]) -> fmt::Result {
    for (what, location) in rows {
        if let Some(location) = location {
            write!(f, "\n  {what:<21} {location}")?;
        }
    }
    Ok(())
}

impl fmt::Display for StaleSave {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "one of the variables needed for gradient computation has been modified by an inplace operation: \
             [torch.{} {}]",
            self.dtype.tensor_type_name(),
            Sizes(&self.sizes)
        )?;
        if let Some((producer, nr)) = &self.producer {
            write!(f, ", which is output {nr} of {producer},")?;
        }
        write!(
            f,
            " is at version {}; expected version {} instead. {} saved it as '{}'.",
            self.now, self.saved, self.node, self.input
        )?;
        locations(
            f,
            &[
                ("saved by the op at", &self.saved_at),
                ("last written at", &self.written_at),
                ("needed at", &self.needed_at),
            ],
        )?;
        f.write_str("\n")?;
        match &self.written_at {
            Some(place) => write!(
                f,
                "To fix it, let line {} write to a copy: use the out-of-place form of its op, or clone() the tensor before.",
                place.line
            )?,
            None => {
                f.write_str("To fix it, clone() the tensor before the in-place op, or use the op's out-of-place form.")?
            }
        }
        f.write_str(if self.traced {
            " Hint: the backtrace further above shows the operation that failed to compute its gradient."
        } else {
            " Hint: enable anomaly detection for the whole traceback of the operation that failed to compute its gradient, \
             with retrograd.autograd.set_detect_anomaly(True)."
        })
    }
}

impl fmt::Display for Freed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "Trying to backward through the graph a second time (or directly access saved tensors after they have already \
             been freed): {} freed its saved tensors when it ran.",
            self.node
        )?;
        locations(
            f,
            &[
                ("recorded by the op at", &self.recorded_at),
                ("freed by the run at", &self.freed_at),
                ("needed again at", &self.needed_at),
            ],
        )?;
        let first = match &self.freed_at {
            Some(place) => format!("in the call in line {}", place.line),
            None => "in the first backward or grad call".into(),
        };
        write!(
            f,
            "\nSpecify retain_graph=True {first} if you need to run the graph again or to access saved tensors afterwards."
        )
    }
}

impl fmt::Debug for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Error({self})")
    }
}

impl std::error::Error for Error {}
