//! Rows of fields: CSV with commas or semicolons.

/// No table that is read has more columns.
pub(crate) const MAX_COLUMNS: usize = 256;

/// Fields of a row (RFC 4180); those beyond [`MAX_COLUMNS`] are left out.
pub(crate) fn fields(row: &str, separator: char) -> Vec<String> {
    let mut fields = vec![String::new()];
    let mut is_quoted = false;
    let mut rest = row.trim_end_matches('\r').chars().peekable();
    while let Some(c) = rest.next() {
        let is_full = fields.len() == MAX_COLUMNS;
        let last = fields.last_mut();
        match (c, is_quoted, last) {
            ('"', true, Some(last)) if rest.next_if_eq(&'"').is_some() => last.push('"'),
            ('"', ..) => is_quoted = !is_quoted,
            (c, false, _) if c == separator && is_full => break,
            (c, false, _) if c == separator => fields.push(String::new()),
            (c, _, Some(last)) => last.push(c),
            (_, _, None) => {}
        }
    }
    fields
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quotes_hold_separators_and_quotes() {
        assert_eq!(fields("a;\"b;\"\"c\"\"\";d\r", ';'), ["a", "b;\"c\"", "d"]);
    }

    #[test]
    fn rows_of_commas_take_little_memory() {
        assert_eq!(fields(&",".repeat(1_000_000), ',').len(), MAX_COLUMNS);
    }
}
