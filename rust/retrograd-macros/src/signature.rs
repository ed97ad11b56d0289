//! Signatures as Python writes them, `"(dim=None, *, keepdim=False)"`, and the defaults in them as Rust values.

use proc_macro2::TokenStream as Tokens;
use quote::{ToTokens, quote};
use syn::{Error, Expr, GenericArgument, Ident, LitStr, PathArguments, Result, Type};

use crate::Param;

/// A parameter as a signature names it.
#[derive(PartialEq, Eq, Debug)]
struct Named<'a> {
    name: &'a str,
    default: Option<&'a str>,
    kw_only: bool,
}

/// What the signature of `function` says of its parameters goes into them. It begins with the first parameter that has
/// a default or is keyword only: those before are in the function, as are options, which speak for themselves.
pub fn apply(signature: &LitStr, function: &Ident, params: &mut [Param]) -> Result<()> {
    let text = signature.value();
    let refuse = |detail: String| Error::new(signature.span(), format!("the signature of `{function}`: {detail}"));
    let named = parse(&text).map_err(refuse)?;
    let Some(first) = named.first() else {
        return Err(refuse("it is empty; leave it out where nothing has a default or is keyword only".into()));
    };
    if first.default.is_none() && !first.kw_only {
        return Err(refuse(format!("`{}` is required: begin behind it", first.name)));
    }
    let mut listed: Vec<&mut Param> = params.iter_mut().filter(|p| !p.options).collect();
    let Some(start) = listed.iter().position(|p| p.python_name() == first.name) else {
        return Err(refuse(format!("the function has no parameter `{}`", first.name)));
    };
    for (i, named) in named.iter().enumerate() {
        let name = named.name;
        let Some(param) = listed.get_mut(start + i).filter(|p| p.python_name() == name) else {
            let elsewhere = listed.iter().any(|p| p.python_name() == name);
            return Err(refuse(match listed.get(start + i) {
                Some(p) if elsewhere => format!("`{name}` stands where the function has `{}`", p.python_name()),
                None if elsewhere => format!("`{name}` stands behind the function's last parameter"),
                _ => format!("the function has no parameter `{name}`"),
            }));
        };
        param.kw_only = named.kw_only;
        if let Some(text) = named.default {
            let Some(value) = rust_value(&param.ty, text) else {
                let ty = param.ty.to_token_stream();
                return Err(refuse(format!("`{text}`, the default of `{name}`, is no value of its type `{ty}`")));
            };
            param.default = Some((text.to_string(), value));
        } else if !named.kw_only {
            return Err(refuse(format!("`{name}` has no default, but one before it has")));
        }
    }
    match listed.get(start + named.len()) {
        Some(p) => Err(refuse(format!("it ends before `{}`", p.python_name()))),
        None => Ok(()),
    }
}

fn parse(text: &str) -> std::result::Result<Vec<Named<'_>>, String> {
    let inner = text.strip_prefix('(').and_then(|s| s.strip_suffix(')')).ok_or("it lacks its parentheses")?;
    let (mut named, mut kw_only) = (Vec::new(), false);
    for item in items(inner) {
        if item == "*" && !kw_only {
            kw_only = true;
            continue;
        }
        let (name, default) = match item.split_once('=') {
            Some((name, default)) => (name, Some(default)),
            None => (item, None),
        };
        if name.is_empty() || !name.chars().all(|c| c.is_alphanumeric() || c == '_') {
            return Err(format!("`{item}` is no parameter"));
        }
        if named.iter().any(|n: &Named<'_>| n.name == name) {
            return Err(format!("`{name}` is in it twice"));
        }
        named.push(Named { name, default, kw_only });
    }
    Ok(named)
}

/// The parts between commas that are in no parentheses.
fn items(text: &str) -> Vec<&str> {
    let mut depth = 0;
    text.split(|c| {
        depth += i32::from(c == '(') - i32::from(c == ')');
        c == ',' && depth == 0
    })
    .map(str::trim)
    .filter(|item| !item.is_empty())
    .collect()
}

