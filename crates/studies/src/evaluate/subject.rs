//! The subjects of an evaluation, both those under test and those compared with: queues or
//! congestion controls, from a word or from a scenario file.

use crate::evaluate::suite::{Form, Judged};
use goodqueue_aqm::sched;
use goodqueue_aqm::spec::{Family, KindSpec};
use goodqueue_lab::quantity;
use goodqueue_lab::scenario::compare::{Comparison, ComparisonError, Signal, control};
use goodqueue_lab::scenario::plan::{CustomKinds, Plan, PlanError};
use sha2::{Digest, Sha256};
use std::path::Path;
use toml::{Table, Value};

/// A queue or a congestion control with its parameters.
#[derive(Clone, Debug, PartialEq)]
pub struct Subject {
    /// The name in tables.
    pub name: String,
    judged: Judged,
    value: Value,
}

/// A text that names no subject. In one line: the option, the text, and what is wrong with it.
#[derive(Clone, Debug, thiserror::Error)]
#[error("{} {text}: {fault}", judged.option())]
pub struct SubjectError {
    /// The kind of subject that was expected.
    pub judged: Judged,
    /// The text that was given, cut to a readable length.
    pub text: String,
    /// The fault of the text.
    pub fault: SubjectFault,
}

/// Why something is no subject.
#[derive(Clone, Debug, thiserror::Error)]
pub enum SubjectFault {
    /// The word is no queue and no congestion control.
    #[error("{}", .0.message)]
    Word(ComparisonError),
    /// The scenario file cannot be read.
    #[error("{}", said(.0, ""))]
    File(PlanError),
    /// The scenario file has none that could be the subject.
    #[error("has no {} of its own; a scenario names one", .0.name())]
    Missing(Judged),
    /// The text that was found is no value of TOML.
    #[error("{}", .0.message())]
    Toml(#[from] toml::de::Error),
    /// The text that was found has no value.
    #[error("is empty")]
    Empty,
    /// A scenario does not take it.
    #[error("{}", said(error, key))]
    Refused {
        /// The error of the scenario.
        error: PlanError,
        /// The key that it stands at.
        key: &'static str,
    },
}

/// Why a subject cannot stand in a placement of a suite.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NoForm {
    /// The placement needs a queue that marks.
    #[error("cannot mark")]
    NoMarks,
    /// The placement needs a queue that can hold a given delay.
    #[error("has no setpoint")]
    NoSetpoint,
    /// The placement needs a queue within fair queueing, and kinds of the program's own cannot
    /// stand there.
    #[error("is of the program's own kinds")]
    CustomKind,
    /// The placement needs a queue within fair queueing, and this one divides the line by itself.
    #[error("schedules by itself")]
    Schedules,
}

/// Parameters that are the delay or backlog that a queue is to hold, the first that a kind has.
const SETPOINTS: [&str; 4] = ["target", "threshold", "q_ref", "targetdelay"];

/// The least scenario that takes a subject.
const TRIAL: &str = "goodqueue = 1\nduration = \"1 s\"\n[link.trial]\nrate = \"10 Mbit/s\"\ndelay = \"1 ms\"\nbuffer = \"1 bdp\"\n\
                     [[traffic]]\nkind = \"bulk\"\n";

impl Subject {
    /// From `kind` or `kind:parameter=value:…`, or from a scenario file, whose name ends in
    /// `.toml`: its first queue, or its first congestion control.
    ///
    /// # Errors
    /// When there is no such file or kind, or a parameter is wrong.
    pub fn read(judged: Judged, text: &str, own: &CustomKinds) -> Result<Self, SubjectError> {
        let text = text.trim();
        let refuse = |fault: SubjectFault| SubjectError { judged, text: quantity::excerpt(text), fault };
        let subject = if Path::new(text).extension().is_some_and(|ending| ending.eq_ignore_ascii_case("toml")) {
            Self::of_file(judged, Path::new(text)).map_err(refuse)?
        } else {
            let table = match judged {
                Judged::Queue => Comparison::queue_table(text, Signal::Drop),
                Judged::Control => control(text),
            };
            let table = table.map_err(|error| refuse(SubjectFault::Word(error)))?;
            Self { name: text.to_owned(), judged, value: value_of(&table).map_err(refuse)? }
        };
        subject.try_out(own).map_err(|error| refuse(SubjectFault::Refused { error, key: subject.key_of_trial() }))?;
        Ok(subject)
    }

