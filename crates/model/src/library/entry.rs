//! The table entry for a library's store. Its texts live as long as the process, as the library does.

use super::described::{DescribedOffer, DescribedSetting, DescribedStore, guarantee_by_number};
use super::loaded::LoadedLibrary;
use super::{ffi, opened, short_digest};
use crate::result::format1;
use crate::store::{
    Batch, Capabilities, Danger, GuaranteeOffer, Loss, OpenOptions, SettingDef, StoreDef, StoreKind, Threads,
};

pub fn store_def(described: &DescribedStore, loaded: &'static LoadedLibrary) -> StoreDef {
    let name = leak_text(&described.name);
    // Tables show the last word.
    let version = format!("library {} {}", short_digest(&loaded.library.sha256), described.version);
    let settings: Vec<SettingDef> = described.settings.iter().map(setting).collect();
    let settings: &'static [SettingDef] = settings.leak();
    let offers: Vec<GuaranteeOffer> = described.offers.iter().map(offer).collect();
    let capabilities = capabilities(described);
    let limit = capabilities.max_key_bytes;
    let open = move |options: &OpenOptions<'_>| opened::open(loaded, (name, settings, limit), options);
    StoreDef {
        name,
        kind: if described.has_flag(ffi::KEEPS_NOTHING) { StoreKind::Harness } else { StoreKind::Engine },
        summary: leak_text(&described.summary),
        practice: leak_text(&described.practice),
        version: Box::leak(Box::new(move || version.clone())),
        capabilities,
        offers: offers.leak(),
        shipped: guarantee_by_number(described.shipped),
        settings,
        library: Some(&loaded.library),
        open: Ok(Box::leak(Box::new(open))),
        ..StoreDef::DEFAULT
    }
}

fn capabilities(described: &DescribedStore) -> Capabilities {
    let has_flag = |flag| described.has_flag(flag);
    Capabilities {
        keeps: !has_flag(ffi::KEEPS_NOTHING),
        persists: !has_flag(ffi::IN_MEMORY) && !has_flag(ffi::KEEPS_NOTHING),
        order: has_flag(ffi::ORDERED),
        threads: match described.sessions {
            0 => Threads::One,
            1 => Threads::ManyReadersOneWriter,
            _ => Threads::Many,
        },
        compression: described.codec.as_deref().map(leak_text),
        batch: if has_flag(ffi::ATOMIC_BATCH) { Batch::Atomic } else { Batch::Grouped },
        replaces_whole: has_flag(ffi::REPLACES_WHOLE),
        empty_values: !has_flag(ffi::NO_EMPTY_VALUES),
        max_key_bytes: usize::try_from(described.max_key_bytes).unwrap_or(usize::MAX),
        max_bytes: described.max_bytes,
        calls_are_seen: !has_flag(ffi::OWN_CALLS),
        ..Capabilities::DEFAULT
    }
}

fn offer(described: &DescribedOffer) -> GuaranteeOffer {
    // The interface is older than repairs by hand.
    let losses = || Loss::ALL.into_iter().filter(|loss| *loss != Loss::ByHand);
    let loss = |number: i32| losses().nth(usize::try_from(number).ok()?);
    let [kill, power_cut] =
        [described.kill_costs, described.power_cut_costs].map(|number| loss(number).unwrap_or(Loss::Whole));
    GuaranteeOffer {
        guarantee: guarantee_by_number(described.tier),
        settings: leak_text(&described.settings),
        atomic_replace: described.atomic_replace,
        dangers: vec![Danger::new(kill, power_cut, leak_text(&described.why))].leak(),
    }
}

fn setting(described: &DescribedSetting) -> SettingDef {
    let DescribedSetting { name, values, default, help, promise, tune, in_bytes } = described;
    let def = SettingDef::new(leak_text(name), leak_text(values), leak_text(default), leak_text(help))
        .guarantee(leak_text(promise));
    let def = SettingDef { usual: format1::usual(def.default), ..def };
    let tune: Vec<&'static str> =
        tune.split(',').map(str::trim).filter(|value| !value.is_empty()).map(leak_text).collect();
    let def = def.tune(tune.leak());
    if *in_bytes { def.bytes() } else { def }
}

fn leak_text(text: &str) -> &'static str {
    String::from(text).leak()
}
