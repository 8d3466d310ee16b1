//! Lines and traffic to begin with.

use serde_json::{Value, json};

/// (id, title, scenario)
const PRESETS: &[(&str, &str, &str)] = &[
    ("dsl", "DSL line, 16 Mbit/s", include_str!("../../presets/dsl.toml")),
    ("cable", "Cable, 100/10 Mbit/s: an evening at home", include_str!("../../presets/cable.toml")),
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
    use goodqueue_base::units::Rate;
    use goodqueue_lab::scenario::mix::{EVENING, Line, Mix};
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

    #[test]
    fn the_evening_on_cable_is_that_of_the_mix() {
        let line = Line {
            down: Some(Rate::mbit(100)),
            up: Some(Rate::mbit(10)),
            flows: None,
            flows_up: None,
            controls: &[("cubic".to_owned(), "\"cubic\"".to_owned())],
            tcp: "",
            start: "\"uniform 0 s .. 5 s\"",
            path: &[],
        };
        let traffic = Mix::named(EVENING).expect("a mix").on(&line).toml;
        let (_, _, text) = PRESETS.iter().find(|(id, ..)| *id == "cable").expect("a preset");
        assert!(text.ends_with(&traffic), "{traffic}");
    }
}
