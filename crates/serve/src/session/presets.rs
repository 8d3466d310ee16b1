//! Lines and traffic to begin with.

use serde_json::{Value, json};

/// (id, title, scenario)
const PRESETS: &[(&str, &str, &str)] = &[
    ("dsl", "DSL line, 16 Mbit/s", include_str!("../../presets/dsl.toml")),
    ("cable", "Cable, 100 Mbit/s", include_str!("../../presets/cable.toml")),
    ("fibre", "Fibre, 500 Mbit/s", include_str!("../../presets/fibre.toml")),
    ("lte", "A phone's link", include_str!("../../presets/lte.toml")),
    ("satellite", "Geostationary satellite, 20 Mbit/s", include_str!("../../presets/satellite.toml")),
    ("uplink", "A home's uplink, 10 Mbit/s", include_str!("../../presets/uplink.toml")),
];

/// As a page gets them.
pub fn all() -> Value {
    PRESETS.iter().map(|(id, title, text)| json!({ "id": id, "title": title, "scenario_toml": text })).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use goodqueue_lab::scenario::plan::Plan;

    #[test]
    fn every_preset_is_a_scenario_that_lint_has_nothing_to_say_of() {
        let recordings = crate::session::recordings::RecordingStore::new(1).recordings();
        for (id, _, text) in PRESETS {
            let plan =
                Plan::parse_with_recordings(id, text, recordings.clone()).unwrap_or_else(|error| panic!("{}", error.text()));
            let point = plan.point(0).expect("one point");
            let warnings = crate::session::scenario::warnings(&point);
            assert!(warnings.is_empty(), "{id}: {warnings:?}");
        }
    }
}
