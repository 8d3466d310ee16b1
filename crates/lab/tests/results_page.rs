//! Tables of figures in `docs/results.md`, of grades and policies in `docs/answers.md` and of mixes
//! in `docs/mixes.md`, and the same descriptions for tests of the web pages, are made from the
//! lists of metrics. This test holds them to the lists; `make docs` rewrites them:
//! `cargo test -p goodqueue-lab --test results_page -- --ignored`.

use goodqueue_lab::results::columns::descriptions;
use goodqueue_lab::results::experience::{Activity, Margin};
use goodqueue_lab::results::metrics::{
    Better, Description, FLOW_METRICS, GROUP_METRICS, JAIN_METRICS, LINK_METRICS, Presence, Quantity,
};
use goodqueue_lab::scenario::mix::MIXES;
use goodqueue_lab::verdict::{DEPLOYED, POLICY_KEYS};
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// A table of the page, between its markers.
fn table(metrics: impl Iterator<Item = &'static Description>) -> String {
    let mut text = "| figure | unit | meaning |\n|---|---|---|\n".to_owned();
    for about in metrics {
        let _ = writeln!(text, "| `{}` | {} | {} |", about.name, about.quantity.unit(), about.doc);
    }
    text
}

/// The table of the figures that groups get, by activity.
fn experience() -> String {
    let mut text =
        "| activity | figure | unit | better | decides, differences that count | good, fair, poor | figure of the group |\n\
                    |---|---|---|---|---|---|---|\n"
            .to_owned();
    for activity in Activity::ALL {
        for metric in activity.metrics() {
            let about = &metric.about;
            let better = match about.better {
                Better::Higher => "higher",
                Better::Lower => "lower",
                Better::Neither => "",
            };
            let margin = match metric.decides {
                Some(Margin::Absolute(margin)) if about.quantity == Quantity::Ratio => format!("above {} points", margin * 100.0),
                Some(Margin::Absolute(margin)) => format!("above {margin}"),
                Some(Margin::Relative(part)) => format!("above {} %", part * 100.0),
                Some(Margin::Time { part, least_s }) => {
                    format!("above {} % and {} ms (a quarter, if that is less)", part * 100.0, least_s * 1e3)
                }
                None => String::new(),
            };
            let grades = metric.grades.map_or_else(String::new, |grades| grades.bounds.map(|bound| bound.to_string()).join(", "));
            let source = metric.of_group().map_or(about.doc.to_owned(), |about| format!("`{}`", about.name));
            let (name, figure, unit) = (activity.name(), about.name, about.quantity.unit());
            let _ = writeln!(text, "| {name} | `{figure}` | {unit} | {better} | {margin} | {grades} | {source} |");
        }
    }
    text
}

/// The mixes of traffic.
fn mixes() -> String {
    let mut text = "| mix | groups | source |\n|---|---|---|\n".to_owned();
    for mix in MIXES {
        let groups: Vec<String> =
            mix.parts.iter().map(|part| format!("`{}`: {} ({})", part.name, part.about, part.flows)).collect();
        let former: String = mix.former_names().iter().map(|name| format!(", formerly `{name}`")).collect();
        let _ = writeln!(text, "| `{}`{former} | {} | {} |", mix.name, groups.join("; "), mix.source);
    }
    text
}

/// The table of the grades of figures.
fn grades() -> String {
    let mut text = "| activity | figure | good | fair | poor | source |\n|---|---|---|---|---|---|\n".to_owned();
    for activity in Activity::ALL {
        for metric in activity.metrics() {
            let Some(grades) = metric.grades else { continue };
            let (about, unit) = (&metric.about, metric.about.quantity.unit());
            let sign = if about.better == Better::Higher { "≥" } else { "≤" };
            let [good, fair, poor] = grades.bounds.map(|bound| match about.quantity {
                Quantity::Ratio => format!("{sign} {} %", bound * 100.0),
                Quantity::Time if bound < 1.0 => format!("{sign} {} ms", bound * 1e3),
                _ => format!("{sign} {bound} {unit}").trim_end().to_owned(),
            });
            let _ = writeln!(text, "| {} | `{}` | {good} | {fair} | {poor} | {} |", activity.name(), about.name, grades.source);
        }
    }
    text
}

/// The table of the deployment of queues.
fn deployed() -> String {
    let mut text = "| queue | evidence |\n|---|---|\n".to_owned();
    for (kind, evidence) in DEPLOYED {
        let _ = writeln!(text, "| `{kind}` | {evidence} |");
    }
    text
}

/// The keys of `--policy`.
fn policy() -> String {
    let mut text = "| key | bound |\n|---|---|\n".to_owned();
    for (key, about) in POLICY_KEYS {
        let _ = writeln!(text, "| `{key}` | {about} |");
    }
    text
}

/// The page on results with regenerated tables.
fn results(page: String) -> String {
    let groups =
        |presence: Presence| GROUP_METRICS.iter().map(|metric| &metric.about).filter(move |about| about.presence == presence);
    let tables = [
        ("links", table(LINK_METRICS.iter().map(|metric| &metric.about))),
        ("groups", table(groups(Presence::Always))),
        ("special groups", table(groups(Presence::WithSection))),
        ("experience", experience()),
        ("flows", table(FLOW_METRICS.iter().map(|metric| &metric.about))),
        ("fairness", table(JAIN_METRICS.iter().map(|metric| &metric.about))),
    ];
    with_tables(page, &tables)
}

/// A page with these tables between their markers.
fn with_tables(mut page: String, tables: &[(&str, String)]) -> String {
    for (name, table) in tables {
        let (begin, end) = (format!("<!-- figures: {name} -->\n"), "<!-- end -->\n");
        let from = page.find(&begin).unwrap_or_else(|| panic!("the page lacks {begin}")) + begin.len();
        let to = from + page[from..].find(end).unwrap_or_else(|| panic!("the page lacks the end of {begin}"));
        page.replace_range(from..to, table);
    }
    page
}

fn made() -> [(PathBuf, String); 5] {
    let pages = ["docs/results.md", "docs/answers.md", "docs/mixes.md", "docs/recommend.md"].map(|path| root().join(path));
    let [written, answers, on_mixes, on_lines] = pages.each_ref().map(|path| fs::read_to_string(path).expect("a page"));
    let answers = with_tables(answers, &[("grades", grades()), ("deployed", deployed()), ("policy", policy())]);
    let json = serde_json::to_string_pretty(&descriptions()).expect("plain values") + "\n";
    let [on_results, on_answers, mixes_page, lines_page] = pages;
    [
        (on_results, results(written)),
        (on_answers, answers),
        (mixes_page, with_tables(on_mixes, &[("mixes", mixes())])),
        (lines_page, with_tables(on_lines, &[("lines", goodqueue_lab::run::recommend::access::table())])),
        (root().join("crates/web/test/metrics.json"), json),
    ]
}

#[test]
fn tables_are_what_the_lists_say() {
    for (path, made) in made() {
        let written = fs::read_to_string(&path).unwrap_or_default();
        assert!(written == made, "{} is stale: see the head of this test", path.display());
    }
}

#[test]
#[ignore = "writes docs/results.md, docs/answers.md, docs/mixes.md, docs/recommend.md and crates/web/test/metrics.json"]
fn write() {
    for (path, made) in made() {
        fs::write(&path, made).expect("a writable file");
    }
}
