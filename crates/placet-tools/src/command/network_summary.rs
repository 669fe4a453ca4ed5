//! What a command was refused by its network, for the model and for a person.

use placet_sandbox::{NetworkEvent, NetworkEventKind, NetworkRecord};
use placet_text::text::count;

/// How many names of one kind are listed.
const SHOWN: usize = 5;

/// What did not work, as parts of a sentence; names are of letters, digits, `-`, `_` and `.` only.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct NetworkSummary {
    /// `pkg.example.org (3 times), static.example.org and 2 more`: names that no entry allows.
    pub refused: Option<String>,
    /// The names that no entry allows, at most five of them.
    pub refused_names: Vec<String>,
    /// `crates.io:443: connection refused`: allowed hosts to which there was no connection.
    pub failed: Option<String>,
    /// Names that a wildcard allows, and for which there was no room.
    pub used_up: Option<String>,
}

impl NetworkSummary {
    /// Reads [`FinishedCommand::sandbox_report`](placet_process::FinishedCommand).
    pub fn of(sandbox_report: Option<&str>) -> NetworkSummary {
        NetworkSummary::without(sandbox_report, &[])
    }

    /// The same without hosts that were refused and are not needed.
    pub fn without(sandbox_report: Option<&str>, not_needed: &[String]) -> NetworkSummary {
        let mut record = sandbox_report.and_then(NetworkRecord::from_words).unwrap_or_default();
        record
            .events
            .retain(|event| event.event != NetworkEventKind::Refused || !not_needed.contains(&event.name));
        let list = |kind, one: fn(&NetworkEvent) -> String| {
            let mut names: Vec<String> = record.of(kind).take(SHOWN).map(one).collect();
            let more = record.of(kind).count() - names.len();
            if more > 0 {
                names.push(format!("and {more} more"));
            }
            (!names.is_empty()).then(|| names.join(", "))
        };
        let counted = |event: &NetworkEvent| match event.count {
            1 => event.name.clone(),
            times => format!("{} ({times} times)", event.name),
        };
        let failed = |event: &NetworkEvent| {
            let port = event.port.map(|port| format!(":{port}")).unwrap_or_default();
            format!("{}{port}: {}", event.name, event.reason.as_deref().unwrap_or("no reason is known"))
        };
        NetworkSummary {
            refused: list(NetworkEventKind::Refused, counted),
            refused_names: record
                .of(NetworkEventKind::Refused)
                .take(SHOWN)
                .map(|event| event.name.clone())
                .collect(),
            failed: list(NetworkEventKind::Failed, failed),
            used_up: list(NetworkEventKind::UsedUp, counted),
        }
    }

    /// Lines after the result of a command, each with its line break in front.
    pub(crate) fn for_model(&self) -> String {
        let mut text = String::new();
        if let Some(names) = &self.refused {
            text.push_str(&format!(
                "\n[refused: {names}: these hosts are not allowed; name what the command needs in `network`]"
            ));
        }
        if let Some(hosts) = &self.failed {
            text.push_str(&format!("\n[no connection to {hosts}]"));
        }
        if let Some(names) = &self.used_up {
            let limit = count::of(placet_sandbox::MOST_SHARED_NAMES, "name");
            text.push_str(&format!(
                "\n[refused: {names}: wildcards allow at most {limit} with two ports for one command]"
            ));
        }
        text
    }

    /// The same for the line of a call on the screen.
    pub(crate) fn for_person(&self) -> String {
        let refused = self.refused.iter().chain(&self.used_up).map(|names| format!(" · refused: {names}"));
        let failed = self.failed.iter().map(|hosts| format!(" · no connection to {hosts}"));
        refused.chain(failed).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_summary_names_what_was_refused_and_how_to_allow_it() {
        let mut events = String::new();
        for (number, count) in (1..=7).zip([3, 1, 1, 1, 1, 1, 1]) {
            events.push_str(&format!(r#"{{"event":"refused","name":"h{number}.example","count":{count}}},"#));
        }
        let failed = r#"{"event":"failed","name":"a.example","port":443,"reason":"refused","count":2}"#;
        let summary = NetworkSummary::of(Some(&format!(r#"{{"events":[{events}{failed}]}}"#)));
        assert_eq!(
            summary.refused_names,
            ["h1", "h2", "h3", "h4", "h5"].map(|name| format!("{name}.example"))
        );
        let report = r#"{"events":[{"event":"refused","name":"a.example","count":1}]}"#;
        assert_eq!(NetworkSummary::without(Some(report), &["a.example".into()]), NetworkSummary::default());
        assert_eq!(
            summary.for_model(),
            "\n[refused: h1.example (3 times), h2.example, h3.example, h4.example, h5.example, and 2 more: these hosts are not allowed; name what the command needs in `network`]\n[no connection to a.example:443: refused]"
        );
        let person = " · refused: h1.example (3 times), h2.example, h3.example, h4.example, h5.example, and 2 more · no connection to a.example:443: refused";
        assert_eq!(summary.for_person(), person);
        for nothing in [None, Some("{}"), Some("what?"), Some(r#"{"events":[]}"#)] {
            assert_eq!(NetworkSummary::of(nothing), NetworkSummary::default());
        }
    }
}
