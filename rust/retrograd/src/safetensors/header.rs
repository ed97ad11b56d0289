//! The header: what arrays a file has, and where. It is believed only if it adds up.

use crate::DType;
use crate::safetensors::json::{self, Json};

/// The bytes before the header, which say how long it is.
pub(super) const LENGTH: u64 = 8;
/// What the format's other readers accept.
pub(super) const LIMIT: u64 = 100_000_000;
const MAX_NDIM: usize = 64;

const NAMES: [(&str, DType); 14] = [
    ("BOOL", DType::Bool),
    ("U8", DType::UInt8),
    ("U16", DType::UInt16),
    ("U32", DType::UInt32),
    ("U64", DType::UInt64),
    ("I8", DType::Int8),
    ("I16", DType::Int16),
    ("I32", DType::Int32),
    ("I64", DType::Int64),
    ("F16", DType::Float16),
    ("BF16", DType::BFloat16),
    ("F32", DType::Float32),
    ("F64", DType::Float64),
    ("C64", DType::Complex64),
];

/// The name of a dtype in the format, if it has it.
pub(super) fn name_of(dtype: DType) -> Option<&'static str> {
    NAMES.iter().find(|(_, of)| *of == dtype).map(|(name, _)| *name)
}

/// An array in a file: its bytes from `begin` to `end`, counted from the end of the header.
#[derive(Clone, Debug)]
pub(super) struct Span {
    pub name: String,
    pub dtype: DType,
    pub sizes: Vec<usize>,
    pub begin: u64,
    pub end: u64,
}

pub(super) struct Header {
    /// In the order of the header.
    pub spans: Vec<Span>,
    /// What programs say about the file, by keys of their own.
    pub metadata: Vec<(String, String)>,
    /// How many bytes follow the header.
    pub bytes: u64,
}

type Result<T> = std::result::Result<T, String>;

pub(super) fn parse(text: &str) -> Result<Header> {
    let Json::Object(members) = json::parse(text)? else { return Err("its header is not an object".into()) };
    let (mut spans, mut metadata) = (Vec::new(), Vec::new());
    for (name, about) in members {
        if name == "__metadata__" {
            metadata = strings(about).ok_or("its metadata is not an object of strings")?;
        } else {
            spans.push(span(name, &about)?);
        }
    }
    let mut order: Vec<&Span> = spans.iter().collect();
    order.sort_by_key(|span| (span.begin, span.end));
    let mut bytes = 0;
    for span in order {
        if span.begin != bytes {
            let (name, begin) = (&span.name, span.begin);
            return Err(format!("array {name:?} begins at byte {begin}, and those before it end at {bytes}"));
        }
        bytes = span.end;
    }
    Ok(Header { spans, metadata, bytes })
}

fn strings(about: Json) -> Option<Vec<(String, String)>> {
    let Json::Object(members) = about else { return None };
    members
        .into_iter()
        .map(|(key, value)| if let Json::Text(text) = value { Some((key, text)) } else { None })
        .collect()
}

fn span(name: String, about: &Json) -> Result<Span> {
    let (Json::Object(members), [dtype, sizes, offsets]) =
        (about, ["dtype", "shape", "data_offsets"].map(|key| about.get(key)))
    else {
        return Err(format!("array {name:?} is not described by an object"));
    };
    let (3, Some(dtype), Some(sizes), Some(offsets)) = (members.len(), dtype, sizes, offsets) else {
        return Err(format!("array {name:?} is described by other things than dtype, shape and data_offsets"));
    };
    let Some(known) = dtype.text().and_then(|text| NAMES.iter().find(|(name, _)| *name == text)) else {
        return Err(format!("array {name:?} is of type {dtype:?}, which is no dtype of retrograd"));
    };
    let (dtype, itemsize) = (known.1, known.1.size() as u64);
    let (Some(sizes), Some(offsets)) = (sizes.sizes(), offsets.sizes()) else {
        return Err(format!("array {name:?} has a shape or offsets that are no lists of sizes"));
    };
    let (&[begin, end], true) = (&offsets[..], sizes.len() <= MAX_NDIM) else {
        return Err(format!("array {name:?} has {} offsets and {} axes", offsets.len(), sizes.len()));
    };
    let (begin, end) = (begin as u64, end as u64);
    if end.checked_sub(begin) != bytes(&sizes, itemsize) {
        return Err(format!("array {name:?} of shape {sizes:?} does not have the bytes from {begin} to {end}"));
    }
    Ok(Span { name, dtype, sizes, begin, end })
}

/// How many bytes an array has, if a number can say it.
pub(super) fn bytes(sizes: &[usize], itemsize: u64) -> Option<u64> {
    if sizes.contains(&0) {
        return Some(0);
    }
    sizes.iter().try_fold(itemsize, |bytes, &n| bytes.checked_mul(n as u64))
}

/// The header of arrays that follow each other in this order, with its length before it.
pub(super) fn write(spans: &[Span], metadata: Option<(&str, &str)>) -> Result<Vec<u8>> {
    use std::fmt::Write;
    let mut text = String::from("{");
    if let Some((key, value)) = metadata {
        text.push_str("\"__metadata__\":{");
        json::quote(key, &mut text);
        text.push(':');
        json::quote(value, &mut text);
        text.push('}');
    }
    for span in spans {
        if text.len() > 1 {
            text.push(',');
        }
        json::quote(&span.name, &mut text);
        let dtype = name_of(span.dtype).ok_or_else(|| format!("no {} in files", span.dtype.name()))?;
        let (begin, end) = (span.begin, span.end);
        let sizes: Vec<String> = span.sizes.iter().map(usize::to_string).collect();
        let sizes = sizes.join(",");
        let _ = write!(text, ":{{\"dtype\":\"{dtype}\",\"shape\":[{sizes}],\"data_offsets\":[{begin},{end}]}}");
    }
    text.push('}');
    // Then the elements are at multiples of 8.
    text.push_str(&" ".repeat(text.len().next_multiple_of(8) - text.len()));
    if text.len() as u64 > LIMIT {
        return Err(format!("names and shapes take {} bytes, more than the {LIMIT} of a header", text.len()));
    }
    let mut made = (text.len() as u64).to_le_bytes().to_vec();
    made.extend(text.into_bytes());
    Ok(made)
}
