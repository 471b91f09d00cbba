//! glTF 2.0: skinned characters in, animations out.
