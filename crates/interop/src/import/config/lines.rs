//! Lines of a configuration, and those of `tc` that say the same.

use crate::import::draft::usual_delay;
use crate::import::tc::of_queues;
use crate::import::{Draft, ImportError, Input};
use crate::router::dialect::Dialect;
use crate::router::tc::follow;
use goodqueue_base::spec::quantity::excerpt;

/// More lines than this are no router's.
pub(super) const MAX_LINES: usize = 100_000;

/// A setting and its place in the file.
#[derive(Clone, Debug)]
pub(super) struct Setting {
    pub(super) line: usize,
    pub(super) key: String,
    pub(super) value: String,
}

impl Setting {
    pub(super) fn new(line: usize, key: &str, value: &str) -> Self {
        Self { line, key: key.to_owned(), value: value.to_owned() }
    }

    pub(super) fn wrong(&self, input: &Input, allowed: &str) -> ImportError {
        input.fault(format!(
            "line {}: {}: `{}` is not a value of it: allowed {allowed}",
            self.line,
            self.key,
            excerpt(&self.value)
        ))
    }

    /// Bytes that a shaper adds to a packet's: `tc` and systemd allow fewer than none.
    pub(super) fn overhead(&self, input: &Input) -> Result<i64, ImportError> {
        let number = self.value.parse::<i64>().ok().filter(|number| (-64..=256).contains(number));
        number.ok_or_else(|| self.wrong(input, "-64 to 256"))
    }

    pub(super) fn number(&self, input: &Input, max: u64) -> Result<u64, ImportError> {
        let number = self.value.parse::<u64>().ok().filter(|number| *number <= max);
        number.ok_or_else(|| self.wrong(input, &format!("0 to {max}")))
    }

    /// Bytes, with a suffix of factor 1024.
    pub(super) fn bytes(&self, input: &Input) -> Result<u64, ImportError> {
        const MAX: u64 = 1 << 40;
        let (number, shift) = match self.value.as_bytes().last() {
            Some(b'K') => (&self.value[..self.value.len() - 1], 10),
            Some(b'M') => (&self.value[..self.value.len() - 1], 20),
            Some(b'G') => (&self.value[..self.value.len() - 1], 30),
            _ => (self.value.as_str(), 0),
        };
        let bytes = number.parse::<u64>().ok().and_then(|number| number.checked_mul(1 << shift)).filter(|bytes| *bytes <= MAX);
        bytes.ok_or_else(|| self.wrong(input, &format!("0 to {MAX} B, such as 30K")))
    }

    /// A rate in bit/s, with a suffix of factor 1000.
    pub(super) fn bit_s(&self, input: &Input) -> Result<u64, ImportError> {
        let end = self.value.find(|c: char| c.is_ascii_alphabetic()).unwrap_or(self.value.len());
        let (number, unit) = self.value.split_at(end);
        let factor = match unit {
            "" => 1.0,
            "k" | "K" => 1e3,
            "M" => 1e6,
            "G" => 1e9,
            _ => 0.0,
        };
        let bits = number.parse::<f64>().map_or(0.0, |number| number * factor);
        let is_rate = (number == "0" && factor > 0.0) || (1e3..=1e13).contains(&bits);
        if is_rate { Ok(bits.round() as u64) } else { Err(self.wrong(input, "a rate such as 9500k, 1 kbit/s to 10 Tbit/s")) }
    }
}

/// Lines of `tc`, and remarks on what of a file is not in them.
#[derive(Default)]
pub(super) struct Lines {
    text: String,
    pub(super) notes: Vec<String>,
}

/// A shaper around a queue.
pub(super) struct Shaper {
    pub(super) bit_s: u64,
    pub(super) burst: u64,
    /// A table of sizes, in the words of `tc`.
    pub(super) stab: String,
}

impl Lines {
    pub(super) fn put(&mut self, line: &str) {
        self.text.push_str(line);
        self.text.push('\n');
    }

    /// A queue at an interface, with or without a shaper around it.
    pub(super) fn queue(&mut self, dev: &str, shaper: Option<&Shaper>, words: &str) {
        let Some(Shaper { bit_s, burst, stab }) = shaper else {
            self.put(&format!("tc qdisc add dev {dev} root handle 1: {words}"));
            return;
        };
        let burst = if *burst > 0 { format!(" burst {burst} cburst {burst}") } else { String::new() };
        self.put(&format!("tc qdisc add dev {dev} root handle 1: {stab}htb default 1"));
        self.put(&format!("tc class add dev {dev} parent 1: classid 1:1 htb rate {bit_s}bit ceil {bit_s}bit{burst}"));
        self.put(&format!("tc qdisc add dev {dev} parent 1:1 handle 10: {words}"));
    }

