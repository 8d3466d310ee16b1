//! Calls of the application.

use super::Goodqueue;
use super::connection::{Connection, Phase};
use super::defaults;
use super::stream::Nagle;
use crate::packetdrill::script::{Call, Value};
use crate::packetdrill::stack::{NotModelled, Returned};
use goodqueue_base::units::Instant;

/// Send buffers below this many bytes would hold writes back.
const MIN_BUFFER: i64 = 1 << 16;
/// Most bytes of one write: what scripts can name in 31 bits.
const MAX_WRITE: i64 = i32::MAX as i64;

/// A socket.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Socket {
    pub(super) listens: bool,
    /// True if the socket is this end of the connection.
    connected: bool,
    nonblocking: bool,
    no_delay: bool,
    pub(super) largest_segment: Option<u16>,
}

fn refused<T>(what: impl Into<String>) -> Result<T, NotModelled> {
    Err(NotModelled::new(what))
}

impl Goodqueue {
    pub(super) fn carry_out(&mut self, now: Instant, call: &Call) -> Result<Returned, NotModelled> {
        let arguments = &call.arguments;
        let number = |place: usize| arguments.get(place).and_then(Value::as_integer);
        let words = |place: usize| arguments.get(place).map(Value::words).unwrap_or_default();
        if self.connection.as_ref().is_some_and(|connection| connection.phase == Phase::Reset) && call.name != "close" {
            return refused("a call after RST");
        }
        if call.name == "socket" {
            return self.socket(&words(1));
        }
        if call.name == "poll" {
            return self.poll(call);
        }
        if matches!(call.name.as_str(), "epoll_create" | "epoll_create1" | "pipe" | "open") {
            return refused(format!("the call {}", call.name));
        }
        if matches!(arguments.get(1), Some(Value::Integer(_))) && matches!(call.name.as_str(), "write" | "send" | "read" | "recv")
        {
            return refused("a buffer at a wrong address");
        }
        let Some(fd) = number(0) else { return refused(format!("{} without a file descriptor", call.name)) };
        if !self.sockets.contains_key(&fd) {
            return Ok(Returned::Error("EBADF"));
        }
        match call.name.as_str() {
            "bind" => Ok(Returned::Value(0)),
            "listen" => self.change(fd, |socket| socket.listens = true),
            "accept" => self.accept(fd),
            "accept4" => refused("accept4"),
            "connect" => self.connect(now, fd),
            "fcntl" => self.fcntl(fd, &words(1), &words(2)),
            "setsockopt" => self.set_option(fd, &words(2), arguments.get(3)),
            "getsockopt" => self.option(fd, &words(2)),
            "write" | "send" | "sendto" => self.write(fd, number(2), &words(3)),
            "sendmsg" => self.write(fd, arguments.get(1).and_then(vector_bytes), &words(2)),
            "writev" => self.write(fd, arguments.get(1).and_then(bytes_of_vectors), &[]),
            "read" | "recv" | "recvfrom" => self.read(fd, number(2), &words(3)),
            "recvmsg" => self.read(fd, arguments.get(1).and_then(vector_bytes), &words(2)),
            "close" => self.close(fd),
            "shutdown" => self.shutdown(fd, &words(1)),
            other => refused(format!("the call {other}")),
        }
    }

    fn change(&mut self, fd: i64, change: impl FnOnce(&mut Socket)) -> Result<Returned, NotModelled> {
        self.sockets.get_mut(&fd).map(change);
        Ok(Returned::Value(0))
    }

    fn add(&mut self, socket: Socket) -> Returned {
        let fd = self.free_descriptor();
        self.sockets.insert(fd, socket);
        Returned::Value(fd)
    }

    fn socket(&mut self, kind: &[&str]) -> Result<Returned, NotModelled> {
        if !kind.contains(&"SOCK_STREAM") {
            return refused(format!("a socket of kind {}", kind.join("|")));
        }
        Ok(self.add(Socket { nonblocking: kind.contains(&"SOCK_NONBLOCK"), ..Socket::default() }))
    }

    fn accept(&mut self, fd: i64) -> Result<Returned, NotModelled> {
        let listener = self.sockets[&fd];
        let taken = self.sockets.values().any(|socket| socket.connected);
        let ready = self.connection.as_ref().is_some_and(|connection| connection.phase == Phase::Established);
        if !listener.listens {
            return Ok(Returned::Error("EINVAL"));
        }
        if !ready || taken {
            return Ok(if listener.nonblocking { Returned::Error("EAGAIN") } else { Returned::Blocked });
        }
        let added = self.add(Socket { connected: true, listens: false, nonblocking: false, ..listener });
        self.apply_nagle(listener.no_delay);
        Ok(added)
    }

