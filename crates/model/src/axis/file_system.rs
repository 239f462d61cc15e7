//! A file system as plans write it: `ext4:4096,data=journal,noatime`, or `ext4:4096@hdd,noatime` in a directory that `--at` names.

pub mod kind;

use std::fmt;
use std::str::FromStr;

use self::kind::{FileSystemKind, KINDS};
use crate::sanitize::quoted;
use crate::units::{as_text, parse_bytes};

/// A kind of file system, its cluster size and mount options.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileSystem {
    kind: &'static FileSystemKind,
    /// The size of its clusters (blocks, sectors of btrfs), in bytes; 0 if it has none.
    pub cluster: u32,
    /// Whether the cluster size was named, so that it is written again as it was.
    has_explicit_cluster: bool,
    /// The name of the directory that its image lies in, if given.
    pub directory: Option<String>,
    options: Vec<String>,
}

/// Options that would take from storebench what it does itself, or reach beyond the image.
const RESERVED_OPTIONS: &str = "loop offset sizelimit remount bind rbind move dev suid ro size device journal_dev \
    journal_path logdev rtdev";

/// Options with which a sync reaches no disk: every guarantee would be a false one.
const WITHOUT_BARRIERS: &[&str] = &["nobarrier", "fsync_mode=nobarrier"];

impl FileSystem {
    /// The kind of file system.
    pub fn kind(&self) -> &'static FileSystemKind {
        self.kind
    }

    /// The least that a file takes at a location of this name, in bytes: a cluster, or 4 KiB when it has smaller ones or is not known.
    pub fn file_bytes(place: &str) -> f64 {
        let cluster = place.parse::<FileSystem>().map_or(0, |file_system| file_system.cluster);
        f64::from(cluster.max(4096))
    }

    /// Its mount options, with commas between them.
    pub fn options(&self) -> String {
        self.options.join(",")
    }

    /// The same file system, in an image in a directory of this name.
    pub fn with_directory(&self, name: &str) -> FileSystem {
        FileSystem { directory: Some(name.to_owned()), ..self.clone() }
    }

    /// The kind, options and directory, as a heading next to cluster sizes.
    pub fn without_cluster(&self) -> String {
        let directory = self.directory.as_ref().map(|name| format!("on {name}"));
        let parts = [Some(self.kind.name.to_owned()), Some(self.options()), directory];
        let parts: Vec<String> = parts.into_iter().flatten().filter(|part| !part.is_empty()).collect();
        parts.join(", ")
    }

    /// The names of a location: its own, and for an image in a named directory also those of the file system and the directory.
    pub fn names_of(place: &str) -> Vec<String> {
        let file_system = place.parse::<FileSystem>().ok();
        let parts = file_system.and_then(|file_system| {
            let directory = file_system.directory.clone()?;
            Some([FileSystem { directory: None, ..file_system }.to_string(), directory])
        });
        std::iter::once(place.to_owned()).chain(parts.into_iter().flatten()).collect()
    }

    /// Whether a text means a file system rather than a location's name.
    pub(crate) fn is_meant(text: &str) -> bool {
        let kind = text.split([':', ',', '@']).next().unwrap_or_default();
        FileSystemKind::find(kind).is_some()
    }

    /// Splits a list of locations at commas. Options follow their file system: after one, a word with an equals sign is an
    /// option, and so is a word that a file system knows.
    pub(crate) fn split_places(list: &str) -> Vec<String> {
        let mut places: Vec<String> = Vec::new();
        for word in list.split(',').map(str::trim) {
            match places.last_mut() {
                Some(last) if FileSystem::is_meant(last) && is_option(word) => {
                    last.push(',');
                    last.push_str(word);
                }
                _ => places.push(word.to_owned()),
            }
        }
        places
    }
}

impl fmt::Display for FileSystem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.kind.name)?;
        if self.has_explicit_cluster {
            write!(f, ":{}", self.cluster)?;
        }
        if let Some(directory) = &self.directory {
            write!(f, "@{directory}")?;
        }
        self.options.iter().try_for_each(|option| write!(f, ",{option}"))
    }
}

