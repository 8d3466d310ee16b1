//! Numbers as people read them.

/// A number with four significant digits at most.
#[must_use]
pub fn short(value: f64) -> String {
    let size = value.abs();
    let text = match size {
        _ if value == 0.0 => "0".to_owned(),
        _ if !(1e-3..1e5).contains(&size) => return format!("{value:.2e}"),
        _ if size >= 1000.0 => format!("{value:.0}"),
        _ if size >= 100.0 => format!("{value:.1}"),
        _ if size >= 10.0 => format!("{value:.2}"),
        _ => format!("{value:.3}"),
    };
    if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.').to_owned() } else { text }
}
