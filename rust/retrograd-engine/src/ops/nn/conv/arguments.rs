//! Arguments of convolutions: lists of one number per axis, and the checks that torch makes, in its words.

use crate::error::{Error, Result, Sizes};
use crate::kernels::conv::{ConvAxis, Shape};
use crate::tensor::{Dims, Tensor};

/// How positions and taps go over the large side, one number per axis.
#[derive(Clone, Debug)]
pub(super) struct Steps {
    pub stride: Dims,
    pub padding: Dims,
    pub dilation: Dims,
    pub groups: usize,
}

impl Steps {
    /// Extents for the kernels, of tensors (batch, channels, axes); checks that they go together: what comes here
    /// unchecked is a gradient that a hook replaced.
    pub(super) fn shape(&self, large: &[usize], small: &[usize], weight: &[usize]) -> Result<Shape> {
        let axes = self.stride.len();
        let agree = [large, small, weight].iter().all(|s| s.len() == axes + 2)
            && large[0] == small[0]
            && weight[0] == small[1]
            && weight[1] * self.groups == large[1]
            && small[1].is_multiple_of(self.groups);
        if !agree {
            return Err(Error::shape(
                "convolution",
                format!("{}, {} and {} do not belong to one convolution", Sizes(large), Sizes(small), Sizes(weight)),
            ));
        }
        let mut shape = Shape {
            batch: large[0],
            groups: self.groups,
            large: weight[1],
            small: small[1] / self.groups,
            axes: [ConvAxis::NONE; 3],
        };
        let mut elements = (large[1] + small[1]) as f64;
        for i in 0..axes {
            let a = ConvAxis {
                large: large[i + 2],
                small: small[i + 2],
                kernel: weight[i + 2],
                stride: self.stride[i],
                dilation: self.dilation[i],
                pad: self.padding[i] as isize,
            };
            elements *= a.large as f64 + a.small as f64 * a.stride as f64 + a.kernel as f64 * a.dilation as f64;
            shape.axes[3 - axes + i] = a;
        }
        // Padded images are counted in `usize`, with a margin.
        if elements < LARGEST as f64 { Ok(shape) } else { Err(too_large()) }
    }
}

/// Numbers below it can be added and subtracted without overflow.
const LARGEST: i128 = 1 << 56;

#[cold]
fn too_large() -> Error {
    Error::shape("convolution", "stride, padding and dilation make the padded input too large")
}

/// Zeros around the input.
#[derive(Clone, Copy, Debug)]
pub(super) enum Padding<'a> {
    Ints(&'a [i64]),
    /// As many as keep the size; if their number is odd, the end gets one more.
    Same,
}

impl<'a> Padding<'a> {
    /// From the name; `stride` is as the user gave it.
    pub(super) fn named(name: &str, stride: &[i64]) -> Result<Self> {
        match name {
            "valid" => Ok(Self::Ints(&[0])),
            "same" if stride.iter().any(|&s| s != 1) => {
                Err(Error::shape("convolution", "padding='same' is not supported for strided convolutions"))
            }
            "same" => Ok(Self::Same),
            _ => Err(Error::shape("convolution", format!("Invalid padding string: '{name}': use 'same' or 'valid'"))),
        }
    }
}

/// The arguments past the tensors, as the user gave them.
#[derive(Clone, Copy, Debug)]
pub(super) struct Given<'a> {
    pub stride: &'a [i64],
    pub padding: Padding<'a>,
    pub dilation: &'a [i64],
    pub transposed: bool,
    pub output_padding: &'a [i64],
    pub groups: i64,
}

/// The arguments, checked against each other.
pub(super) struct Checked {
    pub steps: Steps,
    pub output_padding: Dims,
    /// Sizes of the output without batch and channels.
    pub out: Dims,
}

fn refuse<T>(detail: impl Into<String>) -> Result<T> {
    Err(Error::shape("convolution", detail))
}

