use super::*;

fn input(text: &str) -> Input {
    Input::read("c.qlog", text.as_bytes()).unwrap()
}

/// A server's connection: 1000 packets of 1250 bytes within a second, the round-trip time rising
/// from 20 ms to 60 ms half-way.
fn sequence(separator: &str) -> String {
    let mut text = format!(
        "{separator}{{\"trace\":{{\"title\":\"mine\",\"vantage_point\":{{\"type\":\"server\"}},\"common_fields\":{{}}}}}}\n"
    );
    let mut add = |time: f64, name: &str, data: &str| {
        text.push_str(&format!("{separator}{{\"time\":{time},\"name\":\"{name}\",\"data\":{data}}}\n"));
    };
    add(0.0, "recovery:metrics_updated", "{\"smoothed_rtt\":20,\"congestion_window\":10000}");
    for number in 0..1000 {
        add(f64::from(number), "quic:packet_sent", "{\"raw\":{\"length\":1250}}");
    }
    add(10.0, "quic:packet_received", "{\"raw\":{\"length\":40}}");
    add(500.0, "quic:recovery_metrics_updated", "{\"smoothed_rtt\":60,\"congestion_window\":30000,\"bytes_in_flight\":9000}");
    add(700.0, "quic:packet_lost", "{}");
    add(700.0, "quic:packet_dropped", "{\"raw\":{\"length\":40}}");
    text
}

#[test]
fn both_kinds_of_sequence_and_a_document_give_the_same_figures() {
    let connection = Connection::read(&input(&sequence("\u{1e}"))).unwrap();
    assert_eq!((connection.title.as_str(), connection.packets, connection.bytes, connection.lost), ("mine", 1000, 1_250_000, 1));
    assert!((connection.seconds - 0.999).abs() < 1e-9);
    assert!((connection.rate_bit_s().unwrap() - 10_010_010.0).abs() < 1.0);
    // 500 ms at 20 ms, 499 ms at 60 ms.
    assert_eq!(connection.rtt_s, Some([0.02, 0.02, 0.06]));
    assert!((connection.window.unwrap() - 19_990.0).abs() < 20.0, "{:?}", connection.window);
    assert_eq!(connection.in_flight, Some(9000.0));

    assert_eq!(Connection::read(&input(&sequence(""))).unwrap(), connection);

    let mut records = sequence("");
    records = records.lines().skip(1).collect::<Vec<_>>().join(",");
    let document =
        format!("{{\"traces\":[{{\"title\":\"mine\",\"vantage_point\":{{\"type\":\"server\"}},\"events\":[{records}]}}]}}");
    assert_eq!(Connection::read(&input(&document)).unwrap(), connection);
}

#[test]
fn at_a_network_arrivals_of_the_busiest_link_count() {
    let mut text = "{\"trace\":{\"vantage_point\":{\"type\":\"network\"}}}\n".to_owned();
    for number in 0..100 {
        text.push_str(&format!(
            "{{\"time\":{number},\"name\":\"quic:packet_received\",\"data\":{{\"link\":\"line\",\"raw\":{{\"length\":1500}}}}}}\n"
        ));
        text.push_str(&format!("{{\"time\":{number},\"name\":\"quic:packet_received\",\"data\":{{\"link\":\"line.up\",\"raw\":{{\"length\":40}}}}}}\n"));
    }
    text.push_str("{\"time\":50,\"name\":\"quic:packet_dropped\",\"data\":{\"link\":\"line\",\"raw\":{\"length\":1500}}}\n");
    let connection = Connection::read(&input(&text)).unwrap();
    assert_eq!((connection.packets, connection.bytes, connection.lost), (100, 150_000, 1));
}

#[test]
fn times_may_count_from_the_event_before() {
    let text = "{\"trace\":{\"common_fields\":{\"time_format\":\"relative_to_previous_event\"}}}\n\
                {\"time\":5,\"name\":\"packet_sent\",\"data\":{\"raw\":{\"length\":100}}}\n\
                {\"time\":7,\"name\":\"packet_sent\",\"data\":{\"raw\":{\"length\":100}}}\n";
    assert!((Connection::read(&input(text)).unwrap().seconds - 0.007).abs() < 1e-12);
}

