//! Lists of flows: files of comma-separated values, one transfer per line.
//!
//! ```text
//! # comments and blank lines are skipped
//! start,  size,   control, path
//! 0 s,    2 MB,   cubic,   a > b
//! 150 ms, 40 kB,  ,
//! ```
//!
//! The first line names the columns, in any order: `start` and `size` are required, `control` and
//! `path` optional; an empty cell of these means the value of the scenario. Quantities have units
//! as in scenario files; lines need not be sorted by time.
//!
//! Files are read line by line with bounds on everything, so no file can exhaust memory.

use crate::quantity::{self, Limits, QuantityError, excerpt};
use crate::scenario::input::{FileError, FileFault, FlowFault, Place, open};
use goodqueue_base::spec::nearest;
use goodqueue_base::units::{Bytes, Duration};
use goodqueue_sim::Transfer;
use goodqueue_tcp::cc::kinds;
use std::collections::BTreeMap;
use std::io::{BufRead, Read};
use std::path::Path;
use std::sync::Arc;

/// Larger files are rejected before they are read.
const MAX_FILE_SIZE: u64 = 256 << 20;
const MAX_LINE: usize = 1_000;
/// Largest number of rows; each takes 16 bytes of memory.
const MAX_ROWS: usize = 1_000_000;
/// Largest number of parts; each is a flow of its own in the world.
const MAX_PARTS: usize = 1_000;
const STARTS: Limits<Duration> = Limits::new(Duration::ZERO, Duration::secs(10_000_000));
const SIZES: Limits<Bytes> = Limits::new(Bytes::new(1), Bytes::new(1_000_000_000_000_000));

/// The columns; `control` may also be written as `cc`, the key of scenario files.
const COLUMNS: [&str; 4] = ["start", "size", "control", "path"];
const START: usize = 0;
const SIZE: usize = 1;
const CONTROL: usize = 2;
const PATH: usize = 3;
const CONTROL_KEY: &str = "cc";

/// A list of flows, sorted by control and path.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FlowList {
    /// One part per control and path, in the order of the file; at least one.
    pub parts: Vec<FlowListPart>,
}

/// The transfers of one control on one path.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FlowListPart {
    /// Kind of the congestion control; `None` for that of the scenario.
    pub control: Option<&'static str>,
    /// Path; `None` for that of the scenario.
    pub path: Option<ListedPath>,
    /// Sorted by time; simultaneous transfers keep the order of the file. At least one.
    pub transfers: Arc<[Transfer]>,
}

/// A path as the file has it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ListedPath {
    /// Names of nodes, from sender to receiver.
    pub nodes: Vec<String>,
    /// Place of its first occurrence, for messages: `file:line:column`.
    pub place: String,
}

impl FlowList {
    /// Feeds the content to a hash: lists with equal content are equal to it, however they are
    /// written.
    pub(crate) fn hash_into(&self, update: &mut dyn FnMut(&[u8])) {
        update(b"flow list");
        for part in &self.parts {
            let nodes = part.path.iter().flat_map(|path| &path.nodes);
            for word in std::iter::once(part.control.unwrap_or_default()).chain(nodes.map(String::as_str)) {
                update(&(word.len() as u64).to_le_bytes());
                update(word.as_bytes());
            }
            // No string is that long.
            update(&u64::MAX.to_le_bytes());
            update(&(part.transfers.len() as u64).to_le_bytes());
            for transfer in &*part.transfers {
                update(&transfer.at.as_nanos().to_le_bytes());
                update(&transfer.size.get().to_le_bytes());
            }
        }
    }
}

/// Reads a list of flows from a file.
///
/// # Errors
/// When the file cannot be read or is no list of flows; the error names file, line and column.
pub fn load(path: &Path) -> Result<FlowList, FileError> {
    read(&path.display().to_string(), open(path, MAX_FILE_SIZE)?)
}

/// Reads a list of flows from bytes; `name` stands for the file in errors.
///
/// # Errors
/// When the bytes are no list of flows; the error names line and column.
pub fn read(name: &str, mut input: impl BufRead) -> Result<FlowList, FileError> {
    let mut draft = Draft::default();
    let mut line = Vec::new();
    for number in 1.. {
        let at = |column, fault: FileFault| FileError::at(name, Place::Cell(number, column), fault);
        line.clear();
        let got = input.by_ref().take(MAX_LINE as u64 + 2).read_until(b'\n', &mut line);
        if got.map_err(|error| at(1, error.into()))? == 0 {
            break;
        }
        draft.add_line(name, number, &line).map_err(|(column, fault)| at(column, fault.into()))?;
    }
    draft.finish().map_err(|fault| FileError::whole(name, fault))
}

