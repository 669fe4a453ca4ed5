//! The program. Everything is in the library, where tests reach it.

use std::process::ExitCode;

fn main() -> ExitCode {
    let mut args = std::env::args_os().skip(1);
    if args.next().is_some_and(|a| a == placet::process::SUPERVISE) {
        return placet::process::supervise(args);
    }
    ExitCode::SUCCESS
}
