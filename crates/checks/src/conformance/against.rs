//! Replays vectors against another program: one line of JSON each way, on its standard input and
//! output.

use crate::conformance::fault::{Fault, Silence};
use crate::conformance::operation::Event;
use crate::conformance::replay::{Difference, Mismatch, Outcome, agree};
use crate::conformance::vector::Vector;
use rustix::process::{Pid, Signal, WaitId, WaitIdOptions, kill_process_group, waitid};
use serde_json::{Value as Json, json};
use std::io::{self, BufRead, BufReader, Read, Write};
use std::os::unix::process::CommandExt as _;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, SyncSender, channel, sync_channel};
use std::thread;
use std::time::{Duration, Instant};

/// Length above which an answer is rejected: a program that never ends its line must not fill our
/// memory.
const MAX_ANSWER: u64 = 1 << 20;

/// Answers buffered before the program has to wait.
const ANSWERS_AHEAD: usize = 1024;

/// Result of a program on a vector.
#[derive(Clone, Debug, PartialEq)]
pub enum Verdict {
    /// The program answered every operation.
    Judged(Outcome),
    /// The program reports that it does not support this kind or these parameters.
    Skipped(String),
    /// The program ended, stopped answering, or violated the protocol. A new process is started for
    /// the next vector.
    Broken {
        /// Operations answered before the failure.
        answered: usize,
        /// The reason for the failure.
        why: String,
    },
}

/// Time between two looks at whether to stop.
const LOOK: Duration = Duration::from_millis(100);

/// A program under test. It is started when first needed, and again after a failure.
#[derive(Debug)]
pub struct Program {
    command: Vec<String>,
    patience: Duration,
    stop: Arc<AtomicBool>,
    running: Option<Running>,
}

/// The program, in a process group of its own with all that it starts.
#[derive(Debug)]
struct Running {
    child: Child,
    stop: Arc<AtomicBool>,
    questions: Sender<String>,
    answers: Receiver<io::Result<String>>,
}

impl Program {
    /// Creates the program `command` (its name and arguments), which may take `patience` for each
    /// answer. Once `stop` is set, none is waited for.
    #[must_use]
    pub const fn new(command: Vec<String>, patience: Duration, stop: Arc<AtomicBool>) -> Self {
        Self { command, patience, stop, running: None }
    }

    /// Sends it a vector, operation by operation, and compares its answers.
    ///
    /// # Errors
    /// When it cannot be started.
    pub fn judge(&mut self, vector: &Vector) -> io::Result<Verdict> {
        let verdict = self.ask(vector)?;
        if matches!(verdict, Verdict::Broken { .. }) {
            self.stop();
        }
        Ok(verdict)
    }

    fn ask(&mut self, vector: &Vector) -> io::Result<Verdict> {
        let running = match &mut self.running {
            Some(running) => running,
            None => self.running.insert(Running::start(&self.command, &self.stop)?),
        };
        running.send(format!("{}\n", head(vector)));
        match running.hear(self.patience).and_then(|line| readiness(&line)) {
            Ok(Readiness::Ready) => {}
            Ok(Readiness::Skip(why)) => return Ok(Verdict::Skipped(why)),
            Err(silence) => return Ok(Verdict::Broken { answered: 0, why: silence.to_string() }),
        }
        running.send(vector.steps.iter().map(|step| step.operation.line() + "\n").collect());
        let mut outcome = Outcome { operations: vector.steps.len(), identical: 0, first: None };
        for (index, step) in vector.steps.iter().enumerate() {
            let line = match running.hear(self.patience) {
                Ok(line) => line,
                Err(silence) => return Ok(broken(&outcome, index, &silence.to_string())),
            };
            let found = match serde_json::from_str(&line).map_err(Fault::from).and_then(|json| Event::list(&json)) {
                Ok(found) => found,
                Err(fault) => {
                    let why = format!("its answer to {} is {}: {fault}", step.operation.line(), excerpt(&line));
                    return Ok(broken(&outcome, index, &why));
                }
            };
            let mismatch =
                if agree(&step.events, &found) { None } else { Some(Mismatch::Events { expected: step.events.clone(), found }) };
            outcome.note(index, step.operation, mismatch);
        }
        Ok(Verdict::Judged(outcome))
    }

    /// Kills the program and all that it started.
    fn stop(&mut self) {
        if let Some(mut running) = self.running.take() {
            running.kill();
        }
    }
}

impl Drop for Program {
    /// Closes the input of the program and gives it time to end.
    fn drop(&mut self) {
        if let Some(Running { questions, answers, .. }) = &mut self.running {
            let (closed, _) = channel();
            drop(std::mem::replace(questions, closed));
            while !self.stop.load(Ordering::Relaxed) && answers.recv_timeout(self.patience).is_ok() {}
        }
        self.stop();
    }
}

impl Running {
    fn start(command: &[String], stop: &Arc<AtomicBool>) -> io::Result<Self> {
        let (name, arguments) = command.split_first().ok_or_else(|| io::Error::other("no program was named"))?;
        let mut command = Command::new(name);
        command.args(arguments).stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut child = command.process_group(0).spawn()?;
        let (questions, to_send) = channel();
        let (received, answers) = sync_channel(ANSWERS_AHEAD);
        if let (Some(input), Some(output)) = (child.stdin.take(), child.stdout.take()) {
            thread::spawn(move || send(input, &to_send));
            thread::spawn(move || receive(output, &received));
        }
        Ok(Self { child, stop: Arc::clone(stop), questions, answers })
    }

