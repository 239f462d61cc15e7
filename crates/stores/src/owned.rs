//! A pointer that a C library made and frees.

use std::ptr::NonNull;

use storebench_model::store::{Result, StoreError};

/// A pointer that is freed on drop.
pub struct OwnedPointer<T> {
    pointer: NonNull<T>,
    free: unsafe extern "C" fn(*mut T),
}

impl<T> OwnedPointer<T> {
    /// Fails for a null pointer.
    ///
    /// # Safety
    /// `pointer` is null or this value's alone, and `free` is the library's function for it.
    pub unsafe fn new(pointer: *mut T, free: unsafe extern "C" fn(*mut T)) -> Result<OwnedPointer<T>> {
        match NonNull::new(pointer) {
            Some(pointer) => Ok(OwnedPointer { pointer, free }),
            None => Err(StoreError::Engine("the engine has no memory left".into())),
        }
    }

    pub fn as_ptr(&self) -> *mut T {
        self.pointer.as_ptr()
    }
}

impl<T> Drop for OwnedPointer<T> {
    fn drop(&mut self) {
        // SAFETY: the pointer is this value's alone (see `new`), and freed nowhere else.
        unsafe { (self.free)(self.pointer.as_ptr()) }
    }
}

// SAFETY: moving the pointer to another thread is safe because nobody else has it, and the libraries that it is used
// with (LevelDB, RocksDB) tie no handle to a thread.
unsafe impl<T> Send for OwnedPointer<T> {}
// SAFETY: a shared `OwnedPointer` only gives its pointer out; calls through it are unsafe and answer for themselves.
unsafe impl<T> Sync for OwnedPointer<T> {}
