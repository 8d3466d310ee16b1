//! Groups of mixes: each activity with its demand on a line and the keys of its `[[traffic]]`
//! table.

use crate::scenario::schema::traffic::LADDER;
use goodqueue_base::units::{Bytes, Duration, Rate};
use std::fmt::{self, Write as _};

/// One activity of a mix: a group of flows, or one each way.
#[derive(Clone, Copy, Debug)]
pub struct Part {
    /// The name in results.
    pub name: &'static str,
    /// A description of the traffic.
    pub about: &'static str,
    /// The number of flows.
    pub flows: Flows,
    /// The directions of its data.
    pub ways: Ways,
    /// The rate that each flow asks for, whatever the line.
    pub demand: Demand,
    /// Keys of its table but name, flows, direction and start.
    pub keys: Keys,
    /// The steps by which it asks for less on lines that cannot carry the whole mix.
    pub cuts: &'static [Cut],
}

/// The number of flows of a part.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Flows {
    /// This number, unless the number of bulk flows is asked for.
    Bulk(u32),
    /// This number of flows upward, unless their number is asked for.
    BulkUp(u32),
    /// This number.
    Fixed(u32),
    /// One for this much of the line's rate, at least one.
    PerLine(Rate),
    /// One for each person: of 25 Mbit/s each, one to four.
    PerPerson,
    /// Videos of a household: one below 40 Mbit/s, two below 150 Mbit/s, three above.
    PerScreen,
}

impl fmt::Display for Flows {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Bulk(flows) | Self::BulkUp(flows) | Self::Fixed(flows) => write!(f, "{flows}"),
            Self::PerLine(each) => write!(f, "one per {each}"),
            Self::PerPerson => write!(f, "one per {EACH_PERSON}, 1 to {MAX_PEOPLE}"),
            Self::PerScreen => write!(f, "1, 2 from {TWO_SCREENS}, 3 from {THREE_SCREENS}"),
        }
    }
}

/// More flows would tell nothing new and take long.
const MAX_FLOWS: u64 = 1_000;
const EACH_PERSON: Rate = Rate::mbit(25);
const MAX_PEOPLE: u64 = 4;
const TWO_SCREENS: Rate = Rate::mbit(40);
const THREE_SCREENS: Rate = Rate::mbit(150);

/// The directions of the data of a part.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ways {
    /// Data over TCP, downward.
    Down,
    /// Data over TCP, upward: only on lines with a rate of their own in that direction.
    Up,
    /// Data over TCP, a group each way; upward only where that direction has a rate of its own.
    Each,
    /// Datagrams, downward.
    Datagrams,
    /// Datagrams, flows that go both ways; upward only where that direction has a rate of its own.
    DatagramsBoth,
    /// Datagrams, a group each way; upward only where that direction has a rate of its own.
    DatagramsEach,
}

/// One direction of a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Way {
    /// Toward the people.
    Down,
    /// From the people.
    Up,
}

impl fmt::Display for Way {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(if *self == Self::Down { "down" } else { "up" })
    }
}

/// The rate that a flow asks for, whatever the line.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Demand {
    /// None: it takes what is left.
    Elastic,
    /// These rates.
    Fixed {
        /// Downward.
        down: Rate,
        /// Upward.
        up: Rate,
    },
    /// Pictures with a call, which together take this at most and these shares of the line.
    Camera(Camera),
    /// A video of 1.5 Mbit/s, or of its best bitrate where that is less.
    Video,
}

/// The rates of a call with pictures, its sound included.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Camera {
    /// Most that it asks for downward.
    pub down: Rate,
    /// Share of the line that it asks for downward at most.
    pub down_share: f64,
}

/// A call of two with pictures.
pub const OF_TWO: Camera = Camera { down: Rate::kbit(600), down_share: 0.15 };
/// A call of a group with pictures.
pub const OF_GROUP: Camera = Camera { down: Rate::kbit(1_500), down_share: 0.2 };
/// The rate of a camera, with the sound, and the most of the line.
const CAMERA_UP: (Rate, f64) = (Rate::kbit(600), 0.25);

