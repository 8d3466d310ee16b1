//! One module for each command: its arguments, and what it does with them.

#[cfg(target_os = "linux")]
pub mod bridge;
pub mod check;
pub mod compare;
pub mod completions;
pub mod conformance;
pub mod doctor;
#[cfg(target_os = "linux")]
pub mod exec;
pub mod export;
pub mod gate;
#[cfg(target_os = "linux")]
pub mod guest;
pub mod import;
pub mod list;
pub mod man;
pub mod packetdrill;
pub mod recommend;
#[cfg(target_os = "linux")]
pub mod replay;
pub mod reproduce;
pub mod run;
pub mod serve;
pub mod sweep;
#[cfg(target_os = "linux")]
pub mod validate;
