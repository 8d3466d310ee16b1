//! The recommendation of a queue, settings and a shaped rate for a line that is known only roughly.
//!
//! A [`Question`] says what is known of the line ([`Line`]), what people do on it, and which
//! [`Hardware`] the router is. [`recommend`] tries the queues of the router and shaped rates under
//! each mix at the corners of what is unknown, all with the same random numbers, leaves what users
//! type only on evidence (`choose`), and answers with a [`Recommendation`]: the choice, what each
//! group gets under it, what is as good, what stays open, its worst corner, and which measurement
//! would change it.

pub mod access;
pub mod answer;
pub mod ask;
pub mod candidates;
pub mod check;
mod choose;
pub mod corners;
mod question;
pub mod race;
pub mod scenario;
mod search;
mod setting;
pub mod tried;

pub use answer::Recommendation;
pub use ask::Asked;
pub use candidates::Hardware;
pub use corners::{Line, Range};
pub use question::{Effort, Question, Refused, Want};
pub use search::recommend;
