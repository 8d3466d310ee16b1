//! The first process of the PID namespace: builds everything, starts the program, and takes
//! everything with it when it ends.

use crate::shell::on_demand_sockets::Watch;
use crate::shell::outside::{HANG_UP, TERMINATE};
use crate::shell::place::{self, PORT_FAR, PORT_NEAR, Place};
use crate::shell::{DEPTH_VARIABLE, Order, exit_code};
use crate::sys::signals::Signals;
use crate::sys::{descriptors, mount, namespace, process, scheduling};
use crate::testbed::namespace::Namespace;
use rustix::process::{Pid, Signal, kill_process};
use std::io::{self, BufRead, BufReader, Read};
use std::os::unix::net::UnixStream;
use std::os::unix::process::CommandExt;
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::Duration;

/// Time between two looks for the end of the program and for words from outside.
const LOOK_EVERY: Duration = Duration::from_millis(10);
/// Time that a server may take until it listens.
const SERVER: Duration = Duration::from_secs(5);
/// The line takes far less to start and to end.
const LINE: Duration = Duration::from_secs(10);
/// Beginning of the message that the line prints once packets move.
const READY: &str = "bridge ";

/// Output passed on to the caller.
#[derive(Debug)]
pub enum Said<'a> {
    /// A line of statistics, as the line prints them.
    Statistics(&'a str),
    /// A line for the user.
    Note(&'a str),
}

type Tell = Arc<dyn Fn(Said<'_>) + Send + Sync>;

/// Runs the program and gives its exit code.
///
/// # Errors
/// When the kernel refuses something, or the line fails.
pub fn run(order: &Order, tell: &Tell) -> io::Result<u8> {
    let _signals = Signals::hold_all()?;
    let mut outside = descriptors::given(order.connection)?;
    outside.set_read_timeout(Some(LOOK_EVERY))?;
    mount::keep_to_ourselves()?;
    mount::processes()?;
    place::names(order)?;
    let place = Arc::new(Place::build(order)?);
    let mut line = Line::start(order, &place.middle, tell)?;
    let starting = Arc::new(Mutex::new(()));
    watch(order, &place, &outside, &starting, tell)?;
    let mut server = None;
    if let (Some(command), Some(network)) = (&order.server, &place.server) {
        server = Some(Server::start(order, command, network, tell)?);
    }
    let mut program = start(order, &place.near)?;
    let mut known = vec![program.id(), line.child.id()];
    known.extend(server.iter().map(|server| server.child.id()));
    let code = wait(&mut program, &mut line, &mut outside, &starting, &known)?;
    if let Some(mut server) = server {
        // One that has ended by itself is as good.
        let _ = server.child.kill();
        let _ = server.child.wait();
    }
    // A line that failed has said why.
    let is_whole = line.end();
    Ok(if code == 0 && !is_whole { 1 } else { code })
}

/// Starts the watch for what is opened beyond the far end.
fn watch(order: &Order, place: &Arc<Place>, outside: &UnixStream, starting: &Arc<Mutex<()>>, tell: &Tell) -> io::Result<()> {
    let watch = Watch::open(order, place)?;
    let (place, starting, tell, outside) = (Arc::clone(place), Arc::clone(starting), Arc::clone(tell), outside.try_clone()?);
    std::thread::Builder::new().name("newcomers".to_owned()).spawn(move || {
        if let Err(error) = watch.run(&place.far, &outside, &starting) {
            tell(Said::Note(&format!("nothing more is relayed outside: {error}")));
        }
    })?;
    Ok(())
}

/// Starts the program.
fn start(order: &Order, near: &Namespace) -> io::Result<Child> {
    let mut command = seated(order)?;
    command.args(&order.program);
    near.within(|| command.spawn())
}

/// Returns a command that runs the words added to it as the user of the command.
fn seated(order: &Order) -> io::Result<Command> {
    let (first, rest) = order.seat.split_first().ok_or_else(|| io::Error::other("no seat"))?;
    let mut command = Command::new(first);
    command.args(rest).env(DEPTH_VARIABLE, (u32::from(order.depth) + 1).to_string());
    Ok(command)
}

/// Waits for the program, passes on what is said outside, and ends when nobody is there any more.
fn wait(program: &mut Child, line: &mut Line, outside: &mut UnixStream, starting: &Mutex<()>, known: &[u32]) -> io::Result<u8> {
    let mut asked = false;
    loop {
        if let Some(status) = program.try_wait()? {
            return Ok(exit_code(status));
        }
        if line.child.try_wait()?.is_some() {
            line.end();
            return Err(io::Error::other("the line has failed"));
        }
        let mut word = [0];
        match outside.read(&mut word) {
            // With this process everything in its namespaces ends.
            Ok(0) => return Ok(1),
            Ok(_) if word[0] == HANG_UP => kill_process(Pid::from_child(program), Signal::HUP)?,
            Ok(_) if word[0] == TERMINATE && asked => program.kill()?,
            Ok(_) if word[0] == TERMINATE => {
                asked = true;
                kill_process(Pid::from_child(program), Signal::TERM)?;
            }
            Ok(_) => {}
            Err(error) if matches!(error.kind(), io::ErrorKind::WouldBlock | io::ErrorKind::Interrupted) => {}
            Err(_) => return Ok(1),
        }
        let _starting = starting.lock().unwrap_or_else(PoisonError::into_inner);
        process::reap_orphans(known);
    }
}

/// The process that moves packets.
struct Line {
    child: Child,
    readers: Vec<JoinHandle<()>>,
}

impl Line {
    fn start(order: &Order, middle: &Namespace, tell: &Tell) -> io::Result<Self> {
        let (program, first) = order.line.split_first().ok_or_else(|| io::Error::other("no line"))?;
        let mut command = Command::new(program);
        command.args(first).args(["--in", PORT_FAR, "--out", PORT_NEAR]);
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        // The terminal's signals are for the program.
        command.process_group(0);
        let mut child = middle.within(|| command.spawn())?;
        let (ready, started) = channel();
        let (notes, statistics) = (Arc::clone(tell), Arc::clone(tell));
        let mut readers = Vec::new();
        if let Some(stdout) = child.stdout.take() {
            readers.push(read("statistics", stdout, move |line| statistics(Said::Statistics(line)))?);
        }
        if let Some(stderr) = child.stderr.take() {
            readers.push(read("notes", stderr, move |line| note(line, &ready, &notes))?);
        }
        match started.recv_timeout(LINE) {
            Ok(()) => Ok(Self { child, readers }),
            Err(error @ (RecvTimeoutError::Timeout | RecvTimeoutError::Disconnected)) => {
                let _ = child.kill();
                let _ = child.wait();
                let after =
                    if error == RecvTimeoutError::Timeout { format!(" within {} s", LINE.as_secs()) } else { String::new() };
                Err(io::Error::other(format!("the line has not started{after}")))
            }
        }
    }

    /// Ends it, after which its last words have been passed on. False if it failed, for instance to
    /// write its files.
    fn end(&mut self) -> bool {
        // One that has ended by itself is as good.
        let _ = kill_process(Pid::from_child(&self.child), Signal::TERM);
        let is_whole = self.child.wait().is_ok_and(|status| status.success());
        for reader in self.readers.drain(..) {
            let _ = reader.join();
        }
        is_whole
    }
}

/// Passes on lines that are not statistics. The line's report that it is ready is for us alone, and
/// kernels that leave checksums to cards are no news between virtual ones.
fn note(line: &str, ready: &Sender<()>, tell: &Tell) {
    if line.starts_with(READY) {
        // The thread that waited may have given up.
        let _ = ready.send(());
    } else if !line.contains(" came without checksums") {
        tell(Said::Note(line));
    }
}

fn read(name: &str, from: impl Read + Send + 'static, mut take: impl FnMut(&str) + Send + 'static) -> io::Result<JoinHandle<()>> {
    let body = move || BufReader::new(from).lines().map_while(Result::ok).for_each(|line| take(&line));
    std::thread::Builder::new().name(name.to_owned()).spawn(body)
}

/// The program at the far end.
struct Server {
    child: Child,
}

impl Server {
    /// Starts it, and waits until it listens.
    fn start(order: &Order, command: &str, network: &Namespace, tell: &Tell) -> io::Result<Self> {
        let mut shell = seated(order)?;
        shell.args(["/bin/sh", "-c", command]).stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        shell.process_group(0);
        let mut child = network.within(|| shell.spawn())?;
        let outputs: [Option<Box<dyn Read + Send>>; 2] =
            [child.stdout.take().map(|out| Box::new(out) as _), child.stderr.take().map(|out| Box::new(out) as _)];
        for output in outputs.into_iter().flatten() {
            let tell = Arc::clone(tell);
            read("server", output, move |line| tell(Said::Note(&format!("server: {line}"))))?;
        }
        let rounds = SERVER.as_millis() / LOOK_EVERY.as_millis();
        for _ in 0..rounds {
            if listens(network)? {
                return Ok(Self { child });
            }
            if let Some(status) = child.try_wait()? {
                return Err(io::Error::other(format!("--server `{command}` ended before it listened: {status}")));
            }
            scheduling::wait([None, None], goodqueue_base::units::Duration::ms(LOOK_EVERY.as_millis() as u64))?;
        }
        tell(Said::Note(&format!("--server `{command}` listens at no port after {} s", SERVER.as_secs())));
        Ok(Self { child })
    }
}

/// True if a socket of this network waits for connections or datagrams.
fn listens(network: &Namespace) -> io::Result<bool> {
    network.within(|| {
        let tables = [("tcp", Some("0A")), ("tcp6", Some("0A")), ("udp", None), ("udp6", None)];
        Ok(tables.iter().any(|(table, state)| {
            // A kernel without IPv6 has no such table.
            let text = std::fs::read_to_string(format!("/proc/thread-self/net/{table}")).unwrap_or_default();
            let mut states = text.lines().skip(1).filter_map(|line| line.split_whitespace().nth(3));
            states.any(|found| state.is_none_or(|state| found == state))
        }))
    })
}

/// Becomes the user and group with these numbers, if any, and then the program, which is the last
/// that this process does; returns only when that failed.
#[must_use]
pub fn take_seat(user: Option<(u32, u32)>, program: &[String]) -> io::Error {
    let Some((first, rest)) = program.split_first() else { return io::ErrorKind::InvalidInput.into() };
    let became = user.map_or(Ok(()), |(user, group)| namespace::become_user(user, group));
    match became.and_then(|()| Signals::let_go()) {
        Ok(()) => Command::new(first).args(rest).exec(),
        Err(error) => error,
    }
}
