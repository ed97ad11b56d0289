//! Documentation of ops in Rust, from that of the roster.

use super::choices::variant;

/// So that a line with its indentation has at most 120 columns.
const WIDTH: usize = 108;

/// What begins a paragraph of its own.
const SECTIONS: [&str; 4] = ["Args: ", "Returns: ", "Derivative: ", "Errors: "];

/// What errors are called in Python. In Rust they have one type.
const EXCEPTIONS: [&str; 8] = [
    "AssertionError",
    "IndexError",
    "LinAlgError",
    "MemoryError",
    "NotImplementedError",
    "RuntimeError",
    "TypeError",
    "ValueError",
];

/// The documentation of an entry as lines, without the examples in Python. Texts that the enums `choices` stand for are
/// written as their variants.
pub fn lines(doc: &str, choices: &[&str]) -> Vec<String> {
    let mut paragraphs: Vec<String> = Vec::new();
    let mut paragraph = String::new();
    let mut in_example = false;
    for line in doc.lines().chain([""]) {
        in_example = line.starts_with(">>>") || (in_example && !line.trim().is_empty());
        if in_example {
            continue;
        }
        if line.trim().is_empty() {
            if !paragraph.is_empty() {
                paragraphs.extend(sections(&in_rust(&paragraph, choices)));
                paragraph.clear();
            }
        } else {
            if !paragraph.is_empty() {
                paragraph.push(' ');
            }
            paragraph.push_str(line.trim());
        }
    }
    let paragraphs: Vec<Vec<String>> = paragraphs.iter().map(|text| wrap(&escape(text))).collect();
    paragraphs.join(&String::new())
}

/// In the words of Rust, as far as that is a matter of words.
fn in_rust(text: &str, choices: &[&str]) -> String {
    let mut out = text.replace("Raises:", "Errors:");
    for name in EXCEPTIONS {
        out = out.replace(&format!("{name} or "), "");
        for follows in ["if ", "for ", "without ", "where ", "unless ", "as ", "there"] {
            out = out.replace(&format!("{name} {follows}"), follows);
        }
        out = out.replace(&format!("a {name}"), "an error").replace(&format!("an {name}"), "an error");
    }
    // These are options of torch alone.
    out = out.replace(" `size_average` and `reduce` are deprecated.", "");
    out = out.replace("a Python bool", "a bool").replace("a tuple of", "a list of");
    let mut parts: Vec<String> = out.split('`').map(str::to_string).collect();
    for (i, part) in parts.iter_mut().enumerate() {
        let in_code = i % 2 == 1;
        for (python, rust) in [("True", "true"), ("False", "false"), ("None", "None")] {
            *part = match in_code {
                true => part.replace(&format!("={python}"), &format!("={rust}")),
                false => words(part, python, &format!("`{rust}`")),
            };
        }
        *part = variants(part, choices, if in_code { "" } else { "`" });
        // `keepdim=true` is the option `keepdim(true)`.
        if let Some((name, value)) = part.split_once('=').filter(|_| in_code)
            && name.chars().all(|c| c.is_alphanumeric() || c == '_')
            && (matches!(value, "true" | "false") || value.contains("::"))
        {
            *part = format!("{name}({value})");
        }
    }
    parts.join("`")
}

/// The text with the variants of enums in the place of the texts in quotes that they stand for.
fn variants(text: &str, choices: &[&str], tick: &str) -> String {
    let mut out = String::new();
    let mut rest = text;
    while let Some(at) = rest.find(['\'', '"']) {
        let quote = &rest[at..at + 1];
        out.push_str(&rest[..at]);
        let found = rest[at + 1..].split_once(quote).and_then(|(text, after)| {
            let variant = choices.iter().find_map(|choice| variant(choice, text))?;
            Some((variant, after))
        });
        match found {
            Some((variant, after)) => {
                out.push_str(&format!("{tick}{variant}{tick}"));
                rest = after;
            }
            None => {
                out.push_str(quote);
                rest = &rest[at + 1..];
            }
        }
    }
    out + rest
}

