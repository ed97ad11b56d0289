//! A network with one hidden layer reads handwritten digits, as `examples/digits/train.py` does in Python.
//!
//!     cargo run --release --example digits
//!
//! The images are in the repository, in `examples/digits/data`.

use std::io::Read;
use std::path::Path;

use retrograd::nn::{self, Linear, Sequential};
use retrograd::optim::{LambdaLr, Scheduler, Sgd};
use retrograd::prelude::*;

/// From the folder of the crate.
const DATA: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples/digits/data/digits.csv.gz");
const EPOCHS: usize = 30;
const BATCH: usize = 32;

/// Images as rows of 64 pixels in [0, 1], and labels.
struct Digits {
    images: Tensor,
    labels: Tensor,
}

/// The images to learn from, and those held back: every fifth one of each digit.
fn load(path: &Path) -> Result<(Digits, Digits), String> {
    let file = std::fs::File::open(path).map_err(|error| {
        let path = path.display();
        format!("{path}: {error}. The images come with the repository, not with the crate: run this in a checkout.")
    })?;
    let mut text = String::new();
    flate2::read::GzDecoder::new(file).read_to_string(&mut text).map_err(|error| error.to_string())?;

    let mut seen = [0; 10];
    let mut parts = [(Vec::new(), Vec::new()), (Vec::new(), Vec::new())];
    for line in text.lines() {
        let row: Vec<u8> =
            line.split(',').map(|n| n.parse().map_err(|_| format!("no number: {n}"))).collect::<Result<_, _>>()?;
        let [pixels @ .., label] = row.as_slice() else { continue };
        let (images, labels) = &mut parts[usize::from(seen[usize::from(*label)] % 5 == 0)];
        images.extend(pixels.iter().map(|pixel| f32::from(*pixel) / 16.0));
        labels.push(i64::from(*label));
        seen[usize::from(*label)] += 1;
    }
    let [learned, held_out] = parts.map(|(images, labels)| Digits {
        images: Tensor::from_vec(images, [labels.len(), 64]),
        labels: Tensor::from(labels),
    });
    Ok((learned, held_out))
}

/// The share of digits that the model reads right.
fn accuracy(model: &impl Forward, digits: &Digits) -> Result<f64> {
    let right = no_grad(|| model.forward(&digits.images).argmax_dim(1).eq(&digits.labels)).sum();
    Ok(right.item::<i64>()? as f64 / digits.labels.numel() as f64)
}

pub fn main() -> Result<(), Box<dyn std::error::Error>> {
    manual_seed(0);
    let (learned, held_out) = load(Path::new(DATA))?;
    let model = Sequential::new().push(Linear::new(64, 128)).push_fn(nn::relu).push(Linear::new(128, 10));
    let mut optimizer = Sgd::with(model.parameters(), 0.1, |o| o.momentum(0.9));
    // The rate falls to zero, so that the last epochs settle.
    let mut schedule = Scheduler::new(&mut optimizer, LambdaLr::new(|epoch| 1.0 - epoch as f64 / EPOCHS as f64));

    let count = learned.labels.numel();
    println!("{count} images to learn from, {} held out", held_out.labels.numel());
    for epoch in 1..=EPOCHS {
        let order = Tensor::randperm(count);
        for start in (0..count).step_by(BATCH) {
            let chosen = order.i(start..(start + BATCH).min(count));
            let scores = model.forward(&learned.images.i(&chosen));
            optimizer.zero_grad();
            ops::nn::cross_entropy(&scores, &learned.labels.i(&chosen)).backward()?;
            optimizer.step()?;
        }
        schedule.step(&mut optimizer);
        if epoch % 10 == 0 {
            println!("epoch {epoch}: {:.1} % of the held-out digits are right", 100.0 * accuracy(&model, &held_out)?);
        }
    }
    assert!(accuracy(&model, &held_out)? >= 0.97);
    Ok(())
}
