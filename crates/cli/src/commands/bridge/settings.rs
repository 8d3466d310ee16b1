//! Settings of a bridge, from the command line or a file, and the plan made of them.

use crate::failure::Failure;
use goodqueue_aqm::Rng;
use goodqueue_lab::quantity;
use goodqueue_lab::scenario::compare::{Comparison, Signal};
use goodqueue_lab::scenario::plan::{Fault, Link, Plan};
use goodqueue_lab::scenario::toml_text::quoted;
use goodqueue_live::forwarder::Direction;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use std::fmt::Write as _;
use std::path::Path;

/// The line between the interfaces. Everything as people write it; a file holds the same under the
/// same names.
#[derive(Clone, Debug, Default, PartialEq, Eq, clap::Args, Deserialize, Serialize)]
#[serde(rename_all = "kebab-case", default)]
pub struct LineSettings {
    /// Rate down, from IN to OUT, for instance 10mbit
    #[arg(long, value_name = "RATE")]
    pub rate: Option<String>,
    /// Rate up, from OUT to IN [default: the same]
    #[arg(long, value_name = "RATE")]
    pub rate_up: Option<String>,
    /// Recorded rate down instead: a mahimahi file
    #[arg(long, value_name = "FILE", conflicts_with = "rate")]
    pub trace: Option<String>,
    /// Read from the same table as the others, so that faults have their places.
    #[command(flatten)]
    #[serde(flatten, skip_deserializing)]
    pub queues: QueueSettings,
    /// Policy of a steered queue (gsp-as, codel-as, pie-as), for instance 'utilization>=0.99,
    /// delay<=30ms'
    #[arg(long, value_name = "POLICY")]
    pub policy: Option<String>,
    /// Delay added in each direction [default: none]
    #[arg(long, value_name = "TIME")]
    pub delay: Option<String>,
    /// Delay up [default: the same]
    #[arg(long, value_name = "TIME")]
    pub delay_up: Option<String>,
    /// Root of all randomness [default: 1]
    #[arg(long, value_name = "N")]
    pub seed: Option<u64>,
}

/// The queues of a line in both directions, for `gq bridge` as for a path around a program.
#[derive(Clone, Debug, Default, PartialEq, Eq, clap::Args, Deserialize, Serialize)]
#[serde(rename_all = "kebab-case", default)]
pub struct QueueSettings {
    /// Queue down, see gq list aqm; parameters follow a colon: codel:target=10ms [default:
    /// fq-codel]
    #[arg(long, value_name = "AQM")]
    pub aqm: Option<String>,
    /// Queue up [default: the same]
    #[arg(long, value_name = "AQM")]
    pub aqm_up: Option<String>,
    /// Drop even where queues can mark
    #[arg(long)]
    pub no_ecn: bool,
    /// Buffer down, for instance 1000packets, 45kB or 50ms [default: 1000packets]
    #[arg(long, value_name = "AMOUNT")]
    pub buffer: Option<String>,
    /// Buffer up [default: the same]
    #[arg(long, value_name = "AMOUNT")]
    pub buffer_up: Option<String>,
    /// Bytes that each packet takes on the line in addition to its IP length [default: 14B, the
    /// Ethernet header]
    #[arg(long, value_name = "BYTES")]
    pub overhead: Option<String>,
}

/// The queue unless another is asked for.
pub const DEFAULT_AQM: &str = "fq-codel";
/// The delay unless another is asked for.
pub const DEFAULT_DELAY: &str = "0 s";
/// The name of the link in the plan.
const LINK: &str = "line";

impl LineSettings {
    /// The seed of one queue's random stream.
    pub fn queue_seed(&self, way: Direction) -> u64 {
        Rng::stream(self.seed.unwrap_or(1), u64::from(way == Direction::Up)).next_u64()
    }

    /// Returns these settings; those that are not given are as in `behind`.
    pub fn over(self, behind: Self) -> Self {
        Self {
            // A rate given here replaces a recording there, and the other way round.
            trace: self.trace.clone().or_else(|| behind.trace.filter(|_| self.rate.is_none())),
            rate: self.rate.or_else(|| behind.rate.filter(|_| self.trace.is_none())),
            rate_up: self.rate_up.or(behind.rate_up),
            queues: self.queues.over(behind.queues),
            policy: self.policy.or(behind.policy),
            delay: self.delay.or(behind.delay),
            delay_up: self.delay_up.or(behind.delay_up),
            seed: self.seed.or(behind.seed),
        }
    }

