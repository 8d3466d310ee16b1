//! QUIC stacks of other projects, unmodified, and our TCP over the same queues: share of the line,
//! delay, loss, and the time of short transfers.

#[cfg(test)]
mod gaps;
mod host;
mod kernel;
mod keys;
mod machine;
mod matrix;
mod measure;
mod noq;
mod page;
mod quiche;
mod quinn;
mod s2n;
mod socket;
mod speed;
mod stack;
mod work;

use goodqueue_lab::results::qlog::Form;
use kernel::Guests;
use matrix::{Place, Queue};
use measure::Bench;
use page::{Beside, Scores};
use stack::Tested;
use std::error::Error;
use std::fmt;
use std::net::{Ipv4Addr, SocketAddrV4};
use std::path::PathBuf;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Largest payload of a datagram.
const PAYLOAD: usize = 1452;
/// Windows beyond every product of bandwidth and delay here: congestion control is the subject.
const WINDOW: u32 = 64 << 20;

const USAGE: &str = "\
transports [--quick | --rate MBIT,…] [--kept] [--linux] [--out FILE] [--results FOLDER] [--jobs N]
transports serve STACK CONTROL PORT KEYS
transports get STACK CONTROL HOST:PORT KEYS BYTES|FROM..TO
transports qlog STACK CONTROL FOLDER draft|0.3

The first prints the scoreboard as a page in Markdown, or writes it.

--quick     one line, 10 Mbit/s and 20 ms with tail drop, in place of 32
--rate      only lines of these rates: 10 or 100 [default: 10,100]
--kept      measures no row: the page of the lines whose rows are all kept from earlier runs
--linux     measures also shares alongside the CUBIC of a Linux kernel, which `make linux` builds
--out       the page's file
--results   keeps the figures of each row, so that an interrupted run continues [default: results]
--jobs      rows at the same time [default: all processors]

The second and the third are a server and a client over sockets of the machine, for `gq shell` and `gq exec`. STACK is
quinn, noq, quiche or s2n, and CONTROL one of its congestion controls. The server writes the file KEYS
if there is none, the client reads it. FROM..TO, in seconds after its start, counts what arrives then.
The last writes qlog files of a simulated connection next to our CUBIC.
";

struct Arguments {
    quick: bool,
    rates: Vec<u32>,
    kept: bool,
    linux: bool,
    out: Option<PathBuf>,
    results: PathBuf,
    jobs: usize,
}

impl Arguments {
    fn read() -> Result<Option<Self>, Box<dyn Error>> {
        let processors = std::thread::available_parallelism().map_or(1, usize::from);
        let rates = matrix::RATES.to_vec();
        let mut read = Self {
            quick: false,
            rates,
            kept: false,
            linux: false,
            out: None,
            results: PathBuf::from("results"),
            jobs: processors,
        };
        let mut words = std::env::args().skip(1);
        while let Some(word) = words.next() {
            let mut value = || words.next().ok_or_else(|| format!("{word}: a value is missing"));
            match word.as_str() {
                "--quick" => read.quick = true,
                "--kept" => read.kept = true,
                "--linux" => read.linux = true,
                "--rate" => {
                    let text = value()?;
                    let known = |word: &str| word.parse().ok().filter(|rate| matrix::RATES.contains(rate));
                    let rates: Option<Vec<u32>> = text.split(',').map(known).collect();
                    read.rates = rates.ok_or_else(|| format!("--rate {text}: allowed 10, 100"))?;
                }
                "--out" => read.out = Some(value()?.into()),
                "--results" => read.results = value()?.into(),
                "--jobs" => {
                    let text = value()?;
                    let jobs = text.parse().ok().filter(|jobs| (1..=1000).contains(jobs));
                    read.jobs = jobs.ok_or_else(|| format!("--jobs {text}: allowed 1 to 1000"))?;
                }
                "--help" | "-h" => return Ok(None),
                _ => return Err(format!("{word}: is no option\n\n{USAGE}").into()),
            }
        }
        Ok(Some(read))
    }
}

/// The address of the other end, as stacks see it.
const fn peer() -> std::net::SocketAddr {
    std::net::SocketAddr::V4(SocketAddrV4::new(Ipv4Addr::new(10, 0, 0, 1), 4433))
}

/// The places of which all rows are kept.
fn kept(bench: &Bench, tested: &[Tested], places: Vec<Place>) -> Result<Vec<Place>, Box<dyn Error>> {
    let mut all = Vec::new();
    for place in places {
        let missing =
            tested.iter().map(|one| Ok(bench.kept(*one, place)?.is_none())).collect::<Result<Vec<bool>, Box<dyn Error>>>()?;
        if !missing.contains(&true) {
            all.push(place);
        }
    }
    if all.is_empty() { Err("no line has all its rows among the results".into()) } else { Ok(all) }
}

