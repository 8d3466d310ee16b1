//! The playground in a page without a server: sessions as a WebAssembly module.
//!
//! [`Api`] answers what `gq serve` answers at its addresses, with the same code behind it. A page
//! reaches it through three exported functions (`bindings`, in the module only): text goes in
//! through a buffer, answers and events come out through a function of the page. One instance holds
//! one session; a page has a worker with an instance for each.
//!
//! `crates/web/playground.sh` builds the module. For other targets this crate is `Api` alone, so
//! that its tests run anywhere.

mod api;
#[cfg(target_arch = "wasm32")]
mod bindings;

pub use api::{Api, Ask, Pause};
