//! What errors and warnings advise, as a program in Rust writes it.
//!
//! The engine writes its messages for Python: torch's phrase first, then the facts and what to do. Here is the one
//! place that knows how Rust says the latter. What the engine advises in words of its own is replaced. Where the advice
//! is a part of torch's phrase, that stays as it is, for whoever searches for it, and a last line says what Rust has.

use std::borrow::Cow;

/// Words of the engine, and those of Rust in their place. None is a part of a phrase of torch.
const REPLACED: &[(&str, &str)] = &[
    // Dtypes.
    (".to(float32)", ".to(DType::Float32)"),
    (".to(int64)", ".to(DType::Int64)"),
    (".to(uint8)", ".to(DType::Uint8)"),
    (".to(bool)", ".to(DType::Bool)"),
    ("convert one with .to()", "convert one with .to(dtype)"),
    ("convert one with .to(...)", "convert one with .to(dtype)"),
    ("convert with .to() first", "convert with .to(dtype) first"),
    ("pass dtype=float32 or leave requires_grad out", "set dtype(DType::Float32) or leave requires_grad out"),
    ("pass dtype=float32", "set dtype(DType::Float32)"),
    ("Pass dtype=float32 to convert first", "Set dtype(DType::Float32) to convert first"),
    // Gradients.
    ("; pass a gradient, or reduce it", "; pass a gradient, as in backward_with(|o| o.gradient(&g)), or reduce it"),
    ("mark it with set_requires_grad", "mark it with requires_grad_(true)"),
    (
        "Specify retain_graph=True in the ",
        "Set retain_graph(true), as in backward_with(|o| o.retain_graph(true)), in the ",
    ),
    ("with retrograd.autograd.set_detect_anomaly(True)", "with detect_anomaly(|| ..) around both passes"),
    ("Write to it inside no_grad, or to a clone.", "Write to it inside no_grad(|| ..), or to a copy, ops::clone(&x)."),
    ("or they ran inside no_grad", "or they ran inside no_grad(|| ..)"),
    // Copies: a clone in Rust is the same tensor.
    ("or clone() the tensor before.", "or copy the tensor before, with ops::clone(&x)."),
    (
        "To fix it, clone() the tensor before the in-place op",
        "To fix it, copy the tensor before the in-place op, with ops::clone(&x)",
    ),
    ("not allowed: clone it first.", "not allowed: copy it first, with ops::clone(&x)."),
    ("the tensor it was made of: clone() it first", "the tensor it was made of: copy it first, with ops::clone(&x)"),
    (": clone() the tensor first", ": copy the tensor first, with ops::clone(&x)"),
    (": clone() the tensor and take a view of the clone", ": take a view of a copy, ops::clone(&x)"),
    (": clone() the tensor and write to the clone", ": write to a copy, ops::clone(&x)"),
    ("or clone() the tensor and write to the clone", "or write to a copy, ops::clone(&x)"),
    ("Or write to a clone of it.", "Or write to a copy, ops::clone(&x)."),
    // Numbers that are no numbers.
    ("clamp(min=1e-12)", "clamp_with(|o| o.min(1e-12))"),
    ("clamp(min=0)", "clamp_with(|o| o.min(0))"),
    ("clamp(min=1)", "clamp_with(|o| o.min(1))"),
    ("clamp(max=...)", "clamp_with(|o| o.max(..))"),
    ("clamp(-1, 1)", "clamp_with(|o| o.min(-1).max(1))"),
    ("clamp(-0.999999, 0.999999)", "clamp_with(|o| o.min(-0.999999).max(0.999999))"),
    ("as with clamp().", "as with clamp_with(|o| o.min(..).max(..))."),
    ("choose elements with where() instead", "choose elements with ops::where_self instead"),
    ("with a where() of its own", "with an ops::where_self of its own"),
    ("pass correction=0, or more elements", "set correction(0), or give more elements"),
    // Ops.
    ("use where() for a choice", "use ops::where_self for a choice"),
    ("use div with rounding_mode='floor'", "use div_rounded(&y, RoundingMode::Floor)"),
    ("leave pivot=True", "leave pivot(true)"),
    ("mode requires antialias=True", "mode requires antialias(true)"),
    ("mode does not support align_corners=True", "mode does not support align_corners(true)"),
    ("enable_gqa=True takes operands", "enable_gqa(true) takes operands"),
    ("Call with indexing=\"ij\" for", "Set indexing(Indexing::Ij) for"),
    ("Use retrograd.linalg.multi_dot instead", "Use ops::linalg::multi_dot instead"),
    ("Use retrograd.scatter_reduce instead", "Use ops::scatter_reduce instead"),
    ("please use a dtype retrograd.bool instead", "please use the dtype DType::Bool instead"),
];

