//! Op definitions and what they have in common: the [`Entry`] of an op, and the values that calls are made of.

pub mod casts;
pub mod create;
#[cfg(feature = "fft")]
pub mod fft;
pub mod index;
#[cfg_attr(not(feature = "linalg"), path = "without_linalg.rs")]
pub mod linalg;
pub mod matmul;
pub mod memory;
#[cfg(feature = "nn")]
pub mod nn;
pub mod out_dtype;
pub mod pointwise;
pub mod promotion_queries;
pub mod queries;
pub mod random;
pub mod reduce;
#[cfg(feature = "rnn")]
pub mod rnn;
pub mod sets;
pub mod sort;
pub mod sparse;
pub mod view;

pub mod options;

pub use crate::tensor::{Arg, Device, Form, IntoValue, Kind, OneOrMany, Value};
pub use options::TensorOptions;
pub use out_dtype::OutDtype;

use crate::autocast::Policy;
use crate::error::Result;
use crate::tensor::Tensor;

/// Bits of [`Entry::forms`].
pub mod forms {
    pub const FUNCTION: u32 = 1;
    pub const METHOD: u32 = 2;
    pub const INPLACE: u32 = 4;
    pub const OUT: u32 = 8;
}

/// A parameter of an op.
#[derive(Clone, Copy, Debug)]
pub struct Param {
    pub name: &'static str,
    pub kind: Kind,
    /// None is accepted.
    pub optional: bool,
    /// As Python writes it.
    pub default: Option<&'static str>,
    pub kw_only: bool,
    /// The type in Rust, as the definition writes it without spaces; `TensorOptions` for each of its parts.
    #[cfg(feature = "signatures")]
    pub rust: &'static str,
}

/// The face of an op, as its definition states it. Several entries of one name are its overloads, tried in roster
/// order.
pub struct Entry {
    pub name: &'static str,
    /// `""` for the top level, `"fft"`, `"linalg"`, `"masked"`, `"nn.functional"`, `"signal.windows"`, `"sparse"` or
    /// `"special"`.
    pub module: &'static str,
    pub aliases: &'static [&'static str],
    pub doc: &'static str,
    pub params: &'static [Param],
    /// Orders of positional arguments that it took once, the names separated by spaces.
    pub old: &'static [&'static str],
    pub forms: u32,
    /// What the `out=` form, if there is one, does with another dtype.
    pub out: OutDtype,
    /// Names of the results, if they have names.
    pub fields: &'static [&'static str],
    /// What autocast does to its operands.
    pub autocast: Option<Policy>,
    /// The Rust type of the result, as written in the definition.
    pub returns: &'static str,
    /// The path of the function in Rust.
    #[cfg(feature = "signatures")]
    pub rust: &'static str,
    /// The op on dynamic values, one per parameter.
    pub call: fn(Form, &[Value]) -> Result<Value>,
    /// The op on a tensor and little else.
    pub direct: Direct,
}

type Unary = fn(Form, &Tensor) -> Result<Tensor>;
type Binary = fn(Form, &Tensor, &Tensor) -> Result<Tensor>;
type OfInts = fn(Form, &Tensor, &[i64]) -> Result<Tensor>;

/// The op on a tensor and little else, for callers who have that at hand: what [`Entry::call`] does with the same
/// values, and with [`Value::Default`] for all other parameters.
#[derive(Clone, Copy, Debug)]
pub struct Direct {
    pub one: Option<Unary>,
    pub two: Option<Binary>,
    pub ints: Option<DirectInts>,
}

impl Direct {
    pub const NONE: Self = Self { one: None, two: None, ints: None };
}

/// The op on a tensor and integers.
#[derive(Clone, Copy, Debug)]
pub struct DirectInts {
    pub call: OfInts,
    /// How many separate arguments the integers may be.
    pub fewest: usize,
    pub most: usize,
    /// Whether they are one parameter, which takes a list.
    pub list: bool,
}

impl Entry {
    pub fn has(&self, form: u32) -> bool {
        self.forms & form != 0
    }
    /// Dotted name, as the roster lists it: `mul`, `nn.functional.linear`, `Tensor.view`.
    pub fn path(&self) -> String {
        match (self.module, self.has(forms::FUNCTION)) {
            ("", true) => self.name.to_string(),
            ("", false) if self.has(forms::METHOD) => format!("Tensor.{}", self.name),
            ("", false) => format!("Tensor.{}_", self.name),
            (module, _) => format!("{module}.{}", self.name),
        }
    }
}

/// Every entry, family by family.
pub fn roster() -> impl Iterator<Item = &'static Entry> {
    [
        create::ROSTER,
        random::ROSTER,
        memory::ROSTER,
        casts::ROSTER,
        queries::ROSTER,
        pointwise::arith::ROSTER,
        pointwise::roots::ROSTER,
        pointwise::activation::ROSTER,
        pointwise::rounding::ROSTER,
        pointwise::compare::ROSTER,
        pointwise::complex::ROSTER,
        pointwise::polar::ROSTER,
        pointwise::select::ROSTER,
        reduce::ROSTER,
        reduce::MASKED_ROSTER,
        sort::ROSTER,
        view::ROSTER,
        sparse::ROSTER,
        view::copies::ROSTER,
        index::ROSTER,
        matmul::ROSTER,
        #[cfg(feature = "nn")]
        nn::ROSTER,
        pointwise::exponential::ROSTER,
        pointwise::trigonometry::ROSTER,
        pointwise::sign_and_fraction::ROSTER,
        pointwise::special::ROSTER,
        #[cfg(feature = "special")]
        pointwise::bessel::ROSTER,
        #[cfg(feature = "special")]
        pointwise::incomplete_gamma::ROSTER,
        #[cfg(feature = "special")]
        pointwise::polynomials::ROSTER,
        pointwise::binary::ROSTER,
        pointwise::ternary::ROSTER,
        pointwise::discrete::ROSTER,
        pointwise::neighbours::ROSTER,
        sets::ROSTER,
        promotion_queries::ROSTER,
        #[cfg(feature = "conv")]
        nn::conv::ROSTER,
        #[cfg(feature = "rnn")]
        rnn::ROSTER,
        #[cfg(feature = "conv")]
        nn::pool::ROSTER,
        #[cfg(feature = "conv")]
        nn::image::ROSTER,
        linalg::ROSTER,
        #[cfg(feature = "fft")]
        fft::ROSTER,
    ]
    .into_iter()
    .flatten()
    .copied()
}