/// A fault and the character of the line that it refers to, counted from one.
type Located = (usize, FlowFault);

/// A cell and the character of its line at which it starts, counted from one.
type Cell<'a> = (usize, &'a str);

#[derive(Default)]
struct Draft {
    /// The position of each of [`COLUMNS`]; `None` before the header.
    header: Option<Header>,
    rows: usize,
    parts: Vec<FlowListPart>,
    /// Transfers of each part, in the order of the file.
    transfers: Vec<Vec<Transfer>>,
    /// Number of the part of a control and a path as written.
    known: BTreeMap<(Option<&'static str>, String), usize>,
}

struct Header {
    width: usize,
    columns: [Option<usize>; COLUMNS.len()],
}

impl Draft {
    fn add_line(&mut self, name: &str, number: u64, line: &[u8]) -> Result<(), Located> {
        let line = line.strip_suffix(b"\n").unwrap_or(line);
        let line = line.strip_suffix(b"\r").unwrap_or(line);
        if line.len() > MAX_LINE {
            return Err((1, FlowFault::LongLine { most: MAX_LINE }));
        }
        let line = std::str::from_utf8(line).map_err(|error| {
            let before = String::from_utf8_lossy(&line[..error.valid_up_to()]).chars().count();
            (before + 1, FlowFault::NotUtf8)
        })?;
        // Spreadsheet programs may begin files with a byte order mark.
        let line = if number == 1 { line.strip_prefix('\u{feff}').unwrap_or(line) } else { line };
        if line.trim().is_empty() || line.trim_start().starts_with('#') {
            return Ok(());
        }
        let cells = cells(line)?;
        match &self.header {
            None => self.header = Some(Header::read(&cells)?),
            Some(header) => {
                let row = header.row(&cells)?;
                self.add_row(name, number, row)?;
            }
        }
        Ok(())
    }

