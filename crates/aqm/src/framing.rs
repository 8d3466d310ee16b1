//! Parameters of kinds that count packets as they are on the wire.

use crate::spec::{Default as ParamDefault, LinkFacts, Param, ParamError, ParamValues, Unit, Value};
use goodqueue_base::units::{Cells, Framing};

const WORDS: [&str; Framing::KEYWORDS.len() + 1] = {
    let mut words = ["link"; Framing::KEYWORDS.len() + 1];
    let mut place = 0;
    while place < Framing::KEYWORDS.len() {
        words[place + 1] = Framing::KEYWORDS[place].0;
        place += 1;
    }
    words
};

pub(crate) const FRAMING: Param = Param::new("framing", Unit::Choice(&WORDS), ParamDefault::Value(Value::Choice("link")))
    .about("what each packet counts besides its own bytes: what the link adds to a full one, or a keyword of tc-cake")
    .from_source("Linux");
pub(crate) const OVERHEAD: Param = Param::auto("overhead", Unit::Size, "that of framing")
    .within(0.0, 1e4)
    .about("bytes that each packet counts besides its own")
    .from_source("Linux");
pub(crate) const MPU: Param = Param::auto("mpu", Unit::Size, "that of framing")
    .within(0.0, 1e4)
    .about("bytes that a packet counts at least, overhead included")
    .from_source("Linux");
pub(crate) const CELLS: Param = Param::auto("cells", Unit::Choice(&["none", "atm", "ptm"]), "those of framing")
    .about("cells that packets are sent in: 53 bytes for 48 (atm), 65 for 64 (ptm)")
    .from_source("Linux");

/// The framing that the four parameters describe.
///
/// # Errors
/// When a size is given as a time and the link's rate is unknown.
pub fn build(given: &ParamValues<'_>, link: &LinkFacts) -> Result<Framing, ParamError> {
    let named = given.choice(FRAMING.name).filter(|word| *word != "link");
    let named = named.map_or(Framing::header(link.overhead), |word| Framing::named(word).unwrap_or_default());
    let cells = given.choice(CELLS.name).and_then(|word| Cells::WORDS.iter().find(|(name, _)| *name == word));
    Ok(Framing {
        overhead: given.bytes(OVERHEAD.name, link.mtu, link.rate)?.unwrap_or(named.overhead),
        mpu: given.bytes(MPU.name, link.mtu, link.rate)?.unwrap_or(named.mpu),
        cells: cells.map_or(named.cells, |(_, cells)| *cells),
    })
}
