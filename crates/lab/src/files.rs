//! Files that scenarios name, opened with care: paths are relative to the scenario's folder, and
//! each is read once.

use crate::flow_file::{self, FlowFileError, FlowList};
use crate::quantity::excerpt;
use crate::trace_file::{self, TraceError};
use goodqueue_sim::Opportunities;
use std::collections::BTreeMap;
use std::fs::File;
use std::io::{BufReader, ErrorKind, Read, Take};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Opens a regular file of at most `largest` bytes.
pub(crate) fn open(path: &Path, largest: u64) -> Result<BufReader<Take<File>>, String> {
    let facts = std::fs::metadata(path).map_err(|error| why(&error))?;
    // Reading a directory fails late and reading a pipe may never end.
    if facts.is_dir() {
        return Err("is a directory".to_owned());
    }
    if !facts.is_file() {
        return Err("is not a regular file".to_owned());
    }
    if facts.len() > largest {
        return Err(format!("has {} bytes: allowed up to {largest}", facts.len()));
    }
    let file = File::open(path).map_err(|error| why(&error))?;
    // The file may grow while it is read.
    Ok(BufReader::new(file.take(largest)))
}

/// What went wrong with a file, for a person.
pub(crate) fn why(error: &std::io::Error) -> String {
    match error.kind() {
        ErrorKind::NotFound => "no such file".to_owned(),
        ErrorKind::PermissionDenied => "may not be read: permission denied".to_owned(),
        _ => format!("cannot be read: {error}"),
    }
}

type Loaded<T, E> = Mutex<BTreeMap<PathBuf, Result<Arc<T>, E>>>;

/// Recordings by the names that a scenario has for them.
pub type Recordings = BTreeMap<String, Arc<Opportunities>>;

/// Where what a scenario names comes from.
#[derive(Clone, Debug)]
pub(crate) enum Shelf {
    /// From files, relative to this folder.
    Folder(PathBuf),
    /// There are these recordings; no file is ever opened.
    Given(Arc<Recordings>),
}

/// Loads each file once.
#[derive(Debug)]
pub(crate) struct FileStore {
    shelf: Shelf,
    traces: Loaded<Opportunities, TraceError>,
    flow_lists: Loaded<FlowList, FlowFileError>,
}

impl FileStore {
    /// Nothing loaded yet.
    pub(crate) fn new(shelf: &Shelf) -> Self {
        Self { shelf: shelf.clone(), traces: Mutex::default(), flow_lists: Mutex::default() }
    }

    /// The recording in a file.
    pub(crate) fn trace(&self, written: &str) -> Result<Arc<Opportunities>, TraceError> {
        if let Shelf::Given(recordings) = &self.shelf
            && let Some(known) = recordings.get(written)
        {
            return lock(&self.traces).entry(PathBuf::from(written)).or_insert_with(|| Ok(Arc::clone(known))).clone();
        }
        let path = self.path(written).map_err(|message| TraceError::whole(&excerpt(written), message))?;
        lock(&self.traces).entry(path.clone()).or_insert_with(|| trace_file::load(&path).map(Arc::new)).clone()
    }

    /// The list of flows in a file.
    pub(crate) fn flow_list(&self, written: &str) -> Result<Arc<FlowList>, FlowFileError> {
        let path = self.path(written).map_err(|message| FlowFileError::whole(&excerpt(written), message))?;
        lock(&self.flow_lists).entry(path.clone()).or_insert_with(|| flow_file::load(&path).map(Arc::new)).clone()
    }

    fn path(&self, written: &str) -> Result<PathBuf, String> {
        match &self.shelf {
            Shelf::Folder(base) => Ok(base.join(written)),
            Shelf::Given(recordings) if recordings.is_empty() => Err("files may not be read here".to_owned()),
            Shelf::Given(_) => Err("there is no such recording here, and files may not be read".to_owned()),
        }
    }

    /// All recordings loaded so far, ordered by path.
    pub(crate) fn traces(&self) -> Vec<Arc<Opportunities>> {
        good(&self.traces)
    }

    /// All lists of flows loaded so far, ordered by path.
    pub(crate) fn flow_lists(&self) -> Vec<Arc<FlowList>> {
        good(&self.flow_lists)
    }
}

/// A panic while loading leaves the map as it was, so a poisoned lock is still good.
fn lock<T>(loaded: &Mutex<T>) -> MutexGuard<'_, T> {
    loaded.lock().unwrap_or_else(PoisonError::into_inner)
}

fn good<T, E>(loaded: &Loaded<T, E>) -> Vec<Arc<T>> {
    lock(loaded).values().filter_map(|each| each.as_ref().ok().cloned()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_store_reads_a_file_once_and_relative_to_its_folder() {
        let folder = tempfile::tempdir().expect("a folder");
        std::fs::write(folder.path().join("a.down"), "1\n2\n").expect("a file");
        std::fs::write(folder.path().join("a.csv"), "start,size\n1 s,2 kB\n").expect("a file");
        let store = FileStore::new(&Shelf::Folder(folder.path().to_owned()));
        let trace = store.trace("a.down").expect("good");
        let list = store.flow_list("a.csv").expect("good");
        std::fs::remove_file(folder.path().join("a.down")).expect("the file");
        std::fs::remove_file(folder.path().join("a.csv")).expect("the file");
        assert!(Arc::ptr_eq(&trace, &store.trace("a.down").expect("known")));
        assert!(Arc::ptr_eq(&list, &store.flow_list("a.csv").expect("known")));
        assert_eq!((store.traces().len(), store.flow_lists().len()), (1, 1));
    }
}
