//! Documentation of ops in Rust, from that of the roster.

const WIDTH: usize = 110;

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
