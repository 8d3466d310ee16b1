//! The text of a page.

use super::deployed::{self, Deployed, Here};
use super::header::{self, SECTIONS};
use super::{picture, reproduced};
use goodqueue_aqm::sched;
use goodqueue_aqm::spec::{Family, KindSpec, Param};
use std::fmt::Write as _;
use std::fs;
use std::path::Path;

/// The page of one kind; `folder` has its notes.
pub fn of(spec: &KindSpec, folder: &Path) -> String {
    let header = header::of(spec.kind);
    let mut page = format!("# {}: `{}`\n\n", spec.title, spec.kind);
    let _ = writeln!(page, "<!-- Made by crates/figure/tests/algorithm_pages.rs: `make docs` writes it again. -->\n");
    let _ = writeln!(page, "{}: {}\n", header.name, header.sentence);
    let _ = writeln!(page, "![Queueing delay, signals and state of {0} on a changing link]({0}.svg)\n", spec.kind);
    let _ = writeln!(page, "{}\n", picture::caption(spec));
    let ecn = match (spec.marks.is_possible(), own_ecn(spec)) {
        (true, Some(_)) => "marks ECN-capable packets (`ecn` is on by default)",
        (true, None) => "can mark ECN-capable packets (`ecn = true`)",
        (false, _) => "only drops, even packets that are ECN-capable",
    };
    let reproduced = reproduced::of(spec.kind);
    let study = if reproduced.is_some() { " Study: [reproduced](#reproduced)." } else { "" };
    let _ = writeln!(page, "In short: {}; {ecn}. From: {}.{study}\n", spec.signal, spec.source);
    if !spec.aliases.is_empty() {
        let names: Vec<String> = spec.aliases.iter().map(|name| format!("`{name}`")).collect();
        let _ = writeln!(page, "Also called: {}, in any spelling of upper and lower case, `_` and `-`.\n", names.join(", "));
    }
    if let Some(deployed) = deployed::of(spec.kind) {
        let _ = writeln!(page, "Compared with {}: [defaults](../defaults.md#{}).\n", deployed.discipline, spec.kind);
    }
    let notes = fs::read_to_string(folder.join("notes").join(format!("{}.md", spec.kind))).unwrap_or_default();
    let notes = sections(&notes);
    let note = |name: &str| notes.iter().find(|(known, _)| *known == name).map(|(_, text)| below(text));
    if let Some(text) = note(USE) {
        let _ = writeln!(page, "## {USE}\n\n{text}\n");
    }
    for name in SECTIONS {
        let text = header.sections.iter().find(|(known, _)| known == name).map(|(_, text)| text.as_str());
        match (name, text) {
            ("Parameters", text) => {
                parameters(&mut page, spec, text);
                let _ = writeln!(page, "## {LINUX}\n\n{}\n", note(LINUX).unwrap_or_else(|| own_discipline(spec)));
            }
            (_, None) => {}
            (_, Some(text)) => {
                let title = if name == "Deviations" { "Deviations from the source" } else { name };
                let _ = writeln!(page, "## {title}\n\n{}\n", capitalized(text));
            }
        }
    }
    for (name, text) in &header.modules {
        let _ = writeln!(page, "## {}\n\n{text}\n", capitalized(name));
    }
    for (name, text) in notes.iter().filter(|(name, _)| ![USE, LINUX].contains(name)) {
        let _ = writeln!(page, "## {name}\n\n{}\n", below(text));
    }
    if let Some(text) = reproduced {
        let _ = writeln!(page, "## {}\n\n{text}", reproduced::TITLE);
    }
    page.truncate(page.trim_end().len());
    page.push('\n');
    page
}

fn parameters(page: &mut String, spec: &KindSpec, text: Option<&str>) {
    page.push_str("## Parameters\n\n");
    table(page, spec.params);
    page.push_str(if spec.params.is_empty() {
        "No parameters of its own. Like every queue it has `limit` (default: the buffer of the link)"
    } else {
        "Like every queue it also has `limit` (default: the buffer of the link)"
    });
    page.push_str(match (own_ecn(spec), spec.marks.is_possible()) {
        (Some(_), _) => ".",
        (None, true) => " and `ecn` (default: off).",
        (None, false) => "; `ecn` has no effect, since it never marks.",
    });
    page.push_str("\n\n");
    if let Some(class) = spec.class {
        let _ = writeln!(
            page,
            "Each class, `class.NAME` in a file, has `parent`, the name of the class above (default: none), and:\n"
        );
        table(page, class.params);
    }
    // The table has replaced what a header says by pointing at it.
    let text = text.map(|text| text.strip_prefix("see `KINDS`.").unwrap_or(text).trim_start());
    if let Some(text) = text.filter(|text| !text.is_empty()) {
        let _ = writeln!(page, "{}\n", capitalized(text));
    }
}

fn table(page: &mut String, params: &[Param]) {
    if !params.is_empty() {
        page.push_str("| name | meaning | unit | default | range | source |\n|---|---|---|---|---|---|\n");
        params.iter().for_each(|param| row(page, param));
        page.push('\n');
    }
}

/// The parameter `ecn` of a kind that marks by default.
fn own_ecn(spec: &KindSpec) -> Option<&'static Param> {
    spec.params.iter().find(|param| param.name == "ecn" && param.default_text() == "true")
}

fn row(page: &mut String, param: &Param) {
    let range = param.range_text().map_or_else(String::new, |[low, high]| format!("{low} to {high}"));
    let cells = [&param.doc.to_owned(), &param.unit.to_string(), &param.default_text(), &range, &param.source.to_owned()];
    let cells: Vec<String> = cells.iter().map(|cell| cell.replace('|', "\\|")).collect();
    let _ = writeln!(page, "| `{}` | {} |", param.name, cells.join(" | "));
}

