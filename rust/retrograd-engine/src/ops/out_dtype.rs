//! What the `out=` form of an op does with a tensor of another dtype than its result.

use crate::error::{Error, Result};
use crate::tensor::DType;

/// A fact of each op, stated where the op is: `#[op(function, out = SAME)]`; plain `out` is [`OutDtype::Cast`].
#[derive(Clone, Copy, Debug)]
pub enum OutDtype {
    /// The result is converted, unless to a lower category: see [`super::memory::write_out`].
    Cast,
    /// The result is not converted, and the op says so in these phrases: one for each of its results, the last for all
    /// that follow. `{result}` and `{out}` are replaced by C++'s names of the dtypes, `{Result}` and `{Out}` by those
    /// of scalar types.
    Same(&'static [&'static str]),
    /// The result is converted within its category, complex or floating numbers, and the op says so in this phrase,
    /// with `{Out}` as above.
    Category(&'static str),
    /// The op computes in the dtype of `out=`, which its `dtype`, if given, must be. So do all factories.
    Computed,
    /// Truth values are written to bools and bytes, and to nothing else.
    Truth,
}

pub const COMPUTED: OutDtype = OutDtype::Computed;
pub const TRUTH: OutDtype = OutDtype::Truth;
/// The phrase of most ops.
pub const SAME: OutDtype = OutDtype::Same(&["Expected out tensor to have dtype {result}, but got {out} instead"]);
/// The phrase of elementwise ops that write to the given tensor directly.
pub const FOUND: OutDtype = OutDtype::Same(&["Found dtype {Out} but expected {Result}"]);
/// The phrase of running extremes.
pub const SCALAR: OutDtype = OutDtype::Same(&["expected scalar_type {Result} but found {Out}"]);

impl OutDtype {
    /// Checks, before anything is written, that result `i` of dtype `result` may go to a tensor of dtype `out`.
    pub fn check(self, op: &'static str, i: usize, result: DType, out: DType) -> Result<()> {
        let phrases = match self {
            OutDtype::Category(phrase) if result.category() != out.category() => &[phrase],
            OutDtype::Same(phrases) if result != out => phrases,
            OutDtype::Truth if !matches!(out, DType::Bool | DType::UInt8) => {
                let detail = format!("{op} only supports bool tensor for result, got: {}", out.scalar_type_name());
                return Err(Error::dtype(op, detail));
            }
            _ => return Ok(()),
        };
        let detail = phrases[i.min(phrases.len() - 1)]
            .replace("{result}", result.cpp_name())
            .replace("{out}", out.cpp_name())
            .replace("{Result}", result.scalar_type_name())
            .replace("{Out}", out.scalar_type_name());
        let remedy = format!("give out= a tensor of dtype {}, or none", result.name());
        Err(Error::dtype(op, format!("{detail}: {remedy}")))
    }
}

/// Refuses the `dtype` of an op that computes in that of `out=`; `makes` says whether the op is a factory.
#[cold]
pub fn refused(op: &'static str, makes: bool, dtype: DType, out: DType) -> Error {
    let detail = if makes {
        let (dtype, out) = (dtype.scalar_type_name(), out.scalar_type_name());
        format!("dtype {dtype} does not match dtype of out parameter ({out})")
    } else {
        format!("Expected out tensor to have dtype {}, but got {} instead", dtype.cpp_name(), out.cpp_name())
    };
    Error::dtype(op, detail)
}
