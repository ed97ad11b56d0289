//! Functions over blocks of float64 numbers, compiled for every instruction set.

use std::mem::MaybeUninit;

use crate::simd::Vector;

/// A function of `K` numbers, over slices of one length: `out[i] = f([inputs..][i])`.
pub type Block<const K: usize> = fn([&[f64]; K], &mut [MaybeUninit<f64>]);

/// Lists blocks: name, arguments, and the body in vectors `V`.
macro_rules! blocks {
    ($($(#[$doc:meta])* $name:ident[$($x:ident),+] = $body:expr;)*) => { $(
        $(#[$doc])*
        pub fn $name(
            inputs: [&[f64]; { [$(stringify!($x)),+].len() }],
            out: &mut [std::mem::MaybeUninit<f64>],
        ) {
            struct F;
            impl crate::pointwise::Body<f64, { [$(stringify!($x)),+].len() }> for F {
                const PAIRED: bool = false;
                #[inline(always)]
                fn f<V: crate::simd::Vector<Elem = f64>>(
                    &self,
                    [$($x),+]: [V; { [$(stringify!($x)),+].len() }],
                ) -> V {
                    $body
                }
            }
            crate::pointwise::lanes_of_slices(&F, inputs, out)
        }
    )* };
}
pub(super) use blocks;

/// `$then` in the lanes of the mask, `$other` in the others, for an argument `$x`; what no lane needs is not computed.
macro_rules! either {
    ($x:ident, $mask:expr, $then:expr, $other:expr) => {{
        let mask = $mask;
        let mut y = $x;
        if V::mask_bits(mask) != 0 {
            y = $then;
        }
        if !V::all(mask) {
            y = y.select(mask, $other);
        }
        y
    }};
}
pub(super) use either;

/// Whether a mask is true in any lane.
#[inline(always)]
pub(super) fn any<V: Vector>(mask: V::Mask) -> bool {
    V::mask_bits(mask) != 0
}

/// The largest integer that is not above `x`, for numbers below 2^51.
#[inline(always)]
pub(super) fn floor<V: Vector>(x: V) -> V {
    let near = x.nearest(x.of(1.0));
    (near - x.of(1.0)).select(x.lt(near), near)
}

/// The function at one point.
pub fn at<const K: usize>(f: Block<K>, x: [f64; K]) -> f64 {
    let mut out = [MaybeUninit::new(0.0)];
    f(std::array::from_fn(|k| std::slice::from_ref(&x[k])), &mut out);
    // SAFETY: it was initialised.
    unsafe { out[0].assume_init() }
}
