//! A question as people write it: text of each option, read and held against what is allowed.

use crate::quantity::{self, Limits, excerpt};
use crate::run::recommend::access::{Access, LineKind, Modem, Senders};
use crate::run::recommend::candidates::Hardware;
use crate::run::recommend::corners::{Line, Range};
use crate::run::recommend::question::{Effort, Question, Want};
use crate::scenario::mix::{BACKUP, EVENING, MIXES, Mix};
use crate::verdict::{Policy, Unit};
use goodqueue_base::units::{Bytes, Duration, Framing, Rate};

/// The options of a question, as text.
#[derive(Clone, Copy, Debug)]
pub struct Asked<'a> {
    /// Measured rate toward the user.
    pub down: &'a str,
    /// Measured rate from the user.
    pub up: &'a str,
    /// Name of a kind of line, which says what is not given; none if empty.
    pub line: &'a str,
    /// The framing on the line, as a link of a scenario has it; that of the kind of line if empty.
    pub overhead: &'a str,
    /// Part by which the rate may lie above or below the measured one; usual if empty.
    pub varies: &'a str,
    /// Round-trip time without queueing, or two with `..` between them; usual if empty.
    pub rtt: &'a str,
    /// The amount that the modem can hold, or two with `..` between them; usual if empty.
    pub buffer: &'a str,
    /// Name of the modem's queue.
    pub modem: &'a str,
    /// Number of devices behind the router.
    pub hosts: &'a str,
    /// Fastest that the router can shape; no bound if empty.
    pub cpu: &'a str,
    /// Name of the aim, if it is not what people notice.
    pub want: &'a str,
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
    fn default() -> Self {
        Self::LINE
    }
}

impl Asked<'_> {
    /// A line of which only the rates are known, which have to be set.
    const LINE: Self = Self {
        down: "",
        up: "",
        line: "",
        overhead: "",
        varies: "",
        rtt: "",
        buffer: "",
        modem: "fifo",
        hosts: "1",
        cpu: "",
        want: "",
        flows: "",
        cc: "cubic,bbr",
        mix: "",
        hardware: "any",
        policy: "",
        unit: Unit::Ms,
        effort: Effort::Quick,
        seed: 1,
        jobs: 1,
    };
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
const MAX_HOSTS: u32 = 250;
/// As tc-cake(8) allows, for routers are told it.
const MAX_OVERHEAD: Bytes = Bytes::new(256);
/// The round-trip time of a line of unknown kind.
pub const RTT: &str = "20ms..120ms";
/// The buffer of a line of unknown kind.
pub const BUFFER: &str = "50ms..500ms";
/// The variation of a line of unknown kind.
pub const VARIES: &str = "0%";
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
        let kind = match self.line {
            "" => None,
            name => Some(LineKind::named(name).ok_or_else(|| misread("line", &LineKind::missing(name)))?),
        };
        let usual = |given: &'_ str, of_kind: fn(&LineKind) -> &'static str, unknown: &'static str| -> String {
            if given.is_empty() { kind.map_or(unknown, of_kind) } else { given }.to_owned()
        };
        let want = if self.want.is_empty() { Want::People } else { word("want", self.want, &Want::WORDS)? };
        let access = Access {
            kind,
            framing: framing(self.overhead, kind.map_or(Framing::NONE, |kind| kind.framing.0))?,
            modem: word("modem", self.modem, &Modem::WORDS)?,
            hosts: count("hosts", "devices", self.hosts, MAX_HOSTS)?,
            senders: if want == Want::L4s { Senders::WithPrague } else { Senders::Asked },
        };
        let line = Line {
            down: rate("down", self.down)?,
            up: rate("up", self.up)?,
            varies: variation(&usual(self.varies, |kind| kind.varies.value, VARIES))?,
            rtt: range("rtt", &usual(self.rtt, |kind| kind.rtt.value, RTT), time("rtt", RTTS))?,
            buffer: range("buffer", &usual(self.buffer, |kind| kind.buffer.value, BUFFER), time("buffer", BUFFERS))?,
            flows: if self.flows.is_empty() {
                None
            } else {
                Some(range("flows", self.flows, |text| count("flows", "flows", text, MAX_FLOWS))?)
            },
            control: controls(self.cc)?,
            access,
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
            cpu: if self.cpu.is_empty() { None } else { Some(rate("cpu", self.cpu)?) },
            want,
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
    let is_percent = !text.contains('%') && (1.0..=most).contains(&part);
    let hint = if is_percent { format!("; {text} % is written {text}%") } else { String::new() };
    Err(Misread { option: "varies", why: format!("`{}` is out of range: allowed 0 % to {most} %{hint}", excerpt(text)) })
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

fn count(option: &'static str, of: &str, text: &str, most: u32) -> Result<u32, Misread> {
    let allowed = text.parse().ok().filter(|number| (1..=most).contains(number));
    allowed.ok_or_else(|| Misread { option, why: format!("`{}` is not a number of {of}: allowed 1 to {most}", excerpt(text)) })
}

/// One of these words.
fn word<T: Copy>(option: &'static str, text: &str, words: &[(&'static str, T)]) -> Result<T, Misread> {
    let known = words.iter().find(|(word, _)| *word == text);
    known.map(|(_, value)| *value).ok_or_else(|| unknown(option, text, words.iter().map(|(word, _)| *word)))
}

