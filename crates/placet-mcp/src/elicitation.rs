//! A form that a server wants a person to fill in: its fields, read within limits, and what a typed answer means.
//!
//! Everything in a form is the server's own text and hostile until it is rendered.

use serde_json::{Map, Number, Value};
use thiserror::Error;

/// The largest form: its message, its schema, its fields, the values of one field, in bytes or by count.
const LONGEST_MESSAGE: usize = 4_000;
const LARGEST_SCHEMA: usize = 16_000;
const MOST_FIELDS: usize = 16;
const MOST_VALUES: usize = 64;
/// The longest answer to one field, in bytes.
const LONGEST_ANSWER: usize = 4_000;
/// How much of a proposed value is shown, in characters.
const LONGEST_PROPOSAL: usize = 200;

/// What a server asks for.
#[derive(Clone, Debug, PartialEq)]
pub struct ElicitationForm {
    pub message: String,
    pub fields: Vec<FormField>,
}

/// One value of a form.
#[derive(Clone, Debug, PartialEq)]
pub struct FormField {
    pub name: String,
    pub title: Option<String>,
    pub description: Option<String>,
    pub is_required: bool,
    /// What the server proposes.
    pub default: Option<Value>,
    kind: FormFieldKind,
}

#[derive(Clone, Debug, PartialEq)]
enum FormFieldKind {
    Text { least: Option<u64>, most: Option<u64>, format: Option<String> },
    Number { is_whole: bool, least: Option<f64>, most: Option<f64> },
    YesNo,
    OneOf(Vec<FormValue>),
    SomeOf { values: Vec<FormValue>, least: Option<u64>, most: Option<u64> },
}

/// A value that a field may have, and how the server calls it.
#[derive(Clone, Debug, PartialEq)]
struct FormValue {
    value: String,
    title: Option<String>,
}

/// Why a form is not shown: the server learns it.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum FormProblem {
    #[error("the message is longer than {LONGEST_MESSAGE} bytes")]
    LongMessage,
    #[error("the schema is larger than {LARGEST_SCHEMA} bytes")]
    LargeSchema,
    #[error("the schema has more than {MOST_FIELDS} properties")]
    ManyFields,
    #[error("a property has no value to choose, or more than {MOST_VALUES}")]
    Values,
    #[error("a property is of a type that the protocol does not allow in a form")]
    Kind,
}

/// Why a typed text is not an answer to a field.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum FormAnswerError {
    #[error("an answer has at most {LONGEST_ANSWER} bytes")]
    TooLong,
    #[error("it must have at least {0} characters")]
    FewCharacters(u64),
    #[error("it may have at most {0} characters")]
    ManyCharacters(u64),
    #[error("it is not {0}")]
    Format(&'static str),
    #[error("it is not a number")]
    NotANumber,
    #[error("it is not a whole number")]
    NotWhole,
    #[error("it must be at least {0}")]
    TooSmall(String),
    #[error("it may be at most {0}")]
    TooLarge(String),
    #[error("answer yes or no")]
    NotYesNo,
    #[error("it is none of the values")]
    NoSuchValue,
    #[error("choose at least {0} values")]
    FewValues(u64),
    #[error("choose at most {0} values")]
    ManyValues(u64),
}

/// What the server gets.
#[derive(Clone, Debug, PartialEq)]
pub enum ElicitationAnswer {
    Accepted(Map<String, Value>),
    Declined,
    /// The call is being stopped.
    Cancelled,
}

impl ElicitationForm {
    #[cfg(any(test, feature = "test-support"))]
    #[allow(clippy::unwrap_used, reason = "a helper of tests")]
    pub fn for_tests(message: &str, schema: &Value) -> ElicitationForm {
        ElicitationForm::read(message.into(), schema).unwrap()
    }

