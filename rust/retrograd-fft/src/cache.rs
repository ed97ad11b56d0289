//! Plans that were used last.

use parking_lot::Mutex;

/// As many plans are kept ...
const PLANS: usize = 32;
/// ... and as many numbers of all their lines together, since a plan has tables of a line's length. The plan that was
/// used last stays, whatever its length.
const NUMBERS: usize = 1 << 21;

/// Plans by the length of their lines, the one that was used last in front.
pub struct Cache<P>(Mutex<Vec<(usize, P)>>);

impl<P: Clone> Cache<P> {
    pub const fn new() -> Self {
        Self(Mutex::new(Vec::new()))
    }

    /// The plan for lines of `length` numbers: the one that is kept, or a new one.
    pub fn get(&self, length: usize, plan: impl FnOnce() -> P) -> P {
        if let Some(kept) = self.kept(length) {
            return kept;
        }
        // Not under the lock: a long plan takes milliseconds. If two threads make the same one, the second one's is
        // used once.
        let new = plan();
        let mut plans = self.0.lock();
        if plans.iter().all(|(l, _)| *l != length) {
            plans.insert(0, (length, new.clone()));
            let mut numbers = 0;
            let fits = |(length, _): &&(usize, P)| {
                numbers += length;
                numbers <= NUMBERS
            };
            let kept = plans.iter().take(PLANS).take_while(fits).count().max(1);
            plans.truncate(kept);
        }
        new
    }

    fn kept(&self, length: usize) -> Option<P> {
        let mut plans = self.0.lock();
        let at = plans.iter().position(|(l, _)| *l == length)?;
        plans[..=at].rotate_right(1);
        Some(plans[0].1.clone())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_used_last_is_kept() {
        let cache = Cache::<usize>::new();
        let made = |length| {
            let mut made = false;
            cache.get(length, || {
                made = true;
                length
            });
            made
        };
        assert!((1..=PLANS).all(made));
        assert!(!made(1) && made(PLANS + 1) && !made(1) && made(2));
        // All that fits beside the newest plan is kept.
        assert!(made(NUMBERS - 2) && !made(NUMBERS - 2) && !made(2) && made(1));
        assert!(made(2 * NUMBERS) && !made(2 * NUMBERS) && made(2) && made(2 * NUMBERS));
    }
}
