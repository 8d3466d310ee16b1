//! Files of one crate that use each other in a circle.
//!
//! A file and those in its folder may know each other: `foo.rs` is made of `foo/*.rs`. Any other
//! circle makes several files one, which nobody can read alone. Circles with a reason are listed
//! here; the list is exact, so a circle that is not in it fails, and so does one that is gone.

use crate::{Result, sources};
use std::collections::{BTreeMap, BTreeSet};

/// Circles that stay: the crate, its files as modules, and the reason.
const ALLOWED: &[(&str, &[&str], &str)] = &[
    ("live", &["pool", "segments"], "buffers know the joined frames that are cut from them"),
    (
        "sim",
        &["world::build", "world::hosts", "world::measure", "world::outside", "world::sessions"],
        "each is a part of one state machine",
    ),
];

type Files<'a> = BTreeMap<String, BTreeSet<&'a str>>;

/// Fails with the circles that are not allowed, and those that are allowed in vain.
pub fn check() -> Result {
    let mut crates: BTreeMap<String, Vec<(String, String)>> = BTreeMap::new();
    for (path, text) in sources::read(&["rs"])? {
        let Some((name, module)) = module_of(&path) else { continue };
        crates.entry(name.to_owned()).or_default().push((module, text));
    }
    let mut faults = Vec::new();
    let mut allowed = ALLOWED.to_vec();
    for (name, files) in &crates {
        for circle in circles(files) {
            let members = || circle.iter().map(|(module, _)| module.as_str());
            let is_it = |(of, files, _): &(&str, &[&str], &str)| of == name && members().eq(files.iter().copied());
            if let Some(place) = allowed.iter().position(is_it) {
                allowed.remove(place);
                continue;
            }
            let uses = circle.iter().map(|(module, used)| format!("\n    {module} uses {}", used.join(", ")));
            faults.push(format!("{name}: files in a circle{}", uses.collect::<String>()));
        }
    }
    faults.extend(allowed.iter().map(|(name, files, _)| format!("{name}: {} are in no circle any more", files.join(", "))));
    if faults.is_empty() {
        println!("cycles: {} circles, each with a reason", ALLOWED.len());
        return Ok(());
    }
    Err(format!("{}\nmove what both need to a file of its own", faults.join("\n")).into())
}

/// Crate and module of a source file; `None` for tests, examples and everything else.
fn module_of(path: &str) -> Option<(&str, String)> {
    let (folder, file) = path.split_once("/src/")?;
    let name = if folder == "kernel/rust" { "kernel" } else { folder.strip_prefix("crates/")? };
    let file = file.strip_suffix(".rs")?;
    let is_test = file.split('/').any(|part| matches!(part, "tests" | "bin"));
    let module = if matches!(file, "lib" | "main") { String::new() } else { file.replace('/', "::") };
    (!is_test).then_some((name, module))
}

/// Sets of files that reach each other, each file with those of its set that it uses.
fn circles(files: &[(String, String)]) -> Vec<Vec<(String, Vec<String>)>> {
    let known: BTreeSet<&str> = files.iter().map(|(module, _)| module.as_str()).collect();
    let uses: Files<'_> = files.iter().map(|(module, text)| (module.clone(), used(module, text, &known))).collect();
    let reached: Files<'_> = uses.keys().map(|module| (module.clone(), reach(&uses, module))).collect();
    let mut circles = Vec::new();
    let mut seen = BTreeSet::new();
    for module in uses.keys() {
        let together =
            |other: &&String| reached[module].contains(other.as_str()) && reached[other.as_str()].contains(module.as_str());
        let members: Vec<&String> = uses.keys().filter(together).collect();
        if members.len() < 2 || !members.iter().all(|member| seen.insert((*member).clone())) {
            continue;
        }
        let within = |member: &String| {
            let used = uses[member].iter().filter(|used| members.iter().any(|other| other == *used));
            (member.clone(), used.map(|used| (*used).to_owned()).collect())
        };
        circles.push(members.iter().map(|member| within(member)).collect());
    }
    circles
}

/// All files that one uses, directly or not.
fn reach<'a>(uses: &Files<'a>, from: &str) -> BTreeSet<&'a str> {
    let mut found = BTreeSet::new();
    let mut left: Vec<&'a str> = uses[from].iter().copied().collect();
    while let Some(next) = left.pop() {
        if found.insert(next) {
            left.extend(&uses[next]);
        }
    }
    found
}

