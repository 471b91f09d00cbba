//! Characters from SMPL-layout `.npz` files.
