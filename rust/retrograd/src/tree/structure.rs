//! What is left of a tree without its tensors.

use std::borrow::Cow;
use std::fmt;

/// The structure of a [`Tree`](crate::Tree) without its tensors. It prints as the tree is written.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Structure(Shape);

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
enum Shape {
    Tensor,
    Node { brackets: Brackets, name: Cow<'static, str>, parts: Vec<(Cow<'static, str>, Structure)> },
}

/// How the parts of a structure are enclosed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Brackets {
    /// `Name(a, b)`, or a tuple.
    Round,
    /// `[a, b]`
    Square,
    /// `Name { a: .., b: .. }`
    Curly,
}

impl Structure {
    /// Of one tensor.
    pub fn tensor() -> Self {
        Self(Shape::Tensor)
    }

    /// Of a tuple, or, with a name, of a struct whose fields have none.
    pub fn tuple(name: &'static str, parts: impl IntoIterator<Item = Structure>) -> Self {
        let parts = parts.into_iter().map(|part| (Cow::Borrowed(""), part)).collect();
        Self(Shape::Node { brackets: Brackets::Round, name: name.into(), parts })
    }

    /// Of a sequence.
    pub fn list(parts: impl IntoIterator<Item = Structure>) -> Self {
        let parts = parts.into_iter().map(|part| (Cow::Borrowed(""), part)).collect();
        Self(Shape::Node { brackets: Brackets::Square, name: "".into(), parts })
    }

    /// Of a struct with named fields.
    pub fn fields(name: &'static str, parts: impl IntoIterator<Item = (&'static str, Structure)>) -> Self {
        let parts = parts.into_iter().map(|(field, part)| (Cow::Borrowed(field), part)).collect();
        Self(Shape::Node { brackets: Brackets::Curly, name: name.into(), parts })
    }

    /// Of a map.
    pub fn map(parts: impl IntoIterator<Item = (String, Structure)>) -> Self {
        let parts = parts.into_iter().map(|(key, part)| (Cow::Owned(format!("{key:?}")), part)).collect();
        Self(Shape::Node { brackets: Brackets::Curly, name: "".into(), parts })
    }

    /// Whether it is one tensor.
    pub fn is_tensor(&self) -> bool {
        matches!(self.0, Shape::Tensor)
    }

    /// The structures of the parts, in order; of a tensor there are none.
    pub fn parts(&self) -> impl ExactSizeIterator<Item = &Structure> {
        let parts: &[_] = match &self.0 {
            Shape::Tensor => &[],
            Shape::Node { parts, .. } => parts,
        };
        parts.iter().map(|(_, part)| part)
    }

    /// How many tensors it has.
    pub fn count(&self) -> usize {
        if self.is_tensor() { 1 } else { self.parts().map(Structure::count).sum() }
    }
}

impl fmt::Display for Structure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Shape::Node { brackets, name, parts } = &self.0 else { return f.write_str("tensor") };
        f.write_str(name)?;
        if parts.is_empty() && !name.is_empty() {
            return Ok(());
        }
        let (open, close) = match (brackets, name.is_empty()) {
            (Brackets::Round, _) => ("(", ")"),
            (Brackets::Square, _) => ("[", "]"),
            (Brackets::Curly, true) => ("{", "}"),
            (Brackets::Curly, false) => (" { ", " }"),
        };
        f.write_str(open)?;
        for (i, (label, part)) in parts.iter().enumerate() {
            if i > 0 {
                f.write_str(", ")?;
            }
            if !label.is_empty() {
                write!(f, "{label}: ")?;
            }
            part.fmt(f)?;
        }
        // A tuple of one, as it is written.
        if *brackets == Brackets::Round && name.is_empty() && parts.len() == 1 {
            f.write_str(",")?;
        }
        f.write_str(close)
    }
}
