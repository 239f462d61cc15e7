//! Files that hold passwords: as the servers' own programs do, storebench reads those alone that are the user's.

use std::fs::File;
use std::io::{ErrorKind, Read};
use std::os::unix::fs::MetadataExt;
use std::path::Path;

use storebench_core::store::{Result, StoreError};

/// A file's text, and whether anyone else can read it.
pub struct PasswordFile {
    pub text: String,
    is_private: bool,
}

pub fn read(path: &Path) -> Result<Option<PasswordFile>> {
    let mut file = match File::open(path) {
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
        file => file.map_err(StoreError::io(format!("opening {}", path.display())))?,
    };
    let read_error = || StoreError::io(format!("reading {}", path.display()));
    let is_private = file.metadata().map_err(read_error())?.mode() & 0o077 == 0;
    let mut text = String::new();
    file.read_to_string(&mut text).map_err(read_error())?;
    Ok(Some(PasswordFile { text, is_private }))
}

impl PasswordFile {
    /// The error says what to do about it.
    pub fn refuse_if_others_read(&self, path: &Path) -> Result<()> {
        if self.is_private {
            return Ok(());
        }
        Err(StoreError::Engine(format!("others can read {}: chmod 600 {0}", path.display())))
    }
}

#[cfg(test)]
mod tests {
    use std::fs::{self, Permissions};
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    #[test]
    fn a_file_that_others_can_read_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("password");
        assert!(read(&path).unwrap().is_none());
        fs::write(&path, "secret").unwrap();
        for (mode, is_taken) in [(0o600, true), (0o400, true), (0o640, false), (0o604, false)] {
            fs::set_permissions(&path, Permissions::from_mode(mode)).unwrap();
            let found = read(&path).unwrap().unwrap();
            assert_eq!(found.text, "secret");
            assert_eq!(found.refuse_if_others_read(&path).is_ok(), is_taken, "{mode:o}");
        }
    }
}
