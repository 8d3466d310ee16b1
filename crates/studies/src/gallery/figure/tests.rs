//! Units of figures.

use super::*;

#[test]
fn units_scale_si_values() {
    assert_eq!(["%", "ms", "Mbit/s", "packets"].map(factor), [100.0, 1e3, 1e-6, 1.0]);
}
