//! Files of one crate that use each other in a circle.
//!
//! A circle makes several files one, which nobody can read alone. Three files at most may form one,
//! if they are a file `foo.rs` and files in its folder `foo/`. Other circles are listed here with a
//! reason; the list is exact, so a circle that is not in it fails, and so does one that is gone.
//!
//! A file uses another if it names an item of it, in an import, a path or a macro. An item that a
//! file only hands on with `use` belongs to the file that defines it. Methods are not looked up.

use crate::{Result, sources};
use proc_macro2::{TokenStream, TokenTree};
use std::collections::{BTreeMap, BTreeSet};
use syn::visit::{self, Visit};
use syn::{Attribute, Item, ItemFn, ItemMacro, ItemMod, ItemUse, Macro, Meta, Path, UseTree, Visibility};

/// Files of a circle that needs no reason.
const MAX_FILES: usize = 3;

/// Circles that stay: the crate, its files as modules, and the reason.
const ALLOWED: &[(&str, &[&str], &str)] =
    &[("live", &["pool", "segments"], "buffers know the joined frames that are cut from them")];

type Files<'a> = BTreeMap<&'a str, BTreeSet<&'a str>>;

/// Prints all circles. Fails if one is not allowed, or is allowed in vain.
pub fn check() -> Result {
    let mut crates: BTreeMap<String, Vec<File>> = BTreeMap::new();
    for (path, text) in sources::read(&["rs"])? {
        let Some((name, module)) = module_of(&path) else { continue };
        let file = File::read(module, &text).map_err(|error| format!("{path}: {error}"))?;
        crates.entry(name.to_owned()).or_default().push(file);
    }
    let mut faults = Vec::new();
    let mut allowed = ALLOWED.to_vec();
    for (name, files) in &crates {
        for circle in circles(files) {
            let members: Vec<&str> = circle.iter().map(|(module, _)| *module).collect();
            let is_it = |(of, files, _): &(&str, &[&str], &str)| of == name && members == *files;
            let reason = match allowed.iter().position(is_it) {
                Some(place) => allowed.remove(place).2,
                None if members.len() <= MAX_FILES && are_a_file_and_its_folder(&members) => "a file and its folder",
                None => {
                    let uses = circle.iter().map(|(module, used)| format!("\n    {} uses {}", shown(module), list(used)));
                    faults.push(format!("{name}: {} files in a circle{}", members.len(), uses.collect::<String>()));
                    continue;
                }
            };
            println!("cycles: {name}: {}: {reason}", list(&members));
        }
    }
    faults.extend(allowed.iter().map(|(name, files, _)| format!("{name}: {} are in no circle any more", list(files))));
    if faults.is_empty() {
        return Ok(());
    }
    Err(format!("{}\nmove what both need to a file of its own", faults.join("\n")).into())
}

/// The name of a module in messages.
fn shown(module: &str) -> &str {
    if module.is_empty() { "crate" } else { module }
}

fn list(modules: &[&str]) -> String {
    modules.iter().map(|module| shown(module)).collect::<Vec<_>>().join(", ")
}

