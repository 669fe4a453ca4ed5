//! `placet metrics`: the figures printed, served on this machine, or sent to a collector.

use super::command_line::args::MetricsCommand;
use super::command_line::options::Options;
use super::report::{self, CliError, print, warn};
use super::startup::start;
use crate::app::interceptors;
use crate::metrics::{self, prometheus};

pub(super) fn run(command: Option<MetricsCommand>, options: &Options) -> Result<u8, CliError> {
    let metrics = interceptors::metrics(&start::paths()?);
    match command {
        None => {
            let figures =
                metrics.figures().map_err(|e| CliError::new(format!("cannot read the metrics: {e}")))?;
            print(&prometheus(&figures)).map(|()| report::DONE)
        }
        Some(MetricsCommand::Serve { port }) => serve(&metrics, port),
        Some(MetricsCommand::Push) => push(&metrics, options),
    }
}

/// Until it is stopped, as any server is.
fn serve(metrics: &metrics::MetricsFile, port: u16) -> Result<u8, CliError> {
    let served = start::runtime()?.block_on(async {
        let listener = tokio::net::TcpListener::bind((std::net::Ipv4Addr::LOCALHOST, port)).await?;
        warn(&format!("metrics at http://{}/metrics", listener.local_addr()?));
        tokio::select! {
            served = metrics::serve(listener, metrics.clone()) => served,
            stopped = tokio::signal::ctrl_c() => stopped,
        }
    });
    served.map_err(|e| CliError::new(format!("port {port} cannot be served: {e}")))?;
    Ok(report::DONE)
}

#[cfg(not(feature = "otlp"))]
fn push(_: &metrics::MetricsFile, _: &Options) -> Result<u8, CliError> {
    Err(CliError::usage("placet was built without the feature `otlp`")
        .hint("install it with `cargo install --path . --features otlp`, or let a collector scrape `placet metrics serve`"))
}

#[cfg(feature = "otlp")]
fn push(metrics: &metrics::MetricsFile, options: &Options) -> Result<u8, CliError> {
    use crate::http::HttpClient;
    use std::time::{Duration, SystemTime, UNIX_EPOCH};
    let app = start::app(options)?;
    let endpoint = app.config.settings().network.metrics_otlp_endpoint.as_ref().ok_or_else(|| {
        CliError::usage("no collector is configured")
            .hint("set metrics.otlp_endpoint, such as http://localhost:4318")
    })?;
    let url = format!("{}/v1/metrics", endpoint.trim_end_matches('/'));
    let figures = metrics.figures().map_err(|e| CliError::new(format!("cannot read the metrics: {e}")))?;
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_secs();
    let body = metrics::payload(&figures, i64::try_from(now).unwrap_or_default());
    let client = HttpClient::new(app.client());
    let bytes = serde_json::to_vec(&body).map_err(CliError::new)?;
    let sent = start::runtime()?.block_on(async {
        tokio::time::timeout(Duration::from_secs(10), client.post_json(&url, &[], bytes)).await
    });
    let answer = sent.map_err(|_| CliError::new(format!("{url} did not answer within 10 seconds")))?;
    let answer = answer.map_err(|e| CliError::new(format!("{url} cannot be reached: {e}")))?;
    if !(200..300).contains(&answer.status()) {
        return Err(CliError::new(format!("{url} answered {}", answer.status())));
    }
    let tools = crate::text::count::of(figures.tools.len(), "tool");
    print(&format!("sent the metrics of {tools} to {url}\n")).map(|()| report::DONE)
}
