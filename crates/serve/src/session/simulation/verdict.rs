//! The verdict of a session in words, about what it shows: what the people on the line get, how
//! groups share it, how many packets are marked instead of dropped, or else how long packets wait.

use crate::session::scenario::Scenario;
use goodqueue_lab::results::experience::Activity;
use goodqueue_lab::scenario::plan::{Direction, Traffic};
use goodqueue_lab::verdict::Headline;
use goodqueue_lab::verdict::words::{list, time};
use serde_json::Value;

/// Findings of a session; `summary` is that of its results.
pub(super) struct Findings<'a> {
    pub scenario: &'a Scenario,
    pub summary: &'a Value,
}

impl Findings<'_> {
    /// All that there is to say; `headline` says what people get.
    pub(super) fn words(&self, headline: &Headline) -> String {
        let has_people = self.traffic().iter().any(|group| Activity::of(group).is_interactive());
        let people = has_people.then(|| headline.text.split("\n\n").next().unwrap_or_default().to_owned());
        let price = Some(headline.price.clone()).filter(|price| has_people && !price.is_empty());
        let waits = if has_people { None } else { self.waits() };
        [people, self.shares(), self.marks(), price, waits].into_iter().flatten().collect::<Vec<_>>().join(" ")
    }

    fn traffic(&self) -> &[Traffic] {
        &self.scenario.variants[0].point.plan.traffic
    }

    /// The groups of downloads, or else of uploads, that share the goodput.
    fn shares(&self) -> Option<String> {
        let sharing = |heading: Direction| -> Vec<String> {
            let bulk = |group: &&Traffic| Activity::of(group) == Activity::Bulk && group.heading == heading && group.flows > 0;
            self.traffic().iter().filter(bulk).map(|group| group.name.clone()).collect()
        };
        let groups = Direction::ALL.map(sharing).into_iter().find(|groups| groups.len() > 1)?;
        let each = self.each(|point| {
            let goodputs: Option<Vec<f64>> = groups.iter().map(|group| mean(&point["groups"][group]["goodput_bit_s"])).collect();
            let goodputs = goodputs?;
            let all = goodputs.iter().sum::<f64>();
            let shares: Vec<String> = goodputs.iter().map(|goodput| percent(goodput / all)).collect();
            (all > 0.0).then(|| list(&shares))
        });
        each.map(|each| format!("Of the goodput {} get: {each}.", list(&groups)))
    }

    /// Packets that were marked and dropped, where any was marked.
    fn marks(&self) -> Option<String> {
        let marked = |point: &Value| mean(&self.link(point)["marked_packets"]).unwrap_or(0.0);
        self.summary["points"].as_array()?.iter().any(|point| marked(point) > 0.0).then_some(())?;
        let each = self.each(|point| {
            let drops = ["early", "overflow"].iter().filter_map(|what| mean(&self.link(point)["drops"][*what])).sum::<f64>();
            Some(format!("{:.0} and {drops:.0}", marked(point)))
        });
        each.map(|each| format!("Packets marked and dropped: {each}."))
    }

    /// Sentence on the time that packets wait, and on the share of the link that is used.
    fn waits(&self) -> Option<String> {
        let each = self.each(|point| {
            let link = self.link(point);
            let (wait, used) = (mean(&link["sojourn_s"]["p95"])?, mean(&link["utilization"])?);
            Some(format!("{} with {} of the link used", time(wait), percent(used)))
        });
        each.map(|each| format!("95 % of the packets wait at most: {each}."))
    }

    fn link<'a>(&self, point: &'a Value) -> &'a Value {
        &point["links"][&self.scenario.link]
    }

    /// Joins the words of `say` about each queue; `None` unless it says something of all.
    fn each(&self, say: impl Fn(&Value) -> Option<String>) -> Option<String> {
        let points = self.summary["points"].as_array()?.iter().zip(&self.scenario.variants);
        let each: Option<Vec<String>> = points.map(|(point, one)| Some(format!("{} under {}", say(point)?, one.label))).collect();
        each.map(|each| each.join("; "))
    }
}

fn mean(figure: &Value) -> Option<f64> {
    figure["mean"].as_f64()
}

fn percent(part: f64) -> String {
    format!("{:.0} %", part * 100.0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::session::limits::Limits;
    use crate::session::recordings::RecordingStore;
    use crate::session::scenario::NewSession;
    use serde_json::json;

    fn scenario(traffic: &str) -> Scenario {
        let text = format!(
            "goodqueue = 1\nname = \"x\"\nduration = \"9 s\"\n[link.bottleneck]\nrate = \"9 Mbit/s\"\ndelay = \"5 ms\"\n\
             buffer = \"99 packets\"\n{traffic}"
        );
        let variants = [("plain", json!("tail-drop")), ("CoDel", json!({ "kind": "codel", "ecn": true }))];
        let variants: Vec<Value> = variants.into_iter().map(|(label, queue)| json!({ "label": label, "queue": queue })).collect();
        let request: NewSession =
            serde_json::from_value(json!({ "scenario_toml": text, "variants": variants })).expect("a request");
        Scenario::new(&request, RecordingStore::new(1).recordings(), &Limits::default()).expect("a scenario")
    }

    fn summary(marked: [f64; 2]) -> Value {
        let point = |p95: f64, marked: f64, a: f64| {
            let link = json!({
                "sojourn_s": { "p95": { "mean": p95 } }, "utilization": { "mean": 0.99 }, "marked_packets": { "mean": marked },
                "drops": { "early": { "mean": 30.0 }, "overflow": { "mean": 7.0 } },
            });
            let goodput = |part: f64| json!({ "goodput_bit_s": { "mean": 8e6 * part } });
            json!({ "links": { "bottleneck": link }, "groups": { "a": goodput(a), "b": goodput(1.0 - a) } })
        };
        json!({ "points": [point(0.1184, marked[0], 0.25), point(0.0123, marked[1], 0.5)] })
    }

    fn words(traffic: &str, marked: [f64; 2], text: &str) -> String {
        let headline = Headline { text: text.to_owned(), price: "It leaves nothing.".to_owned(), ..Headline::default() };
        Findings { scenario: &scenario(traffic), summary: &summary(marked) }.words(&headline)
    }

    const TWO: &str = "[[traffic]]\nname = \"a\"\nkind = \"bulk\"\n[[traffic]]\nname = \"b\"\nkind = \"bulk\"\n";
    const ASKS: &str = "CoDel has the lowest delay; add them (--traffic) before choosing.";

    #[test]
    fn groups_are_told_their_shares_under_each_queue() {
        assert_eq!(
            words(TWO, [0.0, 0.0], ASKS),
            "Of the goodput a and b get: 25 % and 75 % under plain; 50 % and 50 % under CoDel. 95 % of the packets wait at most: 118 ms \
             with 99 % of the link used under plain; 12.3 ms with 99 % of the link used under CoDel."
        );
    }

    #[test]
    fn marks_and_drops_are_counted_under_each_queue() {
        let said = words("[[traffic]]\nname = \"a\"\nkind = \"bulk\"\necn = true\n", [0.0, 41.0], ASKS);
        assert!(said.starts_with("Packets marked and dropped: 0 and 37 under plain; 41 and 37 under CoDel. 95 % "), "{said}");
        assert!(!said.contains("--"), "{said}");
    }

    #[test]
    fn two_sentences_on_people_come_first() {
        let said = words("[[traffic]]\nname = \"a\"\nkind = \"voip\"\n", [0.0, 0.0], "Use CoDel. Calls stay clear.\n\nOne run.");
        assert_eq!(said, "Use CoDel. Calls stay clear. It leaves nothing.");
    }
}
