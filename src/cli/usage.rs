//! `placet usage`: what was spent, by day and model, over all sessions.

use super::command_line::options::Options;
use super::report::{self, CliError, print, print_list};
use super::startup::start;
use crate::provider::catalog::Money;
use crate::repl::priced;
use crate::session::{CostFilter, RequestCost};
use crate::ui::token_counts;
use serde_json::json;

/// Days that are shown without `--since`.
const DAYS: i64 = 30;

pub(super) fn run(since: Option<&str>, json: bool, options: &Options) -> Result<u8, CliError> {
    let since = from(since)?;
    let app = start::app(options)?;
    let (store, _) = app.store().map_err(CliError::new)?;
    let all = store.spent(CostFilter { since, session: None }).map_err(CliError::new)?;
    let mut total = RequestCost::default();
    all.iter().for_each(|one| total.add(one));
    if json {
        let rows: Vec<_> = all.iter().map(row).collect();
        return print(&format!("{:#}\n", json!({"version": 1, "days": rows, "total": row(&total)})))
            .map(|()| report::DONE);
    }
    if all.is_empty() {
        return print("no usage in this period\n").map(|()| report::DONE);
    }
    let mut out = String::new();
    let wide = all.iter().map(|one| name(one).len()).max().unwrap_or(0);
    for one in &all {
        out.push_str(&format!(
            "{}  {:wide$}  {:>6} requests  {:>24}  {}\n",
            one.day,
            name(one),
            one.requests,
            token_counts::tokens(&one.usage),
            priced(one)
        ));
    }
    out.push_str(&format!(
        "total: {} requests, {}, {}\n",
        total.requests,
        token_counts::tokens(&total.usage),
        priced(&total)
    ));
    print_list(&out).map(|()| report::DONE)
}

fn name(spent: &RequestCost) -> String {
    let name = format!("{} {}", spent.provider, spent.model);
    crate::text::sanitize::line(name.trim()).into_owned()
}

/// Amounts in millionths of a dollar, absent where no price is known.
fn row(spent: &RequestCost) -> serde_json::Value {
    let cost = (spent.unpriced < spent.requests).then(|| Money::from_picos(spent.picos).micros());
    json!({
        "day": spent.day, "provider": spent.provider, "model": spent.model,
        "requests": spent.requests, "unpriced_requests": spent.unpriced,
        "usage": spent.usage, "cost_micros": cost,
    })
}

/// `7d`, `12h` or a day: milliseconds since 1970.
fn from(since: Option<&str>) -> Result<i64, CliError> {
    let now = jiff::Zoned::now();
    let hours = |count: i64| now.timestamp().as_millisecond() - count.saturating_mul(3_600_000);
    let Some(text) = since else { return Ok(hours(DAYS * 24)) };
    let number = |unit: char| text.strip_suffix(unit).and_then(|n| n.parse::<u32>().ok()).map(i64::from);
    if let Some(days) = number('d') {
        return Ok(hours(days * 24));
    }
    if let Some(count) = number('h') {
        return Ok(hours(count));
    }
    let day =
        text.parse::<jiff::civil::Date>().ok().and_then(|day| day.to_zoned(now.time_zone().clone()).ok());
    day.map(|day| day.timestamp().as_millisecond()).ok_or_else(|| {
        CliError::usage(format!("invalid time `{text}`"))
            .hint("use --since 7d, --since 12h or --since 2026-11-01")
    })
}
