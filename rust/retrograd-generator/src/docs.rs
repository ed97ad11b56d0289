//! Documentation of ops in Rust, from that of the roster.

/// So that a line with its indentation has at most 120 columns.
const WIDTH: usize = 108;

/// The documentation of the entry as lines, without the examples in Python.
pub fn lines(doc: &str) -> Vec<String> {
    let mut out: Vec<String> = Vec::new();
    let mut paragraph = String::new();
    let mut in_example = false;
    for line in doc.lines().chain([""]) {
        in_example = line.starts_with(">>>") || (in_example && !line.trim().is_empty());
        if in_example {
            continue;
        }
        if line.trim().is_empty() {
            if !paragraph.is_empty() {
                if !out.is_empty() {
                    out.push(String::new());
                }
                out.extend(wrap(&escape(&paragraph.replace("Raises:", "Errors:"))));
                paragraph.clear();
            }
        } else {
            if !paragraph.is_empty() {
                paragraph.push(' ');
            }
            paragraph.push_str(line.trim());
        }
    }
    out
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
        assert_eq!(lines(doc), ["Sums `[a]` of \\[b\\], see `mean`.", "", "Errors: an error.", "", "The end."]);
        assert_eq!(lines("One.\n>>> rg.sum(x)\n1"), ["One."]);
        assert!(lines("").is_empty());
    }

    #[test]
    fn paragraphs_are_filled_to_the_width() {
        let filled = lines(&["word"; 100].join("\n"));
        assert!(filled.len() == 5 && filled.iter().all(|line| line.len() <= WIDTH), "{filled:?}");
        assert_eq!(filled.join(" "), ["word"; 100].join(" "));
    }
}
