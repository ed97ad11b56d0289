//! Memory formats: the order of a tensor's axes in memory, by name.

use super::layout::{self, Strides, contiguous_strides, preserving_strides};
use super::{DType, Tensor};
use crate::error::{Error, Result};

/// The memory order of the elements of a copy.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum MemoryFormat {
    /// Row-major.
    Contiguous,
    /// As in the source.
    Preserve,
    /// Of images `(n, c, h, w)`: the channels of a pixel side by side.
    ChannelsLast,
    /// The same of volumes `(n, c, d, h, w)`.
    ChannelsLast3d,
}

impl MemoryFormat {
    pub const ALL: [Self; 4] = [Self::Contiguous, Self::Preserve, Self::ChannelsLast, Self::ChannelsLast3d];

    /// The name in Python.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Contiguous => "contiguous_format",
            Self::Preserve => "preserve_format",
            Self::ChannelsLast => "channels_last",
            Self::ChannelsLast3d => "channels_last_3d",
        }
    }

    /// The axes from the inside out, for formats that name them; the format is for tensors of so many.
    pub(crate) const fn axes(self) -> Option<&'static [usize]> {
        match self {
            Self::ChannelsLast => Some(&[1, 3, 2, 0]),
            Self::ChannelsLast3d => Some(&[1, 4, 3, 2, 0]),
            Self::Contiguous | Self::Preserve => None,
        }
    }

    /// Strides of a copy of a tensor with this layout.
    pub fn strides(self, op: &'static str, sizes: &[usize], strides: &[isize]) -> Result<Strides> {
        let Some(axes) = self.axes() else {
            return Ok(match self {
                Self::Preserve => preserving_strides(sizes, strides),
                _ => contiguous_strides(sizes),
            });
        };
        if sizes.len() != axes.len() {
            return Err(Error::shape(
                op,
                format!("required rank {} tensor to use {} format, got shape {sizes:?}", axes.len(), self.name()),
            ));
        }
        let mut packed = Strides::from_elem(0, sizes.len());
        let mut step = 1isize;
        for &axis in axes {
            packed[axis] = step;
            step = step.wrapping_mul(sizes[axis] as isize);
        }
        Ok(packed)
    }

    /// Whether a tensor has the format's memory order, without gaps.
    pub fn holds(self, sizes: &[usize], strides: &[isize]) -> bool {
        let Some(axes) = self.axes() else { return layout::is_contiguous(sizes, strides) };
        if sizes.len() != axes.len() {
            return false;
        }
        let mut step = 1isize;
        axes.iter().all(|&axis| {
            let fits = sizes[axis] == 1 || strides[axis] == step;
            step = step.wrapping_mul(sizes[axis] as isize);
            fits
        })
    }

    /// The format that the order of the strides suggests, gaps or not: channels last if it is that and cannot be taken
    /// for row-major, as it could where axes have size 1.
    pub fn suggested(sizes: &[usize], strides: &[isize]) -> Self {
        let like = |format: Self| {
            let Some(axes) = format.axes().filter(|axes| axes.len() == sizes.len()) else { return false };
            // A channel axis that is broadcast says nothing.
            let mut least = 0isize;
            strides[1] != 0
                && axes.iter().all(|&axis| {
                    let ambiguous = axis == 0 && least == strides[1];
                    let fits = sizes[axis] > 0 && strides[axis] >= least && !ambiguous;
                    least = strides[axis].wrapping_mul(sizes[axis].max(1) as isize);
                    fits
                })
        };
        [Self::ChannelsLast, Self::ChannelsLast3d].into_iter().find(|&f| like(f)).unwrap_or(Self::Contiguous)
    }
}

impl Tensor {
    /// A tensor like `self` in size, in a memory format; elements not initialised.
    pub fn empty_in(&self, op: &'static str, format: MemoryFormat, dtype: DType) -> Result<Self> {
        // Strides of axes with one element are copied too, though they have no meaning; without such axes there is one
        // way to be contiguous.
        let plain = match format {
            MemoryFormat::Contiguous => true,
            MemoryFormat::Preserve => self.is_contiguous() && self.sizes().iter().all(|&n| n > 1),
            _ => false,
        };
        if plain {
            return Self::empty(self.sizes(), dtype);
        }
        let strides = format.strides(op, self.sizes(), self.strides())?;
        Self::empty_strided(self.sizes(), &strides, dtype)
    }
    /// Whether the tensor has the format's memory order, without gaps.
    pub fn is_contiguous_in(&self, format: MemoryFormat) -> bool {
        match format {
            MemoryFormat::Contiguous | MemoryFormat::Preserve => self.is_contiguous(),
            _ => format.holds(self.sizes(), self.strides()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn channels_last() {
        let sizes = [2, 3, 4, 5];
        let packed = MemoryFormat::ChannelsLast.strides("clone", &sizes, &[60, 20, 5, 1]).unwrap();
        assert_eq!(&*packed, [60, 1, 15, 3]);
        assert!(MemoryFormat::ChannelsLast.holds(&sizes, &packed) && !MemoryFormat::Contiguous.holds(&sizes, &packed));
        assert_eq!(MemoryFormat::suggested(&sizes, &packed), MemoryFormat::ChannelsLast);
        assert_eq!(MemoryFormat::suggested(&sizes, &[60, 20, 5, 1]), MemoryFormat::Contiguous);
        assert_eq!(MemoryFormat::suggested(&[2, 1, 1, 1], &[1, 1, 1, 1]), MemoryFormat::Contiguous);
        assert!(MemoryFormat::ChannelsLast3d.strides("clone", &sizes, &packed).is_err());
    }
}