/// The text with another word in the place of each that is `from`.
fn words(text: &str, from: &str, to: &str) -> String {
    let is_word = |c: char| c.is_alphanumeric() || c == '_' || c == '=';
    let mut out = String::new();
    let mut rest = text;
    while let Some(at) = rest.find(from) {
        let (before, after) = (&rest[..at], &rest[at + from.len()..]);
        let whole = !before.ends_with(is_word) && !after.starts_with(is_word);
        out.push_str(before);
        out.push_str(if whole { to } else { from });
        rest = after;
    }
    out + rest
}

/// The paragraph divided where a sentence begins with the name of a section.
fn sections(text: &str) -> Vec<String> {
    let mut out = vec![String::new()];
    for sentence in text.split_inclusive(". ") {
        if SECTIONS.iter().any(|section| sentence.starts_with(section)) && !out[out.len() - 1].is_empty() {
            out.push(String::new());
        }
        let last = out.last_mut().expect("there is one");
        last.push_str(sentence);
    }
    out.into_iter().map(|text| text.trim_end().to_string()).collect()
}

fn wrap(text: &str) -> Vec<String> {
    let mut lines = vec![String::new()];
    for word in text.split(' ').filter(|word| !word.is_empty()) {
        let last = lines.last_mut().expect("there is a line");
        if !last.is_empty() && last.chars().count() + 1 + word.chars().count() > WIDTH {
            // A line that begins like an item of a list would be one.
            lines.push(word.to_string());
        } else {
            if !last.is_empty() {
                last.push(' ');
            }
            last.push_str(word);
        }
    }
    lines
}

/// Without links and tags: brackets outside of code are only brackets.
fn escape(text: &str) -> String {
    let mut in_code = false;
    let mut out = String::new();
    for (i, part) in text.replace("[`", "`").replace("`]", "`").split('`').enumerate() {
        if i > 0 {
            out.push('`');
            in_code = !in_code;
        }
        if in_code {
            out.push_str(part);
        } else {
            for c in part.chars() {
                if matches!(c, '[' | ']' | '<' | '>' | '*') {
                    out.push('\\');
                }
                out.push(c);
            }
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn examples_go_and_brackets_stay_brackets() {
        let doc = "Sums `[a]` of [b], see [`mean`].\n\nRaises: an error.\n\n>>> rg.sum(x)\ntensor(1.)\n\nThe end.";
        assert_eq!(lines(doc, &[]), ["Sums `[a]` of \\[b\\], see `mean`.", "", "Errors: an error.", "", "The end."]);
        assert_eq!(lines("One.\n>>> rg.sum(x)\n1", &[]), ["One."]);
        let sections = lines("Args: `a`, e.g. 1. Returns: it. Errors: none. Args, Errors: as there.", &[]);
        assert_eq!(sections, ["Args: `a`, e.g. 1.", "", "Returns: it.", "", "Errors: none. Args, Errors: as there."]);
        assert!(lines("", &[]).is_empty());
    }

    #[test]
    fn words_are_those_of_rust() {
        let doc = "Raises: RuntimeError if sizes differ; ValueError for none. `dim` None for all; False by default.";
        assert_eq!(in_rust(doc, &[]), "Errors: if sizes differ; for none. `dim` `None` for all; `false` by default.");
        assert_eq!(in_rust("As `sum(keepdim=True)`, `keepdim=True`.", &[]), "As `sum(keepdim=true)`, `keepdim(true)`.");
        assert_eq!(
            in_rust("Returns: a Python bool, or a tuple of Nones.", &[]),
            "Returns: a bool, or a list of Nones."
        );
    }

    #[test]
    fn texts_that_choose_are_variants() {
        let doc =
            "`reduction` 'mean' (weighted) or \"none\", not 'median'; as `f(x, reduction='sum')`, `reduction='sum'`.";
        let rust = "`reduction` `Reduction::Mean` (weighted) or `Reduction::None`, not 'median'; as \
            `f(x, reduction=Reduction::Sum)`, `reduction(Reduction::Sum)`.";
        assert_eq!(in_rust(doc, &["Reduction"]), rust);
        assert_eq!(in_rust("its 'mean', isn't it", &["Side"]), "its 'mean', isn't it");
    }

    #[test]
    fn paragraphs_are_filled_to_the_width() {
        let filled = lines(&["word"; 100].join("\n"), &[]);
        assert!(filled.len() == 5 && filled.iter().all(|line| line.len() <= WIDTH), "{filled:?}");
        assert_eq!(filled.join(" "), ["word"; 100].join(" "));
    }
}
