//! Talking to a running bridge: a socket for its owner, and metrics for a collector.
//!
//! The socket takes one command a line and answers each with one line of JSON: `stats`,
//! `rate down 20mbit`, `delay up 5ms`, `aqm down codel:target=10ms`,
//! `policy down utilization>=0.99, delay<=30ms`. Changes lose no packet that waits.

use super::settings::{DEFAULT_AQM, DEFAULT_DELAY, LineSettings};
use super::{Failure, Shown, Totals, show};
use crate::lock::locked;
use goodqueue_aqm::Rng;
use goodqueue_aqm::spec::ParamError;
use goodqueue_base::units::{Duration, Rate};
use goodqueue_guests::backends::live;
use goodqueue_live::forwarder::Direction;
use goodqueue_live::monitor::Command;
use serde_json::{Value, json};
use std::io::{self, BufRead, BufReader, Read, Write};
use std::net::TcpListener;
use std::os::unix::fs::{FileTypeExt, PermissionsExt};
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::{Path, PathBuf};
use std::sync::mpsc::{SyncSender, sync_channel};
use std::sync::{Arc, Mutex};
use std::time::Duration as Wall;

/// State that clients of the control socket see and change.
pub struct ControlState {
    /// Facts shown about the line, as it is now.
    pub shown: Mutex<Shown>,
    /// The latest figures.
    pub totals: Mutex<Totals>,
    /// Settings asked for at the start, with all changes.
    pub settings: Mutex<LineSettings>,
    /// To the thread that moves packets.
    pub commands: SyncSender<Command>,
}

/// A longer line is no command.
const MAX_LINE: u64 = 4096;
/// Time after which a silent client is disconnected.
const PATIENCE: Wall = Wall::from_secs(10);

/// The socket's file, removed at the end.
pub struct SocketFile(PathBuf);

impl Drop for SocketFile {
    fn drop(&mut self) {
        // It may be gone already.
        let _ = std::fs::remove_file(&self.0);
    }
}

/// Opens the control socket, for its owner only. One that a killed bridge has left behind is
/// replaced.
pub fn open_socket(path: &Path) -> Result<(UnixListener, SocketFile), Failure> {
    let wrong = |what: &dyn std::fmt::Display| Failure::Input(format!("--control {}: {what}", path.display()));
    if let Ok(facts) = std::fs::symlink_metadata(path) {
        if !facts.file_type().is_socket() {
            return Err(wrong(&"exists and is no socket"));
        }
        if UnixStream::connect(path).is_ok() {
            return Err(wrong(&"belongs to a bridge that runs"));
        }
        std::fs::remove_file(path).map_err(|error| wrong(&error))?;
    }
    let listener = UnixListener::bind(path).map_err(|error| wrong(&error))?;
    let file = SocketFile(path.to_owned());
    std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o600)).map_err(|error| wrong(&error))?;
    Ok((listener, file))
}

/// Opens the port for metrics.
pub fn open_metrics(address: &str) -> Result<TcpListener, Failure> {
    TcpListener::bind(address).map_err(Failure::of(format!("--metrics {address}")))
}

/// Clients of the control socket that are heard at once.
const MAX_CLIENTS: usize = 16;

/// Answers on the control socket until the program ends: each client in a thread of its own, so
/// that one which keeps silent keeps no other waiting, and one command after the other.
pub fn serve(listener: UnixListener, state: Arc<ControlState>) -> Result<(), Failure> {
    // Each client holds a copy for as long as it is heard.
    let turn = Arc::new(Mutex::new(()));
    thread("control", move || {
        for stream in listener.incoming().flatten() {
            if Arc::strong_count(&turn) > MAX_CLIENTS {
                let busy = json!({ "error": format!("{MAX_CLIENTS} clients are connected: allowed {MAX_CLIENTS} at once") });
                let _ = writeln!(&stream, "{busy}");
                continue;
            }
            let (state, turn) = (Arc::clone(&state), Arc::clone(&turn));
            // A client that breaks off has had enough, and so has one for which there is no thread.
            let _ = thread("client", move || {
                let _ = talk(&stream, &state, &turn);
            });
        }
    })
}