/// A value of type `ty` that Python writes as `text`.
fn rust_value(ty: &Type, text: &str) -> Option<Tokens> {
    let integer = || text.parse::<i64>().ok().and_then(|_| syn::parse_str::<Expr>(text).ok());
    let float = || {
        let text = if integer().is_some() { format!("{text}.0") } else { text.to_string() };
        text.parse::<f64>().ok().and_then(|_| syn::parse_str::<Expr>(&text).ok())
    };
    match ty {
        // What a `macro_rules!` was given.
        Type::Group(group) => rust_value(&group.elem, text),
        Type::Path(path) => {
            let last = path.path.segments.last()?;
            match (last.ident.to_string().as_str(), text) {
                ("Option", "None") => Some(quote!(None)),
                ("Option", _) => {
                    let PathArguments::AngleBracketed(args) = &last.arguments else { return None };
                    let Some(GenericArgument::Type(inner)) = args.args.first() else { return None };
                    let inner = rust_value(inner, text)?;
                    Some(quote!(Some(#inner)))
                }
                ("bool", "True") => Some(quote!(true)),
                ("bool", "False") => Some(quote!(false)),
                ("i64", _) => integer().map(|n| quote!(#n)),
                ("f64", _) => float().map(|x| quote!(#x)),
                ("Scalar", _) => match integer() {
                    Some(n) => Some(quote!(::retrograd_engine::Scalar::Int(#n))),
                    None => float().map(|x| quote!(::retrograd_engine::Scalar::Float(#x))),
                },
                _ => None,
            }
        }
        Type::Reference(reference) => match &*reference.elem {
            Type::Path(path) if path.path.is_ident("str") => {
                let inner = text.strip_prefix('\'')?.strip_suffix('\'')?;
                Some(quote!(#inner))
            }
            // A number means a list of that number alone.
            Type::Slice(slice) => {
                let list = text.strip_prefix('(').and_then(|s| s.strip_suffix(')')).unwrap_or(text);
                let values = items(list).into_iter().map(|item| rust_value(&slice.elem, item));
                let values: Vec<Tokens> = values.collect::<Option<_>>()?;
                Some(quote!(&[#(#values),*]))
            }
            _ => None,
        },
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use syn::{ItemFn, parse_quote};

    use super::*;
    use crate::params;

    /// What a signature says of the parameters of a function: their names with `*` for keyword only, and Rust defaults.
    fn applied(signature: &str, mut function: ItemFn) -> std::result::Result<Vec<String>, String> {
        let mut ps = params(&mut function).map_err(|e| e.to_string())?;
        let signature = LitStr::new(signature, proc_macro2::Span::call_site());
        apply(&signature, &function.sig.ident, &mut ps).map_err(|e| e.to_string())?;
        let shown = |p: &Param| {
            let default = p.default.as_ref().map_or(String::new(), |(text, value)| format!(" = {text}: {value}"));
            format!("{}{}{default}", if p.kw_only { "*" } else { "" }, p.name)
        };
        Ok(ps.iter().map(shown).collect())
    }

    #[test]
    fn names_get_their_defaults_and_what_follows_a_star_is_keyword_only() {
        let f = parse_quote!(
            fn f(input: &Tensor, dim: Option<&[i64]>, #[options] o: TensorOptions, r#in: Scalar, keepdim: bool) {}
        );
        let signature = "(dim=None, *, in=0.5, keepdim=False)";
        let want = ["input", "dim = None: None", "o", "*r#in = 0.5: :: retrograd_engine :: Scalar :: Float (0.5)"];
        assert_eq!(applied(signature, f).unwrap(), [&want[..], &["*keepdim = False: false"]].concat());
        let f = parse_quote!(
            fn f(x: &Tensor, size: &[i64]) {}
        );
        assert_eq!(applied("(*, x, size=(2, 3))", f).unwrap(), ["*x", "*size = (2, 3): & [2 , 3]"]);
    }

    #[test]
    fn defaults_are_values_of_their_types() {
        let value = |ty: Type, text: &str| rust_value(&ty, text).map(|v| v.to_string());
        let some = |text: &str| Some(text.to_string());
        assert_eq!(value(parse_quote!(i64), "-1"), some("- 1"));
        assert_eq!(value(parse_quote!(f64), "2"), some("2.0"));
        assert_eq!(value(parse_quote!(f64), "1e-05"), some("1e-05"));
        assert_eq!(value(parse_quote!(Scalar), "1"), some(":: retrograd_engine :: Scalar :: Int (1)"));
        assert_eq!(value(parse_quote!(&str), "'mean'"), some("\"mean\""));
        assert_eq!(value(parse_quote!(Option<bool>), "True"), some("Some (true)"));
        assert_eq!(value(parse_quote!(&[i64]), "0"), some("& [0]"));
        assert_eq!(value(parse_quote!(&[i64]), "()"), some("& []"));
        for (ty, text) in [("i64", "None"), ("i64", "1.5"), ("bool", "0"), ("&str", "mean"), ("&[i64]", "(1, a)")] {
            assert_eq!(value(syn::parse_str(ty).unwrap(), text), None, "{ty} = {text}");
        }
    }

    #[test]
    fn what_does_not_fit_the_function_is_named() {
        for (signature, says) in [
            ("(axis=None)", "the function has no parameter `axis`"),
            ("(dim=None, *, axis=1)", "the function has no parameter `axis`"),
            ("(dim=None, *, step=1, keepdim=False)", "`step` stands where the function has `keepdim`"),
            ("(keepdim=False, step=1, dim=None)", "`dim` stands behind the function's last parameter"),
            ("(dim=None, keepdim=False)", "it ends before `step`"),
            ("(input, dim=None, keepdim=False, step=1)", "`input` is required: begin behind it"),
            ("(dim=None, keepdim, step=1)", "`keepdim` has no default, but one before it has"),
            ("(dim=None, keepdim=0, step=1)", "`0`, the default of `keepdim`, is no value of its type `bool`"),
            ("(dim=None, dim=None)", "`dim` is in it twice"),
            ("(dim=None, **rest)", "`**rest` is no parameter"),
            ("dim=None", "it lacks its parentheses"),
            ("()", "it is empty"),
        ] {
            let f = parse_quote!(
                fn var(input: &Tensor, dim: Option<i64>, keepdim: bool, step: i64) {}
            );
            let error = applied(signature, f).unwrap_err();
            assert!(error.contains(says) && error.contains("`var`"), "{signature}: {error}");
        }
    }
}
