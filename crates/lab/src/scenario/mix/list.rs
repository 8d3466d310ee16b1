//! All mixes, and the activities that they are made of.

use super::part::{CALL, Camera, Cut, Demand, Flows, Keys, OF_GROUP, OF_TWO, Part, Transfers, Way, Ways};
use super::{Mix, Pace};
use goodqueue_base::units::{Bytes, Duration, Rate};

const fn bulk(flows: u32) -> Part {
    Part {
        name: "bulk",
        about: "downloads without end",
        flows: Flows::Bulk(flows),
        ways: Ways::Down,
        demand: Demand::Elastic,
        keys: Keys::Fixed("kind = \"bulk\"\n"),
        cuts: &[],
    }
}

const fn uploads(flows: u32) -> Part {
    Part { name: "uploads", about: "uploads without end", flows: Flows::BulkUp(flows), ways: Ways::Up, ..bulk(0) }
}

const fn calls(flows: u32) -> Part {
    Part {
        name: if flows == 1 { "call" } else { "calls" },
        about: "calls of 52 kbit/s each way",
        flows: Flows::Fixed(flows),
        ways: Ways::DatagramsBoth,
        demand: Demand::Fixed { down: CALL, up: CALL },
        keys: Keys::Fixed("kind = \"voip\"\n"),
        cuts: if flows == 1 { &[] } else { &[Cut::Calls] },
    }
}

const GROUP_CALL: Part = Part { name: "group call", cuts: &[], ..calls(1) };

const fn camera(name: &'static str, about: &'static str, of: Camera, cuts: &'static [Cut]) -> Part {
    Part { name, about, ways: Ways::DatagramsEach, demand: Demand::Camera(of), keys: Keys::Camera, cuts, ..calls(1) }
}

const CALL_VIDEO: Part = camera(
    "call video",
    "pictures of the call: with it 600 kbit/s, at most 15 % of the line down and 25 % up",
    OF_TWO,
    &[Cut::Camera],
);
const GROUP_VIDEO: Part = camera(
    "group video",
    "pictures of the group: with its call 1.5 Mbit/s down, 600 kbit/s up, at most 20 % of the line down and 25 % up",
    OF_GROUP,
    &[Cut::Group, Cut::Camera],
);

/// 130 bytes every 16 ms, the defaults of `gaming`.
const fn games(flows: u32) -> Part {
    Part {
        name: "games",
        about: "games: 130 bytes every 16 ms down, 80 bytes up",
        demand: Demand::Fixed { down: Rate::kbit(65), up: Rate::kbit(40) },
        keys: Keys::Fixed("kind = \"gaming\"\n"),
        cuts: &[Cut::Game],
        ..calls(flows)
    }
}

/// Mean sizes of the game that CableLabs simulates, with the headers of IP and UDP.
const GAME: Part = Part {
    name: "game",
    about: "a game: 432 bytes every 33 ms down, 110 bytes up",
    demand: Demand::Fixed { down: Rate::kbit(109), up: Rate::kbit(31) },
    keys: Keys::Fixed("kind = \"gaming\"\ninterval = \"33 ms\"\npacket_size = \"432 B\"\npacket_size_up = \"110 B\"\n"),
    ..games(1)
};

/// 84 bytes every 100 ms, the defaults of `echo`.
const PING_100_MS: Part = Part {
    name: super::PING,
    about: "probes of 84 bytes every 100 ms",
    ways: Ways::Datagrams,
    demand: Demand::Fixed { down: Rate::kbit(7), up: Rate::kbit(7) },
    keys: Keys::Fixed("kind = \"echo\"\n"),
    cuts: &[],
    ..calls(1)
};

/// No multiple of the gaps of calls, so that probes meet every phase of theirs.
const PING: Part = Part {
    about: "probes of 84 bytes every 101 ms",
    keys: Keys::Fixed("kind = \"echo\"\ninterval = \"101 ms\"\n"),
    ..PING_100_MS
};

/// Readers who hardly pause, whose demand is not counted.
const fn pages(flows: Flows) -> Part {
    let keys = "kind = \"page\"\nobjects = 71\nsize = \"37 kB\"\npause = \"uniform 2 s .. 10 s\"\n";
    Part {
        name: super::PAGES,
        about: "pages of 71 objects of 37 kB, with pauses of 2 to 10 s",
        flows,
        keys: Keys::Fixed(keys),
        ..bulk(0)
    }
}

/// A page of 21 Mbit every 30 s and the time that it takes.
const fn readers(flows: Flows) -> Part {
    let keys = "kind = \"page\"\nobjects = 71\nsize = \"37 kB\"\npause = \"uniform 10 s .. 50 s\"\n";
    Part {
        about: "pages of 71 objects of 37 kB, with pauses of 10 to 50 s",
        demand: Demand::Fixed { down: Rate::kbit(640), up: Rate::kbit(20) },
        keys: Keys::Fixed(keys),
        cuts: &[Cut::Readers],
        ..pages(flows)
    }
}

const READER: Part = readers(Flows::Fixed(1));

