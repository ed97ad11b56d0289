//! `#[op]`: states the names, forms and parameters of an op. The function below it does the work.

mod autocast;
mod signature;

use proc_macro::TokenStream;
use proc_macro2::{Span, TokenStream as Tokens};
use quote::{ToTokens, format_ident, quote};
use syn::parse::{Parse, ParseStream};
use syn::punctuated::Punctuated;
use syn::{
    Attribute, Error, Expr, ExprLit, FnArg, Ident, ItemFn, Lit, LitStr, Meta, Pat, Result, Token, Type,
    parse_macro_input, parse_quote,
};

/// Turns a function into the entry of an op.
///
/// ```text
/// #[op(function, method, out, aliases("variance"), "(dim=None, *, correction=None, keepdim=False)")]
/// /// Documentation, shown in Python and Rust.
/// pub fn var(input: &Tensor, dim: Option<&[i64]>, correction: Option<Scalar>, keepdim: bool) -> Result<Tensor> { ... }
/// ```
///
/// Arguments: the forms (`function`, `method`, `inplace`, `out`; `out = SAME` or another `OutDtype` where that form
/// converts otherwise than by category), `module = "nn.functional"`, `name = "..."` where the Python name differs,
/// `aliases(..)`, `old("beta input mat1 mat2")` for orders of arguments that are still understood,
/// `fields("values", "indices")` for named results, `norust` for no Rust method. Last, where there are defaults or
/// keywords, the signature as Python writes it, from the first parameter on that has a default or is keyword only.
/// Parameters: `#[operand]` (a number is taken too), `#[size]` (takes separate integers, or separate tensors, too),
/// `#[options]` (a `TensorOptions`, which Python sees as its keywords).
///
/// It makes the function itself, the method on `Tensor` (and its in-place form, whose name ends in `_`), and a static
/// `Entry` named like the function in capitals. An op with an in-place form sees a variable `form` in its body. Errors
/// that leave the body name the op that was called, whatever it is composed of. What autocast does to its operands
/// follows from its name, by the table in `autocast.rs`.
#[proc_macro_attribute]
pub fn op(args: TokenStream, item: TokenStream) -> TokenStream {
    let args = parse_macro_input!(args with Punctuated::<Argument, Token![,]>::parse_terminated);
    let function = parse_macro_input!(item as ItemFn);
    expand(args, function).unwrap_or_else(Error::into_compile_error).into()
}

/// An argument of `#[op]`.
enum Argument {
    Signature(LitStr),
    Named(Box<Meta>),
}

impl Parse for Argument {
    fn parse(input: ParseStream<'_>) -> Result<Self> {
        if input.peek(LitStr) { input.parse().map(Self::Signature) } else { Ok(Self::Named(Box::new(input.parse()?))) }
    }
}

#[derive(Default)]
struct Options {
    forms: Vec<&'static str>,
    module: Option<String>,
    name: Option<String>,
    aliases: Vec<String>,
    fields: Vec<String>,
    old: Vec<String>,
    norust: bool,
    /// What the `out=` form does with another dtype.
    out: Option<Expr>,
    signature: Option<LitStr>,
}

impl Options {
    fn has(&self, form: &str) -> bool {
        self.forms.contains(&form)
    }
}

/// The text of a literal, or of the `concat!` and `stringify!` of a `macro_rules!` that lists ops.
fn text(e: &Expr) -> Result<String> {
    match e {
        Expr::Lit(ExprLit { lit: Lit::Str(s), .. }) => Ok(s.value()),
        // What a `macro_rules!` was given.
        Expr::Group(group) => text(&group.expr),
        Expr::Macro(call) if call.mac.path.is_ident("concat") => {
            let parts = call.mac.parse_body_with(Punctuated::<Expr, Token![,]>::parse_terminated)?;
            parts.iter().map(text).collect()
        }
        Expr::Macro(call) if call.mac.path.is_ident("stringify") => Ok(call.mac.tokens.to_string()),
        other => Err(Error::new_spanned(other, "expected a string")),
    }
}

