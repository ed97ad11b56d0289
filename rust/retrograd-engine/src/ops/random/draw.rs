//! Draws into existing memory, in the order in which torch fills it.

use half::{bf16, f16};
use smallvec::SmallVec;

use crate::error::{Error, Result};
use crate::generator::{Generator, default_generator};
use crate::kernels::random::random_below;
use crate::kernels::random::{self, Mt19937};
use crate::kernels::thresholds::random::CHUNK;
use crate::match_dtype;
use crate::tensor::complex::pairs;
use crate::tensor::copy;
use crate::tensor::dtype::undeclared;
use crate::tensor::layout::{Dims, Strides, contiguous_strides};
use crate::tensor::{DType, Dtypes, Element, FromScalar, Scalar, Tensor, Truth};
use crate::warn::warn;

/// A distribution.
#[derive(Clone, Copy, Debug)]
pub(super) enum Draw {
    Uniform {
        lo: f64,
        hi: f64,
    },
    Normal {
        mean: f64,
        std: f64,
    },
    /// Positive numbers that fall off as `exp(-rate * x)`.
    Exponential {
        rate: f64,
    },
    /// Numbers far out as often as near, around a median.
    Cauchy {
        median: f64,
        sigma: f64,
    },
    /// Exponentials of normal numbers.
    LogNormal {
        mean: f64,
        std: f64,
    },
    /// How many trials of this chance it takes to succeed.
    Geometric {
        p: f64,
    },
    /// Integers in `lo..hi`.
    Below {
        lo: i64,
        hi: i64,
    },
    /// Integers from here to the largest of the dtype.
    From(i64),
    /// Integers from 0 to the largest of the dtype, or to the largest up to which a float is exact.
    Any,
    /// 1 with this probability, else 0.
    Chance(f64),
}

/// Refuses a probability outside 0 to 1.
pub(super) fn check_chance(p: Scalar) -> Result<()> {
    let x = p.as_f64();
    if (0.0..=1.0).contains(&x) {
        return Ok(());
    }
    Err(Error::shape("bernoulli_", format!("bernoulli_ expects p to be in [0, 1], but got p={x}")))
}

/// Smallest and largest integer of a dtype; for floats, the integers up to which all are exact.
fn bounds(dtype: DType) -> (i64, i64) {
    match dtype {
        DType::Bool => (0, 1),
        DType::UInt8 => (0, 255),
        DType::Int8 => (-128, 127),
        DType::Int16 => (i64::from(i16::MIN), i64::from(i16::MAX)),
        DType::Int32 => (i64::from(i32::MIN), i64::from(i32::MAX)),
        _ => match exact_bits(dtype) {
            Some(bits) => (-(1 << bits), 1 << bits),
            None => (i64::MIN, i64::MAX),
        },
    }
}

/// The largest number of a floating dtype.
fn largest(dtype: DType) -> f64 {
    match dtype {
        DType::Float16 => f16::MAX.to_f64(),
        DType::BFloat16 => bf16::MAX.to_f64(),
        DType::Float32 => f64::from(f32::MAX),
        _ => f64::MAX,
    }
}

/// The number as a floating dtype has it; halves by way of float32, as torch rounds to them.
pub(crate) fn rounded(x: f64, dtype: DType) -> f64 {
    match dtype {
        DType::Float16 => f16::from_f32(x as f32).to_f64(),
        DType::BFloat16 => bf16::from_f32(x as f32).to_f64(),
        DType::Float32 => f64::from(x as f32),
        _ => x,
    }
}

/// A number with NaN as other libraries write it.
fn shown(x: f64) -> String {
    if x.is_nan() { "nan".into() } else { x.to_string() }
}

/// Bits of the significand of a float dtype, up to whose power of 2 all integers are exact.
fn exact_bits(dtype: DType) -> Option<u32> {
    match dtype {
        DType::Float16 => Some(f16::MANTISSA_DIGITS),
        DType::BFloat16 => Some(bf16::MANTISSA_DIGITS),
        DType::Float32 => Some(f32::MANTISSA_DIGITS),
        DType::Float64 => Some(f64::MANTISSA_DIGITS),
        _ => None,
    }
}

