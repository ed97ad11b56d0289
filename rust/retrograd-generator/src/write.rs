//! The text of the generated files.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::fmt::Write as _;

use super::names::{CHOICES, CHOICES_OF, RESULTS};
use super::types::Typed;
use super::{Op, Role, Setting, docs, example};

const HEAD: &str =
    "//! Written by the crate `retrograd-generator`, for `make face`: change the roster, or that crate.\n";

/// `add_` with the suffix `_with` is `add_with_`.
fn suffixed(base: &str, suffix: &str) -> String {
    match base.strip_suffix('_') {
        Some(stem) => format!("{stem}{suffix}_"),
        None => format!("{base}{suffix}"),
    }
}

/// The names of the forms of an op that is called `base`, without the one that takes `dim` alone.
pub fn names(op: &Op, base: &str) -> Vec<String> {
    let with = suffixed(base, "_with");
    let (plain, options) = ([base.to_string(), format!("try_{base}")], [with.clone(), format!("try_{with}")]);
    match op.role {
        Role::Bare => plain.into(),
        Role::With => options.into(),
        Role::Whole if op.options.is_empty() => plain.into(),
        Role::Whole => [plain, options].concat(),
    }
}

fn dim_names(base: &str) -> Vec<String> {
    let name = suffixed(base, "_dim");
    vec![name.clone(), format!("try_{name}")]
}

/// The file of an op in `src/ops/generated`, and the module in `ops`.
pub fn file(op: &Op) -> (String, Option<&'static str>) {
    let module = op.entry.module.split('.').next().expect("there is a first part");
    if module == "nn" {
        let second = op.entry.rust.split("::").nth(3).expect("a path has a family");
        let file = match second {
            "conv" | "pool" | "image" => "windows",
            _ if second.contains("activation") || matches!(second, "gated" | "gelu" | "rrelu") => "activations",
            _ if op.name.contains("loss") || op.name.contains("entropy") || op.name == "kl_div" => "losses",
            _ => "layers",
        };
        return (format!("nn/{file}.rs"), Some("nn"));
    }
    if !module.is_empty() {
        return (format!("{module}.rs"), Some(module));
    }
    let family = op.entry.rust.split("::").nth(2).expect("a path has a family");
    (format!("root/{family}.rs"), None)
}

fn names_text(op: &Op, base: &str) -> String {
    let at = if op.role == Role::With { "@ " } else { "" };
    format!("[{at}{}]", names(op, base).join(" "))
}

fn parameters(op: &Op, skip: usize, dim: Option<&str>) -> String {
    let mut all: Vec<String> = op.required.iter().skip(skip).map(|p| format!("{}: {}", p.name, p.argument)).collect();
    all.extend(dim.map(|ty| format!("dim: {ty}")));
    let life = if all.iter().any(|p| p.contains("<'a>")) { "['a]" } else { "[]" };
    let receiver = if skip > 0 { vec!["&self".to_string()] } else { Vec::new() };
    format!("({life} {})", [receiver, all].concat().join(", "))
}

/// Lines of an invocation of `op!`.
fn op_text(op: &Op, out: &mut String) {
    let mut text = op.entry.doc.to_string();
    if op.options.iter().any(Setting::is_no_count) {
        text = text.replace(", -1 for ", ", by default ");
    }
    let mut doc = docs::lines(&text, &op.choices());
    if let Some(example) = example::lines(op, file(op).1) {
        doc.push(String::new());
        doc.extend(example);
    }
    let doc: Vec<String> = doc.into_iter().map(|l| format!("/// {l}").trim_end().into()).collect();
    let aliases: BTreeSet<&str> =
        [op.entry.name].into_iter().chain(op.entry.aliases.iter().copied()).filter(|a| *a != op.name).collect();
    let mut lines = doc.clone();
    if let Some(feature) = op.feature {
        lines.extend(["///".to_string(), format!("/// Needs the feature `{feature}`.")]);
    }
    lines.extend(aliases.iter().map(|a| format!("#[doc(alias = \"{a}\")]")));
    let only_in_place = !op.is_function() && !op.is_method();
    let in_place_doc = match only_in_place {
        true => lines.clone(),
        false => vec![format!("/// The in-place form of `{}`: writes to the tensor, and returns it.", op.name)],
    };
    let top = if only_in_place { Vec::new() } else { lines };
    forms(op, out, &top, &in_place_doc, None);
    if op.dim {
        let dim = dim_type(op);
        let doc = vec![format!("/// As `{}`, along `dim`.", op.name)];
        let in_place = vec![format!("/// As `{}_`, along `dim`.", op.name)];
        forms(op, out, &doc, &in_place, Some(dim));
    }
}

