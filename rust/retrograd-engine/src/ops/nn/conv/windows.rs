//! `unfold` and `fold`: the windows of an image as columns, and the sum of such columns back into an image.

use retrograd_macros::op;
use smallvec::smallvec;

use super::convolution::{joined, nothing, parted};
use crate::autograd::Grads;
use crate::autograd::apply::apply1;
use crate::autograd::primitive::{
    Batch, ComplexRule, Halves, Outs, Params, Primitive, Save, Tangents, Vjp, one, out, params,
};
use crate::error::{Error, Result, Sizes};
use crate::kernels::conv::{self, ConvAxis, Window};
use crate::kernels::real::Ring;
use crate::match_dtype;
use crate::ops::matmul::batch_first;
use crate::tensor::complex::by_parts;
use crate::tensor::copy;
use crate::tensor::layout::numel;
use crate::tensor::{DType, Dims, Dtypes, Element, Tensor, Truth};

/// Windows over an image: rows, then columns.
#[derive(Clone, Copy, Debug)]
struct Windows {
    image: [usize; 2],
    kernel: [usize; 2],
    dilation: [usize; 2],
    padding: [usize; 2],
    stride: [usize; 2],
}

/// The windows of an image side by side; with `FOLD` the adjoint of that, the sum of windows. Reverse and forward: each
/// is the gradient of the other.
#[derive(Clone, Debug)]
struct WindowWalk<const FOLD: bool>(Windows);

impl Windows {
    /// Positions of the window along an axis; none where it does not fit.
    fn positions(&self, i: usize) -> usize {
        let padded = self.image[i] as i128 + 2 * self.padding[i] as i128;
        let span = self.dilation[i] as i128 * (self.kernel[i] as i128 - 1) + 1;
        if padded < span { 0 } else { ((padded - span) / self.stride[i] as i128 + 1) as usize }
    }
    fn count(&self) -> usize {
        self.positions(0).saturating_mul(self.positions(1))
    }
    fn taps(&self) -> usize {
        self.kernel[0].saturating_mul(self.kernel[1])
    }
    fn window(&self, images: usize) -> Window {
        let axis = |i: usize| ConvAxis {
            large: self.image[i],
            small: self.positions(i),
            kernel: self.kernel[i],
            stride: self.stride[i],
            dilation: self.dilation[i],
            pad: self.padding[i] as isize,
        };
        Window { images, axes: [axis(0), axis(1)] }
    }
    /// Of the numbers a user gave; `image` is the size of the images.
    fn of(image: [usize; 2], kernel: &[i64], dilation: &[i64], padding: &[i64], stride: &[i64]) -> Result<Self> {
        Ok(Self {
            image,
            kernel: pair("kernel_size", "kernel size should be greater than zero", kernel, 1)?,
            dilation: pair("dilation", "dilation should be greater than zero", dilation, 1)?,
            padding: pair("padding", "padding should be non-negative", padding, 0)?,
            stride: pair("stride", "stride should be greater than zero", stride, 1)?,
        })
    }
}

/// A number for each of the two axes.
fn pair(name: &str, must: &str, values: &[i64], least: i64) -> Result<[usize; 2]> {
    let both = match *values {
        [both] => [both, both],
        [h, w] => [h, w],
        _ => {
            return Err(Error::shape(
                "unfold",
                format!("It is expected {name} equals to 2, but got size {}", values.len()),
            ));
        }
    };
    if both.iter().any(|&v| v < least) {
        return Err(Error::shape("unfold", format!("{must}, but got {name}={both:?}")));
    }
    // Numbers that can be added and multiplied by a size without overflow.
    if both.iter().any(|&v| v >= 1 << 31) {
        return Err(Error::shape("unfold", format!("{name}={values:?} is too large")));
    }
    Ok(both.map(|v| v as usize))
}

impl<const FOLD: bool> WindowWalk<FOLD> {
    /// Sizes of the result, and how many images there are.
    fn sizes(&self, x: &[usize]) -> Result<(Dims, usize)> {
        let w = &self.0;
        let behind = if FOLD { 2 } else { 3 };
        let fits = match *x {
            [.., rows, count] if FOLD => count == w.count() && rows % w.taps() == 0,
            [.., height, width] => [height, width] == w.image,
            _ => false,
        };
        if !fits || x.len() < behind {
            return Err(Error::shape("unfold", format!("{} does not go with {w:?}", Sizes(x))));
        }
        let mut sizes = Dims::from_slice(&x[..x.len() - behind]);
        let channels = if FOLD { x[x.len() - 2] / w.taps() } else { x[x.len() - 3] };
        let images = numel(&sizes) * channels;
        if FOLD {
            sizes.extend([channels, w.image[0], w.image[1]]);
        } else {
            let rows = channels.checked_mul(w.taps());
            sizes.extend([rows.ok_or_else(|| Error::shape("unfold", "too many windows"))?, w.count()]);
        }
        Ok((sizes, images))
    }

