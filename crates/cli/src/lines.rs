//! The lines of an array that calls go along, one call each.

use std::borrow::Cow;

use anyhow::{Result, bail, ensure};

/// An array's shape, and the order of its numbers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ArrayShape {
    /// One or two dimensions.
    pub sizes: Vec<u64>,
    /// Whether the first dimension's neighbours lie together, not the last's.
    pub is_fortran: bool,
}

impl ArrayShape {
    pub fn line(n: u64) -> ArrayShape {
        ArrayShape { sizes: vec![n], is_fortran: false }
    }

    pub fn n(&self) -> u64 {
        self.sizes.iter().product()
    }

    /// Rows and columns; an array of one dimension is a column.
    pub fn rows_and_columns(&self) -> (usize, usize) {
        (self.sizes[0] as usize, self.sizes.get(1).map_or(1, |columns| *columns as usize))
    }

    /// Where a row's element of a column is.
    pub fn place(&self, row: usize, column: usize) -> usize {
        let (rows, columns) = self.rows_and_columns();
        if self.is_fortran { column * rows + row } else { row * columns + column }
    }
}

/// Lines along an axis.
#[derive(Debug, PartialEq, Eq)]
pub struct Lines {
    pub count: usize,
    pub length: usize,
    /// Whether a line's neighbours are `count` elements apart.
    is_across: bool,
}

impl Lines {
    /// Those along an axis, which may be counted from the end as -1 and -2. Two dimensions need one.
    pub fn of(shape: &ArrayShape, axis: Option<i8>) -> Result<Lines> {
        let dimensions = shape.sizes.len();
        let Some(axis) = axis.or((dimensions == 1).then_some(0)) else {
            bail!(
                "its shape is {:?}; say by --axis 0 or --axis 1 along which dimension, or make it one-dimensional by a.reshape(-1)",
                shape.sizes
            );
        };
        let asked = axis;
        let axis = if axis < 0 { axis + dimensions as i8 } else { axis };
        ensure!((0..dimensions as i8).contains(&axis), "its shape is {:?}, which has no axis {asked}", shape.sizes);
        let length = shape.sizes[axis as usize] as usize;
        let count = shape.sizes.iter().enumerate().filter(|(i, _)| *i != axis as usize).map(|(_, n)| *n as usize);
        let is_across = dimensions == 2 && (axis == 0) != shape.is_fortran;
        Ok(Lines { count: count.product(), length, is_across })
    }

    /// Elements of so many bytes line by line.
    pub fn gather<'a>(&self, elements: Cow<'a, [u8]>, size: usize) -> Cow<'a, [u8]> {
        self.transposed(elements, size, self.length, self.count)
    }

    /// What [`gather`](Lines::gather) gave, as it was.
    pub fn scatter<'a>(&self, elements: Cow<'a, [u8]>, size: usize) -> Cow<'a, [u8]> {
        self.transposed(elements, size, self.count, self.length)
    }

    /// Rows of columns as columns of rows, if lines are across.
    fn transposed<'a>(&self, elements: Cow<'a, [u8]>, size: usize, rows: usize, columns: usize) -> Cow<'a, [u8]> {
        if !self.is_across || rows.min(columns) < 2 {
            return elements;
        }
        let mut transposed = Vec::with_capacity(elements.len());
        for column in 0..columns {
            for row in 0..rows {
                transposed.extend_from_slice(&elements[(row * columns + column) * size..][..size]);
            }
        }
        transposed.into()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_go_along_the_axis_whatever_the_order() {
        // 0 1 2
        // 3 4 5
        let shape = |is_fortran| ArrayShape { sizes: vec![2, 3], is_fortran };
        let cases = [(shape(false), [0, 1, 2, 3, 4, 5]), (shape(true), [0, 3, 1, 4, 2, 5])];
        for (shape, stored) in cases {
            let along = |axis| {
                let lines = Lines::of(&shape, Some(axis)).unwrap();
                let gathered = lines.gather(Cow::Borrowed(&stored), 1);
                assert_eq!(*lines.scatter(gathered.clone(), 1), stored);
                (lines.count, lines.length, gathered.into_owned())
            };
            assert_eq!(along(1), (2, 3, vec![0, 1, 2, 3, 4, 5]));
            assert_eq!(along(0), (3, 2, vec![0, 3, 1, 4, 2, 5]));
            assert_eq!((along(-1), along(-2)), (along(1), along(0)));
            assert_eq!(stored[shape.place(1, 2)], 5);
            assert!(Lines::of(&shape, Some(2)).is_err() && Lines::of(&shape, None).is_err());
        }
        let lines = Lines::of(&ArrayShape::line(7), None).unwrap();
        assert_eq!(lines, Lines { count: 1, length: 7, is_across: false });
        assert!(Lines::of(&ArrayShape::line(7), Some(1)).is_err());
    }
}
