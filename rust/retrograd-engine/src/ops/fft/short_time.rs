//! The Fourier transforms of windows of a signal, and the signal of such transforms.

use std::fmt::{self, Display};

use retrograd_macros::op;

use super::primitives::{C2C, C2R, Norm, R2C};
use crate::autograd::apply::apply1;
use crate::error::{Error, Result, Sizes};
use crate::ops::nn::image::{constant_pad_nd, pad};
use crate::ops::view;
use crate::tensor::{Dims, Scalar, Tensor};
use crate::warn::{Once, once};

/// A tensor's type, in torch's words.
fn type_name(x: &Tensor) -> String {
    let dtype = x.dtype();
    if dtype.is_complex() {
        format!("CPU{}Type", dtype.scalar_type_name())
    } else {
        format!("torch.{}", dtype.tensor_type_name())
    }
}

/// An argument, in torch's words.
struct Shown<T>(Option<T>);

impl<T: Display> Display for Shown<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.0 {
            Some(value) => value.fmt(f),
            None => f.write_str("None"),
        }
    }
}

fn window_shown(window: Option<&Tensor>) -> Shown<String> {
    Shown(window.map(|w| format!("{}{{{}}}", type_name(w), Sizes(w.sizes()))))
}

/// `size / 4`, rounded down: how far one window is from the next.
fn quarter(size: i64) -> i64 {
    size >> 2
}

/// Zeros before and after a window so that it has `size` numbers, itself in the middle.
fn centered(window: &Tensor, size: i64) -> Result<Tensor> {
    let missing = size - window.sizes()[0] as i64;
    if missing == 0 {
        Ok(window.clone())
    } else {
        constant_pad_nd(window, &[missing / 2, missing - missing / 2], 0i64.into())
    }
}

