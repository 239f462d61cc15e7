//! The machine profiles that come with storebench: data, each figure with its source.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use super::Machine;

const TEXT: &str = include_str!("../../machines/profiles.toml");

static ALL: LazyLock<BTreeMap<String, Machine>> = LazyLock::new(|| toml::from_str(TEXT).unwrap_or_default());

/// The names of the machines that come with storebench, in their order.
pub const NAMES: [&str; 4] = ["beaglebone-black", "laptop-hdd", "phone-2020", "raspberry-pi-zero-2"];

/// A machine that comes with storebench.
pub fn shipped(name: &str) -> Option<Machine> {
    ALL.get(name).cloned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_profile_makes_sense_and_every_figure_has_a_source() {
        let profiles: BTreeMap<String, Machine> = toml::from_str(TEXT).unwrap();
        assert_eq!(profiles.keys().collect::<Vec<_>>(), NAMES.iter().collect::<Vec<_>>());
        for (name, machine) in profiles {
            machine.check().unwrap();
            assert!(!machine.about.is_empty() && !machine.lacks.is_empty(), "{name}");
            let disk = machine.disk.as_ref().map(|_| "disk".to_owned());
            let other_figures = machine.core.map(|_| "core".to_owned()).into_iter().chain(disk);
            let figures: Vec<String> =
                machine.limits().keys().map(|limit| limit.name().to_owned()).chain(other_figures).collect();
            assert!(
                machine.disk.as_ref().is_none_or(|disk| storebench_disk::disks::shipped(disk).is_some()),
                "{name}"
            );
            assert!(figures.iter().all(|figure| machine.sources.contains_key(figure)), "{name}: {figures:?}");
            assert_eq!(machine.sources.len(), figures.len(), "{name}");
            assert!(machine.optional.iter().all(|limit| machine.limits().contains_key(limit)), "{name}");
        }
    }
}
