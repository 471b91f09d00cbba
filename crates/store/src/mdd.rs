//! MDD point caches.