/// A call: 130 bytes each 20 ms, the defaults of `voip`.
pub const CALL: Rate = Rate::kbit(52);
const VIDEO_COUNTED: Rate = Rate::kbit(1_500);
const VIDEO_CUT: Rate = Rate::kbit(700);
const VIDEO_UP: Rate = Rate::kbit(30);
/// The bitrate above those that videos have by themselves, for lines that carry it.
const BEST_RUNG: Rate = Rate::mbit(12);
/// Most of the line that one video may take.
const MAX_VIDEO: f64 = 0.4;

/// The keys of a part's table.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Keys {
    /// These, with line feeds.
    Fixed(&'static str),
    /// Pictures at the rate of the part's demand.
    Camera,
    /// Video up to the best bitrate for the line.
    Video,
    /// Transfers at random times.
    Transfers(Transfers),
    /// Transfers that together offer this share of the line.
    Offered {
        /// Share of the line.
        share: f64,
        /// Bytes of each.
        bytes: u64,
    },
}

/// Transfers at random times, which end.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Transfers {
    /// Mean time from the beginning of one to the next.
    pub every: Duration,
    /// The time that each would take with the line for itself.
    pub takes: Duration,
    /// The direction of the line that this time counts for.
    pub of: Way,
    /// The largest.
    pub at_most: Bytes,
    /// Connections of each.
    pub connections: u32,
}

/// A step by which a mix asks for less, in the order in which they are taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cut {
    /// A constant stream is left out.
    Stream,
    /// One reader is left.
    Readers,
    /// One call is left.
    Calls,
    /// The call of a group becomes one of two.
    Group,
    /// Videos have 700 kbit/s at most.
    Rung,
    /// Calls lose their pictures.
    Camera,
    /// Videos are left out.
    Video,
    /// Devices in the background are left out.
    Background,
    /// Games are left out.
    Game,
}

impl Cut {
    /// All of them, in this order; calls and pings stay.
    pub const ORDER: [Self; 9] = [
        Self::Stream,
        Self::Readers,
        Self::Calls,
        Self::Group,
        Self::Rung,
        Self::Camera,
        Self::Video,
        Self::Background,
        Self::Game,
    ];

    /// The change of a part of this name and number of flows in a few words.
    pub(super) fn words(self, name: &str, flows: u64) -> String {
        match self {
            Self::Readers => format!("`{name}` has one reader instead of {flows}"),
            Self::Calls => format!("`{name}` is one call instead of {flows}"),
            Self::Group => format!("`{name}` shows one other person instead of a group"),
            Self::Rung => format!("`{name}` has at most {VIDEO_CUT}"),
            Self::Stream | Self::Camera | Self::Video | Self::Background | Self::Game => format!("`{name}` is left out"),
        }
    }
}

/// The line of a mix, and the steps taken so that it carries the mix.
#[derive(Clone, Debug)]
pub(super) struct Scale {
    pub(super) down: Rate,
    pub(super) up: Option<Rate>,
    pub(super) flows: Option<u32>,
    pub(super) flows_up: Option<u32>,
    pub(super) cuts: Vec<Cut>,
}

impl Scale {
    /// The rate of a direction; upward as downward where it has none of its own.
    fn rate(&self, way: Way) -> Rate {
        if way == Way::Up { self.up.unwrap_or(self.down) } else { self.down }
    }
}

fn share(rate: Rate, share: f64) -> Rate {
    Rate::bit_s((rate.as_bit_s() as f64 * share) as u64)
}

/// A size as people write it, at least one packet of data.
fn size_text(bytes: u64) -> String {
    let kilo = bytes / 1_000;
    if kilo >= 10 { format!("{kilo} kB") } else { format!("{} B", bytes.max(1_000)) }
}

impl Part {
    fn is_cut(&self, cut: Cut, scale: &Scale) -> bool {
        self.cuts.contains(&cut) && scale.cuts.contains(&cut)
    }

