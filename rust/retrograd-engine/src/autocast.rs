//! Mixed precision: in a region, products run on half or bfloat16 numbers, and ops that need the precision in float32.
//!
//! What happens to the operands of an op is its [`Policy`], which the table in `retrograd-macros/src/autocast.rs` gives
//! it by its name. The conversions are part of the entry of an op and are recorded like any other. Below the entry
//! nothing is converted: the op itself, and the rules of its derivatives and of batches, run in the dtypes that the
//! entry chose. A region belongs to its thread.
//!
//! ```
//! use retrograd_engine::{DType, Tensor, autocast};
//! let x = Tensor::from_slice(&[1.0f32, 2.0, 3.0, 4.0], &[2, 2]).unwrap();
//! let y = {
//!     let _region = autocast::Guard::new(autocast::Settings::default());
//!     x.matmul(&x).unwrap()
//! };
//! assert_eq!(y.dtype(), DType::BFloat16);
//! assert_eq!(x.matmul(&x).unwrap().dtype(), DType::Float32);
//! ```

use std::cell::RefCell;
use std::collections::HashMap;
use std::marker::PhantomData;

use smallvec::SmallVec;

use crate::autograd::mode::{self, GradGuard};
use crate::error::Result;
use crate::kernels::thread_values::ThreadValue;
use crate::ops::memory::cast;
use crate::tensor::{DType, Tensor};
use crate::transforms;

/// What a region does to the operands of an op that are floating point numbers, but not float64.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Policy {
    /// They are converted to the dtype of the region.
    Lower,
    /// They are converted to float32.
    Full,
    /// They are converted to float32 if one of them has that dtype.
    Promote,
    /// They stay as they are, also for the ops that the op consists of.
    AsGiven,
}

/// What a region is like.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Settings {
    /// False is for a region in which nothing is converted, within one in which operands are.
    pub enabled: bool,
    /// What [`Policy::Lower`] converts to.
    pub dtype: DType,
    /// Leaves that require grad are converted once, as long as nobody writes to them.
    pub caches: bool,
}

impl Default for Settings {
    fn default() -> Self {
        Self { enabled: true, dtype: DType::BFloat16, caches: true }
    }
}

/// A leaf that was converted.
struct Converted {
    leaf: Tensor,
    version: u32,
    result: Tensor,
}

/// Which tensor, by its address, to which dtype, and in which grad mode.
type Key = (usize, DType, u32);

/// What a thread knows besides the bit of its mode word.
struct State {
    dtype: DType,
    caches: bool,
    /// How many regions are entered.
    nesting: i32,
    converted: HashMap<Key, Converted>,
}

impl Default for State {
    fn default() -> Self {
        let Settings { dtype, caches, .. } = Settings::default();
        Self { dtype, caches, nesting: 0, converted: HashMap::new() }
    }
}

static STATE: ThreadValue<RefCell<State>> = ThreadValue::new(RefCell::default);

/// The state of a thread while another one continues for it; the mode word has the rest.
#[derive(Default)]
pub(crate) struct Carried(State);

impl Carried {
    pub fn exchange(&mut self) {
        self.0 = STATE.replace(std::mem::take(&mut self.0));
    }
}

/// Whether ops convert their operands on this thread.
#[inline]
pub fn is_enabled() -> bool {
    mode::word() & mode::AUTOCAST != 0
}

/// Lets ops convert their operands on this thread, or not.
pub fn set_enabled(on: bool) {
    mode::set(mode::AUTOCAST, on);
}

/// What products convert to.
pub fn dtype() -> DType {
    STATE.with_borrow(|s| s.dtype)
}

/// Sets what products convert to.
pub fn set_dtype(dtype: DType) {
    STATE.with_borrow_mut(|s| s.dtype = dtype);
}

/// Whether converted leaves are kept for the next op.
pub fn is_cache_enabled() -> bool {
    STATE.with_borrow(|s| s.caches)
}

/// Lets converted leaves be kept for the next op, or not.
pub fn set_cache_enabled(on: bool) {
    STATE.with_borrow_mut(|s| s.caches = on);
}

/// Forgets the leaves that were converted.
pub fn clear_cache() {
    // Dropped after the state is given back: that may run code of the host.
    drop(STATE.with_borrow_mut(|s| std::mem::take(&mut s.converted)));
}

/// A region begins: returns how many are entered now.
pub fn increment_nesting() -> i32 {
    STATE.with_borrow_mut(|s| {
        s.nesting += 1;
        s.nesting
    })
}

/// A region ends: returns how many are still entered. Outside of all, [`clear_cache`] is due.
pub fn decrement_nesting() -> i32 {
    STATE.with_borrow_mut(|s| {
        s.nesting -= 1;
        s.nesting
    })
}

/// What holds on this thread.
pub fn settings() -> Settings {
    Settings { enabled: is_enabled(), dtype: dtype(), caches: is_cache_enabled() }
}

fn set(settings: Settings) {
    set_enabled(settings.enabled);
    set_dtype(settings.dtype);
    set_cache_enabled(settings.caches);
}

/// Enters a region. Returns what held before, for [`leave`].
pub fn enter(region: Settings) -> Settings {
    let before = settings();
    set(region);
    increment_nesting();
    before
}

/// Leaves a region. With the outermost one the converted leaves go.
pub fn leave(before: Settings) {
    if decrement_nesting() == 0 {
        clear_cache();
    }
    set(before);
}

/// A region that ends when this is dropped.
#[must_use = "the region ends when the guard is dropped"]
pub struct Guard {
    before: Settings,
    /// A region is left on the thread that entered it.
    _here: PhantomData<*const ()>,
}

