//! Files of named tensors, in the format [safetensors](https://github.com/huggingface/safetensors).
//!
//! Any program that reads the format reads what [`save`] writes, and `retrograd.load` of Python does so. [`load`] reads
//! the files of others, and what `retrograd.save` of Python writes: tensors that are nested in dicts and lists have the
//! way to them as their name, `layers.0.weight`, and those that share memory share it again.
//!
//! ```
//! use retrograd::nn::{Linear, Module};
//! use retrograd::safetensors;
//!
//! let path = std::env::temp_dir().join(format!("retrograd-doc-{}.safetensors", std::process::id()));
//! let layer = Linear::new(3, 2);
//! safetensors::save(&path, &layer.state_dict())?;
//! Linear::new(3, 2).load_state_dict(&safetensors::load(&path)?)?;
//! # std::fs::remove_file(path).unwrap();
//! # Ok::<(), retrograd::Error>(())
//! ```

mod elements;
mod header;
mod json;
mod replace;
mod structure;

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{self, BufReader, Cursor, Read, Seek, SeekFrom, Write};
use std::path::Path;

use crate::engine::Tensor as Inner;
use crate::engine::autograd::GradGuard;
use crate::engine::ops::memory;
use crate::nn::StateDict;
use crate::{DType, Error, Result, Tensor};
use header::{LENGTH, LIMIT, Span};
use structure::Layout;

/// Writes tensors to a file, by their names.
///
/// A file that is there is replaced when the new one is complete; after an error it is as it was. Tensors are written
/// in row-major order, without their history.
///
/// An error if the file cannot be written, for sparse tensors, and for the name `__metadata__`.
///
/// ```
/// use std::collections::BTreeMap;
/// use retrograd::{Tensor, engine, safetensors};
///
/// let path = std::env::temp_dir().join(format!("retrograd-save-{}.safetensors", std::process::id()));
/// let x = Tensor::from(engine::Tensor::from_slice(&[1.0, 2.0], &[2])?);
/// safetensors::save(&path, &BTreeMap::from([("x".to_owned(), x)]))?;
/// assert_eq!(safetensors::load(&path)?["x"].engine().to_vec::<f64>()?, [1.0, 2.0]);
/// # std::fs::remove_file(path).unwrap();
/// # Ok::<(), retrograd::Error>(())
/// ```
pub fn save(path: impl AsRef<Path>, tensors: &BTreeMap<String, Tensor>) -> Result<()> {
    let path = path.as_ref();
    let prepared = Prepared::new(tensors)?;
    replace::replace(path, |file| prepared.write(file)).map_err(|fault| fault.at("save", path))
}

/// The bytes of such a file.
///
/// ```
/// use std::collections::BTreeMap;
/// use retrograd::{Tensor, engine, safetensors};
///
/// let x = Tensor::from(engine::Tensor::from_slice(&[1.0, 2.0], &[2])?);
/// let bytes = safetensors::to_bytes(&BTreeMap::from([("x".to_owned(), x)]))?;
/// assert_eq!(safetensors::from_bytes(&bytes)?["x"].engine().to_vec::<f64>()?, [1.0, 2.0]);
/// # Ok::<(), retrograd::Error>(())
/// ```
pub fn to_bytes(tensors: &BTreeMap<String, Tensor>) -> Result<Vec<u8>> {
    let mut bytes = Vec::new();
    Prepared::new(tensors)?.write(&mut bytes).map_err(|fault| fault.within("to_bytes", "the tensors"))?;
    Ok(bytes)
}

/// Reads the tensors of a file, by their names.
///
/// Nothing in a file is believed before it was checked: arrays fill the file without gaps and overlaps, and no memory
/// is taken for what is not there. A file that fails a check is an error, as is one that cannot be read. In a file of
/// `retrograd.save` of Python, what is no tensor is left out.
///
/// ```
/// use retrograd::safetensors;
///
/// let error = safetensors::load("no such file").unwrap_err();
/// assert!(error.to_string().starts_with("load: no such file: "));
/// ```
pub fn load(path: impl AsRef<Path>) -> Result<StateDict> {
    let path = path.as_ref();
    let open = || {
        let file = File::open(path)?;
        let size = file.metadata()?.len();
        read(&mut BufReader::new(file), size)
    };
    open().map_err(|fault: Fault| fault.at("load", path))
}