/// The files that the code of one names by paths from `crate`, `self` or `super`.
fn used<'a>(module: &str, text: &str, known: &BTreeSet<&'a str>) -> BTreeSet<&'a str> {
    let code: String = text.lines().map(|line| line.split("//").next().unwrap_or_default()).collect::<Vec<_>>().join("\n");
    let code = code.split("#[cfg(test)]\nmod tests {").next().unwrap_or_default();
    let own: Vec<&str> = module.split("::").filter(|part| !part.is_empty()).collect();
    let mut paths = Vec::new();
    for root in ["crate::", "self::", "super::"] {
        for (at, _) in code.match_indices(root) {
            // `super::super::` and `pub(crate)` begin elsewhere.
            let before = code[..at].chars().next_back().unwrap_or(' ');
            if !(before.is_alphanumeric() || matches!(before, '_' | ':')) {
                branches(&code[at..], &mut Vec::new(), &mut paths);
            }
        }
    }
    let mut files = BTreeSet::new();
    for path in paths {
        let mut whole = match path.first().map(String::as_str) {
            Some("crate") => Vec::new(),
            _ => own.clone(),
        };
        for part in &path {
            match part.as_str() {
                "crate" | "self" => {}
                "super" => {
                    whole.pop();
                }
                part => whole.push(part),
            }
        }
        // The longest beginning of the path that is a file.
        let file = (1..=whole.len()).rev().find_map(|length| known.get(whole[..length].join("::").as_str()));
        files.extend(file.filter(|file| !are_related(module, file)));
    }
    files
}

/// Whether one file is in the other's folder, or is the same.
fn are_related(one: &str, other: &str) -> bool {
    let within =
        |inner: &str, outer: &str| inner.strip_prefix(outer).is_some_and(|rest| rest.is_empty() || rest.starts_with("::"));
    one.is_empty() || other.is_empty() || within(one, other) || within(other, one)
}

/// Reads a path such as `crate::a::{b, c::d}` from the beginning of `text` into all its branches.
/// Returns what follows it.
fn branches<'t>(text: &'t str, before: &mut Vec<String>, paths: &mut Vec<Vec<String>>) -> &'t str {
    let depth = before.len();
    let mut rest = text.trim_start();
    loop {
        if let Some(mut inner) = rest.strip_prefix('{') {
            while !inner.is_empty() && !inner.starts_with('}') {
                let after = branches(inner, before, paths).trim_start();
                // Text that is not understood, such as a new name behind `as`, is skipped.
                let end = after.find([',', '}']).unwrap_or(after.len());
                inner = after[end..].trim_start_matches(',').trim_start();
            }
            rest = inner.strip_prefix('}').unwrap_or(inner);
            break;
        }
        let end = rest.find(|c: char| !(c.is_alphanumeric() || c == '_')).unwrap_or(rest.len());
        before.push(rest[..end].to_owned());
        rest = &rest[end..];
        match rest.strip_prefix("::") {
            Some(more) => rest = more.trim_start(),
            None => {
                paths.push(before.clone());
                break;
            }
        }
    }
    before.truncate(depth);
    rest
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(files: &[(&str, &str)]) -> Vec<Vec<String>> {
        let files: Vec<(String, String)> = files.iter().map(|(name, text)| ((*name).to_owned(), (*text).to_owned())).collect();
        circles(&files).into_iter().map(|circle| circle.into_iter().map(|(module, _)| module).collect()).collect()
    }

    #[test]
    fn paths_are_read_into_their_branches() {
        let mut paths = Vec::new();
        branches("crate::a::{b, c::{D as E, F}, self}; use", &mut Vec::new(), &mut paths);
        let paths: Vec<String> = paths.iter().map(|path| path.join("::")).collect();
        assert_eq!(paths, ["crate::a::b", "crate::a::c::D", "crate::a::c::F", "crate::a::self"]);
    }

    #[test]
    fn circles_are_found_through_others() {
        let three = [
            ("a", "use crate::b::B;"),
            ("b", "use super::c::{self, C};"),
            ("c", "fn f() -> crate::a::A {}"),
            ("d", "use crate::a::A;"),
        ];
        assert_eq!(found(&three), [["a", "b", "c"]]);
        assert!(found(&three[..2]).is_empty());
    }

    #[test]
    fn comments_tests_and_the_own_folder_make_no_circle() {
        assert!(
            found(&[("a", "use crate::b::B;"), ("b", "// crate::a\n#[cfg(test)]\nmod tests {\n use crate::a::A; }")]).is_empty()
        );
        assert!(found(&[("a", "mod b; use b::B; use self::b::C;"), ("a::b", "use super::A;")]).is_empty());
        assert_eq!(found(&[("a::b", "use super::c::C;"), ("a::c", "use super::b::B;")]), [["a::b", "a::c"]]);
    }

    #[test]
    fn files_have_their_modules() {
        assert_eq!(module_of("crates/sim/src/world/build.rs"), Some(("sim", "world::build".to_owned())));
        assert_eq!(module_of("crates/sim/src/lib.rs"), Some(("sim", String::new())));
        assert_eq!(module_of("crates/sim/src/world/tests.rs"), None);
        assert_eq!(module_of("crates/sim/tests/theory.rs"), None);
    }
}
