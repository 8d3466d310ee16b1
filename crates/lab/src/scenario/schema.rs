//! The keys of scenario files as data: names, units, defaults, ranges and meanings. The reader,
//! listings, forms and documentation derive from these tables.

pub mod access;
pub mod link;
pub mod scenario;
pub mod traffic;
