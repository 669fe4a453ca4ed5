//! What a session is made of, entry by entry.

use crate::session::request_cost::RequestCost;
use placet_text::conversation::{ConversationSummary, Message, TokenUsage, Transcript};
use serde::{Deserialize, Serialize};

/// One entry. Entries are never changed; the newest entry about a thing counts.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum SessionRecord {
    Message {
        message: Message,
    },
    /// A picture that the provider will not take: from here on a note takes its place.
    Withheld {
        hash: String,
        reason: String,
    },
    /// The person went back: only the first so many messages still count.
    Rewound {
        messages: usize,
    },
    /// The person went to the end of another branch: the message of this entry is the last one that counts.
    Switched {
        entry: i64,
    },
    /// The messages before some place are sent to the model as this from here on.
    SummedUp {
        summary: ConversationSummary,
    },
    /// The last summary is taken away: its messages are sent again.
    SummaryUndone,
    /// What one request cost.
    Cost {
        #[serde(default)]
        provider: String,
        model: String,
        usage: TokenUsage,
        /// In millionths of a millionth of a dollar; absent where the price is not known.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        picos: Option<u64>,
    },
}

impl SessionRecord {
    /// True for an entry after which other messages count than before.
    pub(in crate::session) fn leaves_a_branch(&self) -> bool {
        matches!(self, SessionRecord::Rewound { .. } | SessionRecord::Switched { .. })
    }
}

/// A session read back.
#[derive(Debug, Default)]
pub struct LoadedSession {
    pub transcript: Transcript,
    pub withheld: Vec<(String, String)>,
    /// Oldest first; the last one holds.
    pub summaries: Vec<ConversationSummary>,
    /// How many messages there were when the person took a summary away, where none was made since.
    pub undone: Option<usize>,
    pub usage: TokenUsage,
    /// Each request that was paid for.
    pub spent: Vec<RequestCost>,
    /// The prompt tokens of the last request: how full the window is.
    pub last_prompt: u64,
    /// What could not be read, or had to be completed, in sentences for the person.
    pub dropped: Vec<String>,
    /// Messages that complete what a crash left unfinished; the process that resumes the session appends them.
    pub repairs: Vec<Message>,
}

impl LoadedSession {
    /// Counts what one request cost.
    pub(in crate::session) fn pay(
        &mut self,
        (provider, model): (String, String),
        usage: TokenUsage,
        picos: Option<u64>,
    ) {
        self.usage += usage;
        let unpriced = u64::from(picos.is_none());
        let (requests, picos, day) = (1, picos.unwrap_or(0), String::new());
        self.spent.push(RequestCost { day, provider, model, requests, unpriced, usage, picos });
        self.last_prompt = usage.prompt();
    }
}

/// Values of which only the newest counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SessionStateKey {
    /// What the model has seen of which file.
    Ledger,
    /// The answer that is streaming now.
    Partial,
    /// The number of the newest entry: what a damaged table must be measured by.
    Entries,
    /// From where on a session that was summed up is read when it is taken up again.
    Place,
    /// How high what the conversation has seen is classified.
    Taint,
    /// How often the conversation went back or over to another branch.
    Branches,
    /// What the screen showed below the last turns: see [`crate::session::ClosingLine`].
    ClosingLines,
    /// What a list says of the session: see [`crate::session::SessionOverview`].
    Overview,
    /// Whether the session was begun by `-p` or in the shell.
    Origin,
    /// The name that makes the session a try: see [`crate::session::TryName`].
    TryName,
}

impl SessionStateKey {
    pub(in crate::session) fn key(self) -> &'static str {
        match self {
            SessionStateKey::Ledger => "ledger",
            SessionStateKey::Partial => "partial",
            SessionStateKey::Entries => "entries",
            SessionStateKey::Place => "place",
            SessionStateKey::Taint => "taint",
            SessionStateKey::Branches => "branches",
            SessionStateKey::ClosingLines => "closing_lines",
            SessionStateKey::Overview => "overview",
            SessionStateKey::Origin => "origin",
            SessionStateKey::TryName => "try_name",
        }
    }
}
