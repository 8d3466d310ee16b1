//! The command itself: starts what is inside, relays what it asks for, and passes on signals.

use crate::shell::refusal::refused;
use crate::shell::relay::{self, Meaning};
use crate::shell::{Order, exit_code};
use crate::sys::namespace::{self, As};
use crate::sys::signals::{Signal, Signals};
use crate::sys::{descriptors, terminal};
use goodqueue_base::units::Duration;
use std::io::{self, Write};
use std::net::Ipv4Addr;
use std::os::unix::net::UnixStream;
use std::process::Command;

/// The process inside passes these on to the program.
pub(crate) const TERMINATE: u8 = b'T';
pub(crate) const HANG_UP: u8 = b'H';

/// Time between two looks for signals and for the end of the program.
const LOOK_EVERY: Duration = Duration::ms(10);

/// Runs what `start` makes of the order, and gives the code that the command ends with: that of the
/// program.
///
/// # Errors
/// When no process can be started.
pub fn run(mut order: Order, start: impl FnOnce(&Order) -> Command) -> io::Result<u8> {
    let signals = Signals::hold_all()?;
    let (mut connection, inside) = UnixStream::pair()?;
    order.connection = descriptors::pass_on(&inside)?;
    let mut child = start(&order).spawn()?;
    drop(inside);
    let meaning = Meaning { outside: order.outside_address(), names: names() };
    let relayed = connection.try_clone()?;
    std::thread::Builder::new().name("relays".to_owned()).spawn(move || relay::serve(&relayed, meaning))?;
    let status = loop {
        if let Some(status) = child.try_wait()? {
            break status;
        }
        let word = match signals.next(LOOK_EVERY) {
            Some(Signal::Stop) => TERMINATE,
            Some(Signal::Reload) => HANG_UP,
            // The program has had it from the terminal, too.
            Some(Signal::Interrupt) | None => continue,
        };
        // When nobody reads it, the end is near.
        let _ = connection.write_all(&[word]);
    };
    // A terminal that is gone has nothing to be taken back.
    let _ = terminal::take_back();
    Ok(exit_code(status))
}

fn names() -> Option<Ipv4Addr> {
    relay::name_server(&std::fs::read_to_string("/etc/resolv.conf").ok()?)
}

/// The process between: takes mounts and processes of its own, starts what `start` makes of the
/// numbers of user and group that programs are to have within them (`None`: root, as outside), and
/// ends when that does. Returns the code that it ended with.
///
/// # Errors
/// When the kernel refuses one of them; the message names what may allow it.
pub fn between(start: impl FnOnce(Option<(u32, u32)>) -> Command) -> io::Result<u8> {
    let _signals = Signals::hold_all()?;
    let (user, group) = namespace::ids();
    let alone = if user == 0 { namespace::close_off(As::Itself) } else { Err(io::ErrorKind::PermissionDenied.into()) };
    let seat = match alone {
        Ok(()) => None,
        Err(_) => {
            namespace::close_off(As::RootOfItsOwn).map_err(|error| refused(&error))?;
            Some((user, group))
        }
    };
    let status = start(seat).spawn()?.wait()?;
    Ok(exit_code(status))
}
