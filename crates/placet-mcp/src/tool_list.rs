//! The tools of a server: read from it within limits, and stored, so that the next session knows them without a start.

use super::offers::ServerOffers;
use placet_text::private;
use placet_text::text::regular_file;
use rmcp::model::Tool;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::collections::BTreeSet;
use std::io;
use std::path::Path;

/// The most tools of one server, and the most pages of its list.
pub(super) const MOST_TOOLS: usize = 256;
pub(super) const MOST_PAGES: usize = 64;
/// The longest description that a model gets, and the largest schema, in bytes.
const LONGEST_DESCRIPTION: usize = 4_000;
const LARGEST_SCHEMA: usize = 32_000;
/// The longest name of a tool.
const LONGEST_NAME: usize = 128;
/// How many tools that disappeared are remembered, the latest: a server could fill the file with names.
const MOST_GONE: usize = 1_000;
/// The largest stored list.
const LARGEST_FILE: u64 = 16 << 20;

/// A tool as its server describes it: hostile text.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ServerToolSpec {
    pub name: String,
    pub description: String,
    pub schema: Value,
    /// The server says that the tool changes nothing.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub says_read_only: bool,
}

/// How many tools of a list are not used, and why.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct LeftOutTools {
    /// Their name or their schema is too long, or is none.
    pub unusable: usize,
    /// The list is longer than placet reads.
    pub is_endless: bool,
}

/// A list as it came from the server.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct FetchedTools {
    pub tools: Vec<ServerToolSpec>,
    pub left_out: LeftOutTools,
    pub offers: ServerOffers,
}

/// What placet knows of the tools of a server.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct KnownTools {
    /// `everything 2.0.0`: hostile text.
    pub server: String,
    pub tools: Vec<ServerToolSpec>,
    #[serde(default)]
    pub left_out: LeftOutTools,
    #[serde(default, skip_serializing_if = "ServerOffers::is_empty")]
    pub offers: ServerOffers,
    /// Tools that are described in another way than before, and that no person has approved since.
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    pub changed: BTreeSet<String>,
    /// Tools that were on an earlier list, the oldest first: one that comes back is compared.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    gone: Vec<GoneTool>,
    /// Some of them were forgotten. Then nobody can say of a name that it is new, and each is asked about.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    has_forgotten: bool,
}

/// A tool that is not on the list any more.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct GoneTool {
    name: String,
    /// What a person has approved; absent if the last definition was approved by nobody.
    approved: Option<ToolDefinitionHash>,
}

/// What a tool was when a person saw it: its name, description and schema, and whether it says that it changes nothing.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ToolDefinitionHash(String);

impl FetchedTools {
    pub(super) fn add(&mut self, page: Vec<Tool>) {
        for tool in page {
            if self.tools.len() >= MOST_TOOLS {
                self.left_out.is_endless = true;
                return;
            }
            match ServerToolSpec::of(tool).filter(|tool| self.tools.iter().all(|t| t.name != tool.name)) {
                Some(tool) => self.tools.push(tool),
                None => self.left_out.unusable += 1,
            }
        }
    }
}

impl ServerToolSpec {
    fn of(tool: Tool) -> Option<ServerToolSpec> {
        let schema = Value::Object(tool.input_schema.as_ref().clone());
        if tool.name.is_empty() || tool.name.len() > LONGEST_NAME || schema.to_string().len() > LARGEST_SCHEMA
        {
            return None;
        }
        let mut description = tool.description.unwrap_or_default().into_owned();
        if description.len() > LONGEST_DESCRIPTION {
            description.truncate(description.floor_char_boundary(LONGEST_DESCRIPTION));
            description.push_str(" [cut here]");
        }
        let says_read_only = tool.annotations.is_some_and(|hints| hints.read_only_hint == Some(true));
        Some(ServerToolSpec { name: tool.name.into_owned(), description, schema, says_read_only })
    }

    /// What an approval of this tool belongs to.
    pub fn definition_hash(&self) -> ToolDefinitionHash {
        let mut hasher = blake3::Hasher::new();
        let schema = self.schema.to_string();
        for part in [&self.name, &self.description, &schema] {
            hasher.update(&part.len().to_le_bytes());
            hasher.update(part.as_bytes());
        }
        hasher.update(&[u8::from(self.says_read_only)]);
        ToolDefinitionHash(hasher.finalize().to_hex().to_string())
    }

    /// The first line of the description, at most `most` bytes.
    pub fn first_line(&self, most: usize) -> &str {
        let line = self.description.trim_start().lines().next().unwrap_or_default();
        line.get(..line.floor_char_boundary(most)).unwrap_or_default().trim_end()
    }
}

impl KnownTools {
    /// What is stored at `path`; `None` if nothing readable is.
    pub fn load(path: &Path) -> Option<KnownTools> {
        let bytes = regular_file::read(path, LARGEST_FILE).ok()?;
        serde_json::from_slice(&bytes).ok()
    }

    pub fn store(&self, path: &Path) -> io::Result<()> {
        private::write(path, &serde_json::to_vec(self)?)
    }

