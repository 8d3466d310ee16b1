//! Settings as words: read, merged with earlier ones, and made into a queue.

use crate::packet::Waiting;
use alloc::boxed::Box;
use alloc::string::String;
use alloc::vec::Vec;
use goodqueue_aqm::sched;
use goodqueue_aqm::spec::{KindAndParams, KindSpec, LinkFacts, Param, Size, Value};
use goodqueue_aqm::{AnyQdisc, EcnPolicy, Limit, Qdisc, Rng};
use goodqueue_base::spec::Default;
use goodqueue_base::spec::quantity::{self, Limits, QuantityError, QuantityFault, excerpt};
use goodqueue_base::units::{Bytes, Duration, Packets, Rate};
use params::MAX_BYTES;
pub(crate) use params::{host, settable};
pub(crate) use refusal::Refusal;
use refusal::{MAX, MAX_TEXT};

mod params;
mod refusal;

/// Most packets of a queue: their memory is taken when the queue is made.
const MAX_PACKETS: u64 = 1_000_000;
/// Bytes of the smallest packet that a limit in bytes is prepared for; of smaller ones fewer fit.
const MIN_PACKET: u64 = 64;

/// The facts of the device that are known when a queue is made.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct GqkDevice {
    /// Largest packet without framing, in bytes.
    pub mtu: u32,
    /// Framing bytes of a packet, unless the settings say otherwise.
    pub overhead: u32,
    /// Seed of the random numbers, unless the settings say otherwise.
    pub seed: u64,
}

/// The settings that were given, in the order in which they were.
#[derive(Clone, Debug, core::default::Default)]
pub(crate) struct Settings {
    given: Vec<(String, String)>,
}

impl Settings {
    /// Reads settings, each `NAME=VALUE` and behind each a zero byte, and puts those of `before`
    /// behind them that are not given again. Those of another kind are left out.
    #[inline(never)]
    pub(crate) fn read(before: Option<&Self>, text: &[u8]) -> Result<Self, Box<Refusal>> {
        if text.len() > MAX_TEXT {
            return Err(Refusal::Bytes(text.len()).into());
        }
        let mut given: Vec<(String, String)> = Vec::new();
        for word in text.split(|byte| *byte == 0).filter(|word| !word.is_empty()) {
            let word = core::str::from_utf8(word).map_err(|_| Refusal::NotUtf8)?;
            let (name, value) = word.split_once('=').ok_or_else(|| Refusal::NotAPair(excerpt(word)))?;
            if given.iter().any(|(known, _)| known == name) {
                return Err(Refusal::Twice(excerpt(name)).into());
            }
            given.push((name.into(), value.into()));
        }
        if let Some(before) = before {
            let is_other = given.iter().any(|(name, value)| name == "kind" && before.value("kind") != Some(value));
            for (name, value) in &before.given {
                if given.iter().all(|(known, _)| known != name) && (host(name).is_some() || !is_other) {
                    given.push((name.clone(), value.clone()));
                }
            }
        }
        if given.len() > MAX {
            return Err(Refusal::Settings(given.len()).into());
        }
        Ok(Self { given })
    }

    fn value(&self, name: &str) -> Option<&String> {
        self.given.iter().find(|(known, _)| known == name).map(|(_, value)| value)
    }

