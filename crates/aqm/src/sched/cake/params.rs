//! cake's settings, and their description.

use super::ack_filter::AckFilter;
use crate::algo::cobalt::{self, CobaltParams};
use crate::aqm::{Endpoints, FlowHash};
use crate::arithmetic::ARITHMETIC;
use crate::framing;
use crate::spec::{Choice, Family, Kind, KindSpec, LinkFacts, ParamError, ParamFault, ParamValues, Size, TypedParam};
use goodqueue_base::units::{Bytes, Class, Framing, Rate};
use goodqueue_base::{settings, words};

words! {
    /// The entities that share the link, and those with separate queues.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum Isolation {
        /// One queue.
        FlowBlind = "flowblind",
        /// A queue for each source host.
        Sources = "srchost",
        /// A queue for each destination host.
        Destinations = "dsthost",
        /// A queue for each pair of hosts.
        Hosts = "hosts",
        /// A queue for each flow.
        Flows = "flows",
        /// A queue for each flow; source hosts share equally.
        DualSource = "dual-srchost",
        /// A queue for each flow; destination hosts share equally.
        DualDestination = "dual-dsthost",
        /// A queue for each flow; a turn is shared at the host, source or destination, that has
        /// more.
        Triple = "triple-isolate",
    }
}

impl Isolation {
    /// Equal for packets of one queue.
    #[inline]
    pub(super) fn key(self, flow: FlowHash, hosts: Endpoints) -> FlowHash {
        let (source, destination) = (hosts.source.0, hosts.destination.0);
        match self {
            Self::FlowBlind => FlowHash(0),
            Self::Sources => FlowHash(source),
            Self::Destinations => FlowHash(destination),
            // An odd factor keeps small numbers apart.
            Self::Hosts => FlowHash(source.wrapping_mul(0x9E37_79B1) ^ destination),
            Self::Flows | Self::DualSource | Self::DualDestination | Self::Triple => flow,
        }
    }

    pub(super) const fn is_fair_to_sources(self) -> bool {
        matches!(self, Self::DualSource | Self::Triple)
    }

    pub(super) const fn is_fair_to_destinations(self) -> bool {
        matches!(self, Self::DualDestination | Self::Triple)
    }
}

words! {
    /// The mapping of classes to tins. Tin 0 holds best effort but in `Eight` and `Precedence`.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum Tins {
        /// One for all.
        BestEffort = "besteffort",
        /// One for each class, of falling weight.
        Precedence = "precedence",
        /// Best effort, bulk, voice.
        Three = "diffserv3",
        /// Best effort, bulk, video, voice.
        Four = "diffserv4",
        /// Eight, of falling weight.
        Eight = "diffserv8",
    }
}

impl Tins {
    /// Bytes of each tin's turn.
    pub(super) const fn weights(self) -> &'static [i64] {
        match self {
            Self::BestEffort => &[65_535],
            Self::Precedence | Self::Eight => &[256, 224, 196, 171, 149, 130, 113, 98],
            Self::Three => &[1024, 64, 256],
            Self::Four => &[1024, 64, 512, 256],
        }
    }

    /// The part of `rate` that each tin may use before others go first.
    pub(super) fn rates(self, rate: Rate) -> [Rate; Class::COUNT] {
        let bytes_s = rate.as_bit_s() / 8;
        let part = |bytes_s: u64| Rate::bit_s(bytes_s.saturating_mul(8));
        let shifts: &[u32] = match self {
            Self::BestEffort => &[0],
            Self::Three => &[0, 4, 2],
            Self::Four => &[0, 4, 1, 2],
            Self::Precedence | Self::Eight => {
                let mut bytes_s = bytes_s;
                return core::array::from_fn(|_| {
                    let rate = part(bytes_s);
                    bytes_s = bytes_s.saturating_mul(7) >> 3;
                    rate
                });
            }
        };
        // There are no further tins.
        core::array::from_fn(|tin| part(bytes_s >> shifts.get(tin).unwrap_or(&0)))
    }

    /// The tin of a class.
    #[inline]
    pub(super) const fn of(self, class: Class) -> usize {
        let map: &[u8; Class::COUNT] = match self {
            Self::BestEffort => &[0; 8],
            Self::Precedence => &[0, 1, 2, 3, 4, 5, 6, 7],
            Self::Three => &[0, 1, 0, 0, 0, 2, 2, 2],
            Self::Four => &[0, 1, 2, 2, 3, 3, 3, 3],
            Self::Eight => &[2, 1, 5, 3, 6, 6, 7, 7],
        };
        map[class.number() as usize] as usize
    }
}

settings! {
    /// cake's settings; by default Linux's.
    #[derive(Clone, Copy, Debug, PartialEq)]
    pub struct CakeParams {
        /// COBALT's, in every queue.
        pub cobalt: CobaltParams = CobaltParams::DEFAULT,
        /// Entities that share the link.
        pub isolation: Isolation => ISOLATION,
        /// Mapping of classes to tins.
        pub tins: Tins => TINS,
        /// Extent to which acknowledgements are thinned out.
        pub ack_filter: AckFilter => ACK_FILTER,
        /// Queues of a tin.
        pub flows: u32 => FLOWS,
        /// Credit of a queue's turn; `None`: by the link's rate.
        pub quantum: Option<i64> = None,
        /// Packets have crossed the bottleneck before: drops are charged to their queue, and delays
        /// that many bulk queues cause are accepted.
        pub ingress: bool => INGRESS,
        /// Rate of its own shaper; `None`: unlimited.
        pub rate: Option<Rate> => RATE,
        /// Bytes that each packet counts besides its own.
        pub framing: Framing = Framing::NONE,
        /// Most bytes in all queues.
        pub memlimit: Bytes = Bytes::MAX,
    }
}

