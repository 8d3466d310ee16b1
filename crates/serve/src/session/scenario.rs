//! From what a page asks for to variants of a scenario, each ready to run.

use crate::session::error::ApiError;
use crate::session::limits::Limits;
use crate::session::memory::{CONNECTION_BYTES, WORLD_BYTES};
use goodqueue_aqm::Limit;
use goodqueue_base::units::{Bytes, Packets, Rate};
use goodqueue_lab::scenario::files::Recordings;
use goodqueue_lab::scenario::lint::{self, Warning};
use goodqueue_lab::scenario::plan::{Direction, LinkDirection, Part, Plan, Point, Queue};
use goodqueue_sim::{RateSpec, SessionSpec, SourceSpec};
use serde::Deserialize;
use serde_json::{Value, json};
use std::sync::Arc;
use toml::Table;

/// A session that a page asks for.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct NewSession {
    /// The scenario, as a file has it.
    pub scenario_toml: String,
    /// Queues to compare; the scenario's own when there are none.
    #[serde(default)]
    pub variants: Vec<VariantRequest>,
    /// The link that gets the variants' queues.
    pub link: Option<String>,
    /// The seed; the scenario's own unless given.
    pub seed: Option<u64>,
    /// Simulated seconds per second; none: as fast as it goes.
    pub speed: Option<f64>,
    /// Whether it waits for an order to play.
    #[serde(default)]
    pub paused: bool,
    /// The host it runs on; the simulator unless given.
    pub on: Option<String>,
}

/// One queue to compare.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct VariantRequest {
    /// Name shown for the queue.
    pub label: String,
    /// A name, or a table as in a scenario.
    pub queue: Value,
}

/// Up to four queues on one line.
#[derive(Clone, Debug)]
pub struct Scenario {
    /// The scenario as it was sent, with seed and a single replication.
    base: Table,
    /// The link whose queues are compared.
    pub link: String,
    /// One per queue.
    pub variants: Vec<Variant>,
    recordings: Arc<Recordings>,
}

/// One of them.
#[derive(Clone, Debug)]
pub struct Variant {
    /// Name shown for the queue.
    pub label: String,
    /// Settings of the queue as a file has them; changes go in here.
    queue: toml::Value,
    /// Point of the scenario with this queue.
    pub point: Point,
}

const MAX_VARIANTS: usize = 4;
const MAX_LABEL: usize = 80;
/// File name that stands for the scenario in messages.
pub const NAME: &str = "scenario.toml";

impl Scenario {
    /// Reads and checks everything.
    ///
    /// # Errors
    /// The first fault of the scenario or a variant, or what exceeds `limits`.
    pub fn new(request: &NewSession, recordings: Arc<Recordings>, limits: &Limits) -> Result<Self, ApiError> {
        let plan = Plan::parse_with_recordings(NAME, &request.scenario_toml, recordings.clone())?;
        if plan.swept().next().is_some() {
            return Err(ApiError::unprocessable("a session runs one point: take [sweep] out and name the variants")
                .with("field", "sweep"));
        }
        let first = plan.point(0)?;
        let link = match &request.link {
            Some(name) => name.clone(),
            None => main_link(&first).to_owned(),
        };
        if !first.plan.links.iter().any(|known| known.name == link) {
            let message = format!("`{link}` is not a link of the scenario: allowed {}", links(&first).join(", "));
            return Err(ApiError::field("link", message));
        }
        // It has just been read as TOML.
        let mut base: Table = request.scenario_toml.parse().map_err(|error| ApiError::unprocessable(format!("{error}")))?;
        base.insert("replications".into(), toml::Value::Integer(1));
        let seed = request.seed.unwrap_or_else(|| plan.seed());
        let seed = i64::try_from(seed)
            .map_err(|_| ApiError::field("seed", format!("`{seed}` is out of range: allowed 0 to {}", i64::MAX)))?;
        base.insert("seed".into(), toml::Value::Integer(seed));
        let mut scenario = Self { base, link, variants: Vec::new(), recordings };
        let present = scenario.present_queue().unwrap_or_else(|| toml::Value::String("tail-drop".into()));
        let given: Vec<(String, toml::Value)> = match request.variants.as_slice() {
            [] => vec![(first_label(&present), present)],
            some if some.len() <= MAX_VARIANTS => some.iter().map(read_variant).collect::<Result<_, _>>()?,
            many => {
                return Err(ApiError::field("variants", format!("there are {}: allowed 1 to {MAX_VARIANTS}", many.len())));
            }
        };
        for (label, queue) in given {
            let point = scenario.point(&queue)?;
            check_limits(&point, limits)?;
            scenario.variants.push(Variant { label, queue, point });
        }
        // One alone is no sweep.
        if let [only] = scenario.variants.as_mut_slice() {
            only.point.set.clear();
        }
        Ok(scenario)
    }