/// The bounds of integers for a float dtype: an end that rounds outwards is moved in by the distance of floats there.
fn inward(lo: i64, hi: i64, dtype: DType) -> (i64, i64) {
    let Some(bits) = exact_bits(dtype) else { return (lo, hi) };
    let rounded = |x: i64| rounded(x as f64, dtype) as i64;
    let spacing = |x: i64| 1i64 << (x.unsigned_abs().max(1).ilog2() + 1).saturating_sub(bits);
    let (first, last) = (rounded(lo.saturating_add(1)), rounded(hi.saturating_sub(1)));
    (
        if first < lo { first.saturating_add(spacing(lo.saturating_add(1))) } else { lo },
        if last >= hi { last.saturating_sub(spacing(hi.saturating_sub(1))) } else { hi },
    )
}

/// Warns of bounds beyond which a float dtype does not hold every integer.
fn warn_of_bounds(lo: i64, hi: i64, dtype: DType) -> Result<()> {
    let Some(bits) = exact_bits(dtype) else { return Ok(()) };
    for (name, x) in [("from", lo), ("to - 1", hi - 1)] {
        if x.unsigned_abs() > 1 << bits {
            warn(&format!(
                "{name} is out of bounds [-(2^{bits}), 2^{bits}]. Due to precision limitations {} can support discrete \
                 uniform distribution only within this range. This warning will become an error in version 1.7 release, \
                 please fix the code in advance",
                dtype.cpp_name()
            ))?;
        }
    }
    Ok(())
}

impl Draw {
    /// The method that draws so.
    pub(super) fn name(self) -> &'static str {
        match self {
            Draw::Uniform { .. } => "uniform_",
            Draw::Normal { .. } => "normal_",
            Draw::Exponential { .. } => "exponential_",
            Draw::Cauchy { .. } => "cauchy_",
            Draw::LogNormal { .. } => "log_normal_",
            Draw::Geometric { .. } => "geometric_",
            Draw::Below { .. } | Draw::From(_) | Draw::Any => "random_",
            Draw::Chance(_) => "bernoulli_",
        }
    }

    /// The dtypes that can hold the distribution, as torch has kernels for them.
    pub(super) fn dtypes(self) -> Dtypes {
        match self {
            Draw::Uniform { .. } | Draw::Normal { .. } => Dtypes::ALL.without(Dtypes::INTEGRAL),
            // Other dtypes than floats are refused in other words.
            Draw::Exponential { .. } | Draw::Cauchy { .. } => Dtypes::ALL,
            Draw::LogNormal { .. } => Dtypes::FLOATS.or(Dtypes::HALVES),
            Draw::Geometric { .. } => Dtypes::ORDERED.without(Dtypes::of(&[DType::Bool])),
            _ => Dtypes::ORDERED,
        }
    }

    /// torch's name of the kernel.
    pub(super) fn kernel_name(self) -> &'static str {
        match self {
            Draw::Uniform { .. } => "check_uniform_bounds",
            Draw::Normal { .. } => "normal_kernel_cpu",
            Draw::Chance(_) => "bernoulli_scalar_cpu_",
            Draw::LogNormal { .. } => "log_normal_cpu",
            Draw::Geometric { .. } => "geometric_cpu",
            _ => "random_kernel_cpu",
        }
    }

    /// Refuses invalid parameters of the distribution, and dtypes that cannot hold it.
    pub(super) fn check(self, dtype: DType) -> Result<()> {
        let refuse = |op, detail: String| Err(Error::shape(op, detail));
        let floats = dtype.is_floating();
        if !self.dtypes().has(dtype) {
            return Err(Error::no_kernel(self.kernel_name(), dtype));
        }
        match self {
            Draw::Uniform { lo, hi } => {
                let limit = largest(dtype.real());
                for (name, x) in [("from", lo), ("to", hi)] {
                    if x.is_nan() || x.abs() > limit {
                        return refuse("uniform_", format!("{name} is out of bounds for {}", dtype.real().cpp_name()));
                    }
                }
                if lo > hi {
                    let detail =
                        format!("uniform_ expects to return a [from, to) range, but found from={lo} > to={hi}");
                    return refuse("uniform_", detail);
                }
                if hi - lo > limit {
                    let detail = format!("uniform_ expects to-from <= the largest {}, got {lo} to {hi}", dtype.name());
                    return refuse("uniform_", detail);
                }
                Ok(())
            }
            Draw::Normal { std, .. } if std < 0.0 || std.is_nan() => {
                refuse("normal_", format!("normal expects std >= 0.0, but found std {}", shown(std)))
            }
            Draw::Exponential { .. } if !floats => refuse(
                "exponential_",
                format!(
                    "Exponential distribution is a continuous probability distribution. dtype must be a floating point but \
                     you specified {}",
                    dtype.scalar_type_name()
                ),
            ),
            Draw::Exponential { rate } if rate <= 0.0 || rate.is_nan() => {
                refuse("exponential_", format!("exponential_ expects lambda > 0.0, but found lambda={rate}"))
            }
            Draw::Cauchy { .. } if !floats => refuse(
                "cauchy_",
                format!(
                    "Cauchy distribution is a continuous probability distribution. dtype must be a floating point but you \
                     specified {}",
                    dtype.cpp_name()
                ),
            ),
            Draw::Cauchy { sigma, .. } if sigma <= 0.0 || sigma.is_nan() => {
                refuse("cauchy_", format!("cauchy_ expects sigma > 0.0, but found sigma={}", shown(sigma)))
            }
            Draw::LogNormal { std, .. } if std <= 0.0 || std.is_nan() => {
                refuse("log_normal_", format!("log_normal_ expects std > 0.0, but found std={}", shown(std)))
            }
            Draw::Geometric { p } if !(p > 0.0 && p < 1.0) => {
                refuse("geometric_", format!("geometric_ expects p to be in (0, 1), but got p={}", shown(p)))
            }
            Draw::Below { lo, hi } => {
                if lo >= hi {
                    let detail = format!("random_ expects 'from' to be less than 'to', but got from={lo} >= to={hi}");
                    return refuse("random_", detail);
                }
                let (least, most) = bounds(dtype);
                for (name, x) in [("from", lo), ("to - 1", hi - 1)] {
                    // Floats take integers beyond those they hold exactly, rounded.
                    let holds =
                        if floats { x.unsigned_abs() as f64 <= largest(dtype) } else { (least..=most).contains(&x) };
                    if !holds {
                        return refuse("random_", format!("{name} is out of bounds for {}, got {x}", dtype.cpp_name()));
                    }
                }
                warn_of_bounds(lo, hi, dtype)?;
                let (lo, hi) = inward(lo, hi, dtype);
                if lo >= hi {
                    let detail = format!(
                        "random_ expects 'from' casted to dtype to be less than 'to' casted to dtype, but got from={lo} >= \
                         to={hi}"
                    );
                    return refuse("random_", detail);
                }
                Ok(())
            }
            Draw::From(lo) if !(bounds(dtype).0..=bounds(dtype).1).contains(&lo) => {
                refuse("random_", format!("from is out of bounds for {}, got {lo}", dtype.cpp_name()))
            }
            Draw::Chance(p) => check_chance(Scalar::Float(p)),
            _ => Ok(()),
        }
    }
}

