//! The `drapery` command line.
fn main() {}
