//! What all factories take: [`TensorOptions`].

use super::{Arg, Device, Param, Value};
use crate::error::{Error, Result};
use crate::tensor::{DType, Layout, Tensor, default_dtype};

/// How a factory makes its tensor: of which dtype, and whether as a leaf that requires grad.
///
/// In Python these are the keywords `dtype`, `layout`, `device`, `pin_memory` and `requires_grad`. Only a dense layout
/// in the memory of the CPU exists, so `layout`, `device` and `pin_memory` choose nothing.
///
/// ```
/// use retrograd_engine::ops::{TensorOptions, create};
/// use retrograd_engine::DType;
///
/// let usual = create::zeros(&[2], TensorOptions::default()).unwrap();
/// assert_eq!(usual.dtype(), DType::Float32);
/// let counts = create::zeros(&[2], DType::Int64.into()).unwrap();
/// assert_eq!(counts.dtype(), DType::Int64);
/// let weights = create::zeros(&[2], TensorOptions::default().dtype(DType::Float64).requires_grad(true)).unwrap();
/// assert!(weights.requires_grad() && weights.is_leaf());
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TensorOptions {
    dtype: Option<DType>,
    /// Where it is not [`Layout::Strided`], the factory refuses it.
    pub(crate) layout: Layout,
    requires_grad: bool,
}

impl From<DType> for TensorOptions {
    fn from(dtype: DType) -> Self {
        Self::default().dtype(dtype)
    }
}

impl TensorOptions {
    /// With this dtype, in place of the one that the factory takes by itself.
    pub fn dtype(self, dtype: DType) -> Self {
        Self { dtype: Some(dtype), ..self }
    }

    /// With or without a gradient that is collected, which only floating and complex dtypes have.
    pub fn requires_grad(self, requires_grad: bool) -> Self {
        Self { requires_grad, ..self }
    }

    /// What `#[op]` lists for a parameter of this type.
    pub(crate) const PARAMS: [Param; 5] = {
        const fn keyword<'a, T: Arg<'a>>(name: &'static str, default: &'static str) -> Param {
            Param {
                name,
                kind: T::KIND,
                optional: T::OPTIONAL,
                default: Some(default),
                kw_only: true,
                #[cfg(feature = "signatures")]
                rust: "TensorOptions",
            }
        }
        [
            keyword::<Option<DType>>("dtype", "None"),
            keyword::<Option<Layout>>("layout", "None"),
            keyword::<Option<Device>>("device", "None"),
            keyword::<bool>("pin_memory", "False"),
            keyword::<bool>("requires_grad", "False"),
        ]
    };

    /// From the values of [`Self::PARAMS`]; refuses a device that does not exist.
    pub(crate) fn get(values: &[Value]) -> Result<Self> {
        let [dtype, layout, device, pin_memory, requires_grad] = values else {
            unreachable!("#[op] passes the values of PARAMS")
        };
        let flag = |value| Option::<bool>::get(value).map(|v| v.unwrap_or(false));
        let layout = Option::get(layout)?.unwrap_or_default();
        Option::<Device>::get(device)?;
        flag(pin_memory)?;
        Ok(Self { dtype: Option::get(dtype)?, layout, requires_grad: flag(requires_grad)? })
    }

    /// The dtype of the tensor, which is `usual` unless these name one. Refuses a sparse layout, and to require grad of
    /// a dtype that carries none, before anything is made.
    pub(crate) fn dtype_or(self, op: &'static str, usual: DType) -> Result<DType> {
        if self.layout != Layout::Strided {
            return Err(Error::not_implemented(format!(
                "{op}: no factory makes a tensor of layout {}: use sparse_coo_tensor, sparse_csr_tensor or to_sparse",
                self.layout.name()
            )));
        }
        let dtype = self.dtype.unwrap_or(usual);
        if self.requires_grad && !dtype.is_differentiable() {
            return Err(Error::dtype(
                op,
                format!(
                    "Only Tensors of floating point and complex dtype can require gradients, got {}: pass dtype=float32 or \
                     leave requires_grad out",
                    dtype.name()
                ),
            ));
        }
        Ok(dtype)
    }

    /// As [`Self::dtype_or`], with the default float dtype as the usual one.
    pub(crate) fn float_dtype(self, op: &'static str) -> Result<DType> {
        self.dtype_or(op, default_dtype())
    }

    /// What was made, as a leaf that requires grad if these say so.
    pub(crate) fn leaf(self, made: Tensor) -> Result<Tensor> {
        if self.requires_grad {
            made.set_requires_grad(true)?;
        }
        Ok(made)
    }
}
