//! The bytes of a trace's file: plain, zstd or gzip, by what the file begins with, and the digest of what was read.

use std::fs::File;
use std::io::{self, BufRead, BufReader, Read, Seek, Write};
use std::path::Path;

use flate2::write::MultiGzDecoder;
use ruzstd::decoding::errors::{FrameDecoderError, ReadFrameHeaderError};
use ruzstd::decoding::{BlockDecodingStrategy, FrameDecoder};
use sha2::{Digest, Sha256};

use storebench_model::read_limited;

/// Bytes that are read at once.
const CHUNK: usize = 128 << 10;
/// The first bytes of a zstd frame, and of a frame to skip, except for the lowest four bits.
const ZSTD: u32 = 0xfd2f_b528;
const SKIPPABLE: u32 = 0x184d_2a50;
const GZIP: &[u8] = b"\x1f\x8b";
/// The first bytes of files that other programs packed, with their names.
const OTHER_PACKINGS: [(&[u8], &str); 4] =
    [(b"BZh", "bzip2"), (b"\xfd7zXZ", "xz"), (b"\x04\x22\x4d\x18", "lz4"), (b"PK\x03\x04", "zip")];
/// Bytes of gzip that are unpacked at once: they may become a thousand times as many.
const GZIP_PIECE: usize = 4 << 10;
/// The mark that some programs begin a text with (U+FEFF), and that of texts in UTF-16.
const BYTE_ORDER_MARK: &[u8] = b"\xef\xbb\xbf";
const UTF_16: [&[u8]; 2] = [b"\xff\xfe", b"\xfe\xff"];

/// A file whose bytes go into a digest as they are read.
struct DigestingReader {
    file: File,
    digest: Sha256,
}

impl Read for DigestingReader {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = self.file.read(buffer)?;
        self.digest.update(&buffer[..read]);
        Ok(read)
    }
}

impl Seek for DigestingReader {
    fn seek(&mut self, position: io::SeekFrom) -> io::Result<u64> {
        self.file.seek(position)
    }
}

enum Decompressor {
    None,
    Zstd {
        decoder: Box<FrameDecoder>,
        /// Whether the decoder is within a frame.
        in_frame: bool,
    },
    /// The decoder, which writes what it unpacks; `None` once the file has ended.
    Gzip(Option<Box<MultiGzDecoder<Vec<u8>>>>),
}

impl Decompressor {
    fn gzip() -> Decompressor {
        Decompressor::Gzip(Some(Box::new(MultiGzDecoder::new(Vec::new()))))
    }
}

/// The lines of a trace, decompressed.
pub struct Source {
    raw: BufReader<DigestingReader>,
    packing: Decompressor,
    out: Vec<u8>,
    consumed: usize,
}

impl Source {
    /// Opens a file, which must be one that can be read again: the error may be that it is no plain file.
    pub fn open(path: &Path) -> io::Result<Source> {
        let file = read_limited::plain_file(path).map_err(|error| match error.kind() {
            io::ErrorKind::Other => {
                io::Error::other("it is not a file: a trace is read several times, so write it to one")
            }
            _ => error,
        })?;
        let mut raw = BufReader::with_capacity(CHUNK, DigestingReader { file, digest: Sha256::new() });
        let head: Option<[u8; 4]> = raw.fill_buf()?.first_chunk().copied();
        let magic = head.map_or(0, u32::from_le_bytes);
        let head = raw.fill_buf()?;
        if let Some((_, packer)) = OTHER_PACKINGS.iter().find(|(magic, _)| head.starts_with(magic)) {
            let message = format!("it is packed by {packer}: unpack it, or pack it by gzip or zstd");
            return Err(io::Error::new(io::ErrorKind::InvalidData, message));
        }
        let packing = if magic == ZSTD || magic & !0xf == SKIPPABLE {
            Decompressor::Zstd { decoder: Box::new(FrameDecoder::new()), in_frame: false }
        } else if head.starts_with(GZIP) {
            Decompressor::gzip()
        } else {
            Decompressor::None
        };
        let mut source = Source { raw, packing, out: Vec::new(), consumed: 0 };
        source.skip_mark()?;
        Ok(source)
    }

