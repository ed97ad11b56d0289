//! The derive of `Module`.

use proc_macro2::{TokenStream, TokenTree};
use quote::{ToTokens, quote, quote_spanned};
use syn::ext::IdentExt;
use syn::spanned::Spanned;
use syn::{
    Attribute, Data, DataStruct as Struct, DeriveInput, Error, Field, Fields, Ident, Member, Result, Type, parse_quote,
};

/// What becomes of a field.
#[derive(Clone, Copy, PartialEq)]
enum Role {
    Field,
    Buffer,
    Skip,
}

fn role(attributes: &[Attribute]) -> Result<Role> {
    let mut role = None;
    for attribute in attributes.iter().filter(|a| a.path().is_ident("module")) {
        attribute.parse_nested_meta(|meta| {
            let found = match () {
                () if meta.path.is_ident("buffer") => Role::Buffer,
                () if meta.path.is_ident("skip") => Role::Skip,
                () => return Err(meta.error("expected `buffer` or `skip`")),
            };
            if role.replace(found).is_some() {
                return Err(meta.error("a field is `buffer` or `skip`, once"));
            }
            Ok(())
        })?;
    }
    Ok(role.unwrap_or(Role::Field))
}

/// The calls that show the fields to a visitor.
fn calls(fields: &Fields) -> Result<Vec<TokenStream>> {
    let mut calls = Vec::new();
    for (i, field) in fields.iter().enumerate() {
        let (name, member) = match &field.ident {
            // A raw identifier is called by its plain name.
            Some(ident) => (ident.unraw().to_string(), Member::Named(ident.clone())),
            None => (i.to_string(), Member::Unnamed(i.into())),
        };
        let span = field.ty.span();
        match role(&field.attrs)? {
            Role::Field => calls.push(quote_spanned!(span=> visitor.field(#name, &self.#member);)),
            Role::Buffer => calls.push(quote_spanned!(span=> visitor.buffer(#name, &self.#member);)),
            Role::Skip => {}
        }
    }
    Ok(calls)
}

/// Whether a field that is shown has values of a type parameter: those of `PhantomData` are none.
fn shows(field: &Field, parameter: &Ident) -> bool {
    fn names(tokens: TokenStream, parameter: &Ident) -> bool {
        tokens.into_iter().any(|token| match token {
            TokenTree::Ident(ident) => ident == *parameter,
            TokenTree::Group(group) => names(group.stream(), parameter),
            _ => false,
        })
    }
    let ty = &field.ty;
    let is_phantom = match ty {
        Type::Path(path) => path.path.segments.last().is_some_and(|last| last.ident == "PhantomData"),
        _ => false,
    };
    !is_phantom && role(&field.attrs).is_ok_and(|role| role != Role::Skip) && names(ty.to_token_stream(), parameter)
}

pub(crate) fn derive(input: &DeriveInput) -> Result<TokenStream> {
    if let Some(attribute) = input.attrs.iter().find(|a| a.path().is_ident("module")) {
        return Err(Error::new_spanned(attribute, "`#[module(..)]` belongs on a field"));
    }
    let Data::Struct(Struct { fields, .. }) = &input.data else {
        let advice = "`Module` is derived for structs: implement `visit` for what is none";
        return Err(Error::new_spanned(&input.ident, advice));
    };
    let calls = calls(fields)?;
    let mut generics = input.generics.clone();
    for parameter in generics.type_params_mut() {
        if fields.iter().any(|field| shows(field, &parameter.ident)) {
            parameter.bounds.push(parse_quote!(::retrograd::nn::Module));
        }
    }
    let name = &input.ident;
    let (for_impl, for_type, bounds) = generics.split_for_impl();
    Ok(quote! {
        #[automatically_derived]
        impl #for_impl ::retrograd::nn::Module for #name #for_type #bounds {
            #[allow(unused_variables)]
            fn visit(&self, visitor: &mut ::retrograd::nn::Visitor<'_>) {
                #(#calls)*
            }
        }
    })
}