    /// The words of `tc` for a queue of a target; what it has no words for is noted.
    pub(super) fn said(
        &mut self,
        input: &Input,
        dialect: &Dialect,
        kind: &str,
        settings: &[Setting],
    ) -> Result<Option<String>, ImportError> {
        let pairs: Vec<(&str, &str)> = settings.iter().map(|one| (one.key.as_str(), one.value.as_str())).collect();
        let Some(said) = dialect.in_tc(kind, &pairs) else { return Ok(None) };
        let said = said.map_err(|no| settings[no.at].wrong(input, &no.allowed))?;
        for at in said.unknown {
            self.unread(&settings[at]);
        }
        Ok(Some(said.words.join(" ")))
    }

    pub(super) fn unread(&mut self, setting: &Setting) {
        self.notes.push(format!("Line {}: {} {} is not in the scenario.", setting.line, setting.key, excerpt(&setting.value)));
    }

    /// The scenario of these lines.
    pub(super) fn draft(self, input: &Input, command: &str, dev: Option<&str>) -> Result<Draft, ImportError> {
        if self.text.is_empty() {
            return Err(input.fault(format!("sets no queue that gq has. {}", self.notes.join(" ")).trim_end_matches([' ', '.'])));
        }
        let mut told = follow(&self.text).map_err(|error| input.fault(error.to_string()))?;
        // These lines are none of the file's.
        told.all.iter_mut().for_each(|found| found.line = None);
        let draft = of_queues(input, told.all, &told.cut, dev)?;
        let delay = usual_delay("a configuration does not say how long the path is");
        let slower = "The rates are those that the router sends at: the line behind it is a little faster.";
        let notes = std::iter::once(slower.to_owned()).chain(self.notes).chain(draft.notes).collect();
        Ok(Draft { made_by: format!("gq import {command} from {}", input.name), notes, delay, ..draft })
    }
}

/// Lines of a file with their numbers, without blanks around them.
pub(super) fn numbered(input: &Input) -> Result<Vec<(usize, &str)>, ImportError> {
    let lines: Vec<_> = input.text()?.lines().take(MAX_LINES + 1).enumerate().map(|(n, line)| (n + 1, line.trim())).collect();
    if lines.len() > MAX_LINES {
        return Err(input.fault(format!("has too many lines: allowed up to {MAX_LINES}")));
    }
    Ok(lines)
}

/// Words of a line; quotes of either kind keep blanks.
pub(super) fn words(line: &str) -> Vec<String> {
    let mut words = Vec::new();
    let mut word: Option<String> = None;
    let mut quote = None;
    for c in line.chars() {
        match (quote, c) {
            (Some(open), c) if c == open => quote = None,
            (None, '\'' | '"') => {
                quote = Some(c);
                word.get_or_insert_default();
            }
            (None, c) if c.is_whitespace() => words.extend(word.take()),
            (_, c) => word.get_or_insert_default().push(c),
        }
    }
    words.extend(word);
    words
}

/// A name of an interface or circuit as `tc` has it.
pub(super) fn device(name: &str) -> String {
    let plain = |c: char| if c.is_ascii_alphanumeric() || "._-".contains(c) { c } else { '_' };
    let name: String = name.chars().take(15).map(plain).collect();
    if name.is_empty() { "line".to_owned() } else { name }
}

/// The only one of several, or the one that was named.
pub(super) fn chosen<'a, T>(
    input: &Input,
    what: &str,
    all: &'a [(String, T)],
    dev: Option<&str>,
) -> Result<&'a (String, T), ImportError> {
    match (all, dev) {
        (_, Some(dev)) => {
            all.iter().find(|(name, _)| name == dev).ok_or_else(|| input.fault(format!("has no {what} {}", excerpt(dev))))
        }
        ([], None) => Err(input.fault(format!("has no {what}"))),
        ([only], None) => Ok(only),
        (several, None) => {
            let names: Vec<String> = several.iter().take(20).map(|(name, _)| excerpt(name)).collect();
            Err(input.fault(format!("has several of {what}: {}: name one with --dev", names.join(", "))))
        }
    }
}
