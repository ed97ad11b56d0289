//! The derive of `Tree`.

use proc_macro2::{TokenStream, TokenTree};
use quote::{format_ident, quote};
use syn::{Attribute, Data, DeriveInput, Error, Field, Fields, Ident, Result, Type, WhereClause, parse_quote};

pub(crate) fn derive(input: &DeriveInput) -> Result<TokenStream> {
    let name = &input.ident;
    let cases = match &input.data {
        Data::Struct(data) => vec![Case::of(quote!(Self), name.to_string(), &data.fields)?],
        Data::Enum(data) => data
            .variants
            .iter()
            .map(|variant| {
                let ident = &variant.ident;
                Case::of(quote!(Self::#ident), format!("{name}::{ident}"), &variant.fields)
            })
            .collect::<Result<_>>()?,
        Data::Union(_) => {
            return Err(Error::new_spanned(name, "a union cannot be a tree: which of its fields holds is not known"));
        }
    };
    if cases.is_empty() {
        return Err(Error::new_spanned(name, "an enum without variants has no value, and cannot be a tree"));
    }

    let (impl_generics, type_generics, _) = input.generics.split_for_impl();
    let bounds = bounds(input, &cases);
    let (visit, map, each, structure) = (
        cases.iter().map(Case::visit),
        cases.iter().map(Case::map),
        cases.iter().map(Case::each),
        cases.iter().map(Case::structure),
    );
    Ok(quote! {
        #[automatically_derived]
        impl #impl_generics ::retrograd::Tree for #name #type_generics #bounds {
            type Each<__T> = ::std::vec::Vec<__T>;

            fn visit_tensors<'__a>(&'__a self, __see: &mut dyn ::core::ops::FnMut(&'__a ::retrograd::Tensor)) {
                match self { #(#visit)* }
            }
            fn map_tensors(
                &self,
                __make: &mut dyn ::core::ops::FnMut(&::retrograd::Tensor) -> ::retrograd::Result<::retrograd::Tensor>,
            ) -> ::retrograd::Result<Self> {
                ::core::result::Result::Ok(match self { #(#map)* })
            }
            fn each_tensor<__T>(
                &self,
                __make: &mut dyn ::core::ops::FnMut(&::retrograd::Tensor) -> ::retrograd::Result<__T>,
            ) -> ::retrograd::Result<::std::vec::Vec<__T>> {
                let mut __all = ::std::vec::Vec::new();
                match self { #(#each)* }
                ::core::result::Result::Ok(__all)
            }
            fn structure(&self) -> ::retrograd::Structure {
                match self { #(#structure)* }
            }
        }
    })
}

/// A field of a struct or of a variant.
struct Part<'a> {
    /// Its name, or its number.
    member: syn::Member,
    /// What a pattern binds it to.
    bound: Ident,
    ty: &'a Type,
    skip: bool,
}

/// A struct, or a variant of an enum.
struct Case<'a> {
    path: TokenStream,
    name: String,
    has_names: bool,
    parts: Vec<Part<'a>>,
}

impl<'a> Case<'a> {
    fn of(path: TokenStream, name: String, fields: &'a Fields) -> Result<Self> {
        let part = |(i, field): (usize, &'a Field)| {
            let member = match &field.ident {
                Some(ident) => syn::Member::Named(ident.clone()),
                None => syn::Member::Unnamed(i.into()),
            };
            Ok(Part { member, bound: format_ident!("__{i}"), ty: &field.ty, skip: is_skipped(&field.attrs)? })
        };
        let parts = fields.iter().enumerate().map(part).collect::<Result<_>>()?;
        Ok(Self { path, name, has_names: matches!(fields, Fields::Named(_)), parts })
    }

    fn seen(&self) -> impl Iterator<Item = &Part<'a>> {
        self.parts.iter().filter(|part| !part.skip)
    }

    fn pattern(&self, with_skipped: bool) -> TokenStream {
        let path = &self.path;
        let parts = self.parts.iter().filter(|part| with_skipped || !part.skip).map(|part| {
            let (member, bound) = (&part.member, &part.bound);
            quote!(#member: #bound)
        });
        quote!(#path { #(#parts,)* .. })
    }

    fn visit(&self) -> TokenStream {
        let (pattern, bound) = (self.pattern(false), self.seen().map(|part| &part.bound));
        quote!(#pattern => { #(::retrograd::Tree::visit_tensors(#bound, __see);)* })
    }

    fn map(&self) -> TokenStream {
        let (pattern, path) = (self.pattern(true), &self.path);
        let parts = self.parts.iter().map(|part| {
            let (member, bound) = (&part.member, &part.bound);
            match part.skip {
                true => quote!(#member: ::core::clone::Clone::clone(#bound)),
                false => quote!(#member: ::retrograd::Tree::map_tensors(#bound, __make)?),
            }
        });
        quote!(#pattern => #path { #(#parts,)* },)
    }

    fn each(&self) -> TokenStream {
        let (pattern, bound) = (self.pattern(false), self.seen().map(|part| &part.bound));
        // Each part is first listed: a part's own form may be another than a `Vec`.
        quote!(#pattern => {
            let mut __found: ::std::vec::Vec<&::retrograd::Tensor> = ::std::vec::Vec::new();
            #(::retrograd::Tree::visit_tensors(#bound, &mut |__t| __found.push(__t));)*
            for __t in __found {
                __all.push(__make(__t)?);
            }
        })
    }

    fn structure(&self) -> TokenStream {
        let (pattern, name) = (self.pattern(false), &self.name);
        let parts = self.seen().map(|part| {
            let (bound, label) = (&part.bound, member_name(&part.member));
            match self.has_names {
                true => quote!((#label, ::retrograd::Tree::structure(#bound))),
                false => quote!(::retrograd::Tree::structure(#bound)),
            }
        });
        match self.has_names {
            true => quote!(#pattern => ::retrograd::Structure::fields(#name, [#(#parts),*]),),
            false => quote!(#pattern => ::retrograd::Structure::tuple(#name, [#(#parts),*]),),
        }
    }
}

fn member_name(member: &syn::Member) -> String {
    match member {
        syn::Member::Named(ident) => ident.to_string().trim_start_matches("r#").to_owned(),
        syn::Member::Unnamed(index) => index.index.to_string(),
    }
}

/// Whether a field is marked `#[tree(skip)]`.
fn is_skipped(attributes: &[Attribute]) -> Result<bool> {
    let mut skip = false;
    for attribute in attributes.iter().filter(|attribute| attribute.path().is_ident("tree")) {
        attribute.parse_nested_meta(|meta| {
            if meta.path.is_ident("skip") {
                skip = true;
                return Ok(());
            }
            Err(meta.error("expected `skip`, as in #[tree(skip)]"))
        })?;
    }
    Ok(skip)
}

/// The bounds of the type, and that fields whose types have a parameter are trees, or can be cloned.
fn bounds(input: &DeriveInput, cases: &[Case]) -> Option<WhereClause> {
    let mut generics = input.generics.clone();
    let parameters: Vec<&Ident> = input.generics.type_params().map(|p| &p.ident).collect();
    if !parameters.is_empty() {
        let clause = generics.make_where_clause();
        for part in cases.iter().flat_map(|case| &case.parts) {
            let ty = part.ty;
            if !names_one_of(quote!(#ty), &parameters) {
                continue;
            }
            clause.predicates.push(match part.skip {
                true => parse_quote!(#ty: ::core::clone::Clone),
                false => parse_quote!(#ty: ::retrograd::Tree),
            });
        }
    }
    generics.where_clause
}

fn names_one_of(tokens: TokenStream, parameters: &[&Ident]) -> bool {
    tokens.into_iter().any(|token| match token {
        TokenTree::Ident(ident) => parameters.contains(&&ident),
        TokenTree::Group(group) => names_one_of(group.stream(), parameters),
        _ => false,
    })
}
