//! Settings of the host that the sender and the receiver have a counterpart for.

use super::accurate_ecn::negotiation::Kind;
use super::accurate_ecn::{Fallback, Policy, Use};
use crate::packetdrill::shell::Setting;
use crate::packetdrill::stack::NotModelled;
use goodqueue_tcp::SlowStartExit;

/// Bytes of an IPv4 header and a TCP header without options.
const HEADERS: u16 = 40;
/// Values of `tcp_ecn`: ask and agree; ask for accurate ECN and agree to any.
const CLASSIC: u32 = 1;
const ACCURATE: u32 = 3;

/// The settings with which connections begin.
#[derive(Clone, Debug)]
pub(super) struct ConnectionDefaults {
    pub(super) control: &'static str,
    /// Parameters of the control that differ from its own defaults.
    pub(super) hystart: bool,
    pub(super) slow_start_exit: SlowStartExit,
    pub(super) sack: bool,
    pub(super) timestamps: bool,
    pub(super) ecn: Ecn,
    /// `None`: the control's own habit.
    pub(super) offload: Option<bool>,
    pub(super) initial_window: u32,
    /// Off unless a script turns it on, as in google/packetdrill's `defaults.sh`.
    pub(super) restart_after_idle: bool,
    /// Largest segment that this end announces.
    pub(super) mss: u16,
    /// Largest segment that the route allows, without options.
    pub(super) route_mss: u16,
    /// Loss probes are off in the script.
    pub(super) refuses_probes: bool,
    pub(super) accurate_ecn: Policy,
}

/// The kinds of ECN that this end asks for and agrees to (`tcp_ecn` of Linux).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Ecn {
    pub(super) asks: Kind,
    pub(super) agrees: Kind,
}

impl Default for ConnectionDefaults {
    fn default() -> Self {
        Self {
            control: "cubic",
            hystart: true,
            slow_start_exit: SlowStartExit::Native,
            sack: true,
            timestamps: true,
            ecn: Ecn { asks: Kind::Off, agrees: Kind::Off },
            offload: None,
            initial_window: 10,
            restart_after_idle: false,
            mss: 1500 - HEADERS,
            route_mss: 1500 - HEADERS,
            refuses_probes: false,
            accurate_ecn: Policy::default(),
        }
    }
}

impl ConnectionDefaults {
    /// Takes on a setting, or says that it has no counterpart.
    pub(super) fn set(&mut self, setting: &Setting) -> Result<(), NotModelled> {
        let Setting { name, value } = setting;
        let refused = || Err(NotModelled(format!("{name}={value}")));
        let number = || value.parse::<u32>().map_err(|_| NotModelled(format!("{name}={value}")));
        let sysctl = name.strip_prefix("net.ipv4.");
        match sysctl.unwrap_or(name) {
            "tcp_congestion_control" => self.control = control(value)?,
            "tcp_sack" => self.sack = number()? > 0,
            "tcp_timestamps" => self.timestamps = number()? > 0,
            "tcp_ecn" => {
                self.ecn = match number()? {
                    0 => Ecn { asks: Kind::Off, agrees: Kind::Off },
                    CLASSIC => Ecn { asks: Kind::Classic, agrees: Kind::Classic },
                    2 => Ecn { asks: Kind::Off, agrees: Kind::Classic },
                    ACCURATE => Ecn { asks: Kind::Accurate, agrees: Kind::Accurate },
                    4 => Ecn { asks: Kind::Classic, agrees: Kind::Accurate },
                    5 => Ecn { asks: Kind::Off, agrees: Kind::Accurate },
                    _ => return refused(),
                }
            }
            "tcp_ecn_option" => {
                self.accurate_ecn.usage = match number()? {
                    0 => Use::Never,
                    1 => Use::Sparing,
                    2 => Use::Always,
                    3 => Use::Persistent,
                    _ => return refused(),
                }
            }
            "tcp_ecn_option_beacon" if number()? <= 3 => self.accurate_ecn.beacons = number()?,
            "tcp_ecn_fallback" => self.accurate_ecn.fallback = if number()? > 0 { Fallback::On } else { Fallback::Off },
            // Without it the rest of a window leaves at once, as it does without offload.
            "tcp_tso_win_divisor" if number()? > 3 => self.offload = Some(false),
            "offload" if value == "off" => self.offload = Some(false),
            "tcp_early_retrans" => self.refuses_probes = number()? == 0,
            "module.tcp_cubic.hystart_detect" => {
                self.hystart = match number()? {
                    0 => false,
                    3 => true,
                    _ => return refused(),
                }
            }
            "goodqueue.slow_start_exit" => {
                self.slow_start_exit = match value.as_str() {
                    "native" => SlowStartExit::Native,
                    "loss-only" => SlowStartExit::LossOnly,
                    "hystart-plus-plus" => SlowStartExit::HystartPlusPlus,
                    _ => return refused(),
                }
            }
            "route.initcwnd" => self.initial_window = number()?.clamp(1, 1000),
            "route.mtu" => self.route_mss = u16::try_from(number()?).unwrap_or(u16::MAX).saturating_sub(HEADERS).max(88),
            "route.advmss" => self.mss = u16::try_from(number()?).unwrap_or(u16::MAX),
            // Values that are the defaults here.
            "tcp_frto" | "tcp_dsack" | "tcp_recovery" | "tcp_window_scaling" if number()? > 0 => {}
            "tcp_fack" if number()? == 0 => {}
            "tcp_slow_start_after_idle" => self.restart_after_idle = number()? > 0,
            "tcp_tso_win_divisor" | "tcp_reordering" if number()? == 3 => {}
            // Sizes of pieces and pacing by the queue discipline do not change what is counted
            // here.
            "tcp_min_tso_segs"
            | "tcp_pacing_ss_ratio"
            | "tcp_pacing_ca_ratio"
            | "tcp_syncookies"
            | "tcp_no_metrics_save"
            | "tcp_limit_output_bytes" => {}
            "qdisc" if matches!(value.as_str(), "fq" | "pfifo") => {}
            _ => return refused(),
        }
        Ok(())
    }
}

/// The name of a congestion control.
pub(super) fn control(name: &str) -> Result<&'static str, NotModelled> {
    let known = goodqueue_tcp::kinds().iter().find(|spec| spec.base.kind == name);
    known.map(|spec| spec.base.kind).ok_or_else(|| NotModelled(format!("the congestion control `{name}`")))
}