    /// The queue that the scenario itself has at the link.
    fn present_queue(&self) -> Option<toml::Value> {
        self.base.get("link")?.get(&self.link)?.get("queue").cloned()
    }

    /// The settings with this queue at the link.
    fn point(&self, queue: &toml::Value) -> Result<Point, ApiError> {
        let plan = Plan::parse_with_recordings(NAME, &self.text_with(queue)?, self.recordings.clone())?;
        let mut point = plan.point(0)?;
        let value = serde_json::to_value(queue).unwrap_or(Value::Null);
        point.set = vec![(format!("link.{}.queue", self.link), value)];
        Ok(point)
    }

    fn text_with(&self, queue: &toml::Value) -> Result<String, ApiError> {
        let mut table = self.base.clone();
        if let Some(link) = table.get_mut("link").and_then(|links| links.get_mut(&self.link)).and_then(toml::Value::as_table_mut)
        {
            link.insert("queue".into(), queue.clone());
        }
        print(&table)
    }

    /// The scenario of one variant, or of all of them as a sweep.
    ///
    /// # Errors
    /// There is no such variant.
    pub fn text(&self, variant: Option<usize>) -> Result<String, ApiError> {
        match variant {
            Some(number) => {
                let missing =
                    || ApiError::not_found(format!("there is no variant {number}: allowed 0 to {}", self.variants.len() - 1));
                self.text_with(&self.variants.get(number).ok_or_else(missing)?.queue)
            }
            None if self.variants.len() == 1 => self.text_with(&self.variants[0].queue),
            None => {
                let mut table = self.base.clone();
                let queues = self.variants.iter().map(|variant| variant.queue.clone()).collect();
                let sweep = Table::from_iter([(format!("link.{}.queue", self.link), toml::Value::Array(queues))]);
                table.insert("sweep".into(), toml::Value::Table(sweep));
                print(&table)
            }
        }
    }

    /// Kind of group number `group`, by its name in files.
    pub fn traffic_kind(&self, group: usize) -> &str {
        let groups = self.base.get("traffic").and_then(toml::Value::as_array);
        groups.and_then(|groups| groups.get(group)?.get("kind")?.as_str()).unwrap_or_default()
    }

    /// The whole as a plan, and its text.
    ///
    /// # Errors
    /// It cannot be put together again, which no scenario that was accepted has shown.
    pub fn plan(&self) -> Result<(Plan, String), ApiError> {
        let text = self.text(None)?;
        Ok((Plan::parse_with_recordings(NAME, &text, self.recordings.clone())?, text))
    }

    /// Sets a parameter of a variant's queue; gives the queue that comes of it.
    ///
    /// # Errors
    /// There is no such parameter, or it cannot have the value.
    pub fn set(&mut self, variant: usize, key: &str, value: &Value, limits: &Limits) -> Result<Queue, ApiError> {
        let mut queue = self.variants[variant].queue.clone();
        let no_place = || wrong_value(key);
        let value = toml::Value::try_from(value).map_err(|_| wrong_value(key))?;
        // A dotted key reaches a queue within another: `of.target`.
        let (within, last) = key.rsplit_once('.').map_or((None, key), |(within, last)| (Some(within), last));
        let mut table = as_table(&mut queue).ok_or_else(no_place)?;
        for part in within.into_iter().flat_map(|within| within.split('.')) {
            table = table.get_mut(part).and_then(as_table).ok_or_else(no_place)?;
        }
        table.insert(last.to_owned(), value);
        let mut point = self.point(&queue)?;
        check_limits(&point, limits)?;
        if self.variants.len() == 1 {
            point.set.clear();
        }
        let found = queue_at(&point, &self.link).ok_or_else(no_place)?.clone();
        self.variants[variant].queue = queue;
        self.variants[variant].point = point;
        Ok(found)
    }
}

/// The table of a queue; a name alone becomes one.
fn as_table(queue: &mut toml::Value) -> Option<&mut Table> {
    if let toml::Value::String(kind) = queue {
        let kind = toml::Value::String(std::mem::take(kind));
        *queue = toml::Value::Table(Table::from_iter([("kind".to_owned(), kind)]));
    }
    queue.as_table_mut()
}

