//! The job of a guest in text form: written to a file by the host, read by the program inside.

use goodqueue_base::units::Duration;
use std::fmt::Write as _;
use std::str::FromStr;

/// Role of a guest.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
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
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FlowJob {
    /// The kernel's name of the congestion control.
    pub control: String,
    /// Start, relative to that of the world.
    pub start: Duration,
    /// Time from which it offers no more data.
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
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProgramJob {
    /// Start, relative to that of the world.
    pub start: Duration,
    /// Shell command, on one line.
    pub command: String,
    /// Working directory in the host's file system, without line feeds.
    pub folder: String,
}

/// A complete job.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Job {
    /// The end of the connections.
    pub role: Role,
    /// Start of the world on the guest's wall clock, in nanoseconds.
    pub epoch: u64,
    /// Start of the measured part, relative to that of the world.
    pub from: Duration,
    /// End of the measured part, relative to the start of the world.
    pub until: Duration,
    /// Time between two samples of the connections.
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

    /// The text form, one item per line.
    #[must_use]
    pub fn text(&self) -> String {
        let nanos = |span: Duration| span.as_nanos();
        let number = |value: Option<u64>| value.map_or_else(|| "-".to_owned(), |value| value.to_string());
        let mut text = format!("role {}\nepoch {}\n", self.role.name(), self.epoch);
        let _ = writeln!(text, "measure {} {}", nanos(self.from), nanos(self.until));
        let _ = writeln!(text, "sample {}", number(self.sample.map(nanos)));
        for (key, value) in &self.settings {
            let _ = writeln!(text, "set {key} {value}");
        }
        for flow in &self.flows {
            let FlowJob { control, start, stop, size, mss, window, watched } = flow;
            let (stop, size, window) = (number(stop.map(nanos)), number(*size), number(window.map(u64::from)));
            let _ = writeln!(text, "flow {control} {} {stop} {size} {mss} {window} {}", nanos(*start), u8::from(*watched));
        }
        if let Some(ProgramJob { start, command, folder }) = &self.program {
            let _ = writeln!(text, "folder {folder}\nprogram {} {command}", nanos(*start));
        }
        text
    }

    /// Parses the text form; `None` if it is not a job.
    #[must_use]
    pub fn read(text: &str) -> Option<Self> {
        let mut job = Self {
            role: Role::Source,
            epoch: 0,
            from: Duration::ZERO,
            until: Duration::ZERO,
            sample: None,
            settings: Vec::new(),
            flows: Vec::new(),
            program: None,
        };
        let mut place = String::new();
        for line in text.lines() {
            let (what, rest) = line.split_once(' ')?;
            let mut words = rest.split(' ');
            match what {
                "role" if rest == "source" => job.role = Role::Source,
                "role" if rest == "sink" => job.role = Role::Sink,
                "role" if rest == "queue" => job.role = Role::Queue,
                "epoch" => job.epoch = rest.parse().ok()?,
                "measure" => (job.from, job.until) = (span(&mut words)?, span(&mut words)?),
                "sample" => job.sample = optional(&mut words)?.map(Duration::ns),
                "set" => {
                    let (key, value) = rest.split_once(' ')?;
                    job.settings.push((key.to_owned(), value.to_owned()));
                }
                "flow" => job.flows.push(FlowJob {
                    control: words.next()?.to_owned(),
                    start: span(&mut words)?,
                    stop: optional(&mut words)?.map(Duration::ns),
                    size: optional(&mut words)?,
                    mss: words.next()?.parse().ok()?,
                    window: optional(&mut words)?,
                    watched: words.next()? == "1",
                }),
                "folder" => rest.clone_into(&mut place),
                "program" => {
                    let (start, command) = rest.split_once(' ')?;
                    let (start, command) = (Duration::ns(start.parse().ok()?), command.to_owned());
                    job.program = Some(ProgramJob { start, command, folder: std::mem::take(&mut place) });
                }
                _ => return None,
            }
        }
        Some(job)
    }
}

fn span<'a>(words: &mut impl Iterator<Item = &'a str>) -> Option<Duration> {
    words.next()?.parse().ok().map(Duration::ns)
}

/// Parses a number or `-`; the outer `None` means neither.
fn optional<'a, T: FromStr>(words: &mut impl Iterator<Item = &'a str>) -> Option<Option<T>> {
    match words.next()? {
        "-" => Some(None),
        word => word.parse().ok().map(Some),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn flows_of_one_kind_share_a_port_of_the_sink() {
        let text = "flow cubic 1 - 7 1460 - 1\nflow reno 2 - - 1460 - 1\nflow cubic 3 5 - 1460 - 0\nflow cubic 3 5 - 500 - 0\n";
        let job = Job::read(text).expect("a job");
        let (kinds, ports) = job.services();
        assert_eq!(kinds.len(), 3);
        assert_eq!(ports, [0, 1, 0, 2].map(|place| FIRST_SERVICE + place));
    }

    #[test]
    fn a_job_survives_its_text() {
        let flow = FlowJob {
            control: "cubic".to_owned(),
            start: Duration::ms(3),
            stop: None,
            size: Some(7),
            mss: 1460,
            window: Some(65_535),
            watched: true,
        };
        let job = Job {
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
            flows: vec![
                flow.clone(),
                FlowJob { stop: Some(Duration::secs(1)), size: None, window: None, watched: false, ..flow },
            ],
        };
        assert_eq!(Job::read(&job.text()), Some(job));
        for wrong in ["role both", "flow cubic 1 -", "measure 1", "sample x", "nonsense 1"] {
            assert_eq!(Job::read(wrong), None, "{wrong}");
        }
    }
}
