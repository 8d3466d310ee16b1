//! Facts about a host and one of its interfaces.

use super::source::{NoFacts, Source};
use crate::router::tc::{self, CLASSFUL_SHAPERS, Discipline, Finding, Path, Role, Setting, filter};
use goodqueue_base::spec::quantity::excerpt;
use goodqueue_base::units::Rate;

/// The facts that the checks examine.
#[derive(Clone, Debug)]
pub struct Facts {
    /// The interface.
    pub dev: String,
    /// The disciplines and classes that `tc` prints of all interfaces; `None` when they are not
    /// known.
    pub all: Option<Vec<Discipline>>,
    /// The shapers and queues of interfaces, as far as gq has words for them.
    pub findings: Vec<Finding>,
    /// The facts that are not known, in sentences.
    pub unknown: Vec<String>,
    /// The names of interfaces of which something is known.
    pub names: Vec<String>,
    /// Interfaces for packets that arrive, which are called `ifb…`.
    pub ifbs: Vec<Ifb>,
    /// The redirections of arriving packets; `None` when filters are not known.
    pub redirections: Option<Redirections>,
    /// Offloads that are on: `generic-segmentation-offload`; `None` when `ethtool` cannot be asked.
    pub offloads: Option<Vec<String>>,
    /// Rate of the interface itself.
    pub speed: Option<Rate>,
    /// Whether a device is behind it, and not another interface; `None` when that is not known.
    pub is_physical: Option<bool>,
    /// Whether it is a radio.
    pub is_wireless: bool,
    /// Interfaces that it sends through.
    pub lower: Vec<String>,
    /// Length of its queue of packets.
    pub tx_queue_len: Option<u64>,
    /// Limit that byte queue limits have set, for each hardware queue.
    pub byte_queue_limits: Vec<u64>,
    /// Whether hardware queues are known, and none has byte queue limits.
    pub lacks_byte_queue_limits: bool,
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
    /// Whether it is up; `None` when that is not known.
    pub is_up: Option<bool>,
}

/// The redirections of arriving packets that filters make.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Redirections {
    /// Those that are known.
    pub known: Vec<Redirection>,
    /// Whether all filters were understood, so that there are no others.
    pub are_all: bool,
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
            return Err(host.folder().map_or(NoFacts::NoLinux, |root| NoFacts::NoFolder(excerpt(&root.display().to_string()))));
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
        let mut unknown = Vec::new();
        let all = disciplines(host, &mut unknown);
        let (findings, left_out) = all.as_deref().map(tc::findings).unwrap_or_default();
        unknown.extend(
            left_out.iter().filter(|left| left.dev == dev).map(|left| format!("The queue of {dev} is not known: {}.", left.why)),
        );
        let ifbs = names.iter().filter(|name| name.starts_with("ifb")).map(|name| Ifb {
            name: name.clone(),
            // IFF_UP of netdevice(7).
            is_up: host
                .file(&format!("/sys/class/net/{name}/flags"))
                .and_then(|flags| u32::from_str_radix(flags.trim().trim_start_matches("0x"), 16).ok())
                .map(|flags| flags & 1 == 1),
        });
        let ifbs: Vec<Ifb> = ifbs.collect();
        let redirections = redirections(host, &dev);
        let asks = !ifbs.is_empty() || all.iter().flatten().any(|found| found.dev == dev && is_ingress(found));
        if asks && !redirections.as_ref().is_some_and(|all| all.are_all) {
            unknown.push(format!(
                "Not all filters of packets that arrive at {dev} are known: tc -j filter show dev {dev} ingress printed none, or some that are not understood."
            ));
        }
        let entries = host.names(&format!("/sys/class/net/{dev}"));
        let lower: Vec<String> = entries.iter().filter_map(|name| name.strip_prefix("lower_").map(str::to_owned)).collect();
        let word = |path: &str| host.file(path).map(|text| text.trim().to_owned()).filter(|text| !text.is_empty());
        const CLOCKS: &str = "/sys/devices/system/clocksource/clocksource0";
        Ok(Self {
            findings,
            all,
            unknown,
            ifbs,
            redirections,
            offloads: offloads(host, &dev),
            speed: number("speed").filter(|mbit| (1..10_000_000).contains(mbit)).map(Rate::mbit),
            is_physical: is_physical(&entries, &lower, file("device/uevent").is_some()),
            is_wireless: entries.iter().any(|entry| entry == "phy80211" || entry == "wireless")
                || file("uevent").is_some_and(|text| text.contains("DEVTYPE=wlan")),
            lower,
            tx_queue_len: number("tx_queue_len"),
            byte_queue_limits: limits("limit"),
            lacks_byte_queue_limits: lacks_byte_queue_limits(host, &dev, &queues),
            byte_queue_floors: limits("limit_min"),
            sent: number("statistics/tx_bytes").unwrap_or_default(),
            default_qdisc: word("/proc/sys/net/core/default_qdisc"),
            clock: word(&format!("{CLOCKS}/current_clocksource")),
            clocks: word(&format!("{CLOCKS}/available_clocksource"))
                .map(|text| text.split_whitespace().map(str::to_owned).collect())
                .unwrap_or_default(),
            names,
            dev,
        })
    }

    /// The disciplines of an interface; none when `tc` cannot be asked.
    pub(super) fn at<'a>(&'a self, dev: &'a str) -> impl Iterator<Item = &'a Discipline> {
        self.all.iter().flatten().filter(move |found| found.role == Role::Qdisc && found.dev == dev)
    }

    /// Returns the first discipline that an interface sends through.
    pub(super) fn root<'a>(&'a self, dev: &'a str) -> Option<&'a Discipline> {
        self.at(dev).find(|found| found.parent.is_none() && !is_ingress(found))
    }

    /// The way of most packets that leave by an interface.
    pub(super) fn path<'a>(&'a self, dev: &str) -> Option<Path<'a>> {
        Path::new(self.all.as_deref()?, dev).ok().flatten()
    }

    /// The shaper and queue of an interface.
    pub(super) fn finding(&self, dev: &str) -> Option<&Finding> {
        self.findings.iter().find(|finding| finding.dev == dev)
    }
}

