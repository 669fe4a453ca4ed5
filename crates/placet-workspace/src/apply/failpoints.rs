//! Where tests let a transaction fail, as a disk does: by name, with an error of their choice.

use std::io;

#[cfg(test)]
type Fault = Box<dyn FnOnce() -> io::Result<()>>;

#[cfg(test)]
thread_local! {
    static FAULTS: std::cell::RefCell<Vec<(&'static str, Fault)>> = const { std::cell::RefCell::new(Vec::new()) };
}

/// Fails where a test of this thread asked for it, once; never in the program.
pub(crate) fn fault(at: &'static str) -> io::Result<()> {
    #[cfg(test)]
    {
        let found = FAULTS.with_borrow_mut(|faults| {
            let index = faults.iter().position(|(name, _)| *name == at)?;
            Some(faults.remove(index).1)
        });
        found.map_or(Ok(()), |fault| fault())
    }
    #[cfg(not(test))]
    {
        let _ = at;
        Ok(())
    }
}

/// The next time that this thread comes to `at`, that fails.
#[cfg(test)]
pub(crate) fn fail_at(at: &'static str, kind: io::ErrorKind) {
    run_at(at, move || Err(kind.into()));
}

/// The next time that this thread comes to `at`, another program does this.
#[cfg(test)]
pub(crate) fn run_at(at: &'static str, fault: impl FnOnce() -> io::Result<()> + 'static) {
    FAULTS.with_borrow_mut(|faults| faults.push((at, Box::new(fault))));
}
