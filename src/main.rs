//! The program. Everything is in the library, where tests reach it.

fn main() {}