    /// Kills it with all that it started, unless it has been waited for: its group's number may
    /// then be another's.
    fn kill(&mut self) {
        if has_ended(&self.child).is_ok() {
            kill_group(&self.child);
            let _ = self.child.wait();
        }
    }

    /// Sends lines. A failure to deliver them becomes visible in the answers.
    fn send(&self, lines: String) {
        let _ = self.questions.send(lines);
    }

    /// Next line of its answer, or why there is none.
    #[expect(clippy::disallowed_methods, reason = "a program of somebody else gets so long by the clock of the machine")]
    fn hear(&mut self, patience: Duration) -> Result<String, Silence> {
        let until = Instant::now() + patience;
        loop {
            if self.stop.load(Ordering::Relaxed) {
                return Err(Silence::Stopped);
            }
            let left = until.saturating_duration_since(Instant::now());
            return match self.answers.recv_timeout(left.min(LOOK)) {
                Ok(Ok(line)) => Ok(line),
                Ok(Err(error)) => Err(error.into()),
                Err(RecvTimeoutError::Timeout) if left.is_zero() => Err(Silence::Late(patience)),
                Err(RecvTimeoutError::Timeout) => continue,
                Err(RecvTimeoutError::Disconnected) => Err(self.end(until)),
            };
        }
    }

    /// Reason for the end of the output: the program has ended, or has until `until` to do so.
    #[expect(clippy::disallowed_methods, reason = "a program of somebody else gets so long by the clock of the machine")]
    fn end(&mut self, until: Instant) -> Silence {
        loop {
            match has_ended(&self.child) {
                Ok(true) => {
                    kill_group(&self.child);
                    return self.child.wait().map_or_else(Silence::Lost, Silence::Ended);
                }
                Ok(false) if Instant::now() < until && !self.stop.load(Ordering::Relaxed) => {
                    thread::sleep(Duration::from_millis(1));
                }
                Ok(false) => return Silence::Closed,
                Err(error) => return Silence::Lost(error),
            }
        }
    }
}

/// Whether it has ended. It is not waited for, so that its group keeps its number; one that was is
/// an error.
fn has_ended(child: &Child) -> io::Result<bool> {
    let look = WaitIdOptions::EXITED | WaitIdOptions::NOHANG | WaitIdOptions::NOWAIT;
    Ok(waitid(WaitId::Pid(Pid::from_child(child)), look)?.is_some())
}

/// Kills what is left of its group, if anything is.
fn kill_group(child: &Child) {
    let _ = kill_process_group(Pid::from_child(child), Signal::KILL);
}

fn send(mut input: ChildStdin, lines: &Receiver<String>) {
    for text in lines {
        if input.write_all(text.as_bytes()).and_then(|()| input.flush()).is_err() {
            return;
        }
    }
}

fn receive(output: ChildStdout, lines: &SyncSender<io::Result<String>>) {
    let mut output = BufReader::new(output);
    loop {
        let mut line = Vec::new();
        let read = (&mut output).take(MAX_ANSWER).read_until(b'\n', &mut line);
        let answer = match read {
            Ok(0) => return,
            Ok(_) if line.len() as u64 == MAX_ANSWER => Err(io::Error::other("a line of more than a megabyte")),
            Ok(_) => Ok(String::from_utf8_lossy(&line).trim().to_owned()),
            Err(error) => Err(error),
        };
        let is_last = answer.is_err();
        if lines.send(answer).is_err() || is_last {
            return;
        }
    }
}

/// The first line of a vector: the head of the file with its name and the number of operations.
fn head(vector: &Vector) -> Json {
    let mut head = vector.head.clone();
    head.insert("name".to_owned(), json!(vector.name));
    head.insert("operations".to_owned(), json!(vector.steps.len()));
    Json::Object(head)
}

enum Readiness {
    Ready,
    Skip(String),
}

fn readiness(line: &str) -> Result<Readiness, Silence> {
    let json: Json = serde_json::from_str(line).unwrap_or_default();
    match (&json["ready"], &json["skip"]) {
        (Json::Bool(true), Json::Null) => Ok(Readiness::Ready),
        (Json::Null, Json::String(why)) => Ok(Readiness::Skip(why.clone())),
        _ => Err(Silence::NotReady(excerpt(line))),
    }
}

fn broken(outcome: &Outcome, answered: usize, why: &str) -> Verdict {
    let before = match &outcome.first {
        Some(Difference { index, .. }) => format!(" (its first difference was at operation {index})"),
        None => String::new(),
    };
    Verdict::Broken { answered, why: format!("{why}{before}") }
}

/// The beginning of a line that the program wrote.
fn excerpt(line: &str) -> String {
    const MAX: usize = 80;
    let short: String = line.chars().filter(|c| !c.is_control()).take(MAX).collect();
    if short.len() < line.len() { format!("`{short}…`") } else { format!("`{short}`") }
}
