//! Commands in back quotes: settings that a stack may take on, and what has no effect here.
//!
//! No command is run. Assignments of `sysctl`, of files below `/proc/sys` and of module parameters,
//! queue disciplines, offloads and routes become [`Setting`]s; a set-up script named `defaults.sh`
//! stands for the defaults of a stack. Everything else is unknown, and a script that needs it does
//! not apply.

/// A setting of the host.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Setting {
    /// The name of the setting: that of the sysctl with dots (`net.ipv4.tcp_sack`),
    /// `module.tcp_cubic.hystart_detect`, `qdisc`, `offload`, or `route.mtu` and the like.
    pub name: String,
    /// The value of the setting as written.
    pub value: String,
}

/// The meaning of a line of commands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Command {
    /// These settings, in order.
    Set(Vec<Setting>),
    /// Something that this reader does not know: its text.
    Unknown(String),
}

/// Programs that do not change how TCP behaves, or undo what a script has set up.
const WITHOUT_EFFECT: [&str; 6] = ["defaults.sh", "true", "sync", "sysctl_restore_", "tcp_metrics flush", "nstat >"];
/// Characters of a command that a message quotes.
const QUOTED: usize = 60;

/// Reads commands.
pub(crate) fn read(text: &str) -> Vec<Command> {
    let joined = text.replace("\\\n", " ");
    joined.split(['\n', ';']).flat_map(|line| line.split("&&")).filter_map(command).collect()
}

fn command(line: &str) -> Option<Command> {
    let line = line.split(" #").next().unwrap_or(line).trim();
    if line.is_empty() || line.starts_with('#') {
        return None;
    }
    let words: Vec<&str> = words(line);
    let program = words[0].rsplit('/').next().unwrap_or(words[0]);
    let known = match program {
        "sysctl" => assignments(words.get(1..).unwrap_or(&[])),
        "set_sysctls.py" => assignments(words.get(1..).unwrap_or(&[])),
        "echo" => written(&words),
        "tc" => queue_discipline(&words),
        "ethtool" => offload(&words),
        "ip" if words.contains(&"route") => route(&words),
        _ => None,
    };
    let without_effect = WITHOUT_EFFECT.iter().any(|part| line.contains(part)) && !line.contains('|');
    Some(match known {
        Some(settings) => Command::Set(settings),
        None if without_effect => Command::Set(Vec::new()),
        None => Command::Unknown(line.chars().take(QUOTED).collect()),
    })
}

/// Words between blanks; quotes keep words together and are taken off.
fn words(line: &str) -> Vec<&str> {
    let mut words = Vec::new();
    let mut rest = line.trim_start();
    while !rest.is_empty() {
        let mut quote = None;
        let end = rest.char_indices().find(|&(_, c)| {
            match quote {
                Some(open) if c == open => quote = None,
                Some(_) => {}
                None if c == '"' || c == '\'' => quote = Some(c),
                None => return c.is_whitespace(),
            }
            false
        });
        let end = end.map_or(rest.len(), |(at, _)| at);
        words.push(&rest[..end]);
        rest = rest[end..].trim_start();
    }
    words
}

/// `NAME=VALUE` of each word; flags and redirections are skipped.
fn assignments(words: &[&str]) -> Option<Vec<Setting>> {
    let mut settings = Vec::new();
    for word in words {
        if word.starts_with('-') || word.contains('>') {
            continue;
        }
        let (name, value) = word.split_once('=')?;
        let name = name.trim_start_matches("/proc/sys/").replace('/', ".");
        settings.push(Setting { name, value: value.trim_matches(['"', '\'']).to_owned() });
    }
    Some(settings)
}

/// `echo VALUE > FILE`
fn written(words: &[&str]) -> Option<Vec<Setting>> {
    let [_, value, ">", file] = *words else { return None };
    let name = match file.strip_prefix("/sys/module/") {
        Some(parameter) => format!("module.{}", parameter.replace("/parameters/", ".")),
        None => file.strip_prefix("/proc/sys/")?.replace('/', "."),
    };
    Some(vec![Setting { name, value: value.to_owned() }])
}

/// `tc qdisc replace dev tun0 root KIND …`; other lines of `tc` say nothing about TCP's own
/// behavior.
fn queue_discipline(words: &[&str]) -> Option<Vec<Setting>> {
    if !words.contains(&"qdisc") {
        return None;
    }
    if words.contains(&"delete") || words.contains(&"del") {
        return Some(Vec::new());
    }
    let root = words.iter().position(|word| *word == "root")?;
    Some(vec![Setting { name: "qdisc".to_owned(), value: words.get(root + 1..)?.join(" ") }])
}

/// `ethtool -K DEVICE tso off gso off`
fn offload(words: &[&str]) -> Option<Vec<Setting>> {
    let features = words.iter().position(|word| *word == "-K").and_then(|at| words.get(at + 2..))?;
    let pairs = features.chunks_exact(2).filter(|pair| matches!(pair[0], "tso" | "gso"));
    Some(pairs.map(|pair| Setting { name: "offload".to_owned(), value: pair[1].to_owned() }).collect())
}

/// `ip route change … advmss N mtu lock N initcwnd N`
fn route(words: &[&str]) -> Option<Vec<Setting>> {
    let mut settings = Vec::new();
    for key in ["advmss", "mtu", "initcwnd", "rto_min", "congctl", "features", "quickack"] {
        if let Some(at) = words.iter().position(|word| *word == key) {
            let value = words.get(at + 1..)?.iter().find(|word| **word != "lock")?;
            settings.push(Setting { name: format!("route.{key}"), value: (*value).to_owned() });
        }
    }
    Some(settings)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn set(pairs: &[(&str, &str)]) -> Command {
        Command::Set(pairs.iter().map(|(name, value)| Setting { name: (*name).to_owned(), value: (*value).to_owned() }).collect())
    }

    #[test]
    fn settings_are_recognized_wherever_they_are_written() {
        let text = "../common/defaults.sh\nsysctl -q net.ipv4.tcp_ecn=1  # on\n\
                    ../set_sysctls.py /proc/sys/net/ipv4/tcp_wmem=\"1 2 3\" \\\n /proc/sys/net/ipv4/tcp_sack=0\n\
                    echo 3 > /sys/module/tcp_cubic/parameters/hystart_detect\ntc qdisc replace dev tun0 root fq\n\
                    ethtool -K tun0 tso off gso off\nip route change 1.2.3.0/24 dev tun0 mtu lock 800";
        let expected = [
            set(&[]),
            set(&[("net.ipv4.tcp_ecn", "1")]),
            set(&[("net.ipv4.tcp_wmem", "1 2 3"), ("net.ipv4.tcp_sack", "0")]),
            set(&[("module.tcp_cubic.hystart_detect", "3")]),
            set(&[("qdisc", "fq")]),
            set(&[("offload", "off"), ("offload", "off")]),
            set(&[("route.mtu", "800")]),
        ];
        assert_eq!(read(text), expected);
    }

    #[test]
    fn what_is_not_known_is_quoted() {
        assert_eq!(
            read("nstat | grep X\nsysctl -q foo"),
            [Command::Unknown("nstat | grep X".to_owned()), Command::Unknown("sysctl -q foo".to_owned())]
        );
    }
}
