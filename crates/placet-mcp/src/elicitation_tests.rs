//! Forms of servers: what is read of them, and which answers they take.

use super::*;
use serde_json::json;

fn form(properties: &Value) -> Result<ElicitationForm, FormProblem> {
    ElicitationForm::read("m".into(), &json!({"type": "object", "properties": properties, "required": ["a"]}))
}

fn field(schema: &Value) -> FormField {
    form(&json!({"a": schema})).unwrap().fields.remove(0)
}

fn answers(schema: &Value, right: &[(&str, Value)], wrong: &[&str]) {
    let field = field(schema);
    for (typed, value) in right {
        assert_eq!(field.answer(typed).as_ref(), Ok(value), "{schema} {typed}");
    }
    for typed in wrong {
        assert!(field.answer(typed).is_err(), "{schema} {typed}");
    }
}

#[test]
fn an_answer_is_checked_against_the_schema() {
    answers(&json!({"type": "string"}), &[("x y", json!("x y")), ("5", json!("5"))], &[&"x".repeat(4_001)]);
    answers(
        &json!({"type": "string", "minLength": 2, "maxLength": 3}),
        &[("éé", json!("éé"))],
        &["é", "abcd"],
    );
    answers(
        &json!({"type": "string", "format": "email"}),
        &[("a@b.c", json!("a@b.c"))],
        &["a", "@b", "a@", "a b@c"],
    );
    answers(&json!({"type": "string", "format": "uri"}), &[("https://x/", json!("https://x/"))], &["x y"]);
    answers(
        &json!({"type": "string", "format": "date"}),
        &[("2026-02-28", json!("2026-02-28"))],
        &["2026-13-01", "2026-04-31", "26-01-01", "2026-1-1", "x"],
    );
    answers(
        &json!({"type": "string", "format": "date-time"}),
        &[
            ("2026-02-28T10:20:30Z", json!("2026-02-28T10:20:30Z")),
            ("2026-02-28T10:20:30.5+01:00", json!("2026-02-28T10:20:30.5+01:00")),
        ],
        &["2026-02-28", "2026-02-28T25:00:00Z", "2026-02-28T10:20:30", "2026-02-28T10:20Z"],
    );
    answers(
        &json!({"type": "integer", "minimum": 1, "maximum": 9}),
        &[(" 9 ", json!(9))],
        &["0", "10", "1.5", "x", "", "NaN", "1e400"],
    );
    answers(&json!({"type": "number"}), &[("1.50", json!(1.5)), ("-2", json!(-2))], &["x"]);
    answers(&json!({"type": "boolean"}), &[("Yes", json!(true)), ("false", json!(false))], &["maybe", ""]);
}

#[test]
fn values_are_chosen_by_value_or_title() {
    let right = [("r", json!("r")), ("Red", json!("r"))];
    answers(&json!({"type": "string", "enum": ["r", "g"], "enumNames": ["Red", "Green"]}), &right, &["b"]);
    let titled = json!([{"const": "r", "title": "Red"}, {"const": "g", "title": "Green"}]);
    answers(&json!({"type": "string", "oneOf": titled}), &right, &["b", ""]);
    let some = json!({"type": "array", "items": {"anyOf": titled}, "minItems": 1, "maxItems": 1});
    answers(&some, &[("Red", json!(["r"])), ("r,r", json!(["r"]))], &["r, g", "", "b"]);
    let field = field(&json!({"type": "array", "items": {"type": "string", "enum": ["r", "g"]}}));
    assert_eq!(field.answer("g, r"), Ok(json!(["g", "r"])));
    assert_eq!(field.describe(), "values of r, g, with commas between them");
}

#[test]
fn a_default_is_offered_only_if_the_schema_takes_it() {
    assert_eq!(field(&json!({"type": "integer", "default": 5})).choices(), ["5"]);
    assert_eq!(field(&json!({"type": "integer", "default": "five"})).default, None);
    assert_eq!(field(&json!({"type": "string", "enum": ["a"], "default": "b"})).default, None);
    assert_eq!(field(&json!({"type": "boolean", "default": true})).default, Some(json!(true)));
    assert_eq!(field(&json!({"type": "number", "default": 95.5})).default, Some(json!(95.5)));
}

#[test]
fn a_form_has_limits() {
    let many: Map<String, Value> = (0..17).map(|n| (n.to_string(), json!({"type": "boolean"}))).collect();
    assert_eq!(form(&Value::Object(many)), Err(FormProblem::ManyFields));
    let values: Vec<String> = (0..65).map(|n| n.to_string()).collect();
    assert_eq!(form(&json!({"a": {"type": "string", "enum": values}})), Err(FormProblem::Values));
    assert_eq!(form(&json!({"a": {"type": "string", "enum": []}})), Err(FormProblem::Values));
    let huge = json!({"a": {"type": "string", "description": "x".repeat(20_000)}});
    assert_eq!(form(&huge), Err(FormProblem::LargeSchema));
    assert_eq!(ElicitationForm::read("x".repeat(5_000), &json!({})), Err(FormProblem::LongMessage));
    for nested in
        [json!({"type": "object"}), json!({"type": "array", "items": {"type": "object"}}), json!({})]
    {
        assert_eq!(form(&json!({"a": nested})), Err(FormProblem::Kind));
    }
    assert_eq!(form(&json!({})).map(|form| form.fields.len()), Ok(0));
}