/// What the form that takes `dim` alone takes.
fn dim_type(op: &Op) -> &'static str {
    if op.options[0].option.field.contains("Dims") { "impl Into<Dims>" } else { "i64" }
}

fn forms(op: &Op, out: &mut String, doc: &[String], in_place_doc: &[String], dim: Option<&str>) {
    let of = |base: &str| match dim {
        Some(_) => format!("[{}]", dim_names(base).join(" ")),
        None => names_text(op, base),
    };
    let _ = writeln!(out, "\n{}op! {{", gate("", op.feature));
    if doc.is_empty() {
        let _ = writeln!(out, "    {{}}");
    } else {
        let _ = writeln!(out, "    {{");
        for line in doc {
            let _ = writeln!(out, "        {line}");
        }
        let _ = writeln!(out, "    }}");
    }
    if op.is_function() {
        let _ = writeln!(out, "    fn {} {}", of(&op.name), parameters(op, 0, dim));
    }
    let self_params = parameters(op, 1, dim);
    let first = op.required.first().map_or("", |p| p.name.as_str());
    if op.is_method() {
        let _ = writeln!(out, "    method {} {self_params} {{let {first} = self;}}", of(&op.name));
    }
    if op.is_made() {
        let _ = writeln!(out, "    made {} {}", of(&op.name), parameters(op, 0, dim));
    }
    if let Some(path) = op.in_place_path.as_ref().filter(|_| op.is_in_place()) {
        let base = format!("{}_", op.name);
        let _ = writeln!(out, "    in_place {{");
        for line in in_place_doc {
            let _ = writeln!(out, "        {line}");
        }
        let _ = writeln!(out, "    }} {} {self_params} {{let {first} = self;}} {{{path}}}", of(&base));
    }
    let arguments = |f: &dyn Fn(&super::Argument) -> &String| {
        op.arguments.iter().map(|a| f(a).clone()).collect::<Vec<_>>().join(", ")
    };
    let bare = match dim {
        Some(_) => arguments(&|a| &a.of_dim),
        None => arguments(&|a| &a.bare),
    };
    let result = if dim.is_some() { &op.out_with } else { &op.out };
    let _ = writeln!(out, "    -> {result} = {}, ({bare})", op.path);
    if op.options.is_empty() || op.role == Role::Bare || dim.is_some() {
        let _ = writeln!(out, "    {{}}");
    } else {
        let (life, of_life) = if op.borrows() { ("'o", "<'o>") } else { ("", "") };
        let with = arguments(&|a| &a.with);
        let _ = writeln!(out, "    {{[{life}] o: {}{of_life} => {} = ({with})}}", op.options_type, op.out_with);
    }
    let _ = writeln!(out, "}}");
}

/// The line above an item that needs a feature.
fn gate(indent: &str, feature: Option<&str>) -> String {
    feature.map_or(String::new(), |feature| format!("{indent}#[cfg(feature = \"{feature}\")]\n"))
}

/// The feature that all these need, if they do; and the features that some of them need.
fn needs(features: &BTreeSet<Option<&'static str>>) -> (Option<&'static str>, Vec<&'static str>) {
    match features.iter().copied().collect::<Vec<_>>().as_slice() {
        [all] => (*all, Vec::new()),
        some => (None, some.iter().copied().flatten().collect()),
    }
}

/// `pub use` of functions under another name.
fn alias_text(from: &str, op: &Op, name: &str, out: &mut BTreeSet<Export>) {
    let mut of = names(op, &op.name);
    let mut to = names(op, name);
    if op.dim {
        of.extend(dim_names(&op.name));
        to.extend(dim_names(name));
    }
    for (of, to) in of.into_iter().zip(to) {
        let rename = if of == to { String::new() } else { format!(" as {to}") };
        out.insert((format!("pub use {from}::{of}{rename};"), op.feature));
    }
}

