//! Arguments are read once and strictly. Errors name the field, the expected value and the given value.
//!
//! The schema is generated from the argument type and reduced to what a model needs. The same schema checks the
//! arguments before they are read: what is documented is what is enforced. Nothing is converted here: `"20"` is not 20.
//! [`super::argument_repair`] changes what can mean one thing only.

use super::{ToolError, argument_size};
use placet_text::conversation::ToolSpec;
use placet_text::text::nearest;
use schemars::JsonSchema;
use schemars::generate::SchemaSettings;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};
use std::sync::{Arc, LazyLock};

/// A tool's name and parameters. The parameters are described when they are first needed: a start needs the names only.
#[derive(Clone)]
pub struct ToolSchema {
    name: String,
    spec: Arc<LazyLock<ToolSpec, Box<dyn FnOnce() -> ToolSpec + Send>>>,
}

impl ToolSchema {
    pub fn of<T: JsonSchema>(name: &str, description: &str) -> ToolSchema {
        let (own_name, description) = (name.to_string(), description.trim().to_string());
        ToolSchema::made_later(name, move || {
            let settings = SchemaSettings::draft2020_12().with(|s| {
                s.inline_subschemas = true;
                s.meta_schema = None;
            });
            let mut schema = settings.into_generator().into_root_schema_for::<T>().to_value();
            slim(&mut schema);
            ToolSpec { name: own_name, description, schema }
        })
    }

    fn made_later(name: &str, make: impl FnOnce() -> ToolSpec + Send + 'static) -> ToolSchema {
        ToolSchema { name: name.into(), spec: Arc::new(LazyLock::new(Box::new(make))) }
    }

    pub fn name(&self) -> String {
        self.name.clone()
    }

    /// The schema of a tool that does a part of what this tool does. `parameters` are the parameters that remain; a
    /// name that ends in `?` is optional.
    pub(super) fn narrowed(&self, name: &str, description: &str, parameters: &[&str]) -> ToolSchema {
        let (mut properties, mut required) = (Map::new(), Vec::new());
        for parameter in parameters {
            let plain = parameter.trim_end_matches('?');
            let schema = self.properties().and_then(|all| all.get(plain)).cloned();
            properties.insert(plain.into(), schema.unwrap_or_default());
            if plain == *parameter {
                required.push(Value::from(plain));
            }
        }
        let mut schema = Map::from_iter([("type".to_string(), Value::from("object"))]);
        schema.insert("properties".into(), properties.into());
        if !required.is_empty() {
            schema.insert("required".into(), required.into());
        }
        let spec = ToolSpec { name: name.into(), description: description.into(), schema: schema.into() };
        ToolSchema::made_later(name, move || spec)
    }

    /// The same schema without an optional parameter.
    pub(super) fn without(self, parameter: &'static str) -> ToolSchema {
        let ToolSchema { name, spec: whole } = self;
        ToolSchema::made_later(&name, move || {
            let mut spec = ToolSpec::clone(&whole);
            if let Some(Value::Object(properties)) = spec.schema.get_mut("properties") {
                properties.shift_remove(parameter);
            }
            spec
        })
    }

    /// What a model gets. That numbers are not negative is checked and not said, because no model sends one; nor is which
    /// texts may be long.
    pub fn spec(&self) -> ToolSpec {
        let mut spec = ToolSpec::clone(&self.spec);
        without_unsaid(&mut spec.schema);
        spec
    }

    /// Refuses arguments that are too long, before anything else looks at them.
    pub(super) fn refuse_long(&self, input: &Value) -> Result<(), ToolError> {
        input.as_object().map_or(Ok(()), |given| argument_size::check(given, &self.spec.schema))
    }

    pub fn parse<T: DeserializeOwned>(&self, input: &Value) -> Result<T, ToolError> {
        let Value::Object(given) = input else {
            return Err(self.error(format!("the arguments are {}, not an object", describe(input))));
        };
        self.refuse_long(input)?;
        let mut given = given.clone();
        given.retain(|name, value| self.required(name) || !self.is_left_out(name, value));
        self.check(&given)?;
        serde_json::from_value(Value::Object(given))
            .map_err(|e| self.error(format!("invalid arguments: {e}")))
    }

    fn check(&self, given: &Map<String, Value>) -> Result<(), ToolError> {
        self.check_fields(given, &self.spec.schema, None)
    }