/// Whether a discipline is for packets that arrive.
pub(super) fn is_ingress(found: &Discipline) -> bool {
    matches!(found.kind.as_str(), "ingress" | "clsact")
}

/// Whether a device is behind an interface, by the entries of its folder, of which some were kept
/// or all.
fn is_physical(entries: &[String], lower: &[String], has_device: bool) -> Option<bool> {
    // Entries that each interface of a running kernel has.
    let are_all = ["ifindex", "operstate", "type"].iter().all(|always| entries.iter().any(|entry| entry == always));
    if has_device || entries.iter().any(|entry| entry == "device") {
        return Some(true);
    }
    (are_all || !lower.is_empty()).then_some(false)
}

/// Whether hardware queues are known and have no byte queue limits.
fn lacks_byte_queue_limits(host: &dyn Source, dev: &str, queues: &[String]) -> bool {
    let entries = |queue: &String| host.names(&format!("/sys/class/net/{dev}/queues/{queue}"));
    let lacks = |queue: &String| {
        let entries = entries(queue);
        !entries.is_empty() && entries.iter().all(|entry| entry != "byte_queue_limits")
    };
    !queues.is_empty() && queues.iter().all(lacks)
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

fn disciplines(host: &dyn Source, unknown: &mut Vec<String>) -> Option<Vec<Discipline>> {
    let mut all = match tc::read(&host.output(&["tc", "-j", "qdisc", "show"])?) {
        Ok(all) => all,
        Err(error) => {
            unknown.push(format!("Queues are not known: what tc -j qdisc show prints {error}."));
            return None;
        }
    };
    let is_shaper = |found: &&Discipline| CLASSFUL_SHAPERS.contains(&found.kind.as_str());
    let mut shaped: Vec<String> = all.iter().filter(is_shaper).map(|found| found.dev.clone()).collect();
    shaped.dedup();
    for dev in shaped {
        let classes = host.output(&["tc", "class", "show", "dev", &dev]).and_then(|text| tc::read(&text).ok());
        if classes.as_ref().is_none_or(Vec::is_empty) {
            unknown.push(format!("The classes of the shaper at {dev} are not known: tc class show dev {dev} printed none."));
        }
        for mut class in classes.into_iter().flatten() {
            class.dev.clone_from(&dev);
            all.push(class);
        }
    }
    Some(all)
}

fn redirections(host: &dyn Source, dev: &str) -> Option<Redirections> {
    // `ingress` and `clsact` both answer to this.
    let text = host.output(&["tc", "-j", "filter", "show", "dev", dev, "ingress"])?;
    let text = text.trim();
    if text.is_empty() {
        return None;
    }
    if !text.starts_with('[') {
        let all = tc::read(text).unwrap_or_default();
        return Some(Redirections::of(text.starts_with("filter "), all));
    }
    let Some((filters, _)) = tc::objects(text) else { return Some(Redirections::default()) };
    Some(Redirections::of(true, filters.into_iter().filter_map(filter::of_json).collect()))
}

impl Redirections {
    fn of(are_all: bool, filters: Vec<Discipline>) -> Self {
        let mut protocol = "all".to_owned();
        let mut found = Self { known: Vec::new(), are_all };
        for one in &filters {
            found.are_all &= one.option(filter::UNREAD).is_none();
            protocol = one.option("protocol").map_or(protocol, Setting::text);
            found.known.extend(one.redirects_to().map(|to| Redirection { protocol: protocol.clone(), to }));
        }
        found
    }
}

fn offloads(host: &dyn Source, dev: &str) -> Option<Vec<String>> {
    let text = host.output(&["ethtool", "-k", dev])?;
    let on = text.lines().filter_map(|line| {
        let (name, state) = line.trim().split_once(':')?;
        (OFFLOADS.contains(&name) && state.trim().starts_with("on")).then(|| name.to_owned())
    });
    Some(on.collect())
}
