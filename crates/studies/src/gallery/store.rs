//! Finished points on disk: one file each, used again when settings and code are the same.

use crate::gallery::error::GalleryError;
use crate::gallery::experiment::{Experiment, Mode};
use crate::gallery::samples::PointData;
use goodqueue_lab::results::error::RecordError;
use goodqueue_lab::results::provenance::{COMMIT, SOURCES, VERSION};
use goodqueue_lab::results::record::write_file;
use goodqueue_lab::run::backend::{Backend, Simulator};
use serde::{Deserialize, Serialize};
use std::path::{Path, PathBuf};

/// Name and version of the format of a point's file.
pub const POINT_SCHEMA: &str = "goodqueue.gallery-point/2";

/// The folder in which finished points are kept.
#[derive(Clone, Debug)]
pub struct Store {
    root: PathBuf,
    /// Facts of the host's kernel; empty for the simulator.
    host: String,
}

#[derive(Serialize, Deserialize)]
struct StoredPoint {
    schema: String,
    scenario_sha256: String,
    version: String,
    commit: String,
    sources: String,
    sampled: String,
    #[serde(default, skip_serializing_if = "String::is_empty")]
    host: String,
    #[serde(flatten)]
    data: PointData,
}

impl Store {
    /// The simulator's points below a folder of results, for one mode.
    #[must_use]
    pub fn new(out: &Path, mode: Mode) -> Self {
        Self::on(&Simulator, out, mode)
    }

    /// The points of a host below a folder of results, for one mode.
    #[must_use]
    pub fn on(host: &dyn Backend, out: &Path, mode: Mode) -> Self {
        let notes: Vec<String> = host.notes().into_values().collect();
        Self { root: out.join("points").join(mode.name()), host: notes.join("; ") }
    }

    fn path(&self, experiment: &Experiment, point: usize) -> PathBuf {
        self.root.join(&experiment.paper).join(&experiment.id).join(format!("{point:06}.json"))
    }

    /// A finished point, if it is there and was made from the same settings by the same code.
    /// Anything else there is ignored: it is overwritten.
    #[must_use]
    pub fn load(&self, experiment: &Experiment, point: usize) -> Option<PointData> {
        let text = std::fs::read_to_string(self.path(experiment, point)).ok()?;
        let stored: StoredPoint = serde_json::from_str(&text).ok()?;
        let same = stored.schema == POINT_SCHEMA
            && stored.version == VERSION
            && stored.sources == SOURCES
            && stored.sampled == sampled(experiment)
            && stored.host == self.host
            && stored.scenario_sha256 == experiment.plan.point_sha256(point);
        (same && stored.data.failures.is_empty()).then_some(stored.data)
    }

    /// Keeps a finished point.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn save(&self, experiment: &Experiment, point: usize, data: &PointData) -> Result<(), GalleryError> {
        let path = self.path(experiment, point);
        if let Some(folder) = path.parent() {
            let unusable = |source| RecordError::Unusable { path: folder.to_owned(), source };
            std::fs::create_dir_all(folder).map_err(unusable)?;
        }
        let stored = StoredPoint {
            schema: POINT_SCHEMA.to_owned(),
            scenario_sha256: experiment.plan.point_sha256(point),
            version: VERSION.to_owned(),
            commit: COMMIT.to_owned(),
            sources: SOURCES.to_owned(),
            sampled: sampled(experiment),
            host: self.host.clone(),
            data: data.clone(),
        };
        // Plain values with string keys always serialize.
        let text = serde_json::to_string(&stored).unwrap_or_default();
        write_file(&path, text.as_bytes())?;
        Ok(())
    }
}

/// Whether and how series were kept is part of what a stored point must agree in.
fn sampled(experiment: &Experiment) -> String {
    match experiment.series {
        None => "nothing".to_owned(),
        Some(None) => "as many as fit".to_owned(),
        Some(Some(period)) => period.to_string(),
    }
}