    fn run<T: Element + Ring>(&self, x: &Tensor, y: &Tensor, images: usize) -> Result<()> {
        let x = copy::contiguous(x)?;
        let window = self.0.window(images);
        let (from, to) = (x.ptr::<T>().cast_const(), y.ptr::<T>());
        // SAFETY: S1 and S3: both are contiguous, of the sizes that the windows have; the result is fresh, and when
        // sums are taken it holds zeros.
        unsafe {
            if FOLD {
                (0..y.numel()).for_each(|i| *to.add(i) = T::ZERO);
                conv::fold(&window, from, to);
            } else {
                conv::unfold(&window, from, to);
            }
        }
        Ok(())
    }
}

impl<const FOLD: bool> Primitive for WindowWalk<FOLD> {
    const NAME: &'static str = if FOLD { "fold" } else { "unfold" };
    const NODE: &'static str = if FOLD { "Col2ImBackward0" } else { "Im2ColBackward0" };
    const SAVE: &'static [Save] = &[];
    const PARAMS: Params<Self> = if FOLD {
        params!(op;
            dilation: &op.0.dilation[..],
            kernel_size: &op.0.kernel[..],
            padding: &op.0.padding[..],
            stride: &op.0.stride[..],
        )
    } else {
        params!(op;
            dilation: &op.0.dilation[..],
            kernel_size: &op.0.kernel[..],
            padding: &op.0.padding[..],
            self_sym_argsize_minus_1: op.0.image[1],
            self_sym_argsize_minus_2: op.0.image[0],
            stride: &op.0.stride[..],
        )
    };
    const DTYPES: Dtypes = Dtypes::ALL.without(Dtypes::INTS);
    const HALVES: Halves = Halves::InFloat32;
    const COMPLEX: ComplexRule = ComplexRule::RealLinear;
    const BATCH: Batch<Self> = Batch::Rule(|op, xs, axes, batch| {
        let x = batch_first(xs[0], axes[0])?;
        if x.ndim() == if FOLD { 3 } else { 4 } {
            return Ok((out(apply1(op.clone(), &[&x])?), smallvec![Some(0)]));
        }
        if batch == 0 {
            return nothing(&op.sizes(&x.sizes()[1..])?.0, x.dtype());
        }
        Ok((out(parted(&apply1(op.clone(), &[&joined(&x, 0)?])?, 0, batch)?), smallvec![Some(0)]))
    });
    const JVP: Tangents<Self> = Tangents::Linear(0b1);
    fn forward(&self, xs: &[&Tensor]) -> Result<Outs> {
        let (sizes, images) = self.sizes(xs[0].sizes())?;
        let dtype = xs[0].dtype();
        if dtype.is_complex() {
            return by_parts(xs[0], &|x| Ok(self.forward(&[x])?.swap_remove(0))).map(out);
        }
        let y = Tensor::empty(&sizes, dtype)?;
        if dtype == DType::Bool {
            self.run::<Truth>(xs[0], &y, images)?;
        } else {
            match_dtype!(floats, dtype, T => self.run::<T>(xs[0], &y, images)?);
        }
        Ok(out(y))
    }
    fn vjp(&self, cx: &Vjp) -> Result<Grads> {
        if FOLD {
            apply1(WindowWalk::<false>(self.0), &[cx.g()])
        } else {
            apply1(WindowWalk::<true>(self.0), &[cx.g()])
        }
        .map(one)
    }
}

/// Prints `(3, 4)`.
fn tuple(pair: [usize; 2]) -> String {
    format!("({}, {})", pair[0], pair[1])
}

