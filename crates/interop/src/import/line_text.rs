//! The line of a question as text: what is given, and what a file tells in place of the rest.

use crate::import::measured::{Known, MeasuredLine};
use crate::import::{ImportError, any};
use goodqueue_base::units::{Cells, Duration, Framing, Rate};
use goodqueue_lab::quantity;
use goodqueue_lab::run::recommend::ask::{BUFFER, Misread};
use goodqueue_lab::scenario::plan::PlanError;
use std::fmt::Display;
use std::path::Path;

/// Rates and times of a line as [`Asked`](goodqueue_lab::run::recommend::Asked) takes them; empty
/// where they are not given.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LineText {
    /// Measured rate toward the user.
    pub down: String,
    /// Measured rate from the user.
    pub up: String,
    /// Part by which the rate may lie above or below the measured one.
    pub varies: String,
    /// Round-trip time without queueing.
    pub rtt: String,
    /// The amount that the modem can hold.
    pub buffer: String,
    /// The framing on the line.
    pub overhead: String,
}

/// A file that stands for options of a line.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Source {
    /// Name of the file.
    pub name: String,
    /// Options that it stands for, without dashes.
    pub taken: Vec<&'static str>,
    /// Each figure that was taken, with its origin.
    pub figures: Vec<String>,
    /// Remarks on the figures, and on what was not taken.
    pub remarks: Vec<String>,
}

/// A file that tells nothing of a line.
#[derive(Debug, thiserror::Error)]
pub enum SourceError {
    /// The file cannot be read, or is of no known kind.
    #[error(transparent)]
    Import(#[from] ImportError),
    /// Its figures make no line.
    #[error(transparent)]
    Plan(#[from] PlanError),
}

impl LineText {
    /// Takes what is not given from a file, of any kind that [`any::read`] knows.
    ///
    /// # Errors
    /// When the file cannot be read, or is wrong.
    pub fn take(&mut self, path: &Path) -> Result<Source, SourceError> {
        let (input, draft) = any::load(path)?;
        let known = draft.measured()?;
        let mut source = Source { name: input.name, ..Source::default() };
        for (option, place, found) in [
            ("down", &mut self.down, known.down.as_ref().map(Found::of)),
            ("up", &mut self.up, known.up.as_ref().map(Found::of)),
            ("varies", &mut self.varies, varies(&known)),
            ("rtt", &mut self.rtt, known.rtt.as_ref().map(Found::of)),
            ("buffer", &mut self.buffer, buffer(&known)),
            ("overhead", &mut self.overhead, overhead(&known)),
        ] {
            if let (true, Some(Found { value, why })) = (place.is_empty(), found) {
                source.figures.push(format!("{option} {value} ({why})"));
                *place = value;
                source.taken.push(option);
            }
        }
        source.remarks = known.notes;
        if let (true, Some(framing)) = (self.overhead.is_empty(), &known.framing) {
            let (origin, set) = (&framing.origin, set(&framing.value));
            source.remarks.push(format!("framing ({origin}) has no keyword and is left out: gq export takes it with {set}"));
        }
        Ok(source)
    }

    /// The fault of a line without a rate, which this file was to tell.
    #[must_use]
    pub fn missing(&self, source: Option<&Source>) -> Option<Misread> {
        let ways = [("down", "toward you", &self.down), ("up", "from you", &self.up)];
        let (option, way, _) = ways.into_iter().find(|(.., rate)| rate.is_empty())?;
        let who = source.map_or_else(|| "no file tells".to_owned(), |source| format!("{} does not tell", source.name));
        Some(Misread { option, why: format!("is missing: {who} the rate {way}: give it, for instance 10mbit") })
    }
}

/// A figure of a file as an option has it.
struct Found {
    value: String,
    /// Where it is from.
    why: String,
}

impl Found {
    fn of<T: Display>(known: &Known<T>) -> Self {
        Self { value: known.value.to_string(), why: known.origin.to_string() }
    }
}

/// The variation of a rate that is not constant.
fn varies(known: &MeasuredLine) -> Option<Found> {
    let rate: &Known<Rate> = known.down.as_ref().or(known.up.as_ref())?;
    let percent = (known.varies * 100.0).round();
    (percent > 0.0).then(|| Found { value: format!("{percent}%"), why: rate.origin.to_string() })
}

/// Both buffers as a range. Where one is not known, it is between the usual bounds.
fn buffer(known: &MeasuredLine) -> Option<Found> {
    let both = [&known.buffer_down, &known.buffer_up];
    let mut why: Vec<String> = both.into_iter().flatten().map(|known| known.origin.to_string()).collect();
    why.dedup();
    if why.is_empty() {
        return None;
    }
    let usual = || BUFFER.split("..").filter_map(|text| quantity::duration(text).ok());
    let mut lasts: Vec<Duration> = both.into_iter().flatten().map(|known| known.value).collect();
    if lasts.len() < both.len() {
        lasts.extend(usual());
    }
    let (least, most) = (lasts.iter().min()?, lasts.iter().max()?);
    let value = if least == most { least.to_string() } else { format!("{least}..{most}") };
    Some(Found { value, why: why.join("; ") })
}

/// The framing in a keyword, where one says all of it.
fn overhead(known: &MeasuredLine) -> Option<Found> {
    let framing = known.framing.as_ref()?;
    let (word, _) = Framing::KEYWORDS.iter().find(|(_, one)| *one == framing.value)?;
    Some(Found { value: (*word).to_owned(), why: framing.origin.to_string() })
}

/// Options that tell `gq export` a framing.
fn set(framing: &Framing) -> String {
    let mut keys = vec![format!("overhead={}B", framing.overhead.get())];
    if !framing.mpu.is_zero() {
        keys.push(format!("mpu={}B", framing.mpu.get()));
    }
    if let Some((word, _)) = Cells::WORDS.iter().find(|(_, cells)| *cells == framing.cells && *cells != Cells::None) {
        keys.push(format!("cells={word}"));
    }
    let keys: Vec<String> = keys.iter().map(|key| format!("--set link.router.{key}")).collect();
    keys.join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn taken(text: &str, mut line: LineText) -> (LineText, Source) {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("file");
        std::fs::write(&path, text).unwrap();
        let source = line.take(&path).unwrap();
        (line, source)
    }

    #[test]
    fn options_go_before_a_file() {
        let test = r#"{"base_rtt":20,"dl_throughput":1e8,"ul_throughput":2e7}"#;
        let (line, source) = taken(test, LineText { down: "50mbit".to_owned(), ..LineText::default() });
        assert_eq!((line.down.as_str(), line.rtt.as_str(), line.overhead.as_str()), ("50mbit", "20 ms", ""));
        assert_eq!(source.taken, ["up", "rtt"]);
        assert_eq!((source.figures.len(), line.missing(Some(&source))), (2, None));
    }

    #[test]
    fn framing_is_taken_where_a_keyword_says_it() {
        let shaper = |framing: &str| format!("tc qdisc add dev eth0 root cake bandwidth 16mbit {framing}\n");
        let (line, source) = taken(&shaper("docsis"), LineText::default());
        assert_eq!((line.up.as_str(), line.overhead.as_str()), ("16 Mbit/s", "docsis"));
        assert_eq!(line.missing(Some(&source)).map(|misread| misread.option), Some("down"));
        let (line, source) = taken(&shaper("atm overhead 44"), LineText::default());
        assert!(line.overhead.is_empty());
        let set = "--set link.router.overhead=44B --set link.router.cells=atm";
        assert!(source.remarks.iter().any(|remark| remark.ends_with(set)), "{:?}", source.remarks);
    }
}
