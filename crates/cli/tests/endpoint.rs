//! `gq-checks endpoint` against the TCP of this machine's kernel. Needs network namespaces; where
//! the kernel allows none, the tests report it and end.
#![cfg(target_os = "linux")]

use goodqueue_live::testbed::bench::Bench;
use std::io::{Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

const BYTES: usize = 3_000_000;
/// Far longer than anything here takes, unless it never ends.
const LONG: Duration = Duration::from_secs(20);

/// An end that takes the place of the right host, which is not there.
fn endpoint(bench: &Bench, own: u16, peer: u16, options: &[&str]) -> Child {
    let mut command = Command::new(env!("CARGO_BIN_EXE_gq-checks"));
    command.args(["endpoint", "--interface", Bench::PORT_A, "--seconds", "20", "--set", "net.ipv4.tcp_ecn=1"]).args(options);
    command.arg("--own").arg(format!("{}:{own}", Bench::RIGHT_ADDRESS));
    command.arg("--peer").arg(format!("{}:{peer}", Bench::LEFT_ADDRESS));
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    bench.middle.within(|| command.spawn()).expect("gq-checks starts")
}

fn bytes_of(child: Child) -> u64 {
    let output = child.wait_with_output().expect("it ends");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let figures: serde_json::Value = serde_json::from_slice(&output.stdout).expect("one object");
    figures["bytes"].as_u64().expect("a number")
}

#[test]
fn a_kernel_receives_what_our_sender_sends() {
    let Ok(bench) = Bench::new().inspect_err(|reason| println!("skipped: {reason}")) else { return };
    let listener = bench.left.within(|| TcpListener::bind((Bench::LEFT_ADDRESS, 9000))).expect("a listener");
    let sender = endpoint(&bench, 9001, 9000, &["--send", &BYTES.to_string()]);
    let (mut stream, _) = listener.accept().expect("a connection");
    stream.set_read_timeout(Some(LONG)).expect("a timeout");
    let mut received = Vec::new();
    stream.read_to_end(&mut received).expect("all of it");
    drop(stream);
    assert_eq!((received.len(), bytes_of(sender)), (BYTES, BYTES as u64));
}

#[test]
fn our_receiver_takes_what_a_kernel_sends() {
    let Ok(bench) = Bench::new().inspect_err(|reason| println!("skipped: {reason}")) else { return };
    let receiver = endpoint(&bench, 9000, 0, &[]);
    let address = (Bench::RIGHT_ADDRESS, 9000).into();
    let mut stream = bench.left.within(|| TcpStream::connect_timeout(&address, LONG)).expect("a way through");
    stream.write_all(&vec![7; BYTES]).expect("it is taken");
    drop(stream);
    assert_eq!(bytes_of(receiver), BYTES as u64);
}

#[test]
fn what_an_end_cannot_be_is_refused_by_name() {
    let refused = |options: &[&str]| {
        let ends = ["endpoint", "--own", "10.0.0.2:1", "--peer", "10.0.0.1:2"];
        let output = Command::new(env!("CARGO_BIN_EXE_gq-checks")).args(ends).args(options).output().expect("gq-checks starts");
        assert_eq!(output.status.code(), Some(2));
        String::from_utf8_lossy(&output.stderr).into_owned()
    };
    for (options, wanted) in [
        (&["--interface", "nowhere"][..], "--interface nowhere: "),
        (&["--interface", "lo"], "is no Ethernet interface"),
        (&["--interface", "lo", "--neighbor", "1:2"], "six bytes"),
        (&["--interface", "lo", "--send", "0"], "0 is not in 1..=2147483647"),
        (&["--interface", "lo", "--set", "net.ipv4.tcp_ecn"], "KEY=VALUE"),
        (&["--interface", "lo", "--set", "net.ipv4.tcp_ecn=9"], "no counterpart here: net.ipv4.tcp_ecn=9"),
    ] {
        let text = refused(options);
        assert!(text.contains(wanted), "{options:?}: {text}");
    }
}