    /// What the file is packed by.
    pub fn packed_by(&self) -> Option<&'static str> {
        match self.packing {
            Decompressor::None => None,
            Decompressor::Zstd { .. } => Some("zstd"),
            Decompressor::Gzip(_) => Some("gzip"),
        }
    }

    fn skip_mark(&mut self) -> io::Result<()> {
        let head = self.fill_buf()?;
        if UTF_16.iter().any(|mark| head.starts_with(mark)) {
            return Err(io::Error::new(io::ErrorKind::InvalidData, "it is not text in UTF-8"));
        }
        if head.starts_with(BYTE_ORDER_MARK) {
            self.consume(BYTE_ORDER_MARK.len());
        }
        Ok(())
    }

    /// Begins at the beginning again. The decoder keeps its memory.
    pub fn rewind(&mut self) -> io::Result<()> {
        self.raw.rewind()?;
        self.raw.get_mut().digest = Sha256::new();
        match &mut self.packing {
            Decompressor::None => {}
            Decompressor::Zstd { in_frame, .. } => *in_frame = false,
            Decompressor::Gzip(_) => self.packing = Decompressor::gzip(),
        }
        self.consumed = 0;
        self.out.clear();
        self.skip_mark()
    }

    /// The SHA-256 of the whole file, in hexadecimal; [`io::ErrorKind::Interrupted`] where `is_over` says to stop.
    pub fn digest(mut self, is_over: &dyn Fn() -> bool) -> io::Result<String> {
        let raw = self.raw.get_mut();
        let mut buffer = vec![0; CHUNK];
        while raw.read(&mut buffer)? > 0 {
            if is_over() {
                return Err(io::ErrorKind::Interrupted.into());
            }
        }
        Ok(raw.digest.finalize_reset().iter().map(|byte| format!("{byte:02x}")).collect())
    }

    /// Decompresses the next bytes into `out`; none at the end of the file.
    fn decompress(&mut self) -> io::Result<()> {
        self.consumed = 0;
        self.out.clear();
        match &mut self.packing {
            Decompressor::None => Ok(()),
            Decompressor::Zstd { decoder, in_frame } => {
                decompress_zstd(&mut self.raw, decoder, in_frame, &mut self.out)
            }
            Decompressor::Gzip(decoder) => decompress_gzip(&mut self.raw, decoder, &mut self.out),
        }
    }
}

fn decompress_zstd(
    raw: &mut BufReader<DigestingReader>,
    decoder: &mut FrameDecoder,
    in_frame: &mut bool,
    out: &mut Vec<u8>,
) -> io::Result<()> {
    out.resize(CHUNK, 0);
    loop {
        if !*in_frame && !begin_frame(decoder, raw)? {
            out.clear();
            return Ok(());
        }
        *in_frame = true;
        if decoder.can_collect() == 0 && !decoder.is_finished() {
            decoder
                .decode_blocks(&mut *raw, BlockDecodingStrategy::UptoBytes(CHUNK))
                .map_err(|error| damage_error("zstd", error))?;
        }
        let read = decoder.read(out)?;
        if decoder.is_finished() && decoder.can_collect() == 0 {
            *in_frame = false;
            let (stored_checksum, computed_checksum) =
                (decoder.get_checksum_from_data(), decoder.get_calculated_checksum());
            if stored_checksum.is_some() && stored_checksum != computed_checksum {
                return Err(damage_error("zstd", "the checksum is another"));
            }
        }
        if read > 0 {
            out.truncate(read);
            return Ok(());
        }
    }
}

fn decompress_gzip(
    raw: &mut BufReader<DigestingReader>,
    decoder: &mut Option<Box<MultiGzDecoder<Vec<u8>>>>,
    out: &mut Vec<u8>,
) -> io::Result<()> {
    while let Some(gzip) = decoder.as_deref_mut() {
        let piece = raw.fill_buf()?;
        let is_over = piece.is_empty();
        if is_over {
            gzip.try_finish().map_err(|error| damage_error("gzip", error))?;
        } else {
            let taken = gzip.write(&piece[..piece.len().min(GZIP_PIECE)]);
            raw.consume(taken.map_err(|error| damage_error("gzip", error))?);
        }
        std::mem::swap(out, gzip.get_mut());
        if is_over {
            *decoder = None;
        }
        if !out.is_empty() {
            break;
        }
    }
    Ok(())
}

/// Reads the header of the next frame, and past those to be skipped; `false` at the end of the file.
fn begin_frame(decoder: &mut FrameDecoder, raw: &mut BufReader<DigestingReader>) -> io::Result<bool> {
    loop {
        if raw.fill_buf()?.is_empty() {
            return Ok(false);
        }
        match decoder.reset(&mut *raw) {
            Ok(()) => return Ok(true),
            Err(FrameDecoderError::ReadFrameHeaderError(ReadFrameHeaderError::SkipFrame {
                length, ..
            })) => {
                io::copy(&mut raw.by_ref().take(u64::from(length)), &mut io::sink())?;
            }
            Err(error) => return Err(damage_error("zstd", error)),
        }
    }
}

