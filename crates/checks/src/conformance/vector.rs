//! One vector: the description of a queue and a list of operations, each with the events that must
//! follow.

use crate::conformance::VERSION;
use crate::conformance::fault::Fault;
use crate::conformance::fields;
use crate::conformance::operation::Step;
use crate::conformance::packed::Packed;
use goodqueue_aqm::spec::{ClassAndParams, KindAndParams, KindSpec, LinkFacts};
use goodqueue_base::units::{Bytes, Duration, Packets, Rate};
use serde::Deserialize;
use serde_json::Value as Json;
use std::collections::BTreeMap;

/// A vector that cannot be used, with the place and the fault.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[error("{name}: {fault}")]
pub struct VectorError {
    /// Name of the vector.
    pub name: String,
    /// The fault, with its place.
    pub fault: Fault,
}

/// A queue and the events that its operations must cause.
#[derive(Clone, Debug)]
pub struct Vector {
    /// `FOLDER/FILE` without the ending.
    pub name: String,
    /// Source of the verdicts.
    pub origin: String,
    /// The queue. Packets of the flow whose number is the name of a leaf belong to that leaf.
    pub queue: KindAndParams,
    /// Whether ECN-capable packets are marked.
    pub ecn: bool,
    /// Weights of flows 0, 1 and so on, for kinds that weigh flows; other flows have weight 1.
    pub weights: Vec<f64>,
    /// The link that the queue feeds.
    pub link: Link,
    /// Source of its random numbers.
    pub generator: Generator,
    /// The seed of that generator.
    pub seed: u64,
    /// The numbers drawn, in order.
    pub random: Vec<u64>,
    /// The operations in order.
    pub steps: Vec<Step>,
    /// The fields of the file without the operations, as sent to another program.
    pub head: serde_json::Map<String, Json>,
}

/// Generators of random numbers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
pub enum Generator {
    /// The generator of goodqueue, whose state is filled by splitmix64.
    #[default]
    #[serde(rename = "xoshiro256++")]
    Xoshiro,
    /// splitmix64 with the seed as its initial state.
    #[serde(rename = "splitmix64")]
    SplitMix,
    /// A foreign generator: only its output is known.
    #[serde(rename = "listed")]
    Listed,
}