/// As [`load`], from the bytes of a file.
///
/// ```
/// use retrograd::safetensors;
///
/// assert!(safetensors::from_bytes(b"\x02\0\0\0\0\0\0\0{}")?.is_empty());
/// assert!(safetensors::from_bytes(b"\xff\0\0\0\0\0\0\0{}").is_err());
/// # Ok::<(), retrograd::Error>(())
/// ```
pub fn from_bytes(bytes: &[u8]) -> Result<StateDict> {
    read(&mut Cursor::new(bytes), bytes.len() as u64).map_err(|fault| fault.within("from_bytes", "the bytes"))
}

/// What went wrong, before it is known where.
enum Fault {
    Io(io::Error),
    /// What a file says that is not so.
    Damaged(String),
    Engine(Error),
}

impl From<io::Error> for Fault {
    fn from(error: io::Error) -> Self {
        Self::Io(error)
    }
}

impl From<Error> for Fault {
    fn from(error: Error) -> Self {
        Self::Engine(error)
    }
}

impl Fault {
    fn at(self, op: &'static str, path: &Path) -> Error {
        self.within(op, &path.display().to_string())
    }

    fn within(self, op: &'static str, what: &str) -> Error {
        match self {
            Self::Io(error) => Error::value(op, format!("{what}: {error}")),
            Self::Damaged(why) => {
                Error::value(op, format!("{what}: the file is damaged, or no safetensors file: {why}"))
            }
            Self::Engine(error) => error,
        }
    }
}

/// Tensors that can be written, with the header.
struct Prepared {
    header: Vec<u8>,
    /// In the order of the file.
    tensors: Vec<Inner>,
}

impl Prepared {
    fn new(tensors: &BTreeMap<String, Tensor>) -> Result<Self> {
        let refuse = |name: &str, why: &str| Err(Error::value("save", format!("{name:?} {why}")));
        let _off = GradGuard::new(false);
        let mut order: Vec<(&str, &Inner)> = tensors.iter().map(|(name, t)| (name.as_str(), &t.0)).collect();
        // Larger elements first: then all are at multiples of their size.
        order.sort_by_key(|(_, t)| std::cmp::Reverse(t.dtype().size()));
        let (mut spans, mut end) = (Vec::new(), 0);
        for &(name, t) in &order {
            if name == "__metadata__" {
                return refuse(name, "is a name that the format keeps for itself: choose another");
            }
            if t.is_sparse() {
                return refuse(name, "is a sparse tensor, which files do not hold: save `to_dense`");
            }
            let (dtype, sizes) = stored(t.dtype(), t.sizes());
            let begin = end;
            end += t.nbytes() as u64;
            spans.push(Span { name: name.to_owned(), dtype, sizes, begin, end });
        }
        let structure = order.iter().any(|(_, t)| header::name_of(t.dtype()).is_none()).then(|| {
            let about: Vec<_> = order.iter().map(|(name, t)| (*name, t.dtype(), t.sizes())).collect();
            structure::write(&about)
        });
        let metadata = structure.as_deref().map(|text| (structure::KEY, text));
        let header = header::write(&spans, metadata).map_err(|why| Error::value("save", why))?;
        Ok(Self { header, tensors: order.into_iter().map(|(_, t)| t.detach()).collect() })
    }

    fn write(&self, to: &mut impl Write) -> std::result::Result<(), Fault> {
        to.write_all(&self.header)?;
        let _off = GradGuard::new(false);
        for t in &self.tensors {
            let t =
                if t.is_contiguous() && !t.lazy_bits().any() { t.clone() } else { memory::cloned(t)?.contiguous()? };
            elements::write(to, &t)??;
        }
        Ok(())
    }
}

