//! Reading records. Logs are read far more often than they are looked at, so the events of which they are full are
//! read in one pass; any other is first held as a value, since its fields can be read only once its name is known.

use super::{Call, Cut, Event, Finish, Outcome, Record, ReplyExtra};
use crate::node::{NodeId, Str};
use serde::Deserialize;
use serde::de::value::MapAccessDeserializer;
use serde::de::{Deserializer, Error, MapAccess, Visitor};
use serde_json::Value;
use std::borrow::Cow;
use std::fmt;

impl<'de> Deserialize<'de> for Record {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_map(Reader)
    }
}

struct Reader;

/// A key or a name: borrowed where the text has no escapes.
#[derive(Deserialize)]
struct Word<'a>(#[serde(borrow)] Cow<'a, str>);

impl<'de> Visitor<'de> for Reader {
    type Value = Record;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an event with its `seq` and `at_ms`")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Record, A::Error> {
        let (mut seq, mut at_ms) = (None, None);
        let mut early = serde_json::Map::new();
        while let Some(Word(key)) = map.next_key()? {
            match &*key {
                "seq" => seq = Some(map.next_value()?),
                "at_ms" => at_ms = Some(map.next_value()?),
                "event" => {
                    let Word(name) = map.next_value()?;
                    let place = seq.zip(at_ms);
                    return match (place, early.is_empty()) {
                        (Some((seq, at_ms)), true) => Ok(Record { seq, at_ms, event: event(&name, map)? }),
                        _ => out_of_order(seq, at_ms, early, &name, map),
                    };
                }
                _ => drop(early.insert(key.into_owned(), map.next_value()?)),
            }
        }
        Err(A::Error::missing_field("event"))
    }
}

/// The event of this name, whose fields are all that is left of the object.
fn event<'de, A: MapAccess<'de>>(name: &str, map: A) -> Result<Event, A::Error> {
    match name {
        "model_replied" => {
            let ModelReplied { activation, saw, finish, text, calls, extra } = fields(map)?;
            Ok(Event::ModelReplied { activation, saw, finish, text, calls, extra })
        }
        "tool_started" => fields(map).map(|ToolStarted { call }| Event::ToolStarted { call }),
        "tool_settled" => {
            let ToolSettled { call, outcome, text, cut } = fields(map)?;
            Ok(Event::ToolSettled { call, outcome, text, cut })
        }
        _ => any(name, fields(map)?),
    }
}

/// An object whose fields stand in another order than we write them: read as a whole, then again.
fn out_of_order<'de, A: MapAccess<'de>>(
    seq: Option<u32>,
    at_ms: Option<u64>,
    mut early: serde_json::Map<String, Value>,
    name: &str,
    map: A,
) -> Result<Record, A::Error> {
    let late: serde_json::Map<String, Value> = fields(map)?;
    early.extend(late);
    let mut number = |key: &'static str| early.remove(key).as_ref().and_then(Value::as_u64).ok_or_else(|| A::Error::missing_field(key));
    let seq = seq.map_or_else(|| number("seq").and_then(|n| u32::try_from(n).map_err(A::Error::custom)), Ok)?;
    let at_ms = at_ms.map_or_else(|| number("at_ms"), Ok)?;
    Ok(Record { seq, at_ms, event: any(name, early)? })
}

fn any<E: Error>(name: &str, mut fields: serde_json::Map<String, Value>) -> Result<Event, E> {
    fields.insert("event".into(), name.into());
    serde_json::from_value(Value::Object(fields)).map_err(E::custom)
}

fn fields<'de, A: MapAccess<'de>, T: Deserialize<'de>>(map: A) -> Result<T, A::Error> {
    T::deserialize(MapAccessDeserializer::new(map))
}

/// The fields of [`Event::ModelReplied`].
#[derive(Deserialize)]
struct ModelReplied {
    activation: NodeId,
    saw: u32,
    finish: Finish,
    text: Str,
    #[serde(default)]
    calls: Box<[Call]>,
    #[serde(default)]
    extra: Option<Box<ReplyExtra>>,
}

/// The fields of [`Event::ToolStarted`].
#[derive(Deserialize)]
struct ToolStarted {
    call: NodeId,
}

/// The fields of [`Event::ToolSettled`].
#[derive(Deserialize)]
struct ToolSettled {
    call: NodeId,
    outcome: Outcome,
    text: Str,
    #[serde(default)]
    cut: Option<Box<Cut>>,
}

#[cfg(test)]
#[allow(clippy::unwrap_used, clippy::indexing_slicing)]
mod tests {
    use super::*;

    #[test]
    fn the_order_of_fields_does_not_matter() {
        let lines = [
            r#"{"seq":2,"at_ms":7,"event":"tool_settled","call":3,"outcome":"completed","text":"a\"b"}"#,
            r#"{"event":"tool_settled","call":3,"outcome":"completed","text":"a\"b","seq":2,"at_ms":7}"#,
            r#"{"text":"a\"b","at_ms":7,"event":"tool_settled","outcome":"completed","call":3,"seq":2}"#,
        ];
        let read: Vec<Record> = lines.iter().map(|line| serde_json::from_str(line).unwrap()).collect();
        assert!(read.iter().all(|record| *record == read[0]));
        assert_eq!(serde_json::to_string(&read[0]).unwrap(), lines[0]);
        assert_eq!(serde_json::from_value::<Record>(serde_json::to_value(&read[0]).unwrap()).unwrap(), read[0]);
    }

    #[test]
    fn what_is_missing_or_unknown_is_named() {
        let wrong = [
            (r#"{"seq":2,"at_ms":7}"#, "missing field `event`"),
            (r#"{"seq":2,"event":"crashed"}"#, "missing field `at_ms`"),
            (r#"{"at_ms":2,"event":"crashed"}"#, "missing field `seq`"),
            (r#"{"seq":2,"at_ms":7,"event":"tool_settled","call":3,"text":""}"#, "missing field `outcome`"),
            (r#"{"seq":2,"at_ms":7,"event":"of_tomorrow"}"#, "unknown variant `of_tomorrow`"),
            (r#"[2]"#, "an event with its `seq` and `at_ms`"),
        ];
        for (line, why) in wrong {
            let said = serde_json::from_str::<Record>(line).unwrap_err().to_string();
            assert!(said.contains(why), "{line}: {said}");
        }
        let crashed: Record = serde_json::from_str(r#"{"seq":2,"at_ms":7,"event":"crashed"}"#).unwrap();
        assert_eq!(crashed.event, Event::Crashed);
    }
}
