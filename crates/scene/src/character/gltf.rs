//! Characters from glTF files.
