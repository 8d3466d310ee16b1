//! JSON written again with line breaks, as `serde_json` writes it: text in, text out, so that no
//! key changes its place and no number its digits.

/// `compact` JSON, which has no blanks outside of texts, with two blanks more a level; `level` is
/// that of the value itself.
pub fn pretty(compact: &str, mut level: usize) -> String {
    let mut out = String::with_capacity(compact.len() * 2);
    let mut in_text = false;
    let mut escaped = false;
    let mut rest = compact.chars().peekable();
    while let Some(letter) = rest.next() {
        if in_text {
            out.push(letter);
            in_text = escaped || letter != '"';
            escaped = !escaped && letter == '\\';
            continue;
        }
        match letter {
            '{' | '[' if matches!(rest.peek(), Some('}' | ']')) => out.push(letter),
            '{' | '[' => {
                out.push(letter);
                level += 1;
                new_line(&mut out, level);
            }
            '}' | ']' if out.ends_with(['{', '[']) => out.push(letter),
            '}' | ']' => {
                level -= 1;
                new_line(&mut out, level);
                out.push(letter);
            }
            ',' => {
                out.push(letter);
                new_line(&mut out, level);
            }
            ':' => out.push_str(": "),
            _ => {
                out.push(letter);
                in_text = letter == '"';
            }
        }
    }
    out
}

fn new_line(out: &mut String, level: usize) {
    out.push('\n');
    out.extend(std::iter::repeat_n("  ", level));
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::{Value, json};

    #[test]
    fn is_what_serde_json_writes() {
        for value in [
            json!(null),
            json!({}),
            json!([[], {}, [1, [2.5e-7]], "a \"b\" {c}, [d]: \\", {"x": {"y": []}, "z": [{}]}]),
            json!({"ä\n": ["\\", "\\\"", ""], "t": true}),
        ] {
            let pretty_text = serde_json::to_string_pretty(&value).unwrap();
            assert_eq!(pretty(&value.to_string(), 0), pretty_text);
            let again: Value = serde_json::from_str(&pretty(&value.to_string(), 3)).unwrap();
            assert_eq!(again, value);
        }
    }
}
