//! Derives of the crate [`retrograd`](https://docs.rs/retrograd): use them from there.

mod module;
mod tree;

use proc_macro::TokenStream;
use syn::{DeriveInput, parse_macro_input};

/// Implements `retrograd::Tree` for a struct whose fields are trees.
///
/// `#[tree(skip)]` on a field leaves it as it is: a constant.
#[proc_macro_derive(Tree, attributes(tree))]
pub fn tree(input: TokenStream) -> TokenStream {
    let input = parse_macro_input!(input as DeriveInput);
    tree::derive(&input).unwrap_or_else(syn::Error::into_compile_error).into()
}

/// Implements `retrograd::nn::Module` for a struct of tensors and modules.
///
/// A tensor is a parameter by the name of its field; `#[module(buffer)]` makes it a buffer, `#[module(skip)]` nothing.
#[proc_macro_derive(Module, attributes(module))]
pub fn module(input: TokenStream) -> TokenStream {
    let input = parse_macro_input!(input as DeriveInput);
    module::derive(&input).unwrap_or_else(syn::Error::into_compile_error).into()
}
