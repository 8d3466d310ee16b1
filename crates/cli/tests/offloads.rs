//! `gq bridge` before senders whose kernel joins packets, as behind a veth pair: with no option
//! about offloads everything passes, and where it cannot the bridge ends and names the remedy.
//! Needs network namespaces; where the kernel allows none, the tests report it and end.
#![cfg(target_os = "linux")]

use goodqueue_live::sys::udp;
use goodqueue_live::testbed::bench::Bench;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream, UdpSocket};
use std::os::fd::AsFd;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

/// Far longer than anything here takes, unless it never ends.
const LONG: Duration = Duration::from_secs(20);

fn bench() -> Option<Bench> {
    Bench::with_offloads().inspect_err(|reason| println!("skipped: {reason}")).ok()
}

/// A bridge that moves packets, and what it says from then on.
fn start(bench: &Bench, options: &[&str]) -> (Child, impl Iterator<Item = String>) {
    let mut command = Command::new(env!("CARGO_BIN_EXE_gq"));
    command.args(["bridge", "--in", Bench::PORT_A, "--out", Bench::PORT_B, "--rate", "50mbit"]).args(options);
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::piped());
    let mut child = bench.middle.within(|| command.spawn()).expect("gq starts");
    let mut lines = BufReader::new(child.stderr.take().expect("it is piped")).lines().map_while(Result::ok);
    assert!(lines.by_ref().any(|line| line.starts_with("bridge gq-a to gq-b")), "it starts");
    (child, lines)
}

fn end(child: &mut Child) {
    let sent = Command::new("kill").args(["-TERM", &child.id().to_string()]).status().expect("kill starts");
    assert!(sent.success() && child.wait().expect("it ends").success());
}

#[test]
fn joined_packets_of_tcp_and_udp_pass_without_any_option() {
    let Some(bench) = bench() else { return };
    let (mut child, said) = start(&bench, &[]);
    let listener = bench.right.within(|| TcpListener::bind((Bench::RIGHT_ADDRESS, 9000))).expect("a listener");
    let to = (Bench::RIGHT_ADDRESS, 9000).into();
    let mut stream = bench.left.within(|| TcpStream::connect_timeout(&to, LONG)).expect("a way through");
    let bytes: Vec<u8> = (0..500_000u32).map(|n| (n ^ n >> 8) as u8).collect();
    let received = std::thread::scope(|scope| {
        let receiver = scope.spawn(|| {
            let (mut peer, _) = listener.accept().expect("a connection");
            peer.set_read_timeout(Some(LONG)).expect("a timeout");
            let mut got = Vec::new();
            peer.read_to_end(&mut got).expect("all of it");
            got
        });
        stream.write_all(&bytes).expect("it is taken");
        drop(stream);
        receiver.join().expect("the receiver ends")
    });
    assert!(received == bytes, "{} bytes of {}", received.len(), bytes.len());

    let right = bench.right.within(|| UdpSocket::bind((Bench::RIGHT_ADDRESS, 9001))).expect("a socket");
    let left = bench.left.within(|| UdpSocket::bind((Bench::LEFT_ADDRESS, 0))).expect("a socket");
    right.set_read_timeout(Some(LONG)).expect("a timeout");
    udp::send_joined(left.as_fd(), 1200).expect("the kernel has UDP segmentation");
    left.send_to(&[7; 12_000], (Bench::RIGHT_ADDRESS, 9001)).expect("it is sent");
    for _ in 0..10 {
        assert_eq!(right.recv(&mut [0; 2000]).expect("each datagram arrives"), 1200);
    }
    end(&mut child);
    let said: Vec<String> = said.collect();
    assert!(said.iter().all(|line| !line.contains("lost outside")), "{said:?}");
}

#[test]
fn a_bridge_that_does_not_split_ends_at_the_first_joined_packet() {
    let Some(bench) = bench() else { return };
    let (mut child, mut said) = start(&bench, &["--offloads", "refuse"]);
    let left = bench.left.within(|| UdpSocket::bind((Bench::LEFT_ADDRESS, 0))).expect("a socket");
    udp::send_joined(left.as_fd(), 1200).expect("the kernel has UDP segmentation");
    left.send_to(&[7; 6000], (Bench::RIGHT_ADDRESS, 9)).expect("it is sent");
    let error = said.find(|line| line.starts_with("error: ")).expect("it says why it ends");
    assert_eq!(child.wait().expect("it ends").code(), Some(1));
    assert!(error.contains("interface gq-a") && error.contains("--offloads split") && error.contains("ethtool -K"), "{error}");
}
