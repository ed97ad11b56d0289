//! State dicts: the tensors of a module by name.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;

use crate::engine::Tensor as Inner;
use crate::engine::autograd::GradGuard;
use crate::nn::module::{Module, tensors};
use crate::{Error, Result, Tensor};

/// Tensors by name: what a module or an optimizer has to be saved with.
pub type StateDict = BTreeMap<String, Tensor>;

/// How [`Module::load_state_dict_with`] loads.
#[derive(Clone, Copy, Debug)]
pub struct LoadOptions {
    strict: bool,
}

impl Default for LoadOptions {
    fn default() -> Self {
        Self { strict: true }
    }
}

impl LoadOptions {
    /// Whether the names have to be the same, which is so by default.
    pub fn strict(self, strict: bool) -> Self {
        Self { strict }
    }
}

/// Names that a state dict and a module do not have in common.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Incompatible {
    /// Those of the module that the dict lacks.
    pub missing_keys: Vec<String>,
    /// Those of the dict that the module lacks.
    pub unexpected_keys: Vec<String>,
}

pub(super) fn load<M: Module + ?Sized>(module: &M, state: &StateDict, options: LoadOptions) -> Result<Incompatible> {
    let own = tensors(module);
    let names: BTreeSet<&str> = own.iter().map(|(name, _)| name.as_str()).collect();
    let keys = Incompatible {
        missing_keys: own.iter().map(|(name, _)| name).filter(|&name| !state.contains_key(name)).cloned().collect(),
        unexpected_keys: state.keys().filter(|name| !names.contains(name.as_str())).cloned().collect(),
    };
    let mut wrong = String::new();
    if options.strict {
        for (what, names) in [("Missing", &keys.missing_keys), ("Unexpected", &keys.unexpected_keys)] {
            if !names.is_empty() {
                let names: Vec<String> = names.iter().map(|name| format!("\"{name}\"")).collect();
                let _ = write!(wrong, "\n\t{what} key(s) in state_dict: {}. ", names.join(", "));
            }
        }
    }
    let mut pairs = Vec::new();
    for (name, to) in &own {
        let Some(from) = state.get(name) else { continue };
        if let Some(from) = shaped(&from.0, to.0.sizes())? {
            pairs.push((from, &to.0));
            continue;
        }
        let (from, to) = (torch_size(from.0.sizes()), torch_size(to.0.sizes()));
        let _ = write!(
            wrong,
            "\n\tsize mismatch for {name}: copying a param with shape {from} from checkpoint, the shape in current \
             model is {to}."
        );
    }
    if !wrong.is_empty() {
        let module = short_name(std::any::type_name::<M>());
        return Err(Error::autograd(format!("Error(s) in loading state_dict for {module}:{wrong}")));
    }
    let _off = GradGuard::new(false);
    for (from, to) in pairs {
        to.copy_(&from)?;
    }
    Ok(keys)
}

/// The tensor, if it has these sizes; a single number may have one axis, as in old checkpoints.
fn shaped(from: &Inner, sizes: &[usize]) -> Result<Option<Inner>> {
    if from.sizes() == [1] && sizes.is_empty() {
        return from.detach().squeeze_dim(0).map(Some);
    }
    Ok((from.sizes() == sizes).then(|| from.clone()))
}

fn torch_size(sizes: &[usize]) -> String {
    format!("torch.Size({sizes:?})")
}

/// A type without the modules that it is in, as in `Mlp<Linear>`.
fn short_name(path: &str) -> String {
    let parts = path.split_inclusive(['<', '>', ',', ' ', '[', ']', '(', ')', '&', ';']);
    parts.map(|part| part.rsplit("::").next().unwrap_or(part)).collect()
}
