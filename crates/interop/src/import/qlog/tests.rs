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