/// The page `docs/defaults.md`.
pub fn defaults() -> String {
    let mut page = "# Defaults\n\n\
        <!-- Made by crates/figure/tests/algorithm_pages.rs: `make docs` writes it again. -->\n\n\
        A queue without parameters does what `tc qdisc add` of its name makes Linux do; where Linux has no such discipline, what ns-3 does. The tables\n\
        list every setting of those with its default there and what it is here; a test compares both. `crates/aqm/tests/deployed.rs` plays\n\
        recordings of Linux to the kinds with these defaults and their own arithmetic, `crates/aqm/tests/vectors.rs` with Linux's, verdict by verdict.\n\n\
        One difference holds for all: the limit of a queue is the buffer of the link unless the scenario gives it a `limit`, so that queues are\n\
        compared at one buffer. Kinds that neither Linux nor ns-3 has follow their papers: "
        .to_owned();
    let is_of_papers = |spec: &&KindSpec| deployed::of(spec.kind).is_none() && spec.kind != "cake-mq";
    let others: Vec<String> = sched::kinds().filter(is_of_papers).map(|spec| format!("`{}`", spec.kind)).collect();
    let _ = writeln!(page, "{}. `cake-mq` has the defaults of `cake`.", others.join(", "));
    for Deployed { ours: kind, discipline, settings } in deployed::DEPLOYED {
        let _ = writeln!(page, "\n## {kind}\n\n[`{kind}`](algorithms/{kind}.md) compared with {discipline}:\n");
        page.push_str("| there | default | here |\n|---|---|---|\n");
        for setting in *settings {
            let here = match setting.here {
                Here::Same(param) => format!("`{param}`: the same"),
                Here::Other(param, why) => format!("`{param}`: {}; {why}", default_of(kind, param)),
                Here::None(why) => why.to_owned(),
            };
            let value = setting.value.strip_prefix("automatic: ").unwrap_or(setting.value);
            let _ = writeln!(page, "| {} | {value} | {here} |", setting.name);
        }
    }
    page + include_str!("deployed.md")
}

fn default_of(kind: &str, param: &str) -> String {
    sched::kind(kind).and_then(|spec| spec.param(param)).map_or_else(|| "false".to_owned(), Param::default_text)
}

/// The list of all pages.
pub fn index() -> String {
    let mut page = "# Queue algorithms\n\n\
        <!-- Made by crates/figure/tests/algorithm_pages.rs: `make docs` writes it again. -->\n\n\
        One page per algorithm, generated from the code: the measured signal, the law, the parameters, deviations from the source, limits, a\n\
        picture of its behavior on a link whose rate changes, and notes on its use. `gq list aqm` prints the parameters.\n\
        [conformance.md](../conformance.md) lists the evidence for each algorithm, [cost.md](../cost.md) its cost per packet, and\n\
        [adding-an-algorithm.md](../adding-an-algorithm.md) explains how to add one.\n"
        .to_owned();
    for family in Family::ALL {
        let mut kinds = sched::kinds().filter(|spec| spec.family == family).peekable();
        if kinds.peek().is_none() {
            continue;
        }
        let _ = writeln!(page, "\n## {}\n\n| kind | | signal | marks | source |\n|---|---|---|---|---|", title(family));
        for spec in kinds {
            let marks = if spec.marks.is_possible() { "yes" } else { "" };
            let _ = writeln!(
                page,
                "| [`{0}`]({0}.md) | {1} | {2} | {marks} | {3} |",
                spec.kind, spec.summary, spec.signal, spec.source
            );
        }
    }
    page
}

/// Direction of a family in the list of pages.
const fn title(family: Family) -> &'static str {
    match family {
        Family::TailDrop => "Without an algorithm",
        Family::Red => "RED and its descendants",
        Family::Blue => "BLUE and its descendants",
        Family::Pi => "Proportional-integral controllers",
        Family::CoDel => "CoDel and its descendants",
        Family::Threshold => "Thresholds",
        Family::Policing => "Congestion policing",
        Family::VirtualQueue => "Virtual queues and prices",
        Family::FlowQueueing => "Flow queueing",
        Family::DualQueue => "Dual queues",
        Family::Classes => "Classes of service",
        Family::Wrapper => "Around another queue",
        Family::Own => "Own algorithms",
    }
}

fn capitalized(text: &str) -> String {
    let mut characters = text.chars();
    characters.next().map_or_else(String::new, |first| first.to_uppercase().collect::<String>() + characters.as_str())
}

/// Sections of notes that have places of their own on a page.
const USE: &str = "When to use it";
const LINUX: &str = "In Linux";

/// The text under "In Linux" for kinds that no kernel has.
fn own_discipline(spec: &KindSpec) -> String {
    format!(
        "Linux itself does not have this algorithm. [The queue discipline of goodqueue](../on-a-router.md) does:\n\n    \
         tc qdisc replace dev eth0 root goodqueue kind {} link 50mbit limit 1000",
        spec.kind
    )
}

/// The sections of notes by their headings.
fn sections(notes: &str) -> Vec<(&str, &str)> {
    let parts = notes.strip_prefix("# ").into_iter().flat_map(|notes| notes.split("\n# "));
    parts.filter_map(|part| part.split_once('\n')).map(|(name, text)| (name.trim(), text.trim_matches('\n'))).collect()
}

/// Notes with their headings a level down, below that of the section they are put in.
fn below(notes: &str) -> String {
    let mut in_code = false;
    let lines = notes.lines().map(|line| {
        in_code ^= line.starts_with("```");
        if line.starts_with('#') && !in_code { format!("#{line}") } else { line.to_owned() }
    });
    lines.collect::<Vec<_>>().join("\n")
}
