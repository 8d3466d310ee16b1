//! Arguments of the command.

use super::config::Config;
use super::settings::LineSettings;
use crate::failure::Failure;
use clap::{Args, ValueEnum};
use goodqueue_base::units::Duration;
use goodqueue_lab::quantity::{self, Limits};
use std::path::PathBuf;

/// Arguments of `gq bridge`.
#[derive(Args)]
#[command(after_help = "Example: gq bridge --in eth0 --out eth1 --rate 100mbit --rate-up 20mbit --aqm fq-codel --stats 1s")]
pub struct Arguments {
    /// Interface on the side of the senders
    #[arg(long = "in", value_name = "INTERFACE")]
    pub(super) inside: Option<String>,
    /// Interface on the other side
    #[arg(long = "out", value_name = "INTERFACE")]
    pub(super) outside: Option<String>,
    /// File with settings, read again on SIGHUP; options come first
    #[arg(long, value_name = "FILE.toml")]
    pub(super) config: Option<PathBuf>,
    #[command(flatten)]
    pub(super) line: LineSettings,
    /// End after this time [default: on SIGINT or SIGTERM]
    #[arg(long, value_name = "TIME")]
    pub(super) duration: Option<String>,
    /// Print what happens this often
    #[arg(long, value_name = "TIME")]
    pub(super) stats: Option<String>,
    /// Print it as JSON with the names of tc -s -j qdisc, one array per line
    #[arg(long)]
    pub(super) json: bool,
    /// Write every frame sent to a pcapng file
    #[arg(long, value_name = "FILE")]
    pub(super) pcap: Option<PathBuf>,
    /// Write every event of the queue from IN to OUT to a file that can be replayed
    #[arg(long, value_name = "FILE")]
    pub(super) record: Option<PathBuf>,
    /// Take commands on a Unix socket that only this user may open
    #[arg(long, value_name = "SOCKET")]
    pub(super) control: Option<PathBuf>,
    /// Serve metrics for Prometheus, for instance on 127.0.0.1:9100
    #[arg(long, value_name = "ADDRESS:PORT")]
    pub(super) metrics: Option<String>,
    /// Sockets that take frames from the interfaces and give them to them
    #[arg(long, value_enum, default_value_t = PortKind::AfPacket)]
    pub(super) port: PortKind,
    /// Treatment of offloads that make results wrong [default: split between packet sockets
    /// where an interface is one end of a veth pair, refuse elsewhere]
    #[arg(long, value_enum)]
    pub(super) offloads: Option<OffloadPolicy>,
    /// Real-time scheduling of the thread that moves packets
    #[arg(long, value_enum, default_value_t = Requirement::Auto)]
    pub(super) real_time: Requirement,
    /// Join the interfaces without a queue when the bridge dies or stands still for a second
    #[arg(long)]
    pub(super) fail_open: bool,
    /// Busy-wait for the last part of each pause; more punctual, more processor time
    #[arg(long, value_name = "TIME", conflicts_with = "busy_poll")]
    pub(super) spin: Option<String>,
    /// Look for packets all the time instead of waiting for them, which keeps one processor busy,
    /// and have the kernel look for them, too [--busy-poll alone: auto]
    #[arg(long, value_enum, value_name = "WISH", num_args = 0..=1, require_equals = true)]
    #[arg(default_value_t = Requirement::Off, default_missing_value = "auto")]
    pub(super) busy_poll: Requirement,
    /// Whether AF_XDP shares its memory with the network card
    #[arg(long, value_enum, value_name = "WISH", default_value_t = Requirement::Auto)]
    pub(super) zero_copy: Requirement,
}

/// Degree to which a feature of the kernel is demanded.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Requirement {
    /// As far as the kernel grants it
    Auto,
    /// Do not start without it
    Require,
    /// Not at all
    Off,
}

/// Sockets by which frames are received and sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum PortKind {
    /// Packet sockets, with the kernel's time stamps
    AfPacket,
    /// AF_XDP sockets: less processor time per frame, no time stamps
    AfXdp,
}

/// Treatment of offloads.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum OffloadPolicy {
    /// Do not start; end when a joined packet arrives
    Refuse,
    /// Switch them off, and restore them when the bridge ends or is killed; end when a joined
    /// packet arrives all the same
    Set,
    /// Split joined packets before the queue, and join those again that leave together
    Split,
    /// Start anyway, and drop joined packets
    Ignore,
}

impl Arguments {
    /// The line and interfaces; options take precedence over the file.
    pub(super) fn resolve(&self) -> Result<(LineSettings, String, String), Failure> {
        let file = self.config.as_deref().map(Config::read).transpose()?.unwrap_or_default();
        let missing = |option| Failure::Input(format!("{option}: say which interface, for instance {option} eth0"));
        let inside = self.inside.clone().or(file.inside).ok_or_else(|| missing("--in"))?;
        let outside = self.outside.clone().or(file.outside).ok_or_else(|| missing("--out"))?;
        if inside == outside {
            return Err(Failure::Input(format!("--out {outside}: is the same interface as --in")));
        }
        Ok((self.line.clone().over(file.line), inside, outside))
    }

    /// The value of an option that is a time.
    pub(super) fn time(option: &str, text: Option<&String>, low: Duration, high: Duration) -> Result<Option<Duration>, Failure> {
        let span = text.map(|text| quantity::duration_within(text, Limits::new(low, high))).transpose();
        span.map_err(|error| Failure::Input(format!("{option}: {}", error.message())))
    }
}
