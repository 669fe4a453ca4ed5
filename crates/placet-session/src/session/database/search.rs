//! Full-text search over all conversations, in any language.

use super::store::SessionStore;
use crate::session::SessionError;
use rusqlite::{Connection, Row, params};
use std::ops::Range;

#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
pub struct SessionHit {
    pub session: String,
    pub title: String,
    pub seq: i64,
    /// The words around the match, on one line.
    pub excerpt: String,
    /// The positions of the searched words in the excerpt, in bytes.
    pub found: Vec<Range<usize>>,
}

impl SessionHit {
    /// The text around the match, with the searched words between two marks.
    pub fn marked(&self, open: &str, close: &str) -> String {
        let (mut out, mut at) = (String::new(), 0);
        for range in &self.found {
            let pieces = (self.excerpt.get(at..range.start), self.excerpt.get(range.clone()));
            let (Some(before), Some(found)) = pieces else { continue };
            out.extend([before, open, found, close]);
            at = range.end;
        }
        out + self.excerpt.get(at..).unwrap_or_default()
    }
}

/// Characters on either side of a match.
const AROUND: usize = 60;

impl SessionStore {
    /// Messages that contain every word of `query`, the newest first. Words are taken literally (`src/app.rs`,
    /// `don't`), without regard to case, and match inside words; `"two words"` match as one.
    pub fn search(&self, query: &str, limit: usize) -> Result<Vec<SessionHit>, SessionError> {
        let terms = terms(query);
        if terms.is_empty() {
            return Ok(Vec::new());
        }
        // The index contains runs of three characters: shorter terms are searched in the results of the longer ones.
        let (long, short): (Vec<&String>, Vec<&String>) = terms.iter().partition(|t| t.chars().count() >= 3);
        let mut sql = String::from(
            "SELECT said.text, said.session, said.seq, coalesce(session.title, '') FROM said
             LEFT JOIN session ON session.id = said.session WHERE 1",
        );
        let mut values: Vec<String> = Vec::new();
        if !long.is_empty() {
            values.push(
                long.iter().map(|t| format!("\"{}\"", t.replace('"', "\"\""))).collect::<Vec<_>>().join(" "),
            );
            sql.push_str(" AND said MATCH ?1");
        }
        for term in short {
            values.push(term.to_lowercase());
            sql.push_str(&format!(" AND instr(lower(said.text), ?{}) > 0", values.len()));
        }
        sql.push_str(&format!(" ORDER BY said.rowid DESC LIMIT {}", limit.min(10_000)));
        let conn = self.lock();
        let mut prepared = conn.prepare(&sql)?;
        let rows = prepared.query_map(rusqlite::params_from_iter(values), |row| hit(row, &terms))?;
        let mut hits: Vec<SessionHit> = rows.collect::<Result<_, _>>()?;
        drop(prepared);
        // A title need not occur in the conversation.
        let titled = named(&conn, &terms)?;
        hits.extend(
            titled.into_iter().filter(|t| !hits.iter().any(|h| h.session == t.session)).collect::<Vec<_>>(),
        );
        hits.truncate(limit);
        Ok(hits)
    }

    /// How many messages are indexed; for tests and `doctor`.
    pub fn indexed(&self) -> Result<i64, SessionError> {
        Ok(self.lock().query_row("SELECT count(*) FROM said", params![], |row| row.get(0))?)
    }
}

/// Sessions whose title holds every term.
fn named(conn: &Connection, terms: &[String]) -> Result<Vec<SessionHit>, SessionError> {
    let mut query = conn.prepare("SELECT id, title FROM session ORDER BY updated DESC")?;
    let rows = query.query_map([], |row| Ok((row.get::<_, String>(0)?, row.get::<_, String>(1)?)))?;
    let mut out = Vec::new();
    for row in rows {
        let (session, title) = row?;
        let lower = title.to_lowercase();
        if terms.iter().all(|term| lower.contains(&term.to_lowercase())) {
            let (excerpt, found) = excerpt(&title, terms);
            out.push(SessionHit { session, title, seq: 0, excerpt, found });
        }
    }
    Ok(out)
}

fn hit(row: &Row<'_>, terms: &[String]) -> rusqlite::Result<SessionHit> {
    let text: String = row.get(0)?;
    let (excerpt, found) = excerpt(&text, terms);
    Ok(SessionHit { session: row.get(1)?, seq: row.get(2)?, title: row.get(3)?, excerpt, found })
}

/// Splits at blanks; text in double quotes stays together.
fn terms(query: &str) -> Vec<String> {
    let mut out = Vec::new();
    for (at, piece) in query.split('"').enumerate() {
        if at % 2 == 1 {
            out.push(piece.to_string());
        } else {
            out.extend(piece.split_whitespace().map(String::from));
        }
    }
    out.retain(|t| !t.trim().is_empty());
    out
}

/// The text around the first term, and the positions of the terms in that text.
fn excerpt(text: &str, terms: &[String]) -> (String, Vec<Range<usize>>) {
    let flat = text.split_whitespace().collect::<Vec<_>>().join(" ");
    let chars: Vec<char> = flat.chars().collect();
    let lower = lowered(&chars);
    let wanted: Vec<Vec<char>> = terms.iter().map(|t| lowered(&t.chars().collect::<Vec<_>>())).collect();
    let first = wanted.first().map_or(&[][..], Vec::as_slice);
    let at = places(&lower, first).next().unwrap_or(0);
    let from = at.saturating_sub(AROUND);
    let to = (at + first.len() + AROUND).min(chars.len());
    let mut marked = vec![false; chars.len()];
    for term in &wanted {
        for place in places(&lower, term) {
            marked.iter_mut().skip(place).take(term.len()).for_each(|mark| *mark = true);
        }
    }
    let mut out = String::from(if from > 0 { "…" } else { "" });
    let mut found: Vec<Range<usize>> = Vec::new();
    for (c, is_marked) in chars.iter().zip(&marked).take(to).skip(from) {
        let start = out.len();
        out.push(*c);
        match found.last_mut().filter(|last| last.end == start) {
            Some(last) if *is_marked => last.end = out.len(),
            _ if *is_marked => found.push(start..out.len()),
            _ => {}
        }
    }
    out.push_str(if to < chars.len() { "…" } else { "" });
    (out, found)
}

/// Lower case letter by letter: positions do not change.
fn lowered(chars: &[char]) -> Vec<char> {
    chars.iter().map(|c| c.to_lowercase().next().unwrap_or(*c)).collect()
}

fn places<'t>(text: &'t [char], term: &'t [char]) -> impl Iterator<Item = usize> + 't {
    // `windows` panics with a length of 0.
    let windows = text.windows(term.len().max(1)).enumerate();
    windows.filter(move |(_, window)| !term.is_empty() && *window == term).map(|(at, _)| at)
}
