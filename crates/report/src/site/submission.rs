//! Who published a run in a collection of results: a file in the run's folder.

use serde::{Deserialize, Serialize};

/// The name of the file.
pub const FILE: &str = "submission.json";

/// The file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Submission {
    /// The version of its form.
    pub format: u32,
    /// The name under which the run was published.
    pub measured_by: String,
}

impl Submission {
    /// The current version of the form.
    pub const FORMAT: u32 = 1;

    /// By someone of this name.
    pub fn by(name: &str) -> Submission {
        Submission { format: Submission::FORMAT, measured_by: name.to_owned() }
    }

    /// Reads the file's text.
    ///
    /// # Errors
    /// A sentence, when it is not such a file, or one of a newer form.
    pub fn read(text: &str) -> Result<Submission, String> {
        let read: Submission = serde_json::from_str(text).map_err(|error| format!("{FILE}: {error}"))?;
        match read.format <= Submission::FORMAT && !read.measured_by.trim().is_empty() {
            true => Ok(read),
            false => Err(format!("{FILE} is of a newer storebench, or names nobody")),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_is_read_and_nothing_else() {
        let own = Submission::by("Ada");
        assert_eq!(Submission::read(&serde_json::to_string(&own).unwrap()), Ok(own));
        for text in ["", "{}", r#"{"format":2,"measured_by":"Ada"}"#, r#"{"format":1,"measured_by":" "}"#] {
            assert!(Submission::read(text).unwrap_err().contains(FILE), "{text}");
        }
    }
}
