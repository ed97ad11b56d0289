//! What the `out=` form of an op does with a tensor of another dtype than its result.

use crate::error::{Error, Result};
use crate::tensor::DType;

/// A fact of each op, stated where the op is: `#[op(function, out = SAME)]`; plain `out` is [`OutDtype::Cast`].
#[derive(Clone, Copy, Debug)]
pub enum OutDtype {
    /// The result is converted, unless to a lower category: see [`super::memory::write_out`].
    Cast,
    /// The result is not converted, and the op says so in these phrases: one for each of its results, the last for all that
    /// follow. `{result}` and `{out}` stand for the dtypes as C++ names them, `{Result}` and `{Out}` for scalar types.
    Same(&'static [&'static str]),
}

/// In the phrase that most ops use.
pub const SAME: OutDtype = OutDtype::Same(&["Expected out tensor to have dtype {result}, but got {out} instead"]);
/// In that of elementwise ops which write to the given tensor at once.
pub const FOUND: OutDtype = OutDtype::Same(&["Found dtype {Out} but expected {Result}"]);
/// In that of running extremes.
pub const SCALAR: OutDtype = OutDtype::Same(&["expected scalar_type {Result} but found {Out}"]);

impl OutDtype {
    /// Checks, before anything is written, that result `i` of dtype `result` may go to a tensor of dtype `out`.
    pub fn check(self, op: &'static str, i: usize, result: DType, out: DType) -> Result<()> {
        let OutDtype::Same(phrases) = self else { return Ok(()) };
        if result == out {
            return Ok(());
        }
        let detail = phrases[i.min(phrases.len() - 1)]
            .replace("{result}", result.cpp_name())
            .replace("{out}", out.cpp_name())
            .replace("{Result}", result.scalar_type_name())
            .replace("{Out}", out.scalar_type_name());
        let remedy = format!("give out= a tensor of dtype {}, or none", result.name());
        Err(Error::dtype(op, format!("{detail}: {remedy}")))
    }
}
