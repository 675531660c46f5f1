//! How a table of word vectors is read.
//!
//! The table is a tensor of a safetensors file with one row a piece; the tokenizer's JSON says how words are cut into
//! pieces. The PyPI package wordllama holds both in its wheel, which is read as it is.
//!
//! Promises:   what cannot be used is refused, with the file and what is wrong with it
//! Checked by: tests in this file

use std::fs::File;
use std::io::{BufReader, Read, Seek};
use std::path::{Path, PathBuf};

use safetensors::{Dtype, SafeTensorError, SafeTensors};

use super::Vectors;
use crate::error::{Error, Place, Result};
use crate::knowledge::relatedness::pieces::Pieces;
use crate::memory::{Memory, open_file, read_file};

impl Vectors {
    /// Reads a table: a safetensors file with the tokenizer's JSON, or a wheel or folder that holds both.
    pub fn read(path: &Path, tokenizer: Option<&Path>) -> Result<Vectors> {
        let found = Found::at(path)?;
        let (json, name) = match (tokenizer, found.tokenizer) {
            (Some(file), _) => (bytes_of(file)?, file.display().to_string()),
            (None, Some(found)) => found,
            (None, None) => {
                let hint = "name it, as a JSON file: --tokenizer FILE";
                return Err(Error::input(Place::file(found.name), "comes without a tokenizer").with_hint(hint));
            }
        };
        let pieces = Pieces::read(&json, &name)?;
        Vectors::new(&found.table, &found.name, pieces, &name)
    }

    /// From a safetensors file and a tokenizer; names are for messages.
    pub fn new(table: &[u8], name: &str, pieces: Pieces, name_of_pieces: &str) -> Result<Vectors> {
        let refuse = |problem: String| Error::input(Place::file(name), problem);
        let tensors = SafeTensors::deserialize(table).map_err(|error| refuse(why(&error).into()))?;
        let all = tensors.tensors();
        let mut tables = all.iter().filter(|(_, tensor)| tensor.shape().len() == 2);
        let named = all.iter().find(|(name, tensor)| NAMES.contains(&name.as_str()) && tensor.shape().len() == 2);
        let (_, tensor) = match (named, tables.next(), tables.next()) {
            (Some(named), ..) => named,
            (None, Some(only), None) => only,
            (None, found, _) => {
                let found = if found.is_some() { "several tables" } else { "no table" };
                let hint = "a file of static vectors has one tensor with a row for every piece";
                return Err(
                    refuse(format!("holds {found}, and none with the name {}", NAMES.join(" or "))).with_hint(hint)
                );
            }
        };
        let (n, n_dimensions) = (tensor.shape()[0], tensor.shape()[1]);
        let rows = numbers(tensor.dtype(), tensor.data()).ok_or_else(|| {
            let problem = format!("holds numbers of the kind {:?}: F16, BF16, F32 or F64 was expected", tensor.dtype());
            refuse(problem)
        })?;
        if n != pieces.len() {
            let problem = format!("has {n} vectors, but {name_of_pieces} has {} pieces", pieces.len());
            return Err(refuse(problem).with_hint("name the tokenizer that the vectors came with"));
        }
        if rows.is_empty() || rows.iter().any(|value| !value.is_finite()) {
            return Err(refuse("holds nothing, or what is not a number".into()));
        }
        Ok(Vectors { pieces, rows, n_dimensions })
    }
}

/// Under these names tables are published.
const NAMES: [&str; 2] = ["embedding.weight", "embeddings"];

fn numbers(kind: Dtype, data: &[u8]) -> Option<Vec<f32>> {
    Some(match kind {
        Dtype::F16 => data.as_chunks().0.iter().map(|&bytes| half::f16::from_le_bytes(bytes).to_f32()).collect(),
        Dtype::BF16 => data.as_chunks().0.iter().map(|&bytes| half::bf16::from_le_bytes(bytes).to_f32()).collect(),
        Dtype::F32 => data.as_chunks().0.iter().map(|&bytes| f32::from_le_bytes(bytes)).collect(),
        Dtype::F64 => data.as_chunks().0.iter().map(|&bytes| f64::from_le_bytes(bytes) as f32).collect(),
        _ => return None,
    })
}

