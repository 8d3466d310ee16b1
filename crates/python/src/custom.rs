//! Algorithms written in Python, behind the engine's trait.

use goodqueue_aqm::custom::{CustomAlgorithm, CustomKind};
use goodqueue_aqm::spec::{Kind, KindSpec, LinkFacts, ParamError};
use goodqueue_aqm::{Aqm, Ecn, Env, PacketView, QueueView, Reason, Rng, Verdict};
use goodqueue_base::units::{Bytes, Duration, Instant, Rate};
use goodqueue_lab::quantity::excerpt;
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyString};
use std::collections::BTreeMap;
use std::fmt;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

/// Most gauges of an algorithm: each is asked for at every sample.
const MAX_GAUGES: usize = 64;

/// The first exception of a plan's algorithms. From then on they pass every packet without being
/// called, until the exception has been raised.
#[derive(Default)]
pub struct PythonError {
    is_there: AtomicBool,
    exception: Mutex<Option<PyErr>>,
}

impl PythonError {
    pub fn is_there(&self) -> bool {
        self.is_there.load(Ordering::Relaxed)
    }

    fn set(&self, error: PyErr) {
        self.exception.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert(error);
        self.is_there.store(true, Ordering::Relaxed);
    }

    /// Raises the exception, if there is one.
    pub fn raise(&self) -> PyResult<()> {
        if !self.is_there() {
            return Ok(());
        }
        let taken = self.exception.lock().unwrap_or_else(PoisonError::into_inner).take();
        self.is_there.store(false, Ordering::Relaxed);
        taken.map_or(Ok(()), Err)
    }
}

/// The decision of an algorithm about a packet: `PASS` lets it through; `SIGNAL` sets CE on an
/// ECN-capable packet and drops any other; `MARK` sets CE on an ECN-capable packet and lets any
/// other through; `DROP` drops it.
#[pyclass(name = "Verdict", module = "goodqueue.aqm", eq, eq_int, frozen, hash, from_py_object)]
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
#[allow(clippy::upper_case_acronyms, reason = "constants of Python are written so")]
pub enum Decision {
    PASS,
    SIGNAL,
    MARK,
    DROP,
}

impl Decision {
    const fn verdict(self, reason: Reason) -> Verdict {
        match self {
            Self::PASS => Verdict::Pass,
            Self::SIGNAL => Verdict::Signal(reason),
            Self::MARK => Verdict::Mark(reason),
            Self::DROP => Verdict::Drop(reason),
        }
    }
}

/// Names of the codepoints, as in scenario files.
pub const fn codepoint(ecn: Ecn) -> &'static str {
    match ecn {
        Ecn::NotEct => "not-ect",
        Ecn::Ect0 => "ect0",
        Ecn::Ect1 => "ect1",
        Ecn::Ce => "ce",
    }
}

/// An algorithm's view of a packet.
#[pyclass(name = "Packet", module = "goodqueue.aqm", frozen)]
pub struct Packet {
    view: PacketView,
    now: Instant,
}

#[pymethods]
impl Packet {
    /// Bytes without framing.
    #[getter]
    fn size(&self) -> u64 {
        self.view.len.get()
    }
    /// Number of its flow.
    #[getter]
    fn flow(&self) -> u32 {
        self.view.flow.0
    }
    /// Codepoint: `not-ect`, `ect0`, `ect1` or `ce`; `not-ect` whenever the queue does not mark.
    #[getter]
    fn ecn<'py>(&self, py: Python<'py>) -> &Bound<'py, PyString> {
        match self.view.ecn {
            Ecn::NotEct => intern!(py, "not-ect"),
            Ecn::Ect0 => intern!(py, "ect0"),
            Ecn::Ect1 => intern!(py, "ect1"),
            Ecn::Ce => intern!(py, "ce"),
        }
    }
    /// Whether the queue may mark it.
    #[getter]
    fn is_ecn_capable(&self) -> bool {
        self.view.ecn.is_capable()
    }
    /// When it arrived at the queue, in seconds.
    #[getter]
    fn arrived_s(&self) -> f64 {
        self.view.enqueued_at.as_secs_f64()
    }
    /// Time it has waited, in seconds.
    #[getter]
    fn sojourn_s(&self) -> f64 {
        self.view.sojourn(self.now).as_secs_f64()
    }
    fn __repr__(&self) -> String {
        format!("Packet(size={}, flow={}, ecn='{}')", self.view.len.get(), self.view.flow.0, codepoint(self.view.ecn))
    }
}

