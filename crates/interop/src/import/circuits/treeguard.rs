//! The circuits that TreeGuard gave fq_codel: by `lqos_overrides.treeguard.json`, or by
//! its activity in the journal of lqosd.

use crate::import::draft::one_line;
use crate::import::{ImportError, Input};
use goodqueue_lab::run::circuits::Network;
use std::collections::{BTreeSet, HashMap};

/// The beginning of a line of the journal about a circuit.
const ACTIVITY: &str = "TreeGuard activity: entity_type=circuit entity_id=";
/// Actions that give a circuit another queue, or would.
const GIVES: [&str; 3] = ["set_sqm_override:", "set_sqm_live:", "would_set_sqm_override:"];
/// The queue that it saves time with.
const LIGHT: &str = "fq_codel";

/// The places of the circuits; `devices` has those of their devices.
///
/// # Errors
/// When the file names a circuit that the network does not have, or none.
pub fn switched(input: &Input, network: &Network, devices: &HashMap<String, usize>) -> Result<BTreeSet<usize>, ImportError> {
    let text = input.text()?;
    let places = if text.trim_start().starts_with('{') {
        overrides(input, devices)?
    } else {
        let circuits: HashMap<&str, usize> =
            network.circuits.iter().enumerate().map(|(place, circuit)| (circuit.id.as_str(), place)).collect();
        journal(input, text, &circuits)?
    };
    if places.is_empty() {
        return Err(input.fault(
            "names no circuit that TreeGuard gave fq_codel: expected lqos_overrides.treeguard.json, or a journal of lqosd with \
             RUST_LOG=debug",
        ));
    }
    Ok(places)
}

fn overrides(input: &Input, devices: &HashMap<String, usize>) -> Result<BTreeSet<usize>, ImportError> {
    let json = input.json()?;
    let adjustments = json["circuit_adjustments"].as_array().map(Vec::as_slice).unwrap_or_default();
    let mut places = BTreeSet::new();
    for (number, one) in adjustments.iter().enumerate() {
        let is_light = one["sqm_override"].as_str().is_some_and(|queue| queue.contains(LIGHT));
        if one["type"] == "device_adjust_sqm" && is_light {
            let device = one["device_id"].as_str().unwrap_or_default();
            let place = devices.get(device).ok_or_else(|| {
                let shown = one_line(device);
                input.fault(format!("circuit_adjustments[{number}]: device_id: `{shown}` is no device of the circuits"))
            });
            places.insert(*place?);
        }
    }
    Ok(places)
}

fn journal(input: &Input, text: &str, circuits: &HashMap<&str, usize>) -> Result<BTreeSet<usize>, ImportError> {
    let mut places = BTreeSet::new();
    for (number, line) in text.lines().enumerate() {
        let Some((_, activity)) = line.split_once(ACTIVITY) else { continue };
        let Some((entity, rest)) = activity.split_once(" action=") else { continue };
        let given = GIVES.iter().find_map(|action| rest.strip_prefix(action)).and_then(|rest| rest.split(' ').next());
        if !given.is_some_and(|queues| queues.contains(LIGHT)) {
            continue;
        }
        // "Name (identifier)", or the identifier alone.
        let id = entity.strip_suffix(')').and_then(|entity| entity.rsplit_once(" (")).map_or(entity, |(_, id)| id);
        let place = circuits.get(id).ok_or_else(|| {
            input.fault(format!("line {}: entity_id: `{}` is no circuit of the network", number + 1, one_line(id)))
        });
        places.insert(*place?);
    }
    Ok(places)
}

#[cfg(test)]
mod tests {
    use super::*;
    use goodqueue_base::units::Rate;
    use goodqueue_lab::run::circuits::{Circuit, Ways};

    fn found(text: &str) -> Result<Vec<usize>, String> {
        let rate = Ways { down: Rate::mbit(50), up: Rate::mbit(10) };
        let circuit = |id: &str| Circuit { id: id.to_owned(), site: None, plan: rate, least: rate };
        let network = Network { sites: Vec::new(), circuits: ["1001", "1002", "1003"].map(circuit).to_vec() };
        let devices = [("d1".to_owned(), 0), ("d2".to_owned(), 2)].into();
        let input = Input::read("treeguard", text.as_bytes()).unwrap();
        switched(&input, &network, &devices).map(|places| places.into_iter().collect()).map_err(|error| error.to_string())
    }

    #[test]
    fn circuits_that_got_the_light_queue_are_found() {
        let line = |entity: &str, action: &str| {
            format!(
                "Nov 20 20:15:02 shaper lqosd[811]: DEBUG ThreadId(07) src/treeguard/actor.rs:2760: TreeGuard activity: \
                 entity_type=circuit entity_id={entity} action={action} persisted=true reason=Applied live + persisted\n"
            )
        };
        let journal = line("9 Elm St. (rear) (1001)", "set_sqm_override:fq_codel/cake")
            + &line("1003", "would_set_sqm_override:cake/fq_codel")
            + &line("1002", "clear_sqm_override:cake/cake")
            + "Nov 20 20:15:03 shaper lqosd[811]: WARN something else\n";
        assert_eq!(found(&journal), Ok(vec![0, 2]));
        let overrides = r#"{"persistent_devices": [], "circuit_adjustments": [
            {"type": "device_adjust_sqm", "device_id": "d2", "sqm_override": "fq_codel/fq_codel"},
            {"type": "device_adjust_sqm", "device_id": "d1", "sqm_override": "cake"}]}"#;
        assert_eq!(found(overrides), Ok(vec![2]));
        let unknown = found(&line("x (77)", "set_sqm_live:fq_codel/fq_codel")).unwrap_err();
        assert_eq!(unknown, "treeguard: line 1: entity_id: `77` is no circuit of the network");
        let unknown = found(&overrides.replace("d2", "d9")).unwrap_err();
        assert_eq!(unknown, "treeguard: circuit_adjustments[0]: device_id: `d9` is no device of the circuits");
        assert!(found("Nov 20 nothing\n").unwrap_err().contains("names no circuit that TreeGuard gave fq_codel"));
        assert!(found("{").unwrap_err().contains("is not JSON"));
    }
}
