//! Files from elsewhere, read within bounds.

use crate::import::ImportError;
use flate2::read::MultiGzDecoder;
use goodqueue_lab::scenario::input::{open_named, remember_named};
use std::io::{BufReader, Cursor, Read};
use std::path::Path;

/// A file's content, unpacked.
#[derive(Clone, Debug)]
pub struct Input {
    /// The file's name for messages.
    pub name: String,
    /// The content, unpacked.
    pub bytes: Vec<u8>,
    /// Whether a file of this name has these bytes: not where it was packed, or is no file.
    pub(crate) is_stored: bool,
}

/// The content of a file, unpacked, as it is read.
pub type Content = Box<dyn Read + Send>;

/// More than this is not held, packed or unpacked: a day of a controller's log has about 50 MB.
pub const MAX_BYTES: u64 = 64 << 20;

/// The name of standard input in messages.
const STANDARD_INPUT: &str = "standard input";

/// First bytes of a gzip file (RFC 1952 §2.3.1).
const GZIP: [u8; 2] = [0x1f, 0x8b];

/// First bytes of files that hold a measurement in a form that is not read, with the remedy.
const OTHERWISE_PACKED: &[(&[u8], &str)] = &[
    (b"BZh", "is packed by bzip2: unpack it first"),
    (b"\xfd7zXZ\0", "is packed by xz: unpack it first"),
    (b"\x28\xb5\x2f\xfd", "is packed by zstd: unpack it first"),
    (b"PK\x03\x04", "is packed by zip: unpack it first"),
    (b"\xcb\x59\x7c\xae\x82\xab\x72\x53", "is Crusader's own form, which is not read: crusader export FILE makes JSON of it"),
];

/// First bytes of text in UTF-16 with the low and with the high byte first, as PowerShell writes
/// it, and of text in UTF-8 that is marked as such.
const UTF_16: [[u8; 2]; 2] = [[0xff, 0xfe], [0xfe, 0xff]];
const UTF_8: [u8; 3] = [0xef, 0xbb, 0xbf];

impl Input {
    /// Reads a file, or standard input when it is called `-`. Files packed by gzip are unpacked.
    ///
    /// # Errors
    /// When it cannot be read, is no file, is larger than 64 MiB unpacked, or is packed otherwise.
    pub fn load(path: &Path) -> Result<Self, ImportError> {
        let (named, content) = Self::open(path)?;
        named.filled(content)
    }

    /// Opens a file, or standard input when it is called `-`, whose content comes unpacked and as
    /// it is read: for formats that need not be held whole.
    ///
    /// # Errors
    /// When it cannot be read, or is a directory or a named pipe.
    pub fn open(path: &Path) -> Result<(Self, Content), ImportError> {
        let name = path.display().to_string();
        let fault = |message: String| ImportError { file: name.clone(), message };
        let unreadable = |error: std::io::Error| match error.kind() {
            std::io::ErrorKind::NotFound => fault("no such file".to_owned()),
            std::io::ErrorKind::PermissionDenied => fault("may not be read: permission denied".to_owned()),
            _ => fault(format!("cannot be read: {error}")),
        };
        if path.as_os_str() == "-" {
            remember_named(Path::new("/dev/stdin"));
            return Self::unpacked(STANDARD_INPUT, std::io::stdin());
        }
        let facts = std::fs::metadata(path).map_err(unreadable)?;
        if facts.is_dir() {
            return Err(fault("is a directory: expected a file".to_owned()));
        }
        let file = open_named(path).map_err(unreadable)?;
        Self::unpacked(&name, file)
    }

    /// Looks at the beginning of a file for that of a packed one.
    fn unpacked(name: &str, from: impl Read + Send + 'static) -> Result<(Self, Content), ImportError> {
        let named = Self { name: name.to_owned(), bytes: Vec::new(), is_stored: name != STANDARD_INPUT };
        let mut from = BufReader::new(from);
        let mut start = Vec::new();
        let read = from.by_ref().take(GZIP.len() as u64).read_to_end(&mut start);
        read.map_err(|error| named.fault(format!("cannot be read: {error}")))?;
        let is_packed = start == GZIP;
        let named = Self { is_stored: named.is_stored && !is_packed, ..named };
        let whole = Cursor::new(start).chain(from);
        Ok((named, if is_packed { Box::new(MultiGzDecoder::new(whole)) } else { Box::new(whole) }))
    }

    /// Reads at most 64 MiB, and unpacks what gzip has packed.
    ///
    /// # Errors
    /// As [`Input::load`].
    pub fn read(name: &str, from: impl Read) -> Result<Self, ImportError> {
        let bytes = bounded(name, from)?;
        let named = Self { name: name.to_owned(), bytes: Vec::new(), is_stored: !bytes.starts_with(&GZIP) };
        if bytes.starts_with(&GZIP) {
            named.filled(MultiGzDecoder::new(bytes.as_slice()))
        } else {
            named.filled(bytes.as_slice())
        }
    }

