//! Makes values: one field is its bytes; several each have a length in four bytes, little-endian, first. A field's content
//! follows from the seed, its record, its position, and the version in which it was written last.

use storebench_model::cell::Data;
use storebench_model::units::SizeRange;

use super::choice::EXPONENT;
use super::definition::{Definition, LengthLaw};
use super::versions::{KnownVersions, Versions};
use crate::record::Records;
use crate::record::pool::Pool;

const LENGTH_BYTES: usize = 4;

/// Bits of a version beyond those in the records' own numbers.
const MORE_VERSIONS: u64 = 0xffff;

#[derive(Debug)]
pub struct Fields {
    records: Records,
    /// Fields of a record.
    pub count: u64,
    /// Whether each field has a version; else all have the record's.
    has_field_versions: bool,
}

impl Fields {
    pub fn new(definition: &Definition, data: Data, seed: u64) -> Fields {
        let field = definition.field;
        let size = SizeRange { from: field.least, to: field.most + 1 };
        let records = Records::new(seed, size, Pool::generate(data, seed, size));
        let weights = (1..=field.most - field.least + 1).map(|rank| (rank as f64).powf(-EXPONENT));
        let records = if field.law == LengthLaw::Zipfian { records.with_lengths(weights) } else { records };
        Fields { records, count: definition.fields, has_field_versions: definition.is_partial() }
    }

    pub fn largest(&self) -> usize {
        self.count as usize * (self.records.largest_value() + self.prefix_bytes())
    }

    pub fn mean(&self) -> f64 {
        self.count as f64 * (self.records.mean_value() + self.prefix_bytes() as f64)
    }

    fn prefix_bytes(&self) -> usize {
        if self.count > 1 { LENGTH_BYTES } else { 0 }
    }

    fn slot(&self, field: u64) -> u64 {
        if self.has_field_versions { field } else { 0 }
    }

    fn index(&self, record: u64, field: u64, version: u32) -> u64 {
        ((u64::from(version) >> 8 & MORE_VERSIONS) << 40) | (record * self.count + field)
    }

    /// Appends a field, with its length if there are several.
    fn append_field(&self, record: u64, field: u64, version: u32, out: &mut Vec<u8>) {
        let index = self.index(record, field, version);
        if self.count > 1 {
            let length = self.records.value_length(index, version as u8) as u32;
            out.extend_from_slice(&length.to_le_bytes());
        }
        self.records.append_value(index, version as u8, out);
    }

    /// Replaces `out` by one field.
    pub(crate) fn make_field(&self, record: u64, field: u64, version: u32, out: &mut Vec<u8>) {
        out.clear();
        self.append_field(record, field, version, out);
    }

    /// Replaces `out` by a value whose fields all have this version.
    pub fn make(&self, record: u64, version: u32, out: &mut Vec<u8>) {
        out.clear();
        self.append(record, version, out);
    }

    pub fn append(&self, record: u64, version: u32, out: &mut Vec<u8>) {
        (0..self.count).for_each(|field| self.append_field(record, field, version, out));
    }

    /// Writes `old` with one field replaced to `new`; `false` if `old` is no value.
    #[inline]
    pub fn replace(&self, old: &[u8], field: u64, new_field: &[u8], new: &mut Vec<u8>) -> bool {
        new.clear();
        let Some(range) = self.field_range(old, field) else { return false };
        if new.capacity() < old.len() - range.len() + new_field.len() {
            return false;
        }
        new.extend_from_slice(&old[..range.start]);
        new.extend_from_slice(new_field);
        new.extend_from_slice(&old[range.end..]);
        true
    }

    /// The place of a field; `None` if the value is too short.
    #[inline]
    fn field_range(&self, value: &[u8], field: u64) -> Option<std::ops::Range<usize>> {
        if self.count == 1 {
            return Some(0..value.len());
        }
        let mut start = 0;
        for _ in 0..field {
            start = self.field_end(value, start)?;
        }
        Some(start..self.field_end(value, start)?)
    }

    #[inline]
    fn field_end(&self, value: &[u8], start: usize) -> Option<usize> {
        let length = value.get(start..start + LENGTH_BYTES)?.first_chunk::<LENGTH_BYTES>()?;
        let end = start + LENGTH_BYTES + u32::from_le_bytes(*length) as usize;
        (end <= value.len()).then_some(end)
    }

    /// Whether every field of `value` is in a version that it may have.
    pub fn is_value(&self, record: u64, known: &KnownVersions<'_>, value: &[u8]) -> bool {
        if self.has_field_versions {
            return self.are_fields_known(record, value, |field| known.versions(field));
        }
        known.versions(0).any(|version| self.are_fields_known(record, value, |_| std::iter::once(version)))
    }

    /// Whether a field of `value` is in a version that it may have; only lengths of the fields before it are read.
    pub fn is_field(&self, record: u64, field: u64, known: &KnownVersions<'_>, value: &[u8]) -> bool {
        let Some(range) = self.field_range(value, field) else { return false };
        let bytes = &value[range.start + self.prefix_bytes()..range.end];
        let is_version =
            |version: u32| self.records.is_value(self.index(record, field, version), version as u8, bytes);
        known.versions(self.slot(field)).any(is_version)
    }

    /// Whether `value` is whole, each field in one of its versions.
    fn are_fields_known<V: Iterator<Item = u32>>(
        &self,
        record: u64,
        value: &[u8],
        versions: impl Fn(u64) -> V,
    ) -> bool {
        let mut start = 0;
        for field in 0..self.count {
            let end = if self.count == 1 { Some(value.len()) } else { self.field_end(value, start) };
            let Some(end) = end else { return false };
            let bytes = &value[start + self.prefix_bytes()..end];
            let is_version = |version: u32| {
                self.records.is_value(self.index(record, field, version), version as u8, bytes)
            };
            if !versions(field).any(is_version) {
                return false;
            }
            start = end;
        }
        start == value.len()
    }

