use super::*;

const START: Place = Place { line: 1, column: 1 };

fn run(text: &str) -> Result<Vec<String>, Stop> {
    let program = Program::parse(text, START).expect("it can be read");
    let mut variables = BTreeMap::new();
    let mut lookup = |name: &str| match name {
        "tcpi_snd_cwnd" => Ok(10.0),
        "tcpi_options" => Ok(6.0),
        _ => Err(NoValue::Name(name.to_owned())),
    };
    program.run(&mut Values { variables: &mut variables, lookup: &mut lookup })
}

#[test]
fn python_of_scripts_is_evaluated() {
    for text in [
        "assert tcpi_snd_cwnd == 10, tcpi_snd_cwnd",
        "assert tcpi_snd_cwnd == 10, 'cwnd=%d' % tcpi_snd_cwnd; assert 9 <= tcpi_snd_cwnd <= 11",
        "\nassert tcpi_snd_cwnd == 10  # a remark\nassert (tcpi_options & 2) != 0 and not tcpi_options == 7\n",
        "cwnd = 9; cwnd += 1; assert tcpi_snd_cwnd == cwnd, tcpi_snd_cwnd",
        "assert abs(tcpi_snd_cwnd - 12) <= 2 or False; assert max(1, 2, 3) == 7 // 2 and -7 % 3 == 2; assert 1 << 3 == 0x8",
        "assert (1 +\n 1) == 2; \\\nassert 1.5 * 2 == 3; print('x %d' % 3)",
    ] {
        assert!(run(text).is_ok(), "{text}: {:?}", run(text));
    }
    assert_eq!(run("print(tcpi_snd_cwnd); print tcpi_options"), Ok(vec!["10".to_owned(), "6".to_owned()]));
}

#[test]
fn an_assertion_that_fails_names_its_text_and_the_values() {
    let stop = run("\n assert tcpi_snd_cwnd  == 9 , tcpi_snd_cwnd").unwrap_err();
    let place = Place { line: 2, column: 2 };
    assert_eq!(stop, Stop::Assertion(place, "tcpi_snd_cwnd == 9".to_owned(), "tcpi_snd_cwnd = 10".to_owned()));
}

#[test]
fn what_is_not_known_is_said() {
    for (text, reason) in [
        ("assert tcpi_fancy == 1", "the name `tcpi_fancy`"),
        ("import os\nif 1: x", "`import` of Python"),
        ("x = 1 / 0", "a division by zero"),
        ("x = 1 << 63", "a shift by more than 62 bits"),
    ] {
        assert!(matches!(run(text), Err(Stop::NoValue(_, found)) if found.to_string() == reason), "{text}");
    }
    assert!(run("x = 1 << 62").is_ok());
}

#[test]
fn faults_name_line_and_column() {
    for (text, message) in [
        ("assert", "1:9: expected a number or a name, found the end of the statement"),
        ("assert 1 == == 2", "1:15: expected a number or a name, found `==`"),
        ("\nx 3", "2:3: expected `=`, found `3`"),
        ("assert foo(1)", "1:14: unknown function: allowed abs, min, max"),
        ("x = 'a", "1:7: the string has no closing quote"),
    ] {
        assert_eq!(Program::parse(text, START).unwrap_err().to_string(), message, "{text}");
    }
    let deep = format!("x = {}1{}", "(".repeat(100), ")".repeat(100));
    assert!(Program::parse(&deep, START).unwrap_err().to_string().contains("more than 32 deep"));
    let nots = format!("x = {} 1", "not ".repeat(10_000));
    assert!(Program::parse(&nots, START).unwrap_err().to_string().contains("more than 32 deep"));
}
