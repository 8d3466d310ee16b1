//! Evaluations that others have written down: a queue by RFC 7928, a congestion control by
//! RFC 9743.
//!
//! A [`Suite`] is data: families of scenarios with the section that asks for them, where the
//! subject goes, and which figures the section names. [`Subject`] is what is judged or compared
//! with. [`run`] carries all out, point by point, and resumes; [`evaluation`] turns what was
//! measured into figures, comparisons and a scorecard; [`report`] and [`markdown`] show them.

pub mod ellipse;
pub mod evaluation;
pub mod markdown;
pub mod measure;
mod question;
pub mod report;
mod run;
pub mod subject;
pub mod suite;

pub use evaluation::Evaluation;
pub use question::Question;
pub use run::{RunEnd, run};
pub use subject::{Subject, SubjectError, SubjectFault};
pub use suite::{Family, RFC7928, RFC9743, Suite};
