//! Facts about a host and one of its interfaces.

use super::{NoFacts, Source};
use crate::router::tc::{self, Discipline, Finding, Role};
use goodqueue_base::spec::quantity::excerpt;
use goodqueue_base::units::Rate;
use serde_json::Value;

/// The facts that the checks examine.
#[derive(Clone, Debug)]
pub struct Facts {
    /// The interface.
    pub dev: String,
    /// The disciplines and classes that `tc` prints of all interfaces; `None` when it cannot be
    /// asked.
    pub all: Option<Vec<Discipline>>,
    /// The shaper and queue of the interface, as far as gq has words for them.
    pub found: Option<Finding>,
    /// Interfaces for packets that arrive, which are called `ifb…`.
    pub ifbs: Vec<Ifb>,
    /// The redirections of arriving packets, with their protocols; `None` when `tc` cannot be
    /// asked.
    pub redirections: Option<Vec<Redirection>>,
    /// Offloads that are on: `generic-segmentation-offload`; `None` when `ethtool` cannot be asked.
    pub offloads: Option<Vec<String>>,
    /// Rate of the interface itself.
    pub speed: Option<Rate>,
    /// Whether a device is behind it, and not another interface.
    pub is_physical: bool,
    /// Interfaces that it sends through.
    pub lower: Vec<String>,
    /// Length of its queue of packets.
    pub tx_queue_len: Option<u64>,
    /// Limit that byte queue limits have set, for each hardware queue; empty where the driver has
    /// none.
    pub byte_queue_limits: Vec<u64>,
    /// Floors of byte queue limits.
    pub byte_queue_floors: Vec<u64>,
    /// Bytes sent since it is up.
    pub sent: u64,
    /// `net.core.default_qdisc`.
    pub default_qdisc: Option<String>,
    /// The clock that the kernel reads.
    pub clock: Option<String>,
    /// Clocks that it could read.
    pub clocks: Vec<String>,
}

/// An intermediate device.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ifb {
    /// The name of the device.
    pub name: String,
    /// Whether it is up.
    pub is_up: bool,
}

/// A filter that sends arriving packets through another interface.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Redirection {
    /// Protocol of the packets: `all`, `ip`, `ipv6`.
    pub protocol: String,
    /// The other interface.
    pub to: String,
}

/// Offloads that make packets of many.
const OFFLOADS: [&str; 3] = ["tcp-segmentation-offload", "generic-segmentation-offload", "generic-receive-offload"];

impl Facts {
    pub(super) fn gather(host: &dyn Source, dev: Option<&str>) -> Result<Self, NoFacts> {
        let names = host.names("/sys/class/net");
        if names.is_empty() {
            return Err(NoFacts::NoLinux);
        }
        let dev = match dev {
            Some(dev) if names.iter().any(|name| name == dev) => dev.to_owned(),
            Some(dev) => return Err(NoFacts::NoInterface { shown: excerpt(dev), known: names.join(", ") }),
            None => default_route(host)
                .filter(|dev| names.contains(dev))
                .ok_or_else(|| NoFacts::NoRoute { known: names.join(", ") })?,
        };
        let file = |name: &str| host.file(&format!("/sys/class/net/{dev}/{name}")).map(|text| text.trim().to_owned());
        let number = |name: &str| file(name).and_then(|text| text.parse::<u64>().ok());
        let queues: Vec<String> =
            host.names(&format!("/sys/class/net/{dev}/queues")).into_iter().filter(|queue| queue.starts_with("tx-")).collect();
        let limits = |name: &str| -> Vec<u64> {
            queues.iter().filter_map(|queue| number(&format!("queues/{queue}/byte_queue_limits/{name}"))).collect()
        };
        let all = disciplines(host);
        let found = all.as_ref().and_then(|all| {
            let here: Vec<Discipline> = all
                .iter()
                .filter(|found| found.dev == dev || found.dev.is_empty() && found.role == Role::Class)
                .cloned()
                .collect();
            tc::findings(&here).ok()?.into_iter().find(|finding| finding.dev == dev)
        });
        let ifbs = names.iter().filter(|name| name.starts_with("ifb")).map(|name| Ifb {
            name: name.clone(),
            // IFF_UP of netdevice(7).
            is_up: host
                .file(&format!("/sys/class/net/{name}/flags"))
                .and_then(|flags| u32::from_str_radix(flags.trim().trim_start_matches("0x"), 16).ok())
                .is_some_and(|flags| flags & 1 == 1),
        });
        let lower = host.names(&format!("/sys/class/net/{dev}"));
        let lower = lower.iter().filter_map(|name| name.strip_prefix("lower_").map(str::to_owned)).collect();
        let word = |path: &str| host.file(path).map(|text| text.trim().to_owned()).filter(|text| !text.is_empty());
        const CLOCKS: &str = "/sys/devices/system/clocksource/clocksource0";
        Ok(Self {
            found,
            all,
            ifbs: ifbs.collect(),
            redirections: redirections(host, &dev),
            offloads: offloads(host, &dev),
            speed: number("speed").filter(|mbit| (1..10_000_000).contains(mbit)).map(Rate::mbit),
            is_physical: !host.names(&format!("/sys/class/net/{dev}/device")).is_empty() || file("device/uevent").is_some(),
            lower,
            tx_queue_len: number("tx_queue_len"),
            byte_queue_limits: limits("limit"),
            byte_queue_floors: limits("limit_min"),
            sent: number("statistics/tx_bytes").unwrap_or_default(),
            default_qdisc: word("/proc/sys/net/core/default_qdisc"),
            clock: word(&format!("{CLOCKS}/current_clocksource")),
            clocks: word(&format!("{CLOCKS}/available_clocksource"))
                .map(|text| text.split_whitespace().map(str::to_owned).collect())
                .unwrap_or_default(),
            dev,
        })
    }