const fn videos(flows: Flows) -> Part {
    Part { name: "videos", about: "adaptive video, 0.35 to 6 Mbit/s", flows, keys: Keys::Fixed("kind = \"video\"\n"), ..bulk(0) }
}

const fn films(flows: Flows) -> Part {
    Part {
        about: "adaptive video, segments of 4 s, from 0.35 Mbit/s to at most 12 Mbit/s or 40 % of the line",
        demand: Demand::Video,
        keys: Keys::Video,
        cuts: &[Cut::Rung, Cut::Video],
        ..videos(flows)
    }
}

const FILM: Part = Part { name: "video", ..films(Flows::Fixed(1)) };

const fn transfers(name: &'static str, about: &'static str, ways: Ways, transfers: Transfers) -> Part {
    Part { name, about, flows: Flows::Fixed(1), ways, keys: Keys::Transfers(transfers), ..bulk(0) }
}

const PHOTO: Transfers = Transfers {
    every: Duration::secs(30),
    takes: Duration::secs(10),
    of: Way::Up,
    at_most: Bytes::new(5_000_000),
    connections: 1,
};
const PHOTOS: Part = transfers("photos", "an upload of 5 MB, or of 10 s of the line, every 30 s", Ways::Up, PHOTO);
const SYNC: Transfers = Transfers {
    every: Duration::secs(60),
    takes: Duration::secs(20),
    of: Way::Up,
    at_most: Bytes::new(20_000_000),
    connections: 1,
};
const CLOUD: Part = transfers("cloud", "an upload of 20 MB, or of 20 s of the line, every 60 s", Ways::Up, SYNC);
const CLOUD_DOWN: Part = transfers(
    "cloud down",
    "a tenth of the uploads' bytes",
    Ways::Down,
    Transfers { takes: Duration::secs(2), at_most: Bytes::new(2_000_000), ..SYNC },
);
const UPDATE: Transfers = Transfers {
    every: Duration::secs(60),
    takes: Duration::secs(20),
    of: Way::Down,
    at_most: Bytes::new(1_000_000_000),
    connections: 4,
};
const UPDATES: Part =
    transfers("updates", "an update of 1 GB, or of 20 s of the line, every 60 s, over 4 connections", Ways::Down, UPDATE);
/// Ten devices, which together exchange 28 kbit/s of data each way.
const BACKGROUND: Part = Part {
    name: "background",
    about: "ten devices that send and get 7 kB every 20 s each",
    flows: Flows::Fixed(10),
    ways: Ways::Each,
    demand: Demand::Fixed { down: Rate::kbit(3), up: Rate::kbit(3) },
    keys: Keys::Fixed("kind = \"short\"\nsize = \"7 kB\"\ninterval = \"20 s\"\narrivals = \"poisson\"\nbackground = true\n"),
    cuts: &[Cut::Background],
};

const DATA: Transfers = Transfers { connections: 1, ..UPDATE };
const SLOW_READER: Part = Part {
    about: "pages of 36 objects of 37 kB, with pauses of 10 to 50 s",
    demand: Demand::Fixed { down: Rate::kbit(320), up: Rate::kbit(10) },
    keys: Keys::Fixed("kind = \"page\"\nobjects = 36\nsize = \"37 kB\"\npause = \"uniform 10 s .. 50 s\"\n"),
    ..READER
};

const NOT_YET: &str =
    "until calls with pictures adapt, theirs are `video-frames` alongside the call, which do not respond; the call is judged";

