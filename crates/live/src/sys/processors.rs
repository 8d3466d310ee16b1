//! Statistics of the machine's processors.

use goodqueue_base::units::Duration;

/// The kernel counts in these whatever its own ticks are.
const TICK: Duration = Duration::ms(10);

/// Time that a hypervisor gave to others while this machine's processors had work, of all of them
/// together, since the machine began. Zero where the hypervisor does not report it.
#[must_use]
pub fn stolen() -> Duration {
    std::fs::read_to_string("/proc/stat").ok().as_deref().and_then(parse).unwrap_or_default()
}

/// The eighth figure of the line about all processors.
fn parse(stat: &str) -> Option<Duration> {
    let ticks = stat.lines().next()?.strip_prefix("cpu ")?.split_whitespace().nth(7)?;
    Some(TICK * ticks.parse::<u64>().ok()?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stolen_time_is_the_eighth_figure() {
        let text = "cpu  4837442 3618720 1227065 3977735 32557 0 27295 24960 0 0\ncpu0 1 1 1 1 1 1 1 1 1 1\n";
        assert_eq!(parse(text), Some(Duration::ms(249_600)));
        assert_eq!(parse("cpu  1 2 3\n"), None);
        assert_eq!(parse(""), None);
    }
}
