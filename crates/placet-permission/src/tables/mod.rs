//! Lists of commands, files and variables as tables. placet parses a table when it judges the first command, not at start.
//!
//! The tables are embedded in the program, and a test parses them and checks each row. If a table is invalid all the same,
//! nothing is harmless: no command is read-only, every command is dangerous, every program writes the files that its
//! arguments name, every variable changes later commands, and no line can be analysed.

mod lists;
mod row;
mod variables;

pub(super) use lists::{dangerous, families, files, read_only};
pub(super) use row::{CommandRow, is_listed};
pub(super) use variables::{is_safe_variable, steers_later_commands};

/// Parses every table. Each is otherwise parsed when it is needed first, and the first command waits for most of them.
pub(super) fn read_all() {
    read_only();
    dangerous();
    files();
    families();
    variables::read();
}

#[cfg(test)]
#[path = "tables_tests.rs"]
mod tests;
