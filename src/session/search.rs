//! Full-text search over everything that was said, in any language.

use super::SessionError;
use super::store::Store;
use rusqlite::{Row, params};

#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
pub struct Hit {
    pub session: String,
    pub title: String,
    pub seq: i64,
    /// The words around the match, on one line.
    pub excerpt: String,
}

/// Characters on either side of a match.
const AROUND: usize = 60;

impl Store {
    /// Messages that contain every word of `query`, the newest first. Words are taken literally (`src/app.rs`,
    /// `don't`), without regard to case, and match inside words; `"two words"` match as one.
    pub fn search(&self, query: &str, limit: usize) -> Result<Vec<Hit>, SessionError> {
        let terms = terms(query);
        let Some(first) = terms.first() else { return Ok(Vec::new()) };
        // The index holds runs of three characters: shorter terms are looked for in what the longer ones left.
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
        let rows = prepared.query_map(rusqlite::params_from_iter(values), |row| hit(row, first))?;
        Ok(rows.collect::<Result<_, _>>()?)
    }

    /// How many messages are indexed; for tests and `doctor`.
    pub fn indexed(&self) -> Result<i64, SessionError> {
        Ok(self.lock().query_row("SELECT count(*) FROM said", params![], |row| row.get(0))?)
    }
}

fn hit(row: &Row<'_>, term: &str) -> rusqlite::Result<Hit> {
    let text: String = row.get(0)?;
    Ok(Hit { session: row.get(1)?, seq: row.get(2)?, title: row.get(3)?, excerpt: excerpt(&text, term) })
}

/// Splits at blanks, keeping what stands in double quotes together.
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

fn excerpt(text: &str, term: &str) -> String {
    let flat = text.split_whitespace().collect::<Vec<_>>().join(" ");
    let chars: Vec<char> = flat.chars().collect();
    let lower: Vec<char> = chars.iter().map(|c| c.to_lowercase().next().unwrap_or(*c)).collect();
    let wanted: Vec<char> = term.to_lowercase().chars().collect();
    let at = lower.windows(wanted.len().max(1)).position(|w| w == wanted.as_slice()).unwrap_or(0);
    let from = at.saturating_sub(AROUND);
    let to = (at + wanted.len() + AROUND).min(chars.len());
    let middle: String = chars.get(from..to).unwrap_or(&[]).iter().collect();
    format!("{}{middle}{}", if from > 0 { "…" } else { "" }, if to < chars.len() { "…" } else { "" })
}