    /// The fields of the arguments, or of one item of a list of them.
    fn check_fields(
        &self,
        given: &Map<String, Value>,
        schema: &Value,
        item: Option<(&str, usize)>,
    ) -> Result<(), ToolError> {
        let known = schema.get("properties").and_then(Value::as_object);
        let place = item.map_or(String::new(), |(list, n)| format!(" of item {} of `{list}`", n + 1));
        if let Some(extra) = given.keys().find(|name| known.is_none_or(|k| !k.contains_key(*name))) {
            let names = known.into_iter().flat_map(Map::keys).map(String::as_str);
            let meant = nearest(extra, names).map(|n| format!("; did you mean `{n}`?")).unwrap_or_default();
            let of = if item.is_some() { place } else { format!(" of `{}`", self.spec.name) };
            return Err(self.error(format!("unknown parameter `{extra}`{of}{meant}")));
        }
        for (name, field) in known.into_iter().flatten() {
            match given.get(name) {
                None if is_required(schema, name) => {
                    let wanted = expected(field);
                    return Err(self.error(format!("`{name}`{place} is missing: it must be {wanted}")));
                }
                Some(Value::Null) if !is_required(schema, name) => {}
                Some(value) if !fits(value, field) => {
                    let (wanted, got) = (expected(field), describe(value));
                    return Err(self.error(format!("`{name}`{place} must be {wanted}, got {got}")));
                }
                Some(Value::Array(items)) => self.check_items(name, items, field)?,
                _ => {}
            }
        }
        Ok(())
    }

    /// The items of a list of objects.
    fn check_items(&self, list: &str, items: &[Value], schema: &Value) -> Result<(), ToolError> {
        let schema = schema.get("items").filter(|s| s.get("properties").is_some_and(Value::is_object));
        let Some(schema) = schema else { return Ok(()) };
        for (n, item) in items.iter().enumerate() {
            let Value::Object(fields) = item else {
                let (n, got) = (n + 1, describe(item));
                return Err(self.error(format!("item {n} of `{list}` must be an object, got {got}")));
            };
            self.check_fields(fields, schema, Some((list, n)))?;
        }
        Ok(())
    }

    fn properties(&self) -> Option<&Map<String, Value>> {
        self.spec.schema.get("properties").and_then(Value::as_object)
    }

    /// `null` for an optional parameter means that the parameter is absent, and so does an empty text: only a content, or
    /// what has no type, may be empty.
    fn is_left_out(&self, name: &str, value: &Value) -> bool {
        let field = self.properties().and_then(|all| all.get(name));
        let means_nothing =
            |field: &Value| field.get("type").is_some() && field.get(argument_size::CONTENT).is_none();
        value.is_null() || value == "" && field.is_some_and(means_nothing)
    }

    fn required(&self, name: &str) -> bool {
        is_required(&self.spec.schema, name)
    }

    fn error(&self, message: String) -> ToolError {
        let list = self.properties().into_iter().flatten().map(|(name, schema)| {
            let optional = if self.required(name) { "" } else { "?" };
            format!("{name}{optional}: {}", schema.get("type").and_then(Value::as_str).unwrap_or("any"))
        });
        let list: Vec<String> = list.collect();
        ToolError::hint(message, format!("{}({})", self.spec.name, list.join(", ")))
    }
}

fn is_required(schema: &Value, name: &str) -> bool {
    let required = schema.get("required").and_then(Value::as_array);
    required.is_some_and(|names| names.iter().any(|n| n == name))
}

/// Removes from a generated schema what is useless to a model.
fn slim(schema: &mut Value) {
    let Value::Object(object) = schema else { return };
    for noise in ["title", "$schema", "format", "default"] {
        object.remove(noise);
    }
    if let Some(Value::Array(kinds)) = object.get("type") {
        let kept = kinds.iter().find(|k| *k != "null").cloned();
        object.insert("type".into(), kept.unwrap_or(Value::Null));
    }
    if let Some(Value::Array(values)) = object.get_mut("enum") {
        values.retain(|v| !v.is_null());
    }
    if let Some(Value::Array(mut options)) = object.remove("anyOf") {
        // The only option that remains of an optional inlined type.
        options.retain(|o| o.get("type").is_none_or(|t| t != "null"));
        if let Some(Value::Object(only)) = options.into_iter().next() {
            object.extend(only);
        }
        return slim(schema);
    }
    if let Some(Value::Object(properties)) = object.get_mut("properties") {
        properties.values_mut().for_each(slim);
    }
    if object.get("type").is_some_and(|t| t == "object") && !object.contains_key("properties") {
        object.insert("properties".into(), Value::Object(Map::new()));
    }
    if let Some(items) = object.get_mut("items") {
        slim(items);
        // What the type of an item is called says less than the name of the list.
        items.as_object_mut().and_then(|items| items.shift_remove("description"));
    }
}

/// Removes `"minimum": 0` and the keyword of contents, at any depth.
fn without_unsaid(schema: &mut Value) {
    match schema {
        Value::Object(fields) => {
            if fields.get("minimum").is_some_and(|least| *least == 0) {
                fields.shift_remove("minimum");
            }
            fields.shift_remove(argument_size::CONTENT);
            fields.values_mut().for_each(without_unsaid);
        }
        Value::Array(items) => items.iter_mut().for_each(without_unsaid),
        _ => {}
    }
}

