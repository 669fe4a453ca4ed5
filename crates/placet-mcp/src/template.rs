//! Templates of addresses: `guide://{topic}/{page}`. What is typed of an address says which value is being typed, and the
//! server may complete it.

use serde::{Deserialize, Serialize};
use std::collections::HashMap;

/// A template of a server: hostile text.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ServerTemplate {
    pub uri: String,
    pub about: String,
}

/// The value of a template that is being typed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct OpenVariable {
    pub name: String,
    pub value: String,
    /// What is typed before the value.
    pub before: String,
    /// The values before this one.
    pub earlier: HashMap<String, String>,
}

impl ServerTemplate {
    /// The address up to the first value.
    pub fn beginning(&self) -> &str {
        self.uri.split('{').next().unwrap_or_default()
    }

    /// The first value that `typed` lacks, if it is this template, or its beginning up to a value.
    pub fn missing_value(&self, typed: &str) -> Option<String> {
        if self.uri == typed {
            let expression = self.uri.split(['{', '}']).nth(1).unwrap_or_default();
            return Some(expression.trim_start_matches(|c: char| !c.is_ascii_alphanumeric()).into());
        }
        self.open_variable(typed).filter(|open| open.value.is_empty()).map(|open| open.name)
    }

    /// The value that is being typed at the end of `typed`. Only plain values are known: `{name}` and `{+name}`.
    pub fn open_variable(&self, typed: &str) -> Option<OpenVariable> {
        let mut rest_of_template = self.uri.as_str();
        let mut at = 0;
        let mut earlier = HashMap::new();
        loop {
            let (literal, after) = rest_of_template.split_once('{')?;
            let rest = typed.get(at..)?.strip_prefix(literal)?;
            at += literal.len();
            let (expression, after) = after.split_once('}')?;
            let name = expression.strip_prefix('+').unwrap_or(expression);
            if name.is_empty()
                || !name.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"_.-".contains(&byte))
            {
                return None;
            }
            // The value ends where the next fixed text begins.
            let border = after.split('{').next().unwrap_or_default();
            let end = if border.is_empty() { None } else { rest.find(border) };
            let Some(end) = end else {
                let before = typed.get(..at)?.to_string();
                return Some(OpenVariable { name: name.into(), value: rest.into(), before, earlier });
            };
            earlier.insert(name.to_string(), rest.get(..end)?.to_string());
            at += end;
            rest_of_template = after;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn open(template: &str, typed: &str) -> Option<(String, String, String)> {
        let template = ServerTemplate { uri: template.into(), about: String::new() };
        template.open_variable(typed).map(|open| (open.name, open.value, open.before))
    }

    #[test]
    fn the_value_at_the_end_of_what_is_typed_is_open() {
        let some = |name: &str, value: &str, before: &str| Some((name.into(), value.into(), before.into()));
        assert_eq!(open("a://{x}", "a://"), some("x", "", "a://"));
        assert_eq!(open("a://{x}/b/{+y}", "a://1/b/2"), some("y", "2", "a://1/b/"));
        assert_eq!(open("a://{x}/b/{y}", "a://1/"), some("x", "1/", "a://"));
        assert_eq!(open("a://{x}/end", "a://1/end"), None);
        for (template, typed) in
            [("a://{x}", "a:/"), ("a://{x}", "b://1"), ("a://{?x,y}", "a://"), ("a://{x", "a://1")]
        {
            assert_eq!(open(template, typed), None, "{template} {typed}");
        }
        let template = ServerTemplate { uri: "a://{x}/{y}".into(), about: String::new() };
        let open = template.open_variable("a://é/2").unwrap();
        assert_eq!((open.earlier.get("x").map(String::as_str), open.value.as_str()), (Some("é"), "2"));
        assert_eq!(template.beginning(), "a://");
        let missing = |typed: &str| template.missing_value(typed);
        assert_eq!(missing("a://{x}/{y}").as_deref(), Some("x"));
        let lists = ServerTemplate { uri: "a://{?x,y}".into(), about: String::new() };
        assert_eq!(lists.missing_value("a://{?x,y}").as_deref(), Some("x,y"));
        assert_eq!((missing("a://").as_deref(), missing("a://1/").as_deref()), (Some("x"), Some("y")));
        assert_eq!((missing("a://1/2"), missing("a://1"), missing("b://")), (None, None, None));
    }
}
