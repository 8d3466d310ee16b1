//! `gq shell`: exit codes, who is reachable, and that nothing is left behind. Needs namespaces;
//! where the kernel allows none, the tests report it and end.
#![cfg(target_os = "linux")]

use goodqueue_live::testbed::bench::Bench;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{Ipv4Addr, TcpListener, UdpSocket};
use std::process::{Command, Output, Stdio};
use std::time::Duration;

/// A busy machine takes seconds to start everything.
const PATIENCE: Duration = Duration::from_secs(60);

fn shell(options: &[&str], program: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_gq"));
    command.args(["shell", "--rate", "20/10mbit", "--rtt", "10ms"]).args(options).arg("--").args(program);
    command.stdin(Stdio::null());
    command
}

/// False, and says why, where there are no namespaces or no bash, whose `/dev/tcp` stands for a
/// network program.
fn is_possible() -> bool {
    if let Err(reason) = Bench::new() {
        println!("skipped: {reason}");
        return false;
    }
    let has_bash = Command::new("bash").arg("--version").output().is_ok();
    if !has_bash {
        println!("skipped: no bash");
    }
    has_bash
}

fn said(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

#[test]
fn the_programs_code_is_the_commands() {
    if !is_possible() {
        return;
    }
    for (program, code) in [(&["sh", "-c", "exit 7"][..], 7), (&["sh", "-c", "kill -TERM $$"], 143), (&["/nonexistent"], 127)] {
        let output = shell(&[], program).output().expect("gq starts");
        assert_eq!(output.status.code(), Some(code), "{program:?}: {}", said(&output));
    }
    let output = shell(&[], &["sh", "-c", "echo inside"]).output().expect("gq starts");
    assert_eq!(String::from_utf8_lossy(&output.stdout), "inside\n");
    assert!(said(&output).lines().any(|line| line.starts_with("down ")), "{}", said(&output));
}

#[test]
fn a_line_that_cannot_write_its_packets_is_no_success() {
    if !is_possible() {
        return;
    }
    for (program, code) in [("exit 0", 1), ("exit 7", 7)] {
        let output = shell(&["--pcap", "/dev/full"], &["sh", "-c", program]).output().expect("gq starts");
        assert_eq!(output.status.code(), Some(code), "{}", said(&output));
        assert!(said(&output).contains("--pcap: No space left"), "{}", said(&output));
    }
}

#[test]
fn this_machine_is_reached_through_the_line() {
    if !is_possible() {
        return;
    }
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).expect("a listener");
    let port = listener.local_addr().expect("an address").port();
    let script = format!("exec 3<>/dev/tcp/outside/{port}; echo question >&3; cat <&3");
    let report = tempfile::tempdir().expect("a folder");
    let page = report.path().join("line.html");
    let output = std::thread::scope(|scope| {
        scope.spawn(|| {
            let (mut stream, _) = listener.accept().expect("a connection");
            let mut line = String::new();
            BufReader::new(stream.try_clone().expect("another handle")).read_line(&mut line).expect("a question");
            assert_eq!(line, "question\n");
            stream.write_all(&[b'x'; 100_000]).expect("it is taken");
        });
        let page = page.display().to_string();
        shell(&["--report", &page], &["bash", "-c", &script]).output().expect("gq starts")
    });
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success(), "{}", said(&output));
    assert_eq!((text.len(), text.trim_start_matches('x')), (100_000, ""));
    let page = std::fs::read_to_string(page).expect("a report");
    assert!(page.contains("behind a line") && page.contains("<svg"), "{} bytes", page.len());
}

#[test]
fn the_first_datagram_to_a_port_arrives_once() {
    if !is_possible() {
        return;
    }
    let socket = UdpSocket::bind((Ipv4Addr::LOCALHOST, 0)).expect("a socket");
    socket.set_read_timeout(Some(PATIENCE)).expect("a timeout");
    let port = socket.local_addr().expect("an address").port();
    // bash reads single bytes, and a datagram is read at once or lost.
    let script = format!("exec 3<>/dev/udp/outside/{port}; echo question >&3; timeout 20 dd bs=100 count=1 <&3 2>/dev/null");
    let output = std::thread::scope(|scope| {
        scope.spawn(|| {
            let mut question = [0; 100];
            let (got, from) = socket.recv_from(&mut question).expect("the datagram arrives");
            assert_eq!(&question[..got], b"question\n");
            socket.send_to(b"answer\n", from).expect("a way back");
        });
        shell(&[], &["bash", "-c", &script]).output().expect("gq starts")
    });
    assert_eq!(String::from_utf8_lossy(&output.stdout), "answer\n", "{}", said(&output));
    socket.set_nonblocking(true).expect("not waiting");
    assert!(socket.recv_from(&mut [0; 100]).is_err(), "it arrives more than once");
}

