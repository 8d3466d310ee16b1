//! `gq cite`: the program, the sources of algorithms, and those of results.

use std::fs;
use std::path::Path;
use std::process::{Command, Output, Stdio};

/// Exit code, standard output, standard error.
fn gq(folder: &Path, line: &str) -> (i32, String, String) {
    let mut command = Command::new(env!("CARGO_BIN_EXE_gq"));
    command.args(line.split_whitespace()).current_dir(folder).stdin(Stdio::null());
    let Output { status, stdout, stderr } = command.output().expect("the command starts");
    let text = |bytes| String::from_utf8(bytes).expect("output is UTF-8");
    (status.code().expect("it exits by itself"), text(stdout), text(stderr))
}

/// Keys of the entries.
fn keys(folder: &Path, line: &str) -> Vec<String> {
    let (code, out, err) = gq(folder, line);
    assert_eq!(code, 0, "{err}");
    let key = |line: &str| Some(line.split_once('{')?.1.split(',').next()?.to_owned());
    out.lines().filter(|line| line.starts_with('@')).filter_map(key).collect()
}

#[test]
fn the_program_is_cited_as_it_was_built() {
    let dir = tempfile::tempdir().unwrap();
    let (_, version, _) = gq(dir.path(), "version");
    let (_, out, _) = gq(dir.path(), "cite --format apa");
    let built = version.lines().next().unwrap().strip_prefix("gq ").unwrap().replace(" (", ", commit ");
    let built = built.trim_end_matches(')').trim_end_matches(", commit unknown");
    assert!(out.contains(&format!("goodqueue (Version {built}) [Computer software].")), "{out}");
    let (_, out, _) = gq(dir.path(), "cite --release");
    assert!(out.contains("{Computer software, version ") && !out.contains("commit"), "{out}");
}

#[test]
fn the_file_of_the_repository_is_what_a_release_prints() {
    let ours = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../CITATION.cff");
    let (_, out, _) = gq(Path::new("."), "cite --release --format cff");
    assert!(fs::read_to_string(&ours).unwrap() == out, "CITATION.cff: is out of date; tools/docs.sh rewrites it");
}

#[test]
fn kinds_are_followed_by_their_sources() {
    let dir = tempfile::tempdir().unwrap();
    assert_eq!(
        keys(dir.path(), "cite --aqm codel:target=10ms,fair:pie --cc cubic"),
        ["goodqueue", "rfc8289", "rfc8290", "rfc8033", "rfc9438"]
    );
    for (line, message) in [
        ("cite --aqm codle", "error: --aqm `codle` is not a queue algorithm of this version; did you mean `codel`?"),
        ("cite --cc cubci", "did you mean `cubic`?"),
        ("cite nowhere", "error: nowhere: cannot be read: "),
        ("cite .", "error: .: is no folder of results"),
        ("cite . --release", "--release"),
    ] {
        let (code, _, err) = gq(dir.path(), line);
        assert!(code == 2 && err.contains(message), "{line}: {err}");
    }
}

#[test]
fn a_result_cites_what_made_it_and_what_it_used() {
    let dir = tempfile::tempdir().unwrap();
    let place = dir.path();
    let line = "compare --rate 1mbit --warmup 1s --duration 1s --replications 1 --aqm tail-drop,pi --cc reno --no-report --out r";
    assert_eq!(gq(place, line).0, 0);
    assert_eq!(keys(place, "cite r"), ["goodqueue", "rfc7567", "rfc5681", "rfc3465", "pi2001"]);
    // The commit is that of the result.
    let summary = place.join("r/summary.json");
    let text = fs::read_to_string(&summary).unwrap();
    let at = text.find("\"commit\": \"").unwrap() + 11;
    let end = at + text[at..].find('"').unwrap();
    fs::write(&summary, format!("{}abcdefabcdef{}", &text[..at], &text[end..])).unwrap();
    assert!(gq(place, "cite r").1.contains(", commit abcdefabcdef}"));

    let scenario = place.join("r/scenario.toml");
    fs::copy(&scenario, place.join("s.toml")).unwrap();
    let queue = "--set link.bottleneck.queue=codel";
    assert_eq!(gq(place, &format!("sweep s.toml --out swept {queue}")).0, 0);
    assert_eq!(keys(place, "cite swept"), ["goodqueue", "rfc8289", "rfc5681", "rfc3465"]);

    fs::create_dir_all(place.join("studies/codel")).unwrap();
    let study = r#"{"version":"0.1.0","commit":"0123456789ab","citation":"codel2012","rows":[]}"#;
    fs::write(place.join("studies/codel/results.json"), study).unwrap();
    assert_eq!(keys(place, "cite studies"), ["goodqueue", "codel2012"]);
    let judged =
        r#"{"version":"0.1.0","commit":"0123456789ab","document":"RFC 7928","subjects":[{"name":"pie"},{"name":"mine"}]}"#;
    fs::create_dir(place.join("judged")).unwrap();
    fs::write(place.join("judged/evaluation.json"), judged).unwrap();
    assert_eq!(keys(place, "cite judged"), ["goodqueue", "rfc7928", "rfc8033"]);

    fs::write(&summary, "{").unwrap();
    let (code, _, err) = gq(place, "cite r");
    assert!(code == 2 && err.starts_with("error: r/summary.json: cannot be read: "), "{err}");
}
