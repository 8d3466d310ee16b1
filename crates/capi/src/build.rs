//! Builds a queue from the caller's strings and numbers.

use crate::host::Held;
use crate::{GQ_NONE, GqLink, GqParam};
use goodqueue_aqm::sched::{UnknownKind, find};
use goodqueue_aqm::spec::{KindAndParams, LinkFacts, Param, ParamError, Size, Unit, Value};
use goodqueue_aqm::{AnyQdisc, EcnPolicy, Limit, Rng};
use goodqueue_base::units::{Bytes, Duration, Packets, Rate};
use std::ffi::{CStr, c_char};
use std::str::Utf8Error;

/// Largest packet of a link: more than any protocol has, jumbograms of an offload included.
const MAX_MTU: u32 = 1_000_000;
/// Largest framing of a packet.
const MAX_OVERHEAD: u32 = 10_000;

/// The reason that no queue can be made from the caller's arguments.
#[derive(Debug, thiserror::Error)]
pub enum BuildError {
    /// No kind is named.
    #[error("kind: is missing")]
    NoKind,
    /// The kind is no text.
    #[error("kind: is not UTF-8")]
    KindNotUtf8,
    /// No kind has this name, neither of the queue nor of the algorithm within.
    #[error("kind: {0}")]
    UnknownKind(#[from] UnknownKind),
    /// No link is given.
    #[error("link: is missing")]
    NoLink,
    /// Largest packet that no link has, in bytes.
    #[error("mtu: {0} is out of range: allowed 1 to {MAX_MTU} bytes")]
    Mtu(u32),
    /// Framing that no packet has, in bytes.
    #[error("overhead: {0} is out of range: allowed 0 to {MAX_OVERHEAD} bytes")]
    Overhead(u32),
    /// A parameter without a name.
    #[error("a parameter has no name")]
    NoName,
    /// A parameter whose name is no text.
    #[error("the name of a parameter is not UTF-8")]
    NameNotUtf8,
    /// A parameter whose word is no text.
    #[error("{0}: is not UTF-8")]
    WordNotUtf8(String),
    /// A parameter that the kind does not have.
    #[error("{name}: `{kind}` has no such parameter")]
    UnknownParam {
        /// The parameter.
        name: String,
        /// The kind.
        kind: &'static str,
    },
    /// A parameter that is an algorithm, without the algorithm's name.
    #[error("{0}: needs the word of an algorithm")]
    NoAlgorithm(&'static str),
    /// A number that is negative or not finite.
    #[error("{param}: {number} is not a number from 0 on")]
    Number {
        /// The parameter.
        param: &'static str,
        /// The number given.
        number: f64,
    },
    /// A number for a switch that is neither of its two.
    #[error("{param}: {number} is not 0 or 1")]
    Switch {
        /// The parameter.
        param: &'static str,
        /// The number given.
        number: f64,
    },
    /// A choice without a word.
    #[error("{param}: needs a word: allowed {}", words.join(", "))]
    NoWord {
        /// The parameter.
        param: &'static str,
        /// The allowed words.
        words: &'static [&'static str],
    },
    /// A word that is none of a choice.
    #[error("{param}: `{word}` is not one of {}", words.join(", "))]
    UnknownWord {
        /// The parameter.
        param: &'static str,
        /// The word given.
        word: String,
        /// The allowed words.
        words: &'static [&'static str],
    },
    /// A parameter that no number can be.
    #[error("{param}: is {unit}, not a number")]
    NoNumber {
        /// The parameter.
        param: &'static str,
        /// The parameter's unit.
        unit: Unit,
    },
    /// A value that the queue cannot have.
    #[error(transparent)]
    Param(#[from] ParamError),
}

/// # Safety
/// As for [`crate::gq_queue_new`].
pub unsafe fn queue(
    name: *const c_char,
    params: *const GqParam,
    count: usize,
    link: *const GqLink,
) -> Result<AnyQdisc<Held>, BuildError> {
    // SAFETY: zero-terminated or null, as the caller promises.
    let name = unsafe { text(name) }.map_err(|_| BuildError::KindNotUtf8)?;
    let spec = find(name.ok_or(BuildError::NoKind)?)?;
    // SAFETY: a link or null.
    let link = unsafe { link.as_ref() }.ok_or(BuildError::NoLink)?;
    check(link)?;
    let params = if params.is_null() || count == 0 {
        &[]
    } else {
        // SAFETY: `count` parameters, as the caller promises.
        unsafe { std::slice::from_raw_parts(params, count) }
    };
    let mut chosen = KindAndParams::new(spec, Vec::new());
    for param in params {
        // SAFETY: both zero-terminated or null.
        let (name, word) = unsafe { (text(param.name), text(param.word)) };
        let name = name.map_err(|_| BuildError::NameNotUtf8)?.ok_or(BuildError::NoName)?;
        let word = word.map_err(|_| BuildError::WordNotUtf8(name.to_owned()))?;
        let param_spec = spec.params.iter().find(|known| known.name == name);
        let param_spec = param_spec.ok_or_else(|| BuildError::UnknownParam { name: name.to_owned(), kind: spec.kind })?;
        if param_spec.unit.is_another() {
            let kind = find(word.ok_or(BuildError::NoAlgorithm(param_spec.name))?)?;
            chosen.of = Some(Box::new(KindAndParams::new(kind, Vec::new())));
        } else {
            chosen.params.push((param_spec.name, value(param_spec, param.number, word)?));
        }
    }
    let ecn = if link.ecn == 0 { EcnPolicy::Drop } else { EcnPolicy::Mark };
    Ok(AnyQdisc::build_over(&chosen, &facts(link), ecn, Rng::new(link.seed))?)
}

/// Refuses sizes that no link has. Fair queues count them down turn by turn, which must end soon.
fn check(link: &GqLink) -> Result<(), BuildError> {
    if !(1..=MAX_MTU).contains(&link.mtu) {
        return Err(BuildError::Mtu(link.mtu));
    }
    if link.overhead > MAX_OVERHEAD {
        return Err(BuildError::Overhead(link.overhead));
    }
    Ok(())
}

fn facts(link: &GqLink) -> LinkFacts {
    let limited = |limit: u64| if limit == GQ_NONE { u64::MAX } else { limit };
    LinkFacts {
        rate: (link.rate != GQ_NONE).then_some(Rate::bit_s(link.rate)),
        delay: Duration::ns(link.delay),
        mtu: Bytes::new(u64::from(link.mtu)),
        overhead: Bytes::new(u64::from(link.overhead)),
        limit: Limit { packets: Packets::new(limited(link.limit_packets)), bytes: Bytes::new(limited(link.limit_bytes)) },
    }
}

fn value(param: &Param, number: f64, word: Option<&str>) -> Result<Value, BuildError> {
    let name = param.name;
    if !number.is_finite() || number < 0.0 {
        return Err(BuildError::Number { param: name, number });
    }
    Ok(match param.unit {
        Unit::Duration => Value::Duration(Duration::from_secs_f64(number)),
        Unit::Size => Value::Size(Size::Bytes(number)),
        Unit::Rate => Value::Rate(Rate::bit_s(number as u64)),
        Unit::Number | Unit::Count | Unit::Ratio => Value::Number(number),
        Unit::Switch if number == 0.0 || number == 1.0 => Value::Switch(number == 1.0),
        Unit::Switch => return Err(BuildError::Switch { param: name, number }),
        Unit::Choice(words) => {
            let word = word.ok_or(BuildError::NoWord { param: name, words })?;
            let known = words.iter().find(|known| **known == word);
            Value::Choice(known.ok_or_else(|| BuildError::UnknownWord { param: name, word: word.to_owned(), words })?)
        }
        unit => return Err(BuildError::NoNumber { param: name, unit }),
    })
}

/// The string at `pointer`; `None` for null.
///
/// # Safety
/// `pointer` is a zero-terminated string that outlives the result, or null.
unsafe fn text<'a>(pointer: *const c_char) -> Result<Option<&'a str>, Utf8Error> {
    if pointer.is_null() {
        return Ok(None);
    }
    // SAFETY: as above.
    unsafe { CStr::from_ptr(pointer) }.to_str().map(Some)
}

/// Writes `error` into the caller's memory, cut to fit.
///
/// # Safety
/// `message` points to `size` writable bytes, or is null.
pub unsafe fn tell(error: &BuildError, message: *mut c_char, size: usize) {
    if message.is_null() || size == 0 {
        return;
    }
    let error = error.to_string();
    let length = error.len().min(size - 1);
    // SAFETY: `length` bytes and the zero fit into `size`; the two do not overlap, as one is ours.
    unsafe {
        std::ptr::copy_nonoverlapping(error.as_ptr().cast::<c_char>(), message, length);
        message.add(length).write(0);
    }
}
