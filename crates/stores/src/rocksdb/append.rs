//! Loads past the log and the memory tables: sorted files of records in key order, which the engine adopts ("ingestion").

use std::ffi::CString;
use std::fs;
use std::path::PathBuf;
use std::ptr;

use storebench_model::store::{Result, StoreError};

use super::{RocksDb, check, ffi};
use crate::owned::OwnedPointer;

/// Bytes of a file: as many as the engine's files of the first sorted level, as shipped.
const FILE_BYTES: u64 = 64 << 20;
/// Its name while it is written; the engine's files have other names.
const NAME: &str = "appended.sst.new";

pub struct Appender<'a> {
    store: &'a RocksDb,
    path: PathBuf,
    name: CString,
    /// Dropped before what it was made with.
    writer: OwnedPointer<ffi::SstFileWriter>,
    _made_with: (OwnedPointer<ffi::EnvOptions>, OwnedPointer<ffi::Options>),
}

impl<'a> Appender<'a> {
    pub fn begin(store: &'a RocksDb) -> Result<Appender<'a>> {
        let path = store.folder.join(NAME);
        let name = CString::new(path.as_os_str().as_encoded_bytes()).map_err(StoreError::engine)?;
        let options = store.config.options(&store.library.c)?;
        let (c, mut error) = (&store.library.c, ptr::null_mut());
        // SAFETY: all are ours to free, and the writer goes first; the error is checked before the writer is used.
        unsafe {
            let environment =
                OwnedPointer::new((c.rocksdb_envoptions_create)(), c.rocksdb_envoptions_destroy)?;
            let writer = (c.rocksdb_sstfilewriter_create)(environment.as_ptr(), options.as_ptr());
            let writer = OwnedPointer::new(writer, c.rocksdb_sstfilewriter_destroy)?;
            (c.rocksdb_sstfilewriter_open)(writer.as_ptr(), name.as_ptr(), &raw mut error);
            check(c, error)?;
            Ok(Appender { store, path, name, writer, _made_with: (environment, options) })
        }
    }

    /// Fails also for a record that is not after the one before.
    pub fn write(&mut self, records: &[(&[u8], &[u8])]) -> Result<()> {
        let c = &self.store.library.c;
        for (key, value) in records {
            let (key_ptr, value_ptr) = (key.as_ptr().cast(), value.as_ptr().cast());
            let mut error = ptr::null_mut();
            // SAFETY: the writer is open, and copies key and value.
            unsafe {
                let writer = self.writer.as_ptr();
                (c.rocksdb_sstfilewriter_put)(
                    writer,
                    key_ptr,
                    key.len(),
                    value_ptr,
                    value.len(),
                    &raw mut error,
                );
                check(c, error)?;
            }
        }
        Ok(())
    }

    pub fn is_full(&self) -> bool {
        let (c, mut bytes) = (&self.store.library.c, 0);
        // SAFETY: the writer is open.
        unsafe { (c.rocksdb_sstfilewriter_file_size)(self.writer.as_ptr(), &raw mut bytes) };
        bytes >= FILE_BYTES
    }

    /// Ends the file, which has a record; the engine syncs and adopts it.
    pub fn end(self) -> Result<()> {
        let (c, mut error) = (&self.store.library.c, ptr::null_mut());
        // SAFETY: the handles are valid; the options are ours to free; the errors are checked.
        unsafe {
            (c.rocksdb_sstfilewriter_finish)(self.writer.as_ptr(), &raw mut error);
            check(c, error)?;
            let options = OwnedPointer::new(
                (c.rocksdb_ingestexternalfileoptions_create)(),
                c.rocksdb_ingestexternalfileoptions_destroy,
            )?;
            // Moved, it is not written twice.
            (c.rocksdb_ingestexternalfileoptions_set_move_files)(
                options.as_ptr(),
                u8::from(self.can_be_linked()),
            );
            let (db, files) = (self.store.db.as_ptr(), [self.name.as_ptr()]);
            (c.rocksdb_ingest_external_file)(db, files.as_ptr(), 1, options.as_ptr(), &raw mut error);
            check(c, error)
        }
    }

    /// The engine moves by a hard link, and does not fall back to a copy on every file system without them.
    fn can_be_linked(&self) -> bool {
        let link = self.path.with_extension("link");
        let is_linked = fs::hard_link(&self.path, &link).is_ok();
        is_linked && fs::remove_file(link).is_ok()
    }
}

impl Drop for Appender<'_> {
    fn drop(&mut self) {
        // It is gone if it was moved.
        let _ = fs::remove_file(&self.path);
    }
}