impl FromStr for FileSystem {
    type Err = String;

    fn from_str(text: &str) -> Result<FileSystem, String> {
        let mut parts = text.split(',');
        let first = parts.next().unwrap_or_default();
        let (first, directory) =
            first.split_once('@').map_or((first, None), |(first, name)| (first, Some(name)));
        if directory.is_some_and(|name| name.is_empty() || FileSystem::is_meant(name)) {
            let form = "write it like ext4:4096@hdd, with --at hdd=DIR";
            return Err(format!("{} names no directory behind the @: {form}", quoted(text)));
        }
        let directory = directory.map(str::to_owned);
        let (name, cluster) = first.split_once(':').map_or((first, None), |(name, size)| (name, Some(size)));
        let kind = FileSystemKind::find(name).ok_or_else(|| {
            let known: Vec<&str> = KINDS.iter().map(|kind| kind.name).collect();
            format!("there is no file system {}: there is {}", quoted(name), known.join(", "))
        })?;
        let has_explicit_cluster = cluster.is_some();
        let cluster = cluster.map_or(Ok(kind.default_cluster), |size| read_cluster(kind, size))?;
        let options: Vec<String> = parts.map(str::to_owned).collect();
        options.iter().try_for_each(|option| check_option(option))?;
        Ok(FileSystem { kind, cluster, has_explicit_cluster, directory, options })
    }
}

as_text!(FileSystem);

fn read_cluster(kind: &FileSystemKind, text: &str) -> Result<u32, String> {
    let sizes: Vec<String> = kind.clusters.iter().map(u32::to_string).collect();
    if sizes.is_empty() {
        return Err(format!("{} has no cluster size to choose", kind.name));
    }
    let size = parse_bytes(text).ok().and_then(|size| u32::try_from(size).ok());
    size.filter(|size| kind.clusters.contains(size))
        .ok_or_else(|| format!("{} has no clusters of {}: use {}", kind.name, quoted(text), sizes.join(", ")))
}

/// Mount options without a value, which may have `no` before them.
const FLAGS: &str = "atime diratime relatime strictatime lazytime sync async dirsync discard barrier acl user_xattr dax \
    delalloc auto_da_alloc block_validity dioread_lock dioread_nolock journal_checksum journal_async_commit init_itable grpid \
    largeio wsync swalloc align ikeep inode32 inode64 attr2 filestreams datacow datasum autodefrag compress compress-force \
    ssd_spread treelog flushoncommit space_cache extent_cache inline_data inline_dentry inline_xattr flush_merge fastboot \
    data_flush gc_merge atgc prealloc sparse";

fn is_option(word: &str) -> bool {
    let positive = word.strip_prefix("no").unwrap_or(word);
    // `ssd` alone is what people call a directory.
    word.contains('=') || word == "nossd" || FLAGS.split(' ').any(|flag| flag == positive)
}