/// Phrases of torch that advise something, and how Rust says it.
const NOTED: &[(&str, &str)] = &[
    ("Specify retain_graph=True if you need", "y.backward_with(|o| o.retain_graph(true))"),
    ("can't retain_grad on Tensor that has requires_grad=False", "x.requires_grad_(true) before the op"),
    (
        "Please clone() the tensor before performing",
        "ops::clone(&x), as x.clone() is another handle on the same tensor",
    ),
    ("(using .clone(), for example)", "ops::clone(&x), as x.clone() is another handle on the same tensor"),
    (
        "you can make a clone to get a normal tensor",
        "ops::clone(&x), as x.clone() is another handle on the same tensor",
    ),
    ("the 'same' or 'different' randomness flags on vmap", "vmap_with(f, |o| o.randomness(Randomness::Different))"),
    ("Specify the reduction dim with the 'dim' argument", "the form with dim, such as x.amax_dim(0)"),
    ("to include dim=X as an argument", "the form with dim, such as ops::nn::softmax_dim(&x, -1)"),
    ("At least one of 'min' or 'max' must not be None", "x.clamp_with(|o| o.min(0).max(1))"),
    ("padding='same' is not supported", "Padding::Same"),
    ("Please specify align_corners=True", "|o| o.align_corners(true)"),
    ("Please use linalg.qr(A, mode='reduced')", "linalg::qr_with(&a, |o| o.mode(QrMode::Reduced))"),
    ("return_complex=True in a future PyTorch release", "|o| o.return_complex(true)"),
    ("from stft with return_complex=True", "ops::stft_with(&x, n_fft, |o| o.return_complex(true))"),
    ("are incompatible with return_complex=False", "|o| o.return_complex(true)"),
    ("when onesided=False", "|o| o.onesided(false)"),
    ("when onesided=True", "|o| o.onesided(true)"),
    ("Please use torch.sgn instead", "x.sgn()"),
    ("per_sample_weights is only supported for mode='sum'", "|o| o.mode(BagMode::Sum)"),
    ("set `error_if_nonfinite=False`", "|o| o.error_if_nonfinite(false)"),
];

/// Before what Rust has.
const IN_RUST: &str = "\nIn Rust: ";