/// Facts about the link in the units of the file: bit/s, ns, bytes, packets.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Link {
    #[serde(deserialize_with = "Option::deserialize")]
    rate: Option<u64>,
    delay: u64,
    mtu: u64,
    overhead: u64,
    limit_packets: u64,
    limit_bytes: u64,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    vector: u32,
    origin: String,
    kind: String,
    params: BTreeMap<String, Json>,
    of: Option<Inner>,
    #[serde(default)]
    tree: Vec<Class>,
    ecn: bool,
    #[serde(default)]
    weights: Vec<f64>,
    link: Link,
    #[serde(default)]
    generator: Generator,
    seed: u64,
    random: Vec<String>,
    operations: Option<Vec<Json>>,
    packed: Option<Packed>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Inner {
    kind: String,
    params: BTreeMap<String, Json>,
    of: Option<Box<Inner>>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Class {
    id: u32,
    parent: Option<u32>,
    params: BTreeMap<String, Json>,
    of: Option<Inner>,
}

impl Class {
    /// The classes of a file, whose parents may be any of them.
    fn tree(kind: &KindSpec, classes: &[Self]) -> Result<Vec<ClassAndParams>, Fault> {
        let Some(settings) = kind.class else {
            let fault = || Fault::field("tree", format!("`{}` has no classes", kind.kind));
            return if classes.is_empty() { Ok(Vec::new()) } else { Err(fault()) };
        };
        let read = |place: usize, class: &Self| {
            let within = |fault: Fault| Fault::field(format!("tree[{place}]"), fault.to_string());
            if classes[..place].iter().any(|other| other.id >= class.id) {
                return Err(within(Fault::field("id", format!("{} does not come after those before it", class.id))));
            }
            let number = |id: u32| classes.iter().position(|other| other.id == id).map(|number| number as u32);
            let none = |id| within(Fault::field("parent", format!("there is no class {id}")));
            let parent = class.parent.map(|id| number(id).ok_or_else(|| none(id))).transpose()?;
            let params = fields::values(settings, &class.params).map_err(within)?;
            let of = class.of.as_ref().map(Inner::chosen).transpose().map_err(within)?;
            Ok(ClassAndParams { name: class.id.to_string(), parent, params, of })
        };
        classes.iter().enumerate().map(|(place, class)| read(place, class)).collect()
    }
}

impl Inner {
    fn chosen(&self) -> Result<KindAndParams, Fault> {
        let within = |fault| Fault::Within(Box::new(fault));
        let (kind, params) = fields::queue(&self.kind, &self.params).map_err(within)?;
        let of = self.of.as_ref().map(|of| of.chosen()).transpose().map_err(within)?;
        Ok(KindAndParams::new(kind, params).over(of))
    }
}

impl Vector {
    /// Parses the contents of a file called `name`.
    ///
    /// # Errors
    /// Names the field or operation at fault and what is allowed.
    pub fn parse(name: &str, text: &str) -> Result<Self, VectorError> {
        Self::read(name, text).map_err(|fault| VectorError { name: name.to_owned(), fault })
    }

    fn read(name: &str, text: &str) -> Result<Self, Fault> {
        let mut head: serde_json::Map<String, Json> = serde_json::from_str(text)?;
        let version = head.get("vector").and_then(Json::as_u64);
        if version != Some(u64::from(VERSION)) {
            let found = head.get("vector").map_or("nothing".to_owned(), Json::to_string);
            return Err(Fault::Version { found });
        }
        let file: File = serde_json::from_str(text)?;
        head.remove("operations");
        head.remove("packed");
        Self::typed(name, file, head)
    }

    fn typed(name: &str, file: File, head: serde_json::Map<String, Json>) -> Result<Self, Fault> {
        debug_assert_eq!(file.vector, VERSION);
        if file.origin.trim().is_empty() {
            return Err(Fault::field("origin", "is empty; a vector says where it comes from"));
        }
        let (kind, params) = fields::queue(&file.kind, &file.params)?;
        let inner = file.of.map(|of| of.chosen()).transpose()?;
        if let Some(weight) = file.weights.iter().find(|weight| !(**weight > 0.0 && weight.is_finite())) {
            return Err(Fault::field("weights", format!("{weight} is out of range: allowed above 0")));
        }
        let classes = Class::tree(kind, &file.tree)?;
        file.link.check()?;
        let random = file.random.iter().map(|text| fields::hexadecimal(text)).collect::<Result<_, _>>()?;
        let steps = match (&file.operations, &file.packed) {
            (Some(operations), None) => Step::list(operations)?,
            (None, Some(packed)) => packed.steps()?,
            _ => return Err(Fault::Form("needs either `operations` or `packed`")),
        };
        if let Some(index) = steps.windows(2).position(|pair| pair[1].operation.at() < pair[0].operation.at()) {
            let fault = Box::new(Fault::Form("its time lies before that of the one before"));
            return Err(Fault::Operation { index: index + 1, shown: String::new(), fault });
        }
        Ok(Self {
            name: name.to_owned(),
            origin: file.origin,
            queue: KindAndParams { classes, ..KindAndParams::new(kind, params).over(inner) },
            ecn: file.ecn,
            weights: file.weights,
            link: file.link,
            generator: file.generator,
            seed: file.seed,
            random,
            steps,
            head,
        })
    }
}

impl Link {
    /// Refuses what no link has. A queue may have no room, though: limits of 0 are good.
    fn check(&self) -> Result<(), Fault> {
        if self.mtu == 0 {
            return Err(Fault::field("link.mtu", "0 is out of range: allowed from 1 B"));
        }
        if self.rate == Some(0) {
            return Err(Fault::field("link.rate", "0 is out of range: allowed from 1 bit/s, or null where it is unknown"));
        }
        Ok(())
    }

    /// The facts in the types of the library.
    #[must_use]
    pub const fn facts(&self) -> LinkFacts {
        LinkFacts {
            rate: match self.rate {
                Some(rate) => Some(Rate::bit_s(rate)),
                None => None,
            },
            delay: Duration::ns(self.delay),
            mtu: Bytes::new(self.mtu),
            overhead: Bytes::new(self.overhead),
            limit: goodqueue_aqm::Limit { packets: Packets::new(self.limit_packets), bytes: Bytes::new(self.limit_bytes) },
        }
    }
}