    /// The same after the server sent `fetched`: a tool that was known with other words needs a person's yes, also if it
    /// was away in between.
    #[must_use]
    pub fn updated(&self, server: String, fetched: FetchedTools) -> KnownTools {
        let FetchedTools { tools, left_out, offers } = fetched;
        let differs = |new: &&ServerToolSpec| {
            let gone = || self.gone.iter().find(|gone| gone.name == new.name);
            match self.find(&new.name) {
                Some(known) => self.changed.contains(&new.name) || known != *new,
                None => gone().map_or(self.has_forgotten, |gone| {
                    gone.approved.as_ref() != Some(&new.definition_hash())
                }),
            }
        };
        let changed = tools.iter().filter(differs).map(|tool| tool.name.clone()).collect();
        let names: BTreeSet<&str> = tools.iter().map(|tool| tool.name.as_str()).collect();
        let went =
            self.tools.iter().filter(|tool| !names.contains(tool.name.as_str())).map(|tool| GoneTool {
                name: tool.name.clone(),
                approved: (!self.changed.contains(&tool.name)).then(|| tool.definition_hash()),
            });
        let stayed = self.gone.iter().filter(|gone| !names.contains(gone.name.as_str())).cloned();
        let mut gone: Vec<GoneTool> = stayed.chain(went).collect();
        let too_many = gone.len().saturating_sub(MOST_GONE);
        gone.drain(..too_many);
        let has_forgotten = self.has_forgotten || too_many > 0;
        KnownTools { server, tools, left_out, offers, changed, gone, has_forgotten }
    }

    /// About how many tokens the descriptions take in a request.
    pub fn tokens(&self) -> usize {
        let size = |t: &ServerToolSpec| t.name.len() + t.description.len() + t.schema.to_string().len();
        self.tools.iter().map(size).sum::<usize>().div_ceil(4)
    }

    pub fn find(&self, name: &str) -> Option<&ServerToolSpec> {
        self.tools.iter().find(|tool| tool.name == name)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Arc;

    fn tool(name: &str, description: &str) -> Tool {
        Tool::new(name.to_string(), description.to_string(), Arc::new(serde_json::Map::new()))
    }

    #[test]
    fn a_changed_description_is_remembered_until_it_is_approved() {
        let fetched = |words: &str| {
            let mut fetched = FetchedTools::default();
            fetched.add(vec![tool("a", words), tool("b", "same")]);
            fetched
        };
        let first = KnownTools::default().updated("s 1".into(), fetched("one"));
        assert!(first.changed.is_empty());
        let second = first.updated("s 1".into(), fetched("two"));
        assert_eq!(second.changed, BTreeSet::from(["a".to_string()]));
        assert_eq!(second.updated("s 1".into(), fetched("two")).changed.len(), 1);
        let dir = tempfile::TempDir::new().unwrap();
        second.store(&dir.path().join("x")).unwrap();
        assert_eq!(KnownTools::load(&dir.path().join("x")), Some(second));
    }

    #[test]
    fn a_tool_that_was_away_is_compared_with_what_was_approved() {
        let list = |tools: &[(&str, &str)]| {
            let mut fetched = FetchedTools::default();
            fetched.add(tools.iter().map(|(name, words)| tool(name, words)).collect());
            fetched
        };
        let next = |known: &KnownTools, tools: &[(&str, &str)]| known.updated("s 1".into(), list(tools));
        let first = next(&KnownTools::default(), &[("a", "good"), ("b", "same")]);
        let away = next(&first, &[("b", "same")]);
        let dir = tempfile::TempDir::new().unwrap();
        away.store(&dir.path().join("x")).unwrap();
        assert_eq!(KnownTools::load(&dir.path().join("x")).as_ref(), Some(&away));
        let back = next(&away, &[("a", "other"), ("b", "same")]);
        assert_eq!(back.changed, BTreeSet::from(["a".to_string()]));
        // One that nobody approved is asked about also if it was away in between, and with its first words.
        let again = next(&next(&back, &[]), &[("a", "other"), ("b", "same")]);
        assert_eq!(again.changed, BTreeSet::from(["a".to_string()]));
        assert_eq!(next(&next(&back, &[]), &[("a", "good")]).changed.len(), 1);
        assert!(next(&away, &[("a", "good"), ("b", "same"), ("c", "new")]).changed.is_empty());
        // A server cannot push a name out of the memory with others.
        let mut known = away;
        for page in 0..5 {
            let names: Vec<String> = (0..MOST_TOOLS).map(|n| format!("{page}-{n}")).collect();
            known = next(&known, &names.iter().map(|name| (name.as_str(), "x")).collect::<Vec<_>>());
        }
        known = next(&known, &[("a", "other")]);
        assert_eq!((known.gone.len(), known.changed.len()), (MOST_GONE, 1));
    }

    #[test]
    fn every_part_of_a_definition_is_in_its_hash() {
        let spec = ServerToolSpec {
            name: "a".into(),
            description: "b".into(),
            schema: serde_json::json!({"type": "object"}),
            says_read_only: false,
        };
        let others = [
            ServerToolSpec { name: "ab".into(), description: String::new(), ..spec.clone() },
            ServerToolSpec { description: "c".into(), ..spec.clone() },
            ServerToolSpec { schema: serde_json::json!({"type": "object", "x": 1}), ..spec.clone() },
            ServerToolSpec { says_read_only: true, ..spec.clone() },
        ];
        assert_eq!(spec.definition_hash(), spec.clone().definition_hash());
        assert!(others.iter().all(|other| other.definition_hash() != spec.definition_hash()));
    }

    #[test]
    fn a_list_has_limits() {
        let mut fetched = FetchedTools::default();
        fetched.add((0..300).map(|n| tool(&format!("t{n}"), "x")).collect());
        assert_eq!((fetched.tools.len(), fetched.left_out.is_endless), (256, true));
        let mut fetched = FetchedTools::default();
        fetched.add(vec![tool("", "x"), tool("a", &"é".repeat(10_000)), tool("a", "twice")]);
        assert_eq!((fetched.tools.len(), fetched.left_out.unusable), (1, 2));
        assert!(fetched.tools[0].description.len() < 4_100);
    }
}
