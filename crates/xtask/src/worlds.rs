//! Instructions that whole simulations take per packet: four dumbbells of `tools/bench/peers`, and
//! the first command of the README with its call, ping, downloads and upload.

use crate::{Result, tool};

/// A simulation, counted twice with different lengths so that only its packets make the difference.
pub struct World {
    pub name: &'static str,
    /// Lengths of the two runs, s.
    seconds: [u32; 2],
}

pub const WORLDS: [World; 5] = [
    World { name: "s1", seconds: [12, 32] },
    World { name: "s2c", seconds: [12, 32] },
    World { name: "s3", seconds: [12, 15] },
    World { name: "s4", seconds: [11, 12] },
    World { name: README, seconds: [2, 7] },
];
const README: &str = "readme";
const WARMUP_S: f64 = 1.0;
/// That command with endless flows, so that lengths can be subtracted, without a report and for a
/// length that follows.
const COMPARE: &str = "compare --rate 50/10mbit --rtt 30ms --aqm tail-drop,codel,pie,fq-codel,cake --traffic call-and-ping \
                       --buffer 4bdp --warmup 1s --replications 1 --jobs 1 --no-report --record nothing --force \
                       --out target/worlds --json -";
/// Bits of the packets that most worlds consist of.
const PACKET_BITS: f64 = 12_000.0;

/// Builds the programs that [`World::count`] runs.
pub fn build() -> Result {
    tool::run("cargo", &["build", "--quiet", "--release", "-p", "goodqueue-sim", "--example", "peer_worlds"], &[])?;
    tool::run("cargo", &["build", "--quiet", "--release", "-p", "goodqueue-cli", "--bin", "gq"], &[])
}

impl World {
    /// Instructions for each 1500 bytes that the bottleneck carries.
    pub fn count(&self) -> Result<f64> {
        let [short, long] = self.seconds.map(|seconds| self.run(seconds));
        let ((fewer, before), (more, after)) = (short?, long?);
        Ok((after - before) / (more - fewer))
    }

    /// Packets and instructions of one run.
    fn run(&self, seconds: u32) -> Result<(f64, f64)> {
        let program = tool::built(if self.name == README { "gq" } else { "examples/peer_worlds" })?;
        let seconds_word = seconds.to_string();
        let duration = format!("{seconds}s");
        let arguments: Vec<&str> = match self.name {
            README => COMPARE.split(' ').chain(["--duration", &duration]).collect(),
            name => vec![name, &seconds_word],
        };
        let said = tool::output(&program, &arguments)?;
        let packets = match self.name {
            README => carried_bits(&said, f64::from(seconds) - WARMUP_S)? / PACKET_BITS,
            _ => said.split_whitespace().nth(1).and_then(|word| word.parse().ok()).ok_or("peer_worlds prints no packets")?,
        };
        Ok((packets, tool::instructions(&program, &arguments)?))
    }
}

/// Bits that all links of all points carry in the measured `seconds`.
fn carried_bits(summary: &str, seconds: f64) -> Result<f64> {
    let summary: serde_json::Value = serde_json::from_str(summary).map_err(|error| format!("gq compare: {error}"))?;
    let points = summary["points"].as_array().ok_or("gq compare: no points")?;
    let links = points.iter().filter_map(|point| point["links"].as_object()).flat_map(|links| links.values());
    Ok(links.filter_map(|link| link["throughput_bit_s"]["mean"].as_f64()).sum::<f64>() * seconds)
}
