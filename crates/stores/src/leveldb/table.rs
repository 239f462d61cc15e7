//! Reads from LevelDB's table files whether their blocks are compressed: the engine can't be asked. A block is followed by one
//! byte for its codec and a checksum of four. The file ends with a footer of 48 bytes with the place of the index block and,
//! last, a magic number of 8 bytes. The index holds the places of the data blocks. (LevelDB, doc/table_format.md.)

use std::fs::{self, File};
use std::os::unix::fs::FileExt;
use std::path::Path;

use storebench_model::store::{Result, StoreError};

const FOOTER_BYTES: u64 = 48;
const MAGIC: [u8; 8] = 0xdb47_7524_8b80_fb57_u64.to_le_bytes();
const SNAPPY: u8 = 1;

/// A block's place, without the codec's byte and the checksum.
struct BlockHandle {
    offset: u64,
    bytes: u64,
}

/// The codec of the blocks in a store's folder: `snappy` if any is compressed, `none` if none is, nothing if there is no table.
/// (Blocks that hardly shrink are kept plain with compression on.) Fails with [`StoreError::Engine`] if a file is no table.
pub fn codec(folder: &Path) -> Result<Option<&'static str>> {
    let mut found = None;
    for entry in fs::read_dir(folder).map_err(StoreError::io(format!("reading {}", folder.display())))? {
        let path = entry.map_err(StoreError::io(format!("reading {}", folder.display())))?.path();
        if path.extension().is_none_or(|extension| extension != "ldb") {
            continue;
        }
        match any_block_compressed(&path) {
            Ok(Some(true)) => return Ok(Some("snappy")),
            Ok(Some(false)) => found = Some("none"),
            Ok(None) => return Err(StoreError::Engine(format!("{} is not a LevelDB table", path.display()))),
            // A background compaction may have removed it since.
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => (),
            Err(error) => return Err(StoreError::io(format!("reading {}", path.display()))(error)),
        }
    }
    Ok(found)
}

/// `None` if the file is not a table.
fn any_block_compressed(path: &Path) -> std::io::Result<Option<bool>> {
    let file = File::open(path)?;
    let Some(footer_offset) = file.metadata()?.len().checked_sub(FOOTER_BYTES) else { return Ok(None) };
    let footer = read(&file, &BlockHandle { offset: footer_offset, bytes: FOOTER_BYTES })?;
    if !footer.ends_with(&MAGIC) {
        return Ok(None);
    }
    let mut rest = &footer[..];
    let Some(index) = read_handle(&mut rest).and_then(|_metaindex| read_handle(&mut rest)) else {
        return Ok(None);
    };
    if index.offset.checked_add(index.bytes).is_none_or(|end| end > footer_offset) {
        return Ok(None);
    }
    if codec_of(&file, &index)? == SNAPPY {
        return Ok(Some(true));
    }
    let Some(blocks) = data_blocks(&read(&file, &index)?) else { return Ok(None) };
    for block in blocks {
        if codec_of(&file, &block)? == SNAPPY {
            return Ok(Some(true));
        }
    }
    Ok(Some(false))
}

fn read(file: &File, block: &BlockHandle) -> std::io::Result<Vec<u8>> {
    let mut bytes = vec![0; usize::try_from(block.bytes).unwrap_or(usize::MAX)];
    file.read_exact_at(&mut bytes, block.offset)?;
    Ok(bytes)
}

fn codec_of(file: &File, block: &BlockHandle) -> std::io::Result<u8> {
    let mut codec = [0];
    file.read_exact_at(&mut codec, block.offset.saturating_add(block.bytes))?;
    Ok(codec[0])
}

/// The places in an index block: entries, then offsets of restart points and their number, 4 bytes each. An entry has the length
/// of the key's prefix shared with the one before, the lengths of the rest and of the value, and both.
fn data_blocks(index: &[u8]) -> Option<Vec<BlockHandle>> {
    let (rest, restarts) = index.split_last_chunk::<4>()?;
    let restarts = usize::try_from(u32::from_le_bytes(*restarts)).ok()?;
    let mut entries = &rest[..rest.len().checked_sub(restarts.checked_mul(4)?)?];
    let mut blocks = Vec::new();
    while !entries.is_empty() {
        let _shared = number(&mut entries)?;
        let key = usize::try_from(number(&mut entries)?).ok()?;
        let value = usize::try_from(number(&mut entries)?).ok()?;
        let (mut value, remaining) = entries.get(key..)?.split_at_checked(value)?;
        blocks.push(read_handle(&mut value)?);
        entries = remaining;
    }
    Some(blocks)
}

fn read_handle(bytes: &mut &[u8]) -> Option<BlockHandle> {
    Some(BlockHandle { offset: number(bytes)?, bytes: number(bytes)? })
}

/// A number in groups of 7 bits, the lowest first; the top bit marks that more follow.
fn number(bytes: &mut &[u8]) -> Option<u64> {
    let mut number = 0;
    for shift in (0..64).step_by(7) {
        let (&first, rest) = bytes.split_first()?;
        *bytes = rest;
        number |= u64::from(first & 0x7f) << shift;
        if first < 0x80 {
            return Some(number);
        }
    }
    None
}
