//! Location of the gallery.

use crate::failure::Failure;
use goodqueue_studies::gallery::embedded;
use goodqueue_studies::gallery::files::Gallery;
use std::path::Path;

/// The folder asked for, or `./gallery`, or the one built in, written next to the results.
pub fn find(asked: Option<&Path>, out: &Path) -> Result<Gallery, Failure> {
    let root = match asked {
        Some(root) if !root.is_dir() => {
            return Err(Failure::Input(format!("--gallery {}: is not a folder", root.display())));
        }
        Some(root) => root.to_owned(),
        None if Path::new("gallery").is_dir() => "gallery".into(),
        None => {
            let root = out.join("gallery");
            embedded::write(&root)?;
            root
        }
    };
    Ok(Gallery { root })
}
