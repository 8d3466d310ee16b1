//! Builds a queue from the caller's strings and numbers.

use crate::host::Held;
use crate::{GQ_NONE, GqLink, GqParam};
use goodqueue_aqm::sched::find;
use goodqueue_aqm::spec::{Chosen, KindSpec, LinkFacts, Param, Size, Unit, Value};
use goodqueue_aqm::{AnyQdisc, EcnPolicy, Limit, Rng};
use goodqueue_units::{Bytes, Duration, Packets, Rate};
use std::ffi::{CStr, c_char};

/// Largest packet of a link: more than any protocol has, jumbograms of an offload included.
const LARGEST_MTU: u32 = 1_000_000;
/// Largest framing of a packet.
const LARGEST_OVERHEAD: u32 = 10_000;

/// # Safety
/// As for [`crate::gq_queue_new`].
pub unsafe fn queue(
    name: *const c_char,
    params: *const GqParam,
    count: usize,
    link: *const GqLink,
) -> Result<AnyQdisc<Held>, String> {
    // SAFETY: zero-terminated or null, as the caller promises.
    let name = unsafe { text(name) }.map_err(|fault| format!("kind: {fault}"))?;
    let spec = known(name.ok_or("kind: is missing")?)?;
    // SAFETY: a link or null.
    let link = unsafe { link.as_ref() }.ok_or("link: is missing")?;
    check(link)?;
    let params = if params.is_null() || count == 0 {
        &[]
    } else {
        // SAFETY: `count` parameters, as the caller promises.
        unsafe { std::slice::from_raw_parts(params, count) }
    };
    let (mut values, mut of) = (Vec::new(), None);
    for param in params {
        // SAFETY: both zero-terminated or null.
        let (name, word) = unsafe { (text(param.name), text(param.word)) };
        let name = name.map_err(|fault| format!("the name of a parameter {fault}"))?.ok_or("a parameter has no name")?;
        let word = word.map_err(|fault| format!("{name}: {fault}"))?;
        let param_spec = spec.params.iter().find(|known| known.name == name);
        let param_spec = param_spec.ok_or_else(|| format!("{name}: `{}` has no such parameter", spec.kind))?;
        if param_spec.unit.is_another() {
            let kind = known(word.ok_or_else(|| format!("{name}: needs the word of an algorithm"))?)?;
            of = Some(Chosen::new(kind, Vec::new()));
        } else {
            values.push((param_spec.name, value(param_spec, param.number, word)?));
        }
    }
    let ecn = if link.ecn == 0 { EcnPolicy::Drop } else { EcnPolicy::Mark };
    AnyQdisc::build_over(spec, &values, of.as_ref(), &facts(link), ecn, Rng::new(link.seed)).map_err(|error| error.to_string())
}

fn known(name: &str) -> Result<&'static KindSpec, String> {
    find(name).map_err(|unknown| format!("kind: {unknown}"))
}

/// Refuses sizes that no link has. Fair queues count them down turn by turn, which must end soon.
fn check(link: &GqLink) -> Result<(), String> {
    if !(1..=LARGEST_MTU).contains(&link.mtu) {
        return Err(format!("mtu: {} is out of range: allowed 1 to {LARGEST_MTU} bytes", link.mtu));
    }
    if link.overhead > LARGEST_OVERHEAD {
        return Err(format!("overhead: {} is out of range: allowed 0 to {LARGEST_OVERHEAD} bytes", link.overhead));
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

fn value(param: &Param, number: f64, word: Option<&str>) -> Result<Value, String> {
    if !number.is_finite() || number < 0.0 {
        return Err(format!("{}: {number} is not a number from 0 on", param.name));
    }
    Ok(match param.unit {
        Unit::Duration => Value::Duration(Duration::from_secs_f64(number)),
        Unit::Size => Value::Size(Size::Bytes(number)),
        Unit::Rate => Value::Rate(Rate::bit_s(number as u64)),
        Unit::Number | Unit::Count | Unit::Ratio => Value::Number(number),
        Unit::Switch if number == 0.0 || number == 1.0 => Value::Switch(number == 1.0),
        Unit::Switch => return Err(format!("{}: {number} is not 0 or 1", param.name)),
        Unit::Choice(words) => {
            let word = word.ok_or_else(|| format!("{}: needs a word: allowed {}", param.name, words.join(", ")))?;
            let known = words.iter().find(|known| **known == word);
            Value::Choice(known.ok_or_else(|| format!("{}: `{word}` is not one of {}", param.name, words.join(", ")))?)
        }
        unit => return Err(format!("{}: is {unit}, not a number", param.name)),
    })
}

/// The string at `pointer`; `None` for null.
///
/// # Safety
/// `pointer` is a zero-terminated string that outlives the result, or null.
unsafe fn text<'a>(pointer: *const c_char) -> Result<Option<&'a str>, &'static str> {
    if pointer.is_null() {
        return Ok(None);
    }
    // SAFETY: as above.
    unsafe { CStr::from_ptr(pointer) }.to_str().map(Some).map_err(|_| "is not UTF-8")
}

/// Writes `error` into the caller's memory, cut to fit.
///
/// # Safety
/// `message` points to `size` writable bytes, or is null.
pub unsafe fn tell(error: &str, message: *mut c_char, size: usize) {
    if message.is_null() || size == 0 {
        return;
    }
    let length = error.len().min(size - 1);
    // SAFETY: `length` bytes and the zero fit into `size`; the two do not overlap, as one is ours.
    unsafe {
        std::ptr::copy_nonoverlapping(error.as_ptr().cast::<c_char>(), message, length);
        message.add(length).write(0);
    }
}
