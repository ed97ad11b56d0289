//! Learning rates that change from epoch to epoch.

use std::f64::consts::PI;

use crate::optim::Optimizer;

/// A learning rate as a function of the epoch.
pub trait Schedule {
    /// The rate in an epoch, the first of which is 0, of a group that began with the rate `base`.
    fn lr(&self, base: f64, epoch: usize) -> f64;
}

/// Sets the rates of an optimizer by a [`Schedule`], for each group from the rate that it has at first.
///
/// ```
/// use retrograd::nn::{Linear, Module};
/// use retrograd::optim::{Optimizer, Scheduler, Sgd, StepLr};
///
/// let mut optimizer = Sgd::new(Linear::new(3, 2).parameters(), 0.5);
/// let mut scheduler = Scheduler::new(&mut optimizer, StepLr::new(2, 0.1));
/// let mut rates = Vec::new();
/// for _ in 0..4 {
///     rates.push(optimizer.lrs()[0]);
///     optimizer.step()?;
///     scheduler.step(&mut optimizer);
/// }
/// assert_eq!(rates, [0.5, 0.5, 0.05, 0.05]);
/// # Ok::<(), retrograd::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct Scheduler<S> {
    schedule: S,
    base: Vec<f64>,
    epoch: usize,
}

impl<S: Schedule> Scheduler<S> {
    /// Begins with epoch 0, whose rates it sets.
    pub fn new(optimizer: &mut impl Optimizer, schedule: S) -> Self {
        let made = Self { schedule, base: optimizer.lrs(), epoch: 0 };
        optimizer.set_lrs(&made.lrs());
        made
    }

    /// Begins the next epoch. Groups that were added later keep their rates.
    pub fn step(&mut self, optimizer: &mut impl Optimizer) {
        self.set_epoch(self.epoch + 1, optimizer);
    }

    /// Goes to an epoch, as after a state was loaded.
    pub fn set_epoch(&mut self, epoch: usize, optimizer: &mut impl Optimizer) {
        self.epoch = epoch;
        optimizer.set_lrs(&self.lrs());
    }

    /// The epoch, 0 at first.
    pub fn epoch(&self) -> usize {
        self.epoch
    }

    /// The rates of this epoch.
    pub fn lrs(&self) -> Vec<f64> {
        self.base.iter().map(|&base| self.schedule.lr(base, self.epoch)).collect()
    }
}

fn power(x: f64, n: usize) -> f64 {
    x.powi(i32::try_from(n).unwrap_or(i32::MAX))
}

/// The rate is multiplied by `gamma` every `step_size` epochs.
///
/// ```
/// use retrograd::optim::{Schedule, StepLr};
///
/// assert_eq!(StepLr::new(3, 0.5).lr(0.8, 7), 0.2);
/// ```
#[derive(Clone, Copy, Debug)]
pub struct StepLr {
    step_size: usize,
    gamma: f64,
}

impl StepLr {
    /// The schedule. Panics if `step_size` is 0.
    #[track_caller]
    pub fn new(step_size: usize, gamma: f64) -> Self {
        assert!(step_size > 0, "StepLr: step_size must be greater than zero");
        Self { step_size, gamma }
    }
}

impl Schedule for StepLr {
    fn lr(&self, base: f64, epoch: usize) -> f64 {
        base * power(self.gamma, epoch / self.step_size)
    }
}

/// The rate is multiplied by `gamma` every epoch.
///
/// ```
/// use retrograd::optim::{ExponentialLr, Schedule};
///
/// assert_eq!(ExponentialLr::new(0.5).lr(0.8, 2), 0.2);
/// ```
#[derive(Clone, Copy, Debug)]
pub struct ExponentialLr {
    gamma: f64,
}

impl ExponentialLr {
    /// The schedule.
    pub fn new(gamma: f64) -> Self {
        Self { gamma }
    }
}

impl Schedule for ExponentialLr {
    fn lr(&self, base: f64, epoch: usize) -> f64 {
        base * power(self.gamma, epoch)
    }
}

