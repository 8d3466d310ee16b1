//! The extent of the deployment of queues, which decides between queues that are equal to people.

/// Kinds, the most widely deployed first, each with the evidence. Kinds that are not listed come
/// after these; tail drop comes last, since it is what a line has with nothing set up.
pub const DEPLOYED: &[(&str, &str)] = &[
    ("fq-codel", "default queue of Linux distributions with systemd since release 217 (2014) and of OpenWrt; RFC 8290"),
    ("cake", "default of OpenWrt's SQM scripts and of LibreQoS; in Linux since 4.19"),
    ("pie", "required in DOCSIS 3.1 cable modems; RFC 8034"),
    ("codel", "in Linux since 3.5 and in FreeBSD; RFC 8289"),
    ("red", "in most routers' operating systems, seldom turned on; RFC 7567 section 2.1"),
    ("fq-pie", "in Linux since 5.6 and in FreeBSD"),
    ("dualpi2", "in Low Latency DOCSIS networks and in Linux since 6.17; RFC 9332"),
];

/// The queue of a line with nothing set up.
pub const NOTHING_SET_UP: &str = "tail-drop";

/// The extent of a queue's deployment: less is wider.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Deployment {
    place: usize,
    parameters: usize,
}

impl Deployment {
    /// The deployment of the queues with these names, `kind` or `kind:parameter=value`; the least
    /// deployed one counts, and defaults before other parameters.
    pub fn of<'a>(names: impl Iterator<Item = &'a str> + Clone) -> Self {
        let place = |name: &str| match kind(name) {
            NOTHING_SET_UP => DEPLOYED.len() + 1,
            kind => DEPLOYED.iter().position(|(known, _)| *known == kind).unwrap_or(DEPLOYED.len()),
        };
        let parameters = |name: &str| name.matches('=').count();
        Self { place: names.clone().map(place).max().unwrap_or(DEPLOYED.len()), parameters: names.map(parameters).sum() }
    }
}

/// The kind that a queue's name begins with.
pub(super) fn kind(name: &str) -> &str {
    name.split([':', ' ']).next().unwrap_or(name)
}
