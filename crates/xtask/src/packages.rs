//! The requirements of the registry for crates that are published. `tools/packaging/dist.sh crates`
//! builds them as packages.

use crate::result::none_of;
use crate::{Result, sources, tool};
use serde_json::Value;
use std::path::{Component, Path, PathBuf};

/// Files that each package must have.
const FILES: [&str; 3] = ["README.md", "LICENSE-MIT", "LICENSE-APACHE"];

/// Macros that take a file into a crate.
const INCLUDES: [&str; 3] = ["include_str!(\"", "include_bytes!(\"", "include_dir!(\"$CARGO_MANIFEST_DIR/"];

/// Descriptions of the crates that are published, by `cargo metadata`.
fn public() -> Result<Vec<Value>> {
    let mut metadata = tool::metadata()?;
    let Value::Array(mut packages) = metadata["packages"].take() else { return Err("cargo metadata has no packages".into()) };
    // `publish = false` is an empty list of registries.
    packages.retain(|package| package["publish"].as_array().is_none_or(|to| !to.is_empty()));
    Ok(packages)
}

fn names(packages: &[Value]) -> Vec<&str> {
    packages.iter().filter_map(|package| package["name"].as_str()).collect()
}

/// Packs all public crates, and builds base and aqm from their packages.
pub fn package() -> Result {
    forget()?;
    let public = public()?;
    let pack = |crates: &[&str], more: &[&str]| {
        let mut args = vec!["package", "--quiet", "--allow-dirty", "--target-dir", BUILT];
        args.extend_from_slice(more);
        args.extend(crates.iter().flat_map(|name| ["-p", name]));
        tool::run("cargo", &args, &[])
    };
    pack(&names(&public), &["--no-verify"])?;
    pack(&["goodqueue-base", "goodqueue-aqm"], &[])
}

/// Checks that public crates are described, and hold all that they are built from.
pub fn check() -> Result {
    let public = public()?;
    let names = names(&public);
    let mut faults = Vec::new();
    let mut folders = Vec::new();
    for package in &public {
        let folder = Path::new(package["manifest_path"].as_str().unwrap_or_default()).parent().unwrap_or(Path::new(""));
        let has = |file: &str| folder.join(file).is_file();
        faults.extend(undescribed(package, &names, has));
        folders.push(folder.strip_prefix(tool::root()).unwrap_or(folder).to_path_buf());
    }
    for (path, text) in sources::read(&["rs"])? {
        let path = Path::new(&path);
        let Some(folder) = folders.iter().find(|folder| path.starts_with(folder.join("src"))) else { continue };
        faults.extend(outside(folder, path, &text));
    }
    none_of("faults", &faults)?;
    println!("packages: {} crates can be published", names.len());
    Ok(())
}

/// The folder in which packages are built, relative to the workspace's root.
const BUILT: &str = "target/packages";

/// Removes what cargo has unpacked and built of our packages. It keeps them by version, without a
/// look at the contents, and would build a changed crate against the earlier state of another.
fn forget() -> Result {
    let built = tool::root().join(BUILT);
    if built.exists() {
        std::fs::remove_dir_all(&built).map_err(|e| format!("{}: {e}", built.display()))?;
    }
    #[allow(clippy::disallowed_methods, reason = "where cargo keeps its files")]
    let [home, user] = ["CARGO_HOME", "HOME"].map(std::env::var_os);
    let Some(home) = home.map(PathBuf::from).or_else(|| Some(PathBuf::from(user?).join(".cargo"))) else { return Ok(()) };
    // The registry that packages of one workspace see each other in has no name.
    let unnamed = entries(&home.join("registry/src")).filter(|path| is_called(path, "-"));
    for path in unnamed.flat_map(|path| entries(&path)).filter(|path| is_called(path, "goodqueue-")) {
        std::fs::remove_dir_all(&path).map_err(|e| format!("{}: {e}", path.display()))?;
    }
    Ok(())
}

fn entries(folder: &Path) -> impl Iterator<Item = PathBuf> + use<> {
    std::fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path())
}

fn is_called(path: &Path, start: &str) -> bool {
    path.file_name().is_some_and(|name| name.to_string_lossy().starts_with(start))
}