/// An algorithm's view of its queue. One object for all calls; it shows the state at the
/// time of the call.
#[pyclass(name = "QueueState", module = "goodqueue.aqm")]
pub struct QueueState {
    now: Instant,
    queue: QueueView,
    rate: Option<Rate>,
    overhead: Bytes,
    rng: Rng,
}

#[pymethods]
impl QueueState {
    /// Now, in seconds.
    #[getter]
    fn now_s(&self) -> f64 {
        self.now.as_secs_f64()
    }
    /// Waiting packets.
    #[getter]
    fn packets(&self) -> u64 {
        self.queue.packets.get()
    }
    /// Waiting bytes, framing not counted.
    #[getter]
    fn backlog(&self) -> u64 {
        self.queue.backlog.get()
    }
    /// Rate of the link in bit/s; None where it is not known, 0 while it is down.
    #[getter]
    fn rate(&self) -> Option<u64> {
        self.rate.map(Rate::as_bit_s)
    }
    /// Bytes that the link adds to each packet.
    #[getter]
    fn overhead(&self) -> u64 {
        self.overhead.get()
    }
    /// Time that the link takes to send what waits, in seconds; None where that is not known.
    #[getter]
    fn delay_s(&self) -> Option<f64> {
        let rate = self.rate.filter(|rate| !rate.is_zero())?;
        let framing = self.overhead.get() as f64 * self.queue.packets.get() as f64;
        Some((self.queue.backlog.get() as f64 + framing) / rate.as_bytes_s_f64())
    }
    /// A number in [0, 1) from the queue's own random stream, the same for the same seed.
    fn random(&mut self) -> f64 {
        self.rng.uniform()
    }
}

/// Interned strings that live as long as the program, since the engine expects constants for names.
fn constant(text: &str) -> &'static str {
    static KNOWN: Mutex<BTreeMap<String, &'static str>> = Mutex::new(BTreeMap::new());
    let mut known = KNOWN.lock().unwrap_or_else(PoisonError::into_inner);
    known.entry(text.to_owned()).or_insert_with(|| Box::leak(text.to_owned().into_boxed_str()))
}

/// Description of a kind written in Python, one per name.
fn description(name: &str) -> &'static KindSpec {
    static KNOWN: Mutex<BTreeMap<String, &'static KindSpec>> = Mutex::new(BTreeMap::new());
    let mut known = KNOWN.lock().unwrap_or_else(PoisonError::into_inner);
    known.entry(name.to_owned()).or_insert_with(|| {
        Box::leak(Box::new(KindSpec::own(Kind {
            kind: constant(name),
            title: constant(name),
            summary: "An algorithm written in Python.",
            source: "the program",
            ..Kind::PLAIN
        })))
    })
}

/// A kind of algorithm written in Python.
pub struct PyKind {
    spec: &'static KindSpec,
    version: String,
    /// Creates an algorithm when called without arguments.
    make: Py<PyAny>,
    trouble: Arc<PythonError>,
}

impl PyKind {
    pub fn new(name: &str, version: String, make: Py<PyAny>, trouble: Arc<PythonError>) -> Self {
        Self { spec: description(name), version, make, trouble }
    }
}

impl fmt::Debug for PyKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "PyKind({})", self.spec.kind)
    }
}

impl CustomKind for PyKind {
    fn spec(&self) -> &'static KindSpec {
        self.spec
    }
    fn version(&self) -> &str {
        &self.version
    }
    fn build(&self, _: &LinkFacts) -> Result<Box<dyn CustomAlgorithm>, ParamError> {
        match Python::attach(|py| PyAlgorithm::new(py, &self.make, &self.trouble)) {
            Ok(algorithm) => Ok(Box::new(algorithm)),
            Err(error) => {
                let message = format!("`{}` cannot be made: {error}", self.spec.kind);
                self.trouble.set(error);
                Err(ParamError::refused(&message))
            }
        }
    }
}

/// A hook of an algorithm.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Hook {
    Arrival,
    Departure,
    Overflow,
    Idle,
    RateChange,
    NextUpdate,
    Update,
    Gauges,
}

impl Hook {
    /// Names of the methods, in the order of declaration.
    const NAMES: [&str; 8] =
        ["on_arrival", "on_departure", "on_overflow", "on_idle", "on_rate_change", "next_update", "on_update", "gauges"];

    const fn decides(self) -> bool {
        matches!(self, Self::Arrival | Self::Departure)
    }

    const fn name(self) -> &'static str {
        Self::NAMES[self as usize]
    }
}

/// The hooks that a class overrides; others are not called.
#[derive(Default)]
struct Hooks([Option<Py<PyAny>>; Hook::NAMES.len()]);

