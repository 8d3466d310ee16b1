//! Parameters of kinds that count packets as they are on the wire.

use crate::spec::{Given, LinkFacts, ParamError, ParamFault, ParamValues, Size, TypedParam, Value};
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

/// The bytes of a header; neither a time nor a number of packets is one.
fn header(param: &TypedParam<Option<Size>>, given: &ParamValues<'_>) -> Result<Option<Bytes>, ParamError> {
    match given.size(param.param.name) {
        None => Ok(None),
        Some(Size::Bytes(bytes)) => Ok(Some(Bytes::new((bytes + 0.5) as u64))),
        Some(size) => Err(no_header(param, size)),
    }
}

#[cold]
#[inline(never)]
fn no_header(param: &TypedParam<Option<Size>>, size: Size) -> ParamError {
    let (low, high) = param.param.range;
    let [low, high] = [low, high].map(|bytes| Value::Size(Size::Bytes(bytes)));
    param.param.fault(ParamFault::OutOfRange { value: Given::Value(Value::Size(size)), low, high })
}

/// The framing that the four parameters describe.
///
/// # Errors
/// When a header is given as a time or in packets.
pub fn build(given: &ParamValues<'_>, link: &LinkFacts) -> Result<Framing, ParamError> {
    let named = match FRAMING.read(given) {
        LINK => Framing::header(link.overhead),
        word => Framing::named(word).unwrap_or_default(),
    };
    Ok(Framing {
        overhead: header(&OVERHEAD, given)?.unwrap_or(named.overhead),
        mpu: header(&MPU, given)?.unwrap_or(named.mpu),
        cells: CELLS.read(given).unwrap_or(named.cells),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Limit;
    use alloc::string::ToString;
    use goodqueue_base::units::{Duration, Rate};

    #[test]
    fn headers_are_sizes_in_bytes_alone() {
        let link = LinkFacts {
            rate: Some(Rate::mbit(8)),
            delay: Duration::ZERO,
            mtu: Bytes::new(1500),
            overhead: Bytes::ZERO,
            limit: Limit::packets(10),
        };
        for (kind, name) in [("cake", "overhead"), ("cake", "mpu"), ("shaper", "overhead")] {
            let kind = crate::sched::kind(kind).expect("a kind");
            let framing = |size| build(&ParamValues::new(kind, &[(name, Value::Size(size))]).expect("in range"), &link);
            assert!(framing(Size::Bytes(44.0)).is_ok());
            for (size, shown) in [(Size::Packets(2.0), "2 packets"), (Size::Time(Duration::ms(1)), "1 ms")] {
                let said = framing(size).expect_err("refused").to_string();
                assert_eq!(said, alloc::format!("{name}: {shown} is out of range: allowed 0 B to 10000 B"));
            }
        }
    }
}
