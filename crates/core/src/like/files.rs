//! A folder: every regular file in it and below is a value. Links are not followed.

use std::fs::{self, File};
use std::io::Read;
use std::path::Path;

use super::Sample;

pub fn look(folder: &Path, sample: &mut Sample) -> Result<(), String> {
    let mut folders = vec![folder.to_path_buf()];
    while let Some(folder) = folders.pop() {
        let fault = |error: std::io::Error| format!("{}: {error}", folder.display());
        for entry in fs::read_dir(&folder).map_err(fault)? {
            let entry = entry.map_err(fault)?;
            let path = entry.path();
            let fault = |error: std::io::Error| format!("{}: {error}", path.display());
            let kind = entry.file_type().map_err(fault)?;
            if kind.is_dir() {
                folders.push(path);
            } else if kind.is_file() {
                let size = entry.metadata().map_err(fault)?.len();
                sample.add(size, |most| start(&path, most).map_err(fault))?;
            }
        }
    }
    Ok(())
}

fn start(path: &Path, most: usize) -> std::io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    File::open(path)?.take(most as u64).read_to_end(&mut bytes)?;
    Ok(bytes)
}
