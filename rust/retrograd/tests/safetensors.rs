//! Files of tensors: those of other programs, those of this crate, damaged and hostile ones.

use std::collections::BTreeMap;
use std::fs;
use std::path::PathBuf;

use half::{bf16, f16};
use num_complex::Complex;
use retrograd::engine::Tensor as Inner;
use retrograd::engine::tensor::Host;
use retrograd::nn::{Linear, Module, StateDict};
use retrograd::{DType, Result, Tensor, safetensors};

/// Made by the Python package `safetensors`, 0.8.0: a tensor of each of its dtypes, metadata, names to be quoted.
const ALL_DTYPES: &[u8] = include_bytes!("safetensors/all_dtypes.safetensors");
/// Made by `retrograd.save` of Python: nested tensors over arrays that they share, among other values.
const PYTHON: &[u8] = include_bytes!("safetensors/python.safetensors");

fn tensor<T: Host>(values: &[T], sizes: &[usize]) -> Result<Tensor> {
    Inner::from_slice(values, sizes).map(Tensor::from)
}

/// A file of the test's own, which goes with it.
struct Place(PathBuf);

impl Place {
    fn new(name: &str) -> Self {
        let folder = std::env::temp_dir().join(format!("retrograd-{name}-{}", std::process::id()));
        fs::create_dir_all(&folder).unwrap();
        Self(folder)
    }
    fn file(&self) -> PathBuf {
        self.0.join("file.safetensors")
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

#[track_caller]
fn assert_is<T: Host + PartialEq + std::fmt::Debug>(dict: &StateDict, name: &str, sizes: &[usize], values: &[T]) {
    let t = dict[name].engine();
    assert_eq!((t.sizes(), t.dtype()), (sizes, <T::Element as retrograd::engine::tensor::Element>::DTYPE), "{name}");
    assert_eq!(t.to_vec::<T>().unwrap(), values, "{name}");
}

fn check_all_dtypes(dict: &StateDict) {
    assert_eq!(dict.len(), 16);
    assert_is(dict, "bool", &[3], &[true, false, true]);
    assert_is(dict, "uint8", &[2, 2], &[0u8, 1, 254, 255]);
    assert_is(dict, "uint16", &[2], &[1u16, u16::MAX]);
    assert_is(dict, "uint32", &[2], &[1u32, u32::MAX]);
    assert_is(dict, "uint64", &[2], &[1u64, u64::MAX]);
    assert_is(dict, "int8", &[2], &[i8::MIN, i8::MAX]);
    assert_is(dict, "int16", &[2], &[i16::MIN, i16::MAX]);
    assert_is(dict, "int32", &[1, 2], &[i32::MIN, i32::MAX]);
    assert_is(dict, "int64", &[2], &[i64::MIN, i64::MAX]);
    assert_is(dict, "float16", &[2], &[f16::from_f32(1.5), f16::from_f32(-0.25)]);
    assert_is(dict, "bfloat16", &[2], &[bf16::from_f32(1.5), bf16::from_f32(-0.25)]);
    assert_is(dict, "float32", &[2, 1], &[1.5f32, -0.1]);
    assert_is(dict, "float64", &[], &[0.1f64]);
    assert_is(dict, "complex64", &[1], &[Complex::new(1.5f32, -2.5)]);
    assert_is::<f32>(dict, "empty", &[0, 3], &[]);
    assert_is(dict, "a \"name\" ä€\u{1F600}.0", &[1], &[3f32]);
}

#[test]
fn files_of_other_programs_are_read() -> Result<()> {
    let dict = safetensors::from_bytes(ALL_DTYPES)?;
    check_all_dtypes(&dict);
    // And what is written of it is read again.
    let place = Place::new("all");
    safetensors::save(place.file(), &dict)?;
    check_all_dtypes(&safetensors::load(place.file())?);
    assert_eq!(fs::read(place.file()).unwrap(), safetensors::to_bytes(&dict)?);
    assert_eq!(fs::read_dir(&place.0).unwrap().count(), 1, "nothing is left beside the file");
    Ok(())
}

#[test]
fn files_of_python_are_read() -> Result<()> {
    let dict = safetensors::from_bytes(PYTHON)?;
    let names = [
        "complex",
        "conj",
        "expanded",
        "half",
        "list.0",
        "list.1.0",
        "mask",
        "model.0.bias",
        "model.0.weight",
        "part",
        "rest",
        "tied",
        "transposed",
        "weight",
    ];
    assert_eq!(dict.keys().collect::<Vec<_>>(), names);
    assert_is(&dict, "model.0.weight", &[1, 2], &[0.5f32, 0.25]);
    assert_is(&dict, "model.0.bias", &[1], &[2f32]);
    assert_is(&dict, "weight", &[2, 3], &[1.5f32, -2.0, 3.25, 4.0, 5.5, -6.0]);
    assert_is(&dict, "tied", &[2, 3], &[1.5f32, -2.0, 3.25, 4.0, 5.5, -6.0]);
    assert_is(&dict, "transposed", &[2, 2], &[1f32, 3.0, 2.0, 4.0]);
    assert_is(&dict, "part", &[2], &[2f64, 3.0]);
    assert_is(&dict, "rest", &[3], &[1f64, 3.0, 5.0]);
    assert_is(&dict, "complex", &[2], &[Complex::new(1f64, 2.0), Complex::new(3.0, -4.0)]);
    assert_is(&dict, "half", &[1, 1], &[Complex::new(f16::from_f32(1.5), f16::from_f32(2.0))]);
    assert_is(&dict, "conj", &[1], &[Complex::new(1f32, -2.0)]);
    assert_is(&dict, "mask", &[2], &[false, true]);
    assert_is(&dict, "list.0", &[], &[7i64]);
    assert_is(&dict, "list.1.0", &[1], &[8i8]);
    assert_is(&dict, "expanded", &[3], &[5i64, 5, 5]);
    // What shares memory shares it again, and parameters are leaves that require grad.
    dict["rest"].engine().copy_(&Inner::full(&[3], 9.0.into(), DType::Float64)?)?;
    assert_is(&dict, "part", &[2], &[2f64, 9.0]);
    assert!(dict["weight"].engine().shares_storage(dict["tied"].engine()));
    let requires: Vec<&str> = names
        .into_iter()
        .filter(|&name| dict[name].engine().requires_grad() && dict[name].engine().is_leaf())
        .collect();
    assert_eq!(requires, ["tied", "weight"]);
    Ok(())
}

#[test]
fn tensors_of_any_layout_are_written_in_order() -> Result<()> {
    let x = Inner::from_slice(&[1.0, 2.0, 3.0, 4.0, 5.0, 6.0], &[2, 3])?;
    let z = Inner::from_slice(&[Complex::new(1.0, 2.0), Complex::new(3.0, -4.0)], &[2])?;
    let history = x.square()?;
    x.set_requires_grad(true)?;
    let dict: StateDict = [
        ("transposed", x.detach().t()?),
        ("part", x.detach().narrow(1, 1, 2)?),
        ("recorded", x.square()?),
        ("plain", history),
        ("conj", z.conj()?),
        ("wide", z),
        ("flags", Inner::from_slice(&[true, false], &[2])?),
        ("number", Inner::from_slice(&[7i64], &[])?),
    ]
    .map(|(name, t)| (name.to_owned(), t.into()))
    .into();
    let read = safetensors::from_bytes(&safetensors::to_bytes(&dict)?)?;
    assert_is(&read, "transposed", &[3, 2], &[1.0, 4.0, 2.0, 5.0, 3.0, 6.0]);
    assert_is(&read, "part", &[2, 2], &[2.0, 3.0, 5.0, 6.0]);
    assert_is(&read, "recorded", &[2, 3], &[1.0, 4.0, 9.0, 16.0, 25.0, 36.0]);
    assert_is(&read, "plain", &[2, 3], &[1.0, 4.0, 9.0, 16.0, 25.0, 36.0]);
    assert_is(&read, "conj", &[2], &[Complex::new(1.0, -2.0), Complex::new(3.0, 4.0)]);
    assert_is(&read, "wide", &[2], &[Complex::new(1.0, 2.0), Complex::new(3.0, -4.0)]);
    assert_is(&read, "flags", &[2], &[true, false]);
    assert_is(&read, "number", &[], &[7i64]);
    assert!(read.values().all(|t| t.engine().is_leaf() && !t.engine().requires_grad()));
    assert!(safetensors::from_bytes(&safetensors::to_bytes(&StateDict::new())?)?.is_empty());
    Ok(())
}

#[test]
fn large_arrays_are_read_in_parts() -> Result<()> {
    let values: Vec<f64> = (0..100_003).map(|i| f64::from(i) * 0.5).collect();
    let dict =
        BTreeMap::from([("x".to_owned(), tensor(&values, &[values.len()])?), ("y".to_owned(), tensor(&[1u8], &[1])?)]);
    let read = safetensors::from_bytes(&safetensors::to_bytes(&dict)?)?;
    assert_is(&read, "x", &[100_003], &values);
    assert_is(&read, "y", &[1], &[1u8]);
    Ok(())
}

#[test]
fn the_state_of_a_module_goes_through_a_file() -> Result<()> {
    let place = Place::new("module");
    let (from, to) = (Linear::new(3, 2), Linear::new(3, 2));
    safetensors::save(place.file(), &from.state_dict())?;
    to.load_state_dict(&safetensors::load(place.file())?)?;
    assert_eq!(from.weight.engine().to_vec::<f32>()?, to.weight.engine().to_vec::<f32>()?);
    Ok(())
}

#[test]
fn a_file_is_replaced_when_the_new_one_is_complete() -> Result<()> {
    let place = Place::new("replace");
    let one = BTreeMap::from([("x".to_owned(), tensor(&[1f32], &[1])?)]);
    safetensors::save(place.file(), &one)?;
    let before = fs::read(place.file()).unwrap();
    // A view forbids nothing that is read, so the failure is one of the disk: a folder in the way, or names.
    let reserved = BTreeMap::from([("__metadata__".to_owned(), tensor(&[1f32], &[1])?)]);
    let refused = safetensors::save(place.file(), &reserved).unwrap_err().to_string();
    assert!(refused.contains("a name that the format keeps for itself"), "{refused}");
    assert_eq!(fs::read(place.file()).unwrap(), before);
    let nowhere = safetensors::save(place.0.join("missing/file"), &one).unwrap_err().to_string();
    assert!(nowhere.starts_with("save: ") && nowhere.contains("missing/file: "), "{nowhere}");
    assert!(safetensors::save(&place.0, &one).is_err(), "a folder");
    assert!(safetensors::save("/", &one).is_err());
    assert_eq!(fs::read_dir(&place.0).unwrap().count(), 1);
    Ok(())
}

#[cfg(unix)]
#[test]
fn a_link_stays_a_link_and_permissions_stay() -> Result<()> {
    use std::os::unix::fs::{PermissionsExt, symlink};
    let place = Place::new("links");
    let one = BTreeMap::from([("x".to_owned(), tensor(&[1f32], &[1])?)]);
    let link = place.0.join("link");
    safetensors::save(place.file(), &one)?;
    fs::set_permissions(place.file(), fs::Permissions::from_mode(0o640)).unwrap();
    symlink(place.file(), &link).unwrap();
    safetensors::save(&link, &BTreeMap::from([("y".to_owned(), tensor(&[2f32], &[1])?)]))?;
    assert!(fs::symlink_metadata(&link).unwrap().is_symlink());
    assert_eq!(fs::metadata(place.file()).unwrap().permissions().mode() & 0o777, 0o640);
    assert!(safetensors::load(place.file())?.contains_key("y"));
    Ok(())
}

// ---- damaged files

fn joined(header: &str, data: &[u8]) -> Vec<u8> {
    [&(header.len() as u64).to_le_bytes(), header.as_bytes(), data].concat()
}

#[track_caller]
fn refuses(bytes: &[u8], words: &str) {
    let error = safetensors::from_bytes(bytes).unwrap_err().to_string();
    assert!(error.contains("the file is damaged, or no safetensors file") && error.contains(words), "{error}");
}

#[test]
fn every_prefix_is_refused() {
    for file in [ALL_DTYPES, PYTHON] {
        for n in 0..file.len() {
            refuses(&file[..n], "");
        }
        refuses(&[file, b"x"].concat(), "are there");
    }
}

#[test]
fn flipped_bits_do_no_harm() {
    // Whatever is read, nothing panics. A multiplicative generator chooses the bits.
    let mut state = 1u64;
    let mut next = |n: usize| {
        state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (state >> 33) as usize % n
    };
    let mut refused = 0;
    for round in 0..4000 {
        let mut bytes = [ALL_DTYPES, PYTHON][round % 2].to_vec();
        for _ in 0..[1, 1, 2, 8][next(4)] {
            let at = next(bytes.len());
            bytes[at] ^= 1 << next(8);
        }
        match safetensors::from_bytes(&bytes) {
            Err(_) => refused += 1,
            Ok(dict) => dict.values().for_each(|t| assert!(t.engine().numel() < 100)),
        }
    }
    assert!((2000..4000).contains(&refused), "{refused}");
}

#[test]
fn headers_that_lie_are_refused() {
    const DATA: &[u8] = &[0; 8];
    let x = |about: &str| format!("{{\"x\":{{{about}}}}}");
    let plain = |dtype: &str, shape: &str, offsets: &str| {
        x(&format!("\"dtype\":{dtype},\"shape\":{shape},\"data_offsets\":{offsets}"))
    };
    let axes = format!("[{}2]", "1,".repeat(64));
    let y = "\"y\":{\"dtype\":\"F32\",\"shape\":[1],\"data_offsets\":";
    let two = |offsets: &str| plain("\"F32\"", "[2]", "[0,8]").replacen('{', &format!("{{{y}{offsets}}},"), 1);
    for (header, words) in [
        ("".into(), "ends early"),
        ("[]".into(), "not an object"),
        ("{".into(), "ends early"),
        ("{\"x\":1}".into(), "not described by an object"),
        (x(""), "described by other things"),
        (x("\"dtype\":\"F32\",\"shape\":[2]"), "described by other things"),
        (plain("\"F32\"", "[2]", "[0,8],\"more\":1"), "described by other things"),
        ("{\"x\":{},\"x\":{}}".into(), "occurs twice"),
        ("{\"a\":".repeat(100_000), "nested too deeply"),
        (x(&format!("\"shape\":{}1", "1".repeat(10_000))), "described by other things"),
        ("{\"x\":NaN}".into(), "'N' at byte 5"),
        ("{\"__metadata__\":3}".into(), "metadata"),
        ("{\"__metadata__\":{\"a\":1}}".into(), "metadata"),
        (plain("\"F8_E4M3\"", "[2]", "[0,8]"), "no dtype of retrograd"),
        (plain("7", "[2]", "[0,8]"), "no dtype of retrograd"),
        (plain("\"F32\"", "[3]", "[0,8]"), "does not have the bytes"),
        (plain("\"F32\"", "[-2]", "[0,8]"), "no lists of sizes"),
        (plain("\"F32\"", "[2.0]", "[0,8]"), "no lists of sizes"),
        (plain("\"F32\"", "[true]", "[0,8]"), "no lists of sizes"),
        (plain("\"F32\"", "2", "[0,8]"), "no lists of sizes"),
        (plain("\"F32\"", "[4611686018427387904,8]", "[0,8]"), "does not have the bytes"),
        (plain("\"F32\"", "[4294967296,4294967296]", "[0,0]"), "does not have the bytes"),
        (plain("\"F32\"", "[99999999999999999999]", "[0,8]"), "no lists of sizes"),
        (plain("\"F32\"", &axes, "[0,8]"), "65 axes"),
        (plain("\"F32\"", "[2]", "[8,16]"), "begins at byte 8, and those before it end at 0"),
        (plain("\"F32\"", "[2]", "[0,8,16]"), "3 offsets"),
        (plain("\"F32\"", "[2]", "[8,0]"), "does not have the bytes"),
        (plain("\"F32\"", "[4]", "[0,16]"), "its arrays have 16 bytes, and 8 are there"),
        (plain("\"F32\"", "[1099511627776]", "[0,4398046511104]"), "are there"),
        (plain("\"F32\"", "[1]", "[0,4]"), "its arrays have 4 bytes, and 8 are there"),
        (two("[4,8]"), "begins at byte 4"),
        (two("[0,4]"), "begins at byte 0, and those before it end at 4"),
    ] {
        refuses(&joined(&header, DATA), words);
    }
    refuses(&joined("{\"\u{1}\":1}", DATA), "");
    let mut bytes = joined("{\"x\":1}", DATA);
    bytes[10] = 0xff;
    refuses(&bytes, "no text");
    for n in [100_000_001, 1 << 63, u64::MAX] {
        refuses(&[&n.to_le_bytes(), &b"{}"[..]].concat(), "2 are there");
    }
}

/// A file with the array `x`, eight bytes of float32, and a structure of these objects whose root is the last of them.
fn structured(objects: &[String], root: &str) -> Vec<u8> {
    let structure = format!("{{\"version\":1,\"root\":{root},\"objects\":[{}]}}", objects.join(","));
    let quoted = structure.replace('\\', "\\\\").replace('"', "\\\"");
    let header = format!(
        "{{\"__metadata__\":{{\"retrograd\":\"{quoted}\"}},\
         \"x\":{{\"dtype\":\"F32\",\"shape\":[2],\"data_offsets\":[0,8]}}}}"
    );
    joined(&header, &[0; 8])
}

#[test]
fn structures_that_lie_are_refused() {
    let tensor = |facts: &str| format!("[\"tensor\",{{{facts}}}]");
    let x = |more: &str| tensor(&format!("\"entry\":\"x\"{more}"));
    for (facts, words) in [
        (tensor(""), "without an array"),
        (tensor("\"entry\":\"z\""), "which is not there"),
        (x(",\"size\":[3]"), "not inside"),
        (x(",\"offset\":1"), "not inside"),
        (x(",\"offset\":-1"), "offset"),
        (x(",\"size\":[2],\"stride\":[9223372036854775807]"), "not inside"),
        (x(",\"size\":[2,2],\"stride\":[1]"), "not inside"),
        (x(",\"size\":[4611686018427387904,4611686018427387904]"), "not inside"),
        (x(",\"size\":[0],\"offset\":9223372036854775807"), "not inside"),
        (x(",\"dtype\":\"complex128\",\"size\":[1]"), "not inside"),
        (x(",\"dtype\":\"float8\""), "dtype"),
        (x(",\"size\":\"2\""), "size"),
    ] {
        refuses(&structured(&[facts], "[0]"), words);
    }
    refuses(&structured(&[x("")], "[1]"), "not before");
    refuses(&structured(&["[\"list\",[0]]".into()], "[0]"), "not before");
    refuses(&structured(&[x(""), "[\"dict\",\"a\"]".into()], "[1]"), "without a value");
    refuses(&structured(&[x(""), "[\"dict\",null,[0]]".into()], "[1]"), "neither a string nor an integer");
    refuses(&structured(&[x(""), "[\"dict\",\"a\",[0],\"a\",[0]]".into()], "[1]"), "two tensors have the name \"a\"");
    refuses(&structured(&["[\"sparse\",{}]".into(), "[\"list\",[0]]".into()], "[1]"), "sparse");
    refuses(&structured(&["[7]".into()], "[0]"), "without a kind");
    refuses(&structured(&[], "[]"), "not before");
    // Few objects, and very many places; and a depth that no call stack has.
    let doubled = |i: usize| if i == 0 { x("") } else { format!("[\"list\",[{0}],[{0}]]", i - 1) };
    let objects: Vec<String> = (0..64).map(doubled).collect();
    refuses(&structured(&objects, "[63]"), "places");
    let nested: Vec<String> =
        (0..50_000).map(|i| if i == 0 { x("") } else { format!("[\"list\",[{}]]", i - 1) }).collect();
    refuses(&structured(&nested, "[49999]"), "deep");
    // Expanded tensors take no memory, however large they say that they are.
    let wide = safetensors::from_bytes(&structured(&[x(",\"size\":[1099511627776],\"stride\":[0]")], "[0]")).unwrap();
    assert_eq!(wide["x"].engine().sizes(), [1 << 40]);
}
