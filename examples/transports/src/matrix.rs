//! The lines and queues of the scoreboard.

use std::error::Error;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};

/// Queue or impairment of a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Queue {
    TailDrop,
    CoDel,
    FqCoDel,
    Pie,
    DualPi2,
    Cellular,
    Policer,
    RandomLoss,
}

impl Queue {
    pub const ALL: [Self; 8] =
        [Self::TailDrop, Self::CoDel, Self::FqCoDel, Self::Pie, Self::DualPi2, Self::Cellular, Self::Policer, Self::RandomLoss];

    pub const fn name(self) -> &'static str {
        match self {
            Self::TailDrop => "tail drop, 1 BDP",
            Self::CoDel => "CoDel",
            Self::FqCoDel => "FQ-CoDel",
            Self::Pie => "PIE",
            Self::DualPi2 => "DualPI2",
            Self::Cellular => "cellular",
            Self::Policer => "policer",
            Self::RandomLoss => "0.5 % random loss",
        }
    }
}

/// A line and its queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Place {
    pub queue: Queue,
    /// Mbit/s.
    pub rate: u32,
    /// Round-trip time of the empty line in milliseconds.
    pub rtt: u32,
}

/// Limit of queues that manage themselves, as it is common in Linux.
const PACKETS: &str = "1000 packets";
/// Rates of lines in Mbit/s.
pub const RATES: [u32; 2] = [10, 100];
/// Round-trip times in milliseconds.
const RTTS: [u32; 2] = [20, 100];
/// Mean rate of the trace in Mbit/s.
const TRACE_RATE: u32 = 5;

impl Place {
    pub fn all() -> impl Iterator<Item = Self> {
        let lines = RATES.map(|rate| RTTS.map(|rtt| (rate, rtt)));
        Queue::ALL
            .into_iter()
            .flat_map(move |queue| lines.into_iter().flatten().map(move |(rate, rtt)| Self { queue, rate, rtt }))
    }

    pub fn line(self) -> String {
        format!("{} Mbit/s, {} ms", self.rate, self.rtt)
    }

    /// The settings of a scenario that make its line this one. Traces that are needed are made in
    /// `folder`.
    pub fn settings(self, folder: &Path) -> Result<Vec<(String, String)>, Box<dyn Error>> {
        let delay = format!("{} ms", self.rtt / 2);
        let bdp = u64::from(self.rate) * 1000 * u64::from(self.rtt) / 8;
        let rate = format!("{} Mbit/s", self.rate);
        let (rate, more) = match self.queue {
            Queue::TailDrop => (rate, vec![("queue", "tail-drop".to_owned()), ("buffer", "1 bdp".to_owned())]),
            Queue::CoDel => (rate, managed("codel")),
            Queue::FqCoDel => (rate, managed("fq-codel")),
            Queue::Pie => (rate, managed("pie")),
            Queue::DualPi2 => (rate, managed("dualpi2")),
            Queue::Cellular => (
                format!("{{ trace = \"{}\" }}", trace(self.rate, folder)?.display()),
                [managed("tail-drop"), vec![("rate_up", rate)]].concat(),
            ),
            // Packets that find no tokens have no place to wait.
            Queue::Policer => {
                (rate, vec![("queue", "tail-drop".to_owned()), ("burst", format!("{bdp} B")), ("buffer", "1 packets".to_owned())])
            }
            Queue::RandomLoss => {
                (rate, vec![("queue", "tail-drop".to_owned()), ("buffer", "1 bdp".to_owned()), ("loss", "0.005".to_owned())])
            }
        };
        let settings = [("rate", rate), ("delay", delay)].into_iter().chain(more);
        Ok(settings.map(|(key, value)| (format!("link.line.{key}"), value)).collect())
    }
}

fn managed(queue: &str) -> Vec<(&'static str, String)> {
    vec![("queue", queue.to_owned()), ("buffer", PACKETS.to_owned())]
}

/// The trace of the examples with each opportunity several times, for a mean of `rate`.
fn trace(rate: u32, folder: &Path) -> Result<PathBuf, Box<dyn Error>> {
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("../traces/cellular.down");
    let scaled = std::path::absolute(folder.join(format!("cellular-{rate}.down")))?;
    if !scaled.exists() {
        let text = std::fs::read_to_string(&source).map_err(|error| format!("{}: {error}", source.display()))?;
        let mut lines = String::with_capacity(text.len() * (rate / TRACE_RATE) as usize);
        for line in text.lines() {
            for _ in 0..rate / TRACE_RATE {
                writeln!(lines, "{line}")?;
            }
        }
        // Another run may be making the same.
        let making = folder.join(format!(".{rate}-{}", std::process::id()));
        std::fs::write(&making, lines)?;
        std::fs::rename(&making, &scaled)?;
    }
    Ok(scaled)
}