/// The dtype and sizes of the array of a tensor: of pairs of real numbers where the format lacks the dtype.
fn stored(dtype: DType, sizes: &[usize]) -> (DType, Vec<usize>) {
    if header::name_of(dtype).is_some() {
        return (dtype, sizes.to_vec());
    }
    (dtype.real(), sizes.iter().copied().chain([2]).collect())
}

fn read(file: &mut (impl Read + Seek), size: u64) -> std::result::Result<StateDict, Fault> {
    let mut length = [0; LENGTH as usize];
    if size < LENGTH {
        return Err(Fault::Damaged(format!("it has {size} bytes")));
    }
    file.read_exact(&mut length)?;
    let (length, left) = (u64::from_le_bytes(length), size - LENGTH);
    if length > LIMIT || length > left {
        return Err(Fault::Damaged(format!("its header has {length} bytes, and {left} are there")));
    }
    let mut text = vec![0; length as usize];
    file.read_exact(&mut text)?;
    let text = String::from_utf8(text).map_err(|_| Fault::Damaged("its header is no text".into()))?;
    let header = header::parse(&text).map_err(Fault::Damaged)?;
    let there = left - length;
    if header.bytes != there {
        return Err(Fault::Damaged(format!("its arrays have {} bytes, and {there} are there", header.bytes)));
    }
    let layouts = match header.metadata.iter().find(|(key, _)| key == structure::KEY) {
        Some((_, text)) => structure::parse(text, &header.spans).map_err(Fault::Damaged)?,
        None => structure::plain(&header.spans),
    };
    let mut arrays = Arrays { file, begin: LENGTH + length, spans: &header.spans, known: BTreeMap::new() };
    let mut tensors = StateDict::new();
    for layout in layouts {
        let tensor = arrays.tensor(&layout)?;
        tensors.insert(layout.name, Tensor(tensor));
    }
    Ok(tensors)
}

/// The arrays of a file, each of which is read once for every dtype in which tensors see it.
struct Arrays<'a, F> {
    file: &'a mut F,
    begin: u64,
    spans: &'a [Span],
    known: BTreeMap<(usize, &'static str), Inner>,
}

impl<F: Read + Seek> Arrays<'_, F> {
    fn tensor(&mut self, layout: &Layout) -> std::result::Result<Inner, Fault> {
        let _off = GradGuard::new(false);
        let span = &self.spans[layout.span];
        let key = (layout.span, layout.dtype.name());
        let array = match self.known.get(&key) {
            Some(array) => array.clone(),
            None => {
                self.file.seek(SeekFrom::Start(self.begin + span.begin))?;
                let sizes = if layout.is_whole(span) { &layout.sizes } else { &vec![layout.elements(span)] };
                let array = elements::read(self.file, layout.dtype, sizes)??;
                self.known.insert(key, array.clone());
                array
            }
        };
        let mut tensor = array;
        if !(layout.is_whole(span) && tensor.sizes() == layout.sizes) {
            let strides = match &layout.strides {
                Some(strides) => strides.iter().map(|&n| n as isize).collect(),
                None => row_major(&layout.sizes),
            };
            tensor = tensor.as_strided(&layout.sizes, &strides, Some(layout.offset as i64))?;
        }
        if layout.conj {
            tensor = tensor.conj()?;
        }
        // A tensor of its own over the same memory, whether another tensor is the same.
        let tensor = tensor.detach();
        if layout.requires_grad {
            tensor.set_requires_grad(true)?;
        }
        Ok(tensor)
    }
}

fn row_major(sizes: &[usize]) -> Vec<isize> {
    let mut strides = vec![1isize; sizes.len()];
    for axis in (1..sizes.len()).rev() {
        let along = isize::try_from(sizes[axis].max(1)).unwrap_or(isize::MAX);
        strides[axis - 1] = strides[axis].saturating_mul(along);
    }
    strides
}
