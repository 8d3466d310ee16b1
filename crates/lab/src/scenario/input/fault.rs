//! Faults of the files that scenarios name.

use crate::quantity::QuantityError;
use goodqueue_sim::OpportunitiesError;
use goodqueue_tcp::cc::kinds;
use std::io::ErrorKind;

/// A fault of a file. [`super::FileError`] adds the place.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum FileFault {
    /// There is none of that name.
    #[error("no such file")]
    Missing,
    /// A file that belongs to somebody else and may not be read.
    #[error("may not be read: permission denied")]
    Denied,
    /// The machine fails to read it, for this reason.
    #[error("cannot be read: {0}")]
    Unreadable(String),
    /// A folder, which would fail late.
    #[error("is a directory")]
    Directory,
    /// A pipe or a device, which may never end.
    #[error("is not a regular file")]
    Special,
    /// A file that is too large.
    #[error("has {bytes} bytes: allowed up to {most}")]
    TooLarge {
        /// The size of the file.
        bytes: u64,
        /// The largest allowed.
        most: u64,
    },
    /// The scenario comes from where no files are.
    #[error("files may not be read here")]
    NoFiles,
    /// A name that none of the recordings has, in a scenario that comes with recordings in place of
    /// files.
    #[error("there is no such recording here, and files may not be read")]
    NoRecording,
    /// A file that is no recording of a link.
    #[error(transparent)]
    Trace(#[from] TraceFault),
    /// A file that is no list of flows.
    #[error(transparent)]
    Flows(#[from] FlowFault),
}

impl From<std::io::Error> for FileFault {
    fn from(error: std::io::Error) -> Self {
        match error.kind() {
            ErrorKind::NotFound => Self::Missing,
            ErrorKind::PermissionDenied => Self::Denied,
            _ => Self::Unreadable(error.to_string()),
        }
    }
}

/// A fault of a recording of a link.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum TraceFault {
    /// There is no time in it.
    #[error("is empty: expected one whole number per line")]
    Empty,
    /// A line of more characters than any time has.
    #[error("begins `{start}` and has more than {most} characters")]
    LongLine {
        /// The beginning of the line.
        start: String,
        /// The most allowed.
        most: usize,
    },
    /// A line without a time.
    #[error("is blank: expected a whole number of milliseconds")]
    Blank,
    /// A line with something else.
    #[error("`{0}` is not a whole number of milliseconds")]
    NotWhole(String),
    /// A time below zero.
    #[error("`{written}` is negative: allowed 0 to {latest}")]
    Negative {
        /// As the line has it.
        written: String,
        /// The latest allowed, in milliseconds.
        latest: u64,
    },
    /// A time after the latest.
    #[error("`{written}` is out of range: allowed 0 to {latest} (milliseconds, one day)")]
    TooLate {
        /// As the line has it.
        written: String,
        /// The latest allowed, in milliseconds.
        latest: u64,
    },
    /// A time before that of the line before.
    #[error("`{ms}` goes back in time: the line before has `{before}`")]
    Backwards {
        /// The time, in milliseconds.
        ms: u64,
        /// That of the line before.
        before: u64,
    },
    /// More times than memory is given to.
    #[error("has more than {most} different times")]
    TooManyTimes {
        /// The most allowed.
        most: usize,
    },
    /// A recording without length: all its times are zero.
    #[error("has only zeros: the last line is the recording's length and must be above 0")]
    OnlyZeros,
    /// On average less than a bit leaves per second.
    #[error("carries {bits} bits in {seconds} s: allowed from 1 bit/s on average")]
    TooSlow {
        /// All that leaves.
        bits: u64,
        /// The length of the recording, in seconds.
        seconds: u64,
    },
    /// Opportunities that are no rate of a line.
    #[error(transparent)]
    Opportunities(#[from] OpportunitiesError),
}

/// A fault of a list of flows.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum FlowFault {
    /// There is no line with names of columns.
    #[error("is empty: expected a first line such as `{}`", columns.join(","))]
    Empty {
        /// The columns there are.
        columns: &'static [&'static str],
    },
    /// There is no line behind that.
    #[error("has no flows after its first line")]
    NoFlows,
    /// A line of too many bytes.
    #[error("the line has more than {most} bytes")]
    LongLine {
        /// The most allowed.
        most: usize,
    },
    /// A line that is no text.
    #[error("is not text (UTF-8)")]
    NotUtf8,
    /// A value in quotation marks that do not end.
    #[error("begins with a quotation mark that has no other")]
    OpenQuote,
    /// A value in quotation marks that goes on behind them.
    #[error("has something behind its closing quotation mark")]
    BehindQuote,
    /// A column that there is not.
    #[error("`{name}` is not a column: allowed `{}`{}", columns.join("`, `"), meant(*near))]
    UnknownColumn {
        /// The unknown name, cut to a readable length.
        name: String,
        /// The columns there are.
        columns: &'static [&'static str],
        /// The one that was probably meant.
        near: Option<&'static str>,
    },
    /// A column that was named before.
    #[error("`{0}` stands here a second time")]
    ColumnTwice(&'static str),
    /// A column that every list needs.
    #[error("the column `{0}` is missing in this first line")]
    NoColumn(&'static str),
    /// A line of another number of values than the first.
    #[error("has {found} values: expected {expected}, as the first line has")]
    Width {
        /// The number of values in this line.
        found: usize,
        /// The number of values in the first line.
        expected: usize,
    },
    /// A start or a size that none has.
    #[error("{column}: {fault}")]
    Quantity {
        /// The column.
        column: &'static str,
        /// The value, and what is allowed.
        fault: Box<QuantityError>,
    },
    /// A congestion control that there is not.
    #[error("control: `{name}` is not a congestion control: allowed {}{}", controls().join(", "), meant(*near))]
    UnknownControl {
        /// The unknown name, cut to a readable length.
        name: String,
        /// The one that was probably meant.
        near: Option<&'static str>,
    },
    /// A path that does not lead from one node to another.
    #[error("path: `{0}` is not a path: write the nodes from sender to receiver, such as a > b")]
    NotAPath(String),
    /// More flows than memory is given to.
    #[error("has more than {most} flows")]
    TooManyFlows {
        /// The most allowed.
        most: usize,
    },
    /// More flows of the world than there may be.
    #[error("has more than {most} different pairs of control and path")]
    TooManyParts {
        /// The most allowed.
        most: usize,
    },
}

fn controls() -> Vec<&'static str> {
    kinds().iter().map(|spec| spec.kind).collect()
}

fn meant(near: Option<&str>) -> String {
    near.map_or_else(String::new, |near| format!("; did you mean `{near}`?"))
}