impl Hooks {
    fn get(&self, hook: Hook) -> Option<&Py<PyAny>> {
        self.0[hook as usize].as_ref()
    }
}

/// An algorithm written in Python.
struct PyAlgorithm {
    hooks: Hooks,
    queue: Py<QueueState>,
    due: Option<Instant>,
    gauges: Vec<&'static str>,
    make: Py<PyAny>,
    trouble: Arc<PythonError>,
}

impl fmt::Debug for PyAlgorithm {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("PyAlgorithm")
    }
}

impl PyAlgorithm {
    fn new(py: Python<'_>, make: &Py<PyAny>, trouble: &Arc<PythonError>) -> PyResult<Self> {
        let base = py.import("goodqueue.aqm")?.getattr("Algorithm")?;
        let object = make.bind(py).call0()?;
        if !object.is_instance(&base)? {
            let name = object.get_type().name()?;
            return Err(PyTypeError::new_err(format!("a {name} is not a goodqueue.aqm.Algorithm")));
        }
        let mut hooks = Hooks::default();
        for (hook, name) in hooks.0.iter_mut().zip(Hook::NAMES) {
            if !object.get_type().getattr(name)?.is(&base.getattr(name)?) {
                *hook = Some(object.getattr(name)?.unbind());
            }
        }
        let state =
            QueueState { now: Instant::ZERO, queue: QueueView::default(), rate: None, overhead: Bytes::ZERO, rng: Rng::new(0) };
        let mut algorithm = Self {
            hooks,
            queue: Py::new(py, state)?,
            due: None,
            gauges: Vec::new(),
            make: make.clone_ref(py),
            trouble: trouble.clone(),
        };
        for (name, _) in algorithm.read_gauges(py)? {
            algorithm.gauges.push(constant(&name));
        }
        algorithm.due = algorithm.ask_when(py)?;
        Ok(algorithm)
    }

    /// Reads names and values that the algorithm shows now.
    fn read_gauges(&self, py: Python<'_>) -> PyResult<Vec<(String, f64)>> {
        let Some(hook) = self.hooks.get(Hook::Gauges) else { return Ok(Vec::new()) };
        let hook = hook.bind(py);
        let given = hook.call0()?;
        let wrong = |found: &Bound<'_, PyAny>, what: &str| {
            let name = hook.getattr("__qualname__").map_or_else(|_| "gauges".to_owned(), |name| name.to_string());
            PyTypeError::new_err(format!("{name}() gave {}: expected {what}", excerpt(&found.to_string())))
        };
        let all = given.cast::<PyDict>().map_err(|_| wrong(&given, "a dict of names and numbers"))?;
        if all.len() > MAX_GAUGES {
            return Err(wrong(all.len().into_pyobject(py)?.as_any(), &format!("a dict of at most {MAX_GAUGES} names")));
        }
        let read = |(name, value): (Bound<'_, PyAny>, Bound<'_, PyAny>)| {
            let text = name.extract().map_err(|_| wrong(&name, "names that are texts"))?;
            Ok((text, value.extract().map_err(|_| wrong(&value, "values that are numbers"))?))
        };
        all.iter().map(read).collect()
    }

    fn ask_when(&self, py: Python<'_>) -> PyResult<Option<Instant>> {
        let Some(hook) = self.hooks.get(Hook::NextUpdate) else { return Ok(None) };
        let Some(seconds) = hook.bind(py).call0()?.extract::<Option<f64>>()? else { return Ok(None) };
        moment(seconds).map(Some).map_err(|why| PyValueError::new_err(format!("next_update() gave {seconds}: {why}")))
    }

    /// Calls a hook with the packet, if any, and the queue.
    fn call(&mut self, env: &mut Env<'_>, hook: Hook, packet: Option<PacketView>, queue: QueueView) -> Option<Decision> {
        if self.hooks.get(hook).is_none() || self.trouble.is_there() {
            return None;
        }
        match Python::attach(|py| self.call_attached(py, env, hook, packet, queue)) {
            Ok(decision) => decision,
            Err(error) => {
                self.trouble.set(error);
                None
            }
        }
    }

    fn call_attached(
        &mut self,
        py: Python<'_>,
        env: &mut Env<'_>,
        which: Hook,
        packet: Option<PacketView>,
        queue: QueueView,
    ) -> PyResult<Option<Decision>> {
        let Some(hook) = self.hooks.get(which) else { return Ok(None) };
        {
            let mut state = self.queue.try_borrow_mut(py)?;
            state.now = env.now;
            state.queue = queue;
            state.rate = env.link_rate;
            state.overhead = env.overhead;
            state.rng = env.rng.clone();
        }
        let given = match packet {
            Some(view) => hook.call1(py, (Packet { view, now: env.now }, self.queue.bind(py))),
            None => hook.call1(py, (self.queue.bind(py),)),
        }?;
        *env.rng = self.queue.try_borrow(py)?.rng.clone();
        if self.hooks.get(Hook::NextUpdate).is_some() {
            self.due = self.ask_when(py)?;
            if which == Hook::Update && self.due.is_some_and(|due| due <= env.now) {
                let message = format!("after on_update at {} s, next_update() does not name a later time", env.now.as_secs_f64());
                return Err(PyValueError::new_err(message));
            }
        }
        if given.is_none(py) || !which.decides() {
            return Ok(None);
        }
        let decision = given.bind(py).cast::<Decision>().map_err(|_| {
            let words = format!("{} gave {}: expected a Verdict or None", which.name(), given.bind(py));
            PyTypeError::new_err(words)
        })?;
        Ok(Some(*decision.get()))
    }
}

