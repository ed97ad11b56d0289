//! What `retrograd.save` of Python says about a file besides its arrays: what the tensors are nested in, and how they
//! lie in the arrays. docs/saving.md describes it.

use std::collections::BTreeSet;

use crate::DType;
use crate::safetensors::header::{Span, bytes};
use crate::safetensors::json::{self, Json};

/// The key of the metadata that has it.
pub(super) const KEY: &str = "retrograd";
const VERSION: i64 = 1;
/// Names have that many parts at most.
const DEPTH: usize = 128;
/// Places in what is nested. Objects may be in several places, so a short text can say very many of them.
const PLACES: usize = 1 << 20;

/// A tensor over an array.
#[derive(Debug)]
pub(super) struct Layout {
    /// The name by which the tensor is found.
    pub name: String,
    /// The number of its array.
    pub span: usize,
    pub dtype: DType,
    pub sizes: Vec<usize>,
    /// None in row-major order.
    pub strides: Option<Vec<usize>>,
    pub offset: usize,
    pub requires_grad: bool,
    pub conj: bool,
}

type Result<T> = std::result::Result<T, String>;

/// The tensors of a file without a structure: its arrays.
pub(super) fn plain(spans: &[Span]) -> Vec<Layout> {
    let of = |(i, span): (usize, &Span)| Layout {
        name: span.name.clone(),
        span: i,
        dtype: span.dtype,
        sizes: span.sizes.clone(),
        strides: None,
        offset: 0,
        requires_grad: false,
        conj: false,
    };
    spans.iter().enumerate().map(of).collect()
}

/// The tensors in a structure, each by the way to it: `layers.0.weight`. What is no tensor is left out.
pub(super) fn parse(text: &str, spans: &[Span]) -> Result<Vec<Layout>> {
    let structure = json::parse(text)?;
    let (Some(version), Some(objects)) = (structure.get("version"), structure.get("objects").and_then(Json::list))
    else {
        return Err("its structure has no version or no objects".into());
    };
    if *version != Json::Int(VERSION) {
        return Err(format!("its structure is of version {version:?}, and {VERSION} is the one known"));
    }
    let root = structure.get("root").ok_or("its structure has no root")?;
    let mut found = Vec::new();
    let mut names = BTreeSet::new();
    // Values that are still to be looked at, with their names, and the number of the object that they are in.
    let mut open = vec![(String::new(), 0, root, objects.len())];
    let mut places = 0;
    while let Some((name, depth, value, within)) = open.pop() {
        places += 1;
        if places > PLACES || depth > DEPTH {
            return Err(format!("its structure has more than {PLACES} places, or is nested more than {DEPTH} deep"));
        }
        // Objects come after those that they contain.
        let Json::List(reference) = value else { continue };
        let index = if let [index] = &reference[..] { index.size() } else { None };
        let Some(index) = index.filter(|&index| index < within) else {
            return Err("its structure refers to an object that is not before".into());
        };
        let Some([Json::Text(kind), rest @ ..]) = objects[index].list() else {
            return Err("its structure has an object without a kind".into());
        };
        let inside = |part: &str| if depth == 0 { part.to_owned() } else { format!("{name}.{part}") };
        match kind.as_str() {
            "tensor" => {
                let facts = rest.first().ok_or("a tensor without facts")?;
                let mut layout = layout(facts, spans)?;
                layout.name = if depth == 0 { spans[layout.span].name.clone() } else { name };
                if !names.insert(layout.name.clone()) {
                    return Err(format!("two tensors have the name {:?}", layout.name));
                }
                found.push(layout);
            }
            "sparse" => {
                return Err(format!("{name:?} is a sparse tensor, which only `retrograd.load` of Python reads"));
            }
            "list" | "tuple" => {
                open.extend(rest.iter().enumerate().map(|(i, v)| (inside(&i.to_string()), depth + 1, v, index)));
            }
            "dict" | "OrderedDict" => {
                let (pairs, []) = rest.as_chunks::<2>() else {
                    return Err("its structure has a key without a value".into());
                };
                for [key, value] in pairs {
                    let key = match key {
                        Json::Text(text) => text.clone(),
                        Json::Int(n) => n.to_string(),
                        // Under other keys, a tensor would have no name.
                        _ if matches!(value, Json::List(_)) => {
                            return Err("its structure has a key that is neither a string nor an integer".into());
                        }
                        _ => continue,
                    };
                    open.push((inside(&key), depth + 1, value, index));
                }
            }
            _ => {}
        }
    }
    Ok(found)
}

