//! The playground in a page without a server: sessions as a WebAssembly module.
//!
//! [`Api`](crate::session::Api) answers here as in `gq serve`, about a [`SingleSession`]. A page
//! reaches it through exported functions (`bindings`, in the module only): text goes in through a
//! buffer, answers and events come out through a function of the page. One instance holds one
//! session; a page has a worker with an instance for each.
//!
//! `crates/web/playground.sh` builds the module. For other targets there are no bindings, so
//! that tests run anywhere.

#[cfg(target_arch = "wasm32")]
mod bindings;
mod session;

pub use session::{SingleSession, api};