impl CakeParams {
    /// The settings of kind `cake`.
    ///
    /// # Errors
    /// When COBALT's target is longer than its interval, or what Linux estimates or splits is asked
    /// for.
    pub fn build(given: &ParamValues<'_>, link: &LinkFacts) -> Result<Self, ParamError> {
        if AUTORATE.read(given) {
            let why = "the rate is not estimated from arrivals; give `rate`";
            return Err(AUTORATE.fault(ParamFault::Fixed { allowed: false.into(), why }));
        }
        if !SPLIT_GSO.read(given) {
            let why = "packets come one by one, so none stays joined";
            return Err(SPLIT_GSO.fault(ParamFault::Fixed { allowed: true.into(), why }));
        }
        Ok(Self {
            cobalt: CobaltParams::build(given, link)?,
            quantum: framing::few_bytes(&QUANTUM, given, link)?.map(|quantum| quantum.get() as i64),
            framing: framing::build(given, link)?,
            memlimit: MEMLIMIT.bytes(given, link.mtu, link.rate)?.unwrap_or(Bytes::MAX),
            ..Self::read(given)
        })
    }

    /// Credit of a turn on a link of this rate.
    pub(super) fn quantum(&self, rate: Option<Rate>) -> i64 {
        let by_rate = |rate: Rate| (rate.as_bit_s() as i64 / 8 / 4096).clamp(300, 1514);
        self.quantum.unwrap_or_else(|| rate.map_or(1514, by_rate))
    }
}

const fn choice<T: Choice>(name: &'static str, default: &'static str, doc: &'static str) -> TypedParam<T> {
    TypedParam::choice(name, default).about(doc).from_source("Linux")
}

const fn off(name: &'static str, doc: &'static str) -> TypedParam<bool> {
    TypedParam::off(name).about(doc).from_source("Linux")
}

pub(crate) const ECN: TypedParam<bool> = TypedParam::on("ecn").about("mark; without, signals drop").from_source("Linux");
const ISOLATION: TypedParam<Isolation> =
    choice("isolation", "triple-isolate", "what has a queue of its own, and which hosts share equally");
const TINS: TypedParam<Tins> =
    choice("tins", "diffserv3", "how classes are put into tins of unlike weight").as_queues(&[1, 8, 3, 4, 8]);
const ACK_FILTER: TypedParam<AckFilter> = choice("ack_filter", "off", "remove acknowledgements that a later one makes redundant");
const FLOWS: TypedParam<u32> =
    TypedParam::count("flows", 1024).within(1.0, 65_536.0).about("queues of each tin").from_source("Linux").as_queues(&[]);
const QUANTUM: TypedParam<Option<Size>> = TypedParam::auto("quantum", "1/4096 s at the link's rate, within 300 and 1514 B")
    .within(64.0, 1e6)
    .about("credit of a queue's turn")
    .from_source("Linux");
const INGRESS: TypedParam<bool> =
    off("ingress", "charge drops to their queue, and accept the delay of two packets for each bulk queue");
const RATE: TypedParam<Option<Rate>> = TypedParam::auto("rate", "unlimited")
    .within(512.0, 1e13)
    .about("rate of its own shaper, framing included (`bandwidth` of tc)")
    .from_source("Linux");
const AUTORATE: TypedParam<bool> = off("autorate", "estimate the rate from arrivals: not done here, so that it cannot be on");
const MEMLIMIT: TypedParam<Option<Size>> = TypedParam::auto("memlimit", "the limit of the queue")
    .within(1.0, 1e12)
    .about("most packet bytes in all queues, besides the limit")
    .from_source("Linux");
const SPLIT_GSO: TypedParam<bool> = TypedParam::on("split_gso")
    .about("count the packets of an offload one by one: they come so, and it cannot be off")
    .from_source("Linux");

pub(super) const KIND: KindSpec = KindSpec::new(
    Kind {
        kind: "cake",
        aliases: &[],
        title: "CAKE",
        summary: "Fair between hosts and between their flows, COBALT on each queue, tins for classes, thinning of acknowledgements",
        params: &[
            ECN.param,
            ISOLATION.param,
            TINS.param,
            ACK_FILTER.param,
            cobalt::TARGET.param,
            cobalt::INTERVAL.param,
            cobalt::P_INC.param,
            cobalt::P_DEC.param,
            FLOWS.param,
            QUANTUM.param,
            INGRESS.param,
            RATE.param,
            AUTORATE.param,
            framing::FRAMING.param,
            framing::OVERHEAD.param,
            framing::MPU.param,
            framing::CELLS.param,
            MEMLIMIT.param,
            off("nat", "look up the hosts behind NAT: there is none here, so that it changes nothing").param,
            SPLIT_GSO.param,
            ARITHMETIC.param,
        ],
        source: "Linux sch_cake; Hoeiland-Joergensen, Taht and Morton 2018",
    },
    Family::FlowQueueing,
    "sojourn time in each queue, at the head; overflows; class, hosts and flow of each packet",
)
.with_queue_bytes(384);