    fn connect(&mut self, now: Instant, fd: i64) -> Result<Returned, NotModelled> {
        let socket = self.sockets[&fd];
        match &self.connection {
            None => {
                self.connection = Some(Connection::connect(now, &self.host, socket.largest_segment)?);
                self.apply_nagle(socket.no_delay);
                self.change(fd, |socket| socket.connected = true)?;
                Ok(if socket.nonblocking { Returned::Error("EINPROGRESS") } else { Returned::Blocked })
            }
            Some(_) if !socket.connected => refused("a second connection"),
            Some(connection) if connection.phase == Phase::Established => {
                Ok(if socket.nonblocking { Returned::Error("EISCONN") } else { Returned::Value(0) })
            }
            Some(_) => Ok(if socket.nonblocking { Returned::Error("EALREADY") } else { Returned::Blocked }),
        }
    }

    fn apply_nagle(&mut self, no_delay: bool) {
        if let Some(connection) = &mut self.connection {
            connection.nagle = if no_delay { Nagle::Off } else { Nagle::On };
            if connection.phase == Phase::Established {
                connection.give();
            }
        }
    }

    fn fcntl(&mut self, fd: i64, command: &[&str], flags: &[&str]) -> Result<Returned, NotModelled> {
        // O_RDWR, and O_NONBLOCK.
        match command {
            ["F_GETFL"] => Ok(Returned::Value(0x2 | if self.sockets[&fd].nonblocking { 0x800 } else { 0 })),
            ["F_SETFL"] => self.change(fd, |socket| socket.nonblocking = flags.contains(&"O_NONBLOCK")),
            _ => refused(format!("fcntl {}", command.join("|"))),
        }
    }

    fn set_option(&mut self, fd: i64, name: &[&str], value: Option<&Value>) -> Result<Returned, NotModelled> {
        let inner = match value {
            Some(Value::List(values)) => values.first(),
            other => other,
        };
        let number = inner.and_then(Value::as_integer);
        match name {
            ["SO_REUSEADDR" | "SO_REUSEPORT" | "IP_TOS" | "IP_MTU_DISCOVER" | "IP_FREEBIND" | "SO_MARK"] => {
                Ok(Returned::Value(0))
            }
            ["SO_SNDBUF"] if number.is_some_and(|bytes| bytes >= MIN_BUFFER) => Ok(Returned::Value(0)),
            ["SO_SNDBUF"] => refused("a small send buffer"),
            ["TCP_NODELAY"] => {
                let no_delay = number.is_some_and(|value| value > 0);
                let connected = self.sockets[&fd].connected;
                self.change(fd, |socket| socket.no_delay = no_delay)?;
                if connected {
                    self.apply_nagle(no_delay);
                }
                Ok(Returned::Value(0))
            }
            ["TCP_MAXSEG"] if !self.sockets[&fd].connected => match number.and_then(|bytes| u16::try_from(bytes).ok()) {
                Some(bytes @ 88..=32_767) => self.change(fd, |socket| socket.largest_segment = Some(bytes)),
                _ => Ok(Returned::Error("EINVAL")),
            },
            ["TCP_CONGESTION"] if self.connection.is_none() => match inner {
                Some(Value::Text(name)) => {
                    self.host.control = defaults::control(name)?;
                    Ok(Returned::Value(0))
                }
                _ => Ok(Returned::Error("EINVAL")),
            },
            _ => refused(format!("the socket option {}", name.join("|"))),
        }
    }

    fn option(&self, fd: i64, name: &[&str]) -> Result<Returned, NotModelled> {
        let value = match name {
            ["SO_ERROR"] => 0,
            ["TCP_NODELAY"] => i64::from(self.sockets[&fd].no_delay),
            ["TCP_MAXSEG"] => match (&self.connection, self.sockets[&fd]) {
                (Some(connection), Socket { connected: true, .. }) => i64::from(connection.mss),
                (_, socket) => i64::from(socket.largest_segment.unwrap_or(536)),
            },
            _ => return refused(format!("the socket option {}", name.join("|"))),
        };
        Ok(Returned::Values(0, vec![(3, Value::List(vec![Value::Integer(value)]))]))
    }

    /// The connection of a socket.
    fn connected(&mut self, fd: i64) -> Option<&mut Connection> {
        self.sockets[&fd].connected.then_some(self.connection.as_mut()).flatten()
    }

    fn write(&mut self, fd: i64, bytes: Option<i64>, flags: &[&str]) -> Result<Returned, NotModelled> {
        if let Some(flag) = flags.iter().find(|flag| !matches!(**flag, "MSG_DONTWAIT" | "MSG_NOSIGNAL")) {
            return refused(*flag);
        }
        let Some(bytes @ 0..=MAX_WRITE) = bytes else { return refused("a write without a length") };
        let nonblocking = self.sockets[&fd].nonblocking;
        let Some(connection) = self.connected(fd) else { return Ok(Returned::Error("EPIPE")) };
        if connection.phase != Phase::Established {
            return Ok(if nonblocking { Returned::Error("EAGAIN") } else { Returned::Blocked });
        }
        if connection.stream.is_closed() {
            return Ok(Returned::Error("EPIPE"));
        }
        connection.write(bytes as u64);
        Ok(Returned::Value(bytes))
    }

