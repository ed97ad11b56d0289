//! The programs on num-dual: dual numbers, which carry a derivative for each input of the program.

use std::f64::consts::PI;

use nalgebra::SVector;
use num_dual::{DualNum, DualSVec32, DualSVec64, gradient, jacobian};

use crate::data;
use crate::programs::{Crate, Program};

const MANY: &str = "a derivative per parameter in each number: for functions of few inputs";

pub const PROGRAMS: Crate =
    Crate { name: "num-dual", programs: [|| Err(MANY), || Err(MANY), || Ok(chain()), || Ok(map()), || Ok(process())] };

struct Call<F>(F);

impl<F: FnMut() -> Vec<f64>> Program for Call<F> {
    fn step(&mut self) {
        (self.0)();
    }
    fn result(&mut self) -> Vec<f64> {
        (self.0)()
    }
}

fn chain() -> Box<dyn Program> {
    const N: usize = data::chain::SIZE;
    let x = SVector::<f32, N>::from_vec(data::chain::start());
    let w = data::chain::factor();
    let product = move |x: SVector<DualSVec32<N>, N>| {
        let last = |(&x, &w): (&DualSVec32<N>, &f32)| (0..data::chain::LENGTH).fold(x, |y, _| y * w);
        x.iter().zip(&w).map(last).sum::<DualSVec32<N>>()
    };
    Box::new(Call(move || {
        let (_, found) = gradient(&product, std::hint::black_box(&x));
        found.iter().map(|&x| x.into()).collect()
    }))
}

fn map() -> Box<dyn Program> {
    const N: usize = data::map::SIZE;
    let w = data::map::matrix();
    let x = SVector::<f32, N>::from_vec(data::map::place());
    let f = move |x: SVector<DualSVec32<N>, N>| {
        let entry = |row: &[f32]| row.iter().zip(&x).map(|(&w, &x)| x * w).sum::<DualSVec32<N>>().tanh();
        SVector::<DualSVec32<N>, N>::from_iterator(w.chunks(N).map(entry))
    };
    Box::new(Call(move || {
        let (_, found) = jacobian(&f, std::hint::black_box(&x));
        found.transpose().iter().map(|&x| x.into()).collect()
    }))
}

type Dual = DualSVec64<3>;

/// The Cholesky factor of the covariances, row by row, and the values made white on the way.
fn likelihood(logarithms: &SVector<Dual, 3>, places: &[f64], values: &[f64]) -> Dual {
    let [amplitude, length, noise] = [0, 1, 2].map(|i| logarithms[i].exp());
    let n = places.len();
    let mut factor: Vec<Vec<Dual>> = Vec::with_capacity(n);
    let mut white: Vec<Dual> = Vec::with_capacity(n);
    let mut found = Dual::from(0.5 * n as f64 * (2.0 * PI).ln());
    for i in 0..n {
        let mut row: Vec<Dual> = Vec::with_capacity(i + 1);
        for j in 0..=i {
            let distance = length.recip() * (places[i] - places[j]);
            let mut rest = amplitude * amplitude * (distance * distance * -0.5).exp();
            let above = if j == i { &row } else { &factor[j] };
            for (&a, &b) in row.iter().zip(above).take(j) {
                rest -= a * b;
            }
            row.push(if j == i { (rest + noise * noise).sqrt() } else { rest / factor[j][j] });
        }
        let known = row.iter().zip(&white).map(|(&a, &b)| a * b).sum::<Dual>();
        white.push((-known + values[i]) / row[i]);
        found += white[i] * white[i] * 0.5 + row[i].ln();
        factor.push(row);
    }
    found
}

fn process() -> Box<dyn Program> {
    let (places, values) = (data::process::places(), data::process::values());
    let logarithms = SVector::from(data::process::PARAMETERS);
    Box::new(Call(move || {
        let f = |p: SVector<Dual, 3>| likelihood(&p, &places, &values);
        let (_, found) = gradient(f, std::hint::black_box(&logarithms));
        found.iter().copied().collect()
    }))
}
