//! Garments from and to OBJ files.
