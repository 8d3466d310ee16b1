//! The process that outlives the bridge, whatever happens to that: it puts offloads back, and with
//! `--fail-open` joins the interfaces when the bridge has died or stands still.

use super::OffloadPolicy;
use crate::failure::Failure;
use crate::output::{itself, say};
use clap::Args;
use goodqueue_base::units::Duration;
use goodqueue_live::splice::Splice;
use goodqueue_live::sys::ethtool::{Offload, Offloads, Switch};
use goodqueue_live::sys::process;
use goodqueue_live::sys::scheduling;
use goodqueue_live::sys::signals::{Signal, Signals};
use std::io::{self, Read, Write};
use std::os::fd::AsFd;
use std::os::linux::net::SocketAddrExt;
use std::os::unix::net::{SocketAddr, UnixListener, UnixStream};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel};

/// Arguments of that process.
#[derive(Args)]
pub struct KeeperArguments {
    /// INTERFACE:OFFLOAD that was on
    #[arg(value_name = "INTERFACE:OFFLOAD")]
    switched: Vec<String>,
    /// Two interfaces to be joined when the bridge has died
    #[arg(long, num_args = 2, value_name = "INTERFACE")]
    join: Vec<String>,
}

/// The packets' thread moves on, or is told to end.
const BEAT: u8 = b'b';
const END: u8 = b'e';
const BEAT_EVERY: std::time::Duration = std::time::Duration::from_millis(100);
/// Time without progress after which a bridge counts as standing still.
const STANDS_STILL: Duration = Duration::secs(1);
/// Time in which the process that joins interfaces must let go of them.
const LET_GO: std::time::Duration = std::time::Duration::from_secs(2);

/// Handle of the process that puts things back at the end.
pub struct RestoreGuard {
    child: Option<Child>,
    heart: Option<SyncSender<()>>,
}

impl RestoreGuard {
    /// Packets move from now on: the keeper hears whenever `beat` has changed.
    pub fn listen(&mut self, beat: Arc<AtomicU64>) -> Result<(), Failure> {
        let Some(mut pipe) = self.child.as_mut().and_then(|child| child.stdin.take()) else { return Ok(()) };
        let failed = |error| Failure::Run(format!("no process joins the interfaces: {error}"));
        pipe.write_all(&[BEAT]).map_err(failed)?;
        let (end, ended) = sync_channel(1);
        let thread = std::thread::Builder::new().name("beat".to_owned()).spawn(move || tell(pipe, &beat, &ended));
        thread.map_err(|error| Failure::Run(format!("no thread can be started: {error}")))?;
        self.heart = Some(end);
        Ok(())
    }

    /// The bridge has ended as it should: waits until everything is as it was.
    pub fn end(mut self) {
        let Some(child) = &mut self.child else { return };
        drop(child.stdin.take());
        if let Some(heart) = self.heart.take() {
            // The thread is there as long as the pipe is.
            let _ = heart.send(());
        }
        // It says itself what it could not put back.
        let _ = child.wait();
    }
}

/// Writes to the pipe what the thread that moves packets does.
fn tell(mut pipe: ChildStdin, beat: &AtomicU64, ended: &Receiver<()>) {
    let mut before = 0;
    loop {
        let word = match ended.recv_timeout(BEAT_EVERY) {
            Ok(()) => END,
            // The bridge has failed: the pipe closes without a word.
            Err(RecvTimeoutError::Disconnected) => return,
            Err(RecvTimeoutError::Timeout) => {
                let now = beat.load(Ordering::Relaxed);
                if now == before {
                    continue;
                }
                before = now;
                BEAT
            }
        };
        if pipe.write_all(&[word]).is_err() {
            say("warning: the process that would join the interfaces has died");
            return;
        }
        if word == END {
            return;
        }
    }
}

/// Offloads that join received frames, so that a queue would see many packets as one.
const JOINING: [Offload; 2] = [Offload::Gro, Offload::Lro];
/// Offloads that join frames so that they cannot be taken apart again.
const FOR_GOOD: [Offload; 1] = [Offload::Lro];

/// Sees to offloads as asked for, and to what happens when the bridge dies.
pub fn settle(interfaces: [&String; 2], policy: OffloadPolicy, fail_open: bool) -> Result<RestoreGuard, Failure> {
    interfaces.into_iter().for_each(|name| ask_to_let_go(name));
    let mut on = Vec::new();
    for name in interfaces {
        let unknown = |error| Failure::Input(format!("{name}: {error}"));
        let offloads = Offloads::of(name).map_err(unknown)?;
        for &offload in if policy == OffloadPolicy::Split { &FOR_GOOD[..] } else { &JOINING } {
            if offloads.is_on(offload).map_err(unknown)? {
                on.push((name.as_str(), offload));
            }
        }
    }
    if policy == OffloadPolicy::Ignore {
        on.clear();
    }
    if !on.is_empty() && matches!(policy, OffloadPolicy::Refuse | OffloadPolicy::Split) {
        let remedies: Vec<String> =
            on.iter().map(|(name, offload)| format!("ethtool -K {name} {} off", offload.name())).collect();
        return Err(Failure::Input(format!(
            "received packets would be joined to larger ones before the queue sees them: run `{}`, or give --offloads set",
            remedies.join("; ")
        )));
    }
    if on.is_empty() && !fail_open {
        return Ok(RestoreGuard { child: None, heart: None });
    }
    // First the one who puts them back, then the change: nothing can be left behind.
    let child = spawn(&on, fail_open.then_some(interfaces))?;
    let keeper = RestoreGuard { child: Some(child), heart: None };
    for (name, offload) in on {
        let switched = Offloads::of(name).and_then(|offloads| offloads.set(offload, Switch::Off));
        if let Err(error) = switched {
            keeper.end();
            return Err(Failure::Run(format!("{name}: {} cannot be switched off: {error}", offload.name())));
        }
    }
    Ok(keeper)
}

