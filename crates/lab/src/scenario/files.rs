//! Files that scenarios name: paths are relative to the scenario's folder, and each is read once.

use crate::quantity::excerpt;
use crate::scenario::flow_file::{self, FlowList};
use crate::scenario::input::{FileError, FileFault};
use crate::scenario::trace_file;
use goodqueue_sim::Opportunities;
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

type Loaded<T> = Mutex<BTreeMap<PathBuf, Result<Arc<T>, FileError>>>;

/// Recordings by the names that a scenario has for them.
pub type Recordings = BTreeMap<String, Arc<Opportunities>>;

/// The source of the files and recordings that a scenario names.
#[derive(Clone, Debug)]
pub(crate) enum Shelf {
    /// From files, relative to this folder.
    Folder(PathBuf),
    /// There are these recordings; no file is ever opened.
    ParamValues(Arc<Recordings>),
}

/// Loads each file once.
#[derive(Debug)]
pub(crate) struct FileStore {
    shelf: Shelf,
    traces: Loaded<Opportunities>,
    flow_lists: Loaded<FlowList>,
}

impl FileStore {
    /// Nothing loaded yet.
    pub(crate) fn new(shelf: &Shelf) -> Self {
        Self { shelf: shelf.clone(), traces: Mutex::default(), flow_lists: Mutex::default() }
    }

    /// The recording in a file.
    pub(crate) fn trace(&self, written: &str) -> Result<Arc<Opportunities>, FileError> {
        if let Shelf::ParamValues(recordings) = &self.shelf
            && let Some(known) = recordings.get(written)
        {
            return lock(&self.traces).entry(PathBuf::from(written)).or_insert_with(|| Ok(Arc::clone(known))).clone();
        }
        let path = self.path(written)?;
        lock(&self.traces).entry(path.clone()).or_insert_with(|| trace_file::load(&path).map(Arc::new)).clone()
    }

    /// The list of flows in a file.
    pub(crate) fn flow_list(&self, written: &str) -> Result<Arc<FlowList>, FileError> {
        let path = self.path(written)?;
        lock(&self.flow_lists).entry(path.clone()).or_insert_with(|| flow_file::load(&path).map(Arc::new)).clone()
    }

    fn path(&self, written: &str) -> Result<PathBuf, FileError> {
        let refuse = |fault: FileFault| Err(FileError::whole(&excerpt(written), fault));
        match &self.shelf {
            Shelf::Folder(base) => Ok(base.join(written)),
            Shelf::ParamValues(recordings) if recordings.is_empty() => refuse(FileFault::NoFiles),
            Shelf::ParamValues(_) => refuse(FileFault::NoRecording),
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

fn good<T>(loaded: &Loaded<T>) -> Vec<Arc<T>> {
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
