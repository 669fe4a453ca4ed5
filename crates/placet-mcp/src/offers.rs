//! What a server offers in addition to tools: resources to read and prompts to begin a message with. Read within limits,
//! and stored with the list of tools.

use super::template::ServerTemplate;
use rmcp::model::{Prompt, Resource, ResourceTemplate};
use serde::{Deserialize, Serialize};

/// The most resources and prompts of one server that are listed, and the most arguments of a prompt.
const MOST_RESOURCES: usize = 500;
const MOST_PROMPTS: usize = 100;
const MOST_TEMPLATES: usize = 100;
const MOST_ARGUMENTS: usize = 16;
/// The longest address, the longest name and the longest description that a list shows, in bytes.
const LONGEST_URI: usize = 500;
const LONGEST_NAME: usize = 64;
const LONGEST_ABOUT: usize = 200;

/// Hostile text, as all that servers send.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ServerOffers {
    pub resources: Vec<ServerResource>,
    pub prompts: Vec<ServerPrompt>,
    /// Lists of earlier versions have none.
    #[serde(default)]
    pub templates: Vec<ServerTemplate>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ServerResource {
    pub uri: String,
    pub about: String,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ServerPrompt {
    pub name: String,
    pub about: String,
    pub arguments: Vec<ServerPromptArgument>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ServerPromptArgument {
    pub name: String,
    pub is_required: bool,
}

impl ServerOffers {
    pub fn is_empty(&self) -> bool {
        self.resources.is_empty() && self.prompts.is_empty() && self.templates.is_empty()
    }

    /// False when no more are read.
    pub(super) fn add_resources(&mut self, page: Vec<Resource>) -> bool {
        for resource in page {
            if self.resources.len() >= MOST_RESOURCES {
                return false;
            }
            let Resource { uri, name, title, description, .. } = resource;
            // One that cannot be typed is not listed.
            let is_known = self.resources.iter().any(|known| known.uri == uri);
            if !is_known && uri.len() <= LONGEST_URI && is_typed(&uri) {
                let about = about([title, description, Some(name)]);
                self.resources.push(ServerResource { uri, about });
            }
        }
        true
    }

    /// False when no more are read.
    pub(super) fn add_templates(&mut self, page: Vec<ResourceTemplate>) -> bool {
        for template in page {
            if self.templates.len() >= MOST_TEMPLATES {
                return false;
            }
            let ResourceTemplate { uri_template: uri, name, title, description, .. } = template;
            let is_known = self.templates.iter().any(|known| known.uri == uri);
            // Without a beginning there is nothing to choose.
            let is_usable =
                uri.len() <= LONGEST_URI && is_typed(&uri) && !uri.starts_with('{') && uri.contains('{');
            if !is_known && is_usable {
                let about = about([title, description, Some(name)]);
                self.templates.push(ServerTemplate { uri, about });
            }
        }
        true
    }

    /// False when no more are read.
    pub(super) fn add_prompts(&mut self, page: Vec<Prompt>) -> bool {
        for prompt in page {
            if self.prompts.len() >= MOST_PROMPTS {
                return false;
            }
            let Prompt { name, title, description, arguments, .. } = prompt;
            let is_known = self.prompts.iter().any(|known| known.name == name);
            let arguments = arguments.unwrap_or_default();
            let are_typed = arguments.iter().all(|one| one.name.len() <= LONGEST_NAME && is_typed(&one.name));
            let is_usable = !name.is_empty() && name.len() <= LONGEST_NAME && is_command(&name) && are_typed;
            if is_known || !is_usable || arguments.len() > MOST_ARGUMENTS {
                continue;
            }
            let argument = |one: rmcp::model::PromptArgument| ServerPromptArgument {
                is_required: one.required == Some(true),
                name: one.name,
            };
            let arguments = arguments.into_iter().map(argument).collect();
            self.prompts.push(ServerPrompt { name, about: about([description, title, None]), arguments });
        }
        true
    }
}

/// A text of visible ASCII that is one word.
pub(super) fn is_typed(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_graphic() && byte != b'"')
}

/// A name that can be a command of the shell.
fn is_command(name: &str) -> bool {
    name.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-_:".contains(&byte))
}

/// The first line of the first text that there is.
fn about(texts: [Option<String>; 3]) -> String {
    let text = texts.into_iter().flatten().find(|text| !text.trim().is_empty()).unwrap_or_default();
    let line = text.trim_start().lines().next().unwrap_or_default();
    line.get(..line.floor_char_boundary(LONGEST_ABOUT)).unwrap_or_default().into()
}

#[cfg(test)]
mod tests {
    use super::*;
    use rmcp::model::PromptArgument;

    #[test]
    fn a_list_has_limits_and_only_names_that_can_be_typed() {
        let mut offers = ServerOffers::default();
        let page = |n: usize| -> Vec<Resource> {
            serde_json::from_value(serde_json::json!([{"uri": format!("a://{n}"), "name": "x\ny"}])).unwrap()
        };
        assert!((0..MOST_RESOURCES).all(|n| offers.add_resources(page(n))));
        assert!(!offers.add_resources(page(1_000_000)));
        assert_eq!((offers.resources.len(), offers.resources[0].about.as_str()), (MOST_RESOURCES, "x"));
        let names = ["good", "good", "a b", "", "a/b", "\u{200b}", "x\u{1b}[31m", &"n".repeat(65)];
        offers.add_prompts(names.map(|name| Prompt::new(name, Some("d"), None)).to_vec());
        offers.add_prompts(vec![Prompt::new("bad", Some("d"), Some(vec![PromptArgument::new("a b")]))]);
        assert_eq!(offers.prompts.len(), 1);
    }
}
