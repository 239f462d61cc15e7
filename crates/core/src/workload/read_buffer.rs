//! The buffer into which values that are read are copied.

pub(super) struct ReadBuffer {
    /// If values are copied, it is the application's, and taking it is part of reading: it is made at first need, which is never
    /// if the session has such a buffer. If they are only touched, it serves the check alone, and is there from the start.
    pub(super) buffer: Vec<u8>,
    /// The last value's, which may be longer than the buffer.
    pub(super) length: usize,
}

impl ReadBuffer {
    /// For values of up to `largest_value` bytes; its memory is taken now if only the check needs it.
    pub(super) fn new(for_check: bool, largest_value: usize) -> ReadBuffer {
        let mut read_buffer = ReadBuffer { buffer: Vec::new(), length: 0 };
        if for_check {
            read_buffer.make_room_for(largest_value);
        }
        read_buffer
    }

    /// Takes and touches the memory, once.
    #[inline(always)]
    pub(super) fn make_room_for(&mut self, largest_value: usize) {
        if self.buffer.is_empty() {
            self.buffer = vec![1; largest_value + 1];
        }
    }

    #[inline(always)]
    pub(super) fn copy(&mut self, value: &[u8]) {
        self.length = value.len();
        let copied_bytes = value.len().min(self.buffer.len());
        self.buffer[..copied_bytes].copy_from_slice(&value[..copied_bytes]);
    }

    /// Reads a byte of every cache line of a value.
    #[inline(always)]
    pub(super) fn touch(&mut self, value: &[u8]) {
        self.length = value.len();
        std::hint::black_box(value.iter().step_by(64).fold(0_u8, |sum, byte| sum.wrapping_add(*byte)));
    }

    /// The value copied last; `None` if it was too long.
    pub(super) fn value(&self) -> Option<&[u8]> {
        self.buffer.get(..self.length)
    }
}
