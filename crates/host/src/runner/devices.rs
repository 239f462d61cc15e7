//! The block devices under the places of a run, and other processes' writes to them.

use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use storebench_core::measure::device::{self, BlockDevice, DeviceSpec};
use storebench_core::measure::environment;
use storebench_model::cell::LocationOnDisk;
use storebench_model::result::LocationInfo;
use storebench_model::test_hooks;

/// How long the devices are watched while nothing runs.
const IDLE: Duration = Duration::from_secs(1);

/// The devices under directories of the user's, by place; or why one is unknown. Takes a second, unless `interrupted`.
pub fn shared_devices(
    places: &BTreeMap<LocationOnDisk, PathBuf>,
    interrupted: &AtomicBool,
) -> BTreeMap<LocationOnDisk, Result<DeviceSpec, String>> {
    let mut devices: BTreeMap<_, _> =
        places.iter().map(|(name, path)| (name.clone(), shared_device(path))).collect();
    watch_idle(&mut devices, interrupted);
    devices
}

/// The device under a place if its traffic is the trial's, or why there is none.
pub(super) fn find_device(place: &LocationInfo) -> Result<DeviceSpec, String> {
    if let Some(driver) = place.driver.as_ref().filter(|_| place.by_fuse) {
        return Err(format!(
            "reads and writes of {driver} are its daemon's, which no limit of a trial holds"
        ));
    }
    let name = place.device.clone().ok_or_else(|| {
        let kind = place.file_system.as_deref().unwrap_or("unknown");
        format!("no block device is known under the file system ({kind})")
    })?;
    Ok(DeviceSpec { name, shared: true, idle_written_bytes_per_s: None })
}

/// The device under a directory, shared with other processes, once all dirty data have reached it.
fn shared_device(path: &Path) -> Result<DeviceSpec, String> {
    let place = environment::describe_location("", path).map_err(|error| error.to_string())?;
    let device = find_device(&place)?;
    BlockDevice::open(&device.name).map_err(|error| error.to_string())?;
    if !test_hooks::probes_in_a_moment() {
        device::sync_file_system(path).map_err(|error| error.to_string())?;
    }
    Ok(device)
}

/// Measures other processes' writes to all devices at once.
fn watch_idle(devices: &mut BTreeMap<LocationOnDisk, Result<DeviceSpec, String>>, interrupted: &AtomicBool) {
    let mut known_devices: Vec<_> = devices.values_mut().filter_map(|device| device.as_mut().ok()).collect();
    if known_devices.is_empty() || test_hooks::probes_in_a_moment() {
        return;
    }
    let open_devices: io::Result<Vec<_>> =
        known_devices.iter().map(|device| BlockDevice::open(&device.name)).collect();
    // An error leaves the rates unknown; the trial sees a device that can't be read again.
    let rates =
        open_devices.and_then(|devices| device::idle_written_bytes_per_s(&devices, IDLE, interrupted));
    for (device, rate) in known_devices.iter_mut().zip(rates.unwrap_or_default()) {
        device.idle_written_bytes_per_s = Some(rate);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_place_has_a_device_or_a_reason() {
        let places = BTreeMap::from([
            (LocationOnDisk::unsimulated("here"), PathBuf::from(env!("CARGO_MANIFEST_DIR"))),
            (LocationOnDisk::unsimulated("proc"), PathBuf::from("/proc")),
        ]);
        let devices = shared_devices(&places, &AtomicBool::new(false));
        let proc = devices[&LocationOnDisk::unsimulated("proc")].as_ref().unwrap_err();
        assert!(proc.contains("(proc)"), "{proc}");
        match &devices[&LocationOnDisk::unsimulated("here")] {
            Ok(device) => {
                assert!(device.shared && device.idle_written_bytes_per_s >= Some(0.0), "{device:?}")
            }
            Err(reason) => assert!(!reason.is_empty()),
        }
    }
}
