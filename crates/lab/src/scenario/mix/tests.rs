use super::*;
use goodqueue_base::units::Rate;

fn line(down: Rate, up: Option<Rate>, controls: &[(String, String)]) -> Line<'_> {
    Line { down: Some(down), up, flows: None, flows_up: None, controls, tcp: "", start: "\"0 s\"", path: &[] }
}

fn on(name: &str, down: Rate, up: Option<Rate>) -> Traffic {
    let controls = [("cubic".to_owned(), "\"cubic\"".to_owned())];
    Mix::named(name).expect("a mix").on(&line(down, up, &controls))
}

/// Demand in Mbit/s, down and up, to two digits.
fn demand(name: &str, down: u64, up: u64) -> String {
    let (down, up) = Mix::named(name).expect("a mix").demand(&line(Rate::mbit(down), Some(Rate::mbit(up)), &[]));
    format!("{:.2} {:.2}", down.as_bit_s() as f64 / 1e6, up.as_bit_s() as f64 / 1e6)
}

#[test]
fn demands_are_those_of_the_lines_counted_by_hand() {
    let found = [("evening", 16, 1), ("evening", 50, 10), ("evening", 500, 50), ("evening", 30, 10), ("evening", 25, 3)]
        .map(|(name, down, up)| demand(name, down, up));
    // Calls, pings, devices, n readers and m videos: down 0.089 + 0.64 n + 1.5 m, up 0.089 + 0.02 n
    // + 0.03 m.
    assert_eq!(found, ["2.23 0.14", "4.37 0.19", "7.15 0.26", "2.23 0.14", "2.23 0.14"]);
    assert_eq!(demand("work", 16, 1), "2.78 0.56");
    assert_eq!(on("work", Rate::mbit(16), Some(Rate::mbit(1))).left_out, []);
}

#[test]
fn warm_ups_last_until_a_video_has_given_way() {
    let warmups = ["evening", "download", "backup", "gaming", "rfc7928", "office", "bulk"]
        .map(|name| Mix::named(name).expect("a mix").quick_lengths().warmup);
    assert_eq!(warmups, [30, 120, 30, 30, 120, 30, 5].map(Duration::secs));
}

#[test]
fn parts_are_left_out_in_order_on_slower_lines() {
    let texts = |name: &str, down, up| -> Vec<String> {
        on(name, Rate::kbit(down), Some(Rate::kbit(up))).left_out.iter().map(ToString::to_string).collect()
    };
    assert_eq!(texts("evening", 25_000, 3_000), Vec::<String>::new());
    let why = "the mix would ask for 1.4 Mbit/s down, more than 60 % of 2 Mbit/s";
    assert_eq!(texts("evening", 2_000, 1_000), [format!("`videos` is left out: {why}")]);
    let why = "the mix would ask for 1.6 Mbit/s down, more than 60 % of 2.5 Mbit/s";
    assert_eq!(texts("work", 2_500, 2_500), [format!("`group video` shows one other person instead of a group: {why}")]);
    // Less for a group helps the downlink alone.
    let why = "the mix would ask for 260 kbit/s up, more than 60 % of 400 kbit/s";
    assert_eq!(texts("work", 6_000, 400), ["call video", "group video"].map(|name| format!("`{name}` is left out: {why}")));
    let why = "the mix would ask for 260 kbit/s up, more than 60 % of 400 kbit/s";
    assert_eq!(texts("evening", 500_000, 400), [format!("`pages` has one reader instead of 4: {why}")]);
    let why = "the mix would ask for 420 kbit/s down, more than 60 % of 256 kbit/s";
    assert_eq!(texts("office", 256, 256), [format!("`calls` is one call instead of 8: {why}")]);
}

#[test]
fn every_mix_keeps_its_call_and_ping_on_any_line() {
    for mix in MIXES.iter().filter(|mix| !matches!(mix.name, "bulk" | "datacentre")) {
        let mut down = 16_000;
        while down <= 10_000_000_000 {
            for up in [None, Some(down), Some((down / 16).max(16_000)), Some(16_000)] {
                let traffic = on(mix.name, Rate::bit_s(down), up.map(Rate::bit_s));
                assert!(traffic.toml.contains("kind = \"voip\""), "{} at {down} and {up:?}", mix.name);
                assert!(traffic.toml.contains("kind = \"echo\""), "{} at {down} and {up:?}", mix.name);
            }
            down = down * 3 / 2;
        }
    }
}

