//! The enums of the crate that options choose by, and the texts that their variants stand for.

use std::collections::HashMap;
use std::sync::LazyLock;

use super::names::SYNONYMS;

/// Where they are written: this alone says what there is.
const SOURCE: &str = include_str!("../../retrograd/src/ops/choices.rs");

/// Variants by their types and texts.
static VARIANTS: LazyLock<HashMap<(&str, &str), &str>> = LazyLock::new(|| {
    let mut variants = HashMap::new();
    let mut choice = "";
    let listed = SOURCE.split_once("\nchoices! {").expect("choices are listed").1;
    for line in listed.lines().map(str::trim) {
        if let Some(name) = line.strip_suffix(" {") {
            choice = name;
        } else if let Some((variant, text)) = line.split_once(" = ") {
            variants.insert((choice, text.trim_matches([',', '"'])), variant);
        }
    }
    variants.extend(SYNONYMS.iter().map(|(text, choice, variant)| ((*choice, *text), *variant)));
    variants
});

/// The variant that a text stands for, if there is one: `Reduction::Mean`.
pub fn variant(choice: &str, text: &str) -> Option<String> {
    VARIANTS.get(&(choice, text)).map(|variant| format!("{choice}::{variant}"))
}

pub fn is_choice(ty: &str) -> bool {
    VARIANTS.keys().any(|(choice, _)| *choice == ty)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_are_those_of_the_crate() {
        assert_eq!(variant("Reduction", "mean").as_deref(), Some("Reduction::Mean"));
        assert_eq!(variant("Triangle", "L").as_deref(), Some("Triangle::Lower"));
        assert_eq!(variant("Interpolation", "nearest-exact").as_deref(), Some("Interpolation::NearestExact"));
        assert_eq!((variant("Reduction", "median"), variant("Mean", "mean")), (None, None));
        assert!(is_choice("Side") && !is_choice("Shape"));
    }
}
