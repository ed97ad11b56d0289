//! What calls are made of: dynamic values, their conversion to the types that ops take, and the form of an op.

use crate::error::{Error, Result};
use crate::generator::Generator;
use crate::tensor::{DType, Dims, Layout, MemoryFormat, Scalar, Strides, Tensor, device};

/// Where the result of an op goes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Form {
    /// A fresh tensor.
    New,
    /// The first operand.
    InPlace,
    /// The tensor given as `out=`, if the op can write to it at once (`autograd::apply::with_out`); else a fresh one.
    Out,
}

impl Form {
    pub(crate) fn is_in_place(self) -> bool {
        self == Form::InPlace
    }
}

/// A value on its way into or out of an op.
#[derive(Clone, Debug)]
pub enum Value {
    /// The argument was not given.
    Default,
    None,
    Tensor(Tensor),
    Scalar(Scalar),
    Ints(Vec<i64>),
    /// Integers, some of which are left open.
    OpenInts(Vec<Option<i64>>),
    Floats(Vec<f64>),
    Tensors(Vec<Tensor>),
    DType(DType),
    MemoryFormat(MemoryFormat),
    Layout(Layout),
    Str(String),
    Generator(Generator),
    /// Several results; with names, they become a named tuple.
    Tuple(Vec<Value>, &'static [&'static str]),
}

/// What a parameter takes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Kind {
    Tensor,
    /// A tensor, or a number that becomes a 0-dim tensor and promotes by category.
    Operand,
    Scalar,
    Bool,
    Int,
    Float,
    /// An integer or a sequence of them.
    Ints,
    /// An integer or a sequence of integers and None.
    OpenInts,
    /// A number or a sequence of them.
    Floats,
    /// A sequence of integers, or separate integer arguments.
    Size,
    Tensors,
    /// A sequence of tensors, or separate tensor arguments.
    Varargs,
    DType,
    Str,
    Generator,
    /// Only the CPU exists; the parameter is there for code that names it.
    Device,
    Layout,
    MemoryFormat,
}

/// A type that a parameter of an op may have.
pub trait Arg<'a>: Sized {
    const KIND: Kind;
    const OPTIONAL: bool = false;
    fn get(value: &'a Value) -> Result<Self>;
    /// What a profile notes of it.
    fn note(&self) -> Noted {
        Noted::Other
    }
}

/// An argument of a call, as a profile notes it.
#[derive(Clone, Debug)]
pub enum Noted {
    Tensor {
        sizes: Dims,
        strides: Strides,
        dtype: DType,
        requires_grad: bool,
    },
    /// A number, or a list of numbers.
    Value(Value),
    /// What a profile does not show.
    Other,
}

impl Noted {
    pub fn of(t: &Tensor) -> Self {
        Noted::Tensor {
            sizes: t.dims().clone(),
            strides: Strides::from_slice(t.strides()),
            dtype: t.dtype(),
            requires_grad: t.requires_grad(),
        }
    }
    /// Of the matrices of `t`, transposed.
    pub(crate) fn transposed(t: &Tensor) -> Self {
        let mut noted = Self::of(t);
        if let Noted::Tensor { sizes, strides, .. } = &mut noted
            && let Some(row) = sizes.len().checked_sub(2)
        {
            sizes.swap(row, row + 1);
            strides.swap(row, row + 1);
        }
        noted
    }
    /// The sizes of a tensor; none for what is no tensor.
    pub fn sizes(&self) -> &[usize] {
        match self {
            Noted::Tensor { sizes, .. } => sizes,
            _ => &[],
        }
    }
}

/// The CPU.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Device;

#[cold]
fn wrong(kind: Kind, value: &Value) -> Error {
    Error::type_error("argument", format!("expected {kind:?}, got {value:?}"))
}

fn number<T: Copy + Into<Value>>(n: &T) -> Noted {
    Noted::Value((*n).into())
}

macro_rules! arg {
    ($($t:ty, $kind:ident, $p:pat => $e:expr $(, $note:expr)?;)*) => { $(
        impl<'a> Arg<'a> for $t {
            const KIND: Kind = Kind::$kind;
            fn get(value: &'a Value) -> Result<Self> {
                match value { $p => Ok($e), other => Err(wrong(Kind::$kind, other)) }
            }
            $(fn note(&self) -> Noted {
                let note: fn(&Self) -> Noted = $note;
                note(self)
            })?
        }
    )* };
}
arg! {
    &'a Tensor, Tensor, Value::Tensor(t) => t, |t| Noted::of(t);
    Scalar, Scalar, Value::Scalar(s) => *s, number;
    bool, Bool, Value::Scalar(Scalar::Bool(b)) => *b, number;
    i64, Int, Value::Scalar(s @ (Scalar::Int(_) | Scalar::Bool(_))) => s.as_i64(), number;
    f64, Float, Value::Scalar(s) => s.as_f64(), number;
    &'a [i64], Ints, Value::Ints(v) => v, |v| Noted::Value(Value::Ints(v.to_vec()));
    &'a [Option<i64>], OpenInts, Value::OpenInts(v) => v, |v| Noted::Value(Value::OpenInts(v.to_vec()));
    &'a [f64], Floats, Value::Floats(v) => v, |v| Noted::Value(Value::Floats(v.to_vec()));
    &'a [Tensor], Tensors, Value::Tensors(v) => v;
    DType, DType, Value::DType(d) => *d;
    MemoryFormat, MemoryFormat, Value::MemoryFormat(f) => *f;
    Layout, Layout, Value::Layout(l) => *l;
    &'a str, Str, Value::Str(s) => s;
    &'a Generator, Generator, Value::Generator(g) => g;
}

