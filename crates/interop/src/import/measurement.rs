//! Results of `gq measure`.

use crate::import::draft::{filled, halves, line_rate, millis};
use crate::import::{Cited, Draft, ImportError, Input, Origin, Way};
use crate::measure::{Delays, DirectionResult, Measurement, Quantiles};

/// A line from a measurement.
///
/// # Errors
/// When the file is no measurement, or a figure in it is out of range.
pub fn import(input: &Input) -> Result<Draft, ImportError> {
    let read = Measurement::read(input.text()?).map_err(|fault| input.fault(fault.to_string()))?;
    let idle = read.idle.rtt_s.p50 * 1e3;
    let why = Origin::Measured(format!("half of idle.rtt_s.p50, {idle:.1} ms of idle round-trip time"));
    let delay = halves(millis((idle * 10.0).round() / 10.0), &why);
    let way = |name: &str, of: &DirectionResult, one_way: fn(&Delays) -> &Quantiles| way(input, name, of, one_way, &read.idle);
    let ways = (way("down", &read.down, |delays| &delays.down_s)?, Some(way("up", &read.up, |delays| &delays.up_s)?));
    let mut notes = vec!["The buffers hold for a queue without management: one that was kept short looks small.".to_owned()];
    notes.extend(read.notes.iter().cloned());
    let name = format!("measurement of {}", read.date);
    Ok(Draft { notes, ..Draft::new(name, "measure", input, delay, ways) })
}

fn way(
    input: &Input,
    name: &str,
    of: &DirectionResult,
    one_way: fn(&Delays) -> &Quantiles,
    idle: &Delays,
) -> Result<Way, ImportError> {
    let bits = of.line_rate_bit_s.mean.unwrap_or_default();
    let payload = of.goodput_bit_s.mean.unwrap_or_default() / 1e6;
    let why = format!("{name}.line_rate_bit_s, from {payload:.3} Mbit/s of payload that was measured");
    // To four digits, which is more than a measurement knows.
    let unit = 10_u64.pow((bits as u64).checked_ilog10().unwrap_or_default().saturating_sub(3)) as f64;
    let rate = line_rate((bits / unit).round() * unit);
    let rate = rate.ok_or_else(|| input.fault(format!("{name}: {bits} bit/s is no line's rate")))?;
    let rise_ms = (of.queue_s(one_way, idle) * 1e4).round() / 10.0;
    let held =
        filled(rise_ms, 1.0, rate, format!("{name}.loaded.{name}_s.p99 less idle.{name}_s.min, {rise_ms} ms in the queue"));
    let rate_cited = Cited::bit_s(rate, Origin::Estimated(why));
    Ok(Way::unmanaged(rate_cited, rate, held, "a measurement does not tell which queue the line has"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use goodqueue_base::units::{Duration, Rate};

    /// The file of a line of 20/2 Mbit/s with 30 ms and 200 ms of buffer, as `gq measure` writes it
    /// but for rounding.
    const LINE: &str = include_str!("measurement/line.json");

    fn read(text: &str) -> Result<Draft, ImportError> {
        import(&Input::read("line.json", text.as_bytes()).unwrap())
    }

    #[test]
    fn a_measurement_knows_rates_delay_and_buffers() {
        let line = read(LINE).unwrap().measured().unwrap();
        assert_eq!(line.down.as_ref().unwrap().value, Rate::kbit(19_990));
        assert!(matches!(line.down.unwrap().origin, Origin::Estimated(_)));
        assert_eq!(line.up.unwrap().value, Rate::kbit(2_001));
        let rtt = line.rtt.unwrap();
        assert_eq!((rtt.value, matches!(rtt.origin, Origin::Measured(_))), (Duration::us(30_600), true));
        assert_eq!(line.buffer_down.unwrap().value, Duration::us(199_700));
        assert_eq!(line.buffer_up.unwrap().value, Duration::us(203_600));
    }

    #[test]
    fn faults_name_file_field_and_what_is_allowed() {
        let fault = |text: &str| read(text).unwrap_err().to_string();
        let other = fault(&LINE.replace("measurement/1", "measurement/9"));
        assert_eq!(other, "line.json: schema: `goodqueue.measurement/9` is not read: allowed goodqueue.measurement/1");
        let rate = fault(&LINE.replace("\"mean\": 19990000.0", "\"mean\": 19.99"));
        assert!(rate.starts_with("line.json: down.line_rate_bit_s.mean: 19.99 bit/s is out of range: allowed"), "{rate}");
        assert!(fault(&LINE[..400]).starts_with("line.json: is not JSON: "));
    }
}