/// Integers or truth values, drawn as `D` and converted.
fn converted<T: FromScalar, D: Copy + Into<Scalar>>(out: &mut [T], zero: D, mut draw: impl FnMut(&mut [D])) {
    let mut chunk = [zero; CHUNK];
    for part in out.chunks_mut(CHUNK) {
        let chunk = &mut chunk[..part.len()];
        draw(chunk);
        for (o, &x) in part.iter_mut().zip(&*chunk) {
            *o = T::from_scalar(x.into());
        }
    }
}

/// Numbers that are drawn in double precision, for a tensor of this dtype.
fn doubles(g: &mut Mt19937, how: Draw, dtype: DType, out: &mut [f64]) {
    match how {
        Draw::Cauchy { median, sigma } => out.iter_mut().for_each(|o| *o = random::cauchy(g, median, sigma)),
        Draw::LogNormal { mean, std } => out.iter_mut().for_each(|o| *o = random::log_normal(g, mean, std)),
        Draw::Geometric { p } => out.iter_mut().for_each(|o| *o = random::geometric(g, p)),
        Draw::Exponential { rate } => {
            random::uniform_f64(g, out, 0.0, 1.0);
            out.iter_mut().for_each(|u| *u = -(-*u).ln_1p() / rate);
        }
        _ => unreachable!("drawn in its own dtype"),
    }
    if dtype.half().is_some() {
        // By way of float32, which now and then is another half than the nearest.
        out.iter_mut().for_each(|o| *o = rounded(*o, dtype));
    }
}

/// Any integer of a dtype.
fn any_of(dtype: DType, g: &mut Mt19937) -> i64 {
    let most = bounds(dtype).1.cast_unsigned();
    let word = match dtype {
        DType::Int64 | DType::Float64 => g.random64(),
        _ => u64::from(g.random()),
    };
    (word % (most + 1)).cast_signed()
}

