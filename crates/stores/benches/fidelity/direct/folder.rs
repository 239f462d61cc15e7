//! A file per record, by the standard library.

use std::fs::File;
use std::io::{Read, Write};
use std::path::{Path, PathBuf};

use storebench_core::record::Key;

use super::Engine;

pub struct Folder {
    folder: PathBuf,
}

impl Folder {
    fn path(&self, key: &Key) -> PathBuf {
        self.folder.join(std::str::from_utf8(key).expect("keys are hexadecimal"))
    }
}

impl Engine for Folder {
    fn open(folder: &Path) -> Folder {
        Folder { folder: folder.to_path_buf() }
    }

    fn put(&mut self, key: &Key, value: &[u8]) {
        let mut file = File::create(self.path(key)).expect("a file can be opened");
        file.write_all(value).expect("a file can be written");
    }

    fn get(&mut self, key: &Key, buffer: &mut [u8]) -> usize {
        let mut file = File::open(self.path(key)).expect("a file can be opened");
        let length = file.metadata().expect("a file has a length").len() as usize;
        file.read_exact(&mut buffer[..length]).expect("a file can be read");
        length
    }
}
