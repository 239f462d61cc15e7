//! Tables of plans that hold further keys next to the fields of a struct: axes, and parameters of workloads.

use serde::de::value::StringDeserializer;
use serde::de::{DeserializeSeed, Deserializer, Error, IntoDeserializer, MapAccess, Visitor};
use serde::forward_to_deserialize_any;

use super::Axes;
use storebench_core::workload::parameter::Parameters;
use storebench_model::axis::Axis;
use storebench_model::axis::read::{KeySeed, ValueListSeed};

/// The further keys of a table; `None` for a kind that it can't have.
#[derive(Debug, Default)]
pub(super) struct OtherKeys {
    pub axes: Option<Axes>,
    pub parameters: Option<Parameters>,
}

impl OtherKeys {
    /// Whether a key is one of them; an error lists all known keys.
    fn check(&self, name: &str, fields: &[&str]) -> Result<(), String> {
        let axes = self.axes.iter().flat_map(|_| Axis::as_written()).map(|axis| -> &str { axis.name() });
        let parameters = self.parameters.iter().flat_map(|_| Parameters::NAMES.iter().copied());
        // Settings of stores are axes, too, but are not listed.
        let is_axis = self.axes.is_some() && Axis::find(name).is_some();
        let mut known = fields.iter().copied().chain(axes).chain(parameters);
        if is_axis || known.clone().any(|field| field == name) {
            return Ok(());
        }
        let first = known.next().map_or(String::new(), |field| format!("`{field}`"));
        let list = known.fold(first, |list, field| format!("{list}, `{field}`"));
        Err(format!("unknown field `{name}`, expected one of {list}"))
    }

    fn take<'de, A: MapAccess<'de>>(&mut self, name: &str, map: &mut A) -> Result<(), A::Error> {
        match (Axis::find(name), &mut self.axes, &mut self.parameters) {
            (Some(axis), Some(axes), _) if axes.names(axis) => {
                return Err(A::Error::custom(format!("duplicate field `{axis}`")));
            }
            (Some(axis), Some(axes), _) => axes.set(axis, map.next_value_seed(ValueListSeed(axis))?),
            (_, _, Some(parameters)) => parameters.take(name, map)?,
            _ => return Err(A::Error::custom(format!("unknown field `{name}`"))),
        }
        Ok(())
    }
}

/// Reads the fields of a struct, and collects the other keys of its table.
pub(super) struct Fields<'b, D>(pub D, pub &'b mut OtherKeys);

impl<'de, D: Deserializer<'de>> Deserializer<'de> for Fields<'_, D> {
    type Error = D::Error;

    fn deserialize_struct<V: Visitor<'de>>(
        self,
        _name: &'static str,
        fields: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, D::Error> {
        self.0.deserialize_map(Table { fields, others: self.1, inner: visitor })
    }

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, D::Error> {
        self.0.deserialize_any(visitor)
    }

    forward_to_deserialize_any! {
        bool i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 f32 f64 char str string bytes byte_buf option unit unit_struct
        newtype_struct seq tuple tuple_struct map enum identifier ignored_any
    }
}

/// A table: its fields go on to `inner`, a visitor or the way to the entries.
struct Table<'b, T> {
    fields: &'static [&'static str],
    others: &'b mut OtherKeys,
    inner: T,
}

impl<'de, V: Visitor<'de>> Visitor<'de> for Table<'_, V> {
    type Value = V::Value;

    fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.inner.expecting(f)
    }

    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<V::Value, A::Error> {
        self.inner.visit_map(Table { fields: self.fields, others: self.others, inner: map })
    }
}

impl<'de, A: MapAccess<'de>> MapAccess<'de> for Table<'_, A> {
    type Error = A::Error;

    fn next_key_seed<K: DeserializeSeed<'de>>(&mut self, seed: K) -> Result<Option<K::Value>, A::Error> {
        let Table { fields, others, inner: map } = self;
        while let Some(name) = map.next_key_seed(KeySeed(|name: &str| others.check(name, fields)))? {
            if fields.contains(&name.as_str()) {
                let name: StringDeserializer<A::Error> = name.into_deserializer();
                return seed.deserialize(name).map(Some);
            }
            others.take(&name, map)?;
        }
        Ok(None)
    }

    fn next_value_seed<S: DeserializeSeed<'de>>(&mut self, seed: S) -> Result<S::Value, A::Error> {
        self.inner.next_value_seed(seed)
    }
}