#[test]
fn a_connection_becomes_a_scenario() {
    let text = import(&input(&sequence("\u{1e}"))).unwrap().text();
    goodqueue_lab::scenario::plan::Plan::parse("draft", &text, std::path::Path::new("")).expect("it can be run");
    assert!(text.contains("size = \"1250000 B\""), "{text}");
    assert!(text.contains("# measured: half of 20.0 ms, the least smoothed round-trip time"), "{text}");
}

#[test]
fn short_connections_tell_no_rate() {
    let sent = |time: &str, length: &str| {
        format!("{{\"time\":{time},\"name\":\"packet_sent\",\"data\":{{\"raw\":{{\"length\":{length}}}}}}}\n")
    };
    let head = "{\"trace\":{}}\n";
    let refused = "too short for a rate: allowed 10 ms and more";
    for (rows, packets) in
        [(sent("5", "1200"), "1 packets span 0.000 ms"), (sent("5", "1200") + &sent("7", "1200"), "2 packets span 2.000 ms")]
    {
        let message = import(&input(&format!("{head}{rows}"))).unwrap_err().to_string();
        assert_eq!(message, format!("c.qlog: its {packets}: {refused}"));
    }
    let wrong = [sent("1e300", "1200"), sent("\"x\"", "1200"), sent("9", "-4"), sent("9", "9e99")].concat();
    let text = import(&input(&(sequence("") + &wrong))).unwrap().text();
    for note in ["# 2 events without a time that", "# 2 packets without a length that"] {
        assert!(text.contains(&format!("{note} can be one were not read.")), "{note}\n{text}");
    }
}

#[test]
fn what_is_no_qlog_is_refused_in_one_line() {
    let message = |text: &str| Connection::read(&input(text)).unwrap_err().to_string();
    let no_qlog = "c.qlog: is no qlog: expected `traces` with `events`, or a first record with `trace`";
    for text in ["{}", "{\"a\":1}\n{\"b\":2}\n", "{\"traces\":[]}", "{\"traces\":[{\"events\":[]}]}"] {
        assert_eq!(message(text), no_qlog);
    }
    assert!(message("{\"trace\":{}}\nx\n{}\n").starts_with("c.qlog: record 2: is not JSON: "));
    assert_eq!(message("{\"trace\":{}}\n"), "c.qlog: has no packet_sent or packet_received");
    assert!(message(&"[".repeat(100_000)).starts_with("c.qlog: record 1: is not JSON: "));
    // A record that was being written is left out.
    let cut = sequence("\u{1e}") + "\u{1e}{\"time\":";
    assert_eq!(Connection::read(&input(&cut)).unwrap().packets, 1000);
}

/// A text on each line: packets with numbers that were sent at times in milliseconds, and the
/// acknowledgements of ranges.
fn sender(sent: &[(f64, u64)], acked: &[(f64, u64, u64)]) -> String {
    let mut rows: Vec<(f64, String)> = Vec::new();
    for (at, number) in sent {
        let data = format!("{{\"header\":{{\"packet_type\":\"1RTT\",\"packet_number\":{number}}},\"raw\":{{\"length\":1250}}}}");
        rows.push((*at, format!("{{\"time\":{at},\"name\":\"transport:packet_sent\",\"data\":{data}}}")));
    }
    for (at, first, last) in acked {
        let frames = format!("[{{\"frame_type\":\"ack\",\"acked_ranges\":[[{first},{last}]]}}]");
        let data = format!("{{\"header\":{{\"packet_type\":\"1RTT\"}},\"raw\":{{\"length\":40}},\"frames\":{frames}}}");
        rows.push((*at, format!("{{\"time\":{at},\"name\":\"transport:packet_received\",\"data\":{data}}}")));
    }
    let rows: Vec<String> = rows.into_iter().map(|(_, row)| row).collect();
    format!("{{\"trace\":{{\"vantage_point\":{{\"type\":\"server\"}}}}}}\n{}\n", rows.join("\n"))
}

