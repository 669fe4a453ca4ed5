//! Named scratchpads: results and notes that belong to the session and not to a file.
//!
//! A saved session stores large scratchpads only in its database: a day of long results must not fill the memory. Small
//! scratchpads are also cached here, and a note costs no read.

use super::error::SessionError;
use placet_text::conversation::Image;
use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};
use thiserror::Error;

/// The longest name, in bytes, and the largest entry.
pub const MAX_NAME: usize = 100;
pub const MAX_ENTRY: usize = 256 * 1024 * 1024;

#[derive(Clone, Debug, PartialEq)]
pub enum ScratchpadEntry {
    Text(String),
    Image(Image),
}

impl ScratchpadEntry {
    pub fn len(&self) -> usize {
        match self {
            ScratchpadEntry::Text(text) => text.len(),
            ScratchpadEntry::Image(image) => image.bytes.len(),
        }
    }

    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

#[derive(Debug, Error)]
pub enum ScratchpadError {
    #[error("no scratchpad `{name}`; the scratchpads are: {known}")]
    Missing { name: String, known: String },
    #[error("a scratchpad `{0}` already exists")]
    Exists(String),
    #[error("`{0}` cannot be the name of a scratchpad: use 1 to 100 letters, digits, `-`, `_` and `.`")]
    Name(String),
    #[error("{0} bytes are too many for a scratchpad (the most is 268435456)")]
    Large(usize),
    #[error("the scratchpad could not be saved: {0}")]
    Store(#[from] ScratchpadStoreError),
}

/// Why a scratchpad could not be written to its permanent store, or read from it.
#[derive(Debug, Error)]
pub enum ScratchpadStoreError {
    #[error(transparent)]
    Session(#[from] SessionError),
    #[error("it no longer exists, or its picture is lost")]
    Lost,
    #[error("nobody keeps it")]
    NoBackend,
}

/// Bytes up to which a saved entry is cached in memory as well.
const SMALL: usize = 16 * 1024;

/// The store in which scratchpads outlive the process.
pub trait ScratchpadBackend: Send + Sync {
    /// Saves each change before it counts; `None` when the entry is deleted.
    fn save(&self, name: &str, entry: Option<&ScratchpadEntry>) -> Result<(), ScratchpadStoreError>;
    /// Reads the entry saved under `name`.
    fn load(&self, name: &str) -> Result<ScratchpadEntry, ScratchpadStoreError>;
    /// Renames a saved entry, in one step.
    fn rename(&self, from: &str, to: &str) -> Result<(), ScratchpadStoreError>;
}

/// An entry, or the size of an entry that only the backend has.
#[derive(Clone, Debug)]
pub enum ScratchpadSlot {
    Here(ScratchpadEntry),
    Kept(usize),
}

impl ScratchpadSlot {
    fn len(&self) -> usize {
        match self {
            ScratchpadSlot::Here(entry) => entry.len(),
            ScratchpadSlot::Kept(bytes) => *bytes,
        }
    }
}

/// All scratchpads of a session. A change that cannot be saved is not made.
pub struct Scratchpads {
    entries: Mutex<BTreeMap<String, ScratchpadSlot>>,
    keeper: Option<Box<dyn ScratchpadBackend>>,
}

impl Scratchpads {
    /// Scratchpads that live as long as the process.
    pub fn in_memory() -> Scratchpads {
        Scratchpads { entries: Mutex::default(), keeper: None }
    }

    /// Scratchpads that start with `entries` and are stored by `keeper`.
    pub fn saved(
        entries: BTreeMap<String, ScratchpadSlot>,
        keeper: Box<dyn ScratchpadBackend>,
    ) -> Scratchpads {
        Scratchpads { entries: Mutex::new(entries), keeper: Some(keeper) }
    }

    pub fn get(&self, name: &str) -> Result<ScratchpadEntry, ScratchpadError> {
        let entries = self.lock();
        match entries.get(name) {
            None => Err(missing(name, &entries)),
            Some(slot) => self.whole(name, slot),
        }
    }

    fn whole(&self, name: &str, slot: &ScratchpadSlot) -> Result<ScratchpadEntry, ScratchpadError> {
        match (slot, &self.keeper) {
            (ScratchpadSlot::Here(entry), _) => Ok(entry.clone()),
            (ScratchpadSlot::Kept(_), Some(keeper)) => Ok(keeper.load(name)?),
            (ScratchpadSlot::Kept(_), None) => Err(ScratchpadStoreError::NoBackend.into()),
        }
    }

    /// The part of a saved entry that stays in memory.
    fn slot(&self, entry: ScratchpadEntry) -> ScratchpadSlot {
        let large = self.keeper.is_some() && entry.len() > SMALL;
        if large { ScratchpadSlot::Kept(entry.len()) } else { ScratchpadSlot::Here(entry) }
    }

    pub fn contains(&self, name: &str) -> bool {
        self.lock().contains_key(name)
    }