    fn read(&mut self, fd: i64, most: Option<i64>, flags: &[&str]) -> Result<Returned, NotModelled> {
        if let Some(flag) = flags.iter().find(|flag| **flag != "MSG_DONTWAIT") {
            return refused(*flag);
        }
        let nonblocking = self.sockets[&fd].nonblocking || flags.contains(&"MSG_DONTWAIT");
        let Some(connection) = self.connected(fd) else { return Ok(Returned::Error("ENOTCONN")) };
        let most = most.and_then(|most| u64::try_from(most).ok()).unwrap_or(u64::MAX);
        let bytes = connection.readable().min(most);
        if bytes > 0 {
            connection.read += bytes;
            return Ok(Returned::Value(bytes as i64));
        }
        if connection.peer_is_done() {
            return Ok(Returned::Value(0));
        }
        Ok(if nonblocking { Returned::Error("EAGAIN") } else { Returned::Blocked })
    }

    fn close(&mut self, fd: i64) -> Result<Returned, NotModelled> {
        if let Some(connection) = self.connected(fd) {
            if connection.phase == Phase::Reset {
                self.sockets.remove(&fd);
                return Ok(Returned::Value(0));
            }
            if connection.phase != Phase::Established {
                return refused("closing a connection that is not open");
            }
            if connection.readable() > 0 {
                return refused("RST, after closing with unread data");
            }
            connection.close();
            connection.abandoned = true;
        }
        self.sockets.remove(&fd);
        Ok(Returned::Value(0))
    }

    fn shutdown(&mut self, fd: i64, how: &[&str]) -> Result<Returned, NotModelled> {
        let Some(connection) = self.connected(fd) else { return Ok(Returned::Error("ENOTCONN")) };
        if how != ["SHUT_WR"] {
            return refused(format!("shutdown {}", how.join("|")));
        }
        connection.close();
        Ok(Returned::Value(0))
    }

    /// `poll([{fd=N, events=E, revents=R}], 1, TIMEOUT)`
    fn poll(&self, call: &Call) -> Result<Returned, NotModelled> {
        let Some(Value::List(list)) = call.arguments.first() else { return refused("poll without descriptors") };
        let mut ready = 0;
        let mut answers = Vec::new();
        for entry in list {
            let fd = entry.field("fd").and_then(Value::as_integer).unwrap_or(-1);
            let asked = entry.field("events").map(Value::words).unwrap_or_default();
            let states = self.states(fd);
            let happened: Vec<Value> =
                states.into_iter().filter(|state| asked.contains(state)).map(|state| Value::Word(state.to_owned())).collect();
            ready += i64::from(!happened.is_empty());
            let revents = match happened.len() {
                0 => Value::Integer(0),
                _ => Value::Either(happened),
            };
            let Value::Group(fields) = entry else { return refused("poll without descriptors") };
            let answered = fields.iter().map(|field| match field {
                Value::Field(key, _) if **key == Value::Word("revents".to_owned()) => {
                    Value::Field(key.clone(), Box::new(revents.clone()))
                }
                other => other.clone(),
            });
            answers.push(Value::Group(answered.collect()));
        }
        let timeout = call.arguments.get(2).and_then(Value::as_integer).unwrap_or(0);
        if ready == 0 && timeout != 0 {
            return Ok(Returned::Blocked);
        }
        Ok(Returned::Values(ready, vec![(0, Value::List(answers))]))
    }

    fn states(&self, fd: i64) -> Vec<&'static str> {
        let mut states = Vec::new();
        let Some(socket) = self.sockets.get(&fd) else { return states };
        let Some(connection) = &self.connection else { return states };
        let open = connection.phase == Phase::Established;
        if socket.listens && open || socket.connected && (connection.readable() > 0 || connection.peer_is_done()) {
            states.push("POLLIN");
        }
        if socket.connected && open {
            states.push("POLLOUT");
        }
        states
    }
}

impl Connection {
    /// Bytes that wait for the application.
    pub(super) fn readable(&self) -> u64 {
        let fin = u64::from(self.peer_is_done_up_to(self.receiver.delivered_bytes()));
        self.receiver.delivered_bytes() - fin - self.read
    }

    /// Whether everything of the other end has arrived, with its FIN.
    pub(super) fn peer_is_done(&self) -> bool {
        self.peer_is_done_up_to(self.receiver.delivered_bytes())
    }

    fn peer_is_done_up_to(&self, offset: u64) -> bool {
        self.peer_end.is_some_and(|end| offset >= end)
    }
}

/// Bytes of the vectors of a message.
fn vector_bytes(message: &Value) -> Option<i64> {
    bytes_of_vectors(message.field("msg_iov")?)
}

/// Bytes of `[{..., 40}, {..., 2}]`.
fn bytes_of_vectors(vectors: &Value) -> Option<i64> {
    let Value::List(vectors) = vectors else { return None };
    let mut bytes = 0i64;
    for vector in vectors {
        let Value::Group(parts) = vector else { return None };
        bytes = bytes.checked_add(parts.get(1)?.as_integer()?)?;
    }
    Some(bytes)
}
