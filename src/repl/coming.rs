//! The messages of a long conversation that is resumed: they are read while the person types the first line, and everything
//! that the line does finds them there.

use crate::conversation::SessionId;
use crate::session::{LoadedSession, SessionError, SessionOutline, SessionRow, SessionStore};
use std::thread::JoinHandle;

/// The messages that an agent still lacks.
pub(super) struct ComingMessages {
    store: SessionStore,
    id: SessionId,
    outline: SessionOutline,
    reader: Option<JoinHandle<Result<LoadedSession, SessionError>>>,
}

impl ComingMessages {
    /// For a session whose end is known without all of it; `None` where it must be read first.
    pub(super) fn of(store: &SessionStore, row: &SessionRow) -> Result<Option<ComingMessages>, SessionError> {
        let outline = store.outline(row)?;
        let coming =
            |outline| ComingMessages { store: store.clone(), id: row.id.clone(), outline, reader: None };
        Ok(outline.map(coming))
    }

    pub(super) fn outline(&self) -> &SessionOutline {
        &self.outline
    }

    /// Begins to read. Until then the database is free for what the prompt needs of it.
    pub(super) fn begin(&mut self) {
        let (store, id) = (self.store.clone(), self.id.clone());
        let read = move || store.load_for_resume(&id);
        // Without a thread they are read when they are needed.
        self.reader = std::thread::Builder::new().name("resume".into()).spawn(read).ok();
    }

    pub(super) fn take(self) -> Result<LoadedSession, SessionError> {
        let read = self.reader.and_then(|reader| reader.join().ok());
        read.unwrap_or_else(|| self.store.load_for_resume(&self.id))
    }
}