/// Latest accepted time in seconds; up to it, a float resolves tenths of a microsecond.
pub const LATEST: f64 = 1e9;

/// A number of seconds that is no time.
#[derive(Clone, Copy, Debug, thiserror::Error)]
pub enum NoMoment {
    #[error("is not a number")]
    NotANumber,
    #[error("is out of range: allowed 0 to {LATEST:.0} seconds")]
    OutOfRange,
}

/// Converts a time in seconds.
pub fn moment(seconds: f64) -> Result<Instant, NoMoment> {
    if seconds.is_nan() {
        return Err(NoMoment::NotANumber);
    }
    if !(0.0..=LATEST).contains(&seconds) {
        return Err(NoMoment::OutOfRange);
    }
    Ok(Instant::ZERO + Duration::from_secs_f64(seconds))
}

impl Aqm for PyAlgorithm {
    fn on_arrival(&mut self, env: &mut Env<'_>, packet: PacketView, queue: QueueView) -> Verdict {
        self.call(env, Hook::Arrival, Some(packet), queue).map_or(Verdict::Pass, |decision| decision.verdict(Reason::Early))
    }
    fn on_overflow(&mut self, env: &mut Env<'_>, packet: PacketView, queue: QueueView) {
        self.call(env, Hook::Overflow, Some(packet), queue);
    }
    fn on_departure(&mut self, env: &mut Env<'_>, head: PacketView, queue: QueueView) -> Verdict {
        self.call(env, Hook::Departure, Some(head), queue).map_or(Verdict::Pass, |decision| decision.verdict(Reason::Head))
    }
    fn on_idle(&mut self, now: Instant) {
        let Some(hook) = self.hooks.get(Hook::Idle).filter(|_| !self.trouble.is_there()) else { return };
        let told = Python::attach(|py| {
            hook.call1(py, (now.as_secs_f64(),))?;
            self.ask_when(py)
        });
        match told {
            Ok(due) => self.due = due,
            Err(error) => self.trouble.set(error),
        }
    }
    fn on_rate_change(&mut self, env: &mut Env<'_>) {
        self.call(env, Hook::RateChange, None, QueueView::default());
    }
    fn next_update(&self) -> Option<Instant> {
        self.due.filter(|_| !self.trouble.is_there())
    }
    fn on_update(&mut self, env: &mut Env<'_>, _: Option<PacketView>, queue: QueueView) {
        self.call(env, Hook::Update, None, queue);
        if self.hooks.get(Hook::Update).is_none() {
            // The due time is not reported, and must not fire again.
            self.due = None;
        }
    }
    fn gauges(&self, visit: &mut dyn FnMut(&'static str, f64)) {
        if self.gauges.is_empty() {
            return;
        }
        let given = match Python::attach(|py| self.read_gauges(py)) {
            Ok(given) => given,
            Err(error) => {
                self.trouble.set(error);
                Vec::new()
            }
        };
        for name in &self.gauges {
            let value = given.iter().find(|(known, _)| known == name).map_or(f64::NAN, |(_, value)| *value);
            visit(name, value);
        }
    }
}

impl CustomAlgorithm for PyAlgorithm {
    fn clone_box(&self) -> Box<dyn CustomAlgorithm> {
        match Python::attach(|py| Self::new(py, &self.make, &self.trouble)) {
            Ok(algorithm) => Box::new(algorithm),
            Err(error) => {
                // The exception ends the run, so this verdict does not matter.
                self.trouble.set(error);
                Box::new(goodqueue_aqm::custom::NoOp)
            }
        }
    }
}
