//! The job of a guest as JSON: written to a file by the host, read by the program inside.

use goodqueue_base::units::Duration;
use serde::{Deserialize, Serialize};

/// Role of a guest.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Role {
    /// Sends the data.
    Source,
    /// Receives it.
    Sink,
    /// Has none: it queues the packets of a link.
    Queue,
}

impl Role {
    /// Name in messages.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Source => "source",
            Self::Sink => "sink",
            Self::Queue => "queue",
        }
    }
}

/// Port of the source for flow 0; others follow.
pub const FIRST_PORT: u16 = 10_000;
/// Port of the sink for flows of the first kind; others follow.
pub const FIRST_SERVICE: u16 = 1_000;
/// Largest number of flows.
pub const MAX_FLOWS: usize = 50_000;

/// One flow.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct FlowJob {
    /// The kernel's name of the congestion control.
    pub control: String,
    /// Start, relative to that of the world.
    #[serde(with = "nanos")]
    pub start: Duration,
    /// Time from which it offers no more data.
    #[serde(with = "optional_nanos")]
    pub stop: Option<Duration>,
    /// Bytes to send; `None` without end.
    pub size: Option<u64>,
    /// Largest segment, options included.
    pub mss: u32,
    /// Largest window that the sink advertises.
    pub window: Option<u32>,
    /// Whether its state is sampled.
    pub watched: bool,
}

impl FlowJob {
    /// Returns the settings that the sink must know before a connection arrives: congestion
    /// control, largest segment, largest window.
    fn service(&self) -> (&str, u32, Option<u32>) {
        (&self.control, self.mss, self.window)
    }
}

/// A user program to run inside.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ProgramJob {
    /// Start, relative to that of the world.
    #[serde(with = "nanos")]
    pub start: Duration,
    /// Shell command, on one line.
    pub command: String,
    /// Working directory in the host's file system, without line feeds.
    pub folder: String,
}

/// A complete job.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Job {
    /// The end of the connections.
    pub role: Role,
    /// Start of the world on the guest's wall clock, in nanoseconds.
    pub epoch: u64,
    /// Start of the measured part, relative to that of the world.
    #[serde(with = "nanos")]
    pub from: Duration,
    /// End of the measured part, relative to the start of the world.
    #[serde(with = "nanos")]
    pub until: Duration,
    /// Time between two samples of the connections.
    #[serde(with = "optional_nanos")]
    pub sample: Option<Duration>,
    /// Settings below `/proc/sys`.
    pub settings: Vec<(String, String)>,
    /// All flows.
    pub flows: Vec<FlowJob>,
    /// A user program to run.
    pub program: Option<ProgramJob>,
}

impl Job {
    /// Groups the flows by kind, one listening port of the sink for each; also returns the port of
    /// each flow.
    #[must_use]
    pub fn services(&self) -> (Vec<&FlowJob>, Vec<u16>) {
        let mut kinds: Vec<&FlowJob> = Vec::new();
        let port = |flow| {
            let known = kinds.iter().position(|kind| kind.service() == FlowJob::service(flow));
            let place = known.unwrap_or_else(|| {
                kinds.push(flow);
                kinds.len() - 1
            });
            FIRST_SERVICE + place as u16
        };
        let ports = self.flows.iter().map(port).collect();
        (kinds, ports)
    }

    /// The job as [`Job::read`] takes it.
    #[must_use]
    pub fn text(&self) -> String {
        serde_json::to_string(self).expect("numbers and texts have a form in JSON")
    }

    /// Reads a job; `None` if it is invalid.
    #[must_use]
    pub fn read(text: &str) -> Option<Self> {
        serde_json::from_str(text).ok()
    }
}

/// Times as numbers of nanoseconds.
mod nanos {
    use super::Duration;
    use serde::{Deserialize, Deserializer, Serializer};

    pub(super) fn serialize<S: Serializer>(span: &Duration, to: S) -> Result<S::Ok, S::Error> {
        to.serialize_u64(span.as_nanos())
    }

    pub(super) fn deserialize<'a, D: Deserializer<'a>>(from: D) -> Result<Duration, D::Error> {
        u64::deserialize(from).map(Duration::ns)
    }
}

/// Times that may be missing, as numbers of nanoseconds.
mod optional_nanos {
    use super::Duration;
    use serde::{Deserialize, Deserializer, Serialize, Serializer};

    pub(super) fn serialize<S: Serializer>(span: &Option<Duration>, to: S) -> Result<S::Ok, S::Error> {
        span.map(Duration::as_nanos).serialize(to)
    }

    pub(super) fn deserialize<'a, D: Deserializer<'a>>(from: D) -> Result<Option<Duration>, D::Error> {
        Ok(Option::<u64>::deserialize(from)?.map(Duration::ns))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn flow() -> FlowJob {
        FlowJob {
            control: "cubic".to_owned(),
            start: Duration::ms(3),
            stop: None,
            size: Some(7),
            mss: 1460,
            window: Some(65_535),
            watched: true,
        }
    }

    fn job() -> Job {
        Job {
            role: Role::Sink,
            epoch: 1_700_000_001_000_000_000,
            from: Duration::secs(2),
            until: Duration::secs(9),
            sample: Some(Duration::ms(10)),
            settings: vec![("net.ipv4.tcp_rmem".to_owned(), "4096 131072 33554432".to_owned())],
            program: Some(ProgramJob {
                start: Duration::secs(1),
                command: "curl -s http://server/ | wc -c".to_owned(),
                folder: "/some where".to_owned(),
            }),
            flows: vec![flow(), FlowJob { stop: Some(Duration::secs(1)), size: None, window: None, watched: false, ..flow() }],
        }
    }

    #[test]
    fn flows_of_one_kind_share_a_port_of_the_sink() {
        let flow = |control: &str, mss| FlowJob { control: control.to_owned(), mss, ..flow() };
        let job = Job { flows: vec![flow("cubic", 1460), flow("reno", 1460), flow("cubic", 1460), flow("cubic", 500)], ..job() };
        let (kinds, ports) = job.services();
        assert_eq!(kinds.len(), 3);
        assert_eq!(ports, [0, 1, 0, 2].map(|place| FIRST_SERVICE + place));
    }

    #[test]
    fn a_job_survives_its_text() {
        let text = job().text();
        assert_eq!(Job::read(&text), Some(job()));
        for wrong in ["", "nonsense", &text[..text.len() - 1], &text.replace("Sink", "Both"), &text.replace("1460", "-1")] {
            assert_eq!(Job::read(wrong), None, "{wrong}");
        }
    }
}