/// Answers requests for metrics, one after the other, until the program ends.
pub fn serve_metrics(listener: TcpListener, state: Arc<ControlState>) -> Result<(), Failure> {
    thread("metrics", move || {
        for mut stream in listener.incoming().flatten() {
            let text = show::metrics(&locked(&state.shown), &locked(&state.totals));
            let mut answer = || -> io::Result<()> {
                stream.set_read_timeout(Some(PATIENCE))?;
                stream.set_write_timeout(Some(PATIENCE))?;
                let mut line = String::new();
                BufReader::new(&stream).take(MAX_LINE).read_line(&mut line)?;
                let (status, body) = match line.split_whitespace().collect::<Vec<_>>()[..] {
                    ["GET", "/metrics", ..] => ("200 OK", text.as_str()),
                    _ => ("404 Not Found", "the metrics are at /metrics\n"),
                };
                let kind = "application/openmetrics-text; version=1.0.0; charset=utf-8";
                write!(stream, "HTTP/1.1 {status}\r\nContent-Type: {kind}\r\nContent-Length: {}\r\n", body.len())?;
                write!(stream, "Connection: close\r\n\r\n{body}")
            };
            let _ = answer();
        }
    })
}

fn thread(name: &str, body: impl FnOnce() + Send + 'static) -> Result<(), Failure> {
    let started = std::thread::Builder::new().name(name.to_owned()).spawn(body);
    started.map(|_| ()).map_err(|error| Failure::Run(format!("no thread can be started: {error}")))
}

fn talk(stream: &UnixStream, state: &ControlState, turn: &Mutex<()>) -> io::Result<()> {
    stream.set_read_timeout(Some(PATIENCE))?;
    stream.set_write_timeout(Some(PATIENCE))?;
    let mut input = BufReader::new(stream);
    loop {
        let mut line = String::new();
        if input.by_ref().take(MAX_LINE).read_line(&mut line)? == 0 {
            return Ok(());
        }
        let answer = {
            let _turn = locked(turn);
            answer(&line, state)
        };
        writeln!(&mut &*stream, "{answer}")?;
    }
}

/// Both directions, with the settings that can be changed in the words that change them.
fn stats(state: &ControlState) -> Value {
    let mut qdiscs = show::qdiscs(&locked(&state.shown), &locked(&state.totals));
    let settings = locked(&state.settings);
    for (number, way) in [Direction::Down, Direction::Up].into_iter().enumerate() {
        qdiscs[number]["options"]["aqm"] = json!(settings.aqm_of(way));
        qdiscs[number]["options"]["policy"] = json!(settings.policy_of(way));
    }
    qdiscs
}

/// Why a command is not carried out.
#[derive(Debug, thiserror::Error)]
pub enum Refusal {
    /// The line is none of the commands.
    #[error("allowed: stats; rate, delay, aqm or policy with down or up and a value")]
    NoCommand,
    /// Settings that a line cannot have.
    #[error("{0}")]
    Settings(Failure),
    /// A policy for a queue that cannot be held to one.
    #[error("policy: for steered queues (gsp-as, codel-as, pie-as) only: {0}")]
    NotSteered(Failure),
    /// A queue that cannot be made.
    #[error(transparent)]
    Queue(ParamError),
    /// Nobody takes commands any more.
    #[error("the bridge has ended")]
    Ended,
}

fn answer(line: &str, state: &ControlState) -> Value {
    handle_command(line.trim(), state).unwrap_or_else(|refusal| json!({ "error": refusal.to_string() }))
}

/// Carries out one command.
pub fn handle_command(line: &str, state: &ControlState) -> Result<Value, Refusal> {
    let words: Vec<&str> = line.split_whitespace().collect();
    let (what, way, value) = match words[..] {
        ["stats"] => return Ok(stats(state)),
        [what @ ("rate" | "delay" | "aqm"), way, value] => (what, way, value.to_owned()),
        // Bounds may be written with spaces.
        ["policy", way, ref bounds @ ..] if !bounds.is_empty() => ("policy", way, bounds.concat()),
        _ => return Err(Refusal::NoCommand),
    };
    let way = Direction::named(way).ok_or(Refusal::NoCommand)?;
    let down = way == Direction::Down;
    let mut changed = locked(&state.settings).clone();
    match what {
        "rate" => {
            set(way, value, &mut changed.rate, &mut changed.rate_up, None);
            changed.trace = changed.trace.filter(|_| !down);
        }
        "delay" => set(way, value, &mut changed.delay, &mut changed.delay_up, Some(DEFAULT_DELAY)),
        "policy" => changed.hold_to(way, &value).map_err(Refusal::Settings)?,
        _ => set(way, value, &mut changed.queues.aqm, &mut changed.queues.aqm_up, Some(DEFAULT_AQM)),
    }
    let link = changed.link().map_err(|failure| match what {
        "policy" => Refusal::NotSteered(failure),
        _ => Refusal::Settings(failure),
    })?;
    let direction = if down { &link.down } else { &link.up };
    let command = match what {
        "rate" => Command::Rate(way, direction.nominal_rate()),
        "delay" => Command::Delay(way, direction.delay),
        _ => {
            let queue = live::queue(&link, direction, Rng::new(changed.queue_seed(way)));
            Command::Queue(way, Box::new(queue.map_err(Refusal::Queue)?))
        }
    };
    let (rate, delay): (Rate, Duration) = (direction.nominal_rate(), direction.delay);
    let answer = json!({
        "aqm": live::name(direction), "rate": rate.as_bit_s(), "delay_us": delay.as_nanos() / 1000,
        "direction": way.name(),
    });
    state.commands.send(command).map_err(|_| Refusal::Ended)?;
    locked(&state.shown).link = link;
    *locked(&state.settings) = changed;
    Ok(answer)
}

