//! What requests cost, over all sessions: a table of its own, so that a sum needs no conversation to be read, and so that
//! deleting a conversation does not make its cost undone.

use super::SessionError;
use super::request_cost::RequestCost;
use crate::session::database::store::{SessionStore, now};
use placet_text::conversation::TokenUsage;
use rusqlite::{Connection, Row, params};

/// Which requests count.
#[derive(Clone, Copy, Debug, Default)]
pub struct CostFilter<'a> {
    /// From this time on, in milliseconds since 1970.
    pub since: i64,
    pub session: Option<&'a str>,
}

impl SessionStore {
    /// The sums by local day, provider and model, the newest day first.
    pub fn spent(&self, within: CostFilter<'_>) -> Result<Vec<RequestCost>, SessionError> {
        let conn = self.lock();
        let mut query = conn.prepare(
            "SELECT date(at / 1000, 'unixepoch', 'localtime') AS day, provider, model, count(*), sum(picos IS NULL),
                 sum(input), sum(output), sum(cache_read), sum(cache_write), sum(reasoning), coalesce(sum(picos), 0)
             FROM spent WHERE at >= ?1 AND (?2 IS NULL OR session = ?2)
             GROUP BY day, provider, model ORDER BY day DESC, provider, model",
        )?;
        let rows = query.query_map(params![within.since, within.session], row)?;
        Ok(rows.collect::<Result<_, _>>()?)
    }
}

fn row(row: &Row<'_>) -> rusqlite::Result<RequestCost> {
    let whole = |at: usize| row.get::<_, i64>(at).map(|n| u64::try_from(n).unwrap_or(0));
    Ok(RequestCost {
        day: row.get(0)?,
        provider: row.get(1)?,
        model: row.get(2)?,
        requests: whole(3)?,
        unpriced: whole(4)?,
        usage: TokenUsage {
            input: whole(5)?,
            output: whole(6)?,
            cache_read: whole(7)?,
            cache_write: whole(8)?,
            reasoning: whole(9)?,
        },
        picos: whole(10)?,
    })
}

pub(super) fn add(
    conn: &Connection,
    session: &str,
    (provider, model): (&str, &str),
    usage: &TokenUsage,
    picos: Option<u64>,
) -> Result<(), SessionError> {
    let whole = |n: u64| i64::try_from(n).unwrap_or(i64::MAX);
    conn.prepare_cached(
        "INSERT INTO spent (at, session, provider, model, input, output, cache_read, cache_write, reasoning, picos)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10)",
    )?
    .execute(params![
        now(),
        session,
        provider,
        model,
        whole(usage.input),
        whole(usage.output),
        whole(usage.cache_read),
        whole(usage.cache_write),
        whole(usage.reasoning),
        picos.map(whole),
    ])?;
    Ok(())
}