/// The short-time Fourier transform: `y[.., k, t]` is number `k` of the transform of `input[.., t hop_length + j]
/// window[j]`, where `j` is less than `n_fft`.
///
/// Args: `input` (length) or (batch, length), a float or complex dtype; `n_fft` the points of each transform;
/// `hop_length` from one window to the next (`n_fft // 4`); `window` (win_length), in the middle of `n_fft` numbers of
/// which the others are 0 (ones); `center` to put window `t` around `t hop_length`, with a border of `n_fft // 2` that
/// `pad_mode` makes, as `nn.functional.pad` does; `normalized` to divide by the root of `n_fft`; `onesided` for the
/// first `n_fft // 2 + 1` numbers, by default if input and window are real; `return_complex` must be given if they are:
/// False is for pairs of real numbers along a new last axis; `align_to_window`, without `center`, for as many windows
/// as fit by `win_length` alone. Returns: (n_fft, windows) or (batch, n_fft, windows), complex. Derivative: that of the
/// ops it is made of. Raises: RuntimeError if sizes do not fit. Warns without a window.
///
/// >>> rg.stft(rg.ones(8), 4, window=rg.ones(4), center=False, return_complex=True).shape
/// retrograd.Size([3, 5])
#[op(
    function,
    method,
    norust,
    "(hop_length=None, win_length=None, window=None, center=True, pad_mode='reflect', normalized=False, onesided=None, return_complex=None, align_to_window=None)"
)]
pub fn stft(
    input: &Tensor,
    n_fft: i64,
    hop_length: Option<i64>,
    win_length: Option<i64>,
    window: Option<&Tensor>,
    center: bool,
    pad_mode: &str,
    normalized: bool,
    onesided: Option<bool>,
    return_complex: Option<bool>,
    align_to_window: Option<bool>,
) -> Result<Tensor> {
    const OP: &str = "stft";
    let refuse = |detail: String| Err(Error::shape(OP, detail));
    if center && align_to_window.is_some() {
        return refuse("stft align_to_window should only be set when center = false".into());
    }
    let (hop, width) = (hop_length.unwrap_or(quarter(n_fft)), win_length.unwrap_or(n_fft));
    let shown = |x: &Tensor| {
        format!(
            "stft({}{}, n_fft={n_fft}, hop_length={hop}, win_length={width}, window={}, normalized={}, onesided={}, \
             return_complex={}, align_to_window={}) ",
            type_name(x),
            Sizes(x.sizes()),
            window_shown(window),
            i32::from(normalized),
            Shown(onesided.map(i32::from)),
            Shown(return_complex.map(i32::from)),
            Shown(align_to_window.map(i32::from)),
        )
    };
    if !input.dtype().is_differentiable() {
        return refuse(format!("{}: expected a tensor of floating point or complex values", shown(input)));
    }
    let mut x = input.clone();
    if center {
        // Borders of signals: of three axes, since pad takes no fewer.
        let mut sizes: Vec<i64> = vec![1; 3usize.saturating_sub(x.ndim())];
        sizes.extend(x.sizes().iter().map(|&n| n as i64));
        let border = n_fft.div_euclid(2);
        let padded = pad(&view::reshape(&x, &sizes)?, &[border, border], pad_mode, None)?;
        let sizes: Vec<i64> = padded.sizes()[padded.ndim() - x.ndim()..].iter().map(|&n| n as i64).collect();
        x = view::reshape(&padded, &sizes)?;
    }
    if window.is_none() {
        once(
            Once::WindowOfTransform,
            "A window was not provided. A rectangular window will be applied,which is known to cause spectral leakage. \
             Other windows such as torch.hann_window or torch.hamming_window are recommended to reduce spectral \
             leakage.To suppress this warning and use a rectangular window, explicitly set \
             `window=torch.ones(n_fft, device=<device>)`.",
        );
    }
    let is_complex = x.dtype().is_complex() || window.is_some_and(|w| w.dtype().is_complex());
    if !return_complex.unwrap_or(is_complex) {
        if return_complex.is_none() {
            return refuse(
                "stft requires the return_complex parameter be given for real inputs, and will further require that \
                 return_complex=True in a future PyTorch release."
                    .into(),
            );
        }
        once(
            Once::PairsOfTransform,
            "stft with return_complex=False is deprecated. In a future pytorch release, stft will return complex \
             tensors for all inputs, and return_complex=False will raise an error.\nNote: you can still call \
             torch.view_as_real on the complex output to recover the old return format.",
        );
    }
    if x.ndim() > 2 || x.ndim() < 1 {
        return refuse(format!("{}: expected a 1D or 2D tensor", shown(&x)));
    }
    let of_one = x.ndim() == 1;
    let message = shown(&x);
    if of_one {
        x = x.unsqueeze(0)?;
    }
    let length = x.sizes()[1] as i64;
    if n_fft <= 0 || n_fft > length {
        return refuse(format!("{message}: expected 0 < n_fft < {length}, but got n_fft={width}"));
    }
    if hop <= 0 {
        return refuse(format!("{message}: expected hop_length > 0, but got hop_length={hop}"));
    }
    if width <= 0 || width > n_fft {
        return refuse(format!("{message}: expected 0 < win_length <= n_fft, but got win_length={width}"));
    }
    if let Some(w) = window.filter(|w| *w.sizes() != [width as usize]) {
        let sizes = Sizes(w.sizes());
        return refuse(format!(
            "{message}: expected a 1D window tensor of size equal to win_length={width}, but got window with size {sizes}"
        ));
    }
    if align_to_window == Some(true) {
        // The first window, without the zeros around it, begins where the signal does.
        let before = (n_fft - width) / 2;
        x = constant_pad_nd(&x, &[before, n_fft - width - before], 0i64.into())?;
    }
    let mut windows = view::unfold(&x, 1, n_fft, hop)?;
    if let Some(window) = window {
        windows = windows.mul(&centered(window, n_fft)?)?;
    } else if width < n_fft {
        windows = windows.mul(&centered(&Tensor::ones(&[width as usize], x.dtype())?, n_fft)?)?;
    }
    let norm = if normalized { Norm::RootN } else { Norm::None };
    let dims = Dims::from_slice(&[2]);
    let windows = super::promoted(OP, &windows, is_complex)?;
    let y = if is_complex {
        if onesided == Some(true) {
            return refuse("Cannot have onesided output if window or input is complex".into());
        }
        apply1(C2C { dims, norm, forward: true }, &[&windows])?
    } else {
        apply1(R2C { dims, norm, onesided: onesided.unwrap_or(true), adjoint: false }, &[&windows])?
    };
    let y = y.transpose_(1, 2)?;
    let y = if of_one { y.squeeze_dim_(0)? } else { y };
    if return_complex.unwrap_or(true) { Ok(y) } else { view::view_as_real(&y) }
}

