//! How a tensor is printed: `tensor([[1., 2.],\n        [3., 4.]])`, to the character as torch 2.13 prints it.
//!
//! The caller gets from [`visit_printed`] which elements appear, gathers those alone (a summary of a tensor of a
//! million elements needs a few dozen), and passes them to [`format_tensor`]. Reduced precision needs no case of
//! its own: every float is printed from its `f64` value, so `float16` and `bfloat16` are widened before.

use std::fmt::Write;

/// The elements that are printed, in the order in which [`visit_printed`] visits them.
#[derive(Clone, Copy, Debug)]
pub enum Values<'a> {
    Bool(&'a [bool]),
    Int(&'a [i128]),
    /// Any floating dtype, widened.
    Float(&'a [f64]),
    /// Real and imaginary parts, widened.
    Complex(&'a [(f64, f64)]),
}

impl Values<'_> {
    fn len(&self) -> usize {
        match self {
            Values::Bool(v) => v.len(),
            Values::Int(v) => v.len(),
            Values::Float(v) => v.len(),
            Values::Complex(v) => v.len(),
        }
    }
}

/// What `set_printoptions` sets; the default is torch's `profile="default"`.
#[derive(Clone, Debug, PartialEq)]
pub struct PrintOptions {
    /// Digits after the point.
    pub precision: usize,
    /// A tensor of more elements than this is summarised; `usize::MAX` for never.
    pub threshold: usize,
    /// Elements shown at each end of an axis in a summary.
    pub edgeitems: usize,
    /// Columns after which a line breaks.
    pub linewidth: usize,
    /// Scientific notation: forced on or off, or decided from the values.
    pub sci_mode: Option<bool>,
}

impl Default for PrintOptions {
    fn default() -> Self {
        Self { precision: 4, threshold: 1000, edgeitems: 3, linewidth: 80, sci_mode: None }
    }
}

/// The `size=(0, 3)` suffix, where the brackets alone do not show the shape: an empty tensor that is not of one
/// dimension, or any tensor when `edgeitems` is 0. It belongs after `device=` and before `dtype=`.
pub fn size_suffix(shape: &[usize], options: &PrintOptions) -> Option<String> {
    let hidden = if shape.contains(&0) { shape.len() != 1 } else { options.edgeitems == 0 };
    hidden.then(|| sizes_suffix(shape))
}

/// The `size=(0, 3)` suffix.
pub fn sizes_suffix(shape: &[usize]) -> String {
    match shape {
        [only] => format!("size=({only},)"),
        _ => {
            let sizes: Vec<String> = shape.iter().map(usize::to_string).collect();
            format!("size=({})", sizes.join(", "))
        }
    }
}

/// Call `task` with the multi-index of each element that is printed, in row-major order.
///
/// That is every element up to `options.threshold` of them, and beyond it the first and last
/// `options.edgeitems` along each axis.
pub fn visit_printed(shape: &[usize], options: &PrintOptions, mut task: impl FnMut(&[usize])) {
    let axes = printed_axes(shape, options);
    if axes.iter().any(|axis| axis.printed() == 0) {
        return;
    }
    let mut index = vec![0; axes.len()];
    loop {
        task(&index);
        // Advance like an odometer: the last axis that has a next position takes it, those after it restart.
        let Some(moved) = (0..axes.len()).rfind(|&d| index[d] + 1 < axes[d].size) else {
            return;
        };
        index[moved] += 1;
        if axes[moved].cut && index[moved] == axes[moved].head {
            index[moved] = axes[moved].size - axes[moved].tail;
        }
        index[moved + 1..].fill(0);
    }
}

/// Print a tensor: `prefix` (such as `"tensor("`), its elements in brackets, `suffixes` (such as
/// `"dtype=torch.int32"`) and the closing parenthesis.
///
/// Suffixes are printed as given, [`size_suffix`] included, each on a line of its own where it would pass
/// `options.linewidth`.
///
/// # Panics
/// If `values` does not hold exactly the elements that [`visit_printed`] visits.
pub fn format_tensor(
    prefix: &str,
    shape: &[usize],
    values: &Values<'_>,
    options: &PrintOptions,
    suffixes: &[String],
) -> String {
    let axes = printed_axes(shape, options);
    let printed: usize = axes.iter().map(PrintedAxis::printed).product();
    assert_eq!(values.len(), printed, "format_tensor: shape {shape:?} prints {printed} elements");

    let indent = width_of(prefix);
    let mut body = if shape.contains(&0) {
        format!("{prefix}[]")
    } else {
        let mut page = Page {
            cells: Cells::new(values, options),
            axes: &axes,
            linewidth: options.linewidth,
            printed: 0,
            text: prefix.to_owned(),
        };
        page.write_axis(0, indent);
        page.text
    };

    add_suffixes(&mut body, indent, options.linewidth, suffixes, false);
    body
}

/// Adds what stands behind the elements, each on a line of its own where it would pass `linewidth` (the first one in
/// any case, if `apart`), and the closing parenthesis.
pub fn add_suffixes(body: &mut String, indent: usize, linewidth: usize, suffixes: &[String], apart: bool) {
    // torch counts two columns more than the last line has, and counts afresh on a line it breaks itself.
    let last_line = body.rsplit('\n').next().unwrap_or(body);
    let mut column = width_of(last_line) + 2;
    for (i, suffix) in suffixes.iter().enumerate() {
        let width = width_of(suffix);
        if (apart && i == 0) || column + width + 2 > linewidth {
            body.push_str(",\n");
            push_spaces(body, indent);
            column = indent + width;
        } else {
            body.push_str(", ");
            column += width + 2;
        }
        body.push_str(suffix);
    }
    body.push(')');
}

/// Which positions of one axis are printed: all, or when `cut` the first `head` and the last `tail`.
struct PrintedAxis {
    size: usize,
    head: usize,
    tail: usize,
    cut: bool,
}

impl PrintedAxis {
    fn printed(&self) -> usize {
        self.head + self.tail
    }
}

fn printed_axes(shape: &[usize], options: &PrintOptions) -> Vec<PrintedAxis> {
    // Saturating suffices: a count beyond `usize` is beyond every threshold but "never".
    let count = if shape.contains(&0) { 0 } else { shape.iter().fold(1_usize, |n, &size| n.saturating_mul(size)) };
    let summarise = count > options.threshold;
    let edge = options.edgeitems;
    let axis = |&size: &usize| {
        let cut = summarise && size > edge.saturating_mul(2);
        let (head, tail) = if cut { (edge, edge) } else { (size, 0) };
        PrintedAxis { size, head, tail, cut }
    };
    shape.iter().map(axis).collect()
}

/// The text so far, and how many of the values are on it.
struct Page<'a> {
    cells: Cells<'a>,
    axes: &'a [PrintedAxis],
    linewidth: usize,
    printed: usize,
    text: String,
}

impl Page<'_> {
    /// Write the sub-tensor spanned by the axes from `depth` on, its bracket at column `indent`.
    fn write_axis(&mut self, depth: usize, indent: usize) {
        let axes = self.axes;
        let Some(axis) = axes.get(depth) else {
            return self.write_cell();
        };
        let dims_left = axes.len() - depth;
        if dims_left == 1 {
            return self.write_row(axis, indent);
        }
        self.text.push('[');
        let slots = axis.printed() + usize::from(axis.cut);
        for slot in 0..slots {
            if slot > 0 {
                self.text.push(',');
                for _ in 1..dims_left {
                    self.text.push('\n');
                }
                push_spaces(&mut self.text, indent + 1);
            }
            if axis.cut && slot == axis.head {
                self.text.push_str("...");
            } else {
                self.write_axis(depth + 1, indent + 1);
            }
        }
        self.text.push(']');
    }

    fn write_row(&mut self, axis: &PrintedAxis, indent: usize) {
        let per_line = (self.linewidth.saturating_sub(indent) / self.cells.pitch()).max(1);
        self.text.push('[');
        let slots = axis.printed() + usize::from(axis.cut);
        for slot in 0..slots {
            if slot > 0 && slot % per_line == 0 {
                self.text.push_str(",\n");
                push_spaces(&mut self.text, indent + 1);
            } else if slot > 0 {
                self.text.push_str(", ");
            }
            if axis.cut && slot == axis.head {
                // Within a row torch sets the dots off by a second space, unless they are all there is.
                self.text.push_str(if slots == 1 { "..." } else { " ..." });
            } else {
                self.write_cell();
            }
        }
        self.text.push(']');
    }

    fn write_cell(&mut self) {
        self.cells.write(self.printed, &mut self.text);
        self.printed += 1;
    }
}

