//! Programs in guests, where the guest kernel is (`make linux`); skipped with a line elsewhere.
#![cfg(target_os = "linux")]
#![allow(clippy::disallowed_methods, reason = "a test starts the program and looks where it runs")]

use std::path::PathBuf;
use std::process::{Command, Output};

const SCENARIO: &str = r#"goodqueue = 1
name = "A line"
warmup = "500 ms"
duration = "30 s"
replications = 1
[link.bottleneck]
rate = "2 Mbit/s"
delay = "20 ms"
buffer = "50 packets"
queue = "codel"
[[traffic]]
kind = "cbr"
rate = "100 kbit/s"
packet_size = "200 B"
"#;

/// A server of one connection, which sends 100 kB, and its client, which counts them.
const SERVER: &str =
    r"perl -MIO::Socket::INET -e '$s=IO::Socket::INET->new(LocalPort=>80,Listen=>1) or die; $c=$s->accept; print $c q(x)x100000'";
const CLIENT: &str = r"perl -MIO::Socket::INET -e '$c=IO::Socket::INET->new(q(server:80)) or die; $n=0; $n+=length while <$c>; print qq($n bytes\n)'";

struct Place(PathBuf);

impl Place {
    fn new(name: &str) -> Self {
        let path = std::env::temp_dir().join(format!("gq-exec-test-{}-{name}", std::process::id()));
        std::fs::create_dir_all(&path).expect("a folder");
        std::fs::write(path.join("line.toml"), SCENARIO).expect("a scenario");
        Self(path)
    }

    fn exec(&self, more: &[&str]) -> Output {
        Command::new(env!("CARGO_BIN_EXE_gq"))
            .current_dir(&self.0)
            .args(["exec", "line.toml"])
            .args(more)
            .output()
            .expect("gq starts")
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// Says why when it is not there.
fn has_kernel(test: &str) -> bool {
    match goodqueue_guests::linux::Kernel::find(goodqueue_guests::linux::Series::V6_12) {
        Ok(_) => true,
        Err(message) => {
            println!("skipped: {test} ({message})");
            false
        }
    }
}

#[test]
fn programs_talk_across_the_line_in_virtual_time() {
    if !has_kernel("programs_talk_across_the_line_in_virtual_time") {
        return;
    }
    let place = Place::new("talk");
    let [one, two] =
        [(); 2].map(|()| place.exec(&["--server", SERVER, "--client", &format!("{CLIENT}; cut -d. -f1 /proc/uptime")]));
    let (text, error) = (String::from_utf8_lossy(&one.stdout), String::from_utf8_lossy(&one.stderr));
    assert!(one.status.success(), "{text}{error}");
    let lines: Vec<_> = text.lines().collect();
    assert_eq!(lines[0], "100000 bytes");
    // 100 kB take at least 0.4 s at 2 Mbit/s, after half a second of warm-up and a second of
    // getting ready.
    let seconds: u64 = lines[1].parse().expect("seconds");
    assert!((1..=5).contains(&seconds), "{seconds} s");
    assert!(error.contains("the client ended at"), "{error}");
    assert_eq!(one.stdout, two.stdout, "it repeats");
    let ended = |output: &Output| String::from_utf8_lossy(&output.stderr).lines().last().map(ToOwned::to_owned);
    assert_eq!(ended(&one), ended(&two));
}

/// A web server that stays in the foreground and writes nowhere but to `/run`.
const NGINX: &str = "daemon off;
pid /run/nginx.pid;
error_log stderr;
events {}
http {
    access_log off;
    client_body_temp_path /run/body;
    proxy_temp_path /run/proxy;
    fastcgi_temp_path /run/fastcgi;
    uwsgi_temp_path /run/uwsgi;
    scgi_temp_path /run/scgi;
    server {
        listen 80;
        root .;
    }
}
";

#[test]
fn a_web_server_serves_unmodified() {
    let there = |program: &str| Command::new("sh").args(["-c", &format!("PATH=$PATH:/usr/sbin; command -v {program}")]).output();
    for program in ["nginx", "curl"] {
        if !there(program).is_ok_and(|output| output.status.success()) {
            println!("skipped: a_web_server_serves_unmodified (there is no {program})");
            return;
        }
    }
    if !has_kernel("a_web_server_serves_unmodified") {
        return;
    }
    let place = Place::new("web");
    std::fs::write(place.0.join("nginx.conf"), NGINX).expect("a configuration");
    std::fs::write(place.0.join("page"), vec![b'x'; 200_000]).expect("a page");
    let server = format!("nginx -e stderr -p {} -c nginx.conf", place.0.display());
    let client = "curl -sS -o /dev/null -w '%{http_code} %{size_download} %{time_total}\\n' http://server/page http://server/none -o /dev/null";
    let output = place.exec(&["--server", &server, "--client", client]);
    let (text, error) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert!(output.status.success(), "{text}{error}");
    let answers: Vec<Vec<&str>> = text.lines().map(|line| line.split(' ').collect()).collect();
    let [page, none] = &answers[..] else { panic!("two answers: {text}{error}") };
    assert_eq!(page[..2], ["200", "200000"], "{text}{error}");
    // 200 kB take at least 0.8 s at 2 Mbit/s.
    let seconds: f64 = page[2].parse().expect("seconds");
    assert!((0.8..2.0).contains(&seconds), "{seconds} s");
    assert_eq!(none[0], "404", "{text}{error}");
}

#[test]
fn the_clients_code_and_its_lateness_decide() {
    if !has_kernel("the_clients_code_and_its_lateness_decide") {
        return;
    }
    let place = Place::new("code");
    let failed = place.exec(&["--client", "exit 3"]);
    let error = String::from_utf8_lossy(&failed.stderr).into_owned();
    assert!(failed.status.code() == Some(1) && error.contains("ended with code 3"), "{error}");
    let late = place.exec(&["--client", "sleep 100", "--set", "duration=1 s"]);
    let error = String::from_utf8_lossy(&late.stderr).into_owned();
    assert!(late.status.code() == Some(1) && error.contains("had not ended when the scenario did"), "{error}");
}

#[test]
fn what_cannot_be_is_refused_in_a_line() {
    if !has_kernel("what_cannot_be_is_refused_in_a_line") {
        return;
    }
    let place = Place::new("refused");
    for (more, said) in [
        (vec!["--client", "true\nfalse"], "must be one line"),
        (vec!["--client", "true", "--cc", "none"], "is not in the guest kernel"),
        (vec!["--client", "true", "--on", "sim", "--set", "nothing=1"], "nothing"),
    ] {
        let output = place.exec(&more);
        let error = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(output.status.code() == Some(2) && error.contains(said), "{more:?}: {error}");
    }
}
