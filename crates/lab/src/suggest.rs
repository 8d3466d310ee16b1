//! "Did you mean": the nearest of the known names.

/// The known name nearest to `word`, if one is near enough to be what was meant.
pub(crate) fn nearest<'a>(word: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    // Words of a hundred letters are not misspelled names, and their distance would cost time.
    if word.chars().count() > 40 {
        return None;
    }
    let word: Vec<char> = word.to_lowercase().chars().collect();
    let enough = (word.len() / 3).max(1);
    known
        .into_iter()
        .map(|name| (distance(&word, &name.chars().collect::<Vec<_>>()), name))
        .filter(|&(distance, _)| distance <= enough)
        .min_by_key(|&(distance, _)| distance)
        .map(|(_, name)| name)
}

/// Optimal string alignment distance: insertions, deletions, replacements and swaps of neighbours.
fn distance(a: &[char], b: &[char]) -> usize {
    let mut before_last: Vec<usize> = Vec::new();
    let mut last: Vec<usize> = (0..=b.len()).collect();
    for (i, &ca) in a.iter().enumerate() {
        let mut row = vec![i + 1];
        for (j, &cb) in b.iter().enumerate() {
            let mut cost = (last[j] + usize::from(ca != cb)).min(last[j + 1] + 1).min(row[j] + 1);
            if i > 0 && j > 0 && ca == b[j - 1] && a[i - 1] == cb {
                cost = cost.min(before_last[j - 1] + 1);
            }
            row.push(cost);
        }
        before_last = std::mem::replace(&mut last, row);
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
    fn other_words_find_nothing() {
        assert_eq!(nearest("colour", ["rate", "delay"]), None);
        assert_eq!(nearest(&"x".repeat(10_000), ["rate"]), None);
    }
}
