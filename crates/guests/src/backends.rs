//! Backends of scenarios on this machine: the simulator everywhere, and on Linux kernel senders in
//! virtual and in real time.

#[cfg(target_os = "linux")]
pub mod linux;
#[cfg(target_os = "linux")]
pub mod live;

#[cfg(target_os = "linux")]
use crate::linux::Series;
use goodqueue_lab::run::backend::{Backend, Simulator};
use std::ffi::OsString;
use std::fmt;

/// The hosts there are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BackendName {
    /// The simulator.
    Sim,
    /// Guest kernels in virtual time.
    Linux,
    /// Guest kernels of Linux 7.3 in virtual time.
    Linux73,
    /// Guest kernels in virtual time, and queues that are those of a kernel.
    Kernel,
    /// Kernel senders in networks of their own, in real time.
    Live,
}

/// Policy for void runs in real time.
#[derive(Clone, Copy, Debug)]
pub struct VoidRunPolicy {
    /// Largest number of attempts: a void run is repeated until it has had this many.
    pub attempts: u32,
    /// Result of a run that is void in all attempts.
    pub rest: AfterRetries,
}

/// Result of a run that is void in all attempts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AfterRetries {
    /// Nothing: it has failed.
    Fails,
    /// The least late of its attempts, marked as void.
    LeastLate,
}

impl Default for VoidRunPolicy {
    fn default() -> Self {
        Self { attempts: 3, rest: AfterRetries::Fails }
    }
}

/// Whose process runs scenarios.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ProcessOwner {
    /// A command's, which may move to networks of its own as a whole.
    Own,
    /// Somebody else's, which must stay where it is.
    Foreign,
}

/// Facts that hosts need about the program they are part of.
#[derive(Clone, Debug)]
pub struct Settings {
    /// Command that starts this program as `gq`: a program and its first arguments.
    pub itself: Vec<OsString>,
    /// Whose process it is.
    pub process: ProcessOwner,
    /// Policy for void runs.
    pub voids: VoidRunPolicy,
    /// Takes messages for a person during runs.
    pub say: fn(&str),
}

/// A host that this machine cannot provide, and why.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unavailable {
    /// Name of the host.
    pub host: BackendName,
    /// The reason, in one line.
    pub why: String,
}

impl fmt::Display for Unavailable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.host.name(), self.why)
    }
}

impl std::error::Error for Unavailable {}

/// A name that no host has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NoSuchBackend;

impl fmt::Display for NoSuchBackend {
    /// Says which names there are.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "there is no such host: allowed {}", BackendName::ALL.map(BackendName::name).join(", "))
    }
}

impl std::error::Error for NoSuchBackend {}

/// A host that cannot check a recommendation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NoChecker {
    /// No host has the name.
    Unknown(NoSuchBackend),
    /// The simulator, which has given the answer.
    Simulator,
    /// One link in real time.
    Live,
}

impl fmt::Display for NoChecker {
    /// Says what to use instead.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unknown(unknown) => unknown.fmt(f),
            Self::Simulator => f.write_str("the answer is from the simulator already: allowed linux"),
            Self::Live => f.write_str(
                "the live host has one link, a line and the router behind it are two, and a hundred runs in real time \
                 would take hours: use linux, guest kernels in virtual time",
            ),
        }
    }
}

impl std::error::Error for NoChecker {}

impl BackendName {
    /// All of them, the one that needs nothing first.
    pub const ALL: [Self; 5] = [Self::Sim, Self::Linux, Self::Linux73, Self::Kernel, Self::Live];

    /// Returns the host's name in commands and results.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Sim => "sim",
            Self::Linux => "linux",
            Self::Linux73 => "linux-7.3",
            Self::Kernel => "kernel",
            Self::Live => "live",
        }
    }

    /// The host of this name.
    ///
    /// # Errors
    /// When no host has it.
    pub fn read(name: &str) -> Result<Self, NoSuchBackend> {
        let found = Self::ALL.into_iter().find(|host| host.name() == name);
        found.ok_or(NoSuchBackend)
    }

    /// The host of this name, which checks a recommendation.
    ///
    /// # Errors
    /// When no host has it, or that host cannot.
    pub fn read_checker(name: &str) -> Result<Self, NoChecker> {
        match Self::read(name).map_err(NoChecker::Unknown)? {
            Self::Sim => Err(NoChecker::Simulator),
            Self::Live => Err(NoChecker::Live),
            host @ (Self::Linux | Self::Linux73 | Self::Kernel) => Ok(host),
        }
    }

    /// The host itself. It has not prepared anything yet.
    ///
    /// # Errors
    /// When this machine cannot provide it.
    #[cfg_attr(not(target_os = "linux"), expect(unused_variables, reason = "the simulator needs to know nothing"))]
    pub fn open(self, settings: &Settings) -> Result<Box<dyn Backend + Send>, Unavailable> {
        match self {
            Self::Sim => Ok(Box::new(Simulator)),
            #[cfg(target_os = "linux")]
            Self::Linux | Self::Linux73 => {
                let series = if self == Self::Linux { Series::V6_12 } else { Series::V7_3 };
                match linux::Linux::find(&settings.itself, series) {
                    Ok(host) => Ok(Box::new(host)),
                    Err(missing) => Err(Unavailable { host: self, why: missing.to_string() }),
                }
            }
            #[cfg(target_os = "linux")]
            Self::Kernel => match linux::Linux::find_with_queues(&settings.itself) {
                Ok(host) => Ok(Box::new(host)),
                Err(missing) => Err(Unavailable { host: self, why: missing.to_string() }),
            },
            #[cfg(target_os = "linux")]
            Self::Live => Ok(Box::new(live::backend::Live::new(settings))),
            #[cfg(not(target_os = "linux"))]
            Self::Linux | Self::Linux73 | Self::Kernel | Self::Live => {
                Err(Unavailable { host: self, why: "this needs Linux: allowed here sim".to_owned() })
            }
        }
    }
}

#[cfg(all(test, target_os = "linux"))]
mod described;
#[cfg(test)]
mod tests;
