//! Names of kinds as users write them, and the nearest of the known ones ("did you mean").

use alloc::vec;
use alloc::vec::Vec;

/// Whether two names differ at most in upper and lower case, hyphens and underscores: `fq_codel`,
/// `FQ-CoDel` and `fqcodel`.
#[must_use]
pub fn is_same_name(one: &str, other: &str) -> bool {
    let letters = |name: &'_ str| {
        name.bytes().filter(|byte| !matches!(byte, b'-' | b'_')).map(|byte| byte.to_ascii_lowercase()).collect::<Vec<u8>>()
    };
    one == other || (one.len().abs_diff(other.len()) <= 8 && letters(one) == letters(other))
}

/// The known name nearest to `word`, if one is near enough to be what was meant.
#[must_use]
pub fn nearest<'a>(word: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    // Words of a hundred letters are not misspelled names, and their distance would cost time.
    if word.chars().count() > 40 {
        return None;
    }
    let word = lowercase(word);
    let enough = (word.len() / 3).max(1);
    known
        .into_iter()
        .map(|name| (distance(&word, &lowercase(name)), name))
        .filter(|&(distance, _)| distance <= enough)
        .min_by_key(|&(distance, _)| distance)
        .map(|(_, name)| name)
}

/// The letters of a word without capitals. Names are ASCII, and the tables of Unicode would be a
/// fiftieth of the WebAssembly module.
fn lowercase(word: &str) -> Vec<char> {
    word.chars().map(|letter| letter.to_ascii_lowercase()).collect()
}

/// Optimal string alignment distance: insertions, deletions, replacements and swaps of neighbors.
fn distance(a: &[char], b: &[char]) -> usize {
    let mut before_last: Vec<usize> = Vec::new();
    let mut last: Vec<usize> = (0..=b.len()).collect();
    for (i, &ca) in a.iter().enumerate() {
        let mut row = vec![i + 1];
        for (j, &cb) in b.iter().enumerate() {
            let mut cost: usize = (last[j] + usize::from(ca != cb)).min(last[j + 1] + 1).min(row[j] + 1);
            if i > 0 && j > 0 && ca == b[j - 1] && a[i - 1] == cb {
                cost = cost.min(before_last[j - 1] + 1);
            }
            row.push(cost);
        }
        before_last = core::mem::replace(&mut last, row);
    }
    last[b.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn small_slips_find_their_name() {
        let known = ["rate", "delay", "buffer", "queue", "rate_up"];
        assert_eq!(nearest("rat", known), Some("rate"));
        assert_eq!(nearest("dealy", known), Some("delay"));
        assert_eq!(nearest("Buffer", known), Some("buffer"));
        assert_eq!(nearest("bufffer", known), Some("buffer"));
    }

    #[test]
    fn spellings_of_one_name_are_the_same() {
        for name in ["fq-codel", "fq_codel", "FQ-CoDel", "fqcodel", "FqCoDel"] {
            assert!(is_same_name(name, "fq-codel"), "{name}");
        }
        assert!(!is_same_name("fq-codel", "sfq-codel") && !is_same_name("", "codel"));
    }

    #[test]
    fn other_words_find_nothing() {
        assert_eq!(nearest("colour", ["rate", "delay"]), None);
        assert_eq!(nearest(&"x".repeat(10_000), ["rate"]), None);
    }
}
