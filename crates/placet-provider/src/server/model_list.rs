//! The list of models that a server offers, in its two known forms: OpenAI's and Anthropic's `data`, and Google's
//! `models`, whose names have a prefix. Preserves the server's order and knows nothing of the models.

use serde_json::Value;
use thiserror::Error;

#[derive(Debug, Error)]
pub(crate) enum ModelListError {
    #[error("not a list of models: {0}")]
    Json(#[from] serde_json::Error),
    #[error("not a list of models")]
    NoList,
}

pub(crate) fn ids(text: &str) -> Result<Vec<String>, ModelListError> {
    let value: Value = serde_json::from_str(text)?;
    let list = ["data", "models"].into_iter().find_map(|key| value.get(key)?.as_array());
    let list = list.or_else(|| value.as_array()).ok_or(ModelListError::NoList)?;
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
            assert_eq!(ids(text).unwrap(), ["a", "b"]);
        }
        assert!(ids("<html>").is_err());
        assert_eq!(ids("{}").unwrap_err().to_string(), "not a list of models");
    }
}