    /// Checks everything and says what queue is meant.
    #[inline(never)]
    pub(crate) fn plan(&self, device: &GqkDevice) -> Result<Box<Plan>, Box<Refusal>> {
        let chain = self.chain()?;
        let chosen = self.choose(&chain)?;
        let of_host = |name| {
            let value = self.value(name).zip(host(name)).map(|(text, param)| param.read(text));
            value.transpose().map_err(Refusal::from)
        };
        let rate = match of_host("link")? {
            Some(Value::Rate(rate)) => Some(rate),
            _ => None,
        };
        let delay = match of_host("delay")? {
            Some(Value::Duration(delay)) => delay,
            _ => Duration::ZERO,
        };
        let overhead = match of_host("link_overhead")? {
            Some(Value::Bytes(overhead)) => overhead,
            _ => Bytes::new(u64::from(device.overhead)),
        };
        let seed = match of_host("seed")? {
            Some(Value::Number(seed)) => seed as u64,
            _ => device.seed,
        };
        let is_marking = match of_host("ecn")? {
            Some(Value::Switch(on)) => on,
            _ => chosen.marks_unasked(),
        };
        let ecn = if is_marking { EcnPolicy::Mark } else { EcnPolicy::Drop };
        let mtu = Bytes::new(u64::from(device.mtu.max(1)));
        let limit = limit(self.value("limit").map(String::as_str), mtu, rate)?;
        let link = LinkFacts { rate, delay, mtu, overhead, limit };
        Ok(Box::new(Plan { chosen, link, ecn, seed }))
    }

    /// The kinds, the outermost first.
    fn chain(&self) -> Result<Vec<&'static KindSpec>, Box<Refusal>> {
        let text = self.value("kind").ok_or(Refusal::NoKind)?;
        let mut chain: Vec<&'static KindSpec> = Vec::new();
        for name in text.split(':') {
            if chain.last().is_some_and(|outer| !outer.is_over_another()) {
                return Err(Refusal::NotOverAnother(chain[chain.len() - 1].kind).into());
            }
            chain.push(kinds().find(|spec| spec.is_called(name)).ok_or_else(|| Refusal::UnknownKind(excerpt(name)))?);
        }
        match chain.last() {
            Some(last) if last.needs_another() => Err(Refusal::NeedsAnother(last.kind).into()),
            _ => Ok(chain),
        }
    }

    /// The kinds with their parameters.
    fn choose(&self, chain: &[&'static KindSpec]) -> Result<KindAndParams, Box<Refusal>> {
        let mut params: Vec<Vec<(&'static str, Value)>> = chain.iter().map(|_| Vec::new()).collect();
        for (name, text) in &self.given {
            let depth = name.split('.').count() - 1;
            let own = name.trim_start_matches("of.");
            let spec = if name.len() == own.len() + 3 * depth { chain.get(depth) } else { None };
            let Some(spec) = spec else {
                let last = chain.last().map_or("", |spec| spec.kind);
                return Err(Refusal::TooDeep { name: excerpt(name), last }.into());
            };
            let param = spec.param(own).filter(|param| !param.unit.is_another());
            match param {
                Some(param) => {
                    let value = param.read(text).map_err(|fault| Refusal::Param { depth, fault })?;
                    if filters_acks(spec, param, value) {
                        return Err(Refusal::ReadsAcks(name.clone()).into());
                    }
                    params[depth].push((param.name, value));
                }
                None if depth == 0 && host(own).is_some() => {}
                None => return Err(Refusal::UnknownParam { name: excerpt(name), spec }.into()),
            }
        }
        let mut inner: Option<KindAndParams> = None;
        let mut levels = chain.iter().zip(params).rev();
        let (outermost, own) = loop {
            match (levels.next(), levels.len()) {
                (Some((kind, params)), 0) => break (*kind, params),
                (Some((kind, params)), _) => inner = Some(KindAndParams::new(kind, params).over(inner)),
                (None, _) => return Err(Refusal::NoKind.into()),
            }
        };
        Ok(KindAndParams::new(outermost, own).over(inner))
    }
}

/// Whether a value asks for what the module cannot do: read acknowledgements.
fn filters_acks(spec: &KindSpec, param: &Param, value: Value) -> bool {
    spec.kind == "cake" && param.name == "ack_filter" && param.default != Default::Value(value)
}

/// The kinds that words can describe: those without classes.
pub(crate) fn kinds() -> impl Iterator<Item = &'static KindSpec> + Clone {
    sched::kinds().filter(|spec| spec.class.is_none())
}

