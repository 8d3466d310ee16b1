//! A row of LibreQoS' `ShapedDevices.csv`.

use crate::router::dialect::Refusal;
use crate::router::dialect::libreqos::LIBREQOS;
use crate::router::setup::{Setup, Side};
use goodqueue_base::units::Rate;
use std::net::IpAddr;

/// Columns of `ShapedDevices.csv` (LibreQoS 2.0), the last of them optional there.
const COLUMNS: [&str; 14] = [
    "Circuit ID",
    "Circuit Name",
    "Device ID",
    "Device Name",
    "Parent Node",
    "MAC",
    "IPv4",
    "IPv6",
    "Download Min Mbps",
    "Upload Min Mbps",
    "Download Max Mbps",
    "Upload Max Mbps",
    "Comment",
    "sqm",
];

/// Least rate of a circuit: LibreQoS skips rows below it.
const MIN_RATE: Rate = Rate::kbit(200);

/// An address of the circuit, with or without the length of its prefix.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Address {
    ip: IpAddr,
    prefix: Option<u8>,
}

/// A text that is no address.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{shown}` is not an address: write for instance 100.64.0.2 or fdd7:b724::/56")]
pub struct NoAddress {
    /// The text, cut to a readable length.
    shown: String,
}

impl std::str::FromStr for Address {
    type Err = NoAddress;

    fn from_str(text: &str) -> Result<Self, NoAddress> {
        let shown: String = text.chars().take(60).filter(|c| !c.is_control()).collect();
        let fault = || NoAddress { shown: shown.clone() };
        let (ip, prefix) = match text.split_once('/') {
            None => (text, None),
            Some((ip, prefix)) => (ip, Some(prefix.parse::<u8>().map_err(|_| fault())?)),
        };
        let ip: IpAddr = ip.parse().map_err(|_| fault())?;
        let longest = if ip.is_ipv4() { 32 } else { 128 };
        if prefix.is_some_and(|prefix| prefix > longest) {
            return Err(fault());
        }
        Ok(Self { ip, prefix })
    }
}

impl std::fmt::Display for Address {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self.prefix {
            Some(prefix) => write!(f, "{}/{prefix}", self.ip),
            None => write!(f, "{}", self.ip),
        }
    }
}

/// A table of one circuit, and what is not as in the scenario: such a table has no comments.
pub struct Circuits {
    /// The file.
    pub csv: String,
    /// Sentences for the reader.
    pub notes: Vec<String>,
}

/// The header and one circuit with these addresses.
///
/// # Errors
/// When LibreQoS has no word for a queue, or a direction is missing or not shaped: a circuit has a
/// rate each way.
pub fn row(setup: &Setup, addresses: &[Address]) -> Result<Circuits, Refusal> {
    let [down, up] = [("down", &setup.down), ("up", &setup.up)].map(|(name, side)| match side {
        Some(side) => Ok(side),
        None => Err(Refusal::plain(format!("a circuit without a queue {name} has no counterpart in LibreQoS"))),
    });
    let (down, up) = (down?, up?);
    let phrases = [down.said_in(&LIBREQOS)?, up.said_in(&LIBREQOS)?];
    let kinds = [phrases[0].word, phrases[1].word];
    let mut notes: Vec<String> = Vec::new();
    for note in [down, up].into_iter().flat_map(|side| &side.notes).chain(phrases.iter().flat_map(|phrase| &phrase.notes)) {
        if !notes.contains(note) {
            notes.push(note.clone());
        }
    }
    if [down, up].into_iter().any(|side| side.framing.is_some()) {
        notes.push("LibreQoS counts packets without the framing of the line: a lower --percent makes up for it.".to_owned());
    }
    let sqm = if kinds[0] == kinds[1] { kinds[0].to_owned() } else { kinds.join("/") };
    let listed = |wanted: fn(&IpAddr) -> bool| {
        let texts: Vec<String> = addresses.iter().filter(|address| wanted(&address.ip)).map(Address::to_string).collect();
        texts.join(", ")
    };
    let (max_down, max_up) = (rate(down)?, rate(up)?);
    let fields = [
        "gq-1",
        &setup.name,
        "gq-1",
        &setup.name,
        "",
        "",
        &listed(IpAddr::is_ipv4),
        &listed(IpAddr::is_ipv6),
        &mbps(least(max_down)),
        &mbps(least(max_up)),
        &mbps(max_down),
        &mbps(max_up),
        "gq export libreqos",
        &sqm,
    ]
    .map(field);
    Ok(Circuits { csv: format!("{}\n{}\n", COLUMNS.join(","), fields.join(",")), notes })
}

fn rate(side: &Side) -> Result<Rate, Refusal> {
    let refused = |what: String| Refusal::plain(format!("{what} has no counterpart in LibreQoS")).at(&side.place);
    let rate = side.rate.ok_or_else(|| refused("a circuit without a rate".to_owned()))?;
    if rate < MIN_RATE {
        return Err(refused(format!("a circuit of {rate}")).instead(MIN_RATE.to_string()));
    }
    Ok(rate)
}

/// Returns the rate that is kept for a circuit when all are busy: 1 Mbit/s, so that the sum over
/// many stays below the capacity.
fn least(max: Rate) -> Rate {
    max.min(Rate::mbit(1))
}

fn mbps(rate: Rate) -> String {
    format!("{}", rate.as_bit_s() as f64 / 1e6)
}

/// A field of CSV (RFC 4180), in quotes where it needs them. A leading sign of a formula is made
/// harmless.
fn field(text: &str) -> String {
    let text = if text.starts_with(['=', '+', '-', '@']) { format!("'{text}") } else { text.to_owned() };
    if text.contains(['"', ',', '\n', '\r']) { format!("\"{}\"", text.replace('"', "\"\"")) } else { text }
}
