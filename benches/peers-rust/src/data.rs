//! Numbers that all crates get: the same ones in each run.

/// `n` numbers between -`scale` and `scale`, another sequence for each seed.
pub fn numbers(seed: u64, n: usize, scale: f64) -> Vec<f64> {
    // The 64-bit linear congruential generator of Knuth's MMIX; the upper bits are the good ones.
    let mut state = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
    let mut next = || {
        state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (state >> 11) as f64 / (1u64 << 53) as f64
    };
    (0..n).map(|_| scale * (2.0 * next() - 1.0)).collect()
}

pub fn floats(seed: u64, n: usize, scale: f64) -> Vec<f32> {
    numbers(seed, n, scale).into_iter().map(|x| x as f32).collect()
}

/// Classes below 10.
pub fn classes(seed: u64, n: usize) -> Vec<u32> {
    numbers(seed, n, 5.0).into_iter().map(|x| (x + 5.0) as u32 % 10).collect()
}

/// A matrix of `rows` rows, its columns one after the other.
pub fn transposed(matrix: &[f32], rows: usize) -> Vec<f32> {
    let columns = matrix.len() / rows;
    (0..columns).flat_map(|c| (0..rows).map(move |r| matrix[r * columns + c])).collect()
}

/// What is trained: the sizes of each parameter, in the order weight, bias, weight, bias, ...; weights of layers have a
/// row for each output.
pub fn parameters(sizes: &[&[usize]]) -> Vec<Vec<f32>> {
    let parameter = |(i, sizes): (usize, &&[usize])| {
        let inputs: usize = sizes[1..].iter().product();
        floats(100 + i as u64, sizes.iter().product(), 1.0 / (inputs as f64).sqrt())
    };
    sizes.iter().enumerate().map(parameter).collect()
}

pub const RATE: f64 = 1e-3;

pub mod mlp {
    pub const BATCH: usize = 32;
    pub const WIDTH: usize = 64;
    pub const PARAMETERS: [&[usize]; 4] = [&[WIDTH, WIDTH], &[WIDTH], &[10, WIDTH], &[10]];
}

pub mod cnn {
    pub const BATCH: usize = 16;
    pub const SIDE: usize = 28;
    pub const FLAT: usize = 16 * 7 * 7;
    pub const PARAMETERS: [&[usize]; 6] = [&[8, 1, 3, 3], &[8], &[16, 8, 3, 3], &[16], &[10, FLAT], &[10]];
}

pub mod chain {
    pub const LENGTH: usize = 100;
    pub const SIZE: usize = 4;
    pub fn start() -> Vec<f32> {
        super::floats(1, SIZE, 1.0)
    }
    /// Near one, so that products of a hundred are.
    pub fn factor() -> Vec<f32> {
        super::floats(2, SIZE, 0.01).into_iter().map(|x| 1.0 + x).collect()
    }
}

pub mod map {
    pub const SIZE: usize = 16;
    pub fn matrix() -> Vec<f32> {
        super::floats(3, SIZE * SIZE, 0.5)
    }
    pub fn place() -> Vec<f32> {
        super::floats(4, SIZE, 1.0)
    }
}

pub mod process {
    pub const SAMPLES: usize = 50;
    /// Logarithms of amplitude, length and noise.
    pub const PARAMETERS: [f64; 3] = [0.2, -0.5, -1.5];
    pub fn places() -> Vec<f64> {
        super::numbers(5, SAMPLES, 3.0)
    }
    pub fn values() -> Vec<f64> {
        let noise = super::numbers(6, SAMPLES, 0.3);
        places().iter().zip(noise).map(|(x, noise)| x.sin() + noise).collect()
    }
}
