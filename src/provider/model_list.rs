//! The list of models that a server tells, in the two forms there are: OpenAI's and Anthropic's `data`, and Google's
//! `models`, whose names have a prefix. Keeps the server's order and knows nothing of the models.

use serde_json::Value;

pub(super) fn ids(text: &str) -> Result<Vec<String>, String> {
    let value: Value = serde_json::from_str(text).map_err(|e| format!("not a list of models: {e}"))?;
    let list = ["data", "models"].into_iter().find_map(|key| value.get(key)?.as_array());
    let list = list.or_else(|| value.as_array()).ok_or("not a list of models")?;
    let id = |row: &Value| {
        let name = ["id", "name"].into_iter().find_map(|key| row.get(key)?.as_str())?;
        Some(name.strip_prefix("models/").unwrap_or(name).to_string())
    };
    Ok(list.iter().filter_map(id).collect())
}

#[cfg(test)]
mod tests {
    use super::ids;

    #[test]
    fn every_vendors_list_is_read() {
        for text in [
            r#"{"object":"list","data":[{"id":"a"},{"id":"b"}]}"#,
            r#"{"models":[{"name":"models/a"},{"name":"models/b"}]}"#,
            r#"[{"id":"a"},{"id":"b"},{"no":1}]"#,
        ] {
            assert_eq!(ids(text), Ok(vec!["a".to_string(), "b".to_string()]));
        }
        assert!(ids("<html>").is_err());
        assert_eq!(ids("{}"), Err("not a list of models".into()));
    }
}
