//! `gq measure`: the line between two machines.

mod client;
mod connection;
mod load;
mod server;
mod session;

use crate::failure::{Failure, check_file};
use crate::interrupt;
use crate::output::{json, print, say};
use clap::{Args, ValueEnum};
use goodqueue_base::spec::quantity::excerpt;
use goodqueue_base::units::Rate;
use goodqueue_interop::import::Input;
use goodqueue_interop::measure::{Change, DirectionResult, Key, Limits, Measurement, PORT};
use goodqueue_lab::quantity;
use goodqueue_lab::verdict::grade;
use std::fmt::Write as _;
use std::net::{SocketAddr, ToSocketAddrs};
use std::path::{Path, PathBuf};
use std::time::Duration;

/// Arguments of `gq measure`.
#[derive(Args)]
#[command(after_help = "Example: gq measure serve --listen 0.0.0.0:8018 on one machine, and on the other\n\
    gq measure --server HOST --key KEY --json before.json; gq recommend --from before.json\n\
    gq measure --server HOST --key KEY --verify before.json after a change")]
pub struct Arguments {
    /// The part of this machine [default: the client, which measures]
    #[arg(value_enum, value_name = "ROLE")]
    role: Option<Role>,
    /// Where to serve, TCP and UDP
    #[arg(long, value_name = "ADDRESS[:PORT]")]
    listen: Option<String>,
    /// Bound on the rate of a server, for instance 500mbit [default: 10gbit]
    #[arg(long, value_name = "RATE")]
    limit: Option<String>,
    /// The server; port 8018 unless another is given
    #[arg(long, value_name = "HOST[:PORT]")]
    server: Option<String>,
    /// The key that the server printed, or @FILE with it; of a server, one to use again
    #[arg(long, value_name = "KEY|@FILE")]
    key: Option<String>,
    /// Time for each direction at most: six intervals, of which the last four are the result
    /// [default: 30]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(6..=60))]
    seconds: Option<u16>,
    /// Write the result, for gq recommend --from, gq import measure and --verify
    #[arg(long, value_name = "FILE|-")]
    json: Option<PathBuf>,
    /// Compare with an earlier result: whether a change has helped
    #[arg(long, value_name = "BEFORE.json")]
    verify: Option<PathBuf>,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Role {
    /// Answer clients that have the key
    Serve,
}

/// Least bound on the rate of a server.
const MIN_LIMIT: Rate = Rate::kbit(1);

/// Time for a direction unless another is given: intervals of 5 s, as the draft has them.
const SECONDS: u16 = 30;

/// Runs the command.
pub fn run(arguments: &Arguments) -> Result<(), Failure> {
    let is_server = arguments.role == Some(Role::Serve);
    for (name, is_given, of_server) in [
        ("--listen", arguments.listen.is_some(), true),
        ("--limit", arguments.limit.is_some(), true),
        ("--server", arguments.server.is_some(), false),
        ("--seconds", arguments.seconds.is_some(), false),
        ("--json", arguments.json.is_some(), false),
        ("--verify", arguments.verify.is_some(), false),
    ] {
        if is_given && of_server != is_server {
            let command = if of_server { "gq measure serve" } else { "gq measure without serve" };
            return Err(Failure::Input(format!("{name}: is for {command}")));
        }
    }
    if is_server { serve(arguments) } else { measure(arguments) }
}

fn serve(arguments: &Arguments) -> Result<(), Failure> {
    let listen = arguments.listen.as_deref().ok_or_else(|| {
        Failure::Input(format!("--listen: is missing; for instance 192.0.2.1:{PORT}, or [::]:{PORT} for all addresses"))
    })?;
    let address = addresses("--listen", listen)?[0];
    let rate = arguments.limit.as_deref().map(quantity::rate).transpose();
    let allowed = "allowed from 1 kbit/s, for instance 100 Mbit/s";
    let rate = rate.map_err(|error| Failure::Input(format!("--limit: {}: {allowed}", error.message())))?;
    if rate.is_some_and(|rate| rate < MIN_LIMIT) {
        let given = arguments.limit.as_deref().unwrap_or_default();
        return Err(Failure::Input(format!("--limit: `{}` is too low: {allowed}", excerpt(given))));
    }
    let limits = rate.map_or_else(Limits::default, |rate| Limits { rate, ..Limits::default() });
    let key = match &arguments.key {
        Some(given) => key(given)?,
        None => Key::from_random(connection::random().map_err(|error| Failure::Run(error.to_string()))?),
    };
    let no_place = Failure::of(format!("--listen {listen}"));
    let sockets = server::sockets(address).map_err(&no_place)?;
    if arguments.key.is_none() {
        say(&format!("key {}", key.digits()));
        say(&format!("on the other machine: gq measure --server HOST:{} --key {}", address.port(), key.digits()));
    }
    let stop = interrupt::stop_flag_saying("stopping; once more ends it at once\n");
    server::serve(sockets, key, limits, &stop).map_err(no_place)
}

fn measure(arguments: &Arguments) -> Result<(), Failure> {
    let missing = |name: &str, example: &str| Failure::Input(format!("{name}: is missing; {example}"));
    let host = arguments.server.as_deref().ok_or_else(|| missing("--server", "the host of gq measure serve"))?;
    let key = key(arguments.key.as_deref().ok_or_else(|| missing("--key", "gq measure serve prints it"))?)?;
    let before = arguments.verify.as_deref().map(earlier).transpose()?;
    check_file("--json", arguments.json.as_deref().filter(|path| path.as_os_str() != "-"))?;
    let way = Duration::from_secs(u64::from(arguments.seconds.unwrap_or(SECONDS)));
    let after = first_that_answers(host, |address| client::measure(address, &key, way))?;
    let text = match &before {
        Some(before) => format!("{}\n{}", text(&after), Change::between(before, &after).text()),
        None => text(&after),
    };
    match arguments.json.as_deref() {
        Some(path) if path.as_os_str() == "-" => {
            eprint!("{text}");
            Ok(print(&json(&after)?)?)
        }
        Some(path) => {
            std::fs::write(path, json(&after)?).map_err(|error| Failure::Run(format!("--json {}: {error}", path.display())))?;
            Ok(print(&text)?)
        }
        None => Ok(print(&text)?),
    }
}

/// Measures with the first address of a host that takes connections.
fn first_that_answers(host: &str, measure: impl Fn(SocketAddr) -> std::io::Result<Measurement>) -> Result<Measurement, Failure> {
    let mut refused = None;
    for address in addresses("--server", host)? {
        match measure(address) {
            Ok(measurement) => return Ok(measurement),
            Err(error) => {
                // A socket whose time is over says that it would block.
                let is_late = matches!(error.kind(), std::io::ErrorKind::TimedOut | std::io::ErrorKind::WouldBlock);
                let is_elsewhere = is_late
                    || matches!(
                        error.kind(),
                        std::io::ErrorKind::ConnectionRefused
                            | std::io::ErrorKind::NetworkUnreachable
                            | std::io::ErrorKind::HostUnreachable
                    );
                let why = if is_late { "does not answer in time".to_owned() } else { error.to_string() };
                refused = Some(Failure::Run(format!("--server {host}: {address}: {why}")));
                if !is_elsewhere {
                    break;
                }
            }
        }
    }
    Err(refused.unwrap_or_else(|| Failure::Input(format!("--server {host}: has no address"))))
}

fn earlier(path: &Path) -> Result<Measurement, Failure> {
    let input = Input::load(path).map_err(Failure::input)?;
    let text = input.text().map_err(Failure::input)?;
    Measurement::read(text).map_err(|fault| Failure::Input(format!("--verify {}: {fault}", path.display())))
}

fn key(given: &str) -> Result<Key, Failure> {
    // No message repeats a key.
    let Some(path) = given.strip_prefix('@') else { return given.parse().map_err(Failure::of("--key")) };
    let input = Input::load(Path::new(path)).map_err(Failure::input)?;
    input.text().map_err(Failure::input)?.parse().map_err(Failure::of(format!("--key {given}")))
}

/// The addresses of a host, with our port unless another is given.
fn addresses(option: &str, text: &str) -> Result<Vec<SocketAddr>, Failure> {
    let wrong = |why: &dyn std::fmt::Display| Failure::Input(format!("{option} {text}: {why}; for instance 192.0.2.1:{PORT}"));
    let bare = text.trim_start_matches('[').trim_end_matches(']');
    let found = match bare.parse::<std::net::IpAddr>() {
        Ok(address) => Ok(vec![SocketAddr::from((address, PORT))]),
        Err(_) if text.contains(':') => text.to_socket_addrs().map(Iterator::collect),
        Err(_) => (text, PORT).to_socket_addrs().map(Iterator::collect),
    };
    let found: Vec<SocketAddr> = found.map_err(|error| wrong(&error))?;
    if found.is_empty() { Err(wrong(&"has no address")) } else { Ok(found) }
}

/// The result for people.
fn text(result: &Measurement) -> String {
    let ms = |seconds: f64| format!("{:.1} ms", seconds * 1e3);
    let idle = &result.idle.rtt_s;
    let mut text = format!("idle      round trip {} (p95 {})\n", ms(idle.p50), ms(idle.p95));
    for (name, way) in [("download", &result.down), ("upload", &result.up)] {
        let loaded = &way.loaded.rtt_s;
        let _ = writeln!(
            text,
            "{name:<9} {}, round trip {} (p95 {}), latency grade {}{}",
            rate(way),
            ms(loaded.p50),
            ms(loaded.p95),
            grade((loaded.p50 - idle.p50).max(0.0) * 1e3),
            way.responsiveness.map_or_else(String::new, |found| format!(", {:.0} round trips per minute", found.rpm)),
        );
        let (sent, lost) = (way.loaded.probes, (way.loaded.lost_up, way.loaded.lost_down));
        if lost != (0, 0) {
            let _ = writeln!(
                text,
                "          of {sent} probes {} were lost on the way up, {} answers on the way down",
                lost.0, lost.1
            );
        }
    }
    result.notes.iter().for_each(|note| text.extend([note.as_str(), "\n"]));
    text
}

fn rate(way: &DirectionResult) -> String {
    let mbit = |bits: Option<f64>| bits.unwrap_or_default() / 1e6;
    let (payload, line) = (&way.goodput_bit_s, &way.line_rate_bit_s);
    let half = payload.ci95.map_or_else(String::new, |half| format!(" ± {:.2}", half / 1e6));
    format!("{:.2}{half} Mbit/s of payload (line about {:.1})", mbit(payload.mean), mbit(line.mean))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_have_our_port_unless_another_is_given() {
        let read = |text: &str| addresses("--listen", text).unwrap()[0].to_string();
        assert_eq!(read("192.0.2.1"), "192.0.2.1:8018");
        assert_eq!(read("192.0.2.1:99"), "192.0.2.1:99");
        assert_eq!(read("2001:db8::1"), "[2001:db8::1]:8018");
        assert_eq!(read("[2001:db8::1]"), "[2001:db8::1]:8018");
        assert_eq!(read("[::]:99"), "[::]:99");
        for wrong in ["", ":", "192.0.2.1:99999", "[::]:x"] {
            assert!(addresses("--listen", wrong).unwrap_err().to_string().starts_with("--listen "), "{wrong}");
        }
    }

    #[test]
    fn a_server_that_stopped_is_said_to_be_late() {
        let late = |_| Err(std::io::Error::from_raw_os_error(11));
        let message = first_that_answers("192.0.2.1", late).unwrap_err().to_string();
        assert_eq!(message, "--server 192.0.2.1: 192.0.2.1:8018: does not answer in time");
    }

    #[test]
    fn keys_are_never_repeated() {
        let fault = key("0123456789").unwrap_err().to_string();
        assert!(fault.starts_with("--key: is no key: expected 128") && !fault.contains("0123456789"), "{fault}");
    }
}