fn check_option(option: &str) -> Result<(), String> {
    let name = option.split('=').next().unwrap_or_default();
    let is_sound = !option.is_empty()
        && option.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"_-=.:".contains(&byte))
        && !option.starts_with('-');
    if !is_sound {
        return Err(format!("{} is no mount option", quoted(option)));
    }
    if RESERVED_OPTIONS.split(' ').any(|reserved| reserved == name) {
        return Err(format!("the mount option {name} is storebench's own to set"));
    }
    // The kernel reads 00 and 0x0 as 0, too.
    let keeps_barrier = option.strip_prefix("barrier=").is_none_or(|value| value == "1");
    if WITHOUT_BARRIERS.contains(&option) || !keeps_barrier {
        let why = "no sync reaches the disk: no guarantee would hold";
        return Err(format!("with the mount option {option} {why}"));
    }
    if option.ends_with("=panic") {
        return Err(format!("the mount option {option} would stop the machine at an error"));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_spec_is_written_as_it_was_read() {
        for text in [
            "ext4",
            "ext4:1024",
            "ntfs:65536@hdd",
            "ext4:4096,data=journal,noatime",
            "btrfs@ssd,compress=zstd:3",
        ] {
            assert_eq!(text.parse::<FileSystem>().unwrap().to_string(), text);
        }
        let spec: FileSystem = "ext4:4KiB".parse().unwrap();
        assert_eq!((spec.cluster, spec.to_string().as_str()), (4096, "ext4:4096"));
        assert_eq!("ext2".parse::<FileSystem>().unwrap().cluster, 4096);
        assert_eq!("ext4,noatime,commit=60".parse::<FileSystem>().unwrap().options(), "noatime,commit=60");
    }

    #[test]
    fn what_cannot_be_is_told() {
        for (text, said) in [
            ("zfs", "there is no file system \"zfs\""),
            ("ext4:8192", "ext4 has no clusters of \"8192\": use 1024, 2048, 4096"),
            ("tmpfs:4096", "tmpfs has no cluster size"),
            ("ext4@", "names no directory behind the @"),
            ("ext4@ntfs:512", "names no directory behind the @"),
            ("ext4,", "is no mount option"),
            ("ext4,a b", "is no mount option"),
            ("ext4,loop=/dev/sda", "is no mount option"),
            ("ext4,offset=512", "storebench's own"),
            ("ext4,ro", "storebench's own"),
            ("ext4,journal_dev=2049", "storebench's own"),
            ("btrfs,device=sdb", "storebench's own"),
            ("xfs,logdev=/dev/sdb", "is no mount option"),
            ("ext4,barrier=0", "no guarantee would hold"),
            ("ext4,errors=panic", "would stop the machine"),
            ("ext4:/dev/sda", "ext4 has no clusters"),
        ] {
            let error = text.parse::<FileSystem>().unwrap_err();
            assert!(error.contains(said), "{text}: {error}");
        }
    }

    #[test]
    fn an_image_in_a_named_directory_is_called_by_either() {
        let names = |place: &str| FileSystem::names_of(place);
        assert_eq!(names("ntfs:4096@hdd"), ["ntfs:4096@hdd", "ntfs:4096", "hdd"]);
        assert_eq!([names("hdd"), names("ntfs:4096")], [["hdd"], ["ntfs:4096"]]);
        let spec: FileSystem = "ext4:4096@hdd,noatime".parse().unwrap();
        assert_eq!((spec.without_cluster().as_str(), spec.cluster), ("ext4, noatime, on hdd", 4096));
    }

    #[test]
    fn a_file_takes_a_cluster() {
        for (place, bytes) in
            [("here", 4096.0), ("ext4:1024", 4096.0), ("ntfs:65536", 65536.0), ("tmpfs", 4096.0)]
        {
            assert_eq!(FileSystem::file_bytes(place), bytes, "{place}");
        }
    }

    #[test]
    fn file_systems_are_told_from_names_of_places_and_keep_their_options_in_a_list() {
        assert!(["ext4:1024", "xfs", "ext4,noatime"].into_iter().all(FileSystem::is_meant));
        assert!(!["here", "ssd", "noatime"].into_iter().any(FileSystem::is_meant));
        let list = "here,ext4:4096,data=journal,noatime,ssd, ntfs:512 ,tmpfs";
        let places = ["here", "ext4:4096,data=journal,noatime", "ssd", "ntfs:512", "tmpfs"];
        assert_eq!(FileSystem::split_places(list), places);
        assert_eq!(FileSystem::split_places("ssd,hdd"), ["ssd", "hdd"]);
        let list = "ext4:4096,btrfs,btrfs,nodatacow,compress-force=zstd,ssd,nobarrier";
        let places = ["ext4:4096", "btrfs", "btrfs,nodatacow,compress-force=zstd", "ssd", "nobarrier"];
        assert_eq!(FileSystem::split_places(list), places);
    }
}
