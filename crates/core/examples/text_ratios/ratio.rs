//! The compression of slices of a text.

/// A result, or an error to be shown as it is.
pub type Result<T> = std::result::Result<T, Box<dyn std::error::Error>>;

/// A compressor by name: the number of bytes that it makes of a slice.
pub struct Codec {
    pub name: &'static str,
    pub compressed_bytes: fn(&[u8]) -> Result<usize>,
}

/// The codecs that stores use, each as they use it: raw blocks, with no frame around them.
pub const CODECS: [Codec; 3] = [
    Codec {
        name: "Snappy",
        compressed_bytes: |slice| Ok(snap::raw::Encoder::new().compress_vec(slice)?.len()),
    },
    Codec { name: "LZ4", compressed_bytes: |slice| Ok(lz4_flex::block::compress(slice).len()) },
    Codec { name: "zstd 3", compressed_bytes: |slice| Ok(zstd::bulk::compress(slice, 3)?.len()) },
];

/// Compressed over original bytes of `slices` slices of `size` bytes, each compressed by itself, that begin at even
/// distances from the start of `text` to its end. An error where the text is shorter than a slice.
pub fn ratio(codec: &Codec, text: &[u8], size: usize, slices: usize) -> Result<f64> {
    let room = text.len().checked_sub(size).ok_or_else(|| {
        format!("the text has {} bytes, and a slice of {size} bytes was to be cut out of it", text.len())
    })?;
    let mut compressed = 0;
    for slice in 0..slices {
        let start = room * slice / (slices - 1).max(1);
        compressed += (codec.compressed_bytes)(&text[start..start + size])?;
    }
    Ok(compressed as f64 / (size * slices) as f64)
}