#[test]
fn a_server_stands_at_the_far_end_and_shells_nest() {
    if !is_possible() {
        return;
    }
    let perl = r"perl -MIO::Socket::INET -e '$s=IO::Socket::INET->new(LocalPort=>80,Listen=>5) or die; while ($c=$s->accept) { print $c qq(served\n); close $c }'";
    if Command::new("perl").arg("-v").output().is_err() {
        println!("skipped: no perl");
        return;
    }
    let output = shell(&["--server", perl], &["bash", "-c", "cat </dev/tcp/server/80"]).output().expect("gq starts");
    assert_eq!(String::from_utf8_lossy(&output.stdout), "served\n", "{}", said(&output));
    // From a shell within, the server of the one around it.
    let inner = [env!("CARGO_BIN_EXE_gq"), "shell", "--rate", "5mbit", "--", "bash", "-c", "cat </dev/tcp/server/80"];
    let output = shell(&["--server", perl], &inner).output().expect("gq starts");
    assert_eq!(String::from_utf8_lossy(&output.stdout), "served\n", "{}", said(&output));
}

#[test]
fn nothing_is_left_after_kill_9() {
    if !is_possible() {
        return;
    }
    // A process in the background that would outlive a terminal.
    let program = "setsid sleep 98765 & echo started; wait";
    let mut command = shell(&[], &["sh", "-c", program]);
    let mut child = command.stdout(Stdio::piped()).stderr(Stdio::null()).spawn().expect("gq starts");
    let mut output = BufReader::new(child.stdout.take().expect("it is piped"));
    let mut line = String::new();
    output.read_line(&mut line).expect("a readable line");
    assert_eq!(line, "started\n");
    child.kill().expect("it is killed");
    child.wait().expect("it ends");
    // Everyone inside has this pipe: it ends when the last of them has.
    assert_eq!(output.read_to_end(&mut Vec::new()).expect("the end"), 0);
}

#[test]
fn a_signal_to_the_command_reaches_the_program() {
    if !is_possible() {
        return;
    }
    let mut command = shell(&[], &["sh", "-c", "trap 'echo told; exit 3' TERM; echo ready; while :; do sleep 0.05; done"]);
    let mut child = command.stdout(Stdio::piped()).stderr(Stdio::null()).spawn().expect("gq starts");
    let mut lines = BufReader::new(child.stdout.take().expect("it is piped")).lines().map_while(Result::ok);
    assert_eq!(lines.next().as_deref(), Some("ready"));
    let sent = Command::new("kill").args(["-TERM", &child.id().to_string()]).status().expect("kill starts");
    assert!(sent.success());
    assert_eq!(lines.next().as_deref(), Some("told"));
    assert_eq!(child.wait().expect("it ends").code(), Some(3));
}

#[test]
fn mistakes_are_told_before_anything_starts() {
    let wrong = |options: &[&str]| {
        let output =
            Command::new(env!("CARGO_BIN_EXE_gq")).arg("shell").args(options).args(["--", "true"]).output().expect("gq starts");
        assert_eq!(output.status.code(), Some(2), "{}", said(&output));
        said(&output)
    };
    assert!(wrong(&[]).starts_with("error: --rate: "));
    assert!(wrong(&["--rate", "10mbit", "--rtt", "2h"]).starts_with("error: --rtt: `2h` is out of range"));
    assert!(wrong(&["--rate", "10mbit", "--report", "/nonexistent/x.html"]).starts_with("error: --report /nonexistent/x.html: "));
    for place in ["/nonexistent/x.pcapng", "."] {
        let said = wrong(&["--rate", "10mbit", "--pcap", place]);
        assert!(said.starts_with(&format!("error: --pcap {place}: ")) && said.lines().count() == 1, "{said}");
    }
    assert!(wrong(&["--rate", "10mbit", "--trace", "/nonexistent", "--rtt", "1ms"]).contains("/nonexistent"));
}