/// A limit as written; a plain number means packets.
fn limit(text: Option<&str>, mtu: Bytes, rate: Option<Rate>) -> Result<Limit, Box<Refusal>> {
    let Some(text) = text else { return Ok(Limit::packets(1000)) };
    let refuse = |fault: QuantityError| Box::new(Refusal::Limit(fault));
    let size = match quantity::number(text) {
        Ok(number) => Size::Packets(number),
        Err(_) => quantity::size(text).map_err(refuse)?,
    };
    if let Size::Packets(packets) = size {
        let allowed = Limits::new(1, MAX_PACKETS);
        let whole = packets >= 0.0 && packets == (packets as u64) as f64;
        let packets = if whole {
            allowed.check(packets as u64, text)
        } else {
            Err(QuantityError::new(text, QuantityFault::PartOfAPacket, None))
        };
        return packets.map(Limit::packets).map_err(refuse);
    }
    let bytes = size.bytes(mtu, rate).ok_or(Refusal::LimitNeedsRate)?;
    let bytes = Limits::new(mtu, Bytes::new(MAX_BYTES)).check(bytes, text).map_err(refuse)?;
    let packets = (bytes.get() / MIN_PACKET + 1).min(MAX_PACKETS);
    Ok(Limit { packets: Packets::new(packets), bytes })
}

/// A queue that settings describe.
#[derive(Clone, Debug)]
pub(crate) struct Plan {
    pub(crate) chosen: KindAndParams,
    pub(crate) link: LinkFacts,
    pub(crate) ecn: EcnPolicy,
    seed: u64,
}