fn layout(facts: &Json, spans: &[Span]) -> Result<Layout> {
    let entry = facts.get("entry").and_then(Json::text).ok_or("a tensor without an array")?;
    let place = spans.iter().position(|span| span.name == entry);
    let span = place.ok_or_else(|| format!("a tensor over an array {entry:?}, which is not there"))?;
    let about = &spans[span];
    let wrong = |what: &str| format!("a tensor over array {entry:?} whose {what} is none");
    let dtype = match facts.get("dtype") {
        None => about.dtype,
        Some(name) => {
            let named = DType::ALL.into_iter().find(|dtype| Some(dtype.name()) == name.text());
            named.ok_or_else(|| wrong("dtype"))?
        }
    };
    let sizes = facts.get("size").map_or_else(|| Some(about.sizes.clone()), Json::sizes);
    let sizes = sizes.ok_or_else(|| wrong("size"))?;
    let strides = facts.get("stride").map(|s| s.sizes().ok_or_else(|| wrong("stride"))).transpose()?;
    let offset = facts.get("offset").map_or(Some(0), Json::size).ok_or_else(|| wrong("offset"))?;
    let is = |key: &str| facts.get(key) == Some(&Json::Bool(true));
    let made = Layout {
        name: String::new(),
        span,
        dtype,
        sizes,
        strides,
        offset,
        requires_grad: is("requires_grad"),
        conj: is("conj"),
    };
    if !made.is_within(about.end - about.begin) {
        return Err(format!("a tensor that is not inside its array {entry:?}"));
    }
    Ok(made)
}

impl Layout {
    /// Whether all elements are in an array of so many bytes, which has whole elements of the dtype.
    fn is_within(&self, array: u64) -> bool {
        let itemsize = self.dtype.size() as u64;
        if !array.is_multiple_of(itemsize) || self.strides.as_ref().is_some_and(|s| s.len() != self.sizes.len()) {
            return false;
        }
        let end = match &self.strides {
            None => bytes(&self.sizes, itemsize),
            _ if self.sizes.contains(&0) => Some(0),
            Some(strides) => strides.iter().zip(&self.sizes).try_fold(itemsize, |end, (&step, &n)| {
                let along = (step as u64).checked_mul(n as u64 - 1)?.checked_mul(itemsize)?;
                end.checked_add(along)
            }),
        };
        let offset = (self.offset as u64).checked_mul(itemsize);
        let end = end.zip(offset).and_then(|(end, offset)| end.checked_add(offset));
        end.is_some_and(|end| end <= array)
    }

    /// How many elements of the dtype the array has.
    pub(super) fn elements(&self, span: &Span) -> usize {
        ((span.end - span.begin) / self.dtype.size() as u64) as usize
    }

    /// Whether the tensor is all of its array, in order.
    pub(super) fn is_whole(&self, span: &Span) -> bool {
        self.strides.is_none()
            && self.offset == 0
            && bytes(&self.sizes, self.dtype.size() as u64) == Some(span.end - span.begin)
    }
}

/// The structure of a dict of tensors over arrays of the same names, with dtypes that the format may lack.
pub(super) fn write(tensors: &[(&str, DType, &[usize])]) -> String {
    use std::fmt::Write;
    let mut text = format!("{{\"version\":{VERSION},\"root\":[{}],\"objects\":[", tensors.len());
    let mut items = String::new();
    for (i, (name, dtype, sizes)) in tensors.iter().enumerate() {
        text.push_str("[\"tensor\",{\"entry\":");
        json::quote(name, &mut text);
        let sizes: Vec<String> = sizes.iter().map(usize::to_string).collect();
        let _ = write!(text, ",\"dtype\":\"{}\",\"size\":[{}]}}],", dtype.name(), sizes.join(","));
        items.push(',');
        json::quote(name, &mut items);
        let _ = write!(items, ",[{i}]");
    }
    let _ = write!(text, "[\"dict\"{items}]]}}");
    text
}
