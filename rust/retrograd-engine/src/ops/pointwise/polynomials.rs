//! Orthogonal polynomials, without derivatives, as in torch.

use retrograd_macros::op;

use super::binary::{BinaryFunction, run};
use super::refuse_numbers;
use super::scalar_loop::run_blocks;
use crate::error::Result;
use crate::kernels::special;
use crate::ops::{Entry, Form};
use crate::tensor::Tensor;

/// Lists polynomials: name, the function of the argument and the degree, and what the documentation calls it.
macro_rules! polynomials {
    ($($entry:ident $name:ident $f:ident, $title:literal;)*) => {
        /// Entries of this family.
        pub static ROSTER: &[&Entry] = &[$(&$entry),*];
        $(
            #[doc = concat!(" The ", $title, " of degree `n`, at each element of `x`.")]
            ///
            /// Args: `x` and `n` tensors of any real dtype but halves with broadcastable shapes, one may be a number;
            /// integers are converted to the default float dtype, and degrees cut to integers. Returns: a tensor of
            /// the broadcast shape and promoted dtype; 0 for negative degrees. Derivative: none, as in torch. Raises:
            /// RuntimeError if the shapes do not broadcast.
            ///
            #[doc = concat!(" >>> rg.special.", stringify!($name), "(rg.tensor([0.25]), 0).tolist()")]
            /// [1.0]
            #[op(function, out, norust, module = "special")]
            pub fn $name(#[operand] x: &Tensor, #[operand] n: &Tensor) -> Result<Tensor> {
                const FUNCTION: &BinaryFunction = &BinaryFunction {
                    name: stringify!($name),
                    node: "NotImplemented",
                    with_numbers: [None; 2],
                    kernel: |xs, out| run_blocks(xs, out, &special::$f),
                    of_complex: None,
                    integers: true,
                    halves: false,
                    vjps: [|g, _| Ok(g.clone()); 2],
                };
                refuse_numbers(stringify!($name), x, n)?;
                // A number stays one, for it promotes otherwise.
                let [x, n] = [x, n].map(|x| if x.is_number() { x.clone() } else { x.detach() });
                run::<0>(Form::New, FUNCTION, &x, &n)
            }
        )*
    };
}
polynomials! {
    CHEBYSHEV_POLYNOMIAL_T chebyshev_polynomial_t chebyshev_t,
        "Chebyshev polynomial of the first kind";
    CHEBYSHEV_POLYNOMIAL_U chebyshev_polynomial_u chebyshev_u,
        "Chebyshev polynomial of the second kind";
    CHEBYSHEV_POLYNOMIAL_V chebyshev_polynomial_v chebyshev_v,
        "Chebyshev polynomial of the third kind";
    CHEBYSHEV_POLYNOMIAL_W chebyshev_polynomial_w chebyshev_w,
        "Chebyshev polynomial of the fourth kind";
    SHIFTED_CHEBYSHEV_POLYNOMIAL_T shifted_chebyshev_polynomial_t shifted_chebyshev_t,
        "Chebyshev polynomial of the first kind, from the interval from 0 to 1,";
    SHIFTED_CHEBYSHEV_POLYNOMIAL_U shifted_chebyshev_polynomial_u shifted_chebyshev_u,
        "Chebyshev polynomial of the second kind, from the interval from 0 to 1,";
    SHIFTED_CHEBYSHEV_POLYNOMIAL_V shifted_chebyshev_polynomial_v shifted_chebyshev_v,
        "Chebyshev polynomial of the third kind, from the interval from 0 to 1,";
    SHIFTED_CHEBYSHEV_POLYNOMIAL_W shifted_chebyshev_polynomial_w shifted_chebyshev_w,
        "Chebyshev polynomial of the fourth kind, from the interval from 0 to 1,";
    HERMITE_POLYNOMIAL_H hermite_polynomial_h hermite_h, "Hermite polynomial of physics";
    HERMITE_POLYNOMIAL_HE hermite_polynomial_he hermite_he, "Hermite polynomial of probability";
    LAGUERRE_POLYNOMIAL_L laguerre_polynomial_l laguerre_l, "Laguerre polynomial";
    LEGENDRE_POLYNOMIAL_P legendre_polynomial_p legendre_p, "Legendre polynomial";
}