    /// Returns the settings as options of `gq bridge`, which have the names of a file.
    pub fn options(&self) -> Vec<String> {
        let named = json!(self);
        let option = |(name, value): (&String, &Value)| match value {
            Value::Null | Value::Bool(false) => None,
            Value::Bool(true) => Some(format!("--{name}")),
            Value::String(text) => Some(format!("--{name}={text}")),
            other => Some(format!("--{name}={other}")),
        };
        named.as_object().into_iter().flatten().filter_map(option).collect()
    }

    /// Holds the queue of one direction to another policy, whatever held it before.
    pub fn hold_to(&mut self, way: Direction, policy: &str) -> Result<(), Failure> {
        let parameters = policy_parameters(policy)?;
        let held = |aqm: &str, parameters: &str| {
            let mut kept: Vec<&str> = aqm.split(':').collect();
            kept.retain(|part| !BOUNDS.iter().any(|(.., name)| part.split('=').next() == Some(name)));
            format!("{}{parameters}", kept.join(":"))
        };
        // Up to now one policy may have held both.
        let before = self.policy.take().map_or_else(|| Ok(String::new()), |policy| policy_parameters(&policy))?;
        let one = |of: Direction| {
            let aqm = self.aqm_of(of);
            if of == way { held(aqm, &parameters) } else { format!("{aqm}{before}") }
        };
        let [down, up] = [Direction::Down, Direction::Up].map(one);
        (self.queues.aqm, self.queues.aqm_up) = (Some(down), Some(up));
        Ok(())
    }

    /// The queue of one direction, as options have it.
    pub fn aqm_of(&self, way: Direction) -> &str {
        let up = self.queues.aqm_up.as_deref().filter(|_| way == Direction::Up);
        up.or(self.queues.aqm.as_deref()).unwrap_or(DEFAULT_AQM)
    }

    /// The policy that the queue of one direction is held to; `None` without one.
    pub fn policy_of(&self, way: Direction) -> Option<String> {
        if self.policy.is_some() {
            return self.policy.clone();
        }
        let given = |name: &str| self.aqm_of(way).split(':').find_map(|part| part.strip_prefix(name)?.strip_prefix('='));
        let held = BOUNDS.iter().filter_map(|(name, bound, parameter)| Some(format!("{name}{bound}{}", given(parameter)?)));
        let bounds: Vec<String> = held.collect();
        (!bounds.is_empty()).then(|| bounds.join(", "))
    }

    /// Everything that concerns the queue of one direction.
    pub fn queue_of(&self, way: Direction) -> impl PartialEq + use<> {
        let buffer = match way {
            Direction::Down => self.queues.buffer.clone(),
            Direction::Up => self.queues.buffer_up.clone().or(self.queues.buffer.clone()),
        };
        (self.aqm_of(way).to_owned(), buffer, self.policy.clone(), self.queues.no_ecn, self.seed)
    }

    /// The scenario whose only link this is.
    pub fn scenario(&self) -> Result<String, Failure> {
        self.scenario_of("bridge", "1 s")
    }

    fn scenario_of(&self, name: &str, duration: &str) -> Result<String, Failure> {
        let rate = match (&self.rate, &self.trace) {
            (Some(rate), _) => quoted(rate),
            (None, Some(trace)) => format!("{{ trace = {} }}", quoted(trace)),
            (None, None) => {
                return Err(Failure::Input("--rate: say how fast the line is, for instance --rate 100mbit".to_owned()));
            }
        };
        let or = |text: &Option<String>, default: &str| quoted(text.as_deref().unwrap_or(default));
        let or_same = |up: &Option<String>, down: &Option<String>, default: &str| {
            quoted(up.as_deref().or(down.as_deref()).unwrap_or(default))
        };
        let queue = self.queue("--aqm", self.aqm_of(Direction::Down))?;
        let queue_up = self.queue("--aqm-up", self.aqm_of(Direction::Up))?;
        let mut text = format!(
            "goodqueue = 1\nname = \"{name}\"\nduration = \"{duration}\"\nseed = {}\n\n[access]\ndelay = \"0 s\"\n\n[link.{LINK}]\n",
            self.seed.unwrap_or(1)
        );
        let mut key = |name: &str, value: &str| {
            let _ = writeln!(text, "{name} = {value}");
        };
        key("rate", &rate);
        if let Some(rate) = &self.rate_up {
            key("rate_up", &quoted(rate));
        }
        key("delay", &or(&self.delay, DEFAULT_DELAY));
        key("delay_up", &or_same(&self.delay_up, &self.delay, DEFAULT_DELAY));
        key("overhead", &or(&self.queues.overhead, "14 B"));
        key("buffer", &or(&self.queues.buffer, "1000 packets"));
        key("buffer_up", &or_same(&self.queues.buffer_up, &self.queues.buffer, "1000 packets"));
        key("queue", &queue);
        key("queue_up", &queue_up);
        // A scenario has traffic: one byte.
        text.push_str("\n[[traffic]]\nkind = \"bulk\"\nsize = \"1 B\"\n");
        Ok(text)
    }