/// A number for each of `n` axes.
fn per_axis(name: &str, values: &[i64], n: usize, least: i64, bad: &str) -> Result<Dims> {
    let all: Dims = match values {
        &[one] => std::iter::repeat_n(one, n).map(|v| v.max(-1) as usize).collect(),
        many if many.len() == n => many.iter().map(|&v| v.max(-1) as usize).collect(),
        other => {
            return refuse(format!(
                "expected {name} to be a single integer value or a list of {n} values to match the convolution dimensions, \
                 but got {name}={other:?}"
            ));
        }
    };
    if values.iter().any(|&v| v < least) {
        let zero = if least == 0 { "non-negative" } else { "greater than zero" };
        return refuse(format!("{bad} {name} is not supported: {name} should be {zero}, but got {name}={values:?}"));
    }
    if values.iter().any(|&v| i128::from(v) >= LARGEST) {
        return Err(too_large());
    }
    Ok(all)
}

/// Prints `(3 x 4)`.
fn by(sizes: &[i128]) -> String {
    sizes.iter().map(i128::to_string).collect::<Vec<_>>().join(" x ")
}

impl Given<'_> {
    /// The arguments for an input (batch, channels, axes) and its weight.
    pub(super) fn check(&self, input: &Tensor, weight: &Tensor, bias: Option<&Tensor>) -> Result<Checked> {
        let (x, w) = (input.sizes(), weight.sizes());
        let Some(n) = w.len().checked_sub(2).filter(|&n| n > 0) else {
            return refuse(format!("weight should have at least three dimensions, got {}", Sizes(w)));
        };
        if self.groups <= 0 {
            return refuse(format!("non-positive groups is not supported: got groups={}", self.groups));
        }
        let padding = match self.padding {
            Padding::Ints(padding) => per_axis("padding", padding, n, 0, "negative")?,
            Padding::Same => Dims::new(),
        };
        let output_padding = per_axis("output_padding", self.output_padding, n, 0, "negative")?;
        let stride = per_axis("stride", self.stride, n, 1, "non-positive")?;
        let dilation = per_axis("dilation", self.dilation, n, 1, "non-positive")?;
        let mut steps = Steps { stride, padding, dilation, groups: self.groups as usize };
        if x.len() != w.len() {
            return refuse(format!(
                "Expected {0}-dimensional input for {0}-dimensional weight {1}, but got {2}-dimensional input of size {3} \
                 instead",
                w.len(),
                Sizes(w),
                x.len(),
                Sizes(x)
            ));
        }
        self.check_channels(x, w, bias)?;
        if w[2..].contains(&0) {
            return refuse(format!("kernel size should be greater than zero, but got weight of size {}", Sizes(w)));
        }
        let spans: Vec<i128> = (0..n).map(|i| (steps.dilation[i] as i128) * (w[i + 2] as i128 - 1) + 1).collect();
        if matches!(self.padding, Padding::Same) {
            steps.padding = spans.iter().map(|span| (span - 1) as usize / 2).collect();
        }
        if n > 3 {
            return refuse(format!("convolutions go over one to three axes, got {n}"));
        }
        let out = self.out(x, &steps, &output_padding, &spans)?;
        if x.contains(&0) && x[0] != 0 && x[1] != 0 {
            return refuse(format!(
                "Only zero batch or zero channel inputs are supported, but got input shape: {}",
                Sizes(x)
            ));
        }
        check_dtypes(input, weight, bias)?;
        Ok(Checked { steps, output_padding, out })
    }

    fn check_channels(&self, x: &[usize], w: &[usize], bias: Option<&Tensor>) -> Result<()> {
        let groups = self.groups as usize;
        if w[0] < groups {
            return refuse(format!(
                "Given groups={groups}, expected weight to be at least {groups} at dimension 0, but got weight of size {} \
                 instead",
                Sizes(w)
            ));
        }
        if !w[0].is_multiple_of(groups) {
            return refuse(format!(
                "Given groups={groups}, expected weight to be divisible by {groups} at dimension 0, but got weight of size \
                 [{}] instead",
                Sizes(w)
            ));
        }
        let (given, inner) = match self.transposed {
            true => ("transposed=1".to_string(), (w[0], w[1].saturating_mul(groups))),
            false => (format!("groups={groups}"), (w[1].saturating_mul(groups), w[0])),
        };
        let (channels, outputs) = inner;
        if x[1] != channels {
            return refuse(format!(
                "Given {given}, weight of size {}, expected input{} to have {channels} channels, but got {} channels instead",
                Sizes(w),
                Sizes(x),
                x[1]
            ));
        }
        if let Some(b) = bias.filter(|b| b.sizes() != [outputs]) {
            let transposed = if self.transposed { "transposed=1, " } else { "" };
            return refuse(format!(
                "Given {transposed}weight of size {}, expected bias to be 1-dimensional with {outputs} elements, but got bias \
                 of size {} instead",
                Sizes(w),
                Sizes(b.sizes())
            ));
        }
        Ok(())
    }

    /// Sizes of the output's axes; `spans` are those of the kernel with its gaps.
    fn out(&self, x: &[usize], steps: &Steps, output_padding: &[usize], spans: &[i128]) -> Result<Dims> {
        let at = |list: &[usize], i: usize| list[i] as i128;
        let n = spans.len();
        let out: Vec<i128> = if matches!(self.padding, Padding::Same) {
            x[2..].iter().map(|&n| n as i128).collect()
        } else if !self.transposed {
            let padded: Vec<i128> = (0..n).map(|i| x[i + 2] as i128 + 2 * at(&steps.padding, i)).collect();
            if padded.iter().zip(spans).any(|(have, need)| have < need) {
                return refuse(format!(
                    "Calculated padded input size per channel: ({}). Kernel size: ({}). Kernel size can't be greater than \
                     actual input size",
                    by(&padded),
                    by(spans)
                ));
            }
            (0..n).map(|i| (padded[i] - spans[i]) / at(&steps.stride, i) + 1).collect()
        } else {
            if (0..n).any(|i| output_padding[i] >= steps.stride[i].max(steps.dilation[i])) {
                return refuse(format!(
                    "output padding must be smaller than either stride or dilation, but got output_padding {output_padding:?}, \
                     stride {:?} and dilation {:?}",
                    &steps.stride[..],
                    &steps.dilation[..]
                ));
            }
            let full = |i: usize| (x[i + 2] as i128 - 1) * at(&steps.stride, i) + spans[i] + at(output_padding, i);
            (0..n).map(|i| full(i) - 2 * at(&steps.padding, i)).collect()
        };
        if out.iter().any(|&size| size < 0) {
            return refuse(format!(
                "Given input size per channel: ({}). Calculated output size per channel: ({}). Output size is too small: the \
                 padding takes away more than there is",
                by(&x[2..].iter().map(|&n| n as i128).collect::<Vec<_>>()),
                by(&out)
            ));
        }
        if out.iter().any(|&size| size >= LARGEST) {
            return Err(too_large());
        }
        Ok(out.into_iter().map(|size| size as usize).collect())
    }
}

fn check_dtypes(input: &Tensor, weight: &Tensor, bias: Option<&Tensor>) -> Result<()> {
    for (t, name) in [(Some(weight), "weight"), (bias, "bias")] {
        if let Some(t) = t.filter(|t| t.dtype() != input.dtype()) {
            return Err(Error::dtype(
                "convolution",
                format!(
                    "Input type ({}) and {name} type ({}) should be the same; convert one with .to (expected scalar type {} but \
                     found {})",
                    input.dtype().cpp_name(),
                    t.dtype().cpp_name(),
                    input.dtype().scalar_type_name(),
                    t.dtype().scalar_type_name()
                ),
            ));
        }
    }
    Ok(())
}