fn fits(value: &Value, schema: &Value) -> bool {
    let kind = match schema.get("type").and_then(Value::as_str) {
        Some("string") => value.is_string(),
        Some("boolean") => value.is_boolean(),
        Some("integer") => value.is_i64() || value.is_u64(),
        Some("array") => {
            let items = schema.get("items").unwrap_or(&Value::Null);
            value.as_array().is_some_and(|all| all.iter().all(|one| fits(one, items)))
        }
        _ => true,
    };
    let allowed = schema.get("enum").and_then(Value::as_array).is_none_or(|all| all.contains(value));
    let least = schema.get("minimum").and_then(Value::as_i64);
    kind && allowed && least.is_none_or(|least| value.is_u64() || value.as_i64().is_some_and(|v| v >= least))
}

fn expected(schema: &Value) -> String {
    if let Some(values) = schema.get("enum").and_then(Value::as_array) {
        let words: Vec<String> =
            values.iter().filter_map(Value::as_str).map(|w| format!("\"{w}\"")).collect();
        return format!("one of {}", words.join(", "));
    }
    match schema.get("type").and_then(Value::as_str) {
        Some("string") => "a string".into(),
        Some("boolean") => "true or false".into(),
        Some("integer") => match schema.get("minimum").and_then(Value::as_i64) {
            Some(least) => format!("a whole number, {least} or more"),
            None => "a whole number".into(),
        },
        Some("array") => {
            let items = schema.get("items").map(expected).unwrap_or_default();
            format!("a list in which each item is {items}")
        }
        Some("object") => "an object".into(),
        _ => "another type".into(),
    }
}

fn describe(value: &Value) -> String {
    let short = |text: &str| match text.char_indices().nth(40) {
        Some((at, _)) => format!("\"{}...\"", text.get(..at).unwrap_or_default()),
        None => format!("\"{text}\""),
    };
    match value {
        Value::Null => "null".into(),
        Value::Bool(b) => format!("the boolean {b}"),
        Value::Number(n) => format!("the number {n}"),
        Value::String(text) => format!("the string {}", short(text)),
        Value::Array(all) => format!("a list of {}", all.len()),
        Value::Object(_) => "an object".into(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde::Deserialize;
    use serde_json::json;

    #[derive(Debug, Deserialize, JsonSchema, PartialEq)]
    struct Args {
        /// Where.
        path: String,
        limit: Option<usize>,
        how: Option<TestSpeed>,
        force: Option<bool>,
    }

    #[derive(Debug, Deserialize, JsonSchema, PartialEq)]
    #[serde(rename_all = "snake_case")]
    enum TestSpeed {
        Fast,
        Slow,
    }

    fn shape() -> ToolSchema {
        ToolSchema::of::<Args>("look", "Looks.")
    }

    fn message(input: Value) -> String {
        shape().parse::<Args>(&input).unwrap_err().message
    }

    #[test]
    fn the_schema_holds_what_a_model_needs_and_no_more() {
        assert_eq!(
            shape().spec().schema,
            json!({"type": "object", "properties": {
                "path": {"description": "Where.", "type": "string"},
                "limit": {"type": "integer"},
                "how": {"type": "string", "enum": ["fast", "slow"]},
                "force": {"type": "boolean"}
            }, "required": ["path"]})
        );
    }

    #[test]
    fn errors_name_the_field_what_was_expected_and_what_came() {
        assert_eq!(message(json!({})), "`path` is missing: it must be a string");
        assert_eq!(message(json!({"path": 3})), "`path` must be a string, got the number 3");
        assert_eq!(message(json!({"path": null})), "`path` must be a string, got null");
        let limit = "`limit` must be a whole number, 0 or more, got";
        assert_eq!(message(json!({"path": "a", "limit": "20"})), format!("{limit} the string \"20\""));
        assert_eq!(message(json!({"path": "a", "limit": -1})), format!("{limit} the number -1"));
        assert_eq!(message(json!({"path": "a", "limit": 2.0})), format!("{limit} the number 2.0"));
        assert_eq!(
            message(json!({"path": "a", "how": "warp"})),
            "`how` must be one of \"fast\", \"slow\", got the string \"warp\""
        );
        assert_eq!(
            message(json!({"path": "a", "force": "true"})),
            "`force` must be true or false, got the string \"true\""
        );
        assert_eq!(
            message(json!({"path": "a", "Limit": 1})),
            "unknown parameter `Limit` of `look`; did you mean `limit`?"
        );
        let hint = shape().parse::<Args>(&json!([])).unwrap_err().hint.unwrap();
        assert_eq!(hint.to_string(), "look(path: string, limit?: integer, how?: string, force?: boolean)");
    }

    #[test]
    fn what_is_right_is_read_and_null_or_an_empty_text_means_left_out() {
        for limit in [json!(null), json!("")] {
            let args: Args = shape().parse(&json!({"path": "a", "limit": limit, "how": "slow"})).unwrap();
            assert_eq!(args, Args { path: "a".into(), limit: None, how: Some(TestSpeed::Slow), force: None });
        }
        let args: Args = shape().parse(&json!({"path": "", "how": ""})).unwrap();
        assert_eq!(args, Args { path: String::new(), limit: None, how: None, force: None });
    }
}
