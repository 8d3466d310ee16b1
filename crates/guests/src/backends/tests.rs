use super::*;
use goodqueue_lab::scenario::plan::Plan;
use std::path::Path;

fn settings(process: ProcessOwner) -> Settings {
    Settings { itself: vec![OsString::from("/usr/bin/gq")], process, voids: VoidRunPolicy::default(), say: |_| {} }
}

#[test]
fn hosts_go_by_their_names() {
    for host in BackendName::ALL {
        assert_eq!(BackendName::read(host.name()), Ok(host));
    }
    assert_eq!(
        BackendName::read("moon").unwrap_err().to_string(),
        "there is no such host: allowed sim, linux, linux-7.3, kernel, live"
    );
}

#[test]
fn checkers_are_other_hosts_with_two_links_in_a_row() {
    assert_eq!(BackendName::read_checker("linux"), Ok(BackendName::Linux));
    assert_eq!(BackendName::read_checker("sim"), Err(NoChecker::Simulator));
    assert_eq!(BackendName::read_checker("moon"), Err(NoChecker::Unknown(NoSuchBackend)));
    let why = BackendName::read_checker("live").unwrap_err().to_string();
    assert!(
        why.starts_with("the live host has one link, ") && why.ends_with(": use linux, guest kernels in virtual time"),
        "{why}"
    );
}

#[test]
fn the_simulator_is_everywhere() {
    let host = BackendName::Sim.open(&settings(ProcessOwner::Foreign)).expect("it needs nothing");
    let scenario = "goodqueue = 1\nduration = \"1 s\"\n[link.l]\nrate = \"1 Mbit/s\"\ndelay = \"5 ms\"\nbuffer = \"9 kB\"\nloss = 0.1\n\
                    [[traffic]]\nkind = \"page\"\n";
    let points = Plan::parse("test", scenario, Path::new("")).expect("a scenario").points().expect("one point");
    assert_eq!((host.name(), host.check(&points[0]), host.prepare()), ("sim", Ok(()), Ok(())));
    assert!(host.is_reproducible() && host.jobs(7) == 7 && host.notes().is_empty());
}

#[cfg(not(target_os = "linux"))]
#[test]
fn elsewhere_than_on_linux_the_simulator_is_alone() {
    for host in [BackendName::Linux, BackendName::Linux73, BackendName::Kernel, BackendName::Live] {
        assert!(
            host.open(&settings(ProcessOwner::Own)).is_err_and(|error| error.host == host && error.why.contains("needs Linux"))
        );
    }
}

#[cfg(target_os = "linux")]
#[test]
fn runs_in_real_time_go_one_by_one_and_record_no_packets() {
    use goodqueue_base::units::Duration;
    use goodqueue_lab::run::backend::{Packets, Samples};

    let host = BackendName::Live.open(&settings(ProcessOwner::Foreign)).expect("it is there on Linux");
    assert!(host.jobs(8) == 1 && !host.is_reproducible());
    let refused = |samples, packets| host.check_recording(samples, packets).map_err(|refusal| refusal.key);
    assert_eq!(refused(Samples::Usual, Packets::On), Err("packets".to_owned()));
    assert_eq!(refused(Samples::Every(Duration::us(999)), Packets::Off), Err("sample".to_owned()));
    assert_eq!(refused(Samples::Every(Duration::ms(1)), Packets::Off), Ok(()));
}