impl Guard {
    pub fn new(region: Settings) -> Self {
        Self { before: enter(region), _here: PhantomData }
    }
}

impl Drop for Guard {
    fn drop(&mut self) {
        leave(self.before);
    }
}

/// While it lives nothing is converted: the thread is below the entry of an op.
pub(crate) fn below() -> GradGuard {
    GradGuard::with(mode::AUTOCAST, false)
}

/// The tensors of one parameter of an op: one, a list, or none.
pub type Operands = SmallVec<[Tensor; 1]>;

/// Converts the operands of an op, listed by parameter; while the second result lives, its body runs.
#[cold]
pub fn at_entry(policy: Policy, given: &[&[Tensor]]) -> Result<(Vec<Operands>, GradGuard)> {
    let below = below();
    let all = || given.iter().copied().flatten();
    let region = dtype();
    let to = match policy {
        Policy::Lower => Some(region),
        Policy::Full => Some(DType::Float32),
        Policy::Promote => all().any(|x| x.dtype() == DType::Float32).then_some(DType::Float32),
        Policy::AsGiven => None,
    };
    let convert = |x: &Tensor| match to {
        Some(to) if is_eligible(x) && x.dtype() != to => converted(x, to, to == region),
        _ => Ok(x.clone()),
    };
    let operands = given.iter().map(|xs| xs.iter().map(convert).collect()).collect::<Result<_>>()?;
    Ok((operands, below))
}

/// The operand as an op with the policy has it, for ops of which one part has a policy and another has none.
pub fn operand(policy: Policy, x: &Tensor) -> Result<Tensor> {
    if !is_enabled() {
        return Ok(x.clone());
    }
    let (mut operands, _below) = at_entry(policy, &[std::slice::from_ref(x)])?;
    Ok(operands.swap_remove(0).swap_remove(0))
}

fn is_eligible(x: &Tensor) -> bool {
    x.dtype().is_floating() && x.dtype() != DType::Float64
}

/// Bits that a conversion depends on.
const RECORDED: u32 = mode::GRAD | mode::INFERENCE;

/// Weights are converted once in a region, in each grad mode: an op that records needs a conversion that is recorded.
/// The leaves of transforms end with these, so their conversions are not kept.
fn converted(x: &Tensor, to: DType, to_region: bool) -> Result<Tensor> {
    let word = mode::word();
    let keeps = to_region
        && x.dtype() == DType::Float32
        && word & (mode::FORWARD | mode::OBSERVED | mode::INSIDE) == 0
        && !transforms::has_level()
        && !x.is_batched()
        && x.is_leaf()
        && x.requires_grad()
        && is_cache_enabled();
    if !keeps {
        return cast(x, to);
    }
    let (key, version) = ((x.id(), to, word & RECORDED), x.version());
    let known = |s: &RefCell<State>| {
        let s = s.borrow();
        s.converted
            .get(&key)
            .filter(|known| known.leaf.is_same(x) && known.version == version)
            .map(|known| known.result.clone())
    };
    if let Some(result) = STATE.with(known) {
        return Ok(result);
    }
    let result = cast(x, to)?;
    let entry = Converted { leaf: x.clone(), version, result: result.clone() };
    drop(STATE.with_borrow_mut(|s| s.converted.insert(key, entry)));
    Ok(result)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::autograd;

    fn weight() -> Tensor {
        let w = Tensor::from_slice(&[1.0f32, 2.0, 3.0, 4.0], &[2, 2]).unwrap();
        w.set_requires_grad(true).unwrap();
        w
    }

    #[test]
    fn regions_nest_and_put_back() {
        let half = Settings { dtype: DType::Float16, ..Settings::default() };
        let w = weight();
        let outer = Guard::new(Settings::default());
        {
            let _inner = Guard::new(half);
            assert_eq!((dtype(), w.matmul(&w).unwrap().dtype()), (DType::Float16, DType::Float16));
            let _off = Guard::new(Settings { enabled: false, ..half });
            assert_eq!(w.matmul(&w).unwrap().dtype(), DType::Float32);
        }
        assert_eq!((dtype(), w.matmul(&w).unwrap().dtype()), (DType::BFloat16, DType::BFloat16));
        assert_eq!(STATE.with_borrow(|s| s.converted.len()), 2);
        drop(outer);
        assert!(!is_enabled() && STATE.with_borrow(|s| s.converted.is_empty()));
    }

    #[test]
    fn a_weight_is_converted_once_until_somebody_writes_to_it() {
        let w = weight();
        let _region = Guard::new(Settings::default());
        let first = at_entry(Policy::Lower, &[std::slice::from_ref(&w)]).unwrap().0[0][0].clone();
        let again = || operand(Policy::Lower, &w).unwrap();
        assert!(again().is_same(&first) && first.requires_grad());
        {
            let _off = GradGuard::new(false);
            let plain = again();
            assert!(!plain.requires_grad() && again().is_same(&plain));
            w.add_(&w).unwrap();
        }
        assert!(!again().is_same(&first));
        set_cache_enabled(false);
        assert!(!again().is_same(&again()));
    }

    #[test]
    fn gradients_have_the_dtype_of_the_leaf() {
        let w = weight();
        {
            let _region = Guard::new(Settings::default());
            autograd::backward(&w.matmul(&w).unwrap().sum(None).unwrap()).unwrap();
        }
        assert_eq!(w.grad().unwrap().dtype(), DType::Float32);
        assert_eq!(w.grad().unwrap().to_vec::<f32>().unwrap(), [7.0, 11.0, 9.0, 13.0]);
    }
}