/// The values, each with the layout of its column.
enum Cells<'a> {
    Bool(&'a [bool], usize),
    Int(&'a [i128], usize),
    Float(&'a [f64], FloatLayout),
    Complex(&'a [(f64, f64)], FloatLayout, FloatLayout),
}

impl<'a> Cells<'a> {
    fn new(values: &Values<'a>, options: &PrintOptions) -> Self {
        match *values {
            Values::Bool(v) => {
                let width = v.iter().map(|&b| if b { 4 } else { 5 }).max();
                Cells::Bool(v, width.unwrap_or(1))
            }
            Values::Int(v) => Cells::Int(v, v.iter().map(|&i| int_width(i)).max().unwrap_or(1)),
            Values::Float(v) => Cells::Float(v, FloatLayout::new(v.iter().copied(), options)),
            Values::Complex(v) => Cells::Complex(
                v,
                FloatLayout::new(v.iter().map(|z| z.0), options),
                FloatLayout::new(v.iter().map(|z| z.1), options),
            ),
        }
    }

    /// Columns from one element to the next, the comma and space included.
    fn pitch(&self) -> usize {
        match self {
            Cells::Bool(_, width) | Cells::Int(_, width) => width + 2,
            Cells::Float(_, layout) => layout.width + 2,
            Cells::Complex(_, real, imag) => real.width + 2 + imag.width + 1,
        }
    }

    fn write(&self, at: usize, out: &mut String) {
        match self {
            Cells::Bool(v, width) => {
                let name = if v[at] { "True" } else { "False" };
                push_fmt(out, format_args!("{name:>width$}"));
            }
            Cells::Int(v, width) => push_fmt(out, format_args!("{:>width$}", v[at])),
            Cells::Float(v, layout) => {
                let start = out.len();
                layout.write(v[at], out);
                pad_left(out, start, layout.width);
            }
            Cells::Complex(v, real, imag) => {
                let start = out.len();
                real.write(v[at].0, out);
                pad_left(out, start, real.width);
                // The imaginary part is not padded; only a minus shows its own sign.
                let sign = out.len();
                imag.write(v[at].1, out);
                if !out[sign..].starts_with('-') {
                    out.insert(sign, '+');
                }
                out.push('j');
            }
        }
    }
}

#[derive(Clone, Copy)]
enum Notation {
    /// `1.`: all values are integers, the point alone says that they are floats.
    Integral,
    /// `1.2500`
    Fixed,
    /// `1.2500e+00`
    Scientific,
}

/// How the floats of one tensor are printed, decided from its nonzero finite values.
struct FloatLayout {
    notation: Notation,
    precision: usize,
    width: usize,
}

impl FloatLayout {
    fn new(values: impl Iterator<Item = f64> + Clone, options: &PrintOptions) -> Self {
        let telling = values.filter(|v| v.is_finite() && *v != 0.0);
        let mut integral = true;
        let (mut min, mut max) = (f64::INFINITY, 0.0_f64);
        for value in telling.clone() {
            integral &= value == value.ceil();
            min = min.min(value.abs());
            max = max.max(value.abs());
        }
        let spread = max / min > 1000.0 || max > 1e8 || min < 1e-4;
        // With no telling value torch decides nothing, not even by `sci_mode`.
        let scientific = max > 0.0 && options.sci_mode.unwrap_or(spread);
        let mut layout = Self {
            notation: match (scientific, integral) {
                (true, _) => Notation::Scientific,
                (false, true) => Notation::Integral,
                (false, false) => Notation::Fixed,
            },
            // The standard formatter takes no more, and an `f64` has at most 1074 digits there.
            precision: options.precision.min(usize::from(u16::MAX)),
            width: 1,
        };
        let mut text = String::new();
        for value in telling {
            text.clear();
            layout.write(value, &mut text);
            layout.width = layout.width.max(text.len());
        }
        layout
    }

    /// Append `value`, unpadded. Both here and in C ties are decided on the exact binary value, to even.
    fn write(&self, value: f64, out: &mut String) {
        let digits = self.precision;
        match self.notation {
            _ if value.is_nan() => out.push_str("nan"),
            _ if value.is_infinite() => out.push_str(if value > 0.0 { "inf" } else { "-inf" }),
            Notation::Integral => push_fmt(out, format_args!("{value:.0}.")),
            Notation::Fixed => push_fmt(out, format_args!("{value:.digits$}")),
            Notation::Scientific => {
                // `1.5e-7` here is `1.5e-07` there: a sign always, and two digits at least.
                let start = out.len();
                push_fmt(out, format_args!("{value:.digits$e}"));
                let Some(mark) = out[start..].find('e').map(|e| start + e) else {
                    return;
                };
                let exponent: i32 = out[mark + 1..].parse().unwrap_or(0);
                out.truncate(mark);
                let sign = if exponent < 0 { '-' } else { '+' };
                push_fmt(out, format_args!("e{sign}{:02}", exponent.abs()));
            }
        }
    }
}

fn int_width(value: i128) -> usize {
    let digits = value.unsigned_abs().checked_ilog10().unwrap_or(0) as usize + 1;
    digits + usize::from(value < 0)
}

/// Columns a text takes, in the way Python counts: characters.
fn width_of(text: &str) -> usize {
    text.chars().count()
}

fn push_fmt(out: &mut String, text: std::fmt::Arguments<'_>) {
    // Writing to a `String` has no way to fail.
    let _ = out.write_fmt(text);
}

fn push_spaces(out: &mut String, count: usize) {
    out.extend(std::iter::repeat_n(' ', count));
}

/// Right-align what stands in `out` from byte `start` on, all of it ASCII, in a field of `width`.
fn pad_left(out: &mut String, start: usize, width: usize) {
    for _ in out.len() - start..width {
        out.insert(start, ' ');
    }
}

/// Every expected text here was printed by torch 2.13.
#[cfg(test)]
mod tests {
    use super::*;

    const INF: f64 = f64::INFINITY;
    const NAN: f64 = f64::NAN;

    fn print(shape: &[usize], values: Values<'_>, suffixes: &[&str]) -> String {
        let suffixes: Vec<String> = suffixes.iter().map(|s| s.to_string()).collect();
        format_tensor("tensor(", shape, &values, &PrintOptions::default(), &suffixes)
    }

    fn floats(values: &[f64]) -> String {
        print(&[values.len()], Values::Float(values), &[])
    }

    /// What `torch.arange(n).reshape(shape)` prints.
    fn counting(shape: &[usize], options: &PrintOptions) -> String {
        let mut values = Vec::new();
        visit_printed(shape, options, |index| {
            values.push(index.iter().zip(shape).fold(0, |at, (&i, &size)| at * size as i128 + i as i128));
        });
        let suffixes: Vec<String> = size_suffix(shape, options).into_iter().collect();
        format_tensor("tensor(", shape, &Values::Int(&values), options, &suffixes)
    }

    #[test]
    fn floats_that_are_integers_end_in_a_point() {
        let text = print(&[2, 2], Values::Float(&[1., 2., 3., 4.]), &[]);
        assert_eq!(text, "tensor([[1., 2.],\n        [3., 4.]])");
        assert_eq!(floats(&[1e8, 1e6]), "tensor([100000000.,   1000000.])");
    }

    #[test]
    fn floats_have_four_digits() {
        assert_eq!(floats(&[1.5, -2.25, 0.1]), "tensor([ 1.5000, -2.2500,  0.1000])");
        assert_eq!(floats(&[0.03125, 0.09375, 0.5]), "tensor([0.0312, 0.0938, 0.5000])");
        assert_eq!(floats(&[-0., 0.5]), "tensor([-0.0000, 0.5000])");
    }

    #[test]
    fn a_wide_range_is_printed_in_scientific_notation() {
        assert_eq!(floats(&[1e-5, 1., 1e5]), "tensor([1.0000e-05, 1.0000e+00, 1.0000e+05])");
        assert_eq!(floats(&[123456792., 1.]), "tensor([1.2346e+08, 1.0000e+00])");
        let half = print(&[2], Values::Float(&[0.0999755859375, 65504.]), &["dtype=torch.float16"]);
        assert_eq!(half, "tensor([9.9976e-02, 6.5504e+04], dtype=torch.float16)");
    }

    #[test]
    fn values_that_are_not_finite_take_no_part_in_the_layout() {
        assert_eq!(floats(&[1., NAN, INF, -INF]), "tensor([1., nan, inf, -inf])");
        assert_eq!(floats(&[1.5, NAN, -INF]), "tensor([1.5000,    nan,   -inf])");
        assert_eq!(floats(&[0., -0., NAN]), "tensor([0., -0., nan])");
    }

    #[test]
    fn other_dtypes() {
        assert_eq!(print(&[3], Values::Int(&[1, -20, 300]), &[]), "tensor([  1, -20, 300])");
        let extremes = print(&[2], Values::Int(&[i64::MIN.into(), i64::MAX.into()]), &[]);
        assert_eq!(extremes, "tensor([-9223372036854775808,  9223372036854775807])");
        let bools = print(&[2, 2], Values::Bool(&[true, false, true, true]), &[]);
        assert_eq!(bools, "tensor([[ True, False],\n        [ True,  True]])");
        let complex = print(&[3], Values::Complex(&[(1., 2.), (-1.5, -0.25), (0., 0.)]), &[]);
        assert_eq!(complex, "tensor([ 1.0000+2.0000j, -1.5000-0.2500j,  0.0000+0.0000j])");
    }

    #[test]
    fn scalars_have_no_brackets() {
        assert_eq!(print(&[], Values::Float(&[1.23456]), &[]), "tensor(1.2346)");
        assert_eq!(print(&[], Values::Int(&[7]), &[]), "tensor(7)");
        assert_eq!(print(&[], Values::Complex(&[(1., NAN)]), &[]), "tensor(1.+nanj)");
    }

    #[test]
    fn empty_tensors_tell_their_size() {
        let options = PrintOptions::default();
        assert_eq!(counting(&[0], &options), "tensor([])");
        assert_eq!(counting(&[0, 3], &options), "tensor([], size=(0, 3))");
        let text = print(&[2, 0], Values::Int(&[]), &["size=(2, 0)", "dtype=torch.int64"]);
        assert_eq!(text, "tensor([], size=(2, 0), dtype=torch.int64)");
    }

    #[test]
    fn blank_lines_part_the_outer_axes() {
        let cube = ["tensor([[[0, 1],", "         [2, 3]],", "", "        [[4, 5],", "         [6, 7]]])"];
        assert_eq!(counting(&[2, 2, 2], &PrintOptions::default()), cube.join("\n"));
        let four = ["tensor([[[[0],", "          [1]]],", "", "", "        [[[2],", "          [3]]]])"];
        assert_eq!(counting(&[2, 1, 2, 1], &PrintOptions::default()), four.join("\n"));
    }

    #[test]
    fn long_rows_break() {
        let values: Vec<f64> = (0..12).map(|i| f64::from(i as f32 / 7.0)).collect();
        let text = print(&[12], Values::Float(&values), &["dtype=torch.float64", "requires_grad=True"]);
        let expected = [
            "tensor([0.0000, 0.1429, 0.2857, 0.4286, 0.5714, 0.7143, 0.8571, 1.0000, 1.1429,",
            "        1.2857, 1.4286, 1.5714], dtype=torch.float64, requires_grad=True)",
        ];
        assert_eq!(text, expected.join("\n"));
    }

    #[test]
    fn suffixes_break_to_the_column_of_the_prefix() {
        let suffixes = ["dtype=torch.float64", "requires_grad=True"];
        let text = print(&[6], Values::Float(&[1e-7, 1., 2., 3., 4., 5.]), &suffixes);
        let expected = [
            "tensor([1.0000e-07, 1.0000e+00, 2.0000e+00, 3.0000e+00, 4.0000e+00, 5.0000e+00],",
            "       dtype=torch.float64, requires_grad=True)",
        ];
        assert_eq!(text, expected.join("\n"));
    }

    #[test]
    fn large_tensors_are_summarised() {
        let options = PrintOptions::default();
        assert_eq!(counting(&[1001], &options), "tensor([   0,    1,    2,  ...,  998,  999, 1000])");
        let expected = [
            "tensor([[   0,    1,    2,  ...,   27,   28,   29],",
            "        [  30,   31,   32,  ...,   57,   58,   59],",
            "        [  60,   61,   62,  ...,   87,   88,   89],",
            "        ...,",
            "        [1110, 1111, 1112,  ..., 1137, 1138, 1139],",
            "        [1140, 1141, 1142,  ..., 1167, 1168, 1169],",
            "        [1170, 1171, 1172,  ..., 1197, 1198, 1199]])",
        ];
        assert_eq!(counting(&[40, 30], &options), expected.join("\n"));
    }

    #[test]
    fn a_summary_visits_only_what_it_prints() {
        let mut visited = 0;
        visit_printed(&[usize::MAX, 1 << 40, 5], &PrintOptions::default(), |_| visited += 1);
        assert_eq!(visited, 6 * 6 * 5);
    }

    #[test]
    fn options_are_obeyed() {
        let default = PrintOptions::default();
        let float = |options: PrintOptions, values: &[f64]| {
            format_tensor("tensor(", &[values.len()], &Values::Float(values), &options, &[])
        };
        let on = PrintOptions { sci_mode: Some(true), ..default.clone() };
        assert_eq!(float(on, &[1., 2.5]), "tensor([1.0000e+00, 2.5000e+00])");
        let off = PrintOptions { sci_mode: Some(false), ..default.clone() };
        assert_eq!(float(off, &[1e-6, 2.5]), "tensor([0.0000, 2.5000])");
        let whole = PrintOptions { precision: 0, ..default.clone() };
        assert_eq!(float(whole, &[0.5, 2.5]), "tensor([0, 2])");

        let edge = PrintOptions { threshold: 5, edgeitems: 1, ..default.clone() };
        let expected = ["tensor([[ 0,  ...,  3],", "        ...,", "        [ 8,  ..., 11]])"];
        assert_eq!(counting(&[3, 4], &edge), expected.join("\n"));
        let none = PrintOptions { threshold: 5, edgeitems: 0, ..default.clone() };
        assert_eq!(counting(&[3, 4], &none), "tensor([...], size=(3, 4))");
        assert_eq!(counting(&[12], &none), "tensor([...], size=(12,))");
        let narrow = PrintOptions { linewidth: 30, ..default };
        let expected = ["tensor([ 0,  1,  2,  3,  4,", "         5,  6,  7,  8,  9,", "        10, 11])"];
        assert_eq!(counting(&[12], &narrow), expected.join("\n"));
    }
}
