//! Biovision hierarchy files: a skeleton and its motion.