/// A `pub use`, and the feature that it needs.
type Export = (String, Option<&'static str>);

/// What a file uses, as rustfmt writes it.
fn uses(text: &str) -> String {
    // Examples in documentation use what they need themselves.
    let code = text.lines().filter(|line| !line.trim_start().starts_with("///"));
    let words: BTreeSet<&str> =
        code.flat_map(|line| line.split(|c: char| !(c.is_alphanumeric() || c == '_'))).collect();
    let list = |known: &[&'static str]| known.iter().copied().filter(|w| words.contains(w)).collect::<BTreeSet<_>>();
    let mut from_ops = list(&CHOICES.map(|c| c.2));
    from_ops.extend(list(&CHOICES_OF.map(|c| c.2)));
    from_ops.extend(list(&RESULTS.map(|r| r.1)));
    from_ops.extend(list(&["Floats", "HistogramDd", "Layout", "MemoryFormat", "OutputSize", "Padding"]));
    from_ops.extend(list(&["as_count", "as_dims", "as_operand", "as_scalar", "as_shape", "factory"]));
    if text.contains("Into<Tensors<") {
        from_ops.insert("Tensors");
    }
    let mut lines: Vec<String> = [
        ("crate", list(&["DType", "Generator", "Scalar", "Tensor"])),
        ("crate::operand", list(&["Operand"])),
        ("crate::ops", from_ops),
        ("crate::shape", list(&["Dims", "Shape"])),
    ]
    .iter()
    .filter(|(_, names)| !names.is_empty())
    .map(|(path, names)| wrapped_use(path, names))
    .collect();
    if text.contains("] o: ") {
        lines.push("use crate::ops::options::*;".to_string());
    }
    if text.contains("engine::") {
        lines.push("use crate::engine::ops as engine;".to_string());
    }
    lines.sort();
    lines.iter().map(|line| format!("{line}\n")).collect()
}

pub fn files(ops: &[Op]) -> BTreeMap<String, String> {
    let mut texts: BTreeMap<String, String> = BTreeMap::new();
    let mut exports: BTreeMap<String, BTreeSet<Export>> = BTreeMap::new();
    let mut features: BTreeMap<String, BTreeSet<Option<&'static str>>> = BTreeMap::new();
    // Functions by the engine's: entries of the same one are re-exported.
    let mut written: HashMap<(String, String), (Option<&str>, usize)> = HashMap::new();
    for (i, op) in ops.iter().enumerate() {
        let (path, module) = file(op);
        features.entry(path.clone()).or_default().insert(op.feature);
        let parent = module.map_or("crate::ops".to_string(), |m| format!("crate::ops::{m}"));
        let plain = op.is_function() && !op.is_method() && !op.is_in_place();
        let key = (op.path.clone(), op.entry.params.len().to_string());
        if let Some((of, first)) = written.get(&key).filter(|_| plain) {
            let from = of.map_or("crate::ops".to_string(), |m| format!("crate::ops::{m}"));
            alias_text(&from, &ops[*first], &op.name, exports.entry(path).or_default());
            continue;
        }
        if op.is_function() {
            written.insert(key, (module, i));
        }
        op_text(op, texts.entry(path.clone()).or_default());
        if op.is_function() {
            for alias in op.entry.aliases {
                let alias = op.name.replacen(op.entry.name, alias.trim_start_matches('_'), 1);
                if alias != op.name {
                    alias_text(&parent, op, &alias, exports.entry(path.clone()).or_default());
                }
            }
        }
    }
    let mut files = BTreeMap::new();
    let mut modules: BTreeMap<String, BTreeMap<String, Option<&'static str>>> = BTreeMap::new();
    for (path, features) in &features {
        let (all, some) = needs(features);
        // What all of a file needs is said where the file is a module.
        let gate_of = |feature: Option<&str>| gate("", feature.filter(|_| all.is_none()));
        let mut text = texts.get(path).cloned().unwrap_or_default();
        if all.is_some() {
            text = text.replace(&gate("", all), "");
        }
        let mut head = some_unused(&some) + &uses(&text);
        // As rustfmt sorts them: `_` comes first.
        let mut sorted: Vec<&Export> = exports.get(path).into_iter().flatten().collect();
        sorted.sort_by_key(|(line, _)| {
            let line = line.trim_end_matches(';').replace('_', "\u{1}");
            line.split_once(" as ").map_or((line.clone(), None), |(of, to)| (of.to_string(), Some(to.to_string())))
        });
        if !sorted.is_empty() {
            head.push('\n');
        }
        for (export, feature) in sorted {
            let _ = writeln!(head, "{}{export}", gate_of(*feature));
        }
        let text: String = text.lines().map(|line| fold(line) + "\n").collect();
        files.insert(format!("src/ops/generated/{path}"), format!("{HEAD}\n{head}{text}"));
        let (folder, name) = path.rsplit_once('/').unwrap_or(("", path));
        modules.entry(folder.to_string()).or_default().insert(name.trim_end_matches(".rs").to_string(), all);
    }
    let folders: Vec<String> = modules.keys().filter(|folder| !folder.is_empty()).cloned().collect();
    let top = modules.entry(String::new()).or_default();
    top.extend(folders.into_iter().map(|folder| (folder, None)));
    top.insert("options".into(), None);
    for (folder, names) in modules {
        let mut text = format!("{HEAD}\n");
        for (name, feature) in &names {
            let public = if folder.is_empty() { "pub " } else { "" };
            if folder.is_empty() {
                let _ = writeln!(text, "/// {}", module_doc(name));
                if let Some(feature) = feature {
                    let _ = writeln!(text, "///\n/// Needs the feature `{feature}`.");
                }
            }
            let _ = writeln!(text, "{}{public}mod {name};", gate("", *feature));
        }
        if !folder.is_empty() {
            text.push('\n');
            for (name, feature) in &names {
                let _ = writeln!(text, "{}#[allow(unused_imports)]\npub use {name}::*;", gate("", *feature));
            }
        }
        let path = if folder.is_empty() { "mod.rs".to_string() } else { format!("{folder}/mod.rs") };
        files.insert(format!("src/ops/generated/{path}"), text);
    }
    files.insert("src/ops/generated/options.rs".into(), options_text(ops));
    files.extend(calls(ops));
    files
}

/// Allows what a file uses only with all of these features, as rustfmt writes it.
fn some_unused(features: &[&str]) -> String {
    let list: Vec<String> = features.iter().map(|feature| format!("feature = \"{feature}\"")).collect();
    let condition = match list.as_slice() {
        [] => return String::new(),
        [one] => format!("not({one})"),
        _ => format!("not(all({}))", list.join(", ")),
    };
    let line = format!("#![cfg_attr({condition}, allow(unused_imports))]\n\n");
    if line.trim_end().len() <= 120 {
        return line;
    }
    format!("#![cfg_attr(\n    {condition},\n    allow(unused_imports)\n)]\n\n")
}

fn module_doc(name: &str) -> &'static str {
    match name {
        "fft" => "Fourier transforms: `torch.fft`.",
        "linalg" => "Linear algebra: `torch.linalg`.",
        "masked" => "Reductions of the elements that a mask keeps: `torch.masked`.",
        "nn" => "What networks are made of, as functions: `torch.nn.functional`.",
        "options" => "What the closures of `_with` forms set.",
        "root" => "The top level.",
        "signal" => "Windows: `torch.signal.windows`.",
        "sparse" => "Products and reductions of sparse tensors: `torch.sparse`.",
        "special" => "Special functions: `torch.special`.",
        _ => unreachable!("every module has a sentence"),
    }
}

/// A `use` of names, in lines of up to 120 columns.
fn wrapped_use(path: &str, names: &BTreeSet<&str>) -> String {
    let list: Vec<&str> = names.iter().copied().collect();
    if let [one] = list.as_slice() {
        return format!("use {path}::{one};");
    }
    let line = format!("use {path}::{{{}}};", list.join(", "));
    if line.len() <= 120 {
        return line;
    }
    let mut out = format!("use {path}::{{\n");
    let mut current = String::from("   ");
    for name in list {
        if current.len() + name.len() + 2 > 119 {
            let _ = writeln!(out, "{current}");
            current = String::from("   ");
        }
        let _ = write!(current, " {name},");
    }
    let _ = writeln!(out, "{current}");
    out.push_str("};");
    out
}

fn options_text(ops: &[Op]) -> String {
    let mut by_type: BTreeMap<&str, Vec<&Op>> = BTreeMap::new();
    for op in ops.iter().filter(|op| !op.options_type.is_empty()) {
        by_type.entry(&op.options_type).or_default().push(op);
    }
    // Those that need the same features are in one invocation.
    let mut texts: BTreeMap<Vec<&str>, String> = BTreeMap::new();
    for (name, users) in by_type {
        let op = users[0];
        let features: BTreeSet<Option<&str>> = users.iter().map(|op| op.feature).collect();
        let needs = if features.contains(&None) { Vec::new() } else { features.into_iter().flatten().collect() };
        let text = texts.entry(needs).or_default();
        let mut of: Vec<String> = users.iter().map(|op| format!("`{}`", called(op))).collect();
        of.dedup();
        let shown = match of.as_slice() {
            [a, b, _, _, ..] => format!("{a}, {b} and {} more", of.len() - 2),
            _ => of.join(", "),
        };
        let life = if op.borrows() { "'o" } else { "" };
        let _ = writeln!(text, "    /// Options of {shown}.\n    {name} [{life}] {{");
        for setting in &op.options {
            let o = &setting.option;
            let default = said(if setting.is_no_count() { "None" } else { &o.default });
            let _ = writeln!(text, "        /// Sets `{}`, {default}.", setting.name);
            let _ =
                writeln!(text, "        {}: {} = {}, {} => {};", setting.name, o.field, o.default, o.given, o.stored);
        }
        let _ = writeln!(text, "    }}");
    }
    let mut text = String::new();
    let mut features: BTreeSet<&str> = BTreeSet::new();
    for (needs, options) in texts {
        let condition = match needs.as_slice() {
            [] => String::new(),
            [one] => gate("", Some(one)),
            some => {
                let list: Vec<String> = some.iter().map(|feature| format!("feature = \"{feature}\"")).collect();
                format!("#[cfg(any({}))]\n", list.join(", "))
            }
        };
        let _ = writeln!(text, "\n{condition}options! {{\n{options}}}");
        features.extend(needs);
    }
    let text: String = text.lines().map(|line| fold(line) + "\n").collect();
    let features: Vec<&str> = features.into_iter().collect();
    format!("{HEAD}\n{}{}{text}", some_unused(&features), uses(&text))
}

/// The default in words.
fn said(default: &str) -> String {
    let plain = default.strip_prefix("Some(").and_then(|d| d.strip_suffix(')')).unwrap_or(default);
    let plain = ["Scalar::Int(", "Scalar::Float(", "Dims::from(", "Shape::from(", "Padding::from("]
        .iter()
        .find_map(|start| plain.strip_prefix(start)?.strip_suffix(')'))
        .unwrap_or(plain);
    match plain {
        "None" => "which is not set by default".to_string(),
        _ => format!("`{plain}` by default"),
    }
}

/// The path of an op in `ops`.
fn called(op: &Op) -> String {
    match file(op).1 {
        Some(module) => format!("{module}::{}", op.name),
        None => op.name.clone(),
    }
}

/// What the root of the test of calls has between its modules and the rows of its list.
const CALLS: &str = r#"
use retrograd::Tensor;
#[allow(unused_imports)]
use retrograd::ops::{self, Floats, OutputSize};

fn any<T>() -> T {
    unreachable!("these calls are only compiled")
}

#[test]
fn calls_of_every_op_compile() {
    assert!(FAMILIES.iter().any(|(name, _)| *name == "pointwise"));
}

/// Every op, family by family.
const FAMILIES: &[(&str, fn())] = &[
"#;

/// Calls of every op, which compile, by family.
fn calls(ops: &[Op]) -> BTreeMap<String, String> {
    let mut families: BTreeMap<&str, BTreeMap<Option<&'static str>, Vec<String>>> = BTreeMap::new();
    for op in ops {
        let family = families.entry(op.entry.rust.split("::").nth(2).expect("a path has a family")).or_default();
        let lines = family.entry(op.feature).or_default();
        let args = |skip: usize, name: &str| {
            let example =
                |p: &Typed| if p.example.is_empty() { "any()".into() } else { format!("any::<{}>()", p.example) };
            let mut args: Vec<String> = op.required.iter().skip(skip).map(example).collect();
            args.extend(name.trim_end_matches('_').ends_with("_with").then(|| "|o| o".to_string()));
            args.join(", ")
        };
        let mut call = |of: &str, base: &str, skip: usize| {
            for name in names(op, base).into_iter().filter(|name| !name.starts_with("try_")) {
                lines.push(format!("{of}{name}({});", args(skip, &name)));
            }
        };
        let module = file(op).1.map_or("ops::".to_string(), |m| format!("ops::{m}::"));
        if op.is_function() {
            call(&module, &op.name, 0);
        }
        if op.is_method() {
            call("any::<&Tensor>().", &op.name, 1);
        }
        if op.is_made() {
            call("Tensor::", &op.name, 0);
        }
        if op.is_in_place() {
            call("any::<&Tensor>().", &format!("{}_", op.name), 1);
        }
    }
    let mut files = BTreeMap::new();
    let (mut modules, mut list) = (String::new(), String::new());
    for (name, parts) in families {
        let (all, some) = needs(&parts.keys().copied().collect());
        let mut body = String::new();
        for (feature, lines) in parts {
            let indent = if feature == all { "    " } else { "        " };
            let lines: String = lines.iter().map(|line| fold(&format!("{indent}{line}")) + "\n").collect();
            if feature == all {
                body.push_str(&lines);
            } else {
                let _ = writeln!(body, "{}    {{\n{lines}    }}", gate("    ", feature));
            }
        }
        let text = format!("{HEAD}\n{}use super::*;\n\npub fn calls() {{\n{body}}}\n", some_unused(&some));
        files.insert(format!("tests/calls/{name}.rs"), text);
        let _ = writeln!(modules, "{}mod {name};", gate("", all));
        let _ = writeln!(list, "{}    (\"{name}\", {name}::calls),", gate("    ", all));
    }
    files.insert("tests/calls/main.rs".to_string(), format!("{HEAD}\n{modules}{CALLS}{list}];\n"));
    files
}

/// A line of at most 120 columns, or lines: broken between arguments, or between words where one is too long.
fn fold(line: &str) -> String {
    if line.trim_start().starts_with("//") {
        return line.to_string();
    }
    let indent = " ".repeat(line.len() - line.trim_start().len() + 4);
    broken(line, ", ", &indent).iter().flat_map(|line| broken(line, " ", &indent)).collect::<Vec<_>>().join("\n")
}

fn broken(line: &str, between: &str, indent: &str) -> Vec<String> {
    if line.chars().count() <= 120 {
        return vec![line.to_string()];
    }
    let start = &line[..line.len() - line.trim_start().len()];
    let mut lines = vec![String::new()];
    for (i, part) in line.trim_start().split(between).enumerate() {
        let last = lines.last_mut().expect("there is a line");
        if i == 0 {
            *last = format!("{start}{part}");
        } else if last.len() + between.len() + part.len() + 1 > 120 {
            last.push_str(between.trim_end());
            lines.push(format!("{indent}{part}"));
        } else {
            last.push_str(between);
            last.push_str(part);
        }
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn in_place_names_end_in_their_underscore() {
        assert_eq!((suffixed("add", "_with"), suffixed("add_", "_with")), ("add_with".into(), "add_with_".into()));
    }

    #[test]
    fn long_lines_break_between_arguments_and_then_words() {
        assert_eq!(fold("    f(a, b)"), "    f(a, b)");
        let names = ["a_name_of_twenty_char"; 8].join(" ");
        let folded = fold(&format!("    fn [{names}] (x: i64, y: i64)"));
        assert!(folded.lines().all(|line| line.len() <= 120), "{folded}");
        let words = |text: &str| text.split_whitespace().map(str::to_string).collect::<Vec<_>>();
        assert_eq!(words(&folded), words(&format!("fn [{names}] (x: i64, y: i64)")));
    }
}
