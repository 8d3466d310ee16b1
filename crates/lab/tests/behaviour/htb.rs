//! Classes keep their rates, lend what they leave, and find their packets in all kinds of traffic.

use super::lab::run;

fn scenario(traffic: &str) -> String {
    format!(
        r#"
        goodqueue = 1
        warmup = "2 s"
        duration = "10 s"

        [link.bottleneck]
        rate = "100 Mbit/s"
        delay = "10 ms"
        buffer = "100 packets"
        buffer_up = "100 packets"

        [link.bottleneck.queue]
        kind = "htb"
        [link.bottleneck.queue.class]
        all = {{ rate = "10 Mbit/s" }}
        low = {{ parent = "all", rate = "2 Mbit/s", ceil = "10 Mbit/s", quantum = "1514 B" }}
        middle = {{ parent = "all", rate = "3 Mbit/s", ceil = "4 Mbit/s", quantum = "1514 B", of = "codel" }}
        high = {{ parent = "all", rate = "5 Mbit/s", ceil = "10 Mbit/s", quantum = "1514 B", of = "fq-codel", default = true }}
        {traffic}
        "#
    )
}

fn group(kind: &str, more: &str) -> String {
    format!("[[traffic]]\nkind = \"{kind}\"\n{more}\n")
}

#[test]
fn busy_classes_get_their_rates_and_lend_what_they_leave() {
    let flood = |leaf: &str| group("cbr", &format!("rate = \"12 Mbit/s\"\nleaf = \"{leaf}\""));
    let cases = [
        (vec!["low", "middle", "high"], vec![2.0, 3.0, 5.0]),
        (vec!["low", "middle"], vec![6.0, 4.0]),
        (vec!["low"], vec![10.0]),
    ];
    for (leaves, wanted) in cases {
        let text = scenario(&leaves.iter().map(|leaf| flood(leaf)).collect::<String>());
        let runs = run(&text);
        for (number, mbit) in wanted.into_iter().enumerate() {
            let got = runs[0].goodput(number) / 1e6;
            assert!((got / mbit - 1.0).abs() < 0.01, "{leaves:?}: {got} of {mbit}");
        }
    }
}

/// A page opens connections as it goes; each belongs to the group's leaf.
#[test]
fn connections_of_sessions_belong_to_the_leaf_of_their_group() {
    let flood = group("cbr", "rate = \"12 Mbit/s\"\nleaf = \"low\"");
    let of_page = |leaf: &str| {
        let runs = run(&scenario(&format!("{flood}{}", group("page", leaf))));
        runs[0].goodput(0) / 1e6
    };
    // The page in a class of its own takes some of what the flood borrows; in that of the flood it
    // takes nothing from it, since nothing of it gets through.
    let apart = of_page("");
    let together = of_page("leaf = \"low\"");
    assert!(apart < 9.9 && together > apart, "{apart} {together}");
}