/// An integer from `lo` to the largest of a dtype.
fn from_on(dtype: DType, lo: i64, g: &mut Mt19937) -> i64 {
    let range = bounds(dtype).1.wrapping_sub(lo).cast_unsigned().wrapping_add(1);
    match range {
        // All 2^64: the bits as they come.
        0 => g.random64().cast_signed(),
        1..0x1000_0000 => lo.wrapping_add((u64::from(g.random()) % range).cast_signed()),
        _ => lo.wrapping_add((g.random64() % range).cast_signed()),
    }
}

/// Halves, drawn as `draw` fills float32 and rounded.
fn halves(t: &Tensor, draw: impl FnOnce(&mut [f32])) -> Result<()> {
    let wide = t.empty_like_layout(DType::Float32)?;
    in_order::<f32>(&wide, draw)?;
    copy::copy_into(&wide, t)
}

/// Fills `t`, whose dtype was checked. Autograd is not notified.
pub(super) fn draw_into(t: &Tensor, how: Draw, generator: Option<&Generator>) -> Result<()> {
    if t.dtype().is_complex() {
        // The variance of a complex number is that of both parts together.
        let how = match how {
            Draw::Normal { mean, std } => Draw::Normal { mean, std: std / std::f64::consts::SQRT_2 },
            other => other,
        };
        return draw_into(&pairs(t)?, how, generator);
    }
    let generator = generator.unwrap_or_else(|| default_generator());
    let (dtype, plain) = (t.dtype(), t.is_contiguous());
    generator.with(|g| match how {
        Draw::Uniform { lo, hi } => match dtype {
            DType::Float32 => in_order::<f32>(t, |o| random::uniform_f32(g, o, lo, hi)),
            DType::Float64 => in_order::<f64>(t, |o| random::uniform_f64(g, o, lo, hi)),
            DType::Float16 | DType::BFloat16 => {
                let end = rounded(hi, dtype);
                halves(t, |o| {
                    random::uniform_f32(g, o, lo, hi);
                    // The end itself, if a number rounds to it, is the beginning.
                    o.iter_mut().filter(|x| rounded(f64::from(**x), dtype) == end).for_each(|x| *x = lo as f32);
                })
            }
            _ => undeclared(dtype),
        },
        // Normals in bulk are for contiguous memory alone; elsewhere they are drawn one by one, as fewer than 16 are.
        Draw::Normal { mean, std } => match dtype {
            DType::Float32 => in_order::<f32>(t, |o| {
                let n = if plain { o.len().max(1) } else { 1 };
                o.chunks_mut(n).for_each(|o| random::normal_f32(g, o, mean, std));
            }),
            DType::Float64 => in_order::<f64>(t, |o| {
                let n = if plain { o.len().max(1) } else { 1 };
                o.chunks_mut(n).for_each(|o| random::normal_f64(g, o, mean, std));
            }),
            DType::Float16 | DType::BFloat16 => halves(t, |o| {
                let n = o.len();
                if plain && n >= 16 {
                    // Whole groups of 16, then the last 16 again.
                    random::normal_f32(g, &mut o[..n - n % 16], mean, std);
                    if n % 16 > 0 {
                        random::normal_f32(g, &mut o[n - 16..], mean, std);
                    }
                } else {
                    o.chunks_mut(1).for_each(|o| random::normal_f32(g, o, mean, std));
                }
            }),
            _ => undeclared(dtype),
        },
        _ => match_dtype!(ordered, dtype, T => in_order::<T>(t, |o| match how {
            Draw::Below { lo, hi } => {
                let (lo, hi) = inward(lo, hi, dtype);
                converted(o, 0i64, |o| random_below(g, o, lo, hi));
            }
            Draw::Exponential { .. } | Draw::Cauchy { .. } | Draw::LogNormal { .. } | Draw::Geometric { .. } => {
                converted(o, 0f64, |o| doubles(g, how, dtype, o));
            }
            Draw::From(lo) => converted(o, 0i64, |o| o.iter_mut().for_each(|o| *o = from_on(dtype, lo, g))),
            Draw::Chance(p) => converted(o, Truth::FALSE, |o| random::bernoulli(g, o, p)),
            _ => converted(o, 0i64, |o| o.iter_mut().for_each(|o| *o = any_of(dtype, g))),
        })),
    })
}

