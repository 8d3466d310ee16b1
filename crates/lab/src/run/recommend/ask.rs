//! A question as people write it: text of each option, read and held against what is allowed.

use crate::quantity::{self, Limits, excerpt};
use crate::run::recommend::candidates::Hardware;
use crate::run::recommend::corners::{Line, Range};
use crate::run::recommend::question::{Effort, Question};
use crate::scenario::mix::{BACKUP, EVENING, MIXES, Mix};
use crate::verdict::{Policy, Unit};
use goodqueue_base::units::{Duration, Rate};

/// The options of a question, as text.
#[derive(Clone, Copy, Debug)]
pub struct Asked<'a> {
    /// Measured rate toward the user.
    pub down: &'a str,
    /// Measured rate from the user.
    pub up: &'a str,
    /// Part by which the rate may lie above or below the measured one.
    pub varies: &'a str,
    /// Round-trip time without queueing, or two with `..` between them.
    pub rtt: &'a str,
    /// The amount that the modem can hold, or two with `..` between them.
    pub buffer: &'a str,
    /// Bulk flows in each direction, or two numbers with `..` between them; empty: the mix's own
    /// number.
    pub flows: &'a str,
    /// Congestion control of the bulk flows, or two with a comma between them.
    pub cc: &'a str,
    /// Name of a mix; empty: an evening at home, and a backup.
    pub mix: &'a str,
    /// Name of a hardware.
    pub hardware: &'a str,
    /// The policy that a candidate must satisfy before it is ranked; none if empty.
    pub policy: &'a str,
    /// The unit of the latency under load.
    pub unit: Unit,
    /// The amount of work to put into the answer.
    pub effort: Effort,
    /// Root of all randomness.
    pub seed: u64,
    /// Runs at the same time.
    pub jobs: usize,
}

impl Default for Asked<'_> {
    /// A line of which only the rates are known, which have to be set.
    fn default() -> Self {
        Self {
            down: "",
            up: "",
            varies: "0%",
            rtt: "20ms..120ms",
            buffer: "50ms..500ms",
            flows: "",
            cc: "cubic,bbr",
            mix: "",
            hardware: "any",
            policy: "",
            unit: Unit::Ms,
            effort: Effort::Quick,
            seed: 1,
            jobs: 1,
        }
    }
}

/// An option that cannot be read.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{option}: {why}")]
pub struct Misread {
    /// The name of the option, without dashes.
    pub option: &'static str,
    /// The value, its fault, and what is allowed.
    pub why: String,
}

/// Rates a line may have here: below the least, not even a probe a second fits.
const RATES: Limits<Rate> = Limits::new(Rate::kbit(16), Rate::gbit(100));
const RTTS: Limits<Duration> = Limits::new(Duration::us(100), Duration::secs(5));
const BUFFERS: Limits<Duration> = Limits::new(Duration::ms(1), Duration::secs(20));
const MAX_FLOWS: u32 = 1_000;
const MAX_VARIATION: f64 = 0.9;

impl Asked<'_> {
    /// The question.
    ///
    /// # Errors
    /// The first option that cannot be read, its value, and what is allowed.
    pub fn question(&self) -> Result<Question, Misread> {
        let rate = |option, text: &str| quantity::rate_within(text, RATES).map_err(|error| misread(option, &error));
        let time =
            |option, limits| move |text: &str| quantity::duration_within(text, limits).map_err(|error| misread(option, &error));
        let line = Line {
            down: rate("down", self.down)?,
            up: rate("up", self.up)?,
            varies: variation(self.varies)?,
            rtt: range("rtt", self.rtt, time("rtt", RTTS))?,
            buffer: range("buffer", self.buffer, time("buffer", BUFFERS))?,
            flows: if self.flows.is_empty() { None } else { Some(range("flows", self.flows, flows)?) },
            control: controls(self.cc)?,
        };
        Ok(Question {
            mixes: self.mixes(line.down, line.up)?,
            line,
            hardware: Hardware::named(self.hardware).ok_or_else(|| unknown("hardware", self.hardware, Hardware::names()))?,
            policy: if self.policy.is_empty() {
                Policy::default()
            } else {
                Policy::parse(self.policy).map_err(|error| misread("policy", &error))?
            },
            unit: self.unit,
            effort: self.effort,
            seed: self.seed,
            jobs: self.jobs,
        })
    }
}