    fn of_file(judged: Judged, path: &Path) -> Result<Self, SubjectFault> {
        let plan = Plan::load(path).map_err(SubjectFault::File)?;
        let root = plan.source_text().parse::<Table>()?;
        let first = match judged {
            Judged::Queue => {
                let links = root.get("link").and_then(Value::as_table);
                links.and_then(|links| links.values().find_map(|link| link.get("queue")))
            }
            Judged::Control => {
                let groups = root.get("traffic").and_then(Value::as_array);
                groups.and_then(|groups| groups.iter().find_map(|group| group.get("cc")))
            }
        };
        let name = path.file_stem().map_or_else(String::new, |stem| stem.to_string_lossy().into_owned());
        Ok(Self { name, judged, value: first.cloned().ok_or(SubjectFault::Missing(judged))? })
    }

    const fn key_of_trial(&self) -> &'static str {
        match self.judged {
            Judged::Queue => "link.trial.queue",
            Judged::Control => "traffic.0.cc",
        }
    }

    fn try_out(&self, own: &CustomKinds) -> Result<(), PlanError> {
        let plan = Plan::parse_knowing("trial", TRIAL, Path::new(""), own.clone())?;
        plan.with_overrides(&[(self.key_of_trial().to_owned(), self.toml())]).map(|_| ())
    }

    /// As a scenario has it, on one line.
    #[must_use]
    pub fn toml(&self) -> String {
        self.value.to_string()
    }

    /// Whether two are the same but for their names.
    #[must_use]
    pub fn is_same(&self, other: &Self) -> bool {
        self.table() == other.table()
    }

    /// A name that can be one of a folder, unlike those of other subjects.
    #[must_use]
    pub fn slug(&self) -> String {
        const MAX: usize = 48;
        let plain = |letter: char| if letter.is_ascii_alphanumeric() || letter == '-' { letter } else { '-' };
        let slug: String = self.name.chars().map(plain).take(MAX).collect();
        let digest = Sha256::digest(self.toml());
        format!("{slug}-{:02x}{:02x}{:02x}", digest[0], digest[1], digest[2])
    }

    /// In a form, as a scenario has it.
    ///
    /// # Errors
    /// When it has no such form.
    pub fn in_form(&self, form: &Form) -> Result<String, NoForm> {
        match form {
            Form::Plain => Ok(self.toml()),
            Form::Marking => {
                let mut table = self.table();
                if !marks(&table) {
                    return Err(NoForm::NoMarks);
                }
                table.insert("ecn".to_owned(), Value::Boolean(true));
                Ok(Value::Table(table).to_string())
            }
            Form::Fair => self.within_fair_queueing(),
            Form::Setpoint(time) => {
                let mut table = self.table();
                let has = |name: &&&str| kind_of(&table).is_some_and(|kind| kind.params.iter().any(|param| param.name == **name));
                let Some(name) = SETPOINTS.iter().find(has) else { return Err(NoForm::NoSetpoint) };
                table.insert((*name).to_owned(), Value::String(time.clone()));
                Ok(Value::Table(table).to_string())
            }
        }
    }

    fn within_fair_queueing(&self) -> Result<String, NoForm> {
        let mut inner = self.table();
        let schedules = |family| match family {
            Family::FlowQueueing | Family::DualQueue | Family::Classes | Family::Wrapper => true,
            Family::TailDrop
            | Family::Red
            | Family::Blue
            | Family::Pi
            | Family::CoDel
            | Family::Threshold
            | Family::Policing
            | Family::VirtualQueue
            | Family::Own => false,
        };
        match kind_of(&inner) {
            None => return Err(NoForm::CustomKind),
            Some(kind) if schedules(kind.family) => return Err(NoForm::Schedules),
            Some(_) => {}
        }
        let mut outer = Table::from_iter([("kind".to_owned(), Value::String("fair".to_owned()))]);
        for shared in ["ecn", "limit"] {
            outer.extend(inner.remove(shared).map(|value| (shared.to_owned(), value)));
        }
        outer.insert("of".to_owned(), Value::Table(inner));
        Ok(Value::Table(outer).to_string())
    }

    /// As a table with its kind.
    fn table(&self) -> Table {
        match &self.value {
            Value::Table(table) => table.clone(),
            other => Table::from_iter([("kind".to_owned(), other.clone())]),
        }
    }
}