/// From the first rate to a least one along half a wave of the cosine, in `t_max` epochs; then back, and so on.
///
/// ```
/// use retrograd::optim::{CosineAnnealingLr, Schedule};
///
/// assert_eq!(CosineAnnealingLr::new(4).eta_min(0.1).lr(0.5, 4), 0.1);
/// ```
#[derive(Clone, Copy, Debug)]
pub struct CosineAnnealingLr {
    t_max: usize,
    eta_min: f64,
}

impl CosineAnnealingLr {
    /// The schedule, to a rate of 0. Panics if `t_max` is 0.
    #[track_caller]
    pub fn new(t_max: usize) -> Self {
        assert!(t_max > 0, "CosineAnnealingLr: t_max must be greater than zero");
        Self { t_max, eta_min: 0.0 }
    }

    /// To this rate.
    pub fn eta_min(self, eta_min: f64) -> Self {
        Self { eta_min, ..self }
    }
}

impl Schedule for CosineAnnealingLr {
    fn lr(&self, base: f64, epoch: usize) -> f64 {
        self.eta_min + (base - self.eta_min) * (1.0 + (PI * epoch as f64 / self.t_max as f64).cos()) / 2.0
    }
}

/// The first rate times a factor that goes from one number to another in `total_iters` epochs, and stays there.
///
/// ```
/// use retrograd::optim::{LinearLr, Schedule};
///
/// assert_eq!(LinearLr::new(0.5, 1.0, 4).lr(0.8, 2), 0.8 * 0.75);
/// ```
#[derive(Clone, Copy, Debug)]
pub struct LinearLr {
    start_factor: f64,
    end_factor: f64,
    total_iters: usize,
}

impl LinearLr {
    /// The schedule. Panics if `total_iters` is 0.
    #[track_caller]
    pub fn new(start_factor: f64, end_factor: f64, total_iters: usize) -> Self {
        assert!(total_iters > 0, "LinearLr: total_iters must be greater than zero");
        Self { start_factor, end_factor, total_iters }
    }
}

impl Schedule for LinearLr {
    fn lr(&self, base: f64, epoch: usize) -> f64 {
        let way = self.end_factor - self.start_factor;
        base * (self.start_factor + way * epoch.min(self.total_iters) as f64 / self.total_iters as f64)
    }
}

/// The first rate times a function of the epoch.
///
/// ```
/// use retrograd::optim::{LambdaLr, Schedule};
///
/// assert_eq!(LambdaLr::new(|epoch| 1.0 / (1 + epoch) as f64).lr(0.8, 3), 0.2);
/// ```
#[derive(Clone, Copy, Debug)]
pub struct LambdaLr<F> {
    factor: F,
}

impl<F: Fn(usize) -> f64> LambdaLr<F> {
    /// The schedule.
    pub fn new(factor: F) -> Self {
        Self { factor }
    }
}

impl<F: Fn(usize) -> f64> Schedule for LambdaLr<F> {
    fn lr(&self, base: f64, epoch: usize) -> f64 {
        base * (self.factor)(epoch)
    }
}

/// Equal steps up to the first rate, which epoch number `epochs - 1` has; then another schedule, from its epoch 0 on.
///
/// ```
/// use retrograd::optim::{ExponentialLr, Schedule, Warmup};
///
/// let schedule = Warmup::new(2, ExponentialLr::new(0.5));
/// let rates: Vec<f64> = (0..4).map(|epoch| schedule.lr(0.8, epoch)).collect();
/// assert_eq!(rates, [0.4, 0.8, 0.8, 0.4]);
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Warmup<S> {
    epochs: usize,
    then: S,
}

impl<S: Schedule> Warmup<S> {
    /// The schedule.
    pub fn new(epochs: usize, then: S) -> Self {
        Self { epochs, then }
    }
}

impl<S: Schedule> Schedule for Warmup<S> {
    fn lr(&self, base: f64, epoch: usize) -> f64 {
        match epoch.checked_sub(self.epochs) {
            Some(later) => self.then.lr(base, later),
            None => base * (epoch + 1) as f64 / self.epochs as f64,
        }
    }
}
