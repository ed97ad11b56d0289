//! Examples in Rust, from those in Python of the roster: of a call of the op on tensors of literals, whose result is
//! shown. Others have none.

use std::collections::BTreeSet;

use super::choices::variant;
use super::python::{Expr, parse};
use super::types::ident;
use super::{Op, Role};

/// So that a line with its indentation has at most 120 columns.
const WIDTH: usize = 108;

/// The lines of the documentation, code block and all; none if there is no example that the rules cover.
pub fn lines(op: &Op, module: Option<&str>) -> Option<Vec<String>> {
    let (code, result) = only_example(op.entry.doc)?;
    let mut rust = Rust { op, module, before: Vec::new() };
    let assertions = rust.assertion(&parse(code)?, &parse(result)?)?;
    let body = [rust.before, assertions].concat();
    let words: BTreeSet<&str> =
        body.iter().flat_map(|line| line.split(|c: char| !(c.is_alphanumeric() || c == '_'))).collect();
    let used: Vec<&str> = ["DType", "Tensor", "ops", "tensor"].into_iter().filter(|w| words.contains(w)).collect();
    let used = if let [one] = used.as_slice() { (*one).to_string() } else { format!("{{{}}}", used.join(", ")) };
    let mut lines = vec!["```".to_string(), format!("use retrograd::{used};"), String::new()];
    let fails = body.iter().any(|line| line.contains('?'));
    lines.extend(body);
    lines.extend(fails.then(|| "# Ok::<(), retrograd::Error>(())".to_string()));
    lines.push("```".to_string());
    lines.iter().all(|line| line.len() <= WIDTH).then_some(lines)
}

/// The line and its result, where there is one of each.
fn only_example(doc: &str) -> Option<(&str, &str)> {
    let mut examples = doc.lines().skip_while(|line| !line.starts_with(">>>"));
    let code = examples.next()?.strip_prefix(">>> ")?;
    let result = examples.next()?.trim();
    examples.all(|line| line.trim().is_empty()).then_some((code, result))
}

struct Rust<'a> {
    op: &'a Op,
    module: Option<&'a str>,
    /// Lines before the assertion.
    before: Vec<String>,
}

