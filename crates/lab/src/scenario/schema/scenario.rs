//! Keys of a scenario file itself.

use crate::scenario::limits::MAX_S;
use goodqueue_base::spec::{Default, Kind, Param, Unit, Value};
use goodqueue_base::units::Duration;

/// All keys at the top of a file.
pub const SCENARIO: Kind = Kind {
    kind: "scenario",
    title: "Scenario",
    summary: "a link or a network, the flows that cross it, how long to run and what to vary",
    params: &[
        Param::required("goodqueue", Unit::Form("1")).about("version of the format: 1").for_instance("1"),
        Param::auto("name", Unit::Text, "the file's name")
            .about("what the scenario is called in results")
            .for_instance("\"home uplink\""),
        Param::auto("description", Unit::Text, "none").about("what it is about").for_instance("\"A call and a download.\""),
        Param::duration("warmup", Duration::ZERO)
            .within(0.0, MAX_S)
            .about("time before measuring begins")
            .for_instance("\"10 s\""),
        Param::required("duration", Unit::Duration)
            .within(0.001, MAX_S)
            .about("measured part, after the warm-up")
            .for_instance("\"100 s\""),
        Param::count("replications", 1.0).within(1.0, 1e6).about("independent repetitions of each point").for_instance("10"),
        // Read as it is: not all of them are exact as the numbers that other counts are.
        Param::new("seed", Unit::Form("whole number"), Default::Value(Value::Number(1.0)))
            .about("root of all randomness")
            .for_instance("7"),
        Param::auto("access", Unit::Form("table"), "the links of the hosts have their defaults")
            .about("links between hosts and the bottleneck, see below"),
        Param::required("link", Unit::Form("tables by name")).about("the bottleneck, or several links, see below"),
        Param::required("traffic", Unit::Form("list of tables")).about("groups of flows, see below"),
        Param::auto("sweep", Unit::Form("table or list of tables"), "none").about("what to vary, see below"),
    ],
    ..Kind::PLAIN
};