    fn queue(&self, option: &str, text: &str) -> Result<String, Failure> {
        let signal = if self.queues.no_ecn { Signal::Drop } else { Signal::Mark };
        let mut text = text.to_owned();
        if let Some(policy) = &self.policy {
            text.push_str(&policy_parameters(policy)?);
        }
        Comparison::queue_table(&text, signal).map_err(|error| Failure::Input(format!("{option}: {}", error.message)))
    }

    /// Converts the settings to a plan of one run with this duration.
    pub fn plan(&self, duration: &str) -> Result<Plan, Failure> {
        let text = self.scenario_of("line", duration)?;
        Plan::parse("scenario made from the options", &text, Path::new(""))
            .map_err(|error| Failure::Input(error.faults().map(in_options).collect::<Vec<_>>().join("\nerror: ")))
    }

    /// The link, checked.
    pub fn link(&self) -> Result<Link, Failure> {
        let plan = self.plan("1 s")?;
        let point = plan.points()?.into_iter().next();
        let link = point.and_then(|point| point.plan.links.into_iter().next());
        link.ok_or_else(|| Failure::Input("the options describe no line".to_owned()))
    }
}

impl QueueSettings {
    fn over(self, behind: Self) -> Self {
        Self {
            aqm: self.aqm.or(behind.aqm),
            aqm_up: self.aqm_up.or(behind.aqm_up),
            no_ecn: self.no_ecn || behind.no_ecn,
            buffer: self.buffer.or(behind.buffer),
            buffer_up: self.buffer_up.or(behind.buffer_up),
            overhead: self.overhead.or(behind.overhead),
        }
    }
}

/// A fault in the words of the options.
fn in_options(fault: &Fault) -> String {
    const OPTIONS: &[(&str, &str)] = &[
        ("queue_up", "--aqm-up"),
        ("queue", "--aqm"),
        ("rate_up", "--rate-up"),
        ("rate.trace", "--trace"),
        ("rate", "--rate"),
        ("delay_up", "--delay-up"),
        ("delay", "--delay"),
        ("buffer_up", "--buffer-up"),
        ("buffer", "--buffer"),
        ("overhead", "--overhead"),
    ];
    let field = fault.field().strip_prefix(&format!("link.{LINK}.")).unwrap_or(fault.field());
    let option = OPTIONS.iter().find(|(key, _)| field.starts_with(key)).map(|(_, option)| *option);
    let place = option.map_or_else(|| fault.place(), str::to_owned);
    let help = fault.suggestion().map_or_else(String::new, |help| format!("; {help}"));
    format!("{place}: {}{help}", fault.message())
}

/// The bounds of a policy, and the parameters that they stand for.
const BOUNDS: [(&str, &str, &str); 4] = [
    ("utilization", ">=", "u_low"),
    ("utilization", "<=", "u_target"),
    ("delay", "<=", "target_max"),
    ("delay", ">=", "thresh_min"),
];

