//! Files that hold passwords: as the servers' own programs do, storebench reads those alone that are the user's.

use std::fs::File;
use std::io::{ErrorKind, Read};
use std::os::unix::fs::MetadataExt;
use std::path::Path;

use storebench_model::store::{Result, StoreError};

/// A file's text, if there is one. Fails when others can read it and it has a password; the error says what to do about it.
pub fn read(path: &Path, has_password: impl Fn(&str) -> bool) -> Result<Option<String>> {
    let mut file = match File::open(path) {
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
        file => file.map_err(StoreError::io(format!("opening {}", path.display())))?,
    };
    let read_error = || StoreError::io(format!("reading {}", path.display()));
    let is_private = file.metadata().map_err(read_error())?.mode() & 0o077 == 0;
    let mut text = String::new();
    file.read_to_string(&mut text).map_err(read_error())?;
    if !is_private && has_password(&text) {
        return Err(StoreError::Engine(format!("others can read {}: chmod 600 {0}", path.display())));
    }
    Ok(Some(text))
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
        assert!(read(&path, |_| true).unwrap().is_none());
        fs::write(&path, "secret").unwrap();
        for (mode, is_taken) in [(0o600, true), (0o400, true), (0o640, false), (0o604, false)] {
            fs::set_permissions(&path, Permissions::from_mode(mode)).unwrap();
            assert_eq!(read(&path, |_| false).unwrap().as_deref(), Some("secret"));
            assert_eq!(read(&path, |text| text == "secret").is_ok(), is_taken, "{mode:o}");
        }
    }
}
