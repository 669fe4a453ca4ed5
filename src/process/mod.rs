//! Commands: a shell line runs under a supervisor of its own, with no terminal, a deadline and a bounded record of
//! what it wrote. When it ends, for whatever reason, nothing that it started is left.

mod capture;
mod run;
mod supervise;

pub use capture::Captured;
pub use run::{End, Finished, ProcessError, Spec, run};
pub use supervise::{SUPERVISE, supervise};