    fn add_row(&mut self, name: &str, number: u64, row: [Option<Cell<'_>>; COLUMNS.len()]) -> Result<(), Located> {
        self.rows += 1;
        if self.rows > MAX_ROWS {
            return Err((1, FlowFault::TooManyFlows { most: MAX_ROWS }));
        }
        let refuse = |column: usize, at: usize| {
            move |fault: QuantityError| (at, FlowFault::Quantity { column: COLUMNS[column], fault: Box::new(fault) })
        };
        let written = |column: usize| row[column].unwrap_or((1, ""));
        let (at, text) = written(START);
        let start = quantity::duration_within(text, STARTS).map_err(refuse(START, at))?;
        let (at, text) = written(SIZE);
        let size = quantity::bytes_within(text, SIZES).map_err(refuse(SIZE, at))?;
        let control = row[CONTROL].filter(|(_, text)| !text.is_empty()).map(control).transpose()?;
        let (path_at, path) = row[PATH].unwrap_or((1, ""));
        let part = match self.known.get(&(control, path.to_owned())) {
            Some(part) => *part,
            None => {
                let nodes = nodes((path_at, path))?;
                let place = format!("{name}:{number}:{path_at}");
                self.add_part(control, path, nodes.map(|nodes| ListedPath { nodes, place }))?
            }
        };
        self.transfers[part].push(Transfer { at: start, size });
        Ok(())
    }

    fn add_part(&mut self, control: Option<&'static str>, written: &str, path: Option<ListedPath>) -> Result<usize, Located> {
        // The same path may be written with different white space.
        let same = |part: &FlowListPart| {
            part.control == control && part.path.as_ref().map(|path| &path.nodes) == path.as_ref().map(|path| &path.nodes)
        };
        let number = self.parts.iter().position(same).unwrap_or(self.parts.len());
        if number == MAX_PARTS {
            return Err((1, FlowFault::TooManyParts { most: MAX_PARTS }));
        }
        if number == self.parts.len() {
            self.parts.push(FlowListPart { control, path, transfers: Arc::default() });
            self.transfers.push(Vec::new());
        }
        // Bound on the spellings of paths that are cached; further ones are parsed each time.
        if self.known.len() < 2 * MAX_PARTS {
            self.known.insert((control, written.to_owned()), number);
        }
        Ok(number)
    }

    fn finish(mut self) -> Result<FlowList, FlowFault> {
        if self.header.is_none() {
            return Err(FlowFault::Empty { columns: &COLUMNS });
        }
        if self.parts.is_empty() {
            return Err(FlowFault::NoFlows);
        }
        for (part, mut transfers) in self.parts.iter_mut().zip(self.transfers) {
            transfers.sort_by_key(|transfer| transfer.at);
            part.transfers = transfers.into();
        }
        Ok(FlowList { parts: self.parts })
    }
}

impl Header {
    fn read(cells: &[Cell<'_>]) -> Result<Self, Located> {
        let mut columns = [None; COLUMNS.len()];
        for (number, &(at, name)) in cells.iter().enumerate() {
            let same = |known: &&str| known.eq_ignore_ascii_case(name);
            let spelled = if name.eq_ignore_ascii_case(CONTROL_KEY) { Some(CONTROL) } else { COLUMNS.iter().position(same) };
            let Some(column) = spelled else {
                let near = nearest(name, COLUMNS);
                return Err((at, FlowFault::UnknownColumn { name: excerpt(name), columns: &COLUMNS, near }));
            };
            if columns[column].replace(number).is_some() {
                return Err((at, FlowFault::ColumnTwice(COLUMNS[column])));
            }
        }
        match [START, SIZE].into_iter().find(|column| columns[*column].is_none()) {
            Some(missing) => Err((1, FlowFault::NoColumn(COLUMNS[missing]))),
            None => Ok(Self { width: cells.len(), columns }),
        }
    }

    /// The cells of a line in the order of [`COLUMNS`].
    fn row<'a>(&self, cells: &[Cell<'a>]) -> Result<[Option<Cell<'a>>; COLUMNS.len()], Located> {
        if cells.len() != self.width {
            let at = cells.get(self.width).map_or(1, |cell| cell.0);
            return Err((at, FlowFault::Width { found: cells.len(), expected: self.width }));
        }
        Ok(self.columns.map(|column| cells.get(column?).copied()))
    }
}

/// The cells of a line, without surrounding white space and quotation marks.
fn cells(line: &str) -> Result<Vec<Cell<'_>>, Located> {
    let mut cells = Vec::new();
    let mut rest = line;
    let mut at = 1;
    loop {
        let blanks = rest.len() - rest.trim_start().len();
        at += rest[..blanks].chars().count();
        rest = &rest[blanks..];
        let (cell, taken) = match rest.strip_prefix('"') {
            None => {
                let end = rest.find(',').unwrap_or(rest.len());
                (rest[..end].trim_end(), end)
            }
            Some(inner) => {
                let end = inner.find('"').ok_or((at, FlowFault::OpenQuote))?;
                let after = inner[end + 1..].trim_start();
                if !(after.is_empty() || after.starts_with(',')) {
                    return Err((at, FlowFault::BehindQuote));
                }
                (inner[..end].trim(), rest.len() - after.len())
            }
        };
        cells.push((at, cell));
        at += rest[..taken].chars().count() + 1;
        match rest[taken..].strip_prefix(',') {
            Some(next) => rest = next,
            None => return Ok(cells),
        }
    }
}

fn control((at, name): Cell<'_>) -> Result<&'static str, Located> {
    kinds().iter().find(|spec| spec.is_called(name)).map(|spec| spec.kind).ok_or_else(|| {
        let near = nearest(name, kinds().iter().map(|spec| spec.kind));
        (at, FlowFault::UnknownControl { name: excerpt(name), near })
    })
}

/// The nodes of a path such as `a > b`; `None` for an empty cell.
fn nodes((at, path): Cell<'_>) -> Result<Option<Vec<String>>, Located> {
    if path.is_empty() {
        return Ok(None);
    }
    let nodes: Vec<String> = path.split('>').map(|node| node.trim().to_owned()).collect();
    if nodes.len() < 2 || nodes.iter().any(String::is_empty) {
        return Err((at, FlowFault::NotAPath(excerpt(path))));
    }
    Ok(Some(nodes))
}

#[cfg(test)]
mod tests;
