//! As much of JSON Schema as generated schemas use: enough to hold a value to one.

use serde_json::Value;

/// What is wrong with `value` by `schema`; nothing where it fits.
pub fn misfits(schema: &Value, value: &Value) -> Vec<String> {
    check(schema, schema, value, "$")
}

fn check(root: &Value, schema: &Value, value: &Value, at: &str) -> Vec<String> {
    if schema == &Value::Bool(true) {
        return Vec::new();
    }
    let mut wrong = Vec::new();
    if let Some(path) = schema["$ref"].as_str() {
        let target = root.pointer(path.trim_start_matches('#')).unwrap_or_else(|| panic!("{path}"));
        wrong.extend(check(root, target, value, at));
    }
    if let Some(kinds) = kinds(&schema["type"])
        && !kinds.iter().any(|kind| is(kind, value))
    {
        wrong.push(format!("{at}: {value} is none of {kinds:?}"));
    }
    if let Some(only) = schema.get("const")
        && only != value
    {
        wrong.push(format!("{at}: {value} is not {only}"));
    }
    if let Some(allowed) = schema["enum"].as_array()
        && !allowed.contains(value)
    {
        wrong.push(format!("{at}: {value} is none of {allowed:?}"));
    }
    if let Some(least) = schema["minimum"].as_f64()
        && value.as_f64().is_some_and(|n| n < least)
    {
        wrong.push(format!("{at}: {value} is less than {least}"));
    }
    for name in schema["required"].as_array().into_iter().flatten().filter_map(Value::as_str) {
        if value.get(name).is_none() {
            wrong.push(format!("{at}: `{name}` is missing"));
        }
    }
    if schema["additionalProperties"] == false {
        let known = schema["properties"].as_object();
        for name in value.as_object().into_iter().flatten().map(|(name, _)| name) {
            if !known.is_some_and(|known| known.contains_key(name)) {
                wrong.push(format!("{at}: `{name}` is unknown"));
            }
        }
    }
    for (limit, length) in [
        ("minItems", value.as_array().map(Vec::len)),
        ("minLength", value.as_str().map(|text| text.chars().count())),
    ] {
        if let (Some(least), Some(length)) = (schema[limit].as_u64(), length)
            && (length as u64) < least
        {
            wrong.push(format!("{at}: {limit} is {least}, and this has {length}"));
        }
    }
    for (name, inner) in schema["properties"].as_object().into_iter().flatten() {
        if let Some(inner_value) = value.get(name) {
            wrong.extend(check(root, inner, inner_value, &format!("{at}.{name}")));
        }
    }
    if let Some(items) = schema.get("items") {
        for (n, item) in value.as_array().into_iter().flatten().enumerate() {
            wrong.extend(check(root, items, item, &format!("{at}[{n}]")));
        }
    }
    for one in schema["allOf"].as_array().into_iter().flatten() {
        wrong.extend(check(root, one, value, at));
    }
    for (name, exactly_one) in [("oneOf", true), ("anyOf", false)] {
        let Some(options) = schema[name].as_array() else { continue };
        let tries: Vec<Vec<String>> = options.iter().map(|o| check(root, o, value, at)).collect();
        let fits = tries.iter().filter(|t| t.is_empty()).count();
        if fits == 0 || exactly_one && fits > 1 {
            wrong.push(format!("{at}: {value} fits {fits} of {name}: {tries:?}"));
        }
    }
    wrong
}

fn kinds(of: &Value) -> Option<Vec<&str>> {
    match of {
        Value::String(one) => Some(vec![one]),
        Value::Array(many) => Some(many.iter().filter_map(Value::as_str).collect()),
        _ => None,
    }
}

fn is(kind: &str, value: &Value) -> bool {
    match kind {
        "object" => value.is_object(),
        "array" => value.is_array(),
        "string" => value.is_string(),
        "integer" => value.is_i64() || value.is_u64(),
        "number" => value.is_number(),
        "boolean" => value.is_boolean(),
        "null" => value.is_null(),
        other => panic!("an unknown type: {other}"),
    }
}

#[test]
fn a_value_that_does_not_fit_its_schema_is_told() {
    let schema = serde_json::json!({"type": "object", "required": ["a"], "properties": {
        "a": {"oneOf": [{"const": 1}, {"type": "string"}]}, "b": {"type": ["integer", "null"], "minimum": 0}}});
    let fits = |value| misfits(&schema, &value).is_empty();
    assert!(fits(serde_json::json!({"a": 1, "b": null})));
    assert!(fits(serde_json::json!({"a": "x", "b": 3, "c": true})));
    let closed = serde_json::json!({"type": "object", "additionalProperties": false,
        "properties": {"list": {"minItems": 1}, "word": {"minLength": 2}}});
    assert!(misfits(&closed, &serde_json::json!({"list": [1], "word": "ab"})).is_empty());
    for bad in
        [serde_json::json!({"x": 1}), serde_json::json!({"list": []}), serde_json::json!({"word": "a"})]
    {
        assert_eq!(misfits(&closed, &bad).len(), 1, "{bad}");
    }
    for bad in [serde_json::json!({}), serde_json::json!({"a": 2}), serde_json::json!({"a": 1, "b": -1})] {
        assert!(!fits(bad));
    }
}