impl Rust<'_> {
    fn assertion(&mut self, code: &Expr, result: &Expr) -> Option<Vec<String>> {
        let Expr::Call(what, given, named) = code else {
            return match code {
                Expr::Attribute(of, what) if what == "shape" => {
                    let Expr::Call(_, sizes, _) = result else { return None };
                    self.sizes(of, "shape", sizes.first()?)
                }
                Expr::Attribute(of, what) if what == "dtype" => {
                    let (value, dtype) = (self.tensor(of)?, dtype(result)?);
                    compared(&format!("{value}.dtype()"), &dtype)
                }
                _ => None,
            };
        };
        if !named.is_empty() {
            return None;
        }
        match (&**what, given.as_slice()) {
            (Expr::Attribute(of, name), []) if name == "tolist" || name == "item" => self.elements(of, result),
            (Expr::Attribute(of, name), []) if name == "stride" => self.sizes(of, "strides", result),
            (Expr::Name(name), [Expr::Attribute(of, shape)]) if name == "tuple" && shape == "shape" => {
                self.sizes(of, "shape", result)
            }
            _ => {
                let value = self.call(code)?;
                match (self.op.out.as_str(), result) {
                    ("bool", Expr::Bool(true)) => Some(vec![format!("assert!({value});")]),
                    ("bool", Expr::Bool(false)) => Some(vec![format!("assert!(!{value});")]),
                    ("DType", _) => compared(&value, &dtype(result)?),
                    _ => None,
                }
            }
        }
    }

    fn sizes(&mut self, of: &Expr, what: &str, sizes: &Expr) -> Option<Vec<String>> {
        let value = self.tensor(of)?;
        let sizes = integers(sizes)?;
        if sizes.is_empty() { None } else { compared(&format!("{value}.{what}()"), &format!("[{}]", sizes.join(", "))) }
    }

    fn elements(&mut self, of: &Expr, result: &Expr) -> Option<Vec<String>> {
        let value = self.tensor(of)?;
        let mut flat = Vec::new();
        flatten(result, &mut flat)?;
        let ty = match kind(&flat)? {
            Kind::Bool => "bool",
            Kind::Integer => "i64",
            Kind::Float => "f64",
        };
        let elements = literals(&flat, "")?;
        match result {
            Expr::List(_) => compared(&format!("{value}.to_vec::<{ty}>()?"), &format!("[{}]", elements.join(", "))),
            _ if ty == "bool" => {
                let not = if elements[0] == "true" { "" } else { "!" };
                Some(vec![format!("assert!({not}{value}.item::<bool>()?);")])
            }
            _ => compared(&format!("{value}.item::<{ty}>()?"), &elements[0]),
        }
    }

    /// An expression that is a tensor: a constructor, the op, a field of its result, and a few methods of these.
    fn tensor(&mut self, expr: &Expr) -> Option<String> {
        match expr {
            Expr::Attribute(of, field) => match self.op.out.as_str() {
                "Tensor" if field == "real" => Some(format!("ops::real(&{})", self.call(of)?)),
                "Tensor" => None,
                _ => Some(format!("{}.{}", self.call(of)?, field.to_lowercase())),
            },
            Expr::Call(what, given, named) => {
                if let Some(value) = self.made(&path(what)?, given, named) {
                    return Some(value);
                }
                match &**what {
                    Expr::Attribute(of, name)
                        if given.is_empty() && named.is_empty() && ["abs", "conj", "exp", "t"].contains(&&**name) =>
                    {
                        let found = self.tensor(of).map(|value| format!("{value}.{name}()"));
                        found.or_else(|| self.call(expr))
                    }
                    _ => self.call(expr),
                }
            }
            _ => None,
        }
    }

    /// `rg.tensor`, `rg.ones`, `rg.zeros`, unless they are the op.
    fn made(&mut self, path: &str, given: &[Expr], named: &[(String, Expr)]) -> Option<String> {
        match path {
            "rg.tensor" => {
                let double = match named {
                    [] => false,
                    [(name, value)] if name == "dtype" && dtype(value)? == "DType::Float64" => true,
                    _ => return None,
                };
                let [values] = given else { return None };
                tensor_literal(values, double)
            }
            "rg.ones" | "rg.zeros" if named.is_empty() && self.op.name != path[3..] => {
                let sizes = match given {
                    [list @ Expr::List(_)] => integers(list)?,
                    numbers => integers(&Expr::List(numbers.to_vec()))?,
                };
                (!sizes.is_empty()).then(|| format!("Tensor::{}([{}])", &path[3..], sizes.join(", ")))
            }
            _ => None,
        }
    }

    /// A call of the op itself.
    fn call(&mut self, expr: &Expr) -> Option<String> {
        let Expr::Call(what, given, named) = expr else { return None };
        let Expr::Attribute(of, called) = &**what else { return None };
        let op = self.op;
        let module = if op.entry.module.is_empty() { String::new() } else { format!("{}.", op.entry.module) };
        let function = path(what) == Some(format!("rg.{module}{}", op.entry.name));
        let in_place = op.is_in_place() && *called == format!("{}_", op.entry.name);
        if function && op.is_function() {
            let receiver = op.is_method().then(|| given.first()).flatten().and_then(|first| self.tensor(first));
            if let Some(receiver) = receiver {
                return self.arguments(&format!("{receiver}."), &op.name, 1, &given[1..], named);
            }
            let of = match (op.is_made(), self.module) {
                (true, _) => "Tensor::".to_string(),
                (_, Some(module)) => format!("ops::{module}::"),
                _ => "ops::".to_string(),
            };
            return self.arguments(&of, &op.name, 0, given, named);
        }
        if (*called == op.entry.name && op.is_method()) || in_place {
            let receiver = self.tensor(of)?;
            let name = if in_place { format!("{}_", op.name) } else { op.name.clone() };
            return self.arguments(&format!("{receiver}."), &name, 1, given, named);
        }
        None
    }

    /// The call with its arguments and options, of the parameters from `skip` on.
    fn arguments(
        &mut self,
        of: &str,
        name: &str,
        skip: usize,
        given: &[Expr],
        named: &[(String, Expr)],
    ) -> Option<String> {
        let op = self.op;
        let (mut required, mut options) = (Vec::new(), Vec::new());
        let mut given = given.to_vec();
        let mut used = 0;
        for param in &op.entry.params[skip..] {
            let is_list = matches!(param.rust, "&[i64]" | "&[Tensor]");
            if is_list && given.len() > 1 && given.iter().all(|g| matches!(g, Expr::Number(_))) && required.is_empty() {
                // Sizes one by one.
                given = vec![Expr::List(given)];
            }
            let value = match named.iter().find(|(n, _)| n == param.name) {
                Some((_, value)) => {
                    used += 1;
                    Some(value.clone())
                }
                None if given.is_empty() => None,
                None => Some(given.remove(0)),
            };
            let name = ident(param.name);
            if let Some(typed) = op.required.iter().find(|typed| typed.name == name) {
                required.push(self.argument(&value?, &typed.argument)?);
            } else if let Some(value) = value.filter(|value| *value != Expr::None) {
                let setting = op.options.iter().find(|setting| setting.name == name)?;
                options.push((name, self.argument(&value, &setting.option.given)?, setting.option.borrows()));
            }
        }
        if used != named.len() || !given.is_empty() || op.role == Role::With && options.is_empty() {
            return None;
        }
        if options.is_empty() {
            return Some(format!("{of}{name}({})", required.join(", ")));
        }
        if op.role == Role::Bare {
            return None;
        }
        let suffixed = |suffix| match name.strip_suffix('_') {
            Some(stem) => format!("{stem}{suffix}_"),
            None => format!("{name}{suffix}"),
        };
        if let ([(only, value, _)], true) = (options.as_slice(), op.dim)
            && only == "dim"
        {
            required.push(value.clone());
            return Some(format!("{of}{}({})", suffixed("_dim"), required.join(", ")));
        }
        let mut set = String::from("o");
        for (name, value, borrows) in options {
            let value = match value.strip_prefix('&').filter(|_| borrows) {
                // It has to live as long as the options.
                Some(tensor) => {
                    self.before.push(format!("let {name} = {tensor};"));
                    format!("&{name}")
                }
                None => value,
            };
            set.push_str(&format!(".{name}({value})"));
        }
        required.push(format!("|o| {set}"));
        Some(format!("{of}{}({})", suffixed("_with"), required.join(", ")))
    }

    /// A value for a parameter of this type.
    fn argument(&mut self, value: &Expr, ty: &str) -> Option<String> {
        let is_integer = |n: &str| n.parse::<i64>().is_ok();
        match (value, ty) {
            (Expr::Call(..), "Option<&Tensor>") => Some(format!("Some(&{})", self.tensor(value)?)),
            (Expr::None, "Option<&Tensor>") => Some("None".to_string()),
            (Expr::Call(..), _) if ty.contains("Operand") || matches!(ty, "&Tensor" | "&'o Tensor") => {
                Some(format!("&{}", self.tensor(value)?))
            }
            (Expr::Number(n), _) if ty.contains("Operand") || ty.contains("Scalar") => Some(n.clone()),
            (Expr::Bool(b), _) if ty == "bool" || ty.contains("Scalar") => Some(b.to_string()),
            (Expr::Number(n), "i64") => is_integer(n).then(|| n.clone()),
            (Expr::Number(n), "usize") => n.parse::<usize>().is_ok().then(|| n.clone()),
            (Expr::Number(n), "f64") => Some(if is_integer(n) { format!("{n}.0") } else { n.clone() }),
            (Expr::Number(n), _) if is_list(ty) => is_integer(n).then(|| n.clone()),
            (Expr::List(_), _) if is_list(ty) => {
                let list = integers(value)?;
                if list.is_empty() { None } else { Some(format!("[{}]", list.join(", "))) }
            }
            (Expr::List(list), _) if ty.contains("Tensors") && !list.is_empty() => {
                let tensors: Option<Vec<String>> = list.iter().map(|tensor| self.tensor(tensor)).collect();
                Some(format!("[{}]", tensors?.join(", ")))
            }
            (_, "DType") => dtype(value),
            (Expr::Text(text), "&str") => Some(format!("{text:?}")),
            (Expr::Text(text), _) => variant(ty, text).map(|variant| format!("ops::{variant}")),
            _ => None,
        }
    }
}