fn spawn(on: &[(&str, Offload)], join: Option<[&String; 2]>) -> Result<Child, Failure> {
    let failed = |error| Failure::Run(format!("no process can be started: {error}"));
    let (program, first) = itself().split_first().ok_or_else(|| failed(io::ErrorKind::NotFound.into()))?;
    let mut command = Command::new(program);
    command.args(first).arg("bridge-keeper").args(on.iter().map(|(name, offload)| format!("{name}:{}", offload.name())));
    if let Some([a, b]) = join {
        command.args(["--join", a, b]);
    }
    // A reader of the bridge's output is not kept waiting by a process that stays.
    command.stdin(Stdio::piped()).stdout(Stdio::null()).spawn().map_err(failed)
}

/// End of the bridge, as its keeper sees it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Gone {
    /// As it should, or before it moved packets.
    InOrder,
    Died,
    StoodStill,
}

/// Waits until the bridge is gone, puts things back, and joins the interfaces if that was asked
/// for.
pub fn run(arguments: &KeeperArguments) -> Result<(), Failure> {
    // Signals of the terminal are for the bridge.
    let signals = Signals::hold().map_err(|error| Failure::Run(format!("signals cannot be held: {error}")))?;
    let bridge = std::os::unix::process::parent_id();
    let gone = wait_for_end();
    if gone == Gone::StoodStill {
        // One that has ended by itself meanwhile is as good.
        let _ = process::kill_parent(bridge);
    }
    put_back(&arguments.switched)?;
    match &arguments.join[..] {
        [a, b] if gone != Gone::InOrder => join([a, b], gone, &signals),
        _ => Ok(()),
    }
}

fn wait_for_end() -> Gone {
    let mut pipe = io::stdin().lock();
    let mut words = [0; 64];
    let mut moves = false;
    loop {
        if moves {
            let input = [Some(pipe.as_fd()), None];
            match scheduling::wait(input, STANDS_STILL) {
                Ok(woken) if woken.ready => {}
                Ok(_) => return Gone::StoodStill,
                Err(_) => return Gone::Died,
            }
        }
        match pipe.read(&mut words) {
            Ok(0) | Err(_) => return if moves { Gone::Died } else { Gone::InOrder },
            Ok(count) if words[..count].contains(&END) => return Gone::InOrder,
            Ok(_) => moves = true,
        }
    }
}

fn put_back(switched: &[String]) -> Result<(), Failure> {
    for text in switched {
        let (name, offload) = text.rsplit_once(':').unwrap_or((text, ""));
        let Some(offload) = Offload::by_name(offload) else {
            return Err(Failure::Input(format!("`{text}` is not INTERFACE:OFFLOAD")));
        };
        let restored = Offloads::of(name).and_then(|offloads| offloads.set(offload, Switch::On));
        if let Err(error) = restored {
            say(&format!("{name}: {} cannot be switched on again: {error}", offload.name()));
        }
    }
    Ok(())
}

/// Address of the process that has joined an interface; seen within the network namespace alone.
fn address(interface: &str) -> io::Result<SocketAddr> {
    SocketAddr::from_abstract_name(format!("goodqueue/joined/{interface}"))
}

/// When another process has joined this interface to one: tells it that its time is over, and waits
/// until it has let go.
fn ask_to_let_go(interface: &str) {
    let Ok(mut stream) = address(interface).and_then(|address| UnixStream::connect_addr(&address)) else { return };
    // It says nothing, and closes the connection when it has.
    let _ = stream.set_read_timeout(Some(LET_GO));
    if stream.read(&mut [0]).is_err() {
        say(&format!("warning: {interface} is still joined to another interface by an earlier bridge's --fail-open"));
    }
}

/// Passes frames between the interfaces until a new bridge, or a signal, ends it.
fn join(names: [&str; 2], gone: Gone, signals: &Signals) -> Result<(), Failure> {
    let [a, b] = names;
    let failed = |error: &io::Error| Failure::Run(format!("{a} and {b} cannot be joined without a queue: {error}"));
    let mut splice = Splice::open(names).map_err(|error| failed(&error))?;
    let listen = |name| {
        let listener = UnixListener::bind_addr(&address(name)?)?;
        listener.set_nonblocking(true).map(|()| listener)
    };
    let listeners = [listen(a).map_err(|error| failed(&error))?, listen(b).map_err(|error| failed(&error))?];
    let why = if gone == Gone::Died { "the bridge has died" } else { "the bridge stood still and was ended" };
    say(&format!(
        "{why}: {a} and {b} are joined without a queue until a bridge starts between them (or kill {})",
        std::process::id()
    ));
    let mut asked = None;
    let outcome = loop {
        if matches!(signals.next(Duration::ZERO), Some(Signal::Stop | Signal::Interrupt)) {
            break Ok(());
        }
        asked = listeners.iter().filter_map(|listener| listener.accept().ok()).map(|(peer, _)| peer).find(process::is_trusted);
        if asked.is_some() {
            break Ok(());
        }
        if let Err(error) = splice.step(Duration::ms(20)) {
            break Err(Failure::Run(error.to_string()));
        }
    };
    let counters = splice.counters();
    drop((splice, listeners));
    // Only now may the caller proceed.
    drop(asked);
    say(&format!("{a} and {b} are no longer joined: {} frames passed, {} were lost", counters.passed, counters.lost));
    outcome
}
