//! Parameters of ops as Rust spells them: their types, what the engine is given of them, and defaults.

use retrograd_engine::ops::Param;

use super::choices::variant;
use super::names::{CHOICES, CHOICES_OF, COUNTS, DIMS, SIGNED, SIGNED_OF};

/// A parameter in Rust.
pub struct Typed {
    pub name: String,
    /// As an argument: its type, and what the engine is given of it.
    pub argument: String,
    pub engine: String,
    /// As an option, if it may be one.
    pub option: Option<AsOption>,
    /// A type for which `argument` stands, where that is `impl Into<..>`; otherwise none.
    pub example: String,
}

pub struct AsOption {
    /// Of the field: its type, and the default.
    pub field: String,
    pub default: String,
    /// Of the setter: what it takes, and what it stores of that.
    pub given: String,
    pub stored: String,
    /// What the engine is given: of the field, and in place of the default.
    pub engine: String,
    pub engine_default: String,
}

impl AsOption {
    pub fn borrows(&self) -> bool {
        self.field.contains("'o")
    }
}

/// The name of a parameter or field in Rust.
pub fn ident(name: &str) -> String {
    match name.trim_matches('_') {
        "unsafe" => "unchecked".to_string(),
        name => name.to_lowercase(),
    }
}

fn choice(function: &str, param: &Param) -> Option<&'static str> {
    if let Some((.., choice)) = CHOICES_OF.iter().find(|(f, name, _)| *f == function && *name == param.name) {
        return Some(choice);
    }
    let fits = |default: &str| default == "*" || param.default == Some(default);
    CHOICES.iter().find(|(name, default, _)| *name == param.name && fits(default)).map(|(.., choice)| *choice)
}

/// Whether an integer of this name is never negative in this function.
fn is_count(function: &str, name: &str) -> bool {
    if SIGNED_OF.iter().any(|(f, n, _)| (*f, *n) == (function, name)) {
        return false;
    }
    let in_list = |list: &[(&str, &str)]| list.iter().any(|(n, _)| *n == name);
    match (in_list(COUNTS), in_list(SIGNED)) {
        (true, false) => true,
        (false, true) => false,
        (false, false) => {
            panic!("{function}: say in `COUNTS` or in `SIGNED` whether the integer {name} can be negative")
        }
        (true, true) => panic!("{name} is in `COUNTS` and in `SIGNED`"),
    }
}

/// A default that Python writes, in Rust.
fn number(text: &str, ty: &str) -> String {
    match (text, ty) {
        ("True", _) => "true".to_string(),
        ("False", _) => "false".to_string(),
        (_, "Scalar") if text.parse::<i64>().is_ok() => format!("Scalar::Int({text})"),
        (_, "Scalar") => format!("Scalar::Float({text})"),
        (_, "f64") if text.parse::<i64>().is_ok() => format!("{text}.0"),
        _ => text.to_string(),
    }
}

/// The integers of a default: `0`, `(-2, -1)`, `()`.
fn integers(text: &str) -> Vec<&str> {
    let inner = text.trim_start_matches('(').trim_end_matches(')');
    inner.split(',').map(str::trim).filter(|n| !n.is_empty()).collect()
}

fn some(text: &str, f: impl Fn(&str) -> String) -> String {
    if text == "None" { text.to_string() } else { format!("Some({})", f(text)) }
}

