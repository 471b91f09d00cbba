//! The built-in bending tube with its sleeve: the smallest character there is.