/// The inverse of `stft`: the signal whose windows have these transforms, or, of all signals, the one whose transforms
/// are nearest to them.
///
/// Args: `input` (n_fft, windows) or (batch, n_fft, windows), complex, with `n_fft // 2 + 1` numbers if `onesided`;
/// `n_fft`, `hop_length`, `win_length`, `window`, `center`, `normalized`, `onesided` as `stft` was given them; `length`
/// of the signal, which is cut off or filled up with zeros; `return_complex` for a complex signal. Returns: (length) or
/// (batch, length). Derivative: that of the ops it is made of. Raises: RuntimeError if sizes do not fit, or where the
/// windows leave out a place. Warns without a window, and if `length` is longer than the signal.
///
/// >>> window = rg.ones(4)
/// >>> y = rg.stft(rg.tensor([1.0, 2.0, 3.0, 4.0, 5.0]), 4, window=window, return_complex=True)
/// >>> rg.istft(y, 4, window=window, length=5).round().tolist()
/// [1.0, 2.0, 3.0, 4.0, 5.0]
#[op(
    function,
    method,
    norust,
    "(hop_length=None, win_length=None, window=None, center=True, normalized=False, onesided=None, length=None, return_complex=False)"
)]
pub fn istft(
    input: &Tensor,
    n_fft: i64,
    hop_length: Option<i64>,
    win_length: Option<i64>,
    window: Option<&Tensor>,
    center: bool,
    normalized: bool,
    onesided: Option<bool>,
    length: Option<i64>,
    return_complex: bool,
) -> Result<Tensor> {
    const OP: &str = "istft";
    let refuse = |detail: String| Err(Error::shape(OP, detail));
    if window.is_none() {
        once(
            Once::WindowOfInverse,
            "A window was not provided. A rectangular window will be applied.Please provide the same window used by stft to \
             make the inversion lossless.To suppress this warning and use a rectangular window, explicitly set \
             `window=torch.ones(n_fft, device=<device>)`.",
        );
    }
    let (hop, width) = (hop_length.unwrap_or(quarter(n_fft)), win_length.unwrap_or(n_fft));
    if !input.dtype().is_complex() {
        return refuse(
            "istft requires a complex-valued input tensor matching the output from stft with return_complex=True."
                .into(),
        );
    }
    let message = format!(
        "istft({}{}, n_fft={n_fft}, hop_length={hop}, win_length={width}, window={}, center={}, normalized={}, \
         onesided={}, length={}, return_complex={}) ",
        type_name(input),
        Sizes(input.sizes()),
        window_shown(window),
        i32::from(center),
        i32::from(normalized),
        Shown(onesided.map(i32::from)),
        Shown(length),
        i32::from(return_complex),
    );
    if input.numel() == 0 {
        return refuse(format!("{message}: input tensor cannot be empty."));
    }
    if !matches!(input.ndim(), 2 | 3) {
        let ndim = input.ndim() + 1;
        return refuse(format!(
            "{message}: expected a tensor with 3 or 4 dimensions, but got {ndim}: those of the input and one for the parts"
        ));
    }
    let [.., points, windows] = *input.sizes() else { unreachable!("two axes at least") };
    let (points, windows) = (points as i64, windows as i64);
    let onesided = onesided.unwrap_or(points != n_fft);
    let (expected, what) = if onesided {
        (n_fft / 2 + 1, "n_fft / 2 + 1 when onesided=True")
    } else {
        (n_fft, "n_fft when onesided=False")
    };
    if expected != points {
        return refuse(format!(
            "{message}: expected the frequency dimension (3rd to the last) of the input tensor to match {what}, but got \
             {points}"
        ));
    }
    if hop <= 0 || hop > width {
        return refuse(format!("{message}: expected 0 < hop_length <= win_length"));
    }
    if width <= 0 || width > n_fft {
        return refuse(format!("{message}: expected 0 < win_length <= n_fft"));
    }
    if window.is_some_and(|w| *w.sizes() != [width as usize]) {
        return refuse(format!("{message}: Invalid window shape. window has to be 1D and length of `win_length`"));
    }
    let of_one = input.ndim() == 2;
    let x = if of_one { input.unsqueeze(0)? } else { input.clone() };
    let x = super::promoted(OP, &x.transpose(1, 2)?, true)?;
    let norm = if normalized { Norm::RootN } else { Norm::N };
    let dims = Dims::from_slice(&[2]);
    let parts = if return_complex {
        if onesided {
            return refuse("Cannot have onesided output if window or input is complex".into());
        }
        apply1(C2C { dims, norm, forward: false }, &[&x])?
    } else {
        if window.is_some_and(|w| w.dtype().is_complex()) {
            return refuse("Complex windows are incompatible with return_complex=False".into());
        }
        let half = if onesided { x } else { x.slice(-1, Some(0), Some(n_fft / 2 + 1), 1)? };
        apply1(C2R { dims, norm, n: n_fft as usize, adjoint: false }, &[&half])?
    };
    let ones = || Tensor::ones(&[width as usize], input.dtype().real());
    let window = centered(&window.map_or_else(ones, |w| Ok(w.clone()))?, n_fft)?;
    let whole = n_fft + hop * (windows - 1);
    let sum = |parts: &Tensor| view::overlap_add(parts, 1, whole as usize, hop as usize);
    let signal = sum(&parts.mul(&window)?)?;
    let weights = sum(&window.mul(&window)?.expand(&[1, windows, n_fft])?)?;
    let start = if center { n_fft / 2 } else { 0 };
    let end = match length {
        Some(length) => start + length,
        None if center => -(n_fft / 2),
        None => whole,
    };
    let cut = |x: &Tensor| x.slice(1, Some(start), Some(end), 1);
    let (signal, weights) = (cut(&signal)?, cut(&weights)?);
    // Of a batch of windows the values are not known.
    if !weights.is_batched() && weights.detach().abs()?.min()?.item()?.as_f64() < 1e-11 {
        return refuse(format!("{message}window overlap add min: 1"));
    }
    let mut y = signal.div(&weights)?;
    if of_one {
        y = y.squeeze_dim(0)?;
    }
    if end > whole {
        once(
            Once::LengthOfInverse,
            "The length of signal is shorter than the length parameter. Result is being padded with zeros in the tail. \
             Please check your center and hop_length settings.",
        );
        y = constant_pad_nd(&y, &[0, end - whole], Scalar::Int(0))?;
    }
    Ok(y)
}
