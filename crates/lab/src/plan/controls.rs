//! Congestion controls and their parameters.

use super::reader::{self, Field};
use super::suggest::nearest;
use super::tree::Value;
use crate::diagnostic::Fault;
use crate::quantity::excerpt;
use goodqueue_tcp::CcConfig;

/// What the format knows of congestion controls.
const CONTROLS: &[&str] = &["reno", "cubic"];

/// Reads `"cubic"` or `{ kind = "cubic", … }`.
pub(super) fn read(field: Field<'_>) -> Result<CcConfig, Fault> {
    let Value::Table(entries) = &field.node.value else {
        return Ok(CcConfig { kind: find(field, reader::text(field)?)?, params: Vec::new() });
    };
    let path = format!("{}.kind", field.path);
    let Some(kind) = entries.iter().find(|entry| entry.key == "kind") else {
        let help = "name the congestion control, for instance { kind = \"cubic\" }".to_owned();
        return Err(Fault::at(&field.node.origin, &path, "is missing".to_owned(), Some(help)));
    };
    let named = Field { node: &kind.node, path: &path };
    let kind = find(named, reader::text(named)?)?;
    if let Some(other) = entries.iter().find(|entry| entry.key != "kind") {
        let path = format!("{}.{}", field.path, excerpt(&other.key));
        return Err(Fault::at(&other.key_origin, &path, "unknown key".to_owned(), Some(format!("`{kind}` has `kind`"))));
    }
    Ok(CcConfig { kind, params: Vec::new() })
}

fn find(field: Field<'_>, name: &str) -> Result<&'static str, Fault> {
    CONTROLS.iter().find(|known| **known == name).copied().ok_or_else(|| {
        let help = match nearest(name, CONTROLS.iter().copied()) {
            Some(near) => format!("did you mean `{near}`?"),
            None => format!("this version has {}", CONTROLS.join(", ")),
        };
        field.fault(format!("`{}` is not a congestion control of this version", excerpt(name)), Some(help))
    })
}