fn is_list(ty: &str) -> bool {
    ["Shape", "Dims", "OutputSize", "Padding"].iter().any(|list| ty.contains(list))
}

/// The assertion that both are the same, in two lines if it is long.
fn compared(value: &str, expected: &str) -> Option<Vec<String>> {
    let line = format!("assert_eq!({value}, {expected});");
    if line.len() <= WIDTH {
        return Some(vec![line]);
    }
    let (tensor, read) = value.rsplit_once('.')?;
    Some(vec![format!("let y = {tensor};"), format!("assert_eq!(y.{read}, {expected});")])
}

/// `rg.linalg.norm`, of names alone.
fn path(expr: &Expr) -> Option<String> {
    match expr {
        Expr::Name(name) => Some(name.clone()),
        Expr::Attribute(of, name) => Some(format!("{}.{name}", path(of).unwrap_or_default())),
        _ => None,
    }
}

fn dtype(expr: &Expr) -> Option<String> {
    let name = path(expr)?;
    let name = name.strip_prefix("rg.").or_else(|| name.strip_prefix("retrograd."))?;
    let known = ["bool", "float16", "float32", "float64", "int8", "int16", "int32", "int64", "complex64", "complex128"];
    known.contains(&name).then(|| format!("DType::{}{}", name[..1].to_uppercase(), &name[1..]))
}

