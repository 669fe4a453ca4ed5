//! One file per area; each test's name is a sentence.
mod process;
mod session;
