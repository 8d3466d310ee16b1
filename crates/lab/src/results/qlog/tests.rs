use super::*;
use crate::results::record::NoRecorder;
use crate::scenario::plan::Plan;
use goodqueue_aqm::Reason;
use goodqueue_base::units::Duration;
use std::sync::Arc;

/// Members that records must have, by the drafts' CDDL: those of its header.
const OF_THE_HEADER: [&str; 3] = ["file_schema", "serialization_format", "trace"];

/// The members of `data` that the drafts require of each event that we write.
fn required(name: &str) -> &'static [&'static str] {
    match name {
        "quic:packet_sent" | "quic:packet_received" => &["header"],
        // All members of these are optional in the drafts.
        "quic:packet_dropped" | "quic:recovery_metrics_updated" => &[],
        "goodqueue:packet_marked" => &["header", "reason"],
        other => panic!("an event that is in no schema: {other}"),
    }
}

/// Reads a JSON text sequence (RFC 7464) and holds it to the schema: a header, then events in the
/// order of time.
fn parse(text: &str) -> (Value, Vec<Value>) {
    let mut records = text.split('\u{1e}');
    assert_eq!(records.next(), Some(""), "a record begins with a separator");
    let mut records = records.map(|record| {
        assert!(record.ends_with('\n') && !record.trim_end().contains('\n'), "a record is one line");
        serde_json::from_str::<Value>(record).expect("JSON")
    });
    let header = records.next().expect("a header");
    OF_THE_HEADER.iter().for_each(|member| assert!(header.get(member).is_some(), "{member}"));
    assert_eq!(header["file_schema"], "urn:ietf:params:qlog:file:sequential");
    assert_eq!(header["serialization_format"], "application/qlog+json-seq");
    let trace = &header["trace"];
    assert!(trace["event_schemas"].as_array().is_some_and(|schemas| schemas[0] == "urn:ietf:params:qlog:events:quic-13"));
    let vantage = &trace["vantage_point"];
    // Only the network's vantage point has a flow, and must.
    assert_eq!((vantage["type"].as_str(), vantage["flow"].as_str()), (Some("network"), Some("server")));
    assert_eq!(trace["common_fields"]["reference_time"]["clock_type"], "monotonic");
    let events: Vec<Value> = records.collect();
    let mut before = 0.0;
    for event in &events {
        let (time, name) = (event["time"].as_f64().expect("a time"), event["name"].as_str().expect("a name"));
        assert!(time >= before, "{name} at {time} ms after {before} ms");
        before = time;
        let data = event["data"].as_object().expect("data");
        required(name).iter().for_each(|member| assert!(data.contains_key(*member), "{name}: {member}"));
        if let Some(header) = data.get("header") {
            assert!(header["packet_type"].is_string() && header["packet_number"].is_u64(), "{header}");
        }
    }
    (header, events)
}

fn at(millis: u64) -> Instant {
    Instant::ZERO + Duration::ms(millis)
}

fn packet(millis: u64, flow: u32, kind: PacketEventKind) -> PacketEvent {
    PacketEvent { at: at(millis), link: 0, flow, number: 1448 * millis, len: 1500, kind }
}

fn series(subject: &str) -> Series {
    let column = |name: &str, values: [f64; 2]| SeriesColumn { name: name.to_owned(), values: values.to_vec() };
    Series {
        subject: subject.to_owned(),
        times: Arc::new(vec![at(5), at(15)]),
        columns: vec![column("cwnd_bytes", [14480.0, 28960.0]), column("srtt_s", [f64::NAN, 0.021])],
    }
}

const SOJOURN: Duration = Duration::ms(2);