    /// Reads a message and its schema.
    pub(super) fn read(message: String, schema: &Value) -> Result<ElicitationForm, FormProblem> {
        if message.len() > LONGEST_MESSAGE {
            return Err(FormProblem::LongMessage);
        }
        if schema.to_string().len() > LARGEST_SCHEMA {
            return Err(FormProblem::LargeSchema);
        }
        let no_properties = Map::new();
        let properties = schema.get("properties").and_then(Value::as_object).unwrap_or(&no_properties);
        if properties.len() > MOST_FIELDS {
            return Err(FormProblem::ManyFields);
        }
        let required: Vec<&str> = strings(schema.get("required")).collect();
        let field = |(name, schema): (&String, &Value)| {
            FormField::read(name, schema, required.contains(&name.as_str()))
        };
        let fields = properties.iter().map(field).collect::<Result<_, _>>()?;
        Ok(ElicitationForm { message, fields })
    }
}

impl FormField {
    fn read(name: &str, schema: &Value, is_required: bool) -> Result<FormField, FormProblem> {
        let text = |key: &str| schema.get(key).and_then(Value::as_str).map(String::from);
        let mut field = FormField {
            name: name.into(),
            title: text("title"),
            description: text("description"),
            is_required,
            default: None,
            kind: FormFieldKind::read(schema)?,
        };
        // A default that the schema itself refuses is none.
        let default = schema.get("default").filter(|default| field.takes(default)).cloned();
        field.default = default;
        Ok(field)
    }

    /// What can be answered, for a person, and what the server proposes.
    pub fn describe(&self) -> String {
        match &self.default {
            None => self.describe_kind(),
            Some(value) => {
                let proposed: String = typed(value).chars().take(LONGEST_PROPOSAL).collect();
                format!("{}; the server proposes {proposed}", self.describe_kind())
            }
        }
    }

    fn describe_kind(&self) -> String {
        let range = |least: Option<String>, most: Option<String>, unit: &str| match (least, most) {
            (None, None) => String::new(),
            (Some(least), None) => format!(", at least {least}{unit}"),
            (None, Some(most)) => format!(", at most {most}{unit}"),
            (Some(least), Some(most)) => format!(", {least} to {most}{unit}"),
        };
        let counted = |n: &Option<u64>| n.map(|n| n.to_string());
        match &self.kind {
            FormFieldKind::Text { least, most, format } => {
                let what = format.as_deref().and_then(format_name).unwrap_or("a text");
                format!("{what}{}", range(counted(least), counted(most), " characters"))
            }
            FormFieldKind::Number { is_whole, least, most } => {
                let what = if *is_whole { "a whole number" } else { "a number" };
                format!("{what}{}", range(least.map(plain_number), most.map(plain_number), ""))
            }
            FormFieldKind::YesNo => "yes or no".into(),
            FormFieldKind::OneOf(values) => format!("one of {}", listed(values)),
            FormFieldKind::SomeOf { values, least, most } => {
                let how_many = range(counted(least), counted(most), " values");
                format!("values of {}, with commas between them{how_many}", listed(values))
            }
        }
    }

    /// Answers that can be chosen, if there are few.
    pub fn choices(&self) -> Vec<String> {
        match &self.kind {
            FormFieldKind::YesNo => vec!["yes".into(), "no".into()],
            FormFieldKind::OneOf(values) => values.iter().map(|value| value.value.clone()).collect(),
            _ => self.default.iter().map(typed).collect(),
        }
    }

    /// The value that a typed text means.
    pub fn answer(&self, typed: &str) -> Result<Value, FormAnswerError> {
        if typed.len() > LONGEST_ANSWER {
            return Err(FormAnswerError::TooLong);
        }
        let typed = typed.trim_end_matches(['\n', '\r']);
        match &self.kind {
            FormFieldKind::Text { least, most, format } => {
                let count = typed.chars().count() as u64;
                if let Some(least) = least.filter(|least| count < *least) {
                    return Err(FormAnswerError::FewCharacters(least));
                }
                if let Some(most) = most.filter(|most| count > *most) {
                    return Err(FormAnswerError::ManyCharacters(most));
                }
                match format.as_deref().filter(|format| !has_format(typed, format)).and_then(format_name) {
                    Some(name) => Err(FormAnswerError::Format(name)),
                    None => Ok(typed.into()),
                }
            }
            FormFieldKind::Number { is_whole, least, most } => number(typed.trim(), *is_whole, *least, *most),
            FormFieldKind::YesNo => match typed.trim().to_lowercase().as_str() {
                "yes" | "y" | "true" => Ok(true.into()),
                "no" | "n" | "false" => Ok(false.into()),
                _ => Err(FormAnswerError::NotYesNo),
            },
            FormFieldKind::OneOf(values) => Ok(chosen(values, typed)?.into()),
            FormFieldKind::SomeOf { values, least, most } => {
                let mut all: Vec<String> = Vec::new();
                for one in typed.split(',').map(str::trim).filter(|one| !one.is_empty()) {
                    let value = chosen(values, one)?;
                    if !all.contains(&value) {
                        all.push(value);
                    }
                }
                let count = all.len() as u64;
                if let Some(least) = least.filter(|least| count < *least) {
                    return Err(FormAnswerError::FewValues(least));
                }
                match most.filter(|most| count > *most) {
                    Some(most) => Err(FormAnswerError::ManyValues(most)),
                    None => Ok(all.into()),
                }
            }
        }
    }