/// Lets `fill` write all elements in the order of memory.
fn in_order<T: Element>(t: &Tensor, fill: impl FnOnce(&mut [T])) -> Result<()> {
    if t.numel() == 0 {
        return Ok(());
    }
    if t.is_contiguous() {
        // SAFETY: S1 to S3 give `numel` writable elements, aligned; S4: nobody reads or writes them during the call.
        fill(unsafe { std::slice::from_raw_parts_mut(t.ptr::<T>(), t.numel()) });
        return Ok(());
    }
    let (packed, strides) = order_of_memory(t);
    let drawn = Tensor::build::<T>(&packed, fill)?;
    let drawn = Tensor::from_parts(drawn.storage(), T::DTYPE, t.sizes(), &strides, 0)?;
    copy::copy_into(&drawn, t)
}

/// The sizes of `t` by its axes as they lie in memory, the outermost first, and the strides that its own axes have in a
/// contiguous tensor of those.
fn order_of_memory(t: &Tensor) -> (Dims, Strides) {
    let mut order: SmallVec<[usize; 8]> = (0..t.ndim()).collect();
    order.sort_by_key(|&axis| std::cmp::Reverse(t.strides()[axis].unsigned_abs()));
    let packed: Dims = order.iter().map(|&axis| t.sizes()[axis]).collect();
    let mut strides = Strides::from_elem(0, t.ndim());
    order.iter().zip(contiguous_strides(&packed)).for_each(|(&axis, step)| strides[axis] = step);
    (packed, strides)
}