/// All of them.
pub const MIXES: &[Mix] = &[
    Mix {
        name: "evening",
        summary: "an evening at home: a call, page readers, videos, photos going up and updates coming down",
        source: "rates and pauses of 3GPP's and CableLabs' web users, Web Almanac's median page; one person per 25 Mbit/s, photos and \
                 updates are our choice",
        pace: Pace::Sessions,
        parts: &[calls(1), PING, BACKGROUND, readers(Flows::PerPerson), films(Flows::PerScreen), PHOTOS, UPDATES],
    },
    Mix {
        name: "work",
        summary: "two people work at home: a video call, a call of a group, a page reader and a cloud's synchronization",
        source: NOT_YET,
        pace: Pace::Sessions,
        parts: &[calls(1), CALL_VIDEO, GROUP_CALL, GROUP_VIDEO, PING, BACKGROUND, READER, CLOUD, CLOUD_DOWN],
    },
    Mix {
        name: "gaming",
        summary: "a game with a call, while somebody watches a video, somebody reads and updates come down",
        source: "game of CableLabs' simulations of homes (docsis-ns3); the others as in `evening`",
        pace: Pace::Sessions,
        parts: &[GAME, calls(1), PING, FILM, READER, UPDATES],
    },
    Mix {
        name: "alone",
        summary: "one person: a video call and a page reader, nothing large",
        source: NOT_YET,
        pace: Pace::Sessions,
        parts: &[calls(1), CALL_VIDEO, PING, BACKGROUND, READER],
    },
    Mix {
        name: super::DOWNLOAD,
        summary: "a download without end alongside a call, a page reader and a video: the default on lines of one direction",
        source: "four connections as speed tests and game stores use; the others as in `evening`",
        pace: Pace::Sessions,
        parts: &[bulk(4), calls(1), PING, READER, FILM],
    },
    Mix {
        name: super::BACKUP,
        summary: "an upload without end alongside a video call and a page reader: the default on lines of two directions",
        source: NOT_YET,
        pace: Pace::Sessions,
        parts: &[uploads(1), calls(1), CALL_VIDEO, PING, READER],
    },
    Mix {
        name: super::SLOW,
        summary: "a slow line: a call, a page reader and a transfer of 20 s each way every minute",
        source: "half of the Web Almanac's median page, about what inner pages weigh; chosen by itself below 4 Mbit/s down or 500 kbit/s up",
        pace: Pace::Sessions,
        parts: &[
            calls(1),
            PING,
            SLOW_READER,
            transfers("downloads", "a download of 20 s of the line every 60 s", Ways::Down, DATA),
            transfers("uploads", "an upload of 20 s of the line every 60 s", Ways::Up, Transfers { of: Way::Up, ..DATA }),
        ],
    },
    Mix {
        name: "bulk",
        summary: "bulk flows alone: the classical comparison, which does not show what a call gets",
        source: "the usual experiment of papers on queue management; the number of flows is our choice",
        pace: Pace::Steady,
        parts: &[bulk(4), uploads(1)],
    },
    Mix {
        name: "call-and-ping",
        summary: "bulk flows, a call and a ping",
        source: "bulk flows of the classical comparison with one conversation and one probe; our choice",
        pace: Pace::Steady,
        parts: &[bulk(4), uploads(1), calls(1), PING_100_MS],
    },
    Mix {
        name: super::RFC7928,
        summary: "a stress test: a call, six page readers who hardly pause, a video, a constant stream and five downloads",
        source: "RFC 7928 §9.1 for kinds and numbers of flows; median desktop page of the HTTP Archive's Web Almanac 2024 (2,652 kB, 71 \
                 requests); uploads and the ping are our choice",
        pace: Pace::Sessions,
        parts: &[
            bulk(5),
            uploads(1),
            calls(1),
            PING_100_MS,
            pages(Flows::Fixed(6)),
            videos(Flows::Fixed(1)),
            Part {
                name: "stream",
                about: "1 Mbit/s in packets of 1000 bytes",
                ways: Ways::Datagrams,
                demand: Demand::Fixed { down: Rate::mbit(1), up: Rate::bit_s(0) },
                keys: Keys::Fixed("kind = \"cbr\"\nrate = \"1 Mbit/s\"\npacket_size = \"1000 B\"\n"),
                cuts: &[Cut::Stream],
                ..calls(1)
            },
        ],
    },
    Mix {
        name: "office",
        summary: "a small office: eight calls, twelve page readers, documents, a backup",
        source: "our choice of numbers; pages as in `rfc7928`",
        pace: Pace::Sessions,
        parts: &[
            Part { name: "backup", about: "one download without end", ..bulk(1) },
            Part { name: "backup up", about: "one upload without end", ..uploads(1) },
            calls(8),
            PING_100_MS,
            pages(Flows::Fixed(12)),
            Part {
                name: "documents",
                about: "transfers of 1 MB with pauses of 5 to 15 s",
                flows: Flows::Fixed(6),
                keys: Keys::Fixed("kind = \"bulk-with-pauses\"\n"),
                ..bulk(0)
            },
        ],
    },
    Mix {
        name: "isp-access",
        summary: "many households behind one line: videos, page readers, games, calls and a few downloads that fill the rest",
        source: "video as the largest share, as Sandvine's Global Internet Phenomena Reports have it; one video per 8 Mbit/s, one page \
                 reader per 5 Mbit/s, at most 1000 of each, are our choice; pages as in `rfc7928`",
        pace: Pace::Sessions,
        parts: &[
            bulk(8),
            uploads(4),
            calls(4),
            games(4),
            PING_100_MS,
            pages(Flows::PerLine(Rate::mbit(5))),
            videos(Flows::PerLine(Rate::mbit(8))),
        ],
    },
    Mix {
        name: "datacentre",
        summary: "queries of 2 kB, messages of 500 kB and large updates between servers",
        source: "Alizadeh et al. 2010 (DCTCP) §2: queries of about 2 kB, short messages of 50 kB to 1 MB, updates of 1 to 50 MB; loads of \
                 5 % and 20 % are our choice",
        pace: Pace::Steady,
        parts: &[
            Part { name: "updates", about: "updates without end", ..bulk(2) },
            Part {
                name: "queries",
                about: "2 kB at random times, 5 % of the line",
                flows: Flows::Fixed(1),
                keys: Keys::Offered { share: 0.05, bytes: 2_000 },
                ..bulk(0)
            },
            Part {
                name: "messages",
                about: "500 kB at random times, 20 % of the line",
                flows: Flows::Fixed(1),
                keys: Keys::Offered { share: 0.2, bytes: 500_000 },
                ..bulk(0)
            },
            PING_100_MS,
        ],
    },
];