/// The parameter of the engine's function (its last two segments) in Rust. None if there is no form for it.
pub fn typed(function: &str, param: &Param, default: Option<&str>) -> Option<Typed> {
    let name = ident(param.name);
    let n = name.as_str();
    let inner = param.rust.strip_prefix("Option<").and_then(|t| t.strip_suffix('>'));
    let optional = inner.is_some();
    let option = |field: String, given: &str, stored: &str, engine: String, of: &dyn Fn(&str) -> (String, String)| {
        let (default, engine_default) = of(default?);
        Some(AsOption { field, default, given: given.to_string(), stored: stored.to_string(), engine, engine_default })
    };
    let o = format!("o.{n}");
    let typed = |argument: String, engine: String, example: &str, option: Option<AsOption>| {
        let example = if argument.starts_with("impl ") { example.to_string() } else { String::new() };
        Some(Typed { name: n.to_string(), argument, engine, option, example })
    };
    let maybe = |ty: &str| if optional { format!("Option<{ty}>") } else { ty.to_string() };
    let wrapped = |value: &str| if optional { format!("Some({value})") } else { value.to_string() };
    match inner.unwrap_or(param.rust) {
        "&Tensor" if format!("{:?}", param.kind) == "Operand" => {
            let none = |_: &str| ("None".to_string(), "None".to_string());
            let engine = format!("{o}.as_deref()");
            let as_option = option(
                "Option<Operand<'o>>".into(),
                "impl Into<Operand<'o>>",
                &format!("Some({n}.into())"),
                engine,
                &none,
            );
            typed("impl Into<Operand<'a>>".into(), format!("&as_operand({n})"), "&Tensor", as_option)
        }
        "&Tensor" if optional => {
            let none = |_: &str| ("None".to_string(), "None".to_string());
            let engine = format!("{o}.map(Tensor::engine)");
            let as_option = option("Option<&'o Tensor>".into(), "&'o Tensor", &format!("Some({n})"), engine, &none);
            typed("Option<&Tensor>".into(), format!("{n}.map(Tensor::engine)"), "Option<&Tensor>", as_option)
        }
        "&Tensor" => typed("&Tensor".into(), format!("{n}.engine()"), "&Tensor", None),
        "&Generator" => {
            let none = |_: &str| ("None".to_string(), "None".to_string());
            let as_option = option("Option<&'o Generator>".into(), "&'o Generator", &format!("Some({n})"), o, &none);
            typed("&Generator".into(), n.into(), "&Generator", as_option)
        }
        "Scalar" => {
            let value = |text: &str| {
                let value = if optional { some(text, |t| number(t, "Scalar")) } else { number(text, "Scalar") };
                (value.clone(), value)
            };
            let stored = wrapped(&format!("{n}.into()"));
            let as_option = option(maybe("Scalar"), "impl Into<Scalar>", &stored, o, &value);
            typed("impl Into<Scalar>".into(), wrapped(&format!("as_scalar({n})")), "f64", as_option)
        }
        ty @ ("bool" | "i64" | "f64" | "DType" | "Layout" | "MemoryFormat") => {
            let value = |text: &str| {
                let value = if optional { some(text, |t| number(t, ty)) } else { number(text, ty) };
                (value.clone(), value)
            };
            // The engine's integers are all signed. `usize` is what Rust counts in.
            let count = ty == "i64" && is_count(function, &name);
            let given = if count { "usize" } else { ty };
            let as_engine = if count { format!("as_count({n})") } else { n.to_string() };
            let as_option = option(maybe(ty), given, &wrapped(&as_engine), o, &value);
            let argument = if default.is_some() { given.to_string() } else { maybe(given) };
            let engine = match (default.is_some(), count && optional) {
                (true, _) => wrapped(&as_engine),
                (false, true) => format!("{n}.map(as_count)"),
                (false, false) => as_engine,
            };
            let example = argument.clone();
            typed(argument, engine, &example, as_option)
        }
        "&[i64]" => {
            let list = if DIMS.contains(&param.name) { "Dims" } else { "Shape" };
            let value = |text: &str| match (text, integers(text).as_slice()) {
                ("None", _) => ("None".to_string(), "None".to_string()),
                (_, []) => (wrapped(&format!("{list}::from(())")), wrapped("&[]")),
                (_, ints) => {
                    let ints = ints.join(", ");
                    let given = if text.starts_with('(') { format!("[{ints}]") } else { ints.clone() };
                    (wrapped(&format!("{list}::from({given})")), wrapped(&format!("&[{ints}]")))
                }
            };
            let stored = wrapped(&format!("{n}.into()"));
            let engine =
                if optional { format!("{o}.as_ref().map({list}::as_slice)") } else { format!("{o}.as_slice()") };
            let as_option = option(maybe(list), &format!("impl Into<{list}>"), &stored, engine, &value);
            let given = wrapped(&format!("as_{}({n}).as_slice()", list.to_lowercase()));
            typed(format!("impl Into<{list}>"), given, "i64", as_option)
        }
        "&[Option<i64>]" => typed("impl Into<OutputSize>".into(), format!("{n}.into().as_slice()"), "OutputSize", None),
        "&[f64]" => {
            let none = |_: &str| ("None".to_string(), "None".to_string());
            let engine = format!("{o}.as_ref().map(Floats::as_slice)");
            let as_option =
                option("Option<Floats>".into(), "impl Into<Floats>", &format!("Some({n}.into())"), engine, &none);
            typed("impl Into<Floats>".into(), format!("{n}.into().as_slice()"), "Floats", as_option)
        }
        "&[Tensor]" => typed("impl Into<Tensors<'a>>".into(), format!("{n}.into().engine()"), "&[Tensor]", None),
        "&str" if param.name == "equation" => typed("&str".into(), n.into(), "&str", None),
        "&str" => {
            let choice = choice(function, param)?;
            let value = |text: &str| match text {
                "None" => ("None".to_string(), "None".to_string()),
                _ => {
                    let text = text.trim_matches('\'');
                    let variant =
                        variant(choice, text).unwrap_or_else(|| panic!("{choice} has no variant for {text:?}"));
                    (wrapped(&variant), wrapped(&format!("{text:?}")))
                }
            };
            let engine = if optional { format!("{o}.map({choice}::name)") } else { format!("{o}.name()") };
            let as_option = option(maybe(choice), choice, &wrapped(n), engine, &value);
            typed(choice.into(), wrapped(&format!("{n}.name()")), choice, as_option)
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn defaults_are_written_in_rust() {
        assert_eq!(
            (number("2", "Scalar"), number("0.5", "Scalar")),
            ("Scalar::Int(2)".into(), "Scalar::Float(0.5)".into())
        );
        assert_eq!((number("2", "f64"), number("False", "bool")), ("2.0".into(), "false".into()));
        assert_eq!((integers("(-2, -1)"), integers("0"), integers("()")), (vec!["-2", "-1"], vec!["0"], vec![]));
        assert_eq!(
            (ident("UPLO"), ident("unsafe"), ident("from_")),
            ("uplo".into(), "unchecked".into(), "from".into())
        );
    }
}