fn why(error: &SafeTensorError) -> &'static str {
    use SafeTensorError as E;
    match error {
        E::HeaderTooSmall | E::InvalidHeaderLength | E::MetadataIncompleteBuffer => {
            "is damaged: its length does not agree with its header"
        }
        _ => "is not a safetensors file, or damaged",
    }
}

/// A table, and perhaps a tokenizer, with their names for messages.
struct Found {
    table: Vec<u8>,
    name: String,
    tokenizer: Option<(Vec<u8>, String)>,
}

impl Found {
    fn at(path: &Path) -> Result<Found> {
        if path.is_dir() {
            return in_folder(path);
        }
        let mut file = open_file(path, "read the vectors")?;
        let mut head = [0; 4];
        let is_zip = file.read_exact(&mut head).is_ok() && head == *b"PK\x03\x04";
        if is_zip {
            file.rewind().map_err(|source| Error::io(path, "read the vectors", source))?;
            return in_wheel(file, path);
        }
        Ok(Found { table: bytes_of(path)?, name: path.display().to_string(), tokenizer: None })
    }
}

fn in_folder(folder: &Path) -> Result<Found> {
    let cannot = |source| Error::io(folder, "read the folder", source);
    let mut files: Vec<PathBuf> = Vec::new();
    for entry in std::fs::read_dir(folder).map_err(cannot)? {
        files.push(entry.map_err(cannot)?.path());
    }
    files.sort();
    let names: Vec<String> = files.iter().map(|file| file.display().to_string()).collect();
    let (table, tokenizer) = choose(&names, folder)?;
    let tokenizer = match tokenizer {
        Some(at) => Some((bytes_of(&files[at])?, names[at].clone())),
        None => None,
    };
    Ok(Found { table: bytes_of(&files[table])?, name: names[table].clone(), tokenizer })
}

fn in_wheel(file: File, path: &Path) -> Result<Found> {
    let damaged = || Error::input(Place::file(path.display().to_string()), "is not a wheel, or damaged");
    let mut wheel = zip::ZipArchive::new(BufReader::new(file)).map_err(|_| damaged())?;
    let names = wheel.file_names().map(|name| name.map(std::borrow::Cow::into_owned));
    let names: Vec<String> = names.collect::<std::result::Result<_, _>>().map_err(|_| damaged())?;
    let (table, tokenizer) = choose(&names, path)?;
    let mut bytes = |at: usize| -> Result<Vec<u8>> {
        let mut bytes = Vec::new();
        let entry = wheel.by_name(&names[at]).map_err(|_| damaged())?;
        entry.take(MOST_BYTES).read_to_end(&mut bytes).map_err(|_| damaged())?;
        Ok(bytes)
    };
    let within = |at: usize| format!("{} in {}", names[at], path.display());
    let tokenizer = match tokenizer {
        Some(at) => Some((bytes(at)?, within(at))),
        None => None,
    };
    Ok(Found { table: bytes(table)?, name: within(table), tokenizer })
}

/// No table of words is as large: somebody packed it to fill the memory.
const MOST_BYTES: u64 = 1 << 31;

/// Which of these files is the table, and which the tokenizer.
fn choose(names: &[String], place: &Path) -> Result<(usize, Option<usize>)> {
    let base = |name: &str| name.rsplit(['/', '\\']).next().unwrap_or(name).to_lowercase();
    let of =
        |is: &dyn Fn(&str) -> bool| -> Vec<usize> { (0..names.len()).filter(|&at| is(&base(&names[at]))).collect() };
    let tables = of(&|name| name.ends_with(".safetensors"));
    let &[table] = &tables[..] else {
        let problem = format!("holds {} safetensors files: one was expected", tables.len());
        let hint = "name the file itself, and its tokenizer with --tokenizer";
        return Err(Error::input(Place::file(place.display().to_string()), problem).with_hint(hint));
    };
    let exact = of(&|name| name == "tokenizer.json");
    let near = of(&|name| name.contains("tokenizer") && name.ends_with(".json"));
    let only = |found: &[usize]| if let &[only] = found { Some(only) } else { None };
    Ok((table, only(&exact).or(only(&near))))
}

