//! A JSON schema, applied. It knows the words that our schema uses, and stops at any other.

use serde_json::Value;

/// Whether the schema accepts this.
pub(crate) fn accepts(schema: &Value, json: &Value) -> bool {
    Validator { whole: schema }.accepts(schema, json)
}

struct Validator<'a> {
    whole: &'a Value,
}

impl Validator<'_> {
    fn accepts(&self, schema: &Value, json: &Value) -> bool {
        match schema {
            Value::Bool(yes) => *yes,
            Value::Object(words) => words
                .iter()
                .all(|(word, said)| self.word(word, said, schema, json)),
            other => panic!("{other} is no schema"),
        }
    }

    fn word(&self, word: &str, said: &Value, schema: &Value, json: &Value) -> bool {
        let each = || said.as_array().into_iter().flatten();
        let accepted = || each().filter(|one| self.accepts(one, json)).count();
        match word {
            "$schema" | "$defs" | "title" | "description" | "examples" => true,
            "$ref" => self.accepts(self.part(said), json),
            "const" => said == json,
            "enum" => each().any(|one| one == json),
            "oneOf" => accepted() == 1,
            "anyOf" => accepted() > 0,
            "not" => !self.accepts(said, json),
            "type" => is(json, said.as_str().unwrap()),
            "minimum" => json
                .as_f64()
                .is_none_or(|number| said.as_f64() <= Some(number)),
            "maximum" => json
                .as_f64()
                .is_none_or(|number| said.as_f64() >= Some(number)),
            "minLength" => length(json).is_none_or(|length| said.as_u64() <= Some(length)),
            "maxLength" => length(json).is_none_or(|length| said.as_u64() >= Some(length)),
            "required" => {
                each().all(|name| json.is_object() && json.get(name.as_str().unwrap()).is_some())
            }
            "items" => json
                .as_array()
                .is_none_or(|items| items.iter().all(|item| self.accepts(said, item))),
            "properties" => fields(json).all(|(name, value)| {
                said.get(name)
                    .is_none_or(|schema| self.accepts(schema, value))
            }),
            "additionalProperties" => fields(json)
                .filter(|(name, _)| schema["properties"].get(name).is_none())
                .all(|(_, value)| self.accepts(said, value)),
            unknown => panic!("the validator does not know `{unknown}` yet: teach it"),
        }
    }

    fn part(&self, reference: &Value) -> &Value {
        let reference = reference.as_str().unwrap();
        let pointer = reference.strip_prefix('#').unwrap();
        self.whole.pointer(pointer).expect(reference)
    }
}

fn is(json: &Value, kind: &str) -> bool {
    match kind {
        "object" => json.is_object(),
        "array" => json.is_array(),
        "string" => json.is_string(),
        "boolean" => json.is_boolean(),
        "number" => json.is_number(),
        "integer" => json.is_u64() || json.is_i64(),
        unknown => panic!("the validator does not know the type `{unknown}` yet: teach it"),
    }
}

fn length(json: &Value) -> Option<u64> {
    json.as_str()?.chars().count().try_into().ok()
}

fn fields(json: &Value) -> impl Iterator<Item = (&String, &Value)> {
    json.as_object().into_iter().flatten()
}
