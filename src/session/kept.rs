//! A session's scratchpads in the database. The size of each stands beside it, so that opening a session reads no large
//! one.

use super::scratchpad::{Entry, Keeper, SMALL, Slot};
use super::store::Store;
use super::{SessionError, blob};
use crate::conversation::{Image, SessionId};
use rusqlite::{OptionalExtension, params};
use std::collections::BTreeMap;

pub(super) struct Kept {
    pub(super) store: Store,
    pub(super) id: SessionId,
}

#[derive(serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "snake_case")]
enum Stored {
    Text(String),
    Image(Image),
}

impl Kept {
    /// All of them: small ones whole, of large ones the size.
    pub(super) fn slots(&self) -> Result<BTreeMap<String, Slot>, SessionError> {
        let mut out = BTreeMap::new();
        let rows: Vec<(String, Option<String>, Option<String>)> = {
            let conn = self.store.lock();
            // A body of JSON is longer than its text, by its escapes: the small ones are all among these.
            let mut query = conn.prepare(
                "SELECT pad.name, size.value, iif(octet_length(pad.body) <= ?2 OR size.value IS NULL, pad.body, NULL)
                 FROM scratchpad AS pad
                 LEFT JOIN state AS size ON size.session = pad.session AND size.key = 'pad:' || pad.name
                 WHERE pad.session = ?1",
            )?;
            let most = i64::try_from(SMALL).unwrap_or(i64::MAX);
            let rows = query.query_map(params![self.id.as_str(), most], |row| {
                Ok((row.get(0)?, row.get(1)?, row.get(2)?))
            })?;
            rows.collect::<Result<_, _>>()?
        };
        for (name, size, body) in rows {
            match (body, size.and_then(|size| size.parse().ok())) {
                (Some(body), _) => {
                    // A picture whose bytes are gone is no entry any more.
                    if let Some(entry) = self.entry(&body)? {
                        let large = entry.len() > SMALL;
                        out.insert(name, if large { Slot::Kept(entry.len()) } else { Slot::Here(entry) });
                    }
                }
                (None, Some(size)) => drop(out.insert(name, Slot::Kept(size))),
                (None, None) => {}
            }
        }
        Ok(out)
    }

    fn entry(&self, body: &str) -> Result<Option<Entry>, SessionError> {
        Ok(match serde_json::from_str::<Stored>(body)? {
            Stored::Text(text) => Some(Entry::Text(text)),
            Stored::Image(mut image) => match blob::get(self.store.dir(), &image.hash) {
                Ok(bytes) => {
                    image.bytes = bytes;
                    Some(Entry::Image(image))
                }
                Err(_) => None,
            },
        })
    }

    fn put(&self, name: &str, entry: Option<&Entry>) -> Result<(), SessionError> {
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
            Entry::Text(text) => Stored::Text(text.clone()),
            Entry::Image(image) => {
                blob::put(self.store.dir(), &image.hash, &image.bytes)?;
                Stored::Image(image.clone())
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

impl Keeper for Kept {
    fn save(&self, name: &str, entry: Option<&Entry>) -> Result<(), String> {
        self.put(name, entry).map_err(|e| e.to_string())
    }

    fn load(&self, name: &str) -> Result<Entry, String> {
        let sql = "SELECT body FROM scratchpad WHERE session = ?1 AND name = ?2";
        let body: Option<String> = {
            let conn = self.store.lock();
            let read = conn.query_row(sql, params![self.id.as_str(), name], |row| row.get(0)).optional();
            read.map_err(|e| e.to_string())?
        };
        let body = body.ok_or("it is not in the database any more")?;
        self.entry(&body).map_err(|e| e.to_string())?.ok_or_else(|| "the picture's bytes are gone".into())
    }
}