fn options(args: Punctuated<Argument, Token![,]>) -> Result<Options> {
    let mut o = Options::default();
    for arg in args {
        let meta = match arg {
            Argument::Signature(signature) => {
                o.signature = Some(signature);
                continue;
            }
            Argument::Named(meta) => *meta,
        };
        let key = meta.path().require_ident()?.to_string();
        match (&meta, key.as_str()) {
            (Meta::Path(_), "function") => o.forms.push("function"),
            (Meta::Path(_), "method") => o.forms.push("method"),
            (Meta::Path(_), "inplace") => o.forms.push("inplace"),
            (Meta::Path(_), "out") => o.forms.push("out"),
            (Meta::NameValue(v), "out") => {
                o.forms.push("out");
                o.out = Some(v.value.clone());
            }
            (Meta::Path(_), "norust") => o.norust = true,
            (Meta::NameValue(v), "module") => o.module = Some(text(&v.value)?),
            (Meta::NameValue(v), "name") => o.name = Some(text(&v.value)?),
            (Meta::List(l), "aliases" | "fields" | "old") => {
                let list = l.parse_args_with(Punctuated::<Expr, Token![,]>::parse_terminated)?;
                let list = list.iter().map(text).collect::<Result<_>>()?;
                match key.as_str() {
                    "aliases" => o.aliases = list,
                    "fields" => o.fields = list,
                    _ => o.old = list,
                }
            }
            _ => return Err(Error::new_spanned(meta, "unknown argument of #[op]")),
        }
    }
    if o.forms.is_empty() {
        return Err(Error::new(Span::call_site(), "#[op] needs at least one of function, method, inplace"));
    }
    Ok(o)
}

struct Param {
    name: Ident,
    ty: Type,
    /// The default, as Python and as Rust write it.
    default: Option<(String, Tokens)>,
    kw_only: bool,
    operand: bool,
    size: bool,
    options: bool,
}