    /// Writes an entry, over an older one of the same name.
    pub fn put(&self, name: &str, entry: ScratchpadEntry) -> Result<(), ScratchpadError> {
        check_name(name)?;
        if entry.len() > MAX_ENTRY {
            return Err(ScratchpadError::Large(entry.len()));
        }
        let mut entries = self.lock();
        self.saved_change(name, Some(&entry))?;
        entries.insert(name.into(), self.slot(entry));
        Ok(())
    }

    /// Stores under the first free name of `base`, `base-2`, `base-3`, ... and returns it.
    pub fn put_new(&self, base: &str, entry: ScratchpadEntry) -> Result<String, ScratchpadError> {
        let free = {
            let entries = self.lock();
            let numbered = (2..).map(|n: u64| format!("{base}-{n}"));
            std::iter::once(base.to_string()).chain(numbered).find(|name| !entries.contains_key(name))
        };
        let name = free.unwrap_or_else(|| base.to_string());
        self.put(&name, entry)?;
        Ok(name)
    }

    pub fn delete(&self, name: &str) -> Result<(), ScratchpadError> {
        let mut entries = self.lock();
        if !entries.contains_key(name) {
            return Err(missing(name, &entries));
        }
        self.saved_change(name, None)?;
        entries.remove(name);
        Ok(())
    }

    /// Gives an entry another name; one that is taken is refused.
    pub fn rename(&self, from: &str, to: &str) -> Result<(), ScratchpadError> {
        check_name(to)?;
        let mut entries = self.lock();
        if !entries.contains_key(from) {
            return Err(missing(from, &entries));
        }
        if entries.contains_key(to) {
            return Err(ScratchpadError::Exists(to.into()));
        }
        if let Some(keeper) = &self.keeper {
            keeper.rename(from, to)?;
        }
        if let Some(slot) = entries.remove(from) {
            entries.insert(to.into(), slot);
        }
        Ok(())
    }

    /// Names and sizes in bytes, in the order of names.
    pub fn list(&self) -> Vec<(String, usize)> {
        self.lock().iter().map(|(name, entry)| (name.clone(), entry.len())).collect()
    }

    fn saved_change(&self, name: &str, entry: Option<&ScratchpadEntry>) -> Result<(), ScratchpadError> {
        match &self.keeper {
            Some(keeper) => Ok(keeper.save(name, entry)?),
            None => Ok(()),
        }
    }

    fn lock(&self) -> MutexGuard<'_, BTreeMap<String, ScratchpadSlot>> {
        self.entries.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn missing(name: &str, entries: &BTreeMap<String, ScratchpadSlot>) -> ScratchpadError {
    let known = match entries.len() {
        0 => "none yet".into(),
        _ => entries.keys().take(20).cloned().collect::<Vec<_>>().join(", "),
    };
    ScratchpadError::Missing { name: name.into(), known }
}

/// Fails for an invalid name of a scratchpad.
pub fn check_name(name: &str) -> Result<(), ScratchpadError> {
    let fits = (1..=MAX_NAME).contains(&name.len());
    let plain = name.chars().all(|c| c.is_alphanumeric() || matches!(c, '-' | '_' | '.'));
    if fits && plain && !name.starts_with('.') { Ok(()) } else { Err(ScratchpadError::Name(name.into())) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(s: &str) -> ScratchpadEntry {
        ScratchpadEntry::Text(s.into())
    }

    #[test]
    fn a_change_that_cannot_be_saved_is_not_made() {
        struct FullBackend;
        impl ScratchpadBackend for FullBackend {
            fn save(&self, _: &str, _: Option<&ScratchpadEntry>) -> Result<(), ScratchpadStoreError> {
                Err(ScratchpadStoreError::NoBackend)
            }
            fn load(&self, _: &str) -> Result<ScratchpadEntry, ScratchpadStoreError> {
                Err(ScratchpadStoreError::Lost)
            }
            fn rename(&self, _: &str, _: &str) -> Result<(), ScratchpadStoreError> {
                Err(ScratchpadStoreError::NoBackend)
            }
        }
        let pads = Scratchpads::saved(BTreeMap::new(), Box::new(FullBackend));
        let error = pads.put("a", text("x")).unwrap_err();
        assert_eq!(error.to_string(), "the scratchpad could not be saved: nobody keeps it");
        assert!(!pads.contains("a"));
    }

    #[test]
    fn a_missing_name_is_answered_with_the_names_there_are() {
        let pads = Scratchpads::in_memory();
        pads.put("notes", text("")).unwrap();
        let error = pads.get("note").unwrap_err().to_string();
        assert_eq!(error, "no scratchpad `note`; the scratchpads are: notes");
        assert!(
            matches!(pads.rename("notes", "notes"), Err(ScratchpadError::Exists(name)) if name == "notes")
        );
        assert_eq!(pads.put_new("notes", text("2")).unwrap(), "notes-2");
        for bad in ["", "a/b", "..", "a b", "x\n"] {
            assert!(matches!(pads.put(bad, text("")), Err(ScratchpadError::Name(_))), "{bad:?}");
        }
    }
}