    /// Takes the content, at most 64 MiB unpacked, as UTF-8 where it is marked as text.
    ///
    /// # Errors
    /// When it cannot be read, is larger, or is packed in a way that is not read.
    pub fn filled(self, content: impl Read) -> Result<Self, ImportError> {
        let mut bytes = bounded(&self.name, content)?;
        if let Some((_, message)) = OTHERWISE_PACKED.iter().find(|(magic, _)| bytes.starts_with(magic)) {
            return Err(self.fault(*message));
        }
        let is_marked = bytes.starts_with(&UTF_8) || UTF_16.iter().any(|mark| bytes.starts_with(mark));
        let bytes = if bytes.starts_with(&UTF_8) { bytes.split_off(UTF_8.len()) } else { narrow(bytes) };
        Ok(Self { bytes, is_stored: self.is_stored && !is_marked, ..self })
    }

    /// The file's name without its folder.
    #[must_use]
    pub fn file_name(&self) -> &str {
        self.name.rsplit('/').next().unwrap_or(&self.name)
    }

    /// Returns an error of this file with `message`.
    #[must_use]
    pub fn fault(&self, message: impl Into<String>) -> ImportError {
        ImportError { file: self.name.clone(), message: message.into() }
    }

    /// Returns the content as text.
    ///
    /// # Errors
    /// When it is not UTF-8.
    pub fn text(&self) -> Result<&str, ImportError> {
        std::str::from_utf8(&self.bytes)
            .map_err(|error| self.fault(format!("is not UTF-8 text: byte {} cannot be read", error.valid_up_to() + 1)))
    }
}

fn bounded(name: &str, from: impl Read) -> Result<Vec<u8>, ImportError> {
    let fault = |message| ImportError { file: name.to_owned(), message };
    let mut bytes = Vec::new();
    from.take(MAX_BYTES + 1).read_to_end(&mut bytes).map_err(|error| fault(format!("cannot be read: {error}")))?;
    if bytes.len() as u64 > MAX_BYTES {
        return Err(fault(format!("is too large: allowed up to {} MiB", MAX_BYTES >> 20)));
    }
    Ok(bytes)
}

/// Text in UTF-16 as UTF-8; everything else as it is.
fn narrow(bytes: Vec<u8>) -> Vec<u8> {
    let Some(order) = UTF_16.iter().position(|mark| bytes.starts_with(mark)) else { return bytes };
    let unit =
        |pair: &[u8]| if order == 0 { u16::from_le_bytes([pair[0], pair[1]]) } else { u16::from_be_bytes([pair[0], pair[1]]) };
    let units = bytes[2..].chunks_exact(2).map(unit);
    let text: Result<String, _> = char::decode_utf16(units).collect();
    text.map_or(bytes, String::into_bytes)
}

#[cfg(test)]
mod tests {
    use super::*;
    use flate2::Compression;
    use flate2::write::GzEncoder;
    use std::io::Write;

    #[test]
    fn packed_files_are_unpacked_within_bounds() {
        let mut packer = GzEncoder::new(Vec::new(), Compression::fast());
        packer.write_all(b"{\"a\": 1}").unwrap();
        let input = Input::read("x.gz", packer.finish().unwrap().as_slice()).unwrap();
        assert_eq!(input.json().unwrap()["a"], 1);

        let zeros = std::io::repeat(0).take(MAX_BYTES + 2);
        let mut packer = GzEncoder::new(zeros_packed(zeros), Compression::fast());
        packer.flush().unwrap();
        let bomb = packer.get_ref().clone();
        let error = Input::read("bomb.gz", bomb.as_slice()).unwrap_err();
        assert_eq!(error.to_string(), "bomb.gz: is too large: allowed up to 64 MiB");
    }

    fn zeros_packed(mut zeros: impl Read) -> Vec<u8> {
        let mut packer = GzEncoder::new(Vec::new(), Compression::fast());
        std::io::copy(&mut zeros, &mut packer).unwrap();
        packer.finish().unwrap()
    }

    #[test]
    fn text_of_powershell_is_read() {
        let marked: Vec<u8> = "\u{feff}{\"ä\": 1}".encode_utf16().flat_map(u16::to_le_bytes).collect();
        let swapped: Vec<u8> = "\u{feff}{\"ä\": 1}".encode_utf16().flat_map(u16::to_be_bytes).collect();
        for bytes in [marked.as_slice(), &swapped, "\u{feff}{\"ä\": 1}".as_bytes()] {
            assert_eq!(Input::read("x", bytes).unwrap().text().unwrap(), "{\"ä\": 1}");
        }
    }

    #[test]
    fn files_that_are_packed_otherwise_are_named() {
        for (magic, message) in OTHERWISE_PACKED {
            assert_eq!(Input::read("x", *magic).unwrap_err().to_string(), format!("x: {message}"));
        }
    }

    #[test]
    fn nesting_without_end_is_refused() {
        let deep = "[".repeat(1_000_000);
        let error = Input::read("deep.json", deep.as_bytes()).unwrap().json().unwrap_err();
        assert!(error.to_string().starts_with("deep.json: is not JSON: recursion limit exceeded"), "{error}");
    }

    #[test]
    fn what_is_not_text_is_named() {
        let error = Input::read("x", &b"ab\xff"[..]).unwrap().text().unwrap_err();
        assert_eq!(error.to_string(), "x: is not UTF-8 text: byte 3 cannot be read");
    }
}
