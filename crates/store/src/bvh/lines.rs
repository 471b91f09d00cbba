//! The text of a BVH file, word by word, with the line each word stands on.

use super::BvhError;

/// A cursor over the words of a text; it knows its line and can take the rest
/// of a line at once.
pub(super) struct Lines<'a> {
    rest: &'a str,
    /// Where `rest` begins.
    here: usize,
    /// Where the last word was.
    line: usize,
}

/// The largest number that is taken for one.
const LARGEST: f64 = 1e9;

impl<'a> Lines<'a> {
    pub(super) fn new(text: &'a str) -> Self {
        Self {
            rest: text.strip_prefix('\u{feff}').unwrap_or(text),
            here: 1,
            line: 1,
        }
    }

    /// The line of the word read last, from 1.
    pub(super) fn line(&self) -> usize {
        self.line
    }

    /// The next word, over line ends; a brace is a word of its own.
    pub(super) fn word(&mut self) -> Option<&'a str> {
        self.skip_blank();
        let word = self.peek()?;
        self.line = self.here;
        self.rest = &self.rest[word.len()..];
        Some(word)
    }

    /// The next word of this line, if there is one.
    pub(super) fn word_here(&mut self) -> Option<&'a str> {
        self.rest = self.rest.trim_start_matches(is_gap);
        if self.rest.starts_with(is_line_end) {
            return None;
        }
        self.word()
    }

    /// The rest of this line up to a brace, without white space at its ends.
    pub(super) fn name(&mut self) -> &'a str {
        let end = self
            .rest
            .find(|c| is_line_end(c) || is_brace(c))
            .unwrap_or(self.rest.len());
        let (name, rest) = self.rest.split_at(end);
        self.rest = rest;
        name.trim()
    }

    /// The next line that is not blank, or `None` at the end of the text.
    pub(super) fn whole_line(&mut self) -> Option<&'a str> {
        self.skip_blank();
        if self.rest.is_empty() {
            return None;
        }
        self.line = self.here;
        let end = self.rest.find(is_line_end).unwrap_or(self.rest.len());
        let (line, rest) = self.rest.split_at(end);
        self.rest = rest;
        Some(line)
    }

    /// The next word, which must be `keyword` in any case.
    pub(super) fn expect(&mut self, keyword: &'static str) -> Result<(), BvhError> {
        match self.word() {
            Some(word) if word.eq_ignore_ascii_case(keyword) => Ok(()),
            Some(word) => Err(self.unexpected(keyword, word)),
            None => Err(self.ends(keyword)),
        }
    }

    /// The next word as a number.
    pub(super) fn number(&mut self, expected: &'static str) -> Result<f64, BvhError> {
        let word = self.word().ok_or_else(|| self.ends(expected))?;
        parse_number(word, self.line)
    }

    /// The next word of this line as a number.
    pub(super) fn number_here(&mut self, expected: &'static str) -> Result<f64, BvhError> {
        let word = self
            .word_here()
            .ok_or_else(|| self.unexpected(expected, "end of line"))?;
        parse_number(word, self.line)
    }

    /// The next word as a count.
    pub(super) fn count(&mut self, expected: &'static str) -> Result<u64, BvhError> {
        let word = self.word().ok_or_else(|| self.ends(expected))?;
        word.parse().map_err(|_| BvhError::BadNumber {
            line: self.line,
            found: cut(word),
        })
    }

    pub(super) fn unexpected(&self, expected: &'static str, found: &str) -> BvhError {
        BvhError::Unexpected {
            line: self.line,
            expected,
            found: cut(found),
        }
    }

    pub(super) fn ends(&self, expected: &'static str) -> BvhError {
        BvhError::EndsEarly {
            line: self.line,
            expected,
        }
    }

    fn skip_blank(&mut self) {
        loop {
            self.rest = self.rest.trim_start_matches(is_gap);
            if let Some(rest) = self.rest.strip_prefix("\r\n") {
                self.rest = rest;
            } else if let Some(rest) = self.rest.strip_prefix(is_line_end) {
                self.rest = rest;
            } else {
                return;
            }
            self.here += 1;
        }
    }

    fn peek(&self) -> Option<&'a str> {
        let first = self.rest.chars().next()?;
        if is_brace(first) {
            return Some(&self.rest[..1]);
        }
        let end = self
            .rest
            .find(|c| is_gap(c) || is_line_end(c) || is_brace(c))
            .unwrap_or(self.rest.len());
        Some(&self.rest[..end])
    }
}

/// A word as a finite number of sensible size.
pub(super) fn parse_number(word: &str, line: usize) -> Result<f64, BvhError> {
    match word.parse::<f64>() {
        Ok(value) if value.abs() <= LARGEST => Ok(value),
        Ok(_) => Err(BvhError::NotFinite {
            line,
            found: cut(word),
        }),
        // Some writers print NaN as `-nan(ind)` or `1.#QNAN`.
        Err(_) if word.to_ascii_lowercase().contains("nan") || word.contains("#INF") => {
            Err(BvhError::NotFinite {
                line,
                found: cut(word),
            })
        }
        Err(_) => Err(BvhError::BadNumber {
            line,
            found: cut(word),
        }),
    }
}

/// The first 40 characters, for messages.
pub(super) fn cut(word: &str) -> String {
    word.chars().take(40).collect()
}

fn is_line_end(c: char) -> bool {
    c == '\n' || c == '\r'
}

fn is_gap(c: char) -> bool {
    c.is_whitespace() && !is_line_end(c)
}

fn is_brace(c: char) -> bool {
    c == '{' || c == '}'
}
