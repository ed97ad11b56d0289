//! Writes the Rust form of every op, from the roster.

mod choices;
mod docs;
mod example;
pub mod names;
mod python;
mod types;
mod write;

use std::collections::{BTreeMap, HashMap, HashSet};

use retrograd_engine::ops::{Entry, forms, roster};

use names::*;
pub use types::ident;
use types::{AsOption, Typed, typed};

/// An op as Rust has it.
pub struct Op {
    pub entry: &'static Entry,
    pub name: String,
    /// What the engine's functions are found by.
    pub path: String,
    pub in_place_path: Option<String>,
    /// The feature of the crate that it needs.
    pub feature: Option<&'static str>,
    pub required: Vec<Typed>,
    pub options: Vec<Setting>,
    /// The options' type.
    pub options_type: String,
    /// What the engine is given, in its order.
    pub arguments: Vec<Argument>,
    pub out: String,
    pub out_with: String,
    pub role: Role,
    /// Whether there is a form that takes `dim` alone.
    pub dim: bool,
}

pub struct Setting {
    pub name: String,
    pub option: AsOption,
}

impl Setting {
    /// Whether the default is a negative number in the place of a count, which Rust cannot set: it stands for none.
    pub fn is_no_count(&self) -> bool {
        self.option.given == "usize" && self.option.default.starts_with('-')
    }
}

/// An argument of the engine's function: in the form without options, with them, and where `dim` alone is given.
pub struct Argument {
    pub bare: String,
    pub with: String,
    pub of_dim: String,
}

#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Role {
    Whole,
    /// The form without options of an op whose other forms another entry gives.
    Bare,
    /// These other forms.
    With,
}

impl Op {
    pub fn borrows(&self) -> bool {
        self.options.iter().any(|s| s.option.borrows())
    }
    /// The enums that its parameters are of.
    pub fn choices(&self) -> Vec<&str> {
        let given = self.options.iter().map(|s| s.option.given.as_str());
        given.chain(self.required.iter().map(|p| p.argument.as_str())).filter(|ty| choices::is_choice(ty)).collect()
    }
    pub fn is_function(&self) -> bool {
        self.entry.has(forms::FUNCTION)
    }
    pub fn is_method(&self) -> bool {
        self.entry.has(forms::METHOD) && !NO_METHOD.contains(&self.entry.name)
    }
    pub fn is_in_place(&self) -> bool {
        self.entry.has(forms::INPLACE)
    }
    /// Factories are associated functions of `Tensor` too.
    pub fn is_made(&self) -> bool {
        let factory = self.entry.params.iter().any(|p| p.rust == "TensorOptions");
        self.is_function() && self.entry.module.is_empty() && factory && self.entry.params[0].rust != "&Tensor"
    }
}

/// The last two segments of a path.
pub fn short(path: &str) -> String {
    let segments: Vec<&str> = path.rsplitn(3, "::").collect();
    format!("{}::{}", segments[1], segments[0])
}

fn camel(name: &str) -> String {
    name.split(['_', '.']).filter(|s| !s.is_empty()).map(|s| s[..1].to_uppercase() + &s[1..]).collect()
}