fn value_of(text: &str) -> Result<Value, SubjectFault> {
    let line = format!("value = {text}").parse::<Table>()?;
    line.get("value").cloned().ok_or(SubjectFault::Empty)
}

/// The description of a queue's kind; `None` for kinds of the program's own.
fn kind_of(table: &Table) -> Option<&'static KindSpec> {
    sched::kind(table.get("kind")?.as_str()?)
}

/// Whether a queue can mark.
fn marks(table: &Table) -> bool {
    let Some(kind) = kind_of(table) else { return false };
    let inner = match table.get("of") {
        Some(Value::Table(of)) => Some(of.clone()),
        Some(Value::String(name)) => Some(Table::from_iter([("kind".to_owned(), Value::String(name.clone()))])),
        _ => None,
    };
    kind.marks.is_possible() && inner.map_or(!kind.is_over_another(), |of| marks(&of))
}

/// The first fault in one line, without the key of the trial.
fn said(error: &PlanError, key: &str) -> String {
    let Some(fault) = error.faults().next() else { return error.to_string() };
    let place = if key.is_empty() { format!("{}: ", fault.place()) } else { String::new() };
    let field = fault.field().strip_prefix(key).unwrap_or(fault.field()).trim_start_matches('.');
    let field = if field.is_empty() { String::new() } else { format!("{field}: ") };
    let help = fault.suggestion().map(|help| format!("; {help}")).unwrap_or_default();
    format!("{place}{field}{}{help}", fault.message())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn queue(text: &str) -> Result<Subject, SubjectError> {
        Subject::read(Judged::Queue, text, &Vec::new())
    }

    #[test]
    fn a_queue_takes_the_forms_that_it_has() {
        let codel = queue("codel:target=10ms").unwrap();
        assert_eq!(codel.in_form(&Form::Marking).unwrap(), r#"{ kind = "codel", target = "10ms", ecn = true }"#);
        assert_eq!(codel.in_form(&Form::Setpoint("2 ms".to_owned())).unwrap(), r#"{ kind = "codel", target = "2 ms" }"#);
        assert_eq!(codel.in_form(&Form::Fair).unwrap(), r#"{ kind = "fair", of = { kind = "codel", target = "10ms" } }"#);
        let refused = |text: &str, form| queue(text).unwrap().in_form(&form).unwrap_err();
        assert_eq!(refused("tail-drop", Form::Marking), NoForm::NoMarks);
        assert_eq!(refused("fair:tail-drop", Form::Marking), NoForm::NoMarks);
        assert_eq!(refused("fq-codel", Form::Fair), NoForm::Schedules);
        assert_eq!(refused("tail-drop", Form::Setpoint("2 ms".to_owned())), NoForm::NoSetpoint);
    }

    #[test]
    fn mistakes_are_said_in_one_line() {
        let said = |text: &str| queue(text).unwrap_err().to_string();
        assert!(said("codle").starts_with("--aqm codle: "), "{}", said("codle"));
        assert!(said("codel:target=5").contains("`5`"), "{}", said("codel:target=5"));
        assert!(said("codel:tarket=5ms").contains("did you mean `target`?"));
        assert!(said("none.toml").starts_with("--aqm none.toml: "));
        let control = Subject::read(Judged::Control, "cubik", &Vec::new()).unwrap_err().to_string();
        assert!(control.starts_with("--cc cubik: "), "{control}");
    }

    #[test]
    fn names_of_folders_are_plain_and_unlike() {
        let slug = |text: &str| queue(text).unwrap().slug();
        assert!(slug("codel:target=10ms").starts_with("codel-target-10ms-"));
        assert_ne!(slug("codel:target=10ms"), slug("codel:target=1.0ms"));
    }

    #[test]
    fn a_scenario_file_names_its_first_queue() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("mine.toml");
        let text = TRIAL.replace("buffer = \"1 bdp\"", "buffer = \"1 bdp\"\nqueue = { kind = \"pie\", target = \"7 ms\" }");
        std::fs::write(&path, text).unwrap();
        let subject = queue(path.to_str().unwrap()).unwrap();
        assert_eq!((subject.name.as_str(), subject.toml().as_str()), ("mine", r#"{ kind = "pie", target = "7 ms" }"#));
        std::fs::write(&path, TRIAL).unwrap();
        assert!(
            queue(path.to_str().unwrap()).unwrap_err().to_string().ends_with("has no queue of its own; a scenario names one")
        );
    }
}