impl Param {
    fn python_name(&self) -> String {
        self.name.to_string().trim_start_matches("r#").to_string()
    }
    fn is_of(&self, ty: &str) -> bool {
        self.ty.to_token_stream().to_string() == ty
    }
    /// What the roster knows of it, and what gets its value from the arguments of a call from number `at` on.
    fn entry(&self, at: usize) -> (Vec<Tokens>, Tokens) {
        let (name, ty, kw_only) = (self.python_name(), elide(&self.ty), self.kw_only);
        if self.options {
            let listed = (0..OPTIONS).map(|i| quote!(::retrograd_engine::ops::TensorOptions::PARAMS[#i]));
            let end = at + OPTIONS;
            return (listed.collect(), quote!(::retrograd_engine::ops::TensorOptions::get(&args[#at..#end])?));
        }
        let kind = if self.operand {
            quote!(::retrograd_engine::ops::Kind::Operand)
        } else if self.size && self.is_of("& [Tensor]") {
            quote!(::retrograd_engine::ops::Kind::Varargs)
        } else if self.size {
            quote!(::retrograd_engine::ops::Kind::Size)
        } else {
            quote!(<#ty as ::retrograd_engine::ops::Arg>::KIND)
        };
        let (default, get) = match &self.default {
            Some((text, value)) => (
                quote!(Some(#text)),
                quote!(match &args[#at] { ::retrograd_engine::ops::Value::Default => #value, v => ::retrograd_engine::ops::Arg::get(v)? }),
            ),
            None => (quote!(None), quote!(::retrograd_engine::ops::Arg::get(&args[#at])?)),
        };
        let rust = spelled(&self.ty);
        let listed = quote!(::retrograd_engine::ops::Param {
            name: #name,
            kind: #kind,
            optional: <#ty as ::retrograd_engine::ops::Arg>::OPTIONAL,
            default: #default,
            kw_only: #kw_only,
            #[cfg(feature = "signatures")]
            rust: #rust,
        });
        (vec![listed], get)
    }
}

/// How many parameters `TensorOptions` is in Python: the length of its `PARAMS`.
const OPTIONS: usize = 5;

fn params(function: &mut ItemFn) -> Result<Vec<Param>> {
    function.sig.inputs.iter_mut().map(param).collect()
}

fn param(arg: &mut FnArg) -> Result<Param> {
    let FnArg::Typed(arg) = arg else {
        return Err(Error::new_spanned(arg, "ops take no self"));
    };
    let Pat::Ident(name) = &*arg.pat else {
        return Err(Error::new_spanned(&arg.pat, "a parameter needs a plain name"));
    };
    let (name, ty) = (name.ident.clone(), (*arg.ty).clone());
    let mut p = Param { name, ty, default: None, kw_only: false, operand: false, size: false, options: false };
    for attr in arg.attrs.drain(..) {
        let key = attr.path().require_ident()?.to_string();
        match key.as_str() {
            "operand" => p.operand = true,
            "size" => p.size = true,
            "options" => p.options = true,
            _ => return Err(Error::new_spanned(attr, "expected operand, size or options")),
        }
    }
    Ok(p)
}

fn doc_text(attrs: &[Attribute]) -> Result<String> {
    let mut lines = Vec::new();
    for attr in attrs {
        if let Meta::NameValue(v) = &attr.meta
            && v.path.is_ident("doc")
        {
            let line = text(&v.value)?;
            lines.push(line.strip_prefix(' ').unwrap_or(&line).to_string());
        }
    }
    Ok(lines.join("\n"))
}

/// The documentation as Rust shows it: Python's examples are set as plain text.
fn rust_doc(doc: &str) -> String {
    let mut lines = Vec::new();
    let mut in_example = false;
    for line in doc.lines() {
        if !in_example && line.starts_with(">>>") {
            in_example = true;
            lines.push("```text");
        } else if in_example && line.is_empty() {
            in_example = false;
            lines.push("```");
        }
        lines.push(line);
    }
    if in_example {
        lines.push("```");
    }
    lines.join("\n")
}

fn expand(args: Punctuated<Argument, Token![,]>, mut function: ItemFn) -> Result<Tokens> {
    let o = options(args)?;
    let mut ps = params(&mut function)?;
    let name = function.sig.ident.clone();
    if let Some(signature) = &o.signature {
        signature::apply(signature, &name, &mut ps)?;
    }
    let entry = format_ident!("{}", name.to_string().to_uppercase());
    let worker = if o.has("inplace") { format_ident!("{name}_as") } else { name.clone() };
    let doc = doc_text(&function.attrs)?;
    if doc.is_empty() {
        return Err(Error::new(name.span(), "an op needs documentation"));
    }
    let shown = rust_doc(&doc);
    function.attrs.retain(|a| !a.path().is_ident("doc"));
    function.attrs.insert(0, syn::parse_quote!(#[doc = #shown]));
    let attrs = function.attrs.clone();
    let docs: Vec<&Attribute> = attrs.iter().filter(|a| a.path().is_ident("doc")).collect();
    let inputs = &function.sig.inputs;
    let ret = &function.sig.output;
    let names: Vec<&Ident> = ps.iter().map(|p| &p.name).collect();
    let python_name = o.name.clone().unwrap_or_else(|| name.to_string().trim_start_matches("r#").to_string());
    // Those of these modules have its name before theirs in torch.
    let profiled = match o.module.as_deref() {
        Some(module @ ("linalg" | "special" | "fft" | "masked" | "sparse")) => format!("{module}_{python_name}"),
        _ => python_name.clone(),
    };
    let policy = autocast::policy(&profiled).map(|policy| format_ident!("{policy}"));
    let policy = policy.map(|policy| quote!(::retrograd_engine::autocast::Policy::#policy));
    let converting = policy.as_ref().map(|policy| converting(policy, &worker, &ps, o.has("inplace")));
    let named = entered(&function, &python_name, &profiled, &ps, o.has("inplace"), converting.as_ref());

    // The function, in the form(s) it has.
    let functions = if o.has("inplace") {
        let mut as_fn = named;
        as_fn.attrs.retain(|a| !a.path().is_ident("doc"));
        as_fn.sig.ident = worker.clone();
        as_fn.sig.inputs.insert(0, syn::parse_quote!(form: ::retrograd_engine::ops::Form));
        quote! {
            #(#attrs)*
            #[allow(clippy::too_many_arguments)]
            #[inline]
            pub fn #name(#inputs) #ret { #worker(::retrograd_engine::ops::Form::New, #(#names),*) }
            #[doc(hidden)]
            #[allow(clippy::too_many_arguments)]
            #as_fn
        }
    } else {
        quote!(#[allow(clippy::too_many_arguments)] #named)
    };

    // The methods.
    let takes_tensor = ps.first().is_some_and(|p| p.is_of("& Tensor"));
    let methods = if (o.has("method") || o.has("inplace")) && !o.norust && takes_tensor {
        let rest: Vec<Tokens> = ps[1..]
            .iter()
            .map(|p| {
                let (n, t) = (&p.name, &p.ty);
                quote!(#n: #t)
            })
            .collect();
        let rest_names = &names[1..];
        let plain = o.has("method").then(|| {
            quote! { #(#docs)* #[inline] #[allow(clippy::too_many_arguments)] pub fn #name(&self, #(#rest),*) #ret { #name(self, #(#rest_names),*) } }
        });
        let inplace = o.has("inplace").then(|| {
            let method = format_ident!("{name}_");
            let text = format!("In-place form of [`Tensor::{name}`]: writes the result to `self`.");
            quote! {
                #[doc = #text]
                #[allow(clippy::too_many_arguments)]
                #[inline]
                pub fn #method(&self, #(#rest),*) #ret { #worker(::retrograd_engine::ops::Form::InPlace, self, #(#rest_names),*) }
            }
        });
        quote!(impl ::retrograd_engine::Tensor { #plain #inplace })
    } else {
        Tokens::new()
    };

    // The entry.
    let module = o.module.clone().unwrap_or_default();
    let (aliases, fields, old) = (&o.aliases, &o.fields, &o.old);
    let forms = o.forms.iter().map(|f| format_ident!("{}", f.to_uppercase()));
    let (mut listed, mut gets) = (Vec::new(), Vec::new());
    for p in &ps {
        let (params, get) = p.entry(listed.len());
        listed.extend(params);
        gets.push(get);
    }
    let form_arg = o.has("inplace").then(|| quote!(form,));
    let form_name = if o.has("inplace") { quote!(form) } else { quote!(_form) };
    let returns = match ret {
        syn::ReturnType::Type(_, t) => spelled(t),
        syn::ReturnType::Default => String::new(),
    };
    let rust_name = name.to_string();
    let out = o.out.as_ref().map_or_else(|| quote!(OutDtype::Cast), |e| quote!(#e));
    let policy_entry = policy.map_or_else(|| quote!(None), |policy| quote!(Some(#policy)));
    let direct =
        if returns == "Result<Tensor>" { direct(&ps, &worker, o.has("inplace")) } else { quote!(Direct::NONE) };
    let entry_doc = format!("Entry of `{python_name}` in the roster.");
    Ok(quote! {
        #functions
        #methods
        #[doc = #entry_doc]
        pub static #entry: ::retrograd_engine::ops::Entry = {
            fn call(#form_name: ::retrograd_engine::ops::Form, args: &[::retrograd_engine::ops::Value]) -> ::retrograd_engine::Result<::retrograd_engine::ops::Value> {
                #worker(#form_arg #(#gets),*).map(|r| ::retrograd_engine::ops::IntoValue::into_value(r, &[#(#fields),*]))
            }
            ::retrograd_engine::ops::Entry {
                name: #python_name,
                module: #module,
                aliases: &[#(#aliases),*],
                doc: #doc,
                params: &[#(#listed),*],
                old: &[#(#old),*],
                forms: 0 #(| ::retrograd_engine::ops::forms::#forms)*,
                out: {
                    #[allow(unused_imports)]
                    use ::retrograd_engine::ops::out_dtype::*;
                    #out
                },
                fields: &[#(#fields),*],
                autocast: #policy_entry,
                returns: #returns,
                #[cfg(feature = "signatures")]
                rust: concat!(module_path!(), "::", #rust_name),
                call,
                direct: {
                    use ::retrograd_engine::ops::{Direct, DirectInts};
                    #direct
                },
            }
        };
    })
}

/// The `Direct` of an op that returns a tensor: which calls it has follows from the types of its parameters.
fn direct(params: &[Param], worker: &Ident, inplace: bool) -> Tokens {
    let Some((first, rest)) = params.split_first().filter(|(first, _)| first.is_of("& Tensor")) else {
        return quote!(Direct::NONE);
    };
    debug_assert!(first.default.is_none());
    let form = inplace.then(|| quote!(form,));
    // The defaults from a parameter on, if all have one.
    let defaults = |from: usize| -> Option<Vec<&Tokens>> {
        rest.get(from..)?.iter().map(|p| p.default.as_ref().map(|(_, value)| value)).collect()
    };
    let call = |parameter: Tokens, given: &[Tokens], defaults: Vec<&Tokens>| {
        let name = if inplace { quote!(form) } else { quote!(_form) };
        quote!(|#name, x #parameter| #worker(#form x, #(#given,)* #(#defaults),*))
    };
    let some = |value: Option<Tokens>| value.map_or_else(|| quote!(None), |value| quote!(Some(#value)));
    let one = some(defaults(0).map(|d| call(quote!(), &[], d)));
    let second = rest.first().filter(|p| !p.kw_only && p.default.is_none());
    let two = second.filter(|p| p.is_of("& Tensor")).and_then(|_| defaults(1));
    let two = some(two.map(|d| call(quote!(, y), &[quote!(y)], d)));
    // One list of integers, or as many separate ones as there are parameters for one.
    let list = rest.first().filter(|p| !p.kw_only).and_then(|p| match p.ty.to_token_stream().to_string().as_str() {
        "& [i64]" => Some((quote!(ints), p.size)),
        "Option < & [i64] >" => Some((quote!(Some(ints)), p.size)),
        _ => None,
    });
    let number = |(i, p): (usize, &Param)| {
        let given = match p.ty.to_token_stream().to_string().as_str() {
            _ if p.kw_only => None,
            "i64" => Some(quote!(n)),
            "Option < i64 >" => Some(quote!(Some(n))),
            _ => None,
        }?;
        let missing = p.default.as_ref().map_or_else(|| quote!(::core::unreachable!()), |(_, value)| quote!(#value));
        Some(quote!(match ints.get(#i) { Some(&n) => #given, None => #missing }))
    };
    let numbers: Vec<Tokens> = rest.iter().enumerate().map_while(number).collect();
    let ints = match list {
        Some((given, separate)) => defaults(1).map(|d| {
            let call = call(quote!(, ints), &[given], d);
            let most = if separate { quote!(usize::MAX) } else { quote!(1) };
            quote!(DirectInts { call: #call, fewest: 1, most: #most, list: true })
        }),
        None if !numbers.is_empty() => defaults(numbers.len()).map(|d| {
            let most = numbers.len();
            let fewest = rest[..most].iter().filter(|p| p.default.is_none()).count();
            let call = call(quote!(, ints), &numbers, d);
            quote!(DirectInts { call: #call, fewest: #fewest, most: #most, list: false })
        }),
        None => None,
    };
    let ints = some(ints);
    quote!(Direct { one: #one, two: #two, ints: #ints })
}

/// The function, which says when it begins and ends (`retrograd_engine::profiler::op`, as `profiled`), with errors that
/// carry its own name: `linear`, not the `mm` it runs.
fn entered(
    function: &ItemFn,
    name: &str,
    profiled: &str,
    params: &[Param],
    inplace: bool,
    converting: Option<&Tokens>,
) -> ItemFn {
    let (ret, block) = (&function.sig.output, &function.block);
    let (called, in_place) = if inplace {
        let inplace_name = format!("{name}_");
        let in_place = quote!(form == ::retrograd_engine::ops::Form::InPlace);
        (quote!(if #in_place { #inplace_name } else { #name }), in_place)
    } else {
        (quote!(#name), quote!(false))
    };
    let args = params.iter().filter(|p| !p.options).map(|p| {
        let (name, value) = (p.python_name(), &p.name);
        quote!((#name, ::retrograd_engine::ops::Arg::note(&#value)))
    });
    let block = parse_quote!({
        let _op = ::retrograd_engine::profiler::op(#profiled, #in_place, || ::std::vec![#(#args),*]);
        #converting
        #[allow(clippy::redundant_closure_call)]
        (move || #ret #block)().map_err(|e| e.named(#called))
    });
    ItemFn { block, ..function.clone() }
}

/// In a region of autocast: calls the function again, on converted operands. Only forms that make a new result do.
fn converting(policy: &Tokens, worker: &Ident, params: &[Param], inplace: bool) -> Tokens {
    let (mut given, mut args) = (Vec::new(), Vec::new());
    for p in params {
        let (name, at) = (&p.name, given.len());
        let (operands, arg) = match p.ty.to_token_stream().to_string().as_str() {
            "& Tensor" => (quote!(::std::slice::from_ref(#name)), quote!(&operands[#at][0])),
            "Option < & Tensor >" => (quote!(#name.map_or(&[], ::std::slice::from_ref)), quote!(operands[#at].first())),
            "& [Tensor]" => (quote!(#name), quote!(&operands[#at])),
            _ => {
                args.push(quote!(#name));
                continue;
            }
        };
        given.push(operands);
        args.push(arg);
    }
    let is_new = inplace.then(|| quote!(form == ::retrograd_engine::ops::Form::New &&));
    let form = inplace.then(|| quote!(form,));
    quote! {
        if #is_new _op.autocasts() {
            let (operands, _below) = ::retrograd_engine::autocast::at_entry(#policy, &[#(#given),*])?;
            return #worker(#form #(#args),*);
        }
    }
}

/// The type as text, without spaces.
fn spelled(ty: &Type) -> String {
    ty.to_token_stream().to_string().replace(' ', "")
}

/// The type with `'static` for every elided lifetime, as a static needs it.
fn elide(ty: &Type) -> Tokens {
    fn walk(tokens: Tokens, out: &mut Vec<proc_macro2::TokenTree>) {
        use proc_macro2::{Group, TokenTree};
        for t in tokens {
            match t {
                TokenTree::Punct(p) if p.as_char() == '&' => {
                    out.push(TokenTree::Punct(p));
                    out.extend(quote!('static));
                }
                TokenTree::Group(g) => {
                    let mut inner = Vec::new();
                    walk(g.stream(), &mut inner);
                    out.push(TokenTree::Group(Group::new(g.delimiter(), inner.into_iter().collect())));
                }
                other => out.push(other),
            }
        }
    }
    let mut out = Vec::new();
    walk(ty.to_token_stream(), &mut out);
    out.into_iter().collect()
}
