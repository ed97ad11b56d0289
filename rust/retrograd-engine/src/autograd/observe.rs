//! Which ops run, and what they declare: for tests and documents that compare declarations with what ops do.

use std::cell::RefCell;

use super::erased::AnyPrimitive;
use super::mode::{self, GradGuard};
use crate::kernels::thread_values::ThreadValue;
use crate::tensor::{DType, Dtypes, Tensor};

/// An op that was about to run.
#[derive(Clone, Copy, Debug)]
pub struct Observed {
    pub name: &'static str,
    /// The dtype that it was to compute in; one that is not among the others is refused.
    pub dtype: DType,
    pub dtypes: Dtypes,
}

static OBSERVED: ThreadValue<RefCell<Vec<Observed>>> = ThreadValue::new(|| RefCell::new(Vec::new()));

/// Runs `f`, and lists the ops that run meanwhile on this thread, without those of rules for batches.
pub fn observed<R>(f: impl FnOnce() -> R) -> (R, Vec<Observed>) {
    let _mode = GradGuard::with(mode::OBSERVED, true);
    let before = OBSERVED.take();
    let result = f();
    (result, OBSERVED.replace(before))
}

/// Lists an op.
#[cold]
pub(super) fn note(op: &dyn AnyPrimitive, xs: &[&Tensor]) {
    // Operands that have no dtype in common have an error of their own.
    if let Ok(dtype) = op.computes_in(xs) {
        OBSERVED.with_borrow_mut(|all| all.push(Observed { name: op.facts().name, dtype, dtypes: op.dtypes() }));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ops_are_listed_with_what_they_declare() {
        let x = Tensor::from_slice(&[true], &[1]).unwrap();
        let (refused, ran) = observed(|| x.exp().and_then(|y| y.mul(&y)?.floor()).and_then(|_| x.floor()));
        assert!(refused.unwrap_err().to_string().contains("not implemented for 'Bool'"));
        assert_eq!(ran.iter().map(|o| o.name).collect::<Vec<_>>(), ["exp", "mul", "floor", "floor"]);
        assert!(ran[..3].iter().all(|o| o.dtype == DType::Float32 && o.dtypes.has(o.dtype)));
        assert!(ran[1].dtypes.has_all() && ran[3].dtype == DType::Bool && !ran[3].dtypes.has(DType::Bool));
        assert!(observed(|| ()).1.is_empty());
    }
}