impl<'a> Arg<'a> for Device {
    const KIND: Kind = Kind::Device;
    fn get(value: &'a Value) -> Result<Self> {
        match value {
            Value::Str(name) => device::named(name).and_then(|(kind, _)| device::demand_cpu(kind)).map(|()| Device),
            other => Err(wrong(Kind::Device, other)),
        }
    }
}

impl<'a, T: Arg<'a>> Arg<'a> for Option<T> {
    const KIND: Kind = T::KIND;
    const OPTIONAL: bool = true;
    fn get(value: &'a Value) -> Result<Self> {
        match value {
            Value::None | Value::Default => Ok(None),
            v => T::get(v).map(Some),
        }
    }
    fn note(&self) -> Noted {
        self.as_ref().map_or(Noted::Other, T::note)
    }
}

/// A type that an op may return.
pub trait IntoValue {
    fn into_value(self, fields: &'static [&'static str]) -> Value;
}
impl IntoValue for Tensor {
    fn into_value(self, _: &'static [&'static str]) -> Value {
        Value::Tensor(self)
    }
}
impl IntoValue for () {
    fn into_value(self, _: &'static [&'static str]) -> Value {
        Value::None
    }
}
impl IntoValue for Vec<Tensor> {
    fn into_value(self, fields: &'static [&'static str]) -> Value {
        Value::Tuple(self.into_iter().map(Value::Tensor).collect(), fields)
    }
}
/// What an op returns whose keyword decides how many tensors there are, and whether these have names.
#[derive(Clone, Debug)]
pub struct MaybeNamed(pub Vec<Tensor>, pub bool);
impl IntoValue for MaybeNamed {
    fn into_value(self, fields: &'static [&'static str]) -> Value {
        self.0.into_value(if self.1 { fields } else { &[] })
    }
}
/// What an op returns whose keyword decides between a tensor and a tuple of them.
#[derive(Clone, Debug)]
pub enum OneOrMany {
    One(Tensor),
    Many(Vec<Tensor>),
}
impl IntoValue for OneOrMany {
    fn into_value(self, fields: &'static [&'static str]) -> Value {
        match self {
            OneOrMany::One(t) => t.into_value(fields),
            OneOrMany::Many(ts) => ts.into_value(fields),
        }
    }
}
impl IntoValue for (Tensor, Tensor) {
    fn into_value(self, fields: &'static [&'static str]) -> Value {
        Value::Tuple(vec![Value::Tensor(self.0), Value::Tensor(self.1)], fields)
    }
}
impl IntoValue for (Tensor, Vec<Tensor>) {
    fn into_value(self, fields: &'static [&'static str]) -> Value {
        Value::Tuple(vec![Value::Tensor(self.0), self.1.into_value(&[])], fields)
    }
}
impl IntoValue for bool {
    fn into_value(self, _: &'static [&'static str]) -> Value {
        Value::Scalar(Scalar::Bool(self))
    }
}
impl IntoValue for i64 {
    fn into_value(self, _: &'static [&'static str]) -> Value {
        Value::Scalar(Scalar::Int(self))
    }
}
impl IntoValue for DType {
    fn into_value(self, _: &'static [&'static str]) -> Value {
        Value::DType(self)
    }
}
impl IntoValue for Scalar {
    fn into_value(self, _: &'static [&'static str]) -> Value {
        Value::Scalar(self)
    }
}

impl From<bool> for Value {
    fn from(v: bool) -> Self {
        Value::Scalar(Scalar::Bool(v))
    }
}
impl From<i64> for Value {
    fn from(v: i64) -> Self {
        Value::Scalar(Scalar::Int(v))
    }
}
impl From<usize> for Value {
    fn from(v: usize) -> Self {
        Value::from(v as i64)
    }
}
impl From<f64> for Value {
    fn from(v: f64) -> Self {
        Value::Scalar(Scalar::Float(v))
    }
}
impl From<Scalar> for Value {
    fn from(v: Scalar) -> Self {
        Value::Scalar(v)
    }
}
impl From<&str> for Value {
    fn from(v: &str) -> Self {
        Value::Str(v.into())
    }
}
impl<T: Into<Value>> From<Option<T>> for Value {
    fn from(v: Option<T>) -> Self {
        v.map_or(Value::None, T::into)
    }
}
impl From<&[usize]> for Value {
    fn from(v: &[usize]) -> Self {
        Value::Ints(v.iter().map(|&n| n as i64).collect())
    }
}
impl From<&[i64]> for Value {
    fn from(v: &[i64]) -> Self {
        Value::Ints(v.to_vec())
    }
}