fn wrong_value(key: &str) -> ApiError {
    ApiError::unprocessable(format!("`{key}` cannot be set to that")).with("field", key)
}

fn print(table: &Table) -> Result<String, ApiError> {
    toml::to_string(table).map_err(|error| ApiError::unprocessable(format!("the scenario cannot be written: {error}")))
}

fn first_label(queue: &toml::Value) -> String {
    queue.as_str().or_else(|| queue.get("kind")?.as_str()).unwrap_or("queue").to_owned()
}

fn read_variant(given: &VariantRequest) -> Result<(String, toml::Value), ApiError> {
    let is_shown = !given.label.trim().is_empty() && !given.label.chars().any(char::is_control);
    if !is_shown || given.label.chars().count() > MAX_LABEL {
        return Err(ApiError::field("label", format!("allowed 1 to {MAX_LABEL} characters that can be seen")));
    }
    let fits = given.queue.is_string() || given.queue.is_object();
    let queue = toml::Value::try_from(&given.queue).ok().filter(|_| fits);
    let wrong = || ApiError::field("queue", "is not a name like \"codel\" or a table like { \"kind\": \"codel\" }");
    Ok((given.label.clone(), queue.ok_or_else(wrong)?))
}

/// Returns the queue at a link.
pub fn queue_at<'a>(point: &'a Point, link: &str) -> Option<&'a Queue> {
    point.plan.links.iter().find(|known| known.name == link)?.down.queue.as_ref()
}

/// The first link with a buffer.
fn main_link(point: &Point) -> &str {
    let with_queue = point.plan.links.iter().find(|link| link.down.queue.is_some());
    &with_queue.unwrap_or_else(|| point.plan.main_link()).name
}

fn links(point: &Point) -> Vec<String> {
    point.plan.links.iter().map(|link| link.name.clone()).collect()
}

/// Checks a scenario by lint and against the limits; of a sweep, its first points, as many as a
/// session has variants.
///
/// # Errors
/// The first fault, or what exceeds `limits`.
pub fn check(text: &str, recordings: Arc<Recordings>, limits: &Limits) -> Result<Value, ApiError> {
    let plan = Plan::parse_with_recordings(NAME, text, recordings)?;
    // Each warning with the points it is true of.
    let mut found: Vec<(Warning, Vec<usize>)> = Vec::new();
    let mut point = plan.point(0)?;
    for number in 0..plan.point_count().clamp(1, MAX_VARIANTS) {
        if number > 0 {
            point = plan.point(number)?;
        }
        check_limits(&point, limits)?;
        for warning in warnings(&point) {
            match found.iter_mut().find(|(known, _)| *known == warning) {
                Some((_, points)) => points.push(number),
                None => found.push((warning, vec![number])),
            }
        }
    }
    let warnings: Vec<Value> = found
        .iter()
        .map(|(Warning { field, message, help }, points)| {
            json!({ "field": field, "message": message, "help": help, "points": points })
        })
        .collect();
    let groups: Vec<&str> = point.plan.traffic.iter().map(|group| group.name.as_str()).collect();
    Ok(json!({ "warnings": warnings, "links": links(&point), "groups": groups }))
}

/// Warnings about settings that are probably not meant. Those on replications are left out: a
/// session has one, whatever the scenario has.
pub(crate) fn warnings(point: &Point) -> Vec<Warning> {
    lint::warnings(point).into_iter().filter(|warning| warning.field != "replications").collect()
}

/// Refuses a scenario that is too large for a server.
fn check_limits(point: &Point, limits: &Limits) -> Result<(), ApiError> {
    let plan = &point.plan;
    let seconds = plan.end().as_secs_f64();
    if seconds > limits.seconds {
        let message = format!("{seconds} s with the warm-up are too many here: allowed up to {} s", limits.seconds);
        return Err(ApiError::field("duration", message));
    }
    let flows: u64 = plan.traffic.iter().map(|group| u64::from(group.flows) * group.parts().count() as u64).sum();
    if flows > u64::from(limits.flows) {
        return Err(ApiError::field("traffic", format!("{flows} flows are too many here: allowed up to {}", limits.flows)));
    }
    let most = limits.buffer_bytes;
    for (link, heading) in plan.links.iter().flat_map(|link| Direction::ALL.map(|heading| (link, heading))) {
        let direction = link.direction(heading);
        let under_way = highest_rate(direction).as_bit_s() as f64 / 8.0 * plan.base_rtt().as_secs_f64();
        let excess = match &direction.queue {
            Some(queue) if largest(queue.limit, link.mtu) > most => "its buffer is too large",
            Some(queue) if queue_bytes(queue) > most => "its queues of flows need too much memory",
            _ if under_way > most as f64 => "rate times round-trip time is too much",
            _ => continue,
        };
        let field = format!("link.{}", link.name_of(heading));
        return Err(ApiError::field(&field, format!("{excess} here: allowed up to {most} bytes")));
    }
    Ok(())
}

