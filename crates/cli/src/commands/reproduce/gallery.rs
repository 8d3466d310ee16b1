//! Where the gallery is.

use crate::failure::Failure;
use goodqueue_gallery::files::Gallery;
use std::path::Path;

/// The folder asked for, or `./gallery`.
pub fn find(asked: Option<&Path>, _out: &Path) -> Result<Gallery, Failure> {
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
    Err(Failure::Input("there is no folder `gallery` here: name one with --gallery".to_owned()))
}