/// The message as Rust says it.
pub(crate) fn spelled(message: &str) -> Cow<'_, str> {
    let mut text = Cow::Borrowed(message);
    for (python, rust) in REPLACED {
        if text.contains(python) {
            text = text.replace(python, rust).into();
        }
    }
    // A message that holds that of another error has its note already.
    for (phrase, rust) in NOTED {
        if message.contains(phrase) && !message.contains(IN_RUST) {
            text = format!("{text}{IN_RUST}{rust}.").into();
            break;
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;

    /// The text of the files of a folder, with comments left out and literals of several lines joined.
    fn sources(folder: &Path, into: &mut String) {
        for path in std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()) {
            if path.is_dir() {
                sources(&path, into);
            }
            if path.is_dir() || path.ends_with("remedies.rs") {
                continue;
            }
            let text = std::fs::read_to_string(&path).unwrap();
            let text = text.split("#[cfg(test)]\nmod tests").next().unwrap();
            for line in text.lines().map(str::trim_start).filter(|line| !line.starts_with("//")) {
                match into.strip_suffix('\\').map(str::len) {
                    Some(length) => into.truncate(length),
                    None => into.push('\n'),
                }
                into.push_str(line);
            }
        }
    }

    fn workspace() -> &'static Path {
        Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../.."))
    }

    fn engine() -> String {
        let mut text = String::new();
        sources(&workspace().join("rust/retrograd-engine/src"), &mut text);
        // Where the message names the line of a call in between.
        text.replace("Specify retain_graph=True {first}", "Specify retain_graph=True in the first call")
    }

    #[test]
    fn every_phrase_is_one_of_a_message() {
        let mut messages = engine();
        sources(&workspace().join("rust/retrograd/src"), &mut messages);
        for (phrase, _) in REPLACED.iter().chain(NOTED) {
            assert!(messages.contains(&phrase.replace('"', "\\\"")), "no message has {phrase:?}");
        }
    }

    /// What options are in Python. The rest are facts, or deprecated forms that are not there in Rust.
    #[test]
    fn no_option_is_spelled_as_in_python() {
        const LEFT: &[&str] = &[
            // Torch's phrase, whose remedy follows it.
            "Setting requires_grad=True on inference tensor",
            "affine_grid behavior has changed for unit-size grids when align_corners=True",
            "behavior has changed to align_corners=False",
            "stft with return_complex=False is deprecated",
            // Of overloads that are not there.
            "please use reduction='{name}' instead",
        ];
        let engine = engine();
        let mut found = Vec::new();
        for line in engine.lines().filter(|line| !line.contains("#[op") && line.contains(' ')) {
            for literal in line.split('"').skip(1).step_by(2) {
                let is_signature = literal.starts_with('(') || literal.contains(">>>");
                let options = ["=True", "=False", "=None", "dtype=float", "set_detect_anomaly("];
                let advises = options.iter().any(|option| literal.contains(option));
                if advises && !is_signature && !LEFT.iter().any(|left| literal.contains(left)) {
                    found.extend((spelled(literal) == literal).then_some(literal));
                }
            }
        }
        assert!(found.is_empty(), "these advise as Python would: {found:#?}");
    }

    /// The strings of a text in JSON that stand behind `before`.
    fn strings<'a>(json: &'a str, before: &'a str) -> impl Iterator<Item = String> + 'a {
        json.match_indices(before).map(move |(at, _)| {
            let mut text = String::new();
            let mut rest = json[at + before.len()..].chars();
            while let Some(c) = rest.next().filter(|c| *c != '"') {
                text.push(match c {
                    '\\' => match rest.next() {
                        Some('n') => '\n',
                        other => other.unwrap(),
                    },
                    c => c,
                });
            }
            text
        })
    }

    #[test]
    fn phrases_of_torch_stay_unbroken() {
        let said = std::fs::read_to_string(workspace().join("tests/phrases/said.json")).unwrap();
        let phrases: Vec<String> = strings(&said, "\"says\": \"").chain(strings(&said, "Warning\", \"")).collect();
        assert!(phrases.len() > 500, "{}", phrases.len());
        for phrase in phrases {
            let rust = spelled(&phrase);
            let note = rust.strip_prefix(&phrase).unwrap_or_else(|| panic!("{phrase:?} became {rust:?}"));
            assert!(note.is_empty() || note.starts_with(IN_RUST), "{rust:?}");
        }
    }

    #[test]
    fn a_note_is_there_once() {
        let phrase = "can't retain_grad on Tensor that has requires_grad=False";
        let once = spelled(phrase).into_owned();
        assert_eq!(
            once,
            "can't retain_grad on Tensor that has requires_grad=False\nIn Rust: x.requires_grad_(true) before the op."
        );
        let outer = format!("of a hook: {once}");
        assert_eq!(spelled(&outer), outer);
        assert!(matches!(spelled("mm: nothing to advise"), Cow::Borrowed(_)));
    }
}
