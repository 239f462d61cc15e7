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
            let limits = machine.limits();
            let mut figures: Vec<&str> = limits.keys().map(|limit| limit.name()).collect();
            figures.extend(machine.core.map(|_| "core"));
            if let Some(disk) = &machine.disk {
                figures.push("disk");
                assert!(storebench_disk::disks::shipped(disk).is_some(), "{name}");
            }
            assert!(figures.iter().all(|key| machine.sources.contains_key(*key)), "{name}: {figures:?}");
            assert_eq!(machine.sources.len(), figures.len(), "{name}");
            assert!(machine.optional.iter().all(|limit| limits.contains_key(limit)), "{name}");
        }
    }
}
