//! Motions: reading, sampling, editing and retargeting clips.
