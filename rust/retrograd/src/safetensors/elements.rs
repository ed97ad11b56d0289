//! Elements of tensors as the bytes of a file, which are little-endian.

use std::io::{self, Read, Write};

use half::{bf16, f16};
use num_complex::Complex;

use crate::engine::Tensor as Inner;
use crate::engine::tensor::{Element, Truth};
use crate::{DType, Result};

/// An element as bytes.
trait Bytes: Element {
    fn read(bytes: &[u8]) -> Self;
    fn write(self, to: &mut Vec<u8>);
}

macro_rules! numbers {
    ($($t:ty)*) => { $(
        impl Bytes for $t {
            #[inline]
            fn read(bytes: &[u8]) -> Self {
                Self::from_le_bytes(bytes.try_into().expect("as many bytes as it has"))
            }
            #[inline]
            fn write(self, to: &mut Vec<u8>) {
                to.extend_from_slice(&self.to_le_bytes());
            }
        }
    )* };
}
numbers!(u8 u16 u32 u64 i8 i16 i32 i64 f16 bf16 f32 f64);

impl Bytes for Truth {
    fn read(bytes: &[u8]) -> Self {
        (bytes[0] != 0).into()
    }
    fn write(self, to: &mut Vec<u8>) {
        to.push(self.get().into());
    }
}

macro_rules! complex {
    ($($t:ty)*) => { $(
        impl Bytes for Complex<$t> {
            fn read(bytes: &[u8]) -> Self {
                let (re, im) = bytes.split_at(size_of::<$t>());
                Self::new(Bytes::read(re), Bytes::read(im))
            }
            fn write(self, to: &mut Vec<u8>) {
                self.re.write(to);
                self.im.write(to);
            }
        }
    )* };
}
complex!(f16 f32 f64);

macro_rules! by_dtype {
    ($dtype:expr, $function:ident($($arg:expr),*)) => {
        match $dtype {
            DType::Bool => $function::<Truth>($($arg),*),
            DType::UInt8 => $function::<u8>($($arg),*),
            DType::UInt16 => $function::<u16>($($arg),*),
            DType::UInt32 => $function::<u32>($($arg),*),
            DType::UInt64 => $function::<u64>($($arg),*),
            DType::Int8 => $function::<i8>($($arg),*),
            DType::Int16 => $function::<i16>($($arg),*),
            DType::Int32 => $function::<i32>($($arg),*),
            DType::Int64 => $function::<i64>($($arg),*),
            DType::Float16 => $function::<f16>($($arg),*),
            DType::BFloat16 => $function::<bf16>($($arg),*),
            DType::Float32 => $function::<f32>($($arg),*),
            DType::Float64 => $function::<f64>($($arg),*),
            DType::Complex32 => $function::<Complex<f16>>($($arg),*),
            DType::Complex64 => $function::<Complex<f32>>($($arg),*),
            DType::Complex128 => $function::<Complex<f64>>($($arg),*),
        }
    };
}

/// Bytes that are converted at a time: a multiple of every size.
const CHUNK: usize = 1 << 16;

/// A tensor of the next bytes. The caller knows that there are as many.
pub(super) fn read(from: &mut impl Read, dtype: DType, sizes: &[usize]) -> Result<io::Result<Inner>> {
    by_dtype!(dtype, read_as(from, sizes))
}

fn read_as<T: Bytes>(from: &mut impl Read, sizes: &[usize]) -> Result<io::Result<Inner>> {
    let mut outcome = Ok(());
    let made = Inner::build::<T>(sizes, |out| {
        let mut buffer = vec![0; CHUNK.min(size_of_val(out))];
        for part in out.chunks_mut(CHUNK / size_of::<T>()) {
            let bytes = &mut buffer[..size_of_val(part)];
            if outcome.is_ok() {
                outcome = from.read_exact(bytes);
            }
            // After an error, too: all elements are to be written.
            part.iter_mut().zip(bytes.chunks_exact(size_of::<T>())).for_each(|(x, bytes)| *x = T::read(bytes));
        }
    })?;
    Ok(outcome.map(|()| made))
}

/// Writes the elements of a contiguous tensor.
pub(super) fn write(to: &mut impl Write, tensor: &Inner) -> Result<io::Result<()>> {
    by_dtype!(tensor.dtype(), write_as(to, tensor))
}

fn write_as<T: Bytes>(to: &mut impl Write, tensor: &Inner) -> Result<io::Result<()>> {
    let view = tensor.view::<T>()?;
    let mut buffer = Vec::with_capacity(CHUNK);
    for part in view.as_slice().unwrap_or_default().chunks(CHUNK / size_of::<T>()) {
        buffer.clear();
        part.iter().for_each(|x| x.write(&mut buffer));
        if let Err(error) = to.write_all(&buffer) {
            return Ok(Err(error));
        }
    }
    Ok(Ok(()))
}
