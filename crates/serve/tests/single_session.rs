//! A page's questions, answered without a page.

use goodqueue_serve::session::{Api, ApiError, Environment, Request};
use goodqueue_serve::wasm::{SingleSession, api};
use serde_json::{Value, json};
use std::cell::{Cell, RefCell};
use std::rc::Rc;
use std::time::Duration;

/// A page whose clock goes on by a millisecond whenever it is read.
#[derive(Clone, Default)]
struct Page(Rc<Told>);

#[derive(Default)]
struct Told {
    reads: Cell<u64>,
    is_absent: Cell<bool>,
    events: RefCell<Vec<(String, Value)>>,
}

impl Page {
    fn events(&self, name: &str) -> Vec<Value> {
        self.0.events.borrow().iter().filter(|(known, _)| known == name).map(|(_, data)| data.clone()).collect()
    }
}

impl Environment for Page {
    fn now(&self) -> Duration {
        self.0.reads.set(self.0.reads.get() + 1);
        Duration::from_millis(self.0.reads.get())
    }

    fn readers(&self) -> usize {
        usize::from(!self.0.is_absent.get())
    }

    fn publish(&self, event: &str, data: &Value) {
        self.0.events.borrow_mut().push((event.to_owned(), data.clone()));
    }
}

type PageApi = Api<SingleSession<Page>>;

fn ask(api: &PageApi, request: Value) -> Result<Value, ApiError> {
    let answer = api.answer(serde_json::from_value(request).expect("a request"))?;
    Ok(serde_json::to_value(answer).expect("plain values"))
}

fn open(api: &PageApi, speed: Option<f64>) {
    let scenario = include_str!("../presets/uplink.toml").replace("55 s", "2 s").replace("warmup = \"5 s\"", "warmup = \"1 s\"");
    let variants = json!([{ "label": "a", "queue": { "kind": "codel" } }, { "label": "b", "queue": "tail-drop" }]);
    let session = json!({ "scenario_toml": scenario, "variants": variants, "seed": 7, "speed": speed });
    let opened = ask(api, json!({ "ask": "open", "session": session })).expect("a good session");
    assert_eq!(opened, json!({}));
}

fn run(api: &PageApi) -> usize {
    let mut frames = 0;
    while api.sessions.frame().is_some() {
        frames += 1;
        assert!(frames < 100_000, "it never ends");
    }
    frames
}

#[test]
fn a_run_waits_for_its_first_reader_but_not_for_long() {
    for comes in [true, false] {
        let page = Page::default();
        page.0.is_absent.set(true);
        let api = api(page.clone());
        open(&api, None);
        for _ in 0..100 {
            api.sessions.frame().expect("it waits");
        }
        assert_eq!(page.events("frame"), Vec::<Value>::new());
        page.0.is_absent.set(!comes);
        run(&api);
        let frames = page.events("frame");
        assert!(frames[0]["t"].as_f64().is_some_and(|t| t < 0.1), "{}", frames[0]);
        assert!(!comes || frames.len() > 200, "{}", frames.len());
    }
}

#[test]
fn session_gives_the_same_packets_at_any_speed_and_its_files() {
    let fingerprints = [None, Some(1.0)].map(|speed| {
        let page = Page::default();
        let api = api(page.clone());
        open(&api, speed);
        let early = ask(&api, json!({ "ask": "file", "name": "summary.json" })).expect_err("not yet");
        assert_eq!(early.status.as_u16(), 409);
        run(&api);
        assert!(page.events("frame").len() > 10);
        let filled = |api: &PageApi, template: &str| ask(api, json!({ "ask": "report", "template": template }));
        let report = filled(&api, "<{{goodqueue:title}}|{{goodqueue:data}}>").expect("a report");
        assert!(report.as_str().is_some_and(|text| text.starts_with('<') && text.ends_with('>') && text.len() > 10_000));
        assert_eq!(filled(&api, "no slots").expect_err("no template").status.as_u16(), 400);
        let scenario = ask(&api, json!({ "ask": "file", "name": "scenario.toml", "variant": 0 })).expect("a scenario");
        assert!(scenario.as_str().is_some_and(|text| text.contains("codel") && !text.contains("tail-drop")), "{scenario}");
        let [done] = <[Value; 1]>::try_from(page.events("done")).expect("one end");
        done["fingerprints"].clone()
    });
    assert_eq!(fingerprints[0], fingerprints[1]);
    assert_eq!(fingerprints[0].as_array().map(Vec::len), Some(2));
    assert_ne!(fingerprints[0][0], fingerprints[0][1]);
}

