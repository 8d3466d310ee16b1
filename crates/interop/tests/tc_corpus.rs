//! Outputs of `tc` of nine years, text and JSON, against the figures that must come out of them:
//! the tables of `tc/README.md`.

use goodqueue_interop::import::{Input, tc};
use goodqueue_interop::router::doctor::{Folder, Weight, examine};
use goodqueue_interop::router::tc::{Role, read};
use std::collections::BTreeSet;
use std::path::PathBuf;

const TABLES: &str = include_str!("tc/README.md");

/// The rows of a table, below their headings.
fn rows(title: &str) -> Vec<Vec<&'static str>> {
    let (_, rest) = TABLES.split_once(&format!("## {title}\n")).expect("the table is there");
    let table = rest.split("\n## ").next().unwrap_or_default();
    let cells = |line: &'static str| line.trim_matches('|').split('|').map(|cell| cell.trim().trim_matches('`')).collect();
    table.lines().filter(|line| line.starts_with('|')).skip(2).map(cells).collect()
}

fn folder() -> PathBuf {
    [env!("CARGO_MANIFEST_DIR"), "tests", "tc"].iter().collect()
}

fn text(file: &str) -> String {
    std::fs::read_to_string(folder().join(file)).unwrap_or_else(|error| panic!("{file}: {error}"))
}

/// The figures of an interface: of the row with the longest beginning of the file's name.
fn figures(file: &str, dev: &str) -> Option<&'static str> {
    let fits = |row: &Vec<&str>| file.starts_with(row[0]) && row[1] == dev;
    rows("Figures").into_iter().filter(fits).max_by_key(|row| row[0].len()).map(|row| row[2])
}

fn is_queue_list(file: &str) -> bool {
    !file.starts_with("filters")
}

#[test]
fn each_file_has_its_row_and_each_row_its_file() {
    let listed: BTreeSet<String> = rows("Files").iter().map(|row| row[0].to_owned()).collect();
    let there = std::fs::read_dir(folder()).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap());
    let there: BTreeSet<String> = there.filter(|name| name != "README.md").collect();
    assert_eq!(listed, there);
    for row in rows("Figures") {
        assert!(there.iter().any(|file| file.starts_with(row[0])), "{row:?}");
    }
}

#[test]
fn each_interface_of_each_file_gives_its_figures() {
    let mut faults = Vec::new();
    for row in rows("Files").iter().filter(|row| is_queue_list(row[0])) {
        let (file, text) = (row[0], text(row[0]));
        let all = read(&text).unwrap_or_else(|error| panic!("{file}: {error}"));
        let roots = all.iter().filter(|found| found.role == Role::Qdisc && found.parent.is_none() && found.kind != "noqueue");
        let devices: BTreeSet<&str> = roots.map(|found| found.dev.as_str()).collect();
        for dev in devices {
            let Some(wanted) = figures(file, dev) else {
                faults.push(format!("{file}: {dev} has no row"));
                continue;
            };
            let made = match tc::import(&Input::read(file, text.as_bytes()).unwrap(), Some(dev)) {
                Ok(draft) => draft.text(),
                Err(error) => format!("refused: {error}"),
            };
            let missing: Vec<&str> =
                wanted.split(" · ").map(|one| one.trim_matches('`')).filter(|one| !made.contains(*one)).collect();
            if !missing.is_empty() {
                faults.push(format!("{file}: {dev}: {missing:?} are not in\n{made}"));
            }
        }
    }
    assert!(faults.is_empty(), "{} faults\n{}", faults.len(), faults.join("\n"));
}

#[test]
fn redirections_are_found_in_each_form_of_filters() {
    for row in rows("Files").iter().filter(|row| !is_queue_list(row[0])) {
        let dir = tempfile::tempdir().unwrap();
        let file = |path: &str, text: &str| {
            let path = dir.path().join(path);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, text).unwrap();
        };
        file("sys/class/net/eth0/mtu", "1500");
        file("sys/class/net/ifb4eth0/flags", "0x83");
        file("commands/tc_-j_filter_show_dev_eth0_ingress", &text(row[0]));
        let cake = r#"{"kind":"cake","handle":"1:","dev":"DEV","root":true,"options":{"bandwidth":1250000}}"#;
        let queues = format!("[{},{}]", cake.replace("DEV", "eth0"), cake.replace("DEV", "ifb4eth0"));
        file("commands/tc_-j_qdisc_show", &queues);
        let report = examine(&Folder::new(dir.path().to_owned()), Some("eth0")).unwrap();
        let said = |check: &str| report.findings.iter().any(|finding| finding.check.starts_with(check));
        assert!(!said("arriving") && !said("not known"), "{}: {report:?}", row[0]);
        assert!(report.findings.iter().all(|finding| finding.weight != Weight::Problem), "{}: {report:?}", row[0]);
    }
}
