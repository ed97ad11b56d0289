//! The derive of `Tree`.

use proc_macro2::TokenStream;
use syn::{DeriveInput, Error, Result};

pub(crate) fn derive(input: &DeriveInput) -> Result<TokenStream> {
    Err(Error::new_spanned(input, "not built yet"))
}
