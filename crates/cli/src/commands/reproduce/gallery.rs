//! Location of the gallery.

use crate::failure::Failure;
use goodqueue_studies::gallery::embedded;
use goodqueue_studies::gallery::files::Gallery;
use std::path::Path;

/// The folder asked for, or `./gallery`, or the one built in, written next to the results.
pub fn find(asked: Option<&Path>, out: &Path) -> Result<Gallery, Failure> {
    if let Some(root) = asked {
        return at(root);
    }
    if let Some(gallery) = here() {
        return Ok(gallery);
    }
    let root = out.join("gallery");
    embedded::write(&root)?;
    Ok(Gallery { root })
}

fn at(root: &Path) -> Result<Gallery, Failure> {
    if !root.is_dir() {
        return Err(Failure::Input(format!("--gallery {}: is not a folder", root.display())));
    }
    Ok(Gallery { root: root.to_owned() })
}

fn here() -> Option<Gallery> {
    let here = Path::new("gallery");
    here.is_dir().then(|| Gallery { root: here.to_owned() })
}
