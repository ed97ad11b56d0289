//! Names of devices. Programs name many of them; tensors are on the CPU alone.

use crate::error::{Error, Result};

/// The kinds of devices that have a name.
const KINDS: [&str; 20] = [
    "cpu",
    "cuda",
    "ipu",
    "xpu",
    "mkldnn",
    "opengl",
    "opencl",
    "ideep",
    "hip",
    "ve",
    "fpga",
    "maia",
    "xla",
    "lazy",
    "vulkan",
    "mps",
    "meta",
    "hpu",
    "mtia",
    "privateuseone",
];

const OP: &str = "device";
const REMEDY: &str = "'cpu' is the only device of this build, leave device= out or name it";

/// The kind in a name such as `cuda:1`, and the index.
pub fn named(name: &str) -> Result<(&'static str, Option<u32>)> {
    if name.is_empty() {
        return Err(Error::shape(OP, "Device string must not be empty"));
    }
    let (kind, index) = match name.split_once(':') {
        Some((kind, index)) => (kind, Some(index)),
        None => (name, None),
    };
    let Some(kind) = KINDS.into_iter().find(|&known| known == kind) else {
        let kinds = KINDS.join(", ");
        return Err(Error::shape(
            OP,
            format!("Expected one of {kinds} device type at start of device string: {name}: {REMEDY}"),
        ));
    };
    let number = |digits: &str| {
        let plain = digits.bytes().all(|b| b.is_ascii_digit()) && (digits == "0" || !digits.starts_with('0'));
        digits.parse().ok().filter(|_| plain)
    };
    match index.map(|digits| number(digits).ok_or(digits)) {
        None => Ok((kind, None)),
        Some(Ok(index)) => Ok((kind, Some(index))),
        Some(Err(_)) => Err(Error::shape(OP, format!("Invalid device string: '{name}'"))),
    }
}

/// The error of a use of a device that is not there, in torch's words for a build without it.
pub fn demand_cpu(kind: &str) -> Result<()> {
    match kind {
        "cpu" => Ok(()),
        "cuda" | "xpu" | "mtia" => {
            Err(Error::assertion(OP, format!("Torch not compiled with {} enabled: {REMEDY}", kind.to_uppercase())))
        }
        "meta" => Err(Error::not_implemented(format!("{OP}: 'meta' would have tensors without memory: {REMEDY}"))),
        _ => Err(Error::shape(OP, format!("PyTorch is not linked with support for {kind} devices: {REMEDY}"))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_have_a_kind_and_perhaps_an_index() {
        assert_eq!(named("cpu").unwrap(), ("cpu", None));
        assert_eq!(named("cuda:10").unwrap(), ("cuda", Some(10)));
        assert_eq!(named("mps:0").unwrap(), ("mps", Some(0)));
        for bad in ["", "cpux", "cuda:", "cuda:a", "cuda:-1", "cuda:+1", "cuda:01", "cuda:0:0", ":0", "cuda: 1"] {
            assert!(named(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn only_the_cpu_is_there() {
        for kind in KINDS {
            assert_eq!(demand_cpu(kind).is_ok(), kind == "cpu");
        }
    }
}