/// The rate in kbit/s, and the scenario.
fn rate(text: &str) -> (u64, String) {
    let draft = import(&input(text)).unwrap();
    (draft.measured().unwrap().down.unwrap().value.as_bit_s() / 1_000, draft.text())
}

#[test]
fn a_sender_s_rate_is_what_was_acknowledged() {
    // A window that doubles with each round trip of 50 ms up to three times what the line carries,
    // 10 Mbit/s: a packet each millisecond is acknowledged.
    let sent: Vec<(f64, u64)> = (0..1_000u64).map(|n| ((n / 150) as f64 * 50.0 + (n % 150) as f64 * 0.01, n)).collect();
    let acked: Vec<(f64, u64, u64)> = (0..1_000u64).map(|n| (50.0 + n as f64, n.saturating_sub(3), n)).collect();
    let (kbit, text) = rate(&sender(&sent, &acked));
    assert!(kbit.abs_diff(10_000) < 150 && text.contains("# estimated: what was acknowledged in the busiest tenth"), "{kbit}");
    assert!(text.contains("it is as fast as written here or faster"), "{text}");
    // A packet each millisecond, and all acknowledgements within a tenth of a second at the end.
    let steady: Vec<(f64, u64)> = (0..1_000u64).map(|n| (n as f64, n)).collect();
    let late: Vec<(f64, u64, u64)> = (0..1_000u64).map(|n| (1_000.0 + n as f64 * 0.1, n, n)).collect();
    let (held_up, text) = rate(&sender(&steady, &late));
    assert!(held_up.abs_diff(10_000) < 250 && text.contains("what was acknowledged"), "{held_up}");
    let (kbit, text) = rate(&sender(&sent, &[]));
    assert!(text.contains("# estimated: what was sent after the first packets and not lost, in the mean"), "{kbit} {text}");
    assert!(text.contains("# The log does not tell what arrived: the line may be slower"), "{text}");
}

#[test]
fn bursts_are_no_rates() {
    let burst = |count: u64, last: f64| -> Vec<(f64, u64)> { (0..count).map(|n| (0.0, n)).chain([(last, count)]).collect() };
    for (sent, kbit) in [(burst(12, 10.1), 990), (burst(100, 20.0), 500)] {
        assert_eq!(rate(&sender(&sent, &[])).0, kbit);
    }
}

#[test]
fn a_clock_that_is_set_adds_no_time() {
    let at = |n: u64| if n < 50 { n as f64 * 10.0 } else { n as f64 * 10.0 - 3_600_000.0 };
    let (kbit, text) = rate(&sender(&(0..100).map(|n| (at(n), n)).collect::<Vec<_>>(), &[]));
    assert_eq!(kbit, 1_000);
    assert!(text.contains("# 1 events are earlier than the one before: the clock was set"), "{text}");
    // A list of metrics behind that of packets is no step.
    let order: Vec<u64> = (0..100).filter(|n| n % 2 == 0).chain((0..100).filter(|n| n % 2 == 1)).collect();
    let (kbit, text) = rate(&sender(&order.iter().map(|n| (*n as f64 * 10.0, *n)).collect::<Vec<_>>(), &[]));
    assert_eq!(kbit, 1_000);
    assert!(!text.contains("the clock was set"), "{text}");
}

#[test]
fn a_round_trip_that_no_path_has_is_refused_by_its_field() {
    let text = sequence("").replace("\"smoothed_rtt\":60", "\"smoothed_rtt\":1e9");
    let message = import(&input(&text)).unwrap_err().to_string();
    assert_eq!(message, "c.qlog: smoothed_rtt: 1000000 s is out of range: allowed 0 s to 60 s");
}