#[test]
fn the_verdict_is_the_stored_one() {
    let page = Page::default();
    let api = api(page.clone());
    let variants = ["tail-drop", "pie", "fq-codel"].map(|kind| json!({ "label": kind, "queue": { "kind": kind } }));
    let line = include_str!("../../lab/tests/verdict/line.toml");
    let session = json!({ "scenario_toml": line, "variants": variants, "seed": 7, "speed": null });
    ask(&api, json!({ "ask": "open", "session": session })).expect("a good session");
    run(&api);
    let stored: Value = serde_json::from_str(include_str!("../../lab/tests/verdict/headline.json")).expect("JSON");
    assert_eq!(page.events("done")[0]["summary"]["headline"].to_string(), stored.to_string());
}

#[test]
fn orders_are_obeyed_while_it_runs_and_refused_afterwards() {
    let page = Page::default();
    let api = api(page.clone());
    open(&api, Some(1.0));
    ask(&api, json!({ "ask": "control", "control": { "do": "rate", "value": "5 Mbit/s" } })).expect("a rate");
    let wrong = ask(&api, json!({ "ask": "control", "control": { "do": "rate", "value": "5 apples" } })).expect_err("refused");
    assert_eq!(wrong.to_json()["error"]["field"], "value");
    ask(&api, json!({ "ask": "control", "control": { "do": "pause" } })).expect("a pause");
    assert!(api.sessions.frame().is_some_and(|span| !span.is_zero()));
    assert!(page.events("frame").is_empty(), "nothing moves during a pause");
    ask(&api, json!({ "ask": "control", "control": { "do": "play" } })).expect("it goes on");
    run(&api);
    assert_eq!(page.events("done")[0]["changed"], true);
    let late = ask(&api, json!({ "ask": "control", "control": { "do": "pause" } })).expect_err("over");
    assert_eq!(late.status.as_u16(), 409);
}

#[test]
fn questions_without_a_session_are_answered_or_refused() {
    let api = api(Page::default());
    assert_eq!(api.sessions.frame(), None);
    assert!(ask(&api, json!({ "ask": "hello" })).expect("hello")["presets"].as_array().is_some_and(|all| all.len() > 3));
    assert!(ask(&api, json!({ "ask": "kinds" })).expect("kinds")["aqm"].as_array().is_some_and(|all| all.len() > 20));
    let trace = ask(&api, json!({ "ask": "trace", "name": "1", "text": "1\n2\n3\n" })).expect("a recording");
    assert_eq!(trace["id"], "upload:1");
    let scenario = "goodqueue = 1\nduration = \"9 s\"\n[link.a]\nrate = { trace = \"upload:1\" }\ndelay = \"5 ms\"\nbuffer = \"1 bdp\"\nqueue = \"codel\"\n[[traffic]]\nkind = \"bulk\"\n";
    ask(&api, json!({ "ask": "check", "scenario": scenario })).expect("a good scenario");
    let wrong = ask(&api, json!({ "ask": "check", "scenario": scenario.replace("codel", "codle") })).expect_err("refused");
    assert_eq!((wrong.status.as_u16(), &wrong.to_json()["error"]["line"]), (422, &json!(7)));
    let missing = ask(&api, json!({ "ask": "file", "name": "scenario.toml" })).expect_err("no session");
    assert_eq!(missing.status.as_u16(), 404);
    assert!(serde_json::from_value::<Request>(json!({ "ask": "nothing" })).is_err());
}
