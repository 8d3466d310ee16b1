//! Figures: from finished points to the data of a [`goodqueue_figure::Figure`].

mod collect;
mod printed;

pub use collect::collect;

/// Factor from an SI value to a unit.
#[must_use]
pub fn factor(unit: &str) -> f64 {
    match unit {
        "%" => 100.0,
        "ms" | "kB^-1" => 1e3,
        "us" | "µs" => 1e6,
        "kbit/s" | "kB" | "kb/s" => 1e-3,
        "Mbit/s" | "MB" | "Mb/s" => 1e-6,
        "Gbit/s" | "Gbit" | "GB" | "Gb/s" => 1e-9,
        _ => 1.0,
    }
}

#[cfg(test)]
mod tests;
