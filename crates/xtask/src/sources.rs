//! Checks and counts of the source files.

use crate::result::none_of;
use crate::{Result, tool};
use std::collections::{BTreeMap, BTreeSet};

/// Lines beyond which a file is split, or has a reason not to be.
const LONG: usize = 600;

/// Names the source files that are too long. A warning, since a file may have a reason.
pub fn files() -> Result {
    let mut long = 0;
    for (path, text) in read(&["rs", "py", "ts", "tcl", "cc"])? {
        let lines = text.lines().count();
        if lines > LONG {
            println!("warning: {path}: {lines} lines, more than {LONG}");
            long += 1;
        }
    }
    println!("files: {long} longer than {LONG} lines");
    Ok(())
}

/// Counts by crate or top folder.
pub fn size() -> Result {
    let mut table: BTreeMap<String, Count> = BTreeMap::new();
    for (path, text) in read(&["rs", "py", "ts", "sh", "mjs", "c", "h", "tcl", "cc"])? {
        table.entry(folder(&path)).or_default().add(&path, &text);
    }
    println!("{:20} {:>6} {:>8} {:>8} {:>8} {:>7}", "", "files", "code", "tests", "comments", "public");
    let mut sum = Count::default();
    let line = |name: &str, of: &Count| {
        println!("{name:20} {:>6} {:>8} {:>8} {:>8} {:>7}", of.files, of.code, of.tests, of.comments, of.public);
    };
    for (folder, count) in &table {
        line(folder, count);
        sum.files += count.files;
        sum.code += count.code;
        sum.tests += count.tests;
        sum.comments += count.comments;
        sum.public += count.public;
    }
    line("all", &sum);
    Ok(())
}

/// Checks that SOURCES.bib has every RFC that code and documents name: `RFC 8289` is the key
/// `rfc8289`.
pub fn cite() -> Result {
    let path = tool::root().join("docs/SOURCES.bib");
    let bib = std::fs::read_to_string(&path).map_err(|e| format!("{}: {e}", path.display()))?;
    let known = bib_keys(&bib)?;
    let mut cited = BTreeSet::new();
    let mut unknown = Vec::new();
    for (path, text) in read(&["rs", "py", "ts", "md", "toml"])? {
        for (number, line) in text.lines().enumerate() {
            for key in cited_keys(line) {
                if !known.contains(key.as_str()) {
                    unknown.push(format!("{path}:{}: `{key}` is not in SOURCES.bib", number + 1));
                }
                cited.insert(key);
            }
        }
    }
    none_of("unknown", &unknown)?;
    println!("cite: {} RFCs cited, all in SOURCES.bib ({} entries)", cited.len(), known.len());
    Ok(())
}

fn bib_keys(bib: &str) -> Result<BTreeSet<&str>> {
    let mut keys = BTreeSet::new();
    for line in bib.lines().filter(|line| line.starts_with('@')) {
        let key = line.split_once('{').and_then(|(_, rest)| rest.split_once(',')).map(|(key, _)| key.trim());
        let key = key.ok_or_else(|| format!("SOURCES.bib: no key in `{line}`"))?;
        if !keys.insert(key) {
            return Err(format!("SOURCES.bib: `{key}` appears twice").into());
        }
    }
    Ok(keys)
}

fn cited_keys(line: &str) -> impl Iterator<Item = String> {
    line.split("RFC ").skip(1).filter_map(|rest| {
        let number: String = rest.chars().take_while(char::is_ascii_digit).collect();
        (!number.is_empty()).then(|| format!("rfc{number}"))
    })
}

/// The crate's folder that a file is in, or the top folder.
pub fn folder(path: &str) -> String {
    let depth = if path.starts_with("crates/") { 2 } else { 1 };
    path.split('/').take(depth).collect::<Vec<_>>().join("/")
}

/// Whether a file has nothing but tests.
pub fn is_test(path: &str) -> bool {
    path.contains("/tests/") || path.contains("tests.rs") || path.ends_with(".test.ts")
}

#[derive(Default)]
struct Count {
    files: usize,
    code: usize,
    tests: usize,
    comments: usize,
    /// Lines of code that make a Rust item public.
    public: usize,
}

impl Count {
    fn add(&mut self, path: &str, text: &str) {
        let mut in_tests = is_test(path);
        self.files += 1;
        for line in text.lines().map(str::trim) {
            in_tests |= line == "#[cfg(test)]";
            if line.is_empty() {
                continue;
            }
            if line.starts_with("//") || line.starts_with('#') && [".py", ".sh"].iter().any(|ending| path.ends_with(ending)) {
                self.comments += 1;
            } else if in_tests {
                self.tests += 1;
            } else {
                self.code += 1;
                const ITEMS: [&str; 9] = ["fn", "const", "struct", "enum", "trait", "type", "mod", "use", "static"];
                let item = line.strip_prefix("pub ").and_then(|rest| rest.split(' ').next());
                self.public += usize::from(item.is_some_and(|word| ITEMS.contains(&word)));
            }
        }
    }
}

/// All files with these endings that git knows of or would take in, as (path, text).
pub fn read(endings: &[&str]) -> Result<Vec<(String, String)>> {
    let list = tool::output("git", &["ls-files", "--cached", "--others", "--exclude-standard"])?;
    let mut files = Vec::new();
    for path in list.lines() {
        let full = tool::root().join(path);
        if !endings.iter().any(|ending| path.ends_with(&format!(".{ending}"))) || !full.is_file() {
            continue;
        }
        let text = std::fs::read_to_string(&full).map_err(|e| format!("{path}: {e}"))?;
        files.push((path.to_owned(), text));
    }
    files.sort();
    files.dedup();
    Ok(files)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_are_found_in_text() {
        let line = "as in RFC 8289 §5.3 (RFC 3168); not RFCs, nor an RFC of old";
        assert_eq!(cited_keys(line).collect::<Vec<_>>(), ["rfc8289", "rfc3168"]);
    }

    #[test]
    fn bibliography_keys_are_unique() {
        assert_eq!(bib_keys("@misc{a,\n x = {1}\n}\n@book{b,\n}").unwrap().len(), 2);
        assert!(bib_keys("@misc{a,\n}\n@misc{a,\n}").is_err_and(|e| e.to_string().contains("twice")));
    }
}
