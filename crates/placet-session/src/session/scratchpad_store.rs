//! A session's scratchpads in the database. The size of each is stored next to it, so that opening a session
//! reads no large one.

use super::scratchpad::{
    ScratchpadBackend, ScratchpadEntry, ScratchpadSlot, ScratchpadStoreError, Scratchpads,
};
use super::{SessionError, blob};
use crate::session::database::store::SessionStore;
use placet_text::conversation::{Image, SessionId};
use rusqlite::{OptionalExtension, params};
use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

pub(super) struct ScratchpadDatabase {
    pub(super) store: SessionStore,
    pub(super) id: SessionId,
}

impl SessionStore {
    /// The scratchpads of a session; each change is saved before it counts.
    pub fn scratchpads(&self, id: &SessionId) -> Result<Arc<Scratchpads>, SessionError> {
        let kept = ScratchpadDatabase { store: self.clone(), id: id.clone() };
        Ok(Arc::new(Scratchpads::saved(kept.slots()?, Box::new(kept))))
    }
}

#[derive(serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "snake_case")]
enum StoredScratchpad {
    Text(String),
    Image(Image),
}

impl ScratchpadDatabase {
    /// The size of each, without reading the contents: a content is read when it is needed.
    pub(super) fn slots(&self) -> Result<BTreeMap<String, ScratchpadSlot>, SessionError> {
        let (names, mut sizes) = {
            let conn = self.store.lock();
            // By the index of the names alone: in the table itself the end of a session cannot be found
            // without comparing whole rows, and with them all that is in them.
            let mut names = conn.prepare_cached(
                "SELECT name FROM scratchpad INDEXED BY scratchpad_by_name WHERE session = ?1",
            )?;
            let mut sizes = conn.prepare_cached(
                "SELECT substr(key, 5), value FROM state WHERE session = ?1 AND key >= 'pad:' AND key < 'pad;'",
            )?;
            let id = [self.id.as_str()];
            let names: Vec<String> = names.query_map(id, |row| row.get(0))?.collect::<Result<_, _>>()?;
            let sizes = sizes.query_map(id, |row| Ok((row.get(0)?, row.get(1)?)))?;
            (names, sizes.collect::<Result<HashMap<String, String>, _>>()?)
        };
        let mut out = BTreeMap::new();
        for name in names {
            let size = match sizes.remove(&name).and_then(|size| size.parse().ok()) {
                Some(size) => Some(size),
                // Written before sizes were stored.
                None => self.read(&name)?.map(|entry| entry.len()),
            };
            // A picture whose bytes are gone is not an entry any more.
            out.extend(size.map(|size| (name, ScratchpadSlot::Kept(size))));
        }
        Ok(out)
    }

    fn read(&self, name: &str) -> Result<Option<ScratchpadEntry>, SessionError> {
        let sql = "SELECT body FROM scratchpad WHERE session = ?1 AND name = ?2";
        let body: Option<String> = {
            let conn = self.store.lock();
            conn.prepare_cached(sql)?
                .query_row(params![self.id.as_str(), name], |row| row.get(0))
                .optional()?
        };
        body.map_or(Ok(None), |body| self.entry(&body))
    }

    fn entry(&self, body: &str) -> Result<Option<ScratchpadEntry>, SessionError> {
        Ok(match serde_json::from_str::<StoredScratchpad>(body)? {
            StoredScratchpad::Text(text) => Some(ScratchpadEntry::Text(text)),
            StoredScratchpad::Image(mut image) => match blob::get(self.store.dir(), &image.hash) {
                Ok(bytes) => {
                    image.bytes = bytes;
                    Some(ScratchpadEntry::Image(image))
                }
                Err(_) => None,
            },
        })
    }

    fn move_to(&self, from: &str, to: &str) -> Result<(), SessionError> {
        let mut conn = self.store.lock();
        let tx = conn.transaction()?;
        tx.execute(
            "UPDATE scratchpad SET name = ?3 WHERE session = ?1 AND name = ?2",
            params![self.id.as_str(), from, to],
        )?;
        tx.execute(
            "UPDATE OR REPLACE state SET key = ?3 WHERE session = ?1 AND key = ?2",
            params![self.id.as_str(), format!("pad:{from}"), format!("pad:{to}")],
        )?;
        Ok(tx.commit()?)
    }

    fn put(&self, name: &str, entry: Option<&ScratchpadEntry>) -> Result<(), SessionError> {
        let key = format!("pad:{name}");
        let Some(entry) = entry else {
            let mut conn = self.store.lock();
            let tx = conn.transaction()?;
            tx.execute(
                "DELETE FROM scratchpad WHERE session = ?1 AND name = ?2",
                params![self.id.as_str(), name],
            )?;
            tx.execute("DELETE FROM state WHERE session = ?1 AND key = ?2", params![self.id.as_str(), key])?;
            return Ok(tx.commit()?);
        };
        let stored = match entry {
            ScratchpadEntry::Text(text) => StoredScratchpad::Text(text.clone()),
            ScratchpadEntry::Image(image) => {
                blob::put(self.store.dir(), &image.hash, &image.bytes)?;
                StoredScratchpad::Image(image.clone())
            }
        };
        let body = serde_json::to_string(&stored)?;
        let mut conn = self.store.lock();
        let tx = conn.transaction()?;
        tx.prepare_cached("INSERT OR REPLACE INTO scratchpad (session, name, body) VALUES (?1, ?2, ?3)")?
            .execute(params![self.id.as_str(), name, body])?;
        tx.prepare_cached("INSERT OR REPLACE INTO state (session, key, value) VALUES (?1, ?2, ?3)")?
            .execute(params![self.id.as_str(), key, entry.len().to_string()])?;
        Ok(tx.commit()?)
    }
}

impl ScratchpadBackend for ScratchpadDatabase {
    fn save(&self, name: &str, entry: Option<&ScratchpadEntry>) -> Result<(), ScratchpadStoreError> {
        Ok(self.put(name, entry)?)
    }

    fn rename(&self, from: &str, to: &str) -> Result<(), ScratchpadStoreError> {
        Ok(self.move_to(from, to)?)
    }

    fn load(&self, name: &str) -> Result<ScratchpadEntry, ScratchpadStoreError> {
        self.read(name)?.ok_or(ScratchpadStoreError::Lost)
    }
}