#[test]
fn packets_and_samples_are_events_in_the_order_of_time() {
    let packets = [
        packet(1, 0, PacketEventKind::Enqueued),
        packet(3, 0, PacketEventKind::Departed { sojourn: SOJOURN }),
        packet(5, 0, PacketEventKind::Marked { reason: Reason::Head }),
        packet(20, 0, PacketEventKind::Dropped { reason: Reason::OverLimit, sojourn: SOJOURN }),
    ];
    let text =
        file(Form::Draft14, "bulk[0]", &["line".to_owned()], &packets.iter().collect::<Vec<_>>(), Some(&series("flow:bulk:0")));
    let (header, events) = parse(&text);
    assert_eq!(header["trace"]["common_fields"]["group_id"], "bulk[0]");
    let names: Vec<&str> = events.iter().filter_map(|event| event["name"].as_str()).collect();
    assert_eq!(
        names,
        [
            "quic:packet_received",
            "quic:packet_sent",
            "goodqueue:packet_marked",
            "quic:recovery_metrics_updated",
            "quic:recovery_metrics_updated",
            "quic:packet_dropped",
        ]
    );
    assert_eq!(events[0]["data"]["link"], "line");
    assert_eq!(events[1]["data"]["raw"]["length"], 1500);
    assert_eq!(events[3]["data"], json!({ "congestion_window": 14480 }), "what is not known is left out");
    assert_eq!(events[4]["data"]["smoothed_rtt"], 21.0);
    assert_eq!(events[5]["data"]["details"]["reason"], "over-limit");
}

#[test]
fn version_0_3_has_its_own_header_and_categories() {
    let packets = [
        packet(1, 0, PacketEventKind::Enqueued),
        packet(3, 0, PacketEventKind::Departed { sojourn: SOJOURN }),
        packet(20, 0, PacketEventKind::Dropped { reason: Reason::OverLimit, sojourn: SOJOURN }),
    ];
    let packets: Vec<&PacketEvent> = packets.iter().collect();
    let text = file(Form::Version03, "bulk[0]", &["line".to_owned()], &packets, Some(&series("flow:bulk:0")));
    let mut records = text.split('\u{1e}').skip(1).map(|record| serde_json::from_str::<Value>(record).expect("JSON"));
    let header = records.next().expect("a header");
    assert_eq!((header["qlog_version"].as_str(), header["qlog_format"].as_str()), (Some("0.3"), Some("JSON-SEQ")));
    assert_eq!(header["trace"]["common_fields"]["time_format"], "relative");
    let names: Vec<String> = records.filter_map(|event| Some(event["name"].as_str()?.to_owned())).collect();
    let metrics = "recovery:metrics_updated";
    assert_eq!(names, ["transport:packet_received", "transport:packet_sent", metrics, metrics, "transport:packet_dropped"]);
}

#[test]
fn each_flow_of_a_recorded_run_has_a_file() {
    let text = "goodqueue = 1\nduration = '1 s'\nlink.line = { rate = '10 Mbit/s', delay = '1 ms', buffer = '9 packets' }\n\
                [[traffic]]\nname = 'a/b'\nkind = 'bulk'\nflows = 2\n[[traffic]]\nname = 'c'\nkind = 'bulk'\n";
    let plan = Plan::parse("test", text, Path::new("")).expect("a scenario");
    let points = plan.points().expect("points");
    let dir = tempfile::tempdir().expect("a folder");
    let mut nothing = NoRecorder;
    let mut files = QlogFiles::new(&dir.path().join("new"), &points, &mut nothing).expect("a folder");
    let packets = [packet(1, 1, PacketEventKind::Enqueued), packet(2, 2, PacketEventKind::Enqueued)];
    let run =
        RecordedRun { point: 0, replication: 3, links: &["line".to_owned()], series: &[series("flow:c:0")], packets: &packets };
    files.record(run);
    assert_eq!(files.finish().expect("written"), 3);
    let events = |name: &str| parse(&std::fs::read_to_string(dir.path().join("new").join(name)).expect("a file")).1.len();
    assert_eq!(["0-3-a_b-0.sqlog", "0-3-a_b-1.sqlog", "0-3-c-0.sqlog"].map(events), [0, 1, 3]);
}

#[test]
fn a_folder_that_takes_no_file_is_an_error() {
    let dir = tempfile::tempdir().expect("a folder");
    let file = dir.path().join("file");
    std::fs::write(&file, "").expect("written");
    let mut nothing = NoRecorder;
    let error = QlogFiles::new(&file, &[], &mut nothing).err().expect("a file is no folder");
    assert!(error.to_string().contains("file"), "{error}");
}