    /// Whether a write may leave the value as it was: very short fields are alike by chance.
    pub(crate) fn may_be_alike(&self) -> bool {
        const DISTINCT_BYTES: usize = 8;
        self.records.smallest_value() < DISTINCT_BYTES
    }

    pub fn bytes(&self, versions: &Versions, live: u64) -> u64 {
        // All have one length.
        if self.mean() == self.largest() as f64 {
            return live * self.largest() as u64;
        }
        let field_bytes = |record, field| {
            let version = versions.floor(record, self.slot(field));
            let length = self.records.value_length(self.index(record, field, version), version as u8);
            (length + self.prefix_bytes()) as u64
        };
        (0..live).map(|record| (0..self.count).map(|field| field_bytes(record, field)).sum::<u64>()).sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fields(properties: &str) -> Fields {
        let definition = Definition::from_name("A", &properties.parse().unwrap(), "default").unwrap();
        Fields::new(&definition, Data::Incompressible, 7)
    }

    fn make_value(fields: &Fields, record: u64, version: u32) -> Vec<u8> {
        let mut value = Vec::with_capacity(fields.largest());
        fields.make(record, version, &mut value);
        value
    }

    #[test]
    fn one_field_is_its_bytes_and_several_have_lengths() {
        let single = fields("fieldcount=1");
        assert_eq!((make_value(&single, 3, 1).len(), single.largest(), single.mean()), (100, 100, 100.0));
        let multiple = fields("");
        let value = make_value(&multiple, 3, 1);
        assert_eq!((value.len(), multiple.largest()), (1040, 1040));
        assert_eq!(value[..4], 100_u32.to_le_bytes());
        let varied = fields("fieldlengthdistribution=zipfian");
        assert!((0..100).all(|record| make_value(&varied, record, 1).len() < varied.largest()));
        assert!(varied.mean() < multiple.mean() / 2.0);
    }

    #[test]
    fn a_value_is_itself_in_the_versions_that_it_may_have() {
        for properties in ["", "writeallfields=true", "fieldcount=1", "fieldlengthdistribution=uniform"] {
            let fields = fields(properties);
            for version in [1, 255, 256, 257, 70_000] {
                let value = make_value(&fields, 5, version);
                let may_be_read = |oldest, newest| {
                    fields.is_value(5, &KnownVersions::from_slots(&[oldest; 10], newest), &value)
                };
                let is_value_of = |record, value: &[u8]| {
                    fields.is_value(record, &KnownVersions::from_slots(&[version; 10], version), value)
                };
                for (oldest, newest) in [(version, version), (1, version), (version, version + 3)] {
                    assert!(may_be_read(oldest, newest), "{properties}");
                }
                assert!(!may_be_read(version + 1, version + 3), "{properties}");
                assert!(version == 1 || !may_be_read(version - 1, version - 1), "{properties}");
                assert!(!is_value_of(6, &value) && !is_value_of(5, b""));
                assert!(!is_value_of(5, &value[..value.len() - 1]));
                assert!(!is_value_of(5, &[&value[..], b"x"].concat()));
            }
        }
    }

    #[test]
    fn a_field_is_replaced_and_the_others_stay() {
        for properties in ["", "fieldlengthdistribution=uniform"] {
            let fields = fields(properties);
            let (old, mut new_field, mut new) =
                (make_value(&fields, 5, 1), Vec::new(), Vec::with_capacity(fields.largest()));
            fields.make_field(5, 4, 2, &mut new_field);
            assert!(fields.replace(&old, 4, &new_field, &mut new));
            let versions: Vec<u32> = (0..10).map(|field| if field == 4 { 2 } else { 1 }).collect();
            assert!(fields.is_value(5, &KnownVersions::from_slots(&versions, 2), &new));
            let stale = vec![1, 1, 1, 1, 3, 1, 1, 1, 1, 1];
            assert!(!fields.is_value(5, &KnownVersions::from_slots(&stale, 3), &new));
            // Bytes that are no value are noticed.
            assert!(!fields.replace(b"short", 4, &new_field, &mut new));
            assert!(!fields.replace(&[255; 1040], 4, &new_field, &mut new));
        }
    }

    #[test]
    fn one_field_can_be_held_to_its_versions_alone() {
        for properties in ["", "writeallfields=true", "fieldlengthdistribution=uniform", "fieldcount=2"] {
            let fields = fields(properties);
            let value = make_value(&fields, 5, 7);
            let is_field = |record, field, version, value: &[u8]| {
                fields.is_field(record, field, &KnownVersions::from_slots(&[version; 10], version), value)
            };
            for field in 0..fields.count {
                assert!(is_field(5, field, 7, &value), "{properties} {field}");
                for (record, version, bytes) in [(5, 8, &value[..]), (6, 7, &value[..]), (5, 7, &value[..3])]
                {
                    assert!(!is_field(record, field, version, bytes), "{properties} {field}");
                }
            }
            // Bytes behind the field are not looked at.
            assert!(is_field(5, 0, 7, &value[..value.len() - 1]), "{properties}");
        }
    }

    #[test]
    fn short_fields_may_be_alike() {
        assert!(fields("fieldlength=7").may_be_alike() && !fields("fieldlength=8").may_be_alike());
    }
}
