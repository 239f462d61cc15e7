//! Finds the journal of a file system that was just formatted, so that writes to it can be counted separately.

use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;

use storebench_core::axis::file_system::FileSystem;

/// The byte ranges of an image that hold the journal, each half-open; empty if unknown.
pub fn parts(file_system: &FileSystem, image: &File) -> io::Result<Vec<(u64, u64)>> {
    let mut block = [0; 4096];
    let found = match file_system.kind().name {
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
    Ok(found.unwrap_or_default())
}

fn little(bytes: &[u8], at: usize) -> Option<u64> {
    Some(u32::from_le_bytes(bytes.get(at..at + 4)?.try_into().ok()?).into())
}

fn little_16(bytes: &[u8], at: usize) -> Option<u64> {
    Some(u16::from_le_bytes(bytes.get(at..at + 2)?.try_into().ok()?).into())
}

fn big(bytes: &[u8], at: usize) -> Option<u64> {
    Some(u32::from_be_bytes(bytes.get(at..at + 4)?.try_into().ok()?).into())
}

/// The superblock has a copy of the journal's inode, which names the extents (the kernel's Documentation/filesystems/ext4).
fn ext4_extents(superblock: &[u8]) -> Option<Vec<(u64, u64)>> {
    const HAS_JOURNAL: u64 = 4;
    const EXTENTS: u64 = 0xf30a;
    let is_it = little_16(superblock, 0x38)? == 0xef53 && little(superblock, 0x5c)? & HAS_JOURNAL != 0;
    let has_copy = superblock.get(0xfd) == Some(&1);
    let block = 1024_u64.checked_shl(u32::try_from(little(superblock, 0x18)?).ok()?)?;
    let tree = superblock.get(0x10c..0x10c + 60)?;
    let (magic, count, depth) = (little_16(tree, 0)?, little_16(tree, 2)?, little_16(tree, 6)?);
    if !is_it || !has_copy || magic != EXTENTS || depth != 0 {
        return None;
    }
    let extent = |number: u64| {
        let at = 12 * (number as usize + 1);
        let length = little_16(tree, at + 4)?;
        let start = (little_16(tree, at + 6)? << 32) + little(tree, at + 8)?;
        Some((start.checked_mul(block)?, start.checked_add(length)?.checked_mul(block)?))
    };
    (0..count).map(extent).collect()
}

/// The superblock has the log's first block and its length (the XFS Algorithms & Data Structures).
fn xfs_extents(superblock: &[u8]) -> Option<Vec<(u64, u64)>> {
    let (block, blocks_of_group) = (big(superblock, 4)?, big(superblock, 84)?);
    let start = (big(superblock, 48)? << 32) + big(superblock, 52)?;
    let (blocks, bits) = (big(superblock, 96)?, u32::from(*superblock.get(124)?));
    if superblock.get(..4)? != b"XFSB" || start == 0 {
        return None;
    }
    let group = start.checked_shr(bits)?;
    let from =
        group.checked_mul(blocks_of_group)?.checked_add(start - (group << bits))?.checked_mul(block)?;
    Some(vec![(from, from.checked_add(blocks.checked_mul(block)?)?)])
}

#[cfg(test)]
mod tests {
    use std::process::Command;

    use super::*;
    use crate::image::make;

    fn formatted(name: &str, bytes: u64) -> Option<(tempfile::NamedTempFile, Vec<(u64, u64)>)> {
        let file_system: FileSystem = name.parse().unwrap();
        let image = tempfile::NamedTempFile::new().unwrap();
        if let Err(error) = make::format(&file_system, image.as_file(), bytes) {
            eprintln!("skipped {name}: {error}");
            return None;
        }
        let found = parts(&file_system, image.as_file()).unwrap();
        Some((image, found))
    }

    #[test]
    fn the_journal_of_ext4_is_where_its_magic_number_is_and_as_debugfs_has_it() {
        for cluster in ["1024", "4096"] {
            let Some((image, found)) = formatted(&format!("ext4:{cluster}"), 64 << 20) else { return };
            let mut magic = [0; 4];
            image.as_file().read_exact_at(&mut magic, found[0].0).unwrap();
            assert_eq!(magic, [0xc0, 0x3b, 0x39, 0x98]);
            let told = Command::new("debugfs").args(["-R", "stat <8>"]).arg(image.path()).output().unwrap();
            let told = String::from_utf8_lossy(&told.stdout).into_owned();
            let bytes: u64 = found.iter().map(|(from, to)| to - from).sum();
            assert!(told.contains(&format!("Size: {bytes}")), "{found:?}\n{told}");
        }
    }

    #[test]
    fn the_log_of_xfs_is_found_and_other_file_systems_tell_nothing() {
        if let Some((image, found)) = formatted("xfs:4096", 320 << 20) {
            let mut magic = [0; 4];
            image.as_file().read_exact_at(&mut magic, found[0].0).unwrap();
            assert_eq!(magic, [0xfe, 0xed, 0xba, 0xbe], "{found:?}");
        }
        if let Some((_, found)) = formatted("ext2:4096", 64 << 20) {
            assert_eq!(found, []);
        }
        assert_eq!((ext4_extents(&[0; 4096]), xfs_extents(&[0; 4096])), (None, None));
    }
}
