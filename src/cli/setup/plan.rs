//! What the answers change in the settings file: computed before anything is written, so that it can be shown.

use super::key_tool::KeyTool;
use crate::config::TomlText;
use crate::provider::ApiKey;
use crate::text::LineDiff;
use crate::text::visible;

/// Where the key comes from.
#[derive(Clone, Debug)]
pub(super) enum KeyChoice {
    /// From where placet has it now, in a few words.
    Keep(String),
    NoKey,
    Typed(ApiKey),
    Variable(String),
    Command(String),
}

/// Where a key that was typed is stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum KeyPlace {
    File,
    Tool(KeyTool),
}

/// All answers.
#[derive(Debug)]
pub(super) struct SetupAnswers {
    pub(super) provider: String,
    /// What a server of the person's own speaks, and where it is.
    pub(super) wire: Option<&'static str>,
    pub(super) address: Option<String>,
    pub(super) key: KeyChoice,
    pub(super) place: KeyPlace,
    /// The variable in which the key is looked for without a setting.
    pub(super) usual_variable: Option<String>,
    pub(super) model: String,
}

/// The file before and after.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct SettingsPlan {
    pub(super) before: String,
    pub(super) after: String,
}

/// Lines of the old file around a change.
const CONTEXT: usize = 2;
/// The most of the difference that is shown, in bytes. The edits of a setup have less than a hundred lines.
const SHOWN: usize = 64 * 1024;

/// `None` where something in the file is in the way: a key where a table must be.
pub(super) fn plan(before: &str, answers: &SetupAnswers) -> Option<SettingsPlan> {
    let mut file = TomlText::parse(before).ok()?;
    let name = answers.provider.as_str();
    let set = |file: &mut TomlText, key: &str, text: &str, comment: &str| {
        file.set(&["providers", name, key], text, comment)
    };
    let mut done = file.set(&["provider"], name, "The provider that answers: `placet setup` changes it.");
    if let Some(wire) = answers.wire {
        done &= set(&mut file, "dialect", wire, "What the server speaks.");
    }
    if let Some(address) = &answers.address {
        done &= set(&mut file, "base_url", address, "Where the server is.");
    }
    // What comes before the chosen place in the order in which placet looks for a key must go.
    let gone: &[&str] = match (&answers.key, answers.place) {
        (KeyChoice::Keep(_), _) => &[],
        (KeyChoice::Typed(_), KeyPlace::Tool(tool)) => {
            done &= set(&mut file, "api_key_command", &tool.read_command(name), "Prints the key.");
            &["keyring", "key_env"]
        }
        (KeyChoice::Command(line), _) => {
            done &= set(&mut file, "api_key_command", line, "Prints the key.");
            &["keyring", "key_env"]
        }
        (KeyChoice::Variable(variable), _) => {
            let is_usual = answers.usual_variable.as_deref() == Some(variable);
            if !is_usual || file.get(&["providers", name, "key_env"]).is_some() {
                done &= set(&mut file, "key_env", variable, "The environment variable with the key.");
            }
            &["api_key_command", "keyring"]
        }
        (KeyChoice::Typed(_), KeyPlace::File) => &["api_key_command", "keyring"],
        (KeyChoice::NoKey, _) => &["api_key_command", "keyring", "key_env"],
    };
    for key in gone {
        file.remove(&["providers", name, key]);
    }
    if gone.contains(&"api_key_command") {
        file.remove(&["api_key_command"]);
    }
    // A model for all providers wins over the provider's own.
    let comment = "The model, by the provider's name for it.";
    done &= match file.get(&["model"]).is_some() {
        true => file.set(&["model"], &answers.model, comment),
        false => set(&mut file, "model", &answers.model, comment),
    };
    done.then(|| SettingsPlan { before: before.into(), after: file.text() })
}

impl SettingsPlan {
    pub(super) fn is_empty(&self) -> bool {
        self.before == self.after
    }

    /// The difference as lines, each with the label of its style.
    pub(super) fn lines(&self) -> Vec<(String, &'static str)> {
        let diff = LineDiff::new(&self.before, &self.after).unified(CONTEXT, SHOWN);
        let is_new = self.before.is_empty();
        let lines = diff.text.lines().filter(|line| !is_new || !line.starts_with("@@"));
        let label = |line: &str| match line.as_bytes().first() {
            Some(b'+') => "diff.add",
            Some(b'-') => "diff.remove",
            Some(b'@') => "diff.hunk",
            _ => "text",
        };
        lines
            .map(|line| (visible::guard_line(line.trim_end_matches('\r')).into_owned(), label(line)))
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn answers(provider: &str, key: KeyChoice) -> SetupAnswers {
        SetupAnswers {
            provider: provider.into(),
            wire: None,
            address: None,
            key,
            place: KeyPlace::File,
            usual_variable: Some("ANTHROPIC_API_KEY".into()),
            model: "m-1".into(),
        }
    }

    #[test]
    fn only_what_is_needed_changes() {
        let typed = || KeyChoice::Typed(ApiKey::new("sk-canary"));
        let after = |before: &str, answers: &SetupAnswers| plan(before, answers).unwrap().after;
        let own = SetupAnswers {
            wire: Some("openai-chat"),
            address: Some("http://h/v1".into()),
            ..answers("my.llm", KeyChoice::NoKey)
        };
        insta::assert_snapshot!(after("", &own), @r#"
        # The provider that answers: `placet setup` changes it.
        provider = "my.llm"

        [providers."my.llm"]
        # What the server speaks.
        dialect = "openai-chat"
        # Where the server is.
        base_url = "http://h/v1"
        # The model, by the provider's name for it.
        model = "m-1"
        "#);
        let before = "# mine\nprovider = \"x\" # why\nmodel = \"old\"\napi_key_command = \"old\"\n\n[providers.anthropic]\nkeyring = \"k\"\n";
        assert_eq!(
            after(before, &answers("anthropic", typed())),
            "# mine\nprovider = \"anthropic\" # why\nmodel = \"m-1\"\n\n[providers.anthropic]\n"
        );
        assert_eq!(
            after(before, &answers("anthropic", KeyChoice::Keep("k".into()))),
            before.replace("\"x\"", "\"anthropic\"").replace("model = \"old\"", "model = \"m-1\"")
        );
        let tool = SetupAnswers { place: KeyPlace::Tool(KeyTool::Pass), ..answers("anthropic", typed()) };
        assert!(after("", &tool).contains("api_key_command = \"pass show placet/anthropic\"\n"));
        let variable = |name: &str| after("", &answers("anthropic", KeyChoice::Variable(name.into())));
        assert!(!variable("ANTHROPIC_API_KEY").contains("key_env"));
        assert!(variable("WORK_KEY").contains("key_env = \"WORK_KEY\"\n"));
        for all in [after("", &tool), after("", &answers("anthropic", typed()))] {
            assert!(!all.contains("canary"), "{all}");
        }
    }

    #[test]
    fn a_file_in_which_a_key_is_in_the_way_is_not_planned() {
        assert_eq!(plan("providers = 1\n", &answers("a", KeyChoice::NoKey)), None);
        assert_eq!(plan("not toml", &answers("a", KeyChoice::NoKey)), None);
    }
}
