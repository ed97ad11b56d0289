//! Some matrices of one size in memory of any strides: what a routine reads that takes several at once.

use retrograd_kernels::matmul::Layout;

use crate::Scalar;
use crate::blocks::at;

/// Where the first elements of some matrices are.
#[derive(Clone, Copy, Debug)]
pub enum Places<'a> {
    /// At these offsets.
    Listed(&'a [isize]),
    /// `count` of them, the first at this offset, and so many elements apart.
    Apart { count: usize, first: usize, step: usize },
}

/// Some matrices of one size and one layout in a slice, of whose strides none is negative.
#[derive(Clone, Copy, Debug)]
pub struct Matrices<'a, T> {
    pub data: &'a [T],
    /// That of the first one.
    pub layout: Layout,
    places: Places<'a>,
}

impl<'a, T: Copy> Matrices<'a, T> {
    /// The matrices of `layout` but for its offset, at these places.
    ///
    /// # Panics
    /// If a stride is negative.
    pub fn new(data: &'a [T], layout: Layout, places: Places<'a>) -> Self {
        assert!(layout.rs >= 0 && layout.cs >= 0, "negative strides: {layout:?}");
        let mut all = Self { data, layout, places };
        all.layout.offset = all.offset(0);
        all
    }

    /// `count` square matrices of `n` rows in column-major order, one after the other.
    pub fn in_a_row(n: usize, count: usize, data: &'a [T]) -> Self {
        Self::new(data, Layout::column_major(n, n), Places::Apart { count, first: 0, step: n * n })
    }

    /// How many there are.
    pub fn count(&self) -> usize {
        match self.places {
            Places::Listed(offsets) => offsets.len(),
            Places::Apart { count, .. } => count,
        }
    }

    /// Where the first element of matrix `l` is; 0 if there is none.
    #[inline(always)]
    pub fn offset(&self, l: usize) -> usize {
        match self.places {
            Places::Listed(offsets) => offsets.get(l).map_or(0, |&at| at as usize),
            Places::Apart { first, step, .. } => first + l * step,
        }
    }

    /// The layout of matrix `l`.
    pub fn layout(&self, l: usize) -> Layout {
        Layout { offset: self.offset(l), ..self.layout }
    }

    /// Matrix `l` alone.
    pub fn only(&self, l: usize) -> Self {
        Self { layout: self.layout(l), places: Places::Apart { count: 1, first: self.offset(l), step: 0 }, ..*self }
    }

    /// The transposed matrices.
    pub fn transposed(self) -> Self {
        Self { layout: crate::blocks::transposed(self.layout), ..self }
    }

    /// Copies each matrix, column by column.
    pub fn copy_to(&self, to: &mut [T]) {
        let Layout { rows, cols, .. } = self.layout;
        debug_assert_eq!(to.len(), self.count() * rows * cols);
        for (l, to) in to.chunks_exact_mut((rows * cols).max(1)).enumerate() {
            self.copy_one(l, to);
        }
    }

    /// Copies matrix `l`, column by column.
    pub fn copy_one(&self, l: usize, to: &mut [T]) {
        let (Layout { rows, cs, rs, .. }, offset) = (self.layout, self.offset(l));
        for (j, column) in to.chunks_exact_mut(rows.max(1)).enumerate() {
            let from = &self.data[offset + j * cs as usize..];
            match rs {
                // A row of an expanded tensor is repeated.
                0 => column.fill(from[0]),
                1 => column.copy_from_slice(&from[..rows]),
                _ => column.iter_mut().zip(from.iter().step_by(rs as usize)).for_each(|(to, &x)| *to = x),
            }
        }
    }
}

impl<T: Scalar> Matrices<'_, T> {
    /// The first diagonal element of matrix `l` that is zero, counted from 1; 0 if there is none.
    pub fn first_zero(&self, l: usize) -> i32 {
        let layout = self.layout(l);
        let zero = (0..layout.rows).position(|i| self.data[at(layout, i, i)] == T::ZERO);
        zero.map_or(0, |i| i as i32 + 1)
    }
}
