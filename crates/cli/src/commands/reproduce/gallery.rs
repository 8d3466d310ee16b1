//! Where the gallery is.

use crate::failure::Failure;
use goodqueue_gallery::embedded;
use goodqueue_gallery::files::Gallery;
use std::path::Path;

/// The folder asked for, or `./gallery`, or the one built in, written beside the results.
pub fn find(asked: Option<&Path>, out: &Path) -> Result<Gallery, Failure> {
    if let Some(root) = asked {
        if !root.is_dir() {
            return Err(Failure::Input(format!("--gallery {}: is not a folder", root.display())));
        }
        return Ok(Gallery { root: root.to_owned() });
    }
    let here = Path::new("gallery");
    if here.is_dir() {
        return Ok(Gallery { root: here.to_owned() });
    }
    let root = out.join("gallery");
    embedded::write(&root)?;
    Ok(Gallery { root })
}
