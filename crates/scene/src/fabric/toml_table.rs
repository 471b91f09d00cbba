//! Numbers out of a TOML table, with the key and the line of whatever is
//! wrong: [`TomlTable`].

use toml::Spanned;
use toml::de::{DeTable, DeValue};

use super::file::FabricFileError;
use super::laboratory::Threads;
use crate::load::nearest;

/// A table of a file.
#[derive(Clone, Copy)]
pub(crate) struct TomlTable<'a> {
    /// What stands before a key in messages: `kes.`, or nothing.
    prefix: &'static str,
    entries: &'a DeTable<'a>,
    text: &'a str,
}

impl<'a> TomlTable<'a> {
    /// The table of a whole file.
    pub(crate) const fn root(entries: &'a DeTable<'a>, text: &'a str) -> Self {
        Self {
            prefix: "",
            entries,
            text,
        }
    }

    /// Checks that every key is one of `known`.
    pub(crate) fn check_keys(&self, known: &[&'static str]) -> Result<(), FabricFileError> {
        for key in self.entries.keys() {
            let name: &str = key.get_ref();
            if !known.contains(&name) {
                return Err(FabricFileError::UnknownKey {
                    key: self.full(name),
                    line: line(self.text, key.span().start),
                    nearest: nearest(name, known.iter().copied()),
                    known: known.join(", "),
                });
            }
        }
        Ok(())
    }

    /// A text.
    pub(crate) fn text(
        &self,
        key: &'static str,
    ) -> Result<Option<(&'a str, usize)>, FabricFileError> {
        let Some((value, line)) = self.get(key) else {
            return Ok(None);
        };
        match value {
            DeValue::String(text) => Ok(Some((text, line))),
            _ => Err(self.wrong(key, line, "a text in quotes")),
        }
    }

    /// A number.
    pub(crate) fn number(&self, key: &'static str) -> Result<Option<f64>, FabricFileError> {
        let Some((value, line)) = self.get(key) else {
            return Ok(None);
        };
        match number(value) {
            Some(number) => Ok(Some(number)),
            None => Err(self.wrong(key, line, "a number")),
        }
    }

    /// A number for warp and weft: one for both, or `{ warp = …, weft = … }`.
    pub(crate) fn threads(&self, key: &'static str) -> Result<Option<Threads>, FabricFileError> {
        Ok(self.directions(key, &["warp", "weft"])?.map(|(t, _)| t))
    }

    /// As [`Self::threads`], with a third number for the bias.
    pub(crate) fn threads_and_bias(
        &self,
        key: &'static str,
    ) -> Result<Option<(Threads, Option<f64>)>, FabricFileError> {
        self.directions(key, &["warp", "weft", "bias"])
    }

    fn directions(
        &self,
        key: &'static str,
        known: &[&'static str],
    ) -> Result<Option<(Threads, Option<f64>)>, FabricFileError> {
        const EXPECTED: &str = "a number, or { warp = number, weft = number }";
        let Some((value, line)) = self.get(key) else {
            return Ok(None);
        };
        if let Some(both) = number(value) {
            return Ok(Some((Threads::both(both), None)));
        }
        let DeValue::Table(entries) = value else {
            return Err(self.wrong(key, line, EXPECTED));
        };
        let inner = TomlTable {
            prefix: self.prefix,
            entries,
            text: self.text,
        };
        inner.check_keys(known)?;
        match (inner.number("warp")?, inner.number("weft")?) {
            (Some(warp), Some(weft)) => Ok(Some((Threads { warp, weft }, inner.number("bias")?))),
            _ => Err(self.wrong(key, line, EXPECTED)),
        }
    }

    /// A table within this one, and its line.
    pub(crate) fn table(
        &self,
        key: &'static str,
        prefix: &'static str,
    ) -> Result<Option<TomlTable<'a>>, FabricFileError> {
        let Some((value, line)) = self.get(key) else {
            return Ok(None);
        };
        match value {
            DeValue::Table(entries) => Ok(Some(TomlTable {
                prefix,
                entries,
                text: self.text,
            })),
            _ => Err(self.wrong(key, line, "a table")),
        }
    }

    /// The line of a key that this table or one inside it has.
    pub(crate) fn line_of(&self, path: &str) -> Option<usize> {
        let (head, rest) = path.split_once('.').unwrap_or((path, ""));
        let (key, value) = self.entries.iter().find(|(k, _)| k.get_ref() == head)?;
        let here = line(self.text, key.span().start);
        match value.get_ref() {
            DeValue::Table(entries) if !rest.is_empty() => {
                TomlTable { entries, ..*self }.line_of(rest).or(Some(here))
            }
            _ => Some(here),
        }
    }

    fn get(&self, key: &str) -> Option<(&'a DeValue<'a>, usize)> {
        let entry: Option<(_, &Spanned<DeValue<'a>>)> =
            self.entries.iter().find(|(k, _)| k.get_ref() == key);
        entry.map(|(k, v)| (v.get_ref(), line(self.text, k.span().start)))
    }

    fn full(&self, key: &str) -> String {
        format!("{}{key}", self.prefix)
    }

    fn wrong(&self, key: &str, line: usize, expected: &'static str) -> FabricFileError {
        FabricFileError::Kind {
            key: self.full(key),
            line,
            expected,
        }
    }
}

/// A whole or broken number that is finite.
fn number(value: &DeValue<'_>) -> Option<f64> {
    let number: f64 = match value {
        DeValue::Float(float) => float.as_str().parse().ok()?,
        DeValue::Integer(whole) => i64::from_str_radix(whole.as_str(), whole.radix()).ok()? as f64,
        _ => return None,
    };
    number.is_finite().then_some(number)
}

/// The line of a place in a text, from 1.
pub(crate) fn line(text: &str, place: usize) -> usize {
    let before = text.as_bytes().iter().take(place);
    1 + before.filter(|b| **b == b'\n').count()
}
