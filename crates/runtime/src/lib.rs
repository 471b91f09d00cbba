//! The methods that animate a garment on a moving body.