/// The windows that a kernel of some size sees of images, each as a column.
///
/// Args: `input` (N, C, H, W) or (C, H, W), floating or complex dtype or bool; `kernel_size`, `dilation`, `padding`,
/// `stride` one number or a pair, of rows and columns: the window's size, the distance of its elements, zeros around
/// the image, and the distance of windows. Returns: a tensor (N, C * kh * kw, L), without N if the input has none, of
/// `L` windows, row by row. Derivative: `fold` of `g`. Raises: RuntimeError if the input has not three or four dims or
/// a size of 0, a number is too small, or no window fits.
///
/// >>> rg.nn.functional.unfold(rg.tensor([[[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]]), (2, 2)).tolist()
/// [[1.0, 2.0], [2.0, 3.0], [4.0, 5.0], [5.0, 6.0]]
#[op(function, module = "nn.functional", "(dilation=1, padding=0, stride=1)")]
pub fn unfold(
    input: &Tensor,
    kernel_size: &[i64],
    dilation: &[i64],
    padding: &[i64],
    stride: &[i64],
) -> Result<Tensor> {
    let x = input.sizes();
    let image = if let [.., h, w] = *x { [h, w] } else { [0, 0] };
    let windows = Windows::of(image, kernel_size, dilation, padding, stride)?;
    let inner = if x.len() == 4 { &x[1..] } else { x };
    if inner.len() != 3 || inner.contains(&0) {
        return Err(Error::shape(
            "unfold",
            format!(
                "Expected 3D or 4D (batch mode) tensor with possibly 0 batch size and other non-zero dimensions for input, but \
                 got: {}",
                Sizes(x)
            ),
        ));
    }
    if windows.count() == 0 {
        return Err(Error::shape(
            "unfold",
            format!(
                "Given input with spatial size {}, kernel_size={}, dilation={}, padding={}, calculated shape of the array of \
                 sliding blocks as {}, but its components must be at least one.",
                tuple(image),
                tuple(windows.kernel),
                tuple(windows.dilation),
                tuple(windows.padding),
                tuple([windows.positions(0), windows.positions(1)])
            ),
        ));
    }
    apply1(WindowWalk::<false>(windows), &[input])
}

/// The images that windows add up to: the adjoint of `unfold`.
///
/// Args: `input` (N, C * kh * kw, L) or (C * kh * kw, L), floating or complex dtype or bool: `L` windows, as `unfold`
/// makes them; `output_size` of the images, one number or a pair; `kernel_size`, `dilation`, `padding`, `stride` as in
/// `unfold`. Returns: a tensor (N, C, H, W), without N if the input has none; each element is the sum of what the
/// windows have there. Derivative: `unfold` of `g`. Raises: RuntimeError if the sizes are incompatible or a number is
/// too small.
///
/// >>> rg.nn.functional.fold(rg.ones(4, 2), (2, 3), (2, 2)).tolist()
/// [[[1.0, 2.0, 1.0], [1.0, 2.0, 1.0]]]
#[op(function, module = "nn.functional", "(dilation=1, padding=0, stride=1)")]
pub fn fold(
    input: &Tensor,
    output_size: &[i64],
    kernel_size: &[i64],
    dilation: &[i64],
    padding: &[i64],
    stride: &[i64],
) -> Result<Tensor> {
    let x = input.sizes();
    let image = pair("output_size", "output size should be greater than zero", output_size, 1)?;
    let windows = Windows::of(image, kernel_size, dilation, padding, stride)?;
    let inner = if x.len() == 3 { &x[1..] } else { x };
    let &[rows, count] = inner else { return Err(wrong_rank(x)) };
    if rows == 0 || count == 0 {
        return Err(wrong_rank(x));
    }
    let axis = x.len() - 2;
    if !rows.is_multiple_of(windows.taps()) {
        return Err(Error::shape(
            "fold",
            format!(
                "Expected size of input's dimension {axis} to be divisible by the product of kernel_size, but got \
                 input.size({axis})={rows} and kernel_size={}.",
                tuple(windows.kernel)
            ),
        ));
    }
    if count != windows.count() {
        return Err(Error::shape(
            "fold",
            format!(
                "Given output_size={}, kernel_size={}, dilation={}, padding={}, stride={}, expected size of input's dimension \
                 {8} to match the calculated number of sliding blocks {} * {} = {}, but got input.size({})={count}.",
                tuple(image),
                tuple(windows.kernel),
                tuple(windows.dilation),
                tuple(windows.padding),
                tuple(windows.stride),
                windows.positions(0),
                windows.positions(1),
                windows.count(),
                axis + 1,
            ),
        ));
    }
    apply1(WindowWalk::<true>(windows), &[input])
}

#[cold]
fn wrong_rank(x: &[usize]) -> Error {
    Error::shape(
        "fold",
        format!(
            "Expected 2D or 3D (batch mode) tensor for input with possibly 0 batch size and non-zero dimensions for input, but \
             got: {}",
            Sizes(x)
        ),
    )
}