/// 1 with the probability in each element of `p`, else 0: contiguous, of the sizes and dtype of `p`.
pub(super) fn by_chance(p: &Tensor, generator: Option<&Generator>) -> Result<Tensor> {
    let p = copy::contiguous(p)?;
    let generator = generator.unwrap_or_else(|| default_generator());
    macro_rules! drawn {
        ($T:ty, $uniform:path) => {{
            let p_sizes = p.sizes();
            let p = p.as_slice::<$T>().expect("contiguous and of this dtype");
            if let Some(x) = p.iter().find(|x| !(0.0..=1.0).contains(*x)) {
                let detail =
                    format!("Expected p_in >= 0 && p_in <= 1 to be true, but got false: {x} is no probability");
                return Err(Error::shape("bernoulli", detail));
            }
            Tensor::build::<$T>(p_sizes, |out| {
                generator.with(|g| $uniform(g, out, 0.0, 1.0));
                for (o, &p) in out.iter_mut().zip(p) {
                    *o = if *o < p { 1.0 } else { 0.0 };
                }
            })
        }};
    }
    match p.dtype() {
        DType::Float32 => drawn!(f32, random::uniform_f32),
        DType::Float64 => drawn!(f64, random::uniform_f64),
        other => undeclared(other),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Draws from seed 7 into `t`, in row-major order.
    fn drawn(t: &Tensor, how: Draw) -> Vec<f64> {
        how.check(t.dtype()).unwrap();
        draw_into(t, how, Some(&Generator::new(7))).unwrap();
        t.to_vec::<f64>().unwrap()
    }

    fn fresh(n: usize, dtype: DType) -> Tensor {
        Tensor::empty(&[n], dtype).unwrap()
    }

    // Numbers of torch 2.13 after manual_seed(7).
    #[test]
    fn integers_are_those_of_torch() {
        let _reading = crate::storage::reclaim::reading();
        for (dtype, expected) in [
            (DType::Bool, [1.0, 0.0, 1.0]),
            (DType::UInt8, [175.0, 196.0, 25.0]),
            (DType::Int8, [47.0, 68.0, 25.0]),
            (DType::Int32, [327741615.0, 976413892.0, 1202242073.0]),
            (DType::Float32, [8974492.0, 3335306.0, 11059538.0]),
            (DType::Float64, [2516435200042024.0, 2465213813629881.0, 7765043079597394.0]),
        ] {
            assert_eq!(drawn(&fresh(3, dtype), Draw::Any), expected, "{dtype:?}");
        }
        let long = fresh(3, DType::Int64);
        drawn(&long, Draw::Any);
        assert_eq!(long.to_vec::<i64>().unwrap(), [1407639518939636932, 5163590386780219894, 8087222774582268115]);
        drawn(&long, Draw::From(-5));
        assert_eq!(long.to_vec::<i64>().unwrap(), [1407639518939636927, 5163590386780219884, 8087222774582268110]);
        drawn(&long, Draw::From(i64::MIN));
        assert_eq!(long.to_vec::<i64>().unwrap(), [1407639518939636932, -4059781650074555914, 8087222774582268115]);
        assert_eq!(drawn(&fresh(3, DType::Int8), Draw::From(-5)), [84.0, 106.0, 85.0]);
        assert_eq!(drawn(&fresh(3, DType::Float32), Draw::From(-5)), [8974392.0, 3335011.0, 11058538.0]);
        assert_eq!(drawn(&fresh(5, DType::Float32), Draw::Below { lo: 0, hi: 100 }), [15.0, 92.0, 21.0, 86.0, 83.0]);
    }

    #[test]
    fn exponential_numbers_are_those_of_torch() {
        let _reading = crate::storage::reclaim::reading();
        let draw = |dtype, rate| {
            let t = fresh(3, dtype);
            draw_into(&t, Draw::Exponential { rate }, Some(&Generator::new(0))).unwrap();
            t.to_vec::<f64>().unwrap()
        };
        assert_eq!(draw(DType::Float32, 1.0), [3.508326292037964, 1.2303847074508667, 0.615044116973877]);
        assert_eq!(draw(DType::Float64, 1.0), [3.508326186707642, 1.2303847641796768, 0.6150440938940115]);
        assert!(Draw::Exponential { rate: 0.0 }.check(DType::Float32).is_err());
        assert!(Draw::Exponential { rate: 1.0 }.check(DType::Int64).is_err());
    }

    #[test]
    fn chances_are_those_of_torch() {
        let _reading = crate::storage::reclaim::reading();
        let p = |dtype| Tensor::full(&[6], Scalar::Float(0.5), dtype).unwrap();
        let each = |p: &Tensor| by_chance(p, Some(&Generator::new(7))).unwrap().to_vec::<f64>().unwrap();
        assert_eq!(each(&p(DType::Float32)), [0.0, 1.0, 0.0, 0.0, 1.0, 1.0]);
        assert_eq!(each(&p(DType::Float64)), [1.0, 1.0, 0.0, 0.0, 0.0, 0.0]);
        assert_eq!(drawn(&fresh(6, DType::Float32), Draw::Chance(0.5)), [1.0, 1.0, 0.0, 0.0, 0.0, 0.0]);
        assert!(by_chance(&Tensor::full(&[1], Scalar::Float(f64::NAN), DType::Float32).unwrap(), None).is_err());
        assert!(super::super::bernoulli(&fresh(1, DType::Int64), None).is_err());
    }

    #[test]
    fn strided_memory_is_filled_as_torch_does() {
        let flat = fresh(40, DType::Float32);
        let t = flat.view_as(&[3, 2], &[1, 3], 0).unwrap();
        let expected = [
            0.5349225401878357,
            0.6568902730941772,
            0.19880318641662598,
            0.23276156187057495,
            0.6592116951942444,
            0.4250614047050476,
        ];
        assert_eq!(drawn(&t, Draw::Uniform { lo: 0.0, hi: 1.0 }), expected);
        let s = flat.view_as(&[5, 4], &[8, 2], 0).unwrap();
        let expected = [-0.1467950940132141, 0.7861412763595581, 0.9468216300010681, -1.1143440008163452];
        assert_eq!(drawn(&s, Draw::Normal { mean: 0.0, std: 1.0 })[..4], expected);
    }

    #[test]
    fn parameters_are_checked() {
        let uniform = |lo, hi| Draw::Uniform { lo, hi }.check(DType::Float32).is_err();
        assert!(uniform(1.0, 0.0) && uniform(f64::NAN, 1.0) && uniform(0.0, 1e300) && !uniform(1.0, 1.0));
        let below = |lo, hi, dtype| Draw::Below { lo, hi }.check(dtype).is_err();
        assert!(below(5, 5, DType::Int64) && below(0, 300, DType::UInt8) && below(-1, 5, DType::UInt8));
        assert!(below(0, 3, DType::Bool) && !below(i64::MIN, i64::MAX, DType::Int64));
        assert!(Draw::Normal { mean: 0.0, std: f64::NAN }.check(DType::Float32).is_err());
        assert!(Draw::Normal { mean: 0.0, std: 1.0 }.check(DType::Int64).is_err());
        assert!(Draw::Chance(1.5).check(DType::Float32).is_err());
    }
}
