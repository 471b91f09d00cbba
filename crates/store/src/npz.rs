//! NumPy arrays and archives of them.