fn bytes_of(path: &Path) -> Result<Vec<u8>> {
    read_file(path, "read the vectors", Memory::default())
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use safetensors::tensor::TensorView;

    use super::super::Kind;
    use super::*;

    /// Words a, b and DNA have rows of their own, "ab" is put together, and "c" is met nowhere.
    const TOKENIZER: &str = r#"{
        "pre_tokenizer": {"type": "Metaspace", "replacement": "▁", "prepend_scheme": "first"},
        "model": {
            "type": "BPE",
            "vocab": {"▁": 0, "a": 1, "b": 2, "▁a": 3, "▁b": 4, "bb": 5, "D": 6, "N": 7, "A": 8, "DN": 9, "DNA": 10, "▁DNA": 11},
            "merges": ["▁ a", "▁ b", "b b", "D N", "DN A", "▁ DNA"]
        }
    }"#;

    fn rows() -> Vec<f32> {
        let mut rows = vec![0.5; 24];
        for (id, row) in [(3, [1.0, 0.0]), (4, [0.0, 2.0]), (5, [-2.0, 0.0]), (11, [0.0, -1.0])] {
            rows[2 * id..2 * id + 2].copy_from_slice(&row);
        }
        rows
    }

    fn saved(name: &str, kind: Dtype, shape: &[usize], data: &[u8]) -> Vec<u8> {
        let tensor = TensorView::new(kind, shape.to_vec(), data).unwrap();
        safetensors::serialize([(name, tensor)], None).unwrap()
    }

    fn small() -> Vec<u8> {
        let data: Vec<u8> = rows().iter().flat_map(|&value| half::f16::from_f32(value).to_le_bytes()).collect();
        saved("embedding.weight", Dtype::F16, &[12, 2], &data)
    }

    fn made(table: &[u8]) -> Result<Vectors> {
        Vectors::new(table, "t", Pieces::read(TOKENIZER.as_bytes(), "j").unwrap(), "j")
    }

    #[test]
    fn items_are_words_then_phrases_then_heads_then_words() {
        let vectors = made(&small()).unwrap();
        assert_eq!((vectors.len(), vectors.n_dimensions()), (12, 2));
        for (item, kind, vector) in [
            ("a", Kind::Word, Some([1.0, 0.0])),
            ("B", Kind::Word, Some([0.0, 1.0])),
            // In capitals it has a row; as written it has letters that the table lacks.
            ("dna", Kind::Word, Some([0.0, -1.0])),
            ("Abbs", Kind::Pieces, Some([-1.0, 0.0])),
            ("abb", Kind::Pieces, Some([-1.0, 0.0])),
            ("a, b", Kind::Phrase, Some([1.0 / 5.0_f32.sqrt(), 2.0 / 5.0_f32.sqrt()])),
            ("c b", Kind::Head, Some([0.0, 1.0])),
            ("b c", Kind::Words, Some([0.0, 1.0])),
            ("ba", Kind::Unknown, None),
            ("c", Kind::Unknown, None),
            ("!", Kind::Unknown, None),
            ("", Kind::Unknown, None),
        ] {
            let (found, of_item) = vectors.meaning(item);
            assert_eq!(found, kind, "{item}");
            let expected = vector.map(Vec::from);
            let is_near = |(a, b): (&f32, &f32)| (a - b).abs() < 1e-6;
            match (&of_item, &expected) {
                (Some(a), Some(b)) => assert!(a.iter().zip(b).all(is_near), "{item}: {a:?}"),
                (a, b) => assert_eq!(a, b, "{item}"),
            }
        }
        // What points nowhere is not known.
        let mut rows = rows();
        rows[6..8].fill(0.0);
        let data: Vec<u8> = rows.iter().flat_map(|value| value.to_le_bytes()).collect();
        let vectors = made(&saved("any", Dtype::F32, &[12, 2], &data)).unwrap();
        assert_eq!(vectors.meaning("a"), (Kind::Unknown, None));
        assert!((vectors.meaning("b a").1.unwrap()[1] - 1.0).abs() < 1e-6);
    }

    #[test]
    fn tables_of_all_kinds_are_the_same() {
        let rows = rows();
        let bytes = |kind: Dtype| -> Vec<u8> {
            let of = |&value: &f32| match kind {
                Dtype::F16 => half::f16::from_f32(value).to_le_bytes().to_vec(),
                Dtype::BF16 => half::bf16::from_f32(value).to_le_bytes().to_vec(),
                Dtype::F32 => value.to_le_bytes().to_vec(),
                _ => f64::from(value).to_le_bytes().to_vec(),
            };
            rows.iter().flat_map(of).collect()
        };
        for kind in [Dtype::F16, Dtype::BF16, Dtype::F32, Dtype::F64] {
            assert_eq!(made(&saved("embeddings", kind, &[12, 2], &bytes(kind))).unwrap().rows, rows, "{kind:?}");
        }
    }

    #[test]
    fn what_is_not_a_table_is_refused() {
        let ones = [1; 96];
        let several = {
            let view = || TensorView::new(Dtype::U8, vec![12, 2], &ones[..24]).unwrap();
            safetensors::serialize([("a", view()), ("b", view())], None).unwrap()
        };
        let infinite = f32::INFINITY.to_le_bytes().repeat(24);
        for (table, problem) in [
            (saved("a", Dtype::I8, &[12, 2], &ones[..24]), "t: holds numbers of the kind I8"),
            (saved("a", Dtype::F32, &[24], &ones), "t: holds no table"),
            (several, "t: holds several tables"),
            (saved("a", Dtype::F32, &[6, 4], &ones), "t: has 6 vectors, but j has 12 pieces"),
            (saved("a", Dtype::F32, &[12, 0], &[]), "t: holds nothing"),
            (saved("a", Dtype::F32, &[12, 2], &infinite), "what is not a number"),
            (Vec::new(), "t: is damaged"),
            (b"word,count\n1,2,3,4,5,6,7,8".to_vec(), "t: is"),
        ] {
            let error = made(&table).err().unwrap().to_string();
            assert!(error.contains(problem), "{problem}: {error}");
        }
        let table = small();
        for end in 0..table.len() {
            assert!(made(&table[..end]).is_err(), "{end}");
        }
        for at in 0..table.len() {
            let mut damaged = table.clone();
            damaged[at] ^= 0x10;
            if let Ok(vectors) = made(&damaged) {
                assert!(vectors.rows.len() == 24 && vectors.rows.iter().all(|value| value.is_finite()), "{at}");
            }
        }
    }

    #[test]
    fn files_folders_and_wheels_are_read() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        let error = |path: &Path| Vectors::read(path, None).err().unwrap().to_string();
        assert!(error(&at("none")).contains("cannot read the vectors"));
        assert!(error(folder.path()).contains("holds 0 safetensors files"));
        std::fs::write(at("words.safetensors"), small()).unwrap();
        assert!(error(folder.path()).contains("words.safetensors: comes without a tokenizer"));
        std::fs::write(at("x.json"), TOKENIZER).unwrap();
        assert!(Vectors::read(&at("words.safetensors"), Some(&at("x.json"))).is_ok());
        std::fs::write(at("tokenizer.json"), TOKENIZER).unwrap();
        std::fs::write(at("tokenizer_config.json"), "{}").unwrap();
        assert_eq!(Vectors::read(folder.path(), None).unwrap().rows, rows());

        let wheel = at("x.whl");
        let mut writer = zip::ZipWriter::new(File::create(&wheel).unwrap());
        for (name, bytes) in [("x/w/a.safetensors", small()), ("x/t/a_tokenizer_config.json", TOKENIZER.into())] {
            writer.start_file(name, zip::write::SimpleFileOptions::default()).unwrap();
            writer.write_all(&bytes).unwrap();
        }
        writer.finish().unwrap();
        assert_eq!(Vectors::read(&wheel, None).unwrap().rows, rows());
        let whole = std::fs::read(&wheel).unwrap();
        std::fs::write(&wheel, &whole[..whole.len() / 2]).unwrap();
        assert!(error(&wheel).contains("is not a wheel, or damaged"));
        // A byte of the packed table: its sum is wrong.
        let mut damaged = whole.clone();
        damaged[80] ^= 0xff;
        std::fs::write(&wheel, &damaged).unwrap();
        error(&wheel);
    }
}