/// Every op that has a form in Rust, in the order of the roster.
pub fn ops() -> Vec<Op> {
    let entries: Vec<&Entry> = roster().collect();
    let merged: HashSet<(&str, &str)> =
        entries.iter().filter(|e| MERGED.contains(&short(e.rust).as_str())).map(|e| (e.module, e.name)).collect();
    let excluded = |e: &Entry| EXCLUDED.iter().any(|(f, _)| *f == short(e.rust));
    let mut ops: Vec<Op> = entries.into_iter().filter(|e| !excluded(e)).map(|e| op(e, &merged)).collect();
    name_options(&mut ops);
    let mut taken: HashSet<(String, bool, String)> = HashSet::new();
    for op in &ops {
        let mut take = |module: &str, method: bool, name: String| {
            let free = taken.insert((module.to_string(), method, name.clone()));
            assert!(free, "{} would be the second {name} of {module:?}: name it in `NAMES`", op.entry.rust);
        };
        for name in write::names(op, &op.name) {
            if op.is_function() {
                take(op.entry.module, false, name.clone());
            }
            if op.is_method() || op.is_made() {
                take("", true, name);
            }
        }
        if op.is_in_place() {
            for name in write::names(op, &format!("{}_", op.name)) {
                take("", true, name);
            }
        }
    }
    let dims: Vec<bool> = ops
        .iter()
        .map(|op| {
            let name = format!("{}_dim", op.name);
            let free = |module: &str, method| !taken.contains(&(module.to_string(), method, name.clone()));
            let first = op.options.first().is_some_and(|s| s.name == "dim");
            first && op.role != Role::Bare && (!op.is_function() || free(op.entry.module, false)) && free("", true)
        })
        .collect();
    ops.iter_mut().zip(dims).for_each(|(op, dim)| op.dim = dim);
    ops
}

fn op(entry: &'static Entry, merged: &HashSet<(&str, &str)>) -> Op {
    let function = short(entry.rust);
    let found = NAMES.iter().find(|(f, _)| *f == function).map(|(_, name)| name.to_string());
    let name = found.unwrap_or_else(|| {
        let name = entry.name.trim_start_matches('_');
        name.to_string()
    });
    let path = match PATHS.iter().find(|(f, _)| *f == function) {
        Some((_, path)) => path.to_string(),
        None => entry.rust.replacen("retrograd_engine::ops", "engine", 1),
    };
    let role = match MERGED.contains(&function.as_str()) {
        true => Role::With,
        false if merged.contains(&(entry.module, entry.name)) => Role::Bare,
        false => Role::Whole,
    };
    let (mut required, mut options, mut arguments) = (Vec::new(), Vec::new(), Vec::new());
    let mut factory = false;
    for param in entry.params {
        if param.rust == "TensorOptions" {
            if !factory {
                factory = true;
                options.extend(factory_options());
                arguments.push(Argument {
                    bare: "factory(None, false)".into(),
                    with: "factory(o.dtype, o.requires_grad)".into(),
                    of_dim: "factory(None, false)".into(),
                });
            }
            continue;
        }
        let fixed = FIXED.iter().find(|(f, name, _)| (*f == "*" || *f == function) && *name == param.name);
        let deprecated = param.name == "reduce" && param.rust == "Option<bool>";
        if fixed.is_some() || deprecated {
            let value = fixed.map_or("None", |(.., value)| *value).to_string();
            arguments.push(Argument { bare: value.clone(), with: value.clone(), of_dim: value });
            continue;
        }
        let must = REQUIRED.contains(&(function.as_str(), param.name));
        let default = param.default.or((role == Role::With && param.name == "dim").then_some("None"));
        let Some(mut typed) = typed(&function, param, default) else {
            panic!("{}: there is no Rust for `{}: {}`", entry.rust, param.name, param.rust);
        };
        if path.starts_with("crate::ops::merged::conv") && param.name == "padding" {
            typed.option = Some(AsOption {
                field: "Padding".into(),
                default: "Padding::from(0)".into(),
                given: "impl Into<Padding>".into(),
                stored: "padding.into()".into(),
                engine: "&o.padding".into(),
                engine_default: "&Padding::from(0)".into(),
            });
        }
        match typed.option.take().filter(|_| !must) {
            Some(option) => {
                arguments.push(Argument {
                    bare: option.engine_default.clone(),
                    with: option.engine.clone(),
                    of_dim: if param.name == "dim" { typed.engine } else { option.engine_default.clone() },
                });
                options.push(Setting { name: typed.name, option });
            }
            None => {
                let given = typed.engine.clone();
                arguments.push(Argument { bare: given.clone(), with: given.clone(), of_dim: given });
                required.push(typed);
            }
        }
    }
    let out = result(entry);
    let many = entry.returns.contains("OneOrMany");
    let pooled = entry.params.iter().any(|p| p.name == "return_indices");
    let (out, out_with) = match many {
        true if pooled => ("Tensor".to_string(), "Tensor".to_string()),
        true if function == "mask::nonzero_as" => ("Vec<Tensor>".to_string(), "Vec<Tensor>".to_string()),
        true => ("Tensor".to_string(), "Vec<Tensor>".to_string()),
        false => (out.clone(), out),
    };
    let family = entry.rust.trim_start_matches("retrograd_engine::ops::");
    let feature = FEATURES.iter().find(|(start, _)| family.starts_with(start)).map(|(_, feature)| *feature);
    let in_place_path = entry.has(forms::INPLACE).then(|| format!("{path}_as"));
    let options_type = String::new();
    Op {
        entry,
        name,
        path,
        in_place_path,
        feature,
        required,
        options,
        options_type,
        arguments,
        out,
        out_with,
        role,
        dim: false,
    }
}

