use super::*;
use proptest::prelude::*;

fn parse(text: &str) -> Result<FlowList, FileError> {
    read("flows.csv", text.as_bytes())
}

fn error(text: &str) -> String {
    parse(text).expect_err("wrong").to_string()
}

fn transfers(list: &FlowList) -> usize {
    list.parts.iter().map(|part| part.transfers.len()).sum()
}

fn transfer(ms: u64, bytes: u64) -> Transfer {
    Transfer { at: Duration::ms(ms), size: Bytes::new(bytes) }
}

fn nodes(part: &FlowListPart) -> Vec<&str> {
    part.path.iter().flat_map(|path| path.nodes.iter().map(String::as_str)).collect()
}

#[test]
fn flows_are_sorted_by_control_and_path_and_each_part_by_time() {
    let list = parse(
        "start,size,control,path\n2 s,1 kB,reno,a > b\n1 s,2 kB,reno,a>b\n0 s,3 kB,cubic,a > b\n0 s,4 kB,,\n5 ms,5 kB,,a > b > c\n",
    )
    .expect("good");
    let shown: Vec<(Option<&str>, Vec<&str>, usize)> =
        list.parts.iter().map(|part| (part.control, nodes(part), part.transfers.len())).collect();
    assert_eq!(
        shown,
        [
            (Some("reno"), vec!["a", "b"], 2),
            (Some("cubic"), vec!["a", "b"], 1),
            (None, vec![], 1),
            (None, vec!["a", "b", "c"], 1)
        ]
    );
    assert_eq!(*list.parts[0].transfers, [transfer(1_000, 2_000), transfer(2_000, 1_000)]);
    assert_eq!(list.parts[3].path.as_ref().map(|path| path.place.as_str()), Some("flows.csv:6:12"));
    assert_eq!(transfers(&list), 5);
}

#[test]
fn columns_have_any_order_and_the_last_two_are_optional() {
    let plain = parse("start,size\n1 ms,2 kB\n").expect("good");
    assert_eq!(*plain.parts[0].transfers, [transfer(1, 2_000)]);
    assert_eq!(parse(" Size , cc , START \n2 kB, , 1 ms").as_ref(), Ok(&plain));
}

#[test]
fn comments_blank_lines_quotes_and_byte_order_marks_are_read() {
    let plain = parse("start,size,path\n1 ms,2 kB,a > b\n").expect("good");
    let dressed =
        parse("\u{feff}# made by hand\r\n\r\nstart,size,path\r\n  # more\r\n\"1 ms\" , 2 kB, \"a > b\"\r\n\r\n").expect("good");
    assert_eq!(
        (dressed.parts[0].transfers.clone(), nodes(&dressed.parts[0])),
        (plain.parts[0].transfers.clone(), vec!["a", "b"])
    );
    assert_eq!(nodes(&parse("start,size,path\n1 ms,2 kB,\"a, b > c\"\n").expect("good").parts[0]), ["a, b", "c"]);
}

#[test]
fn errors_name_line_column_value_and_range() {
    assert_eq!(error("start,size\n1 s, 0 B\n"), "flows.csv:2:6: size: `0 B` is out of range: allowed 1 B to 1000000000000000 B");
    assert_eq!(parse("start,size\n1 s, 0 B\n").expect_err("wrong").place(), Place::Cell(2, 6));
    assert_eq!(error("# ä\nstart,grüße\n").split(": ").next(), Some("flows.csv:2:7"), "columns count characters");
    assert_eq!(parse("").expect_err("empty").place(), Place::Whole);
}

#[test]
fn parts_and_lines_have_bounds() {
    let mut text = "start,size,path\n".to_owned();
    (0..=MAX_PARTS).for_each(|number| text.push_str(&format!("1 s,1 kB,a > b{number}\n")));
    assert_eq!(error(&text), "flows.csv:1002:1: has more than 1000 different pairs of control and path");
    let long = format!("start,size\n1 s,1 kB{}\n", " ".repeat(MAX_LINE));
    assert_eq!(error(&long), "flows.csv:2:1: the line has more than 1000 bytes");
    let full = format!("start,size\r\n1 s,1 kB{}\r\n", " ".repeat(MAX_LINE - 8));
    assert!(parse(&full).is_ok(), "a line of exactly the most bytes");
}

#[test]
fn equal_lists_have_equal_hashes_and_different_ones_do_not() {
    let hash = |text: &str| {
        let mut all = Vec::new();
        parse(text).expect("good").hash_into(&mut |bytes| all.extend_from_slice(bytes));
        all
    };
    let plain = hash("start,size,control,path\n1 s,1 kB,,a > b\n");
    assert_eq!(plain, hash("size,start,path\n1000 B,1000 ms,a>b # no\n".replace(" # no", "").as_str()));
    for other in ["1 s,1 kB,reno,a > b", "1 s,1 kB,,a > c", "1 s,1 kB,,", "2 s,1 kB,,a > b", "1 s,2 kB,,a > b"] {
        assert_ne!(plain, hash(&format!("start,size,control,path\n{other}\n")), "{other}");
    }
}

proptest! {
    #[test]
    fn no_bytes_panic(bytes in proptest::collection::vec(prop_oneof![Just(b'\n'), Just(b','), Just(b'"'), any::<u8>()], 0..200)) {
        let _ = read("flows.csv", bytes.as_slice());
        let _ = read("flows.csv", [b"start,size,control,path\n".as_slice(), &bytes].concat().as_slice());
    }

    #[test]
    fn every_line_is_one_flow(rows in proptest::collection::vec((0u64..1_000, 1u64..1_000_000, 0usize..3), 1..100)) {
        let controls = ["", "reno", "cubic"];
        let lines: String = rows.iter().map(|(ms, bytes, control)| format!("{ms} ms,{bytes} B,{}\n", controls[*control])).collect();
        let list = parse(&format!("start,size,control\n{lines}")).expect("good");
        prop_assert_eq!(transfers(&list), rows.len());
        let mut listed: Vec<Transfer> = list.parts.iter().flat_map(|part| part.transfers.iter().copied()).collect();
        let mut written: Vec<Transfer> = rows.iter().map(|(ms, bytes, _)| transfer(*ms, *bytes)).collect();
        listed.sort_by_key(|transfer| (transfer.at, transfer.size));
        written.sort_by_key(|transfer| (transfer.at, transfer.size));
        prop_assert_eq!(listed, written);
        prop_assert!(list.parts.iter().all(|part| part.transfers.windows(2).all(|pair| pair[0].at <= pair[1].at)));
    }
}
