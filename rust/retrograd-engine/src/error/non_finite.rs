//! The error that an op made a NaN or an infinity: its facts, and how they are told.

use std::fmt;

use super::Shape;
use crate::call_site::SourceLocation;
use crate::tensor::dtype::DType;
use crate::tensor::scalar::Scalar;

/// The facts of [`ErrorKind::NonFinite`](super::ErrorKind::NonFinite).
#[derive(Clone, Debug)]
pub struct NonFinite {
    /// The op or node that made it.
    pub maker: String,
    /// The op that the user called, which is composed of others.
    pub called: Option<&'static str>,
    /// Which of several results.
    pub result: usize,
    /// Of a node: the op whose gradient it computes.
    pub gradient_of: Option<String>,
    pub index: Vec<usize>,
    pub value: Scalar,
    pub sizes: Vec<usize>,
    pub dtype: DType,
    pub operands: Vec<Operand>,
    /// Where the op was called; of a node, the op that recorded it.
    pub location: Option<SourceLocation>,
    pub reason: Option<String>,
}

/// What a message says of an operand.
#[derive(Clone, Debug)]
pub struct Operand {
    pub name: String,
    pub sizes: Vec<usize>,
    pub dtype: DType,
    /// The element that the entry was made of.
    pub at: Option<Scalar>,
    /// The smallest and the largest element.
    pub range: Option<(Scalar, Scalar)>,
}

/// A number as messages show it: as few digits as its dtype needs.
struct Number(Scalar, DType);

impl fmt::Display for Number {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let real = |f: &mut fmt::Formatter<'_>, x: f64| match x {
            _ if x.is_nan() => f.write_str("nan"),
            _ if matches!(self.1, DType::Float64 | DType::Complex128) => write!(f, "{x:?}"),
            _ => write!(f, "{:?}", x as f32),
        };
        match self.0 {
            Scalar::Bool(b) => write!(f, "{b}"),
            Scalar::Int(i) => write!(f, "{i}"),
            Scalar::UInt(i) => write!(f, "{i}"),
            Scalar::Float(x) => real(f, x),
            Scalar::Complex(x, y) => {
                f.write_str("(")?;
                real(f, x)?;
                f.write_str(if y.is_sign_negative() && !y.is_nan() { "-" } else { "+" })?;
                real(f, if y.is_nan() { y } else { y.abs() })?;
                f.write_str("j)")
            }
        }
    }
}

impl fmt::Display for NonFinite {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { maker, result, value, dtype, .. } = self;
        write!(f, "{maker} made {} at index {} of ", Number(*value, *dtype), Shape(&self.index))?;
        match &self.gradient_of {
            Some(op) if !op.is_empty() => write!(f, "its gradient {result}, that of operand {result} of {op}")?,
            Some(_) => write!(f, "its gradient {result}")?,
            _ if *result > 0 => write!(f, "its result {result}")?,
            _ => f.write_str("its result")?,
        }
        write!(f, " ({} of sizes {})", dtype.name(), Shape(&self.sizes))?;
        if let Some(called) = self.called.filter(|called| called != maker) {
            write!(f, ", in {called}")?;
        }
        for Operand { name, sizes, dtype, at, range } in &self.operands {
            write!(f, "\n  {name} ({} of sizes {})", dtype.name(), Shape(sizes))?;
            match (at, range) {
                (Some(at), _) => write!(f, " is {} there", Number(*at, *dtype))?,
                (None, Some((min, max))) => write!(f, " is from {} to {}", Number(*min, *dtype), Number(*max, *dtype))?,
                (None, None) => {}
            }
        }
        if let Some(location) = &self.location {
            let what = if self.gradient_of.is_some() { "the op was called" } else { "called" };
            write!(f, "\n  {what} at {location}")?;
        }
        self.reason.as_ref().map_or(Ok(()), |reason| write!(f, "\n{reason}"))
    }
}
