//! The program. Everything is in the library, where tests reach it.

use std::process::ExitCode;

fn main() -> ExitCode {
    let mut args = std::env::args_os().skip(1);
    if args.next().is_some_and(|first| first == placet::process::RUN) {
        return placet::process::supervise(args.collect());
    }
    ExitCode::SUCCESS
}
