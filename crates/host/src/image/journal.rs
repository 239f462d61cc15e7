//! Finds the journal of a file system that was just formatted, so that writes to it can be counted separately.

use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;

use storebench_model::axis::file_system::FileSystem;

/// The byte ranges of an image that hold the journal, each half-open; empty if unknown.
pub fn parts(file_system: &FileSystem, image: &File) -> io::Result<Vec<(u64, u64)>> {
    let mut block = [0; 4096];
    let ranges = match file_system.kind().name {
        "ext4" => {
            image.read_exact_at(&mut block[..1024], 1024)?;
            ext4_extents(&block)
        }
        "xfs" => {
            image.read_exact_at(&mut block[..512], 0)?;
            xfs_extents(&block)
        }
        _ => None,
    };
    Ok(ranges.unwrap_or_default())
}

fn u32_le(bytes: &[u8], offset: usize) -> Option<u64> {
    Some(u32::from_le_bytes(bytes.get(offset..offset + 4)?.try_into().ok()?).into())
}

fn u16_le(bytes: &[u8], offset: usize) -> Option<u64> {
    Some(u16::from_le_bytes(bytes.get(offset..offset + 2)?.try_into().ok()?).into())
}

fn u32_be(bytes: &[u8], offset: usize) -> Option<u64> {
    Some(u32::from_be_bytes(bytes.get(offset..offset + 4)?.try_into().ok()?).into())
}

/// The superblock has a copy of the journal's inode, which names the extents (the kernel's Documentation/filesystems/ext4).
fn ext4_extents(superblock: &[u8]) -> Option<Vec<(u64, u64)>> {
    const HAS_JOURNAL: u64 = 4;
    const EXTENTS: u64 = 0xf30a;
    let has_journal = u16_le(superblock, 0x38)? == 0xef53 && u32_le(superblock, 0x5c)? & HAS_JOURNAL != 0;
    let has_copy = superblock.get(0xfd) == Some(&1);
    let block_bytes = 1024_u64.checked_shl(u32::try_from(u32_le(superblock, 0x18)?).ok()?)?;
    let tree = superblock.get(0x10c..0x10c + 60)?;
    let (magic, count, depth) = (u16_le(tree, 0)?, u16_le(tree, 2)?, u16_le(tree, 6)?);
    if !has_journal || !has_copy || magic != EXTENTS || depth != 0 {
        return None;
    }
    let extent = |number: u64| {
        let offset = 12 * (number as usize + 1);
        let length = u16_le(tree, offset + 4)?;
        let start = (u16_le(tree, offset + 6)? << 32) + u32_le(tree, offset + 8)?;
        Some((start.checked_mul(block_bytes)?, start.checked_add(length)?.checked_mul(block_bytes)?))
    };
    (0..count).map(extent).collect()
}

/// The superblock has the log's first block and its length (the XFS Algorithms & Data Structures).
fn xfs_extents(superblock: &[u8]) -> Option<Vec<(u64, u64)>> {
    let (block_bytes, blocks_of_group) = (u32_be(superblock, 4)?, u32_be(superblock, 84)?);
    let start = (u32_be(superblock, 48)? << 32) + u32_be(superblock, 52)?;
    let (log_blocks, group_bits) = (u32_be(superblock, 96)?, u32::from(*superblock.get(124)?));
    if superblock.get(..4)? != b"XFSB" || start == 0 {
        return None;
    }
    let group = start.checked_shr(group_bits)?;
    let start_block = group.checked_mul(blocks_of_group)?.checked_add(start - (group << group_bits))?;
    let start_byte = start_block.checked_mul(block_bytes)?;
    Some(vec![(start_byte, start_byte.checked_add(log_blocks.checked_mul(block_bytes)?)?)])
}

#[cfg(test)]
mod tests {
    use std::process::Command;

    use super::*;
    use crate::image::make;

    fn make_formatted(name: &str, bytes: u64) -> Option<(tempfile::NamedTempFile, Vec<(u64, u64)>)> {
        let file_system: FileSystem = name.parse().unwrap();
        let image = tempfile::NamedTempFile::new().unwrap();
        if let Err(error) = make::format(&file_system, image.as_file(), bytes) {
            eprintln!("skipped {name}: {error}");
            return None;
        }
        let ranges = parts(&file_system, image.as_file()).unwrap();
        Some((image, ranges))
    }

    #[test]
    fn the_journal_of_ext4_is_where_its_magic_number_is_and_as_debugfs_has_it() {
        for cluster in ["1024", "4096"] {
            let Some((image, ranges)) = make_formatted(&format!("ext4:{cluster}"), 64 << 20) else { return };
            let mut magic = [0; 4];
            image.as_file().read_exact_at(&mut magic, ranges[0].0).unwrap();
            assert_eq!(magic, [0xc0, 0x3b, 0x39, 0x98]);
            let description =
                Command::new("debugfs").args(["-R", "stat <8>"]).arg(image.path()).output().unwrap();
            let description = String::from_utf8_lossy(&description.stdout).into_owned();
            let bytes: u64 = ranges.iter().map(|(from, to)| to - from).sum();
            assert!(description.contains(&format!("Size: {bytes}")), "{ranges:?}\n{description}");
        }
    }

    #[test]
    fn the_log_of_xfs_is_found_and_other_file_systems_tell_nothing() {
        if let Some((image, ranges)) = make_formatted("xfs:4096", 320 << 20) {
            let mut magic = [0; 4];
            image.as_file().read_exact_at(&mut magic, ranges[0].0).unwrap();
            assert_eq!(magic, [0xfe, 0xed, 0xba, 0xbe], "{ranges:?}");
        }
        if let Some((_, ranges)) = make_formatted("ext2:4096", 64 << 20) {
            assert_eq!(ranges, []);
        }
        assert_eq!((ext4_extents(&[0; 4096]), xfs_extents(&[0; 4096])), (None, None));
    }
}
