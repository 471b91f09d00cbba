//! Names that USD takes: [`Names`].
//!
//! A prim or joint goes by an identifier, `[A-Za-z_][A-Za-z0-9_]*`. Later
//! versions of USD take more letters, earlier ones only these.

use std::collections::HashSet;

/// Identifiers of which no two are equal.
#[derive(Debug, Default)]
pub(super) struct Names {
    taken: HashSet<String>,
}

impl Names {
    /// An identifier like `name` that was not taken before.
    pub(super) fn take(&mut self, name: &str) -> String {
        let wanted = identifier(name);
        let numbered = (1..).map(|n: u32| format!("{wanted}_{n}"));
        let free = std::iter::once(wanted.clone())
            .chain(numbered)
            .find(|name| !self.taken.contains(name))
            .expect("fewer names than numbers");
        self.taken.insert(free.clone());
        free
    }
}

/// `name` with an underscore for each letter that no identifier has, and before
/// a digit at its start.
fn identifier(name: &str) -> String {
    let mut out = String::with_capacity(name.len() + 1);
    if name.chars().next().is_none_or(|c| c.is_ascii_digit()) {
        out.push('_');
    }
    out.extend(name.chars().map(|c| match c.is_ascii_alphanumeric() {
        true => c,
        false => '_',
    }));
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_become_identifiers_of_which_no_two_are_equal() {
        let cases = [
            ("shirt", "shirt"),
            ("t-shirt", "t_shirt"),
            ("t shirt", "t_shirt_1"),
            ("t_shirt_1", "t_shirt_1_1"),
            ("t.shirt", "t_shirt_2"),
            ("2 rings", "_2_rings"),
            ("", "_"),
            ("_", "__1"),
            ("Rücken", "R_cken"),
            ("mixamorig:Hips", "mixamorig_Hips"),
        ];
        let mut names = Names::default();
        for (name, expected) in cases {
            assert_eq!(names.take(name), expected, "{name}");
        }
    }
}
