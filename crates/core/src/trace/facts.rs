//! The facts that a plan keeps of its trace: enough to distinguish traces, to plan with, and to play it in
//! bounded memory.

use std::fmt;
use std::str::FromStr;

use storebench_model::sanitize::quoted;
use storebench_model::units::as_text;

use super::form::Form;
use super::operation::TraceOperation;

/// Makes a struct of numbers that is written as `name=number` and read back.
macro_rules! facts {
    ($($(#[$help:meta])* $name:ident,)*) => {
        /// The facts of a trace that are known before it is played.
        #[derive(Debug, Clone, PartialEq, Eq)]
        #[allow(missing_docs, reason = "bytes are those of the keys above")]
        pub struct Facts {
            /// The SHA-256 of its file, in hexadecimal.
            pub sha256: String,
            /// The form in which it is written.
            pub form: Form,
            $($(#[$help])* pub $name: u64,)*
        }

        impl Facts {
            /// A trace of nothing.
            pub fn empty(form: Form) -> Facts {
                Facts { sha256: String::new(), form, $($name: 0,)* }
            }
        }

        impl fmt::Display for Facts {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                write!(f, "sha256={} form={}", self.sha256, self.form)?;
                $(write!(f, concat!(" ", stringify!($name), "={}"), self.$name)?;)*
                Ok(())
            }
        }

        impl FromStr for Facts {
            type Err = String;

            fn from_str(text: &str) -> Result<Facts, String> {
                let value = |name: &str| {
                    let mut pairs = text.split(' ').filter_map(|pair| pair.split_once('='));
                    let found = pairs.find(|(known, _)| *known == name).map(|(_, value)| value);
                    found.ok_or_else(|| format!("trace_facts has no {name}: storebench itself writes them"))
                };
                let number = |name: &str| {
                    let text = value(name)?;
                    text.parse().map_err(|_| format!("trace_facts: {name} is {}, not a number", quoted(text)))
                };
                Ok(Facts { sha256: value("sha256")?.to_owned(), form: value("form")?.parse()?, $($name: number(stringify!($name))?,)* })
            }
        }
    };
}

facts! {
    /// Operations that were looked at, at most; 0 for all.
    limit,
    /// Operations that read.
    get,
    /// Operations that write.
    set,
    /// Operations that read and write.
    modify,
    /// Operations that remove.
    remove,
    /// Operations that scan.
    scan,
    /// Operations that are not played.
    skip,
    /// From the first operation to the last, in nanoseconds.
    span_ns,
    /// 0: it has no times; 1: whole seconds; 2: finer ones.
    times,
    /// Keys, of which all are counted or one in `one_in`.
    keys,
    /// One key in how many was counted: 1 where the numbers are exact.
    one_in,
    longest_key,
    largest_value,
    /// Bytes of a value from before the trace whose size is nowhere in it: the mean of the written ones.
    unknown_value,
    /// Bytes of all values written.
    write_bytes,
    /// Keys that are looked for before they are written.
    load_keys,
    load_key_bytes,
    load_value_bytes,
    /// Of these, keys whose value is never replaced nor removed.
    kept_keys,
    kept_key_bytes,
    kept_value_bytes,
    /// Keys that hold a value written by the trace, at its end.
    written_keys,
    written_key_bytes,
    written_value_bytes,
}

/// [`Facts::times`] of a trace without times.
pub const NO_TIMES: u64 = 0;
/// [`Facts::times`] of whole seconds.
pub const WHOLE_SECONDS: u64 = 1;
/// [`Facts::times`] of finer ones.
pub const FINER_TIMES: u64 = 2;

as_text!(Facts);

impl Facts {
    /// The number of operations of a kind.
    pub fn count(&self, does: TraceOperation) -> u64 {
        match does {
            TraceOperation::Get => self.get,
            TraceOperation::Set => self.set,
            TraceOperation::Modify => self.modify,
            TraceOperation::Remove => self.remove,
            TraceOperation::Scan => self.scan,
            TraceOperation::Skip => self.skip,
        }
    }

    /// The number of operations that are played.
    pub fn played(&self) -> u64 {
        TraceOperation::PLAYED.into_iter().map(|does| self.count(does)).sum()
    }

    /// The number of operations that write a value.
    pub fn writes(&self) -> u64 {
        self.set + self.modify
    }

    /// Whether its times are whole seconds.
    pub fn has_whole_seconds(&self) -> bool {
        self.times == WHOLE_SECONDS
    }

    /// Whether it has times.
    pub fn has_times(&self) -> bool {
        self.times != NO_TIMES
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn facts_are_read_back_as_they_were_written() {
        let facts = Facts { sha256: "ab12".into(), get: 7, span_ns: u64::MAX, ..Facts::empty(Form::Twitter) };
        assert_eq!(facts.to_string().parse(), Ok(facts.clone()));
        let renamed = facts.to_string().replace(" span_ns", " spun_ns");
        assert!(renamed.parse::<Facts>().unwrap_err().contains("span_ns"));
    }
}