/// Lists the faults of a package by `cargo metadata` and the files it has.
fn undescribed(package: &Value, public: &[&str], has: impl Fn(&str) -> bool) -> Vec<String> {
    let name = package["name"].as_str().unwrap_or_default();
    let mut faults = Vec::new();
    for field in ["description", "license", "readme"] {
        if package[field].as_str().is_none_or(str::is_empty) {
            faults.push(format!("`{name}` has no {field}"));
        }
    }
    // The registry takes at most five of each.
    for field in ["keywords", "categories"] {
        if package[field].as_array().is_none_or(|words| !(1..=5).contains(&words.len())) {
            faults.push(format!("`{name}` has no {field}, or more than five"));
        }
    }
    faults.extend(FILES.into_iter().filter(|file| !has(file)).map(|file| format!("`{name}` has no {file}")));
    for dependency in package["dependencies"].as_array().into_iter().flatten() {
        let to = dependency["name"].as_str().unwrap_or_default();
        // Tests may use others by path alone: packaging leaves these out.
        let is_left_out = dependency["kind"].as_str() == Some("dev") && dependency["req"].as_str() == Some("*");
        if to.starts_with("goodqueue-") && !public.contains(&to) && !is_left_out {
            faults.push(format!("`{name}` depends on `{to}`, which is not published"));
        }
    }
    faults
}

/// Files that a source takes in from outside of its crate. Links within the folder are followed by
/// packaging.
fn outside(folder: &Path, source: &Path, text: &str) -> Vec<String> {
    let mut faults = Vec::new();
    // Packages are built without tests.
    for (number, line) in text.lines().take_while(|line| line.trim() != "#[cfg(test)]").enumerate() {
        for start in INCLUDES {
            let Some(file) = line.split_once(start).and_then(|(_, rest)| rest.split('"').next()) else { continue };
            let base = if start.contains("MANIFEST_DIR") { folder } else { source.parent().unwrap_or(folder) };
            if !plain(&base.join(file)).starts_with(folder) {
                faults.push(format!("{}:{}: `{file}` is outside of the crate: link it from data/", source.display(), number + 1));
            }
        }
    }
    faults
}

/// A path without `..`.
fn plain(path: &Path) -> PathBuf {
    let mut plain = PathBuf::new();
    for component in path.components() {
        match component {
            Component::ParentDir => {
                plain.pop();
            }
            Component::CurDir => {}
            Component::Prefix(_) | Component::RootDir | Component::Normal(_) => plain.push(component),
        }
    }
    plain
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn what_a_package_lacks_is_named() {
        let mut package = json!({
            "name": "goodqueue-x", "description": "x", "license": "MIT", "readme": "README.md",
            "keywords": ["a"], "categories": ["b"],
            "dependencies": [
                { "name": "goodqueue-y", "req": "^0.1.0", "kind": null },
                { "name": "goodqueue-testkit", "req": "*", "kind": "dev" },
            ],
        });
        assert_eq!(undescribed(&package, &["goodqueue-x", "goodqueue-y"], |_| true), [""; 0]);
        package["keywords"] = json!([]);
        package["readme"] = Value::Null;
        assert_eq!(
            undescribed(&package, &["goodqueue-x"], |file| file != "LICENSE-MIT"),
            [
                "`goodqueue-x` has no readme",
                "`goodqueue-x` has no keywords, or more than five",
                "`goodqueue-x` has no LICENSE-MIT",
                "`goodqueue-x` depends on `goodqueue-y`, which is not published",
            ]
        );
    }

    #[test]
    fn files_from_outside_are_found() {
        let folder = Path::new("crates/x");
        let found = |text: &str| outside(folder, Path::new("crates/x/src/a/b.rs"), text).len();
        assert_eq!(found("const A: &str = include_str!(\"../../data/a.css\");"), 0);
        assert_eq!(found("const A: &str = include_str!(\"../../../y/a.css\");"), 1);
        assert_eq!(found("#[cfg(test)]\nmod tests {\n const A: &str = include_str!(\"../../../y/a.css\");"), 0);
        assert_eq!(found("static D: Dir = include_dir!(\"$CARGO_MANIFEST_DIR/../../gallery\");"), 1);
    }
}