/// The highest rate a direction ever has; of a recording, its mean.
fn highest_rate(direction: &LinkDirection) -> Rate {
    match &direction.rate {
        RateSpec::Steps(steps) => steps.iter().map(|step| step.1).max().unwrap_or(Rate::ZERO),
        RateSpec::Constant(_) | RateSpec::Recorded(_) => direction.nominal_rate(),
    }
}

/// Memory that a world takes when it begins.
pub fn state_bytes(point: &Point) -> u64 {
    let queues = point.plan.links.iter().flat_map(|link| Direction::ALL.map(|heading| link.direction(heading)));
    WORLD_BYTES
        + connections(point) * CONNECTION_BYTES
        + queues.filter_map(|direction| direction.queue.as_ref()).map(queue_bytes).sum::<u64>()
}

/// Connections that programs open at once, which a world may have as soon as it begins.
pub fn connections(point: &Point) -> u64 {
    let at_once = |part: &Part| match &part.source {
        SourceSpec::Session { model: SessionSpec::Page(page), .. } => u64::from(page.connections),
        SourceSpec::Session { model: SessionSpec::Short { connections, .. }, .. } => u64::from(*connections),
        _ => 0,
    };
    let groups = point.plan.traffic.iter();
    groups.map(|group| u64::from(group.flows) * group.parts().map(at_once).sum::<u64>()).sum()
}

/// Memory that a queue takes before it holds anything.
fn queue_bytes(queue: &Queue) -> u64 {
    queue.chosen.state_bytes().get()
}

