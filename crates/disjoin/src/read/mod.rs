//! How does a file become data?
