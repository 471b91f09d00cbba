//! Values out of a scene file, with the key and the line of whatever is wrong:
//! [`Table`].

use drapery_core::Fabric;
use toml::Spanned;
use toml::de::{DeTable, DeValue};

use super::error::SceneError;
use crate::fabric::{TomlTable, read_table};
use crate::load::nearest;

/// A value and the line that it stands in, from 1.
#[derive(Clone, Debug, PartialEq)]
pub struct At<T> {
    /// The value.
    pub value: T,
    /// Its key, such as `garment[0].fabric`.
    pub key: String,
    /// Its line.
    pub line: usize,
}

impl<T> At<T> {
    pub(super) fn map<U>(self, f: impl FnOnce(T) -> U) -> At<U> {
        At {
            value: f(self.value),
            key: self.key,
            line: self.line,
        }
    }

    /// An error about this value.
    pub(super) fn kind(&self, expected: &'static str) -> SceneError {
        SceneError::Kind {
            key: self.key.clone(),
            line: self.line,
            expected,
        }
    }
}

/// A table of a file.
#[derive(Clone)]
pub(super) struct Table<'a> {
    /// Where it is, such as `garment[0]`; empty for the whole file.
    pub(super) place: String,
    pub(super) line: usize,
    entries: &'a DeTable<'a>,
    text: &'a str,
}

impl<'a> Table<'a> {
    /// The table of a whole file.
    pub(super) const fn root(entries: &'a DeTable<'a>, text: &'a str) -> Self {
        Self {
            place: String::new(),
            line: 1,
            entries,
            text,
        }
    }

    /// The same after checking that every key is one of `known`.
    pub(super) fn with_keys(self, known: &[&'static str]) -> Result<Self, SceneError> {
        for key in self.entries.keys() {
            let name: &str = key.get_ref();
            if !known.contains(&name) {
                return Err(SceneError::UnknownKey {
                    key: self.full(name),
                    line: line(self.text, key.span().start),
                    nearest: nearest(name, known.iter().copied()),
                    known: known.join(", "),
                });
            }
        }
        Ok(self)
    }

    /// All keys and values, in the order of the file.
    pub(super) fn entries(&self) -> Vec<(&'a str, Item<'a>)> {
        let mut all: Vec<(usize, &'a str, Item<'a>)> = (self.entries.iter())
            .map(|(key, value)| {
                let name: &str = key.get_ref();
                (key.span().start, name, self.item(name, value))
            })
            .collect();
        all.sort_by_key(|(place, ..)| *place);
        all.into_iter()
            .map(|(_, name, item)| (name, item))
            .collect()
    }

    /// A value that may be missing.
    pub(super) fn get(&self, key: &str) -> Option<Item<'a>> {
        let (_, value) = self.entries.iter().find(|(k, _)| k.get_ref() == key)?;
        Some(self.item(key, value))
    }

    /// A value that must be there.
    pub(super) fn need(&self, key: &'static str) -> Result<Item<'a>, SceneError> {
        self.get(key).ok_or_else(|| SceneError::MissingKey {
            key: self.full(key),
            line: self.line,
        })
    }

    fn item(&self, key: &str, value: &'a Spanned<DeValue<'a>>) -> Item<'a> {
        Item {
            key: self.full(key),
            line: line(self.text, value.span().start),
            value: value.get_ref(),
            text: self.text,
        }
    }

    fn full(&self, key: &str) -> String {
        match self.place.as_str() {
            "" => key.to_string(),
            place => format!("{place}.{key}"),
        }
    }
}

/// A value of a table or list.
#[derive(Clone)]
pub(super) struct Item<'a> {
    pub(super) key: String,
    pub(super) line: usize,
    value: &'a DeValue<'a>,
    text: &'a str,
}

impl<'a> Item<'a> {
    fn at<T>(&self, value: T) -> At<T> {
        At {
            value,
            key: self.key.clone(),
            line: self.line,
        }
    }

    /// That it is not what it should be.
    pub(super) fn wrong(&self, expected: &'static str) -> SceneError {
        self.at(()).kind(expected)
    }

    pub(super) fn is_text(&self) -> bool {
        matches!(self.value, DeValue::String(_))
    }

    /// A text that is not empty.
    pub(super) fn text(&self) -> Result<At<String>, SceneError> {
        match self.value {
            DeValue::String(text) if !text.trim().is_empty() => Ok(self.at(text.to_string())),
            _ => Err(self.wrong("a text in quotes")),
        }
    }

    pub(super) fn truth(&self) -> Result<bool, SceneError> {
        match self.value {
            DeValue::Boolean(truth) => Ok(*truth),
            _ => Err(self.wrong("true or false")),
        }
    }

    /// A number within a range.
    pub(super) fn number(&self, range: [f64; 2]) -> Result<At<f64>, SceneError> {
        let number: Option<f64> = match self.value {
            DeValue::Float(float) => float.as_str().parse().ok(),
            DeValue::Integer(whole) => i64::from_str_radix(whole.as_str(), whole.radix())
                .ok()
                .map(|n| n as f64),
            _ => None,
        };
        match number.filter(|n| n.is_finite()) {
            None => Err(self.wrong("a number")),
            Some(n) if (range[0]..=range[1]).contains(&n) => Ok(self.at(n)),
            Some(value) => Err(SceneError::Range {
                key: self.key.clone(),
                line: self.line,
                value,
                min: range[0],
                max: range[1],
            }),
        }
    }

    /// A whole number within a range.
    pub(super) fn count(&self, range: [u32; 2]) -> Result<u32, SceneError> {
        match self.value {
            DeValue::Integer(_) => Ok(self.number(range.map(f64::from))?.value as u32),
            _ => Err(self.wrong("a whole number")),
        }
    }

    /// A list, whatever it is of.
    pub(super) fn list(&self) -> Result<Vec<Item<'a>>, SceneError> {
        let DeValue::Array(items) = self.value else {
            return Err(self.wrong("a list"));
        };
        let each = items.iter().enumerate().map(|(i, item)| Item {
            key: format!("{}[{i}]", self.key),
            line: line(self.text, item.span().start),
            value: item.get_ref(),
            text: self.text,
        });
        Ok(each.collect())
    }

    pub(super) fn is_table(&self) -> bool {
        matches!(self.value, DeValue::Table(_))
    }

    /// The constants of a fabric.
    pub(super) fn fabric(&self, name: &str) -> Result<Fabric, SceneError> {
        let DeValue::Table(entries) = self.value else {
            return Err(self.wrong("a table"));
        };
        let table = TomlTable::root(entries, self.text);
        read_table(&table, name).map_err(|source| SceneError::Fabric {
            key: self.key.clone(),
            line: self.line,
            source: Box::new(source),
        })
    }

    pub(super) fn table(&self) -> Result<Table<'a>, SceneError> {
        match self.value {
            DeValue::Table(entries) => Ok(Table {
                place: self.key.clone(),
                line: self.line,
                entries,
                text: self.text,
            }),
            _ => Err(self.wrong("a table")),
        }
    }
}

/// The line of a place in a text, from 1.
pub(super) fn line(text: &str, place: usize) -> usize {
    let before = text.as_bytes().iter().take(place);
    1 + before.filter(|b| **b == b'\n').count()
}
