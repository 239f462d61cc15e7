//! The build of a store's engine, as far as it is known.

use serde::{Deserialize, Serialize};

/// The build of a store's engine. A build that its authors would not ship is measured and shown, but never ranked.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct StoreBuild {
    /// Where the library comes from, such as `the distribution's library`.
    pub source: String,
    /// The flags that the compiler was given: optimisation, definitions. Absent where they are not known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub flags: Option<String>,
    /// Whether the engine checks its assertions. Absent if unknown.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub assertions: Option<bool>,
    /// Why such a build is not ranked, in a few words; absent if it is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub not_ranked: Option<String>,
}

impl StoreBuild {
    /// A build of an engine whose authors ship it without assertions: one that has them is not ranked.
    pub fn new(source: impl Into<String>, flags: Option<String>, assertions: Option<bool>) -> StoreBuild {
        let not_ranked = (assertions == Some(true)).then(|| "built with assertions".to_owned());
        StoreBuild { source: source.into(), flags, assertions, not_ranked }
    }
}