impl Asked<'_> {
    /// The mix of this name, or those that an answer without one is made for.
    fn mixes(&self, down: Rate, up: Rate) -> Result<Vec<&'static Mix>, Misread> {
        if !self.mix.is_empty() {
            let named = Mix::named(self.mix).map(|mix| vec![mix]);
            return named.ok_or_else(|| unknown("mix", self.mix, MIXES.iter().map(|mix| mix.name)));
        }
        let mut mixes: Vec<&'static Mix> =
            [EVENING, BACKUP].into_iter().filter_map(|name| Mix::suited(name, Some(down), Some(up))).collect();
        mixes.dedup_by_key(|mix| mix.name);
        Ok(mixes)
    }
}

fn misread(option: &'static str, why: &impl ToString) -> Misread {
    Misread { option, why: why.to_string() }
}

fn unknown(option: &'static str, given: &str, known: impl Iterator<Item = &'static str>) -> Misread {
    let known: Vec<&str> = known.collect();
    Misread { option, why: format!("`{}` is not known: allowed {}", excerpt(given), known.join(", ")) }
}

fn variation(text: &str) -> Result<f64, Misread> {
    let part = quantity::ratio(text).map_err(|error| misread("varies", &error))?;
    if part <= MAX_VARIATION {
        return Ok(part);
    }
    let most = MAX_VARIATION * 100.0;
    Err(Misread { option: "varies", why: format!("`{}` is out of range: allowed 0 % to {most} %", excerpt(text)) })
}

/// One value, or two with `..` between them, the smaller one first.
fn range<T: PartialOrd + Copy>(
    option: &'static str,
    text: &str,
    read: impl Fn(&str) -> Result<T, Misread>,
) -> Result<Range<T>, Misread> {
    let Some((low, high)) = text.split_once("..") else {
        let value = read(text.trim())?;
        return Ok(Range::exactly(value));
    };
    let (low, high) = (read(low.trim())?, read(high.trim())?);
    if low > high {
        let why = format!("`{}` ends below its beginning: write the smaller value first", excerpt(text));
        return Err(Misread { option, why });
    }
    Ok(Range { low, high })
}

fn flows(text: &str) -> Result<u32, Misread> {
    let allowed = text.parse().ok().filter(|flows| (1..=MAX_FLOWS).contains(flows));
    allowed.ok_or_else(|| Misread {
        option: "flows",
        why: format!("`{}` is not a number of flows: allowed 1 to {MAX_FLOWS}", excerpt(text)),
    })
}

/// One control, or two for its range.
fn controls(text: &str) -> Result<Range<&'static str>, Misread> {
    let names: Vec<&str> = text.split(',').map(str::trim).collect();
    let known = || goodqueue_tcp::kinds().iter().map(|spec| spec.kind);
    let find = |name: &str| known().find(|kind| *kind == name).ok_or_else(|| unknown("cc", name, known()));
    match names.as_slice() {
        [one] => find(one).map(Range::exactly),
        [one, other] => Ok(Range { low: find(one)?, high: find(other)? }),
        _ => {
            Err(Misread { option: "cc", why: format!("`{}` names {} controls: allowed one or two", excerpt(text), names.len()) })
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rates_alone_make_a_question() {
        let question = Asked { down: "50mbit", up: "10mbit", ..Asked::default() }.question().expect("a question");
        assert_eq!((question.line.down, question.line.up), (Rate::mbit(50), Rate::mbit(10)));
        let mixes: Vec<&str> = question.mixes.iter().map(|mix| mix.name).collect();
        assert_eq!((question.line.unknown().len(), mixes), (3, vec![EVENING, BACKUP]));
    }

    #[test]
    fn what_cannot_be_read_is_named() {
        let asked = Asked { down: "50mbit", up: "10mbit", ..Asked::default() };
        for (asked, said) in [
            (Asked { down: "5", ..asked }, "down: `5` has no unit"),
            (Asked { rtt: "50ms..20ms", ..asked }, "rtt: `50ms..20ms` ends below its beginning"),
            (Asked { cc: "x", ..asked }, "cc: `x` is not known: allowed "),
            (Asked { flows: "0", ..asked }, "flows: `0` is not a number of flows: allowed 1 to 1000"),
        ] {
            let error = asked.question().expect_err(said).to_string();
            assert!(error.starts_with(said), "{error}");
        }
    }
}
