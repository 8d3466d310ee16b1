//! The provenance of a result: version, commit, scenario, and a hash of everything that happened.

use serde::Serialize;

/// Version of goodqueue.
pub const VERSION: &str = env!("CARGO_PKG_VERSION");
/// Commit this was built from; `unknown` outside a repository.
pub const COMMIT: &str = env!("GOODQUEUE_COMMIT");
/// Year of that commit; empty outside a repository.
pub const YEAR: &str = env!("GOODQUEUE_YEAR");
/// Hash of the sources that decide what a run gives (16 hexadecimal digits); the commit where they
/// were not at hand. A commit that changes only pages, or the drawing of figures, leaves it as it
/// was.
pub const SOURCES: &str = env!("GOODQUEUE_SOURCES");

/// Both, for a person.
pub const VERSION_AND_COMMIT: &str = concat!(env!("CARGO_PKG_VERSION"), " (", env!("GOODQUEUE_COMMIT"), ")");

/// The provenance of a result.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Provenance {
    /// Version of goodqueue.
    pub version: String,
    /// Commit it was built from; `unknown` outside a repository.
    pub commit: String,
    /// SHA-256 of the settings in their fixed form and of the recordings they name.
    pub scenario_sha256: String,
    /// Hash of the fingerprints of all runs, in their order; 16 hexadecimal digits.
    pub fingerprint: String,
}

impl Provenance {
    /// Describes a result made by this binary from these runs.
    #[must_use]
    pub fn new(scenario_sha256: String, run_fingerprints: impl IntoIterator<Item = u64>) -> Self {
        Self {
            version: VERSION.to_owned(),
            commit: COMMIT.to_owned(),
            scenario_sha256,
            fingerprint: format!("{:016x}", combine(run_fingerprints)),
        }
    }
}

/// FNV-1a over the fingerprints' bytes: depends on their order.
fn combine(fingerprints: impl IntoIterator<Item = u64>) -> u64 {
    let bytes = fingerprints.into_iter().flat_map(u64::to_le_bytes);
    bytes.fold(0xcbf2_9ce4_8422_2325, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_order_of_runs_counts() {
        assert_ne!(combine([1, 2]), combine([2, 1]));
        assert_ne!(combine([0]), combine([0, 0]));
        // FNV-1a of eight zero bytes, computed by hand from the definition: offset times prime to
        // the eighth power.
        let expected = (0..8).fold(0xcbf2_9ce4_8422_2325_u64, |hash, _| hash.wrapping_mul(0x100_0000_01b3));
        assert_eq!(combine([0]), expected);
    }

    #[test]
    fn says_which_build_it_was() {
        let provenance = Provenance::new("ab".into(), [7]);
        assert_eq!(provenance.version, env!("CARGO_PKG_VERSION"));
        assert!(!provenance.commit.is_empty());
        assert_eq!(provenance.fingerprint.len(), 16);
    }
}