/// A row that could not be measured, and why.
#[derive(Debug)]
struct RowError {
    title: String,
    why: String,
}

impl fmt::Display for RowError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.title, self.why)
    }
}

impl Error for RowError {}

/// All rows, several at a time.
fn measure(bench: &Bench, jobs: usize, tested: &[Tested], places: &[Place]) -> Result<Scores, RowError> {
    let (next, total) = (AtomicUsize::new(0), tested.len() * places.len());
    let scores = Mutex::new(Scores::new());
    let worker = || -> Result<(), RowError> {
        loop {
            let number = next.fetch_add(1, Ordering::Relaxed);
            if number >= total {
                return Ok(());
            }
            let (place, row) = (number / tested.len(), number % tested.len());
            let (one, at) = (tested[row], places[place]);
            let title = format!("{}, {}, {}", one.name(), at.queue.name(), at.line());
            let (measured, is_new) = match bench.row(one, at) {
                Ok(measured) => measured,
                Err(error) => return Err(RowError { title, why: error.to_string() }),
            };
            if is_new {
                let failure = measured.failure.as_ref().map_or_else(String::new, |failure| format!(": {failure}"));
                eprintln!("{} of {total}: {title}{failure}", number + 1);
            }
            scores.lock().expect("no thread panics with it").insert((row, place), measured);
        }
    };
    std::thread::scope(|scope| {
        let workers: Vec<_> = (0..jobs).map(|_| scope.spawn(worker)).collect();
        workers.into_iter().try_for_each(|worker| worker.join().expect("a worker does not panic"))
    })?;
    Ok(scores.into_inner().expect("no thread panics with it"))
}

/// The rows alongside a kernel's CUBIC, one at a time: guests leave no processor to others.
fn beside_linux(bench: &Bench, guests: Option<&Guests>) -> Result<Beside, Box<dyn Error>> {
    let mut rows = Beside::new();
    for (number, one) in kernel::tested().enumerate() {
        for (column, place) in kernel::PLACES.into_iter().enumerate() {
            let row = match guests {
                Some(guests) => Some(guests.row(bench, one, place)?),
                None => kernel::kept(bench.folder(), one, place)?,
            };
            rows.extend(row.map(|row| ((number, column), row)));
        }
    }
    Ok(rows)
}

fn main() {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    let result = match words[..] {
        ["serve", stack, control, port, keys] => socket::serve(stack, control, port, keys.as_ref()),
        ["get", stack, control, server, keys, amount] => socket::get(stack, control, server, keys.as_ref(), amount),
        ["qlog", stack, control, folder, form] => qlog(stack, control, folder, form),
        [kernel::GUEST, job] => goodqueue_guests::linux::inside::run(job.as_ref()).map_err(Into::into),
        _ => scoreboard(),
    };
    if let Err(error) = result {
        eprintln!("transports: {error}");
        std::process::exit(1);
    }
}

/// Writes qlog files of a stack's first seconds.
fn qlog(stack: &str, control: &str, folder: &str, form: &str) -> Result<(), Box<dyn Error>> {
    let form = match form {
        "draft" => Form::Draft14,
        "0.3" => Form::Version03,
        _ => return Err(format!("{form}: allowed draft, 0.3").into()),
    };
    let place = Place { queue: Queue::CoDel, rate: 10, rtt: 20 };
    Bench::new(folder.as_ref())?.qlog(Tested::named(stack, control)?, place, folder.as_ref(), form)
}

fn scoreboard() -> Result<(), Box<dyn Error>> {
    let arguments = match Arguments::read() {
        Ok(Some(arguments)) => arguments,
        Ok(None) => {
            print!("{USAGE}");
            return Ok(());
        }
        Err(error) => {
            eprintln!("transports: {error}");
            std::process::exit(2);
        }
    };
    let bench = Bench::new(&arguments.results)?;
    let tested: Vec<Tested> = Tested::all().collect();
    let quick = Place { queue: Queue::TailDrop, rate: 10, rtt: 20 };
    let places: Vec<Place> =
        if arguments.quick { vec![quick] } else { Place::all().filter(|place| arguments.rates.contains(&place.rate)).collect() };
    let places = if arguments.kept { kept(&bench, &tested, places)? } else { places };
    let speeds = speed::all(&bench, &arguments.results)?;
    let scores = measure(&bench, arguments.jobs, &tested, &places)?;
    let guests = if arguments.linux { Some(Guests::find()?) } else { None };
    let against = beside_linux(&bench, guests.as_ref())?;
    let text = page::text(&tested, &places, &scores, &against, &speeds);
    match arguments.out {
        Some(path) => std::fs::write(&path, text).map_err(|error| format!("{}: {error}", path.display()))?,
        None => print!("{text}"),
    }
    Ok(())
}
