//! Scan, reduce and sort on any GPU: one library, three kernel languages.
