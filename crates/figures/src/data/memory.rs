//! Which kind of memory ranks stores.
//!
//! Resident memory alone would charge a store that maps its files for pages that the kernel can drop at any time, but not other stores
//! for the page cache that serves them in the same way.

use storebench_model::result::Memory;

use crate::column::{Column, PEAK_MEMORY, PEAK_WITH_PAGE_CACHE, PEAK_WITHOUT_MAPPED_FILES};

/// The kind of memory that is compared: the same for all.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Basis {
    /// Everything charged to the trial's cgroup, including the page cache.
    WithPageCache,
    /// Resident memory without pages of mapped files.
    WithoutMappedFiles,
    /// Resident memory with pages of mapped files: all that older versions report.
    Resident,
}

impl Basis {
    /// The fairest basis that all of these trials have.
    pub fn fairest<'a>(trials: impl Iterator<Item = &'a Memory> + Clone) -> Basis {
        let is_known_by_all = |basis: &Basis| trials.clone().all(|memory| basis.bytes(memory).is_some());
        let fairer = [Basis::WithPageCache, Basis::WithoutMappedFiles].into_iter().find(is_known_by_all);
        fairer.filter(|_| trials.clone().next().is_some()).unwrap_or(Basis::Resident)
    }

    /// The peak memory of a trial, in bytes, if known.
    pub fn bytes(self, memory: &Memory) -> Option<u64> {
        match self {
            Basis::WithPageCache => memory.peak_with_page_cache_bytes,
            Basis::WithoutMappedFiles => memory.peak_without_mapped_files_bytes,
            Basis::Resident => Some(memory.peak_above_base_bytes),
        }
    }

    pub fn column(self) -> &'static Column {
        match self {
            Basis::WithPageCache => &PEAK_WITH_PAGE_CACHE,
            Basis::WithoutMappedFiles => &PEAK_WITHOUT_MAPPED_FILES,
            Basis::Resident => &PEAK_MEMORY,
        }
    }

    /// The words after a figure: `12 MiB of memory with the page cache`.
    pub fn describe(self) -> &'static str {
        match self {
            Basis::WithPageCache => "with the page cache",
            Basis::WithoutMappedFiles => "without mapped file pages",
            Basis::Resident => "with mapped file pages",
        }
    }

    /// A note below a table: what the figure means, and why.
    pub fn note(self) -> &'static str {
        match self {
            Basis::WithPageCache => {
                "Memory is the peak that the trial's cgroup was charged for: the process and the page cache that serves it."
            }
            Basis::WithoutMappedFiles => {
                "Memory is the process's peak above its base, without the pages of mapped files: some trials don't know their \
                 page cache, so pages of files count for none."
            }
            Basis::Resident => {
                "Memory is the process's peak above its base, with the pages of mapped files but without the page cache: some \
                 trials can't separate the two. A store that maps its files looks larger than it is."
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn memory(with_cache: Option<u64>, without_mapped: Option<u64>) -> Memory {
        Memory {
            base_bytes: 1,
            peak_above_base_bytes: 100,
            peak_without_mapped_files_bytes: without_mapped,
            peak_with_page_cache_bytes: with_cache,
        }
    }

    #[test]
    fn the_fairest_that_all_know_decides() {
        let (full, partial, empty) = (memory(Some(30), Some(20)), memory(None, Some(2)), memory(None, None));
        let fairest_of = |trials: &[&Memory]| Basis::fairest(trials.iter().copied());
        assert_eq!(fairest_of(&[&full, &full]), Basis::WithPageCache);
        assert_eq!(fairest_of(&[&full, &partial]), Basis::WithoutMappedFiles);
        assert_eq!(fairest_of(&[&full, &empty]), Basis::Resident);
        assert_eq!(fairest_of(&[]), Basis::Resident);
        let bytes =
            [Basis::WithPageCache, Basis::WithoutMappedFiles, Basis::Resident].map(|b| b.bytes(&full));
        assert_eq!(bytes, [Some(30), Some(20), Some(100)]);
    }
}