    fn takes(&self, value: &Value) -> bool {
        self.answer(&typed(value)).as_ref() == Ok(value)
    }
}

impl FormFieldKind {
    fn read(schema: &Value) -> Result<FormFieldKind, FormProblem> {
        let counted = |key: &str| schema.get(key).and_then(Value::as_u64);
        let bound = |key: &str| schema.get(key).and_then(Value::as_f64);
        if let Some(values) = form_values(schema)? {
            return Ok(FormFieldKind::OneOf(values));
        }
        match schema.get("type").and_then(Value::as_str) {
            Some("string") => Ok(FormFieldKind::Text {
                least: counted("minLength"),
                most: counted("maxLength"),
                format: schema.get("format").and_then(Value::as_str).map(String::from),
            }),
            Some(kind @ ("number" | "integer")) => Ok(FormFieldKind::Number {
                is_whole: kind == "integer",
                least: bound("minimum"),
                most: bound("maximum"),
            }),
            Some("boolean") => Ok(FormFieldKind::YesNo),
            Some("array") => {
                let values = schema.get("items").map(form_values).transpose()?.flatten();
                let values = values.ok_or(FormProblem::Kind)?;
                Ok(FormFieldKind::SomeOf { values, least: counted("minItems"), most: counted("maxItems") })
            }
            _ => Err(FormProblem::Kind),
        }
    }
}

/// The values of `enum`, `oneOf` or `anyOf`; `None` without any of them.
fn form_values(schema: &Value) -> Result<Option<Vec<FormValue>>, FormProblem> {
    let titled = |one: &Value| {
        let value = one.get("const")?.as_str()?.to_string();
        Some(FormValue { value, title: one.get("title").and_then(Value::as_str).map(String::from) })
    };
    let values: Vec<FormValue> = if let Some(list) = schema.get("enum") {
        let mut titles = strings(schema.get("enumNames")).map(String::from);
        strings(Some(list)).map(|value| FormValue { value: value.into(), title: titles.next() }).collect()
    } else if let Some(list) = schema.get("oneOf").or_else(|| schema.get("anyOf")).and_then(Value::as_array) {
        list.iter().map(titled).collect::<Option<_>>().ok_or(FormProblem::Kind)?
    } else {
        return Ok(None);
    };
    if values.is_empty() || values.len() > MOST_VALUES {
        return Err(FormProblem::Values);
    }
    Ok(Some(values))
}

fn strings(list: Option<&Value>) -> impl Iterator<Item = &str> {
    list.and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_str)
}

fn chosen(values: &[FormValue], typed: &str) -> Result<String, FormAnswerError> {
    let by_value = values.iter().find(|one| one.value == typed);
    let typed = typed.trim();
    let found = by_value.or_else(|| values.iter().find(|one| one.value == typed));
    let found = found.or_else(|| values.iter().find(|one| one.title.as_deref() == Some(typed)));
    found.map(|one| one.value.clone()).ok_or(FormAnswerError::NoSuchValue)
}

fn listed(values: &[FormValue]) -> String {
    let one = |value: &FormValue| match &value.title {
        Some(title) if *title != value.value => format!("{} ({title})", value.value),
        _ => value.value.clone(),
    };
    values.iter().map(one).collect::<Vec<_>>().join(", ")
}