#[test]
fn mixes_fit_or_have_nothing_left_to_cut() {
    for (down, up) in [(16_000, 16_000), (500_000, 64_000), (4_000_000, 500_000), (1_000_000_000, 1_000_000_000)] {
        for name in ["evening", "work", "gaming", "alone", DOWNLOAD, BACKUP] {
            let mix = Mix::named(name).expect("a mix");
            let line = line(Rate::bit_s(down), Some(Rate::bit_s(up)), &[]);
            let (asks_down, asks_up) = mix.demand(&line);
            let fits = |asks: Rate, line: u64| asks.as_bit_s() as f64 <= 0.6 * line as f64;
            let kinds = ["game", "background", "videos", "video\"", "call video", "group video"];
            let toml = mix.on(&line).toml;
            let is_bare = kinds.iter().all(|kind| !toml.contains(&format!("name = \"{kind}")));
            assert!(fits(asks_down, down) && fits(asks_up, up) || is_bare, "{name} at {down}/{up}: {toml}");
        }
    }
}

#[test]
fn slow_lines_have_a_mix_of_their_own() {
    let usual = |down, up: Option<u64>| Mix::usual(Some(Rate::kbit(down)), up.map(Rate::kbit)).map_or("", |mix| mix.name);
    assert_eq!(usual(4_000, None), DOWNLOAD);
    assert_eq!(usual(3_999, None), SLOW);
    assert_eq!(usual(16_000, Some(1_000)), BACKUP);
    assert_eq!(usual(16_000, Some(499)), SLOW);
    assert_eq!(Mix::suited("evening", Some(Rate::kbit(1_000)), None).map(|mix| mix.name), Some(SLOW));
    assert!(carries_no_call(Rate::mbit(10), Some(Rate::kbit(155))) && !carries_no_call(Rate::kbit(156), None));
}

#[test]
fn former_names_lead_to_todays_mixes() {
    assert_eq!(Mix::named("home").map(|mix| mix.name), Some("rfc7928"));
    assert_eq!(Mix::named("gaming-household").map(|mix| mix.name), Some("gaming"));
    assert_eq!(note_on_name("home").as_deref(), Some("the mix `home` is called `rfc7928` now"));
    assert_eq!(note_on_name("evening"), None);
    let asks = on("home", Rate::mbit(16), Some(Rate::mbit(1))).pages_ask.expect("a stress test");
    assert!((asks - 1.08).abs() < 0.01, "{asks}");
}

#[test]
fn both_directions_are_loaded_where_there_are_two() {
    let one = on("call-and-ping", Rate::mbit(50), None).toml;
    let two = on("call-and-ping", Rate::mbit(50), Some(Rate::mbit(10))).toml;
    assert!(!one.contains("direction"), "{one}");
    assert!(two.contains("direction = \"up\"") && two.contains("direction = \"both\""), "{two}");
}

#[test]
fn numbers_follow_the_line() {
    let toml = on("isp-access", Rate::mbit(800), None).toml;
    assert!(toml.contains("flows = 100\n") && toml.contains("flows = 160\n"), "{toml}");
    let toml = on("isp-access", Rate::gbit(400), None).toml;
    assert!(toml.contains("flows = 1000\n"), "{toml}");
    // 2 kB for 5 % of 10 Gbit/s: one in 32 us.
    let toml = on("datacentre", Rate::gbit(10), None).toml;
    assert!(toml.contains("interval = \"32 us\""), "{toml}");
    let toml = on("evening", Rate::mbit(500), Some(Rate::mbit(50))).toml;
    assert!(toml.contains("size = \"1000000 kB\"\n") && toml.contains("connections = 4\n"), "{toml}");
    assert!(toml.contains("flows = 3\n") && toml.contains("flows = 4\n") && toml.contains("\"12 Mbit/s\"]"), "{toml}");
}
