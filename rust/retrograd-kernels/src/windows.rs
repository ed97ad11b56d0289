//! Windows: numbers that fade a signal in and out.

use std::f64::consts::{PI, TAU};
use std::mem::MaybeUninit;

use super::math::{cos, exp, sin};
use super::pointwise::{Body, lanes_of_slices};
use super::simd::Vector;
use super::special::{at, bessel_i0};

/// The shape of a window.
#[derive(Clone, Copy, Debug)]
pub enum Window<'a> {
    /// `a[0] - a[1] cos(turn) + a[2] cos(2 turn) - ...`.
    Cosines(&'a [f64]),
    Triangle,
    Kaiser(f64),
    /// Half a turn of the sine, at the middles of places.
    Sine,
    /// By a distance from the centre that is given, or from the middle.
    Exponential {
        center: Option<f64>,
        tau: f64,
    },
    Gaussian(f64),
}

/// The numbers at places of `steps` steps, but those of Kaiser.
struct Shape<'a> {
    window: Window<'a>,
    steps: f64,
}

impl Body<f64, 1> for Shape<'_> {
    const PAIRED: bool = false;
    #[inline(always)]
    fn f<V: Vector<Elem = f64>>(&self, [i]: [V; 1]) -> V {
        let (steps, one) = (i.splat(self.steps), i.of(1.0));
        let place = i / steps;
        match self.window {
            Window::Cosines(factors) => {
                let mut sum = i.splat(factors.first().copied().unwrap_or(0.0));
                for (k, &a) in factors.iter().enumerate().skip(1) {
                    let term = i.splat(a) * cos(i.splat(TAU * k as f64) * place);
                    sum = if k % 2 == 0 { sum + term } else { sum - term };
                }
                sum
            }
            Window::Triangle => one - (place + place - one).abs(),
            Window::Kaiser(_) => place + place - one,
            Window::Sine => sin(i.of(PI) * (i + i.of(0.5)) / (steps + one)),
            Window::Exponential { center, tau } => {
                exp(-((i - i.splat(center.unwrap_or(self.steps / 2.0))) / i.splat(tau)).abs())
            }
            Window::Gaussian(std) => {
                let x = (i - i.splat(self.steps / 2.0)) / i.splat(std);
                exp(i.of(-0.5) * x * x)
            }
        }
    }
}

impl Window<'_> {
    /// The numbers at the first places of `steps` steps, of which there are no more places than steps and one.
    pub fn write(self, steps: usize, to: &mut [f64]) {
        if let Window::Exponential { center: Some(_), .. } = self {
            return self.first(steps as f64, to);
        }
        // The others are the same from both ends.
        let half = to.len().min(steps / 2 + 1);
        self.first(steps as f64, &mut to[..half]);
        let (half, rest) = to.split_at_mut(half);
        let mirrored = half[..(steps + 1).saturating_sub(half.len())].iter().rev();
        rest.iter_mut().zip(mirrored).for_each(|(to, &x)| *to = x);
    }

    /// The numbers at the first places, each by itself.
    fn first(self, steps: f64, to: &mut [f64]) {
        /// Places at a time, which stay in the cache.
        const BLOCK: usize = 256;
        let (mut places, mut values) = ([0.0; BLOCK], [MaybeUninit::new(0.0); BLOCK]);
        for (block, to) in to.chunks_mut(BLOCK).enumerate() {
            let (places, values) = (&mut places[..to.len()], &mut values[..to.len()]);
            places.iter_mut().zip(block * BLOCK..).for_each(|(place, i)| *place = i as f64);
            lanes_of_slices(&Shape { window: self, steps }, [places], values);
            // SAFETY: all of them are initialised.
            let get = |x: &MaybeUninit<f64>| unsafe { x.assume_init() };
            if let Window::Kaiser(beta) = self {
                let whole = at(bessel_i0, [beta]);
                let root = |x: f64| beta * (1.0 - x * x).sqrt();
                places.iter_mut().zip(&*values).for_each(|(place, x)| *place = root(get(x)));
                bessel_i0([places], values);
                to.iter_mut().zip(&*values).for_each(|(to, x)| *to = get(x) / whole);
            } else {
                to.iter_mut().zip(&*values).for_each(|(to, x)| *to = get(x));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn windows_are_those_of_the_definition() {
        let bessel = |x: f64| {
            let (mut sum, mut term) = (1.0, 1.0);
            for k in 1..200 {
                term *= (x / 2.0 / k as f64).powi(2);
                sum += term;
            }
            sum
        };
        for n in [0usize, 1, 2, 3, 4, 5, 8, 17, 255, 256, 257, 1000] {
            for steps in [n, n.saturating_sub(1)] {
                let windows = [
                    Window::Cosines(&[0.42, 0.5, 0.08]),
                    Window::Cosines(&[0.36, 0.48, 0.13, 0.01]),
                    Window::Cosines(&[]),
                    Window::Triangle,
                    Window::Kaiser(12.0),
                    Window::Kaiser(0.0),
                    Window::Sine,
                    Window::Exponential { center: None, tau: 3.0 },
                    Window::Exponential { center: Some(1.5), tau: 7.0 },
                    Window::Gaussian(2.5),
                ];
                for window in windows.into_iter().filter(|_| steps > 0) {
                    let mut got = vec![f64::NAN; n];
                    window.write(steps, &mut got);
                    let steps = steps as f64;
                    for (i, got) in got.iter().enumerate() {
                        let (i, place) = (i as f64, i as f64 / steps);
                        let want = match window {
                            Window::Cosines(a) => {
                                let sign = |k: usize| if k.is_multiple_of(2) { 1.0 } else { -1.0 };
                                a.iter().enumerate().map(|(k, a)| sign(k) * a * (TAU * k as f64 * place).cos()).sum()
                            }
                            Window::Triangle => 1.0 - (2.0 * place - 1.0).abs(),
                            Window::Kaiser(beta) => {
                                bessel(beta * (1.0 - (2.0 * place - 1.0).powi(2)).sqrt()) / bessel(beta)
                            }
                            Window::Sine => (PI * (i + 0.5) / (steps + 1.0)).sin(),
                            Window::Exponential { center, tau } => {
                                (-((i - center.unwrap_or(steps / 2.0)) / tau).abs()).exp()
                            }
                            Window::Gaussian(std) => (-0.5 * ((i - steps / 2.0) / std).powi(2)).exp(),
                        };
                        assert!((got - want).abs() < 1e-14, "{window:?} {n} {i}: {got} {want}");
                    }
                }
            }
        }
    }
}