/// A value as a person would type it.
fn typed(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Bool(true) => "yes".into(),
        Value::Bool(false) => "no".into(),
        Value::Array(all) => all.iter().map(typed).collect::<Vec<_>>().join(", "),
        other => other.to_string(),
    }
}

fn plain_number(number: f64) -> String {
    number.to_string()
}

fn number(
    typed: &str,
    is_whole: bool,
    least: Option<f64>,
    most: Option<f64>,
) -> Result<Value, FormAnswerError> {
    // As JSON, so that the server gets the digits that were typed.
    let number: Number = serde_json::from_str(typed).map_err(|_| FormAnswerError::NotANumber)?;
    let size = number.as_f64().filter(|size| size.is_finite()).ok_or(FormAnswerError::NotANumber)?;
    if is_whole && !(number.is_i64() || number.is_u64()) {
        return Err(FormAnswerError::NotWhole);
    }
    if let Some(least) = least.filter(|least| size < *least) {
        return Err(FormAnswerError::TooSmall(plain_number(least)));
    }
    match most.filter(|most| size > *most) {
        Some(most) => Err(FormAnswerError::TooLarge(plain_number(most))),
        None => Ok(Value::Number(number)),
    }
}

/// How a format is called; `None` for one that placet does not check.
fn format_name(format: &str) -> Option<&'static str> {
    match format {
        "email" => Some("an e-mail address"),
        "uri" => Some("a URL"),
        "date" => Some("a date (YYYY-MM-DD)"),
        "date-time" => Some("a date with a time (YYYY-MM-DDTHH:MM:SSZ)"),
        _ => None,
    }
}

fn has_format(text: &str, format: &str) -> bool {
    match format {
        "email" => text.split_once('@').is_some_and(|(name, host)| {
            !name.is_empty() && !host.is_empty() && !host.contains('@') && !text.contains(char::is_whitespace)
        }),
        "uri" => reqwest::Url::parse(text).is_ok(),
        "date" => is_date(text),
        "date-time" => text.split_once(['T', 't']).is_some_and(|(date, time)| is_date(date) && is_time(time)),
        _ => true,
    }
}

fn is_date(text: &str) -> bool {
    let parts: Vec<&str> = text.split('-').collect();
    let [year, month, day] = parts.as_slice() else { return false };
    let days = match month.parse::<u8>() {
        Ok(2) => 29,
        Ok(4 | 6 | 9 | 11) => 30,
        Ok(1..=12) => 31,
        _ => return false,
    };
    let is_digits =
        |text: &str, count: usize| text.len() == count && text.bytes().all(|b| b.is_ascii_digit());
    let is_right_day = day.parse::<u8>().is_ok_and(|day| (1..=days).contains(&day));
    is_digits(year, 4) && is_digits(month, 2) && is_digits(day, 2) && is_right_day
}

/// `10:20:30`, with a fraction or without, and with a zone.
fn is_time(text: &str) -> bool {
    let zone = text.rfind(['Z', 'z', '+', '-']);
    let Some((clock, zone)) = zone.and_then(|at| text.split_at_checked(at)) else { return false };
    let is_two = |text: &str, most: u8| text.len() == 2 && text.parse::<u8>().is_ok_and(|n| n <= most);
    let is_zone = match zone.strip_prefix(['+', '-']) {
        Some(zone) => {
            zone.split_once(':').is_some_and(|(hour, minute)| is_two(hour, 23) && is_two(minute, 59))
        }
        None => zone.len() == 1,
    };
    let (clock, fraction) = clock.split_once('.').unwrap_or((clock, "0"));
    let parts: Vec<&str> = clock.split(':').collect();
    let is_clock = match parts.as_slice() {
        [hour, minute, second] => is_two(hour, 23) && is_two(minute, 59) && is_two(second, 60),
        _ => false,
    };
    is_zone && is_clock && !fraction.is_empty() && fraction.bytes().all(|b| b.is_ascii_digit())
}

#[cfg(test)]
#[path = "elicitation_tests.rs"]
mod tests;
