//! A TCP of one's own under a script: it accepts a connection and sends one segment per round trip.

use goodqueue_base::units::{Duration, Instant};
use goodqueue_checks::packetdrill::{
    Call, NotModelled, Packet, Returned, Setting, Settings, Stack, TcpFlags, TcpOption, parse, run,
};

const MSS: u32 = 1000;
const SCRIPT: &str = "
    0 socket(..., SOCK_STREAM, IPPROTO_TCP) = 3
   +0 listen(3, 1) = 0
   +0 < S 0:0(0) win 32792 <mss 1000>
   +0 > S. 0:0(0) ack 1 <mss 1000>
  +.1 < . 1:1(0) ack 1 win 32792
   +0 accept(3, ..., ...) = 4
   +0 write(4, ..., 2500) = 2500
   +0 > . 1:1001(1000) ack 1
  +.1 < . 1:1(0) ack 1001 win 32792
   +0 > . 1001:2001(1000) ack 1
   +1 > . 1001:2001(1000) ack 1     // the timer
  +.1 < . 1:1(0) ack 2001 win 32792
   +0 > . 2001:2501(500) ack 1";

/// Offsets in the stream: acknowledged, sent, written.
#[derive(Default)]
struct StopAndWait {
    handshake: Option<Packet>,
    acknowledged: u32,
    sent: u32,
    written: u32,
    timer: Option<Instant>,
}

impl Stack for StopAndWait {
    fn configure(&mut self, setting: &Setting) -> Result<(), NotModelled> {
        Err(NotModelled::new(&setting.name))
    }

    fn call(&mut self, _: Instant, call: &Call) -> Result<Returned, NotModelled> {
        match call.name.as_str() {
            "socket" => Ok(Returned::Value(3)),
            "listen" => Ok(Returned::Value(0)),
            "accept" => Ok(Returned::Value(4)),
            "write" => {
                let bytes = call.arguments[2].as_integer().unwrap_or(0);
                self.written += bytes as u32;
                Ok(Returned::Value(bytes))
            }
            other => Err(NotModelled::new(other)),
        }
    }

    fn handle_packet(&mut self, _: Instant, packet: &Packet) -> Result<(), NotModelled> {
        if packet.flags.has(TcpFlags::SYN) {
            let flags = TcpFlags::SYN.with(TcpFlags::ACK);
            self.handshake =
                Some(Packet { flags, ack: packet.seq + 1, options: vec![TcpOption::Mss(1000)], ..Packet::default() });
        } else {
            self.acknowledged = packet.ack - 1;
        }
        Ok(())
    }

    fn poll_transmit(&mut self, now: Instant) -> Option<Packet> {
        if let Some(packet) = self.handshake.take() {
            return Some(packet);
        }
        if self.sent > self.acknowledged || self.written == self.sent {
            return None;
        }
        let len = (self.written - self.sent).min(MSS);
        let packet = Packet { flags: TcpFlags::ACK, seq: 1 + self.sent, len, ack: 1, ..Packet::default() };
        self.sent += len;
        self.timer = Some(now + Duration::secs(1));
        Some(packet)
    }

    fn next_timeout(&self) -> Option<Instant> {
        self.timer.filter(|_| self.sent > self.acknowledged)
    }

    fn handle_timeout(&mut self, _: Instant) -> Result<(), NotModelled> {
        self.sent = self.acknowledged;
        Ok(())
    }

    fn info(&self, _: Instant, field: &str) -> Result<f64, NotModelled> {
        Err(NotModelled::new(field))
    }
}

fn main() {
    let script = parse(SCRIPT).expect("the script can be read");
    println!("{}", run(&script, &mut StopAndWait::default(), &Settings::default()));
}