    /// The disciplines of an interface; none when `tc` cannot be asked.
    pub(super) fn at<'a>(&'a self, dev: &'a str) -> impl Iterator<Item = &'a Discipline> {
        self.all.iter().flatten().filter(move |found| found.role == Role::Qdisc && found.dev == dev)
    }

    /// Returns the first discipline that an interface sends through.
    pub(super) fn root<'a>(&'a self, dev: &'a str) -> Option<&'a Discipline> {
        self.at(dev).find(|found| found.parent.is_none() && !matches!(found.kind.as_str(), "ingress" | "clsact"))
    }
}

/// The interface of the first route to everywhere (`/proc/net/route`: destination and mask are
/// zero).
fn default_route(host: &dyn Source) -> Option<String> {
    let table = host.file("/proc/net/route")?;
    table.lines().skip(1).find_map(|line| {
        let fields: Vec<&str> = line.split_whitespace().collect();
        let is_default = fields.get(1) == Some(&"00000000") && fields.get(7) == Some(&"00000000");
        fields.first().filter(|_| is_default).map(|dev| (*dev).to_owned())
    })
}

fn disciplines(host: &dyn Source) -> Option<Vec<Discipline>> {
    let mut all = tc::read(&host.output(&["tc", "-j", "qdisc", "show"])?).ok()?;
    let mut shaped: Vec<String> = all.iter().filter(|found| found.kind == "htb").map(|found| found.dev.clone()).collect();
    shaped.dedup();
    for dev in shaped {
        let classes = host.output(&["tc", "class", "show", "dev", &dev]).and_then(|text| tc::read(&text).ok());
        for class in classes.into_iter().flatten() {
            all.push(Discipline { dev: dev.clone(), ..class });
        }
    }
    Some(all)
}

fn redirections(host: &dyn Source, dev: &str) -> Option<Vec<Redirection>> {
    let mut found = Vec::new();
    // `ingress` and `clsact` both answer to this.
    let text = host.output(&["tc", "-j", "filter", "show", "dev", dev, "ingress"])?;
    let filters: Value = serde_json::from_str(&text).unwrap_or_default();
    for filter in filters.as_array().into_iter().flatten() {
        for action in filter["options"]["actions"].as_array().into_iter().flatten() {
            if let (Some("mirred"), Some("redirect"), Some(to)) =
                (action["kind"].as_str(), action["mirred_action"].as_str(), action["to_dev"].as_str())
            {
                let protocol = filter["protocol"].as_str().unwrap_or("all").to_owned();
                found.push(Redirection { protocol, to: to.to_owned() });
            }
        }
    }
    Some(found)
}

fn offloads(host: &dyn Source, dev: &str) -> Option<Vec<String>> {
    let text = host.output(&["ethtool", "-k", dev])?;
    let on = text.lines().filter_map(|line| {
        let (name, state) = line.trim().split_once(':')?;
        (OFFLOADS.contains(&name) && state.trim().starts_with("on")).then(|| name.to_owned())
    });
    Some(on.collect())
}