/// `utilization>=0.99, delay<=30ms` as parameters of a steered queue.
fn policy_parameters(policy: &str) -> Result<String, Failure> {
    let wrong = |part: &str| {
        let allowed = "utilization>=SHARE, utilization<=SHARE, delay<=TIME, delay>=TIME";
        Failure::Input(format!("--policy: `{part}` is no bound: allowed {allowed}"))
    };
    let mut parameters = String::new();
    for part in policy.split(',').map(str::trim) {
        let (name, bound, value) = ["<=", ">="]
            .into_iter()
            .find_map(|bound| part.split_once(bound).map(|(name, value)| (name.trim(), bound, value.trim())))
            .ok_or_else(|| wrong(part))?;
        let known = BOUNDS.iter().find(|(its, way, _)| (*its, *way) == (name, bound));
        let (_, _, parameter) = known.ok_or_else(|| wrong(part))?;
        if name == "delay" {
            quantity::duration(value).map_err(|error| Failure::Input(format!("--policy: {}", error.message())))?;
        }
        let _ = write!(parameters, ":{parameter}={value}");
    }
    Ok(parameters)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn settings() -> LineSettings {
        LineSettings { rate: Some("10mbit".into()), ..LineSettings::default() }
    }

    fn with(aqm: &str) -> LineSettings {
        LineSettings { queues: QueueSettings { aqm: Some(aqm.into()), ..QueueSettings::default() }, ..settings() }
    }

    fn message(settings: &LineSettings) -> String {
        match settings.link() {
            Err(Failure::Input(message)) => message,
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn the_other_direction_is_the_same_unless_told() {
        let link = settings().link().unwrap();
        assert_eq!(link.down.nominal_rate(), link.up.nominal_rate());
        let other = LineSettings {
            rate_up: Some("2mbit".into()),
            queues: QueueSettings { aqm_up: Some("pie".into()), ..QueueSettings::default() },
            ..settings()
        };
        let link = other.link().unwrap();
        assert_eq!(link.up.nominal_rate(), goodqueue_base::units::Rate::mbit(2));
        assert_eq!(
            (goodqueue_guests::backends::live::name(&link.down), goodqueue_guests::backends::live::name(&link.up)),
            ("fq-codel".to_owned(), "pie".to_owned())
        );
    }

    #[test]
    fn a_policy_becomes_parameters() {
        assert_eq!(policy_parameters("utilization>=0.99, delay<=30ms").unwrap(), ":u_low=0.99:target_max=30ms");
        assert!(policy_parameters("speed>=1").is_err());
        let steered = LineSettings { policy: Some("delay <= 10ms".into()), ..with("gsp-as") };
        let queue = steered.link().unwrap().down.queue.unwrap();
        assert_eq!(queue.chosen.params.len(), 1);
    }

    #[test]
    fn new_policy_replaces_the_earlier_one_in_one_direction() {
        let mut steered = LineSettings { policy: Some("delay<=10ms".into()), ..with("gsp-as:interval=50ms") };
        steered.hold_to(Direction::Down, "utilization>=0.95, delay<=40ms").unwrap();
        assert_eq!(steered.queues.aqm.as_deref(), Some("gsp-as:interval=50ms:u_low=0.95:target_max=40ms"));
        assert_eq!(steered.queues.aqm_up.as_deref(), Some("gsp-as:interval=50ms:target_max=10ms"));
        steered.hold_to(Direction::Down, "delay<=20ms").unwrap();
        assert_eq!(steered.queues.aqm.as_deref(), Some("gsp-as:interval=50ms:target_max=20ms"));
        assert_eq!(steered.policy_of(Direction::Down).as_deref(), Some("delay<=20ms"));
        assert_eq!(
            (steered.aqm_of(Direction::Up), steered.policy_of(Direction::Up).as_deref()),
            ("gsp-as:interval=50ms:target_max=10ms", Some("delay<=10ms"))
        );
        assert!(steered.hold_to(Direction::Up, "speed>=1").is_err());
    }

    #[test]
    fn options_are_those_that_were_given() {
        let mut settings = LineSettings { seed: Some(3), delay_up: Some("1 ms".into()), ..with("pie") };
        assert_eq!(settings.options(), ["--aqm=pie", "--delay-up=1 ms", "--rate=10mbit", "--seed=3"]);
        settings.queues.no_ecn = true;
        assert!(settings.options().contains(&"--no-ecn".to_owned()));
    }

    #[test]
    fn mistakes_are_told_in_the_words_of_the_options() {
        let text = message(&LineSettings { rate: Some("fast".into()), ..settings() });
        assert!(text.starts_with("--rate: "), "{text}");
        let text = message(&with("codel:target=1year"));
        assert!(text.starts_with("--aqm: "), "{text}");
        let text = message(&LineSettings {
            queues: QueueSettings { buffer_up: Some("0packets".into()), ..QueueSettings::default() },
            ..settings()
        });
        assert!(text.starts_with("--buffer-up: "), "{text}");
        let text = message(&LineSettings { policy: Some("delay<=5ms".into()), ..settings() });
        assert!(text.starts_with("--aqm: "), "{text}");
        assert!(message(&LineSettings::default()).starts_with("--rate: "));
    }
}
