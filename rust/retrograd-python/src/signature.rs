//! Signatures of ops as Python's introspection and its help show them.

use retrograd_engine::ops::{Entry, Kind, forms};

use crate::call::{Callable, Role};

/// Whether a name is a keyword of the language, which no signature may have.
fn is_reserved(name: &str) -> bool {
    matches!(name, "from" | "lambda")
}

/// `name(dim=None, *, dtype=None)`: how one entry is called.
pub fn signature(name: &str, entry: &Entry, role: Role) -> String {
    let mut params = Vec::new();
    let mut starred = false;
    for (i, p) in entry.params.iter().enumerate() {
        if i == 0 && role != Role::Function {
            continue;
        }
        let last = entry.params[i + 1..].iter().all(|p| p.kw_only);
        if matches!(p.kind, Kind::Size | Kind::Varargs) && last {
            params.push(format!("*{}", p.name));
            starred = true;
            continue;
        }
        if p.kw_only && !starred {
            params.push("*".into());
            starred = true;
        }
        let reserved = if is_reserved(p.name) { "_" } else { "" };
        let default = p.default.map_or(String::new(), |d| format!("={d}"));
        params.push(format!("{}{reserved}{default}", p.name));
    }
    if entry.has(forms::OUT) && role == Role::Function {
        if !starred {
            params.push("*".into());
        }
        params.push("out=None".into());
    }
    format!("{name}({})", params.join(", "))
}

/// One signature for all orders of arguments of a callable, as introspection reads it: a parameter that one of them
/// lacks may be left out, and is positional if it is so in any.
fn joint_signature(c: &Callable) -> String {
    let method = c.role != Role::Function;
    let mut params: Vec<Joint> = Vec::new();
    for entry in &c.entries {
        for (at, p) in entry.params.iter().enumerate().skip(usize::from(method)) {
            let star = matches!(p.kind, Kind::Size | Kind::Varargs) && entry.params[at + 1..].iter().all(|p| p.kw_only);
            let known = params.iter().position(|known| known.name == p.name).unwrap_or_else(|| {
                params.push(Joint {
                    name: p.name,
                    at,
                    count: 0,
                    star,
                    positional: false,
                    optional: false,
                    default: None,
                });
                params.len() - 1
            });
            let known = &mut params[known];
            known.at = known.at.max(at);
            known.count += 1;
            known.star |= star;
            known.positional |= !p.kw_only;
            known.optional |= p.default.is_some();
            known.default = known.default.or(p.default);
        }
    }
    params.sort_by_key(|p| p.at);
    let optional = |p: &Joint| p.optional || p.count < c.entries.len();
    let text = |p: &Joint, optional: bool| {
        let reserved = if is_reserved(p.name) { "_" } else { "" };
        let default = if optional { format!("={}", p.default.unwrap_or("...")) } else { String::new() };
        format!("{}{reserved}{default}", p.name)
    };
    let mut shown: Vec<String> = if method { vec!["$self".into()] } else { Vec::new() };
    let mut left_out = false;
    for p in params.iter().filter(|p| p.positional && !p.star) {
        // What follows a parameter that may be left out may be left out, too.
        left_out |= optional(p);
        shown.push(text(p, left_out));
        if is_reserved(p.name) {
            shown.push("/".into());
        }
    }
    let starred = params.iter().find(|p| p.star);
    let has_out = !method && c.entries.iter().any(|e| e.has(forms::OUT));
    let named: Vec<&Joint> = params.iter().filter(|p| !p.positional && !p.star).collect();
    match starred {
        Some(p) => shown.push(format!("*{}", p.name)),
        None if has_out || !named.is_empty() => shown.push("*".into()),
        None => {}
    }
    shown.extend(named.into_iter().map(|p| text(p, optional(p))));
    if has_out {
        shown.push("out=None".into());
    }
    format!("{}({})", c.name, shown.join(", "))
}

/// A parameter in one or several orders of arguments.
struct Joint {
    name: &'static str,
    /// Its last position.
    at: usize,
    /// In how many orders it is.
    count: usize,
    star: bool,
    positional: bool,
    optional: bool,
    default: Option<&'static str>,
}

/// What `help` shows: a signature in the form that introspection reads; several orders of arguments are listed as text.
pub fn documentation(c: &Callable) -> String {
    let doc = c.docs().join("\n\n");
    let joint = joint_signature(c);
    if c.entries.len() == 1 {
        return format!("{joint}\n--\n\n{doc}");
    }
    let lines: Vec<_> = c.entries.iter().map(|e| signature(&c.name, e, c.role)).collect();
    format!("{joint}\n--\n\n{}\n\n{doc}", lines.join("\n"))
}
