//! The vectors that come with goodqueue, and vectors in a folder.

use crate::conformance::fault::Fault;
use crate::conformance::vector::{Vector, VectorError};
use flate2::read::DeflateDecoder;
use std::path::{Path, PathBuf};
use std::{fs, io};

/// Names and compressed contents of all vectors, embedded when this program was built.
const EMBEDDED: &[(&str, &[u8])] = include!(concat!(env!("OUT_DIR"), "/vectors.rs"));

/// A vector that has not been read yet.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Source {
    /// `FOLDER/FILE` without the ending.
    pub name: String,
    text: Text,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Text {
    /// Compressed, in this program.
    Here(&'static [u8]),
    File(PathBuf),
}

impl Source {
    /// Reads the vector.
    ///
    /// # Errors
    /// When the file cannot be read, or is not a vector.
    pub fn load(&self) -> Result<Vector, VectorError> {
        let (name, text) = match &self.text {
            Text::Here(packed) => (self.name.clone(), io::read_to_string(DeflateDecoder::new(*packed))),
            Text::File(path) => (path.display().to_string(), fs::read_to_string(path)),
        };
        let text = text.map_err(|error| VectorError { name, fault: Fault::File(error.to_string()) })?;
        Vector::parse(&self.name, &text)
    }
}

/// The vectors embedded in this program.
#[must_use]
pub fn embedded() -> Vec<Source> {
    EMBEDDED.iter().map(|&(name, packed)| Source { name: name.to_owned(), text: Text::Here(packed) }).collect()
}

/// The vectors in `folder`: its `*.json` files and those of its subfolders, sorted by name.
///
/// # Errors
/// When the folder cannot be read.
pub fn folder(folder: &Path) -> io::Result<Vec<Source>> {
    let mut sources = Vec::new();
    collect(folder, "", &mut sources)?;
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        if path.is_dir() {
            collect(&path, &format!("{}/", file_stem(&path)), &mut sources)?;
        }
    }
    sources.sort_by(|one, two| one.name.cmp(&two.name));
    Ok(sources)
}

fn collect(folder: &Path, prefix: &str, sources: &mut Vec<Source>) -> io::Result<()> {
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        let is_schema = path.file_name().is_some_and(|name| name == "vector.schema.json");
        if path.is_file() && path.extension().is_some_and(|extension| extension == "json") && !is_schema {
            sources.push(Source { name: format!("{prefix}{}", file_stem(&path)), text: Text::File(path) });
        }
    }
    Ok(())
}

fn file_stem(path: &Path) -> String {
    path.file_stem().unwrap_or_default().to_string_lossy().into_owned()
}
