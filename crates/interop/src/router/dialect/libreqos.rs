//! The dialect of the column `sqm` of LibreQoS' `ShapedDevices.csv`: a kind, with the kernel's
//! defaults.

use super::tc::STYLE;
use super::words::only;
use super::{Dialect, Form, Hold, Marks, Word};
use goodqueue_aqm::spec::Value;

/// Kinds for circuits.
pub const LIBREQOS: Dialect = Dialect { title: "LibreQoS", style: &STYLE, forms: FORMS };

const FORMS: &[Form] = &[
    Form { kind: "fq-codel", word: "fq_codel", limit: Hold::Unsaid, marks: Marks::Always, words: &[] },
    Form { kind: "cake", word: "cake", limit: Hold::Unsaid, marks: Marks::Always, words: &[CAKE] },
];

// The tins are those of `default_sqm` in /etc/lqos.conf, which is for all circuits: diffserv4 as
// LibreQoS comes.
const CAKE: &[Word] = &[only("tins", Value::Choice("diffserv4"))];
