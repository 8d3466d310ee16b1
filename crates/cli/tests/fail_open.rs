//! `gq bridge --fail-open`: what happens to traffic when the bridge dies, stands still, comes back,
//! or ends as it should. Needs network namespaces; where the kernel allows none, the test
//! reports it and ends.
#![cfg(target_os = "linux")]

use goodqueue_live::testbed::bench::Bench;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::Duration;

/// Far longer than anything here takes, unless it never ends.
const LONG: Duration = Duration::from_secs(20);

fn bench() -> Option<Bench> {
    Bench::new().inspect_err(|reason| println!("skipped: {reason}")).ok()
}

/// A bridge and what it, and the process that outlives it, say.
struct Bridge {
    child: Child,
    said: Receiver<String>,
}

impl Bridge {
    fn start(bench: &Bench) -> Self {
        let mut command = Command::new(env!("CARGO_BIN_EXE_gq"));
        command.args(["bridge", "--in", Bench::PORT_A, "--out", Bench::PORT_B, "--rate", "50mbit", "--aqm", "codel"]);
        command.args(["--fail-open", "--offloads", "set"]);
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::piped());
        let mut child = bench.middle.within(|| command.spawn()).expect("gq starts");
        let lines = BufReader::new(child.stderr.take().expect("it is piped")).lines();
        let (tell, said) = channel();
        std::thread::spawn(move || lines.map_while(Result::ok).try_for_each(|line| tell.send(line)));
        let bridge = Self { child, said };
        bridge.hears("bridge gq-a to gq-b");
        bridge
    }

    /// Waits until a line holds these words.
    fn hears(&self, words: &str) -> String {
        loop {
            let line = self.said.recv_timeout(LONG).unwrap_or_else(|_| panic!("nobody said `{words}`"));
            if line.contains(words) {
                return line;
            }
        }
    }

    /// Waits until everything that could still say something has ended.
    fn falls_silent(&self) {
        while self.said.recv_timeout(LONG).is_ok() {}
        assert!(self.said.recv_timeout(LONG).is_err_and(|error| error == std::sync::mpsc::RecvTimeoutError::Disconnected));
    }

    fn signal(&self, name: &str) {
        let sent = Command::new("kill").args([name, &self.child.id().to_string()]).status().expect("kill starts");
        assert!(sent.success());
    }

    fn wait(&mut self) -> ExitStatus {
        self.child.wait().expect("it ends")
    }
}

/// Sends 100 kB from left to right and back again, every byte in its place.
fn traffic_passes(bench: &Bench, port: u16) {
    let listener = bench.right.within(|| TcpListener::bind((Bench::RIGHT_ADDRESS, port))).expect("a listener");
    let to = (Bench::RIGHT_ADDRESS, port).into();
    let mut stream = bench.left.within(|| TcpStream::connect_timeout(&to, LONG)).expect("a way through");
    stream.set_read_timeout(Some(LONG)).expect("a timeout");
    let bytes: Vec<u8> = (0..100_000u32).map(|i| (i.wrapping_mul(2_654_435_761) >> 24) as u8).collect();
    std::thread::scope(|scope| {
        scope.spawn(move || {
            let (mut peer, _) = listener.accept().expect("a connection");
            peer.set_read_timeout(Some(LONG)).expect("a timeout");
            let mut got = vec![0; 100_000];
            peer.read_exact(&mut got).expect("all of it");
            peer.write_all(&got).expect("it is taken");
        });
        stream.write_all(&bytes).expect("it is taken");
        let mut back = vec![0; bytes.len()];
        stream.read_exact(&mut back).expect("all of it");
        assert!(back == bytes, "bytes differ");
    });
}

#[test]
fn traffic_goes_on_when_the_bridge_dies_or_stands_still() {
    let Some(bench) = bench() else { return };
    let mut first = Bridge::start(&bench);
    traffic_passes(&bench, 9000);
    first.signal("-KILL");
    assert!(!first.wait().success());
    let line = first.hears("joined without a queue");
    assert!(line.starts_with("the bridge has died: gq-a and gq-b are joined"), "{line}");
    traffic_passes(&bench, 9001);

    // The next one takes over.
    let mut second = Bridge::start(&bench);
    let line = first.hears("are no longer joined");
    assert!(line.ends_with(" 0 were lost") && !line.contains(" 0 frames"), "{line}");
    first.falls_silent();
    traffic_passes(&bench, 9002);
    second.signal("-STOP");
    assert!(!second.wait().success(), "the keeper has ended it");
    let line = second.hears("joined without a queue");
    assert!(line.starts_with("the bridge stood still and was ended: "), "{line}");
    traffic_passes(&bench, 9003);

    // One that is told to end is not stood in for.
    let mut third = Bridge::start(&bench);
    second.falls_silent();
    traffic_passes(&bench, 9004);
    third.signal("-TERM");
    assert!(third.wait().success());
    third.falls_silent();
}
