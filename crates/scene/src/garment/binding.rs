//! Skinning weights for a garment, taken from the body under it.