/// Framing: keywords of tc-cake, or bytes in place of those of the kind of line.
fn framing(text: &str, of_kind: Framing) -> Result<Framing, Misread> {
    const OPTION: &str = "overhead";
    if text.is_empty() {
        return Ok(of_kind);
    }
    if text.starts_with(|letter: char| letter.is_ascii_alphabetic()) {
        let keywords = Framing::KEYWORDS.iter().map(|(word, _)| *word);
        return Framing::named(text).map_err(|wrong| unknown(OPTION, wrong.0, keywords));
    }
    let bytes = quantity::bytes_within(text, Limits::new(Bytes::ZERO, MAX_OVERHEAD)).map_err(|error| misread(OPTION, &error))?;
    Ok(Framing { overhead: bytes, ..of_kind })
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
    use crate::run::recommend::access::LINE_KINDS;

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
            (Asked { line: "isdn", ..asked }, "line: `isdn` is not known: allowed adsl, vdsl, docsis, lte, leo, geo, fiber"),
            (Asked { line: "wifi", ..asked }, "line: `wifi` is not there yet: "),
            (Asked { overhead: "pppoa", ..asked }, "overhead: `pppoa` is not known: allowed raw, "),
            (Asked { overhead: "300B", ..asked }, "overhead: `300B` is out of range: allowed 0 B to 256 B"),
            (Asked { modem: "red", ..asked }, "modem: `red` is not known: allowed fifo, pie"),
            (Asked { hosts: "0", ..asked }, "hosts: `0` is not a number of devices: allowed 1 to 250"),
            (Asked { cpu: "fast", ..asked }, "cpu: `fast` "),
            (Asked { want: "speed", ..asked }, "want: `speed` is not known: allowed throughput, l4s"),
        ] {
            let error = asked.question().expect_err(said).to_string();
            assert!(error.starts_with(said), "{error}");
        }
    }

    #[test]
    fn every_kind_of_line_fills_in_what_is_not_given() {
        for kind in LINE_KINDS {
            let asked = Asked { down: "50mbit", up: "10mbit", line: kind.name, ..Asked::default() };
            let line = asked.question().expect(kind.name).line;
            assert_eq!((line.access.kind, line.access.framing), (Some(kind), kind.framing.0));
        }
    }

    #[test]
    fn given_values_go_before_those_of_the_kind_of_line() {
        let asked = Asked { down: "16mbit", up: "1mbit", line: "dsl", ..Asked::default() };
        let line = asked.question().expect("a question").line;
        let rtt = |low, high| Range { low: Duration::ms(low), high: Duration::ms(high) };
        assert_eq!((line.rtt, line.access.framing.overhead), (rtt(30, 120), Bytes::new(44)));
        let line = Asked { rtt: "30ms", overhead: "32B", ..asked }.question().expect("a question").line;
        assert_eq!((line.rtt, line.access.framing), (rtt(30, 30), Framing::named("bridged-llcsnap").expect("a keyword")));
        let line = Asked { overhead: "pppoe-ptm", ..asked }.question().expect("a question").line;
        assert_eq!(Ok(line.access.framing), Framing::named("pppoe-ptm"));
    }

    fn labels(asked: Asked<'_>) -> Vec<String> {
        asked.question().expect("a question").all_candidates().iter().map(ToString::to_string).collect()
    }

    const FAST: Asked<'_> = Asked { down: "500mbit", up: "50mbit", hardware: "openwrt", mix: "call-and-ping", ..Asked::LINE };

    #[test]
    fn a_direction_is_shaped_only_as_fast_as_the_router_can() {
        let all = labels(Asked { cpu: "460mbit", ..FAST });
        assert!(all.contains(&"cake up at 95 %, nothing down".to_owned()), "{all:?}");
        assert!(all.contains(&"cake at 90 %".to_owned()) && !all.contains(&"cake at 95 %".to_owned()), "{all:?}");
        assert_eq!(labels(Asked { cpu: "1mbit", ..FAST }), ["nothing set up"]);
    }

    #[test]
    fn a_modem_with_pie_leaves_the_uplink_open() {
        let all = labels(Asked { modem: "pie", ..FAST });
        assert!(all.contains(&"fq-codel down at 90 %, nothing up".to_owned()), "{all:?}");
        assert!(!all.contains(&"fq-codel at 90 %".to_owned()), "{all:?}");
    }

    #[test]
    fn lines_that_vary_much_get_rates_of_the_bad_hours() {
        let all = labels(Asked { line: "lte", ..FAST });
        assert_eq!(all[..4], ["cake at 60 %", "cake at 57 %", "cake at 54 %", "cake at 51 %"]);
        assert_eq!(labels(Asked { varies: "10%", ..FAST })[0], "cake at 95 %");
    }

    #[test]
    fn an_aim_decides_what_is_tried() {
        assert_eq!(labels(Asked { want: "throughput", rtt: "20ms", buffer: "100ms", ..FAST }), ["nothing set up"]);
        let short = labels(Asked { want: "throughput", rtt: "60ms", buffer: "20ms", ..FAST });
        assert_eq!(short[0], "tail-drop:limit=2500 packets down, tail-drop:limit=250 packets up at 95 %");
        assert!(!labels(Asked { want: "l4s", ..FAST }).iter().any(|label| label.starts_with("dualpi2")));
        let linux = Asked { want: "l4s", hardware: "linux", ..FAST };
        assert!(labels(linux).contains(&"dualpi2 at 90 %".to_owned()));
        let marking = labels(Asked { want: "l4s", ..FAST });
        assert!(marking.contains(&"fq-codel:ce_threshold=1 ms at 95 %".to_owned()));
    }
}
