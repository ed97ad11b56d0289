//! What holds while a function runs, and what holds for the process.
//!
//! Each scope puts back what was before when its function returns, and when it panics.

use crate::engine::autograd::NodeRef;
use crate::engine::autograd::anomaly::{self, Witness};
use crate::engine::autograd::mode::{self, DETECT_INF, DETECT_NAN, GRAD, GradGuard, INFERENCE};
use crate::engine::kernels::parallel;
use crate::engine::tensor::scalar;
use crate::engine::{autocast as engine_autocast, generator, warn};
use crate::{DType, Result};

/// Runs `f` without recording: results of ops do not require grad.
///
/// ```
/// use retrograd::{no_grad, tensor};
///
/// let x = tensor![1.0].requires_grad_(true);
/// assert!(!no_grad(|| &x * 2.0).requires_grad());
/// assert!((&x * 2.0).requires_grad());
/// ```
#[inline]
pub fn no_grad<R>(f: impl FnOnce() -> R) -> R {
    set_grad_enabled(false, f)
}

/// Runs `f` with recording, also inside of [`no_grad`].
///
/// ```
/// use retrograd::{enable_grad, no_grad, tensor};
///
/// let x = tensor![1.0].requires_grad_(true);
/// assert!(no_grad(|| enable_grad(|| &x * 2.0)).requires_grad());
/// ```
#[inline]
pub fn enable_grad<R>(f: impl FnOnce() -> R) -> R {
    set_grad_enabled(true, f)
}

/// Runs `f` with recording or without.
///
/// ```
/// let training = false;
/// assert!(!retrograd::set_grad_enabled(training, retrograd::is_grad_enabled));
/// ```
#[inline]
pub fn set_grad_enabled<R>(enabled: bool, f: impl FnOnce() -> R) -> R {
    let _mode = GradGuard::new(enabled);
    f()
}

/// Whether ops record on this thread.
#[inline]
pub fn is_grad_enabled() -> bool {
    mode::is_grad_enabled()
}

/// Runs `f` in inference mode: without recording, and tensors made meanwhile take no part in graphs later either, so
/// that writes to them need not be counted.
///
/// ```
/// use retrograd::{inference_mode, tensor};
///
/// let x = tensor![1.0].requires_grad_(true);
/// let y = inference_mode(|| &x * 2.0);
/// assert!(!y.requires_grad());
/// assert!(y.try_requires_grad_(true).is_err());
/// ```
pub fn inference_mode<R>(f: impl FnOnce() -> R) -> R {
    let _modes = GradGuard::keeping(GRAD | INFERENCE);
    mode::set(INFERENCE, true);
    mode::set(GRAD, false);
    f()
}

/// Whether inference mode is on on this thread.
pub fn is_inference_mode_enabled() -> bool {
    mode::word() & INFERENCE != 0
}

/// What [`autocast_with`] may be told.
#[derive(Clone, Copy, Debug)]
pub struct AutocastOptions(engine_autocast::Settings);

impl AutocastOptions {
    /// The dtype that products compute in, bfloat16 by default; float16 is the other one.
    #[must_use]
    pub fn dtype(mut self, dtype: DType) -> Self {
        self.0.dtype = dtype;
        self
    }

    /// False for a region in which nothing is converted, within one in which operands are.
    #[must_use]
    pub fn enabled(mut self, enabled: bool) -> Self {
        self.0.enabled = enabled;
        self
    }

    /// Whether leaves that require grad are converted once, as long as nobody writes to them; so by default.
    #[must_use]
    pub fn cache_enabled(mut self, cache_enabled: bool) -> Self {
        self.0.caches = cache_enabled;
        self
    }
}

/// Runs `f` in mixed precision: products compute in bfloat16, and ops that need the precision in float32.
///
/// ```
/// use retrograd::{DType, autocast, tensor};
///
/// let x = tensor![[1f32, 2.0], [3.0, 4.0]];
/// assert_eq!(autocast(|| x.matmul(&x)).dtype(), DType::BFloat16);
/// assert_eq!(x.matmul(&x).dtype(), DType::Float32);
/// ```
pub fn autocast<R>(f: impl FnOnce() -> R) -> R {
    autocast_with(|options| options, f)
}

/// As [`autocast`], with options.
pub fn autocast_with<R>(options: impl FnOnce(AutocastOptions) -> AutocastOptions, f: impl FnOnce() -> R) -> R {
    let AutocastOptions(settings) = options(AutocastOptions(engine_autocast::Settings::default()));
    let _region = engine_autocast::Guard::new(settings);
    f()
}