    /// The number of flows; zero where the part is left out.
    pub(super) fn flows(&self, scale: &Scale) -> u64 {
        let is_left_out = [Cut::Stream, Cut::Camera, Cut::Video, Cut::Background, Cut::Game];
        if is_left_out.into_iter().any(|cut| self.is_cut(cut, scale)) {
            return 0;
        }
        if self.is_cut(Cut::Readers, scale) || self.is_cut(Cut::Calls, scale) {
            return 1;
        }
        let down = scale.down.as_bit_s();
        match self.flows {
            Flows::Bulk(usual) => u64::from(scale.flows.unwrap_or(usual)),
            Flows::BulkUp(usual) => u64::from(scale.flows_up.unwrap_or(usual)),
            Flows::Fixed(flows) => u64::from(flows),
            Flows::PerLine(each) => (down / each.as_bit_s()).clamp(1, MAX_FLOWS),
            Flows::PerPerson => (down / EACH_PERSON.as_bit_s()).clamp(1, MAX_PEOPLE),
            Flows::PerScreen => 1 + u64::from(scale.down >= TWO_SCREENS) + u64::from(scale.down >= THREE_SCREENS),
        }
    }

    /// The rate that one flow asks for in a direction.
    pub(super) fn demand(&self, scale: &Scale, way: Way) -> Rate {
        match (self.demand, way) {
            (Demand::Elastic, _) => Rate::bit_s(0),
            (Demand::Fixed { down, .. }, Way::Down) => down,
            (Demand::Fixed { up, .. }, Way::Up) => up,
            (Demand::Camera(camera), _) => {
                let camera = if self.is_cut(Cut::Group, scale) { OF_TWO } else { camera };
                let (most, of_line) = if way == Way::Up { CAMERA_UP } else { (camera.down, camera.down_share) };
                let whole = most.min(share(scale.rate(way), of_line));
                Rate::bit_s(whole.as_bit_s().saturating_sub(CALL.as_bit_s()))
            }
            (Demand::Video, Way::Down) => VIDEO_COUNTED.min(self.best_rung(scale)),
            (Demand::Video, Way::Up) => VIDEO_UP,
        }
    }

    fn best_rung(&self, scale: &Scale) -> Rate {
        let most = if self.is_cut(Cut::Rung, scale) { VIDEO_CUT } else { share(scale.down, MAX_VIDEO) };
        Self::rungs(most).last().copied().unwrap_or(LADDER[0])
    }

    /// Bitrates up to `most`, the lowest in any case.
    fn rungs(most: Rate) -> Vec<Rate> {
        let all = LADDER.into_iter().chain([BEST_RUNG]);
        all.filter(|rung| *rung <= most.max(LADDER[0])).collect()
    }

    /// The keys of the table of one direction; `None` where nothing would be sent.
    pub(super) fn keys(&self, scale: &Scale, way: Way) -> Option<String> {
        match self.keys {
            Keys::Fixed(keys) => Some(keys.to_owned()),
            Keys::Camera => {
                let rate = self.demand(scale, way);
                // Slower pictures are none.
                (rate >= Rate::kbit(20)).then(|| format!("kind = \"video-frames\"\nrate = \"{rate}\"\n"))
            }
            Keys::Video => {
                let rungs: Vec<String> = Self::rungs(self.best_rung(scale)).iter().map(|rung| format!("\"{rung}\"")).collect();
                let ladder = rungs.join(", ");
                Some(format!("kind = \"video\"\nsegment = \"4 s\"\nbuffer = \"30 s\"\nladder = [{ladder}]\nabandon = true\n"))
            }
            Keys::Transfers(Transfers { every, takes, of, at_most, connections }) => {
                let whole = scale.rate(of).as_bit_s() as f64 / 8.0 * takes.as_secs_f64();
                let size = size_text((whole as u64).min(at_most.get()));
                let mut keys = format!("kind = \"short\"\nsize = \"{size}\"\ninterval = \"{every}\"\narrivals = \"poisson\"\n");
                if connections > 1 {
                    let _ = writeln!(keys, "connections = {connections}");
                }
                Some(keys)
            }
            Keys::Offered { share, bytes } => {
                let ns = bytes as f64 * 8.0 / (share * scale.down.as_bit_s().max(1) as f64) * 1e9;
                let interval = Duration::ns((ns as u64).max(1_000));
                let size = if bytes.is_multiple_of(1_000) { format!("{} kB", bytes / 1_000) } else { format!("{bytes} B") };
                Some(format!("kind = \"short\"\nsize = \"{size}\"\narrivals = \"poisson\"\ninterval = \"{interval}\"\n"))
            }
        }
    }
}
