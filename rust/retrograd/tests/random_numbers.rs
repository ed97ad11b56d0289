//! Functions that draw from the default generator and are called again. These tests are the only ones of their program,
//! and run one after the other, for the generator is one for all threads.

mod small_ops;

use std::sync::{Mutex, MutexGuard, PoisonError};

use retrograd::engine;
use retrograd::func::{self, Randomness};
use retrograd::{Result, Tensor, checkpoint};
use small_ops::*;

fn alone() -> MutexGuard<'static, ()> {
    static ALONE: Mutex<()> = Mutex::new(());
    ALONE.lock().unwrap_or_else(PoisonError::into_inner)
}

#[test]
fn checkpoints() {
    let _alone = alone();
    let x = leaf(&tensor(&[1.0; 64], &[64]));
    let dropped = |x: &Tensor| Tensor::from(engine::ops::nn::dropout::dropout(x.engine(), 0.5, true, false).unwrap());
    engine::generator::manual_seed(3);
    let y = checkpoint(move |x: &Tensor| exp(&dropped(x)), &x);
    let after = noise_of_generator();
    let state = engine::generator::default_generator().read(|g| g.state());
    engine::autograd::backward(sum(&mul(&y, &noise(77, &[64]))).engine()).unwrap();
    let factor: Vec<f64> = values(&y).iter().map(|y| if *y == 1.0 { 0.0 } else { 2.0 * y }).collect();
    assert_close(
        &x.engine().grad().unwrap().to_vec::<f64>().unwrap(),
        &values(&mul(&tensor(&factor, &[64]), &noise(77, &[64]))),
        1e-15,
    );
    assert!(factor.contains(&0.0) && factor.iter().any(|f| *f > 0.0));
    // The stream goes on as if there had been no second call.
    assert_eq!(engine::generator::default_generator().read(|g| g.state()), state);
    engine::generator::manual_seed(3);
    dropped(&x);
    assert_eq!(noise_of_generator(), after);
}

fn noise_of_generator() -> Vec<f64> {
    engine::ops::random::factory::rand(&[3], None, engine::DType::Float64.into()).unwrap().to_vec().unwrap()
}

/// The second call of `jacobian` draws the numbers of the first.
#[test]
fn jacobians() {
    let _alone = alone();
    engine::generator::manual_seed(5);
    let draw = |x: &Tensor| {
        let noise = engine::ops::random::factory::rand(&[3], None, engine::DType::Float64.into()).unwrap();
        mul(x, &noise.into())
    };
    let twice = func::jacobian(draw)(&scalar(1.0));
    engine::generator::manual_seed(5);
    assert_eq!(values(&twice), values(&draw(&scalar(1.0))));
    // So do the parts of the columns.
    let wide = |x: &Tensor| (draw(x), draw(x));
    let x = noise(1, &[3]);
    engine::generator::manual_seed(6);
    let whole = func::jacobian(wide)(&x);
    let after = noise_of_generator();
    engine::generator::manual_seed(6);
    let parts = func::jacobian_with(wide, |o| o.chunk_size(1))(&x);
    assert_eq!((all_values(&parts), noise_of_generator()), (all_values(&whole), after));
}

#[test]
fn maps() {
    let _alone = alone();
    let w = noise(2, &[3]);
    let draw = |x: &Tensor| -> Result<Tensor> {
        let noise = Tensor::from(engine::ops::random::factory::rand(&[], None, engine::DType::Float64.into())?);
        Ok(add(&noise, &times(x, 0.0)))
    };
    let refused = func::vmap(draw)(&w).unwrap_err().to_string();
    assert!(refused.contains("called random operation while in randomness error mode"), "{refused}");
    let same = values(&func::vmap_with(draw, |o| o.randomness(Randomness::Same))(&w).unwrap());
    assert!(same.iter().all(|x| *x == same[0]));
    let different = values(&func::vmap_with(draw, |o| o.randomness(Randomness::Different))(&w).unwrap());
    assert!(different[0] != different[1] && different[1] != different[2]);
    let same = func::vmap_with(draw, |o| o.randomness(Randomness::Same).chunk_size(2))(&w).unwrap();
    assert!(values(&same).iter().all(|x| *x == values(&same)[0]));
}