fn integers(list: &Expr) -> Option<Vec<String>> {
    let Expr::List(list) = list else { return None };
    let integer = |expr: &Expr| match expr {
        Expr::Number(n) if n.parse::<i64>().is_ok() => Some(n.clone()),
        _ => None,
    };
    list.iter().map(integer).collect()
}

#[derive(PartialEq)]
enum Kind {
    Bool,
    Integer,
    Float,
}

fn kind(flat: &[&Expr]) -> Option<Kind> {
    if flat.is_empty() {
        return None;
    }
    if flat.iter().all(|e| matches!(e, Expr::Bool(_))) {
        return Some(Kind::Bool);
    }
    let integer = |e: &&Expr| matches!(e, Expr::Number(n) if n.parse::<i64>().is_ok());
    Some(if flat.iter().all(integer) { Kind::Integer } else { Kind::Float })
}

fn flatten<'e>(expr: &'e Expr, out: &mut Vec<&'e Expr>) -> Option<()> {
    match expr {
        Expr::List(list) => list.iter().try_for_each(|expr| flatten(expr, out)),
        Expr::Number(_) | Expr::Bool(_) => {
            out.push(expr);
            Some(())
        }
        _ => None,
    }
}

/// Numbers or bools of one kind, the first with the type.
fn literals(flat: &[&Expr], ty: &str) -> Option<Vec<String>> {
    let kind = kind(flat)?;
    let literal = |(i, expr): (usize, &&Expr)| {
        let ty = if i == 0 { ty } else { "" };
        match (expr, &kind) {
            (Expr::Bool(b), Kind::Bool) => Some(b.to_string()),
            (Expr::Number(n), Kind::Float) if n.parse::<i64>().is_ok() && ty.is_empty() => Some(format!("{n}.0")),
            (Expr::Number(n), Kind::Float) if !ty.is_empty() => {
                Some(format!("{}{ty}", n.strip_suffix(".0").unwrap_or(n)))
            }
            (Expr::Number(n), _) => Some(format!("{n}{ty}")),
            _ => None,
        }
    };
    flat.iter().enumerate().map(literal).collect()
}

/// A tensor of literals; floats are float32, as of `rg.tensor`, unless they are `double`.
fn tensor_literal(values: &Expr, double: bool) -> Option<String> {
    let mut flat = Vec::new();
    flatten(values, &mut flat)?;
    let ty = match kind(&flat)? {
        Kind::Bool => "",
        Kind::Integer if double => return None,
        Kind::Integer => "i64",
        Kind::Float if double => "",
        Kind::Float => "f32",
    };
    let mut literals = literals(&flat, ty)?.into_iter();
    fn write(values: &Expr, literals: &mut impl Iterator<Item = String>) -> Option<String> {
        match values {
            Expr::List(list) if !list.is_empty() => {
                let parts: Option<Vec<String>> = list.iter().map(|part| write(part, literals)).collect();
                Some(format!("[{}]", parts?.join(", ")))
            }
            Expr::List(_) => None,
            _ => literals.next(),
        }
    }
    let text = write(values, &mut literals)?;
    Some(if text.starts_with('[') { format!("tensor!{text}") } else { format!("Tensor::from({text})") })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tensors_of_literals_have_the_dtype_that_python_gives_them() {
        let of = |text: &str| tensor_literal(&parse(text).unwrap(), false);
        assert_eq!(of("[[1.0, 2], [-3.5, 4.0]]").as_deref(), Some("tensor![[1f32, 2.0], [-3.5, 4.0]]"));
        assert_eq!(of("[1, 2]").as_deref(), Some("tensor![1i64, 2]"));
        assert_eq!(of("[True]").as_deref(), Some("tensor![true]"));
        assert_eq!(of("2.5").as_deref(), Some("Tensor::from(2.5f32)"));
        assert_eq!(of("[]"), None);
    }

    #[test]
    fn long_assertions_have_two_lines() {
        let value = format!("tensor![{}].sum().item::<f64>()?", ["1.0"; 8].join(", "));
        assert_eq!(compared(&value, "15.0").unwrap().len(), 1);
        let value = format!("tensor![{}].sum().item::<f64>()?", ["1.0"; 20].join(", "));
        assert_eq!(compared(&value, "20.0").unwrap()[1], "assert_eq!(y.item::<f64>()?, 20.0);");
    }

    #[test]
    fn a_third_of_the_ops_have_examples() {
        let ops = crate::ops();
        let found = ops.iter().filter(|op| lines(op, crate::write::file(op).1).is_some()).count();
        println!("{found} of {}", ops.len());
        assert!(3 * found > ops.len(), "{found} of {}", ops.len());
    }
}