fn damage_error(format: &str, error: impl std::fmt::Display) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, format!("its {format} is damaged or cut off: {error}"))
}

impl Read for Source {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let available = self.fill_buf()?;
        let count = available.len().min(buffer.len());
        buffer[..count].copy_from_slice(&available[..count]);
        self.consume(count);
        Ok(count)
    }
}

impl BufRead for Source {
    fn fill_buf(&mut self) -> io::Result<&[u8]> {
        if matches!(self.packing, Decompressor::None) {
            return self.raw.fill_buf();
        }
        if self.consumed == self.out.len() {
            self.decompress()?;
        }
        Ok(&self.out[self.consumed..])
    }

    fn consume(&mut self, count: usize) {
        match self.packing {
            Decompressor::None => self.raw.consume(count),
            Decompressor::Zstd { .. } | Decompressor::Gzip(_) => self.consumed += count,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(bytes: &[u8]) -> io::Result<(Vec<u8>, String)> {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("trace");
        std::fs::write(&path, bytes).unwrap();
        let mut source = Source::open(&path)?;
        let mut content = Vec::new();
        source.read_to_end(&mut content)?;
        source.rewind()?;
        let mut second_pass = Vec::new();
        source.read_to_end(&mut second_pass)?;
        assert_eq!(content, second_pass);
        Ok((content, source.digest(&|| false)?))
    }

    fn text(lines: usize) -> Vec<u8> {
        (0..lines)
            .flat_map(|line| format!("{},get,key{},10\n", line, line * 7919 % 1000).into_bytes())
            .collect()
    }

    #[test]
    fn zstd_of_several_frames_is_read_as_one_text_and_the_digest_is_that_of_the_file() {
        let (one, two) = (text(50_000), text(3));
        let mut bytes = zstd::encode_all(one.as_slice(), 3).unwrap();
        // A frame to be skipped: its number, its length, five bytes.
        bytes.extend([0x53, 0x2a, 0x4d, 0x18, 5, 0, 0, 0, 1, 2, 3, 4, 5]);
        bytes.extend(zstd::encode_all(two.as_slice(), 19).unwrap());
        let (read_back, _) = read(&bytes).unwrap();
        assert_eq!(read_back, [one, two].concat());
        let (plain, digest) = read(b"abc").unwrap();
        assert_eq!(plain, b"abc");
        assert_eq!(digest, "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
    }

    #[test]
    fn what_is_damaged_or_cut_off_is_told() {
        let mut encoder = zstd::Encoder::new(Vec::new(), 3).unwrap();
        encoder.include_checksum(true).unwrap();
        io::Write::write_all(&mut encoder, &text(10_000)).unwrap();
        let bytes = encoder.finish().unwrap();
        assert!(read(&bytes).is_ok());
        assert!(read(&bytes[..bytes.len() / 2]).unwrap_err().to_string().contains("cut off"));
        let mut flipped = bytes.clone();
        let end = flipped.len() - 1;
        flipped[end] ^= 1;
        assert!(read(&flipped).unwrap_err().to_string().contains("damaged"));
    }

    #[test]
    fn gzip_of_several_members_is_read_as_one_text() {
        let compress = |text: &[u8]| {
            let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
            encoder.write_all(text).unwrap();
            encoder.finish().unwrap()
        };
        let (one, two) = (text(50_000), text(3));
        let bytes = [compress(&one), compress(&two)].concat();
        assert_eq!(read(&bytes).unwrap().0, [one, two].concat());
        assert_eq!(read(&bytes[..1]).unwrap().0, bytes[..1]);
        for end in [bytes.len() / 2, bytes.len() - 1] {
            let error = read(&bytes[..end]).unwrap_err().to_string();
            assert!(error.contains("gzip is damaged or cut off"), "{end}: {error}");
        }
    }

    #[test]
    fn a_mark_is_passed_and_what_is_no_text_is_named() {
        let marked = [BYTE_ORDER_MARK, b"time,op"].concat();
        assert_eq!(read(&marked).unwrap().0, b"time,op");
        assert_eq!(read(&zstd::encode_all(marked.as_slice(), 3).unwrap()).unwrap().0, b"time,op");
        let why = |bytes: &[u8]| read(bytes).unwrap_err().to_string();
        assert_eq!(why(b"\xff\xfet\0i\0"), "it is not text in UTF-8");
        assert_eq!(why(b"BZh91AY"), "it is packed by bzip2: unpack it, or pack it by gzip or zstd");
        assert!(why(b"PK\x03\x04").contains("zip"));
    }
}