/// Whether all files but the first one are in its folder.
fn are_a_file_and_its_folder(modules: &[&str]) -> bool {
    let (Some(file), folder) = (modules.first(), &modules[1..]) else { return false };
    let is_within = |module: &&str| module.strip_prefix(file).is_some_and(|rest| file.is_empty() || rest.starts_with("::"));
    folder.iter().all(is_within)
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
fn circles(files: &[File]) -> Vec<Vec<(&str, Vec<&str>)>> {
    let tree = Tree { files: files.iter().map(|file| (file.module.as_str(), file)).collect() };
    let uses: Files<'_> = files.iter().map(|file| (file.module.as_str(), tree.used(file))).collect();
    let reached: Files<'_> = uses.keys().map(|module| (*module, reach(&uses, module))).collect();
    let mut circles = Vec::new();
    let mut seen = BTreeSet::new();
    for module in uses.keys() {
        let together = |other: &&str| reached[module].contains(*other) && reached[*other].contains(*module);
        let members: Vec<&str> = uses.keys().copied().filter(together).collect();
        if members.len() < 2 || !members.iter().all(|member| seen.insert(*member)) {
            continue;
        }
        let within = |member: &&str| uses[member].iter().copied().filter(|used| members.contains(used)).collect();
        circles.push(members.iter().map(|member| (*member, within(member))).collect());
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

/// The parts of a path.
type Parts = Vec<String>;

/// The paths of one file. Each comes with the module that it stands in, which may be within a file.
#[derive(Default)]
struct File {
    module: String,
    /// The module that is being read.
    here: Parts,
    paths: Vec<(Parts, Parts)>,
    /// Imports by the name that they have here.
    imports: BTreeMap<String, (Parts, Parts)>,
}

impl File {
    fn read(module: String, text: &str) -> syn::Result<Self> {
        let here = module.split("::").filter(|part| !part.is_empty()).map(str::to_owned).collect();
        let mut file = Self { module, here, ..Self::default() };
        file.visit_file(&syn::parse_file(text)?);
        Ok(file)
    }

    fn add(&mut self, path: Parts) {
        // A single name is local, or imported by a path.
        if path.len() > 1 {
            self.paths.push((self.here.clone(), path));
        }
    }

    fn add_imports(&mut self, tree: &UseTree, before: &Parts) {
        let with = |name: &dyn ToString| before.iter().cloned().chain([name.to_string()]).collect::<Parts>();
        let (name, path) = match tree {
            UseTree::Path(path) => return self.add_imports(&path.tree, &with(&path.ident)),
            UseTree::Group(group) => return group.items.iter().for_each(|item| self.add_imports(item, before)),
            UseTree::Glob(_) => return self.add(with(&"*")),
            UseTree::Name(name) if name.ident == "self" => (before.last().cloned().unwrap_or_default(), before.clone()),
            UseTree::Name(name) => (name.ident.to_string(), with(&name.ident)),
            UseTree::Rename(rename) => (rename.rename.to_string(), with(&rename.ident)),
        };
        self.add(path.clone());
        self.imports.insert(name, (self.here.clone(), path));
    }

    /// Adds the paths of a macro's text.
    fn add_tokens(&mut self, tokens: TokenStream) {
        let mut path = Parts::new();
        let mut colons = 0;
        for token in tokens {
            match token {
                TokenTree::Punct(punct) if punct.as_char() == ':' => colons += 1,
                TokenTree::Ident(ident) => {
                    if colons != 2 {
                        self.add(std::mem::take(&mut path));
                    }
                    path.push(ident.to_string());
                    colons = 0;
                }
                other => {
                    self.add(std::mem::take(&mut path));
                    colons = 0;
                    if let TokenTree::Group(group) = other {
                        self.add_tokens(group.stream());
                    }
                }
            }
        }
        self.add(path);
    }
}

impl Visit<'_> for File {
    fn visit_item(&mut self, item: &Item) {
        let (Item::Mod(ItemMod { attrs, .. })
        | Item::Use(ItemUse { attrs, .. })
        | Item::Fn(ItemFn { attrs, .. })
        | Item::Macro(ItemMacro { attrs, .. })) = item
        else {
            return visit::visit_item(self, item);
        };
        if !attrs.iter().any(is_for_tests) {
            visit::visit_item(self, item);
        }
    }

    fn visit_item_mod(&mut self, item: &ItemMod) {
        if item.content.is_some() {
            self.here.push(item.ident.to_string());
            visit::visit_item_mod(self, item);
            self.here.pop();
        }
    }

    fn visit_item_use(&mut self, item: &ItemUse) {
        self.add_imports(&item.tree, &Parts::new());
    }

    fn visit_macro(&mut self, item: &Macro) {
        self.add_tokens(item.tokens.clone());
        visit::visit_macro(self, item);
    }

    fn visit_path(&mut self, path: &Path) {
        self.add(path.segments.iter().map(|segment| segment.ident.to_string()).collect());
        visit::visit_path(self, path);
    }

    /// Leaves out `pub(in crate::a)`, which uses nothing.
    fn visit_visibility(&mut self, _: &Visibility) {}
}

fn is_for_tests(attribute: &Attribute) -> bool {
    matches!(&attribute.meta, Meta::List(list) if list.path.is_ident("cfg") && list.tokens.to_string() == "test")
}

/// All files of a crate.
struct Tree<'a> {
    files: BTreeMap<&'a str, &'a File>,
}

/// Imports of imports that are followed.
const MAX_STEPS: u32 = 8;

impl<'a> Tree<'a> {
    /// The other files whose items a file names.
    fn used(&self, file: &File) -> BTreeSet<&'a str> {
        let used = file.paths.iter().filter_map(|(here, path)| self.definer(&self.absolute(here, path, MAX_STEPS)?, MAX_STEPS));
        used.filter(|used| *used != file.module).collect()
    }

    /// A path from the crate's root; `None` if it leads out of the crate.
    fn absolute(&self, here: &Parts, path: &Parts, steps: u32) -> Option<Parts> {
        let (first, rest) = path.split_first()?;
        let mut whole = here.clone();
        match first.as_str() {
            "crate" => whole.clear(),
            "self" => {}
            "super" => {
                whole.pop();
            }
            child if self.files.contains_key(whole.iter().chain([first]).cloned().collect::<Parts>().join("::").as_str()) => {
                whole.push(child.to_owned());
            }
            name => {
                let (_, file) = self.file(here)?;
                let (there, import) = file.imports.get(name)?;
                // An import may hide the name of another crate that it begins with.
                whole = if import[0] == name { return None } else { self.absolute(there, import, steps.checked_sub(1)?)? };
            }
        }
        for part in rest {
            if part == "super" {
                whole.pop();
            } else if part != "self" {
                whole.push(part.clone());
            }
        }
        Some(whole)
    }

    /// The file that the longest beginning of an absolute path is, and the length of that.
    fn file(&self, path: &Parts) -> Option<(usize, &'a File)> {
        (0..=path.len()).rev().find_map(|length| Some((length, *self.files.get(path[..length].join("::").as_str())?)))
    }

    /// The file that defines an item, given its absolute path.
    fn definer(&self, path: &Parts, steps: u32) -> Option<&'a str> {
        let (length, file) = self.file(path)?;
        let Some(item) = path.get(length) else { return Some(&file.module) };
        if let Some((there, import)) = file.imports.get(item) {
            let mut whole = self.absolute(there, import, steps)?;
            whole.extend_from_slice(&path[length + 1..]);
            return self.definer(&whole, steps.checked_sub(1)?);
        }
        Some(&file.module)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(files: &[(&str, &str)]) -> Vec<Vec<String>> {
        let files: Vec<File> = files.iter().map(|(name, text)| File::read((*name).to_owned(), text).expect("Rust")).collect();
        circles(&files).into_iter().map(|circle| circle.into_iter().map(|(module, _)| module.to_owned()).collect()).collect()
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
    fn a_file_and_its_folder_make_a_circle() {
        for parent in ["use b::B;", "use self::b::C;", "fn f() { b::f() }", "fn f() { assert!(g(b::f())) }", "pub use b::B as C;"]
        {
            assert_eq!(found(&[("a", parent), ("a::b", "use super::A;")]), [["a", "a::b"]], "{parent}");
            assert!(found(&[("a", parent), ("a::b", "pub(in crate::a) fn f() {}")]).is_empty());
        }
        assert_eq!(found(&[("", "mod a; type R = a::A;"), ("a", "use crate::R;")]), [["", "a"]]);
    }

    #[test]
    fn an_item_handed_on_belongs_to_its_definer() {
        let facade = ("a", "pub use b::B; use b as d;");
        assert!(found(&[facade, ("a::b", ""), ("a::c", "use super::B; use super::d::E;")]).is_empty());
        assert_eq!(found(&[facade, ("a::b", "use super::c::C;"), ("a::c", "use super::B;")]), [["a::b", "a::c"]]);
    }

    #[test]
    fn comments_and_tests_make_no_circle() {
        for text in ["// crate::a", "#[cfg(test)] mod t { use crate::a::A; }", "#[cfg(test)] use crate::a::A;", "use std::a::A;"]
        {
            assert!(found(&[("a", "use crate::b::B;"), ("b", text)]).is_empty(), "{text}");
        }
    }

    #[test]
    fn modules_within_a_file_are_the_file() {
        assert!(found(&[("a", "use b::B;"), ("a::b", "mod c { use super::B; }")]).is_empty());
        assert_eq!(found(&[("a", "use b::B;"), ("a::b", "mod c { use super::super::A; }")]), [["a", "a::b"]]);
    }

    #[test]
    fn a_file_and_its_folder_need_no_reason() {
        assert!(are_a_file_and_its_folder(&["a", "a::b", "a::b::c"]) && are_a_file_and_its_folder(&["", "a"]));
        assert!(!are_a_file_and_its_folder(&["a", "ab"]) && !are_a_file_and_its_folder(&["a::b", "a::c"]));
    }

    #[test]
    fn files_have_their_modules() {
        assert_eq!(module_of("crates/sim/src/world/build.rs"), Some(("sim", "world::build".to_owned())));
        assert_eq!(module_of("crates/sim/src/lib.rs"), Some(("sim", String::new())));
        assert_eq!(module_of("crates/sim/src/world/tests.rs"), None);
        assert_eq!(module_of("crates/sim/tests/theory.rs"), None);
    }
}
