//! Configurations of routers: `/etc/config/sqm`, exports of RouterOS, files of systemd-networkd and
//! LibreQoS' `ShapedDevices.csv`.
//!
//! Each reader finds the shaper and queue of each direction and says them in lines of `tc`, which
//! [`crate::import::tc::import`] reads: all of these routers run Linux. The tables that `gq export`
//! writes with give the words.

pub(super) mod libreqos;
mod lines;
mod networkd;
mod routeros;
mod sqm;

pub use libreqos::import as libreqos;
pub use networkd::import as networkd;
pub use routeros::import as routeros;
pub use sqm::import as sqm;

#[cfg(test)]
mod tests;