fn factory_options() -> [Setting; 2] {
    let setting = |name: &str, field: &str, default: &str, given: &str, stored: &str| Setting {
        name: name.into(),
        option: AsOption {
            field: field.into(),
            default: default.into(),
            given: given.into(),
            stored: stored.into(),
            engine: String::new(),
            engine_default: String::new(),
        },
    };
    [
        setting("dtype", "Option<DType>", "None", "DType", "Some(dtype)"),
        setting("requires_grad", "bool", "false", "bool", "requires_grad"),
    ]
}

/// The type of the result.
fn result(entry: &Entry) -> String {
    let returns = entry.returns.strip_prefix("Result<").and_then(|t| t.strip_suffix('>')).expect("ops return a Result");
    if returns == "(Tensor,Vec<Tensor>)" {
        return "HistogramDd".to_string();
    }
    match RESULTS.iter().find(|(fields, _)| *fields == entry.fields) {
        _ if returns == "MaybeNamed" => "Vec<Tensor>".to_string(),
        Some((_, name)) => name.to_string(),
        None => {
            assert!(entry.fields.is_empty(), "{}: name the result of {:?} in `RESULTS`", entry.rust, entry.fields);
            returns.replace(',', ", ")
        }
    }
}

/// Options that are the same have one type: of one op it has the op's name, of several that of the options, if they are
/// few.
fn name_options(ops: &mut [Op]) {
    let key = |op: &Op| {
        let of = |s: &Setting| format!("{}:{}={}", s.name, s.option.field, s.option.default);
        op.options.iter().map(of).collect::<Vec<_>>().join(";")
    };
    let mut users: BTreeMap<String, Vec<usize>> = BTreeMap::new();
    for (i, op) in ops.iter().enumerate().filter(|(_, op)| !op.options.is_empty() && op.role != Role::Bare) {
        users.entry(key(op)).or_default().push(i);
    }
    let mut by_first: Vec<Vec<usize>> = users.into_values().collect();
    by_first.sort();
    let mut taken: HashMap<String, usize> = HashMap::new();
    for users in by_first {
        let first = &ops[users[0]];
        let several = users.iter().any(|&i| ops[i].name != first.name);
        let fields = || first.options.iter().map(|s| camel(&s.name)).collect::<String>();
        let module = first.entry.module.split('.').next().expect("there is a first part");
        let mut candidates = Vec::new();
        if several && first.options.len() <= 3 {
            candidates.push(fields());
        }
        candidates.extend([camel(&first.name), camel(module) + &camel(&first.name), fields()]);
        let name = candidates.into_iter().map(|name| name + "Options").find(|name| !taken.contains_key(name));
        let name = name.unwrap_or_else(|| panic!("{}: its options need a name", first.entry.rust));
        taken.insert(name.clone(), users[0]);
        for i in users {
            ops[i].options_type.clone_from(&name);
        }
    }
}

/// The generated files: their paths in the crate, and their texts.
pub fn files() -> BTreeMap<String, String> {
    write::files(&ops())
}
