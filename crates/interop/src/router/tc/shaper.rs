//! The settings of the shapers on the way to a queue.

use super::framing::{Words, bytes};
use super::path::{CLASSFUL_SHAPERS, End, Path};
use super::{Discipline, Role, Setting, TcError};
use crate::FULL_PACKET;
use goodqueue_base::spec::quantity::excerpt;
use goodqueue_base::units::{Bytes, Cells, Framing, Rate};

/// The rate at which an interface sends.
#[derive(Clone, Debug, PartialEq)]
pub enum ShapedRate {
    /// The interface's own: nothing shapes.
    Unshaped,
    /// A shaper's, with its name.
    Known(Rate, String),
    /// Not known, for the reason in this clause.
    Unknown(String),
}

impl ShapedRate {
    /// The rate, where it is known.
    #[must_use]
    pub const fn known(&self) -> Option<Rate> {
        match self {
            Self::Known(rate, _) => Some(*rate),
            Self::Unshaped | Self::Unknown(_) => None,
        }
    }
}

/// The bytes that a shaper may send at once.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bucket {
    /// The bytes.
    pub bytes: Bytes,
    /// Whether they were told; else they are those that the kernel takes untold.
    pub is_told: bool,
}

/// The bucket of an HTB class that is not told one, where timers count in nanoseconds (tc/q_htb.c).
const HTB_BUCKET: Bytes = Bytes::new(1_600);

/// The shapers on a way, taken together: the slowest one's rate and bucket.
#[derive(Clone, Debug)]
pub(super) struct Shaper {
    pub rate: ShapedRate,
    /// Whether the rate is netem's, where packets wait in netem's own queue.
    pub is_netem: bool,
    pub burst: Option<Bucket>,
    pub framing: Option<Framing>,
    /// The bytes that Linux counts besides those of IP.
    header: u64,
    pub notes: Vec<String>,
}

impl Shaper {
    pub(super) fn on(path: &Path<'_>) -> Result<Self, TcError> {
        let (header, notes) = (path.header, Vec::new());
        let mut shaper = Self { rate: ShapedRate::Unshaped, is_netem: false, burst: None, framing: None, header, notes };
        if let (End::Bypass, Some(missing)) = (&path.end, &path.missing_default) {
            let (name, dev) = (path.last().name(), &path.last().dev);
            shaper.rate = ShapedRate::Unknown(format!(
                "{name} at {dev} has no {missing}: packets that no filter puts into a class pass its shaper by"
            ));
            return Ok(shaper);
        }
        for found in &path.disciplines {
            shaper.take(found)?;
            let is_silent = || path.end != End::Classes && path.classes.iter().all(|class| class.kind != found.kind);
            if CLASSFUL_SHAPERS.contains(&found.kind.as_str()) && is_silent() {
                let (name, dev) = (found.name(), if found.dev.is_empty() { "DEV" } else { &found.dev });
                let why = format!("{name} has its rate in a class, which tc class show dev {dev} prints");
                shaper.rate = ShapedRate::Unknown(why);
            }
        }
        let of_disciplines = shaper.framing;
        for class in &path.classes {
            // A class's framing comes on top of the disciplines', not of other classes'; that of
            // the class whose rate holds counts.
            let of_slower = std::mem::replace(&mut shaper.framing, of_disciplines);
            if !shaper.take(class)? {
                shaper.framing = of_slower;
            }
        }
        if shaper.header == 0 && shaper.framing.is_some() && !path.last().kind.starts_with("cake") {
            let dev = &path.last().dev;
            shaper.notes.push(format!("{dev} is taken, by its name, for an interface without an Ethernet header."));
        }
        Ok(shaper)
    }

    /// Takes what one of them says; `true` where it is the slowest so far.
    fn take(&mut self, found: &Discipline) -> Result<bool, TcError> {
        self.take_framing(found);
        let Some((key, rate)) = rate(found)? else { return Ok(false) };
        for key in ["peakrate", "minburst"].iter().filter(|_| found.kind == "tbf") {
            self.notes.extend(found.option(key).map(|setting| found.left_out(key, setting)));
        }
        if let ShapedRate::Known(slower, _) = &self.rate
            && *slower <= rate
        {
            return Ok(false);
        }
        let key = key.trim_start_matches("ul ");
        self.rate = ShapedRate::Known(rate, found.placed(&format!("{key} of {}", found.name())));
        self.is_netem = found.kind == "netem";
        self.burst = self.bucket(found);
        Ok(true)
    }

    fn bucket(&self, found: &Discipline) -> Option<Bucket> {
        let told = |keys: &[&str]| {
            // tc prints buckets as the time they last, in ticks, which costs a byte.
            let bytes = keys.iter().find_map(|key| found.option(key)?.bytes()).filter(|bytes| (0.0..=1e12).contains(bytes))?;
            Some(Bucket { bytes: Bytes::new(bytes.ceil() as u64), is_told: true })
        };
        match found.kind.as_str() {
            // After a pause cake sends one packet at once and then waits for as long as it takes.
            "cake" | "cake_mq" => Some(Bucket {
                bytes: self.framing.unwrap_or(Framing::header(Bytes::new(self.header))).wire(FULL_PACKET),
                is_told: true,
            }),
            // Bytes beyond the assured rate are those of the ceiling.
            "htb" => told(&["cburst", "cbuffer", "cmaxburst"]).or(Some(Bucket { bytes: HTB_BUCKET, is_told: false })),
            "tbf" => told(&["burst", "buffer", "maxburst"]),
            _ => None,
        }
    }