fn largest(limit: Limit, mtu: Bytes) -> u64 {
    if limit.packets == Packets::MAX {
        limit.bytes.get()
    } else {
        limit.bytes.get().min(limit.packets.get().saturating_mul(mtu.get()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use http::StatusCode;

    fn request(variants: Value) -> NewSession {
        let text = include_str!("../../presets/uplink.toml");
        serde_json::from_value(json!({ "scenario_toml": text, "variants": variants, "seed": 7, "speed": 1.0 })).unwrap()
    }

    fn two() -> Scenario {
        let variants = json!([
            { "label": "tail drop", "queue": { "kind": "tail-drop" } },
            { "label": "CoDel", "queue": { "kind": "codel", "target": "5 ms" } },
        ]);
        Scenario::new(&request(variants), Arc::default(), &Limits::default()).expect("good variants")
    }

    /// A variant of eight queues within one.
    fn nested(kind: &str, settings: Value) -> Value {
        let mut of = settings;
        of["kind"] = json!(kind);
        json!({ "label": kind, "queue": { "kind": "priority", "bands": 8, "of": of } })
    }

    #[test]
    fn connections_that_begin_at_once_count_before_they_begin() {
        let text = "goodqueue = 1\nduration = \"9 s\"\n[link.a]\nrate = \"50 Mbit/s\"\ndelay = \"9 ms\"\nbuffer = \"1 bdp\"\n\
                    [[traffic]]\nkind = \"page\"\nflows = 200\nconnections = 1000\n";
        let asked = NewSession { scenario_toml: text.to_owned(), ..request(json!([])) };
        let scenario = Scenario::new(&asked, Arc::default(), &Limits::default()).expect("few flows");
        let needed = state_bytes(&scenario.variants[0].point);
        assert!(needed > 200 * 1000 * CONNECTION_BYTES && needed > Limits::default().session_bytes, "{needed}");
    }

    #[test]
    fn each_variant_is_a_scenario_of_its_own_and_all_are_a_sweep() {
        let scenario = two();
        assert_eq!(scenario.link, "bottleneck");
        let one = Plan::parse_without_files("one", &scenario.text(Some(1)).unwrap()).expect("a scenario");
        assert_eq!((one.seed(), one.replications(), one.point_count()), (7, 1, 1));
        let queue = one.point(0).unwrap().plan.main_link().down.queue.clone().expect("a queue");
        assert_eq!(queue.chosen.kind.kind, "codel");
        assert_eq!(scenario.plan().unwrap().0.point_count(), 2);
        assert_eq!(scenario.text(Some(2)).unwrap_err().status, StatusCode::NOT_FOUND);
    }

    #[test]
    fn a_parameter_is_set_as_in_a_file_and_checked() {
        let mut scenario = two();
        let queue = scenario.set(1, "target", &json!("20 ms"), &Limits::default()).expect("a good value");
        assert!(queue.chosen.params.iter().any(|(name, _)| *name == "target"));
        assert!(scenario.text(Some(1)).unwrap().contains("20 ms"));
        for (key, value) in
            [("target", json!("1 year")), ("targe", json!("5 ms")), ("target", json!(null)), ("of.target", json!(1))]
        {
            let refused = scenario.set(1, key, &value, &Limits::default()).expect_err("refused");
            assert_eq!(refused.status, StatusCode::UNPROCESSABLE_ENTITY, "{key}");
        }
        assert!(scenario.text(Some(1)).unwrap().contains("20 ms"), "what was refused changed nothing");
    }

    #[test]
    fn a_check_names_the_points_that_a_warning_is_true_of() {
        let text = include_str!("../../presets/uplink.toml");
        let sweep = "\n[sweep]\n\"link.bottleneck.queue\" = [\"codel\", { kind = \"codel\", ecn = true }]\n";
        let checked = check(&format!("{text}{sweep}"), Arc::default(), &Limits::default()).expect("a good scenario");
        let of_ecn: Vec<&Value> = checked["warnings"]
            .as_array()
            .unwrap()
            .iter()
            .filter(|warning| warning["field"] == "link.bottleneck.queue.ecn")
            .collect();
        assert_eq!(of_ecn.len(), 1, "{checked}");
        assert_eq!(of_ecn[0]["points"], json!([1]));
    }

    #[test]
    fn what_is_too_large_or_wrong_is_refused_with_its_field() {
        let limits = Limits { flows: 10, ..Limits::default() };
        let error = Scenario::new(&request(json!([])), Arc::default(), &limits).unwrap_err();
        assert!(error.message().contains("16 flows are too many here"), "{}", error.message());
        let mut long = request(json!([]));
        long.scenario_toml = long.scenario_toml.replace("55 s", "100000 s");
        assert!(Scenario::new(&long, Arc::default(), &Limits::default()).unwrap_err().message().contains("too many here"));
        let wrong = request(json!([{ "label": "x", "queue": { "kind": "codle" } }]));
        assert!(
            Scenario::new(&wrong, Arc::default(), &Limits::default()).unwrap_err().message().contains("did you mean `codel`")
        );
        let all = json!([
            nested("cake", json!({ "flows": 32768, "tins": "diffserv8" })),
            nested("fair", json!({ "flows": 8192, "of": "sfb" }))
        ]);
        for variant in all.as_array().into_iter().flatten() {
            let error = Scenario::new(&request(json!([variant])), Arc::default(), &Limits::default()).unwrap_err();
            assert!(error.message().contains("its queues of flows need too much memory here"), "{}", error.message());
            let of = &variant["queue"]["of"];
            let mut bands = Scenario::new(
                &request(json!([{ "label": "x", "queue": { "kind": "priority", "bands": 8 } }])),
                Arc::default(),
                &Limits::default(),
            )
            .unwrap();
            let error = bands.set(0, "of", of, &Limits::default()).unwrap_err();
            assert!(error.message().contains("its queues of flows need too much memory here"), "{}", error.message());
        }
        for label in ["", "  ", "a\0", "\u{1b}[2J", &"x".repeat(81)] {
            let error =
                Scenario::new(&request(json!([{ "label": label, "queue": "codel" }])), Arc::default(), &Limits::default());
            assert!(error.unwrap_err().message().contains("allowed 1 to 80 characters that can be seen"), "{label:?}");
        }
        let beyond_all = json!([nested("fair", json!({ "flows": 65536, "of": "sfb" }))]);
        let error = Scenario::new(&request(beyond_all), Arc::default(), &Limits::default()).unwrap_err();
        assert!(error.message().contains("too much for queues that hold nothing yet: allowed up to"), "{}", error.message());
        let mut trace = request(json!([]));
        trace.scenario_toml = trace.scenario_toml.replace("\"10 Mbit/s\"", "{ trace = \"/etc/passwd\" }");
        assert!(
            Scenario::new(&trace, Arc::default(), &Limits::default()).unwrap_err().message().contains("files may not be read")
        );
    }
}
