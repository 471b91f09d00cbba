//! Pre-flight checks: what is wrong with a character, garment or clip, said plainly.