/// Answers to the orders in `text`, one a line, on a line that no packets pass.
pub fn try_orders(text: &str) -> Vec<Value> {
    // As many wait as there are.
    let (commands, _orders) = sync_channel(text.lines().count());
    let Some(state) = ControlState::of_no_bridge(commands) else { return Vec::new() };
    text.lines().map(|line| answer(line, &state)).collect()
}

impl ControlState {
    /// The state at the start of a bridge of 10 Mbit/s, without the bridge.
    fn of_no_bridge(commands: SyncSender<Command>) -> Option<Self> {
        let settings = LineSettings { rate: Some("10mbit".into()), ..LineSettings::default() };
        let link = settings.link().ok()?;
        let shown = Shown { interfaces: ["a".into(), "b".into()], granted: Default::default(), link, json: false };
        let totals = Mutex::new(Totals::default());
        Some(Self { shown: Mutex::new(shown), totals, settings: Mutex::new(settings), commands })
    }
}

/// Sets the value of one direction. That of the other stays, even if it had it only because this
/// one had it.
fn set(way: Direction, value: String, down: &mut Option<String>, up: &mut Option<String>, default: Option<&str>) {
    match way {
        Direction::Up => *up = Some(value),
        Direction::Down => {
            let before = down.replace(value).or(default.map(str::to_owned));
            *up = up.take().or(before);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::mpsc::Receiver;

    fn state() -> (ControlState, Receiver<Command>) {
        let (commands, orders) = sync_channel(4);
        (ControlState::of_no_bridge(commands).expect("good settings"), orders)
    }

    #[test]
    fn rates_are_bounded_as_those_of_a_scenario() {
        let said = |line: &str| try_orders(line)[0]["error"].as_str().unwrap_or_default().to_owned();
        for line in ["rate down -1mbit", "rate down 0mbit", "rate up 1e30mbit"] {
            assert!(said(line).contains("is out of range: allowed 1 bit/s to 10000 Gbit/s"), "{}", said(line));
        }
        assert!(said("aqm down priority:bands=8:of=fair").contains("of"), "{}", said("aqm down priority:bands=8:of=fair"));
    }

    #[test]
    fn a_change_concerns_one_direction() {
        let (state, orders) = state();
        let answer = handle_command("rate down 20mbit", &state).unwrap();
        assert_eq!((&answer["rate"], &answer["direction"]), (&json!(20_000_000), &json!("down")));
        assert!(matches!(orders.try_recv(), Ok(Command::Rate(Direction::Down, rate)) if rate == Rate::mbit(20)));
        assert_eq!(locked(&state.settings).rate_up.as_deref(), Some("10mbit"), "the way back stays as it was");
        handle_command("aqm down codel", &state).unwrap();
        assert!(matches!(orders.try_recv(), Ok(Command::Queue(Direction::Down, _))));
        assert_eq!(live::name(&locked(&state.shown).link.up), "fq-codel", "what is there by default stays, too");
        handle_command("delay down 5ms", &state).unwrap();
        assert!(matches!(orders.try_recv(), Ok(Command::Delay(Direction::Down, _))));
        assert_eq!(locked(&state.shown).link.up.delay, Duration::ZERO);
        handle_command("aqm up pie:target=20ms", &state).unwrap();
        assert!(matches!(orders.try_recv(), Ok(Command::Queue(Direction::Up, _))));
        assert_eq!(live::name(&locked(&state.shown).link.up), "pie");
    }

    #[test]
    fn a_policy_is_for_steered_queues() {
        let (state, orders) = state();
        assert!(handle_command("policy down delay<=20ms", &state).is_err_and(|refusal| refusal.to_string().contains("steered")));
        handle_command("aqm down gsp-as", &state).unwrap();
        handle_command("policy down utilization>=0.95, delay <= 20ms", &state).unwrap();
        let replaced = orders.try_iter().filter(|order| matches!(order, Command::Queue(Direction::Down, _))).count();
        assert_eq!((replaced, locked(&state.settings).queues.aqm.as_deref()), (2, Some("gsp-as:u_low=0.95:target_max=20ms")));
    }

    #[test]
    fn mistakes_change_nothing() {
        let (state, orders) = state();
        for line in [
            "",
            "rate down",
            "policy up",
            "policy up speed>=1",
            "rate sideways 1mbit",
            "rate up fast",
            "aqm down codle",
            "delay up 5",
            "aqm up codel:target=1year",
        ] {
            assert!(handle_command(line, &state).is_err(), "{line}");
        }
        assert!(orders.try_recv().is_err());
        assert_eq!(locked(&state.settings).rate_up, None);
    }

    #[test]
    fn the_socket_is_for_its_owner_and_one_bridge() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("control");
        let (listener, file) = open_socket(&path).unwrap();
        assert_eq!(std::fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
        assert!(open_socket(&path).is_err_and(|failure| failure.to_string().contains("belongs to a bridge that runs")));
        // Its owner was killed: the file is still there.
        drop(listener);
        let again = open_socket(&path).unwrap();
        drop((again, file));
        assert!(!path.exists());
        std::fs::write(&path, "something else").unwrap();
        assert!(open_socket(&path).is_err_and(|failure| failure.to_string().contains("is no socket")));
    }

    #[test]
    fn a_client_that_keeps_silent_keeps_no_other_waiting() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("control");
        let (listener, _file) = open_socket(&path).unwrap();
        serve(listener, Arc::new(state().0)).unwrap();
        let connect = || UnixStream::connect(&path).expect("it listens");
        let answer = |stream: &UnixStream| {
            let mut line = String::new();
            BufReader::new(stream).read_line(&mut line).expect("an answer");
            serde_json::from_str::<Value>(&line).expect("JSON")
        };
        let mut slow = connect();
        slow.write_all(b"sta").unwrap();
        let others: Vec<UnixStream> = (1..MAX_CLIENTS).map(|_| connect()).collect();
        for mut other in &others {
            other.write_all(b"stats\n").unwrap();
            assert!(answer(other).is_array());
        }
        assert!(answer(&connect())["error"].as_str().is_some_and(|said| said.contains("allowed 16 at once")));
        slow.write_all(b"ts\n").unwrap();
        assert!(answer(&slow).is_array(), "it was waited for");
    }

    #[test]
    fn statistics_are_named_as_those_of_tc() {
        let (state, _orders) = state();
        let stats = handle_command("stats", &state).unwrap();
        let options = &stats[0]["options"];
        assert_eq!((&options["aqm"], &options["policy"], &options["delay"]), (&json!("fq-codel"), &Value::Null, &json!(0)));
        let names = ["kind", "handle", "options", "bytes", "packets", "drops", "overlimits", "requeues", "backlog", "qlen"];
        assert!(names.iter().all(|name| stats[0].get(name).is_some()), "{stats}");
        assert_eq!((&stats[0]["port"]["kind"], &stats[0]["port"]["busy_poll"]), (&json!("af-packet"), &Value::Null));
        assert_eq!((&stats[0]["kind"], &stats[0]["dev"], &stats[1]["dev"]), (&json!("fq_codel"), &json!("b"), &json!("a")));
    }

    #[test]
    fn metrics_are_well_formed() {
        let (state, _orders) = state();
        let text = show::metrics(&locked(&state.shown), &locked(&state.totals));
        assert!(text.ends_with("# EOF\n"));
        for line in text.lines().filter(|line| !line.starts_with('#')) {
            let (name, value) = line.rsplit_once(' ').expect("a name and a value");
            assert!(name.starts_with("goodqueue_") && name.ends_with('}'), "{line}");
            value.parse::<f64>().expect("a number");
        }
        assert!(text.contains("goodqueue_sent_packets_total{direction=\"down\",aqm=\"fq-codel\"} 0"), "{text}");
    }
}
