//! Parameters of kinds that count packets as they are on the wire.

use crate::spec::{LinkFacts, ParamError, ParamValues, Size, TypedParam, Value};
use goodqueue_base::units::{Bytes, Cells, Framing};

/// The word for the framing of the link.
const LINK: &str = "link";

const WORDS: [&str; Framing::KEYWORDS.len() + 1] = {
    let mut words = [LINK; Framing::KEYWORDS.len() + 1];
    let mut place = 0;
    while place < Framing::KEYWORDS.len() {
        words[place + 1] = Framing::KEYWORDS[place].0;
        place += 1;
    }
    words
};

pub(crate) const FRAMING: TypedParam<&str> = TypedParam::word("framing", &WORDS, LINK)
    .about("what each packet counts besides its own bytes: what the link adds to a full one, or a keyword of tc-cake")
    .from_source("Linux");
pub(crate) const OVERHEAD: TypedParam<Option<Size>> = TypedParam::auto("overhead", "that of framing")
    .within(0.0, 1e4)
    .about("bytes that each packet counts besides its own")
    .from_source("Linux");
pub(crate) const MPU: TypedParam<Option<Size>> = TypedParam::auto("mpu", "that of framing")
    .within(0.0, 1e4)
    .about("bytes that a packet counts at least, overhead included")
    .from_source("Linux");
pub(crate) const CELLS: TypedParam<Option<Cells>> = TypedParam::auto("cells", "those of framing")
    .about("cells that packets are sent in: 53 bytes for 48 (atm), 65 for 64 (ptm)")
    .from_source("Linux");

/// A size in bytes, within the range of its parameter however it was given.
///
/// # Errors
/// When it is outside, or given as a time and the link's rate is unknown.
pub(crate) fn few_bytes(
    param: &TypedParam<Option<Size>>,
    given: &ParamValues<'_>,
    link: &LinkFacts,
) -> Result<Option<Bytes>, ParamError> {
    let size = param.bytes(given, link.mtu, link.rate)?;
    if let Some(bytes) = size {
        param.param.check(Value::Size(Size::Bytes(bytes.get() as f64)))?;
    }
    Ok(size)
}

/// The framing that the four parameters describe.
///
/// # Errors
/// When a size is too large, or given as a time and the link's rate is unknown.
pub fn build(given: &ParamValues<'_>, link: &LinkFacts) -> Result<Framing, ParamError> {
    let named = match FRAMING.read(given) {
        LINK => Framing::header(link.overhead),
        word => Framing::named(word).unwrap_or_default(),
    };
    Ok(Framing {
        overhead: few_bytes(&OVERHEAD, given, link)?.unwrap_or(named.overhead),
        mpu: few_bytes(&MPU, given, link)?.unwrap_or(named.mpu),
        cells: CELLS.read(given).unwrap_or(named.cells),
    })
}
