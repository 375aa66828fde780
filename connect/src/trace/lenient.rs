//! Fields that are read as what they should be, and say nothing where they are something else: traces are written by
//! many hands. Nothing is copied that stands in the source as it is.

use serde::de::value::{MapAccessDeserializer, SeqAccessDeserializer};
use serde::de::{Deserialize, Deserializer, IgnoredAny, MapAccess, SeqAccess, Visitor};
use std::borrow::Cow;
use std::fmt;
use std::marker::PhantomData;

/// A text, or the texts of its parts, a line each; `true` where it is only a flag.
#[derive(Default, Debug)]
pub(super) struct Text<'a>(pub(super) Cow<'a, str>);

/// The text of an argument list: a text as it is, anything else as JSON.
#[derive(Default, Debug)]
pub(super) struct Args<'a>(pub(super) Cow<'a, str>);

/// An object, if it is one.
#[derive(Debug)]
pub(super) struct Object<T>(pub(super) Option<T>);

/// A list, blank if it is none; an element that is no object keeps its place.
#[derive(Debug)]
pub(super) struct List<T>(pub(super) Vec<Object<T>>);

impl<T> Default for Object<T> {
    fn default() -> Self {
        Self(None)
    }
}

impl<T> Default for List<T> {
    fn default() -> Self {
        Self(Vec::new())
    }
}

impl std::ops::Deref for Text<'_> {
    type Target = str;

    fn deref(&self) -> &str {
        &self.0
    }
}

/// What a field of any type says: by default nothing.
trait Says<'de>: Sized {
    fn nothing() -> Self;

    fn text(_text: Cow<'de, str>) -> Self {
        Self::nothing()
    }

    fn flag() -> Self {
        Self::nothing()
    }

    fn list<A: SeqAccess<'de>>(mut list: A) -> Result<Self, A::Error> {
        while list.next_element::<IgnoredAny>()?.is_some() {}
        Ok(Self::nothing())
    }

    fn object<A: MapAccess<'de>>(mut object: A) -> Result<Self, A::Error> {
        while object.next_entry::<IgnoredAny, IgnoredAny>()?.is_some() {}
        Ok(Self::nothing())
    }
}

struct Any<T>(PhantomData<T>);

impl<'de, T: Says<'de>> Visitor<'de> for Any<T> {
    type Value = T;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("JSON")
    }

    fn visit_borrowed_str<E>(self, text: &'de str) -> Result<T, E> {
        Ok(T::text(Cow::Borrowed(text)))
    }

    fn visit_str<E>(self, text: &str) -> Result<T, E> {
        Ok(T::text(Cow::Owned(text.to_owned())))
    }

    fn visit_string<E>(self, text: String) -> Result<T, E> {
        Ok(T::text(Cow::Owned(text)))
    }

    fn visit_bool<E>(self, flag: bool) -> Result<T, E> {
        Ok(if flag { T::flag() } else { T::nothing() })
    }

    fn visit_unit<E>(self) -> Result<T, E> {
        Ok(T::nothing())
    }

    fn visit_none<E>(self) -> Result<T, E> {
        Ok(T::nothing())
    }

    fn visit_i64<E>(self, _: i64) -> Result<T, E> {
        Ok(T::nothing())
    }

    fn visit_u64<E>(self, _: u64) -> Result<T, E> {
        Ok(T::nothing())
    }

    fn visit_f64<E>(self, _: f64) -> Result<T, E> {
        Ok(T::nothing())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, list: A) -> Result<T, A::Error> {
        T::list(list)
    }

    fn visit_map<A: MapAccess<'de>>(self, object: A) -> Result<T, A::Error> {
        T::object(object)
    }
}

impl<'de> Says<'de> for Text<'de> {
    fn nothing() -> Self {
        Self::default()
    }

    fn text(text: Cow<'de, str>) -> Self {
        Self(text)
    }

    fn flag() -> Self {
        Self(Cow::Borrowed("true"))
    }

    fn list<A: SeqAccess<'de>>(mut list: A) -> Result<Self, A::Error> {
        let mut parts = Vec::new();
        while let Some(part) = list.next_element::<Part<'de>>()? {
            parts.extend(part.0);
        }
        Ok(Self(parts.join("\n").into()))
    }
}

/// A part of a message: a text, or an object with one.
struct Part<'a>(Option<Cow<'a, str>>);

impl<'de> Says<'de> for Part<'de> {
    fn nothing() -> Self {
        Self(None)
    }

    fn text(text: Cow<'de, str>) -> Self {
        Self(Some(text))
    }

    fn object<A: MapAccess<'de>>(object: A) -> Result<Self, A::Error> {
        #[derive(serde::Deserialize)]
        struct Fields<'a> {
            #[serde(borrow, default)]
            text: Option<Piece<'a>>,
        }
        let fields = Fields::deserialize(MapAccessDeserializer::new(object))?;
        Ok(Self(fields.text.and_then(|piece| piece.0)))
    }
}

/// A text that is nothing where it is anything else.
struct Piece<'a>(Option<Cow<'a, str>>);

impl<'de> Says<'de> for Piece<'de> {
    fn nothing() -> Self {
        Self(None)
    }

    fn text(text: Cow<'de, str>) -> Self {
        Self(Some(text))
    }
}

impl<'de> Says<'de> for Args<'de> {
    fn nothing() -> Self {
        Self::default()
    }

    fn text(text: Cow<'de, str>) -> Self {
        Self(text)
    }

    fn list<A: SeqAccess<'de>>(list: A) -> Result<Self, A::Error> {
        let value = serde_json::Value::deserialize(SeqAccessDeserializer::new(list))?;
        Ok(Self(value.to_string().into()))
    }

    fn object<A: MapAccess<'de>>(object: A) -> Result<Self, A::Error> {
        let value = serde_json::Value::deserialize(MapAccessDeserializer::new(object))?;
        Ok(Self(value.to_string().into()))
    }
}

impl<'de, T: Deserialize<'de>> Says<'de> for Object<T> {
    fn nothing() -> Self {
        Self(None)
    }

    fn object<A: MapAccess<'de>>(object: A) -> Result<Self, A::Error> {
        T::deserialize(MapAccessDeserializer::new(object)).map(|object| Self(Some(object)))
    }
}

impl<'de, T: Deserialize<'de>> Says<'de> for List<T> {
    fn nothing() -> Self {
        Self(Vec::new())
    }

    fn list<A: SeqAccess<'de>>(mut list: A) -> Result<Self, A::Error> {
        let mut elements = Vec::new();
        while let Some(element) = list.next_element()? {
            elements.push(element);
        }
        Ok(Self(elements))
    }
}

impl<'de: 'a, 'a> Deserialize<'de> for Text<'a> {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        from.deserialize_any(Any::<Text<'de>>(PhantomData))
    }
}

impl<'de: 'a, 'a> Deserialize<'de> for Part<'a> {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        from.deserialize_any(Any::<Part<'de>>(PhantomData))
    }
}

impl<'de: 'a, 'a> Deserialize<'de> for Piece<'a> {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        from.deserialize_any(Any::<Piece<'de>>(PhantomData))
    }
}

impl<'de: 'a, 'a> Deserialize<'de> for Args<'a> {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        from.deserialize_any(Any::<Args<'de>>(PhantomData))
    }
}

impl<'de, T: Deserialize<'de>> Deserialize<'de> for Object<T> {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        from.deserialize_any(Any::<Self>(PhantomData))
    }
}

impl<'de, T: Deserialize<'de>> Deserialize<'de> for List<T> {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        from.deserialize_any(Any::<Self>(PhantomData))
    }
}