    /// Takes the framing that it counts, a class's on top of that of the disciplines above it.
    pub(super) fn take_framing(&mut self, found: &Discipline) {
        let framing = match found.kind.as_str() {
            "cake" | "cake_mq" => {
                let has_table = found.options.iter().any(|(key, _)| key.starts_with("stab "));
                // cake counts the length that a table gives (`qdisc_pkt_len`), and its own words.
                match (self.cake_framing(found), has_table.then(|| self.sizes(found, &["stab "])).flatten()) {
                    (Some(own), Some(table)) => {
                        let more = table.overhead.get().saturating_sub(self.header);
                        Some(Framing { overhead: Bytes::new(own.overhead.get() + more), ..own })
                    }
                    (own, table) => own.or(table),
                }
            }
            _ => self.sizes(found, &["stab ", ""]),
        };
        self.framing = framing.or(self.framing);
    }

    /// Returns the framing from cake's words; `None` where it counts packets as Linux does. Words
    /// that say no overhead leave the header in (`cake_calc_overhead`).
    fn cake_framing(&mut self, found: &Discipline) -> Option<Framing> {
        let Words { overhead, mpu, cells, is_raw } = Words::of(&found.options);
        let counts_header = is_raw || overhead.is_none();
        let overhead = overhead.unwrap_or_default();
        let says_none = overhead == 0 && mpu.is_none_or(|mpu| mpu == 0) && cells.is_none_or(|cells| cells == Cells::None);
        if counts_header && says_none {
            return None;
        }
        let sum = if counts_header { overhead + self.header as i64 } else { overhead };
        Some(Framing {
            overhead: self.counted(found, "overhead", sum),
            mpu: mpu.map_or(Bytes::ZERO, |sum| self.counted(found, "mpu", sum)),
            cells: cells.unwrap_or_default(),
        })
    }

    /// Returns the framing from a table of sizes, or from a shaper's own, by the beginnings of
    /// their keys: its overhead comes on top of an Ethernet header, and a class's on top of both.
    fn sizes(&mut self, found: &Discipline, places: &[&str]) -> Option<Framing> {
        let before = self.framing.filter(|_| found.role == Role::Class);
        let base = before.map_or(self.header as i64, |before| before.overhead.get() as i64);
        let said = |name: &str| places.iter().map(|place| format!("{place}{name}")).find(|key| found.option(key).is_some());
        let overhead = said("overhead").and_then(|key| self.number(found, &key, base));
        let mpu = said("mpu").and_then(|key| self.number(found, &key, 0)).filter(|mpu| !mpu.is_zero());
        let linklayer = said("linklayer").and_then(|key| found.option(&key)).map(Setting::text);
        let is_atm = matches!(linklayer.as_deref(), Some("atm" | "adsl"));
        let has_table = found.options.iter().any(|(key, _)| key.starts_with("stab "));
        (overhead.is_some() || mpu.is_some() || is_atm || has_table).then(|| Framing {
            overhead: overhead.unwrap_or(Bytes::new(base as u64)),
            mpu: mpu.or(before.map(|before| before.mpu)).unwrap_or_default(),
            cells: if is_atm { Cells::Atm } else { before.map_or(Cells::None, |before| before.cells) },
        })
    }

    /// A number of bytes of an option, with `more` on top. A negative sum is none.
    fn number(&mut self, found: &Discipline, key: &str, more: i64) -> Option<Bytes> {
        let sum = bytes(found.option(key)?)? + more;
        Some(self.counted(found, key, sum))
    }

    /// The bytes that a line can add.
    fn counted(&mut self, found: &Discipline, key: &str, sum: i64) -> Bytes {
        if sum < 0 {
            let (name, value) = (&found.kind, found.option(key).map(Setting::text).unwrap_or_default());
            self.notes.push(format!("{key} {value} of {name} counts less than an IP packet, which a line cannot: it is 0 here."));
        }
        Bytes::new(sum.max(0) as u64)
    }
}

/// The rate under one of the keys of a shaper; `None` where it has none of them.
pub(super) fn rate_of(found: &Discipline, key: &'static str) -> Result<Option<Rate>, TcError> {
    let Some(setting) = found.option(key) else { return Ok(None) };
    match setting.bit_s() {
        Some(bits) if (1.0..=1e13).contains(&bits) => Ok(Some(Rate::bit_s(bits.round() as u64))),
        _ => Err(wrong_rate(found, key, setting)),
    }
}

fn wrong_rate(found: &Discipline, key: &str, setting: &Setting) -> TcError {
    let (owner, value) = (excerpt(&found.name()), excerpt(&setting.text()));
    found.in_line(TcError::Rate { owner, key: key.trim_start_matches("ul ").to_owned(), value })
}

/// The rate of a shaper with its key; `None` where it shapes nothing.
fn rate(found: &Discipline) -> Result<Option<(&'static str, Rate)>, TcError> {
    let keys: &[&'static str] = match (found.kind.as_str(), found.role) {
        ("htb", Role::Class) => &["ceil", "rate"],
        ("hfsc", Role::Class) => &["ul m2", "ul rate"],
        ("tbf" | "netem", Role::Qdisc) => &["rate"],
        // The last of both holds.
        ("cake" | "cake_mq", Role::Qdisc) => {
            let last = found.options.iter().rfind(|(key, _)| matches!(key.as_str(), "bandwidth" | "unlimited"));
            if last.is_some_and(|(key, _)| key == "bandwidth") { &["bandwidth"] } else { &[] }
        }
        _ => &[],
    };
    let Some((key, setting)) = keys.iter().find_map(|key| Some((*key, found.option(key)?))) else { return Ok(None) };
    match setting.bit_s() {
        Some(0.0) if found.is_whole || !matches!(found.kind.as_str(), "htb" | "tbf") => Ok(None),
        _ => Ok(rate_of(found, key)?.map(|rate| (key, rate))),
    }
}
