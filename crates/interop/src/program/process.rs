//! A program that is asked one question at a time, and killed when it keeps silent.
//!
//! Reading and writing block, since a simulation cannot go on without the answer, and a thread in
//! between would double the time of each. A second thread only watches that answers come.

use super::protocol::Silence;
use rustix::process::{Pid, Signal, kill_process_group};
use std::io::{self, BufRead, BufReader, Read, Write};
use std::os::unix::process::CommandExt as _;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::thread;
use std::time::Duration;

/// Length above which an answer is rejected.
const MAX_ANSWER: u64 = 1 << 20;

#[derive(Debug)]
pub(super) struct Process {
    input: Option<ChildStdin>,
    output: BufReader<ChildStdout>,
    watched: Arc<Watched>,
    patience: Duration,
}

#[derive(Debug)]
struct Watched {
    child: Mutex<Child>,
    /// Questions and answers so far: odd while an answer is due.
    turns: AtomicU64,
    was_late: AtomicBool,
    is_waited_for: AtomicBool,
    is_over: Mutex<bool>,
    over: Condvar,
}

impl Process {
    /// Starts `command`, its name and arguments.
    pub(super) fn start(command: &[String], patience: Duration) -> io::Result<Self> {
        let (name, arguments) = command.split_first().ok_or_else(|| io::Error::other("no program was named"))?;
        let mut command = Command::new(name);
        command.args(arguments).stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut child = command.process_group(0).spawn()?;
        let (Some(input), Some(output)) = (child.stdin.take(), child.stdout.take()) else {
            return Err(io::Error::other("it has no standard input and output"));
        };
        let watched = Arc::new(Watched {
            child: Mutex::new(child),
            turns: AtomicU64::new(0),
            was_late: AtomicBool::new(false),
            is_waited_for: AtomicBool::new(false),
            is_over: Mutex::new(false),
            over: Condvar::new(),
        });
        let watching = Arc::clone(&watched);
        thread::spawn(move || watching.watch(patience));
        Ok(Self { input: Some(input), output: BufReader::new(output), watched, patience })
    }

    /// Sends a line and returns the one that answers it.
    pub(super) fn ask(&mut self, line: &str) -> Result<String, Silence> {
        self.watched.turns.fetch_add(1, Ordering::Relaxed);
        let mut text = String::with_capacity(line.len() + 1);
        text.push_str(line);
        text.push('\n');
        // A failure to deliver it becomes visible in the answer.
        if let Some(input) = &mut self.input {
            let _ = input.write_all(text.as_bytes());
        }
        let mut answer = Vec::new();
        let read = (&mut self.output).take(MAX_ANSWER).read_until(b'\n', &mut answer);
        self.watched.turns.fetch_add(1, Ordering::Relaxed);
        match read {
            Ok(0) if self.watched.was_late.load(Ordering::Relaxed) => Err(Silence::Late(self.patience)),
            Ok(0) => Err(self.watched.end()),
            Ok(_) if answer.len() as u64 == MAX_ANSWER => Err(io::Error::other("a line of more than a megabyte").into()),
            Ok(_) => Ok(String::from_utf8_lossy(&answer).trim().to_owned()),
            Err(error) => Err(error.into()),
        }
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        self.input = None;
        *self.watched.is_over.lock().unwrap_or_else(PoisonError::into_inner) = true;
        self.watched.over.notify_all();
        let _ = self.watched.end();
    }
}

impl Watched {
    /// Kills the program when it does not answer for as long as `patience`, until it is over.
    fn watch(&self, patience: Duration) {
        let mut before = None;
        let mut is_over = self.is_over.lock().unwrap_or_else(PoisonError::into_inner);
        while !*is_over {
            let turns = self.turns.load(Ordering::Relaxed);
            if turns % 2 == 1 && before == Some(turns) {
                self.was_late.store(true, Ordering::Relaxed);
                kill(&self.child.lock().unwrap_or_else(PoisonError::into_inner));
                return;
            }
            before = Some(turns);
            is_over = self.over.wait_timeout(is_over, patience).unwrap_or_else(PoisonError::into_inner).0;
        }
    }

    /// Kills the program if it still runs, and says how it ended.
    fn end(&self) -> Silence {
        let mut child = self.child.lock().unwrap_or_else(PoisonError::into_inner);
        if !self.is_waited_for.swap(true, Ordering::Relaxed) {
            kill(&child);
        }
        child.wait().map_or_else(Silence::Lost, Silence::Ended)
    }
}

/// Kills a program that has not been waited for, with all that it started: until then its group
/// keeps its number.
fn kill(child: &Child) {
    let _ = kill_process_group(Pid::from_child(child), Signal::KILL);
}