/// Says, in anomaly mode, where the op was called whose backward failed.
struct Lines;

impl Witness for Lines {
    // Every node has the line that it was made at.
    fn recorded(&self, _node: &NodeRef, _parent: Option<&NodeRef>) {}
    fn failed(&self, node: &NodeRef) {
        let name = node.name();
        let name = name.rsplit("::").next().unwrap_or(&name);
        let place = node.origin().location().map_or_else(
            || "No forward pass information available.".to_owned(),
            |place| {
                let line = place.text.map_or_else(String::new, |text| format!("\n    {text}"));
                format!("Traceback of forward call that caused the error:\n  {}:{}{line}", place.file, place.line)
            },
        );
        // Nobody turns warnings into errors here.
        let _ = warn::warn(&format!("Error detected in {name}. {place}"));
    }
}

/// Puts anomaly mode back.
struct Anomaly {
    on: bool,
    check_nan: bool,
}

impl Drop for Anomaly {
    fn drop(&mut self) {
        anomaly::set(self.on, self.check_nan);
    }
}

/// Runs `f` in anomaly mode, which is that of all threads: a backward pass that makes a NaN is an error, and where one
/// fails a warning on standard error says at which line the op was called.
///
/// ```
/// use retrograd::{detect_anomaly, tensor};
///
/// let x = tensor![0.0].requires_grad_(true);
/// let error = detect_anomaly(|| (&x / tensor![0.0]).backward_with(|o| o.gradient(&x.detach()))).unwrap_err();
/// assert!(error.to_string().contains("returned nan values in its 0th output"));
/// ```
pub fn detect_anomaly<R>(f: impl FnOnce() -> R) -> R {
    anomaly::register(&Lines);
    let _before = Anomaly { on: anomaly::is_on(), check_nan: anomaly::checks_nan() };
    anomaly::set(true, true);
    f()
}

/// Runs `f`, and has every op of this thread that makes a NaN of numbers that are none fail, in both directions.
///
/// ```
/// use retrograd::{detect_nan, tensor};
///
/// let error = detect_nan(|| tensor![0.0].log().try_mul(0.0)).unwrap_err();
/// assert!(error.to_string().contains("mul"));
/// ```
pub fn detect_nan<R>(f: impl FnOnce() -> R) -> R {
    detect(false, f)
}

/// As [`detect_nan`], with infinities among what is refused.
///
/// ```
/// use retrograd::{detect_nan_or_inf, tensor};
///
/// let error = detect_nan_or_inf(|| tensor![0.0].try_log()).unwrap_err();
/// assert!(error.to_string().contains("log"));
/// ```
pub fn detect_nan_or_inf<R>(f: impl FnOnce() -> R) -> R {
    detect(true, f)
}

fn detect<R>(infinities: bool, f: impl FnOnce() -> R) -> R {
    let _modes = GradGuard::keeping(DETECT_NAN | DETECT_INF);
    mode::set(DETECT_NAN, true);
    mode::set(DETECT_INF, infinities);
    f()
}

/// The dtype of floating tensors that are made without naming one: float32, unless [`set_default_dtype`] says
/// otherwise.
pub fn get_default_dtype() -> DType {
    scalar::default_dtype()
}

/// Sets [`get_default_dtype`], for the process.
///
/// # Errors
/// For other dtypes than float32 and float64.
///
/// ```
/// use retrograd::{DType, set_default_dtype, tensor};
///
/// set_default_dtype(DType::Float64)?;
/// assert_eq!(tensor![].dtype(), DType::Float64);
/// assert!(set_default_dtype(DType::Int64).is_err());
/// set_default_dtype(DType::Float32)?;
/// # Ok::<(), retrograd::Error>(())
/// ```
pub fn set_default_dtype(dtype: DType) -> Result<()> {
    scalar::set_default_dtype(dtype)
}

/// Seeds the generator that random ops use unless they are given one: the numbers that follow are torch's after the
/// same call.
pub fn manual_seed(seed: u64) {
    generator::manual_seed(seed);
}

/// How many threads one op may use, the calling one among them.
pub fn get_num_threads() -> usize {
    parallel::num_threads()
}

/// Sets [`get_num_threads`], for the process; 0 counts as 1.
///
/// ```
/// retrograd::set_num_threads(2);
/// assert_eq!(retrograd::get_num_threads(), 2);
/// ```
pub fn set_num_threads(n: usize) {
    parallel::set_num_threads(n);
}