impl Plan {
    /// Makes the queue, with all memory that it will ever need.
    #[inline(never)]
    pub(crate) fn build(&self) -> Result<Box<AnyQdisc<Waiting>>, Box<Refusal>> {
        let queue = AnyQdisc::build_boxed(&self.chosen, &self.link, self.ecn, Rng::new(self.seed));
        let mut queue = queue.map_err(Refusal::from)?;
        queue.reserve(usize::try_from(self.link.limit.packets.get()).unwrap_or(usize::MAX));
        Ok(queue)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::borrow::ToOwned;
    use std::format;
    use std::string::ToString;

    const DEVICE: GqkDevice = GqkDevice { mtu: 1500, overhead: 14, seed: 7 };

    fn text(words: &[&str]) -> Vec<u8> {
        words.iter().flat_map(|word| [word.as_bytes(), &[0]].concat()).collect()
    }

    fn plan(words: &[&str]) -> Result<Box<Plan>, Box<Refusal>> {
        Settings::read(None, &text(words))?.plan(&DEVICE)
    }

    fn built(words: &[&str]) -> Result<(), Box<Refusal>> {
        plan(words)?.build().map(|_| ())
    }

    fn refusal(words: &[&str]) -> String {
        built(words).expect_err("refused").to_string()
    }

    #[test]
    fn no_kind_has_a_parameter_called_like_a_setting_of_all_queues() {
        for spec in kinds() {
            let shared = settable(spec).find(|param| param.name != "ecn" && host(param.name).is_some());
            assert!(shared.is_none(), "{}: {:?}", spec.kind, shared.map(|param| param.name));
        }
    }

    #[test]
    fn every_kind_is_made_from_its_defaults() {
        for spec in kinds() {
            let kind =
                if spec.is_over_another() { "kind=".to_owned() + spec.kind + ":pie" } else { "kind=".to_owned() + spec.kind };
            built(&[&kind, "link=10mbit", "limit=100"]).unwrap_or_else(|refusal| panic!("{kind}: {refusal}"));
        }
    }

    #[test]
    fn kinds_are_nested_with_parameters_of_their_own() {
        let plan =
            plan(&["kind=shaper:fair:pie", "rate=10mbit", "of.flows=64", "of.of.target=20ms", "link=20mbit"]).expect("good");
        let fair = plan.chosen.of.as_ref().expect("fair");
        let pie = fair.of.as_ref().expect("pie");
        assert_eq!((plan.chosen.kind.kind, fair.kind.kind, pie.kind.kind), ("shaper", "fair", "pie"));
        assert_eq!(fair.params, [("flows", Value::Number(64.0))]);
        assert_eq!(pie.params, [("target", Value::Duration(Duration::ms(20)))]);
        assert!(plan.build().is_ok());
    }

    #[test]
    fn limits_are_packets_bytes_or_time() {
        let limit = |words: &[&str]| plan(words).expect("good").link.limit;
        assert_eq!(limit(&["kind=codel"]), Limit::packets(1000));
        assert_eq!(limit(&["kind=codel", "limit=30"]), limit(&["kind=codel", "limit=30p"]));
        let bytes = limit(&["kind=codel", "limit=64kB"]);
        assert_eq!((bytes.bytes, bytes.packets), (Bytes::new(64_000), Packets::new(1001)));
        assert_eq!(limit(&["kind=codel", "limit=100ms", "link=8mbit"]).bytes, Bytes::new(100_000));
    }

    #[test]
    fn a_wrong_line_gets_one_message_with_name_and_range() {
        for (words, message) in [
            (&[][..], "kind: is missing: name the kind of queue, for instance `kind codel`"),
            (&["kind=codel:pie"], "kind: `codel` has no inner algorithm"),
            (&["kind=fair"], "kind: `fair` needs the algorithm it is over, for instance `kind fair:pie`"),
            (&["kind=codel", "target=20s"], "target: `20s` is out of range: allowed 1 us to 10 s"),
            (&["kind=fair:codel", "of.target=20s"], "of.target: `20s` is out of range: allowed 1 us to 10 s"),
            (&["kind=codel", "of.target=20s"], "of.target: `codel` has no such parameter"),
            (&["kind=codel", "target=5ms", "target=6ms"], "target: is given twice"),
            (&["kind=codel", "limit=0"], "limit: `0` is out of range: allowed 1 to 1000000"),
            (&["kind=codel", "limit=2.5"], "limit: `2.5` is no whole number of packets"),
            (
                &["kind=codel", "limit=9ms"],
                "limit: a time needs the rate of the line: give `link` too, or write bytes or packets",
            ),
            (&["kind=codel", "limit=100B"], "limit: `100B` is out of range: allowed 1500 B to 1000000000 B"),
            (&["kind=codel", "ecn=maybe"], "ecn: `maybe` is not one of true, false"),
            (&["kind=codel", "target"], "`target` is not NAME=VALUE"),
            (&["kind=cake", "ack_filter=on"], "ack_filter: the kernel module does not read acknowledgements"),
            (&["kind=avq"], "kind: avq needs a link of known rate"),
        ] {
            assert_eq!(refusal(words), message, "{words:?}");
        }
        assert!(refusal(&["kind=codl"]).starts_with("kind: `codl` is not known: allowed tail-drop, codel, "));
        assert!(
            refusal(&["kind=codel", "tarqet=5ms"]).starts_with("tarqet: `codel` has no such parameter; it has target, interval")
        );
        let unread = |text: &[u8]| Settings::read(None, text).expect_err("refused").to_string();
        assert_eq!(unread(&[b'a'; 5000]), "settings: 5000 bytes are too many: allowed 4096");
        assert_eq!(unread(b"kind=\xff\0"), "a setting is not UTF-8");
        let many: Vec<u8> = (0..70).flat_map(|n| format!("a{n}=1\0").into_bytes()).collect();
        assert_eq!(unread(&many), "settings: 70 are too many: allowed 64");
    }

    #[test]
    fn a_change_keeps_what_is_not_given_again() {
        let first = Settings::read(None, &text(&["kind=codel", "target=7ms", "limit=50"])).expect("good");
        let second = Settings::read(Some(&first), &text(&["interval=50ms"])).expect("good");
        let plan = second.plan(&DEVICE).expect("good");
        assert_eq!(
            plan.chosen.params,
            [("interval", Value::Duration(Duration::ms(50))), ("target", Value::Duration(Duration::ms(7)))]
        );
        let other = Settings::read(Some(&second), &text(&["kind=pie"])).expect("good").plan(&DEVICE).expect("good");
        assert_eq!((other.chosen.kind.kind, other.chosen.params.len(), other.link.limit), ("pie", 0, Limit::packets(50)));
    }
}
