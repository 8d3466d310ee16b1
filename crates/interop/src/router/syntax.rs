//! Files and command lines of targets.

pub mod libreqos;
pub mod networkd;
pub mod routeros;
pub mod sqm;
pub mod tc;

use crate::router::setup::{Setup, Side};
use goodqueue_base::spec::quantity::excerpt;
use goodqueue_lab::scenario::plan::Direction;

/// Names on the router.
#[derive(Clone, Debug)]
pub struct Place {
    /// The interface.
    pub dev: Interface,
    /// The interface that arriving packets are sent through, so that they can wait.
    pub ifb: Interface,
    /// The direction that leaves by the interface; `None`: up where it has a queue, else down.
    pub egress: Option<Direction>,
}

/// Name of a network interface, of the characters that need no quotes anywhere.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Interface(String);

/// Longest name of an interface in Linux (`IFNAMSIZ` less the end of the string).
const MAX_NAME: usize = 15;

/// A name that no interface has.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{shown}` is not an interface: allowed 1 to {MAX_NAME} letters, digits and any of . _ - @ :")]
pub struct NoInterface {
    /// The name, cut to a readable length.
    shown: String,
}

impl Interface {
    /// Checks a name.
    ///
    /// # Errors
    /// When it is none that Linux takes, or one that would need quotes.
    pub fn new(name: &str) -> Result<Self, NoInterface> {
        let is_plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '_' | '-' | '@' | ':');
        let is_name = !name.is_empty() && name.len() <= MAX_NAME && name.chars().all(is_plain) && !name.starts_with(['-', '.']);
        if is_name {
            return Ok(Self(name.to_owned()));
        }
        Err(NoInterface { shown: excerpt(name) })
    }

    /// The name.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The name for the intermediate device of this one: `ifb4eth0`.
    #[must_use]
    pub fn ifb(&self) -> Self {
        Self(format!("ifb4{}", self.0).chars().take(MAX_NAME).collect())
    }
}

impl std::fmt::Display for Interface {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.0)
    }
}

/// Bytes of an Ethernet header, which Linux counts as part of a packet (`skb->len` at egress).
const ETHERNET_HEADER: u64 = 14;

/// Beginnings of the names of interfaces that send IP packets without a header of a link: those of
/// PPP, modems, tunnels and WireGuard.
const WITHOUT_HEADER: &[&str] =
    &["ppp", "pppoe-", "pppoa-", "pptp-", "l2tp-", "3g-", "wwan", "rmnet", "tun", "wg", "sit", "ipip", "tunl", "ip6tnl", "vti"];

/// The bytes that Linux counts of a packet at an interface besides those of IP, by its name: those
/// of its link. Packets for an intermediate device come without what their interface lacks.
pub(crate) fn header(dev: &str) -> u64 {
    let own = dev.strip_prefix("ifb4").unwrap_or(dev);
    if WITHOUT_HEADER.iter().any(|start| own.starts_with(start)) { 0 } else { ETHERNET_HEADER }
}

/// The directions as an interface sees them.
struct Sides<'a> {
    /// The direction that leaves by the interface, with its name in the scenario.
    egress: Option<(&'static str, &'a Side)>,
    /// The direction that arrives, with its name in the scenario.
    ingress: Option<(&'static str, &'a Side)>,
}

impl<'a> Sides<'a> {
    fn of(setup: &'a Setup, egress: Option<Direction>) -> Self {
        let down = setup.down.as_ref().map(|side| ("down", side));
        let up = setup.up.as_ref().map(|side| ("up", side));
        let heading = egress.unwrap_or(if up.is_some() { Direction::Up } else { Direction::Down });
        match heading {
            Direction::Down => Self { egress: down, ingress: up },
            Direction::Up => Self { egress: up, ingress: down },
        }
    }
}

/// A comment that says what a direction is.
fn heading_comment(name: &str, side: &Side, notes: &[String]) -> String {
    let notes = side.notes.iter().chain(notes);
    let mut text = format!("# {name}: {}\n", side.rates());
    for note in notes {
        text.push_str(&format!("#   {note}\n"));
    }
    text
}

/// Commands that send all arriving packets, IPv4, IPv6 and others, through the intermediate device.
/// What was there before goes, so that running them twice leaves one redirection.
pub(crate) fn redirect_commands(dev: &str, ifb: &str) -> Vec<String> {
    vec![
        format!("tc qdisc del dev {dev} ingress 2>/dev/null || true"),
        format!("tc qdisc add dev {dev} handle ffff: ingress"),
        format!(
            "tc filter add dev {dev} parent ffff: protocol all prio 10 u32 match u32 0 0 action mirred egress redirect dev {ifb}"
        ),
    ]
}
