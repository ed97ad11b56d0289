//! Record one call of a function, replay the others.
//!
//! [`record::begin`] has the op entry note each primitive as a step; [`record::end`] gives the [`Recording`]. A
//! [`Program`] is what is left of it when steps that nobody needs are gone and every buffer has a place. A replay runs
//! the steps: no graph is made, no memory asked for but that of results, and the host language is not called.
//!
//! What a function is given, what it captures and how the steps connect is found in one call. So a recording holds for
//! calls that are like it: the same layouts, dtypes and modes, the same captured tensors. [`Recording::differs`]
//! compares the recordings of two calls, and finds what changes from call to call without being an argument.

mod backward;
mod blocks;
mod compare;
mod explain;
mod function;
mod order;
mod pointwise;
mod program;
pub mod record;
mod recording;
mod replay;

pub use compare::OtherNumber;
pub use explain::Times;
pub use function::{Call, Compiled, Kind, Kinds, compile, recorded};
pub use record::{Refusal, abandon, begin, end, is_recording, modes_allow, read, refuse, set_rates};
pub use recording::{Rates, Recording, Update};
pub use replay::{Program, Replayed};
