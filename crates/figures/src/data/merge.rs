//! Sorts the trials of any number of runs into groups with comparable figures: one machine, one
//! guarantee, one location, one method. Runs of the same hardware name add trials; their blocks stay separate.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::fmt;

use storebench_core::workload::table::Workload;
use storebench_host::run::Run;
use storebench_model::cell::{Axis, Cell, GuaranteeChoice};
use storebench_model::result::{LeftOutCell, Measurements, RunHeader, TrialResult};
use storebench_model::store::{Guarantee, Loss, StoreDef, StoreKind};

use crate::claims::StudyClaims;
use crate::data::floor::{self, Floor};
use crate::data::memory::Basis;
use crate::data::method::Methods;
use crate::data::names::join_parts;
use crate::data::readable::Readable;
use crate::judge::danger::holds;
use crate::judge::interim;
use crate::layout::Layout;
use crate::published::Table;

/// Identifies paired figures: the same block of the same run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct BlockKey {
    /// The position of the run among those given.
    pub run: usize,
    /// The block within the run.
    pub block: u32,
}

/// A trial with its run.
#[derive(Debug, Clone, Copy)]
pub struct Entry<'a> {
    /// The position of the run among those given.
    pub run: usize,
    pub trial: &'a TrialResult,
}

impl<'a> Entry<'a> {
    /// Why its figures are not ranked: its engine was compiled differently from its authors' release. `None` if they are.
    pub fn not_ranked(&self) -> Option<&'a str> {
        self.trial.ok()?.store_build.as_ref()?.not_ranked.as_deref()
    }

    /// The key that pairs it with others.
    pub fn block(&self) -> BlockKey {
        BlockKey { run: self.run, block: self.trial.block }
    }
}

/// What all trials of a group share.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct GroupKey {
    pub hardware: String,
    /// The guarantee asked for; `None` if cells have none.
    pub asked: Option<GuaranteeChoice>,
    /// The tier given; `None` if no trial got far enough to report it, and if cells have no guarantee.
    pub tier: Option<Guarantee>,
    /// The loss that a power cut can cause, if the tier alone does not say it: settings are ranked at one such guarantee.
    pub power_cut: Option<Loss>,
    /// Values of the axes that distinguish groups, such as the place, except the guarantee.
    pub facets: Vec<(Axis, String)>,
    /// How the method of its runs differs from that of the other runs, in words; empty if it doesn't.
    pub method: String,
    /// How it differs, without the difference between servers and libraries.
    pub plan_method: String,
}

impl GroupKey {
    /// The guarantee in short; `None` if cells have none.
    pub fn guarantee(&self) -> Option<GuaranteeLabel> {
        self.asked.map(|asked| GuaranteeLabel(asked, self.tier, self.power_cut))
    }

    /// The key without the difference between servers and libraries, for figures that are compared only with themselves.
    pub fn without_server_words(&self) -> GroupKey {
        GroupKey { method: self.plan_method.clone(), ..self.clone() }
    }

    /// Its value on an axis that distinguishes groups; `None` if its cells have none.
    pub fn facet(&self, axis: Axis) -> Option<&str> {
        self.facets.iter().find(|(facet_axis, _)| *facet_axis == axis).map(|(_, value)| value.as_str())
    }
}

/// The guarantee of a trial: its tier, and the cost of a power cut if that is more precise.
type GivenGuarantee = (Guarantee, Option<Loss>);

/// The guarantee asked for and the one given, in short: `process`, or `default (as shipped: power)`.
pub struct GuaranteeLabel(pub GuaranteeChoice, pub Option<Guarantee>, pub Option<Loss>);

impl fmt::Display for GuaranteeLabel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let GuaranteeLabel(GuaranteeChoice::Default, Some(tier), Some(power_cut)) = self {
            // The settings decide it.
            return write!(f, "{tier}, where a power cut {power_cut}");
        }
        match (self.0, self.1) {
            (GuaranteeChoice::Default, Some(tier)) => write!(f, "default (as shipped: {tier})"),
            (GuaranteeChoice::Default, None) => write!(f, "default (as shipped: unknown)"),
            (GuaranteeChoice::Tier(asked), Some(tier)) if asked != tier => {
                write!(f, "{asked} asked for, {tier} given")
            }
            (GuaranteeChoice::Tier(asked), _) => write!(f, "{asked}"),
        }?;
        self.2.map_or(Ok(()), |power_cut| write!(f, ", where a power cut {power_cut}"))
    }
}

/// Comparable trials.
#[derive(Debug, Clone)]
pub struct Group<'a> {
    /// What they share.
    pub key: GroupKey,
    /// The trials, failed ones included, in the order of the runs given.
    pub trials: Vec<Entry<'a>>,
    /// Combinations that were left out.
    pub left_out: Vec<&'a LeftOutCell>,
}

/// The trials of several runs, in groups.
#[derive(Debug)]
pub struct Merged<'a> {
    /// The runs.
    pub runs: &'a [Run],
    /// The roles of the axes.
    pub layout: Layout,
    /// The workload of each run.
    pub workloads: Vec<Workload>,
    /// The groups, in the order of their keys.
    pub groups: Vec<Group<'a>>,
    /// The facets that all groups share.
    common: BTreeSet<(Axis, String)>,
    pub memory: Basis,
    /// Published findings that the runs are checked against.
    pub claims: Vec<StudyClaims>,
    /// Published tables that the runs are compared with.
    pub tables: Vec<Table>,
    /// The figures of the runs' locations without a store.
    pub floors: Vec<Floor>,
    /// Which settings are sizes, for readable values.
    pub readable: Readable,
    /// The stores that the program knows.
    pub stores: &'a [StoreDef],
}

/// One store as asked for on one machine in one location; shows which tiers `default` resolved to.
type AskedStore<'a> = (GroupKey, &'a str);

impl<'a> Merged<'a> {
    /// Sorts trials into groups. `stores` are those that the program knows.
    pub fn new(runs: &'a [Run], stores: &'a [StoreDef]) -> Merged<'a> {
        let mut groups: BTreeMap<GroupKey, Group<'a>> = BTreeMap::new();
        let mut tiers: BTreeMap<AskedStore<'a>, BTreeSet<GivenGuarantee>> = BTreeMap::new();
        let (methods, layout) = (Methods::new(runs), Layout::from_runs(runs));
        let unchecked = find_unchecked_power(runs, &layout);
        let make_key = |run: usize, cell: &Cell, given: Option<GivenGuarantee>| {
            let header = &runs[run].header;
            // A call to a server is other work than a call to a library: ranked together only if a plan compares stores.
            let separation = match () {
                () if !layout.names(Axis::STORE) && is_server(header, cell.store()) => SERVER_WORDS,
                () if unchecked.contains(&(layout.contestant(cell), cell.guarantee())) => UNCHECKED_WORDS,
                () => "",
            };
            let asked = cell.value(Axis::GUARANTEE).map(|_| cell.guarantee());
            let given = given.filter(|_| asked.is_some());
            let plan_method = methods.describe(run, cell);
            GroupKey {
                hardware: header.hardware.clone(),
                tier: given.map(|(tier, _)| tier),
                power_cut: given.and_then(|(_, power_cut)| power_cut),
                asked,
                facets: layout.facets(cell),
                method: join_parts([separation, &plan_method]),
                plan_method,
            }
        };
        for (run, trial) in all_trials(runs) {
            let Some(measured) = trial.ok() else { continue };
            let given = (measured.guarantee, measured.power_cut);
            let key = make_key(run, &trial.cell, Some(given));
            group_entry(&mut groups, key).trials.push(Entry { run, trial });
            let asked_store = (make_key(run, &trial.cell, None), trial.cell.store());
            tiers.entry(asked_store).or_default().insert(given);
        }
        let measured_keys: Vec<GroupKey> = groups.keys().cloned().collect();
        for (run, trial) in all_trials(runs).filter(|(_, trial)| trial.ok().is_none()) {
            for key in group_keys(make_key(run, &trial.cell, None), &trial.cell, &tiers, &measured_keys) {
                group_entry(&mut groups, key).trials.push(Entry { run, trial });
            }
        }
        for (index, run) in runs.iter().enumerate() {
            for left_out in &run.header.left_out {
                let without_tier = make_key(index, &left_out.cell, None);
                for key in group_keys(without_tier, &left_out.cell, &tiers, &measured_keys) {
                    group_entry(&mut groups, key).left_out.push(left_out);
                }
            }
        }
        let competing = all_trials(runs).filter(|(_, trial)| !is_harness(stores, trial.cell.store()));
        let groups: Vec<Group<'_>> = groups.into_values().collect();
        let store_names: HashSet<&str> = cells(runs).map(Cell::store).collect();
        Merged {
            runs,
            layout,
            // A plan from before there were several is crud's; an unknown one counts as crud's, too.
            workloads: runs.iter().map(|run| run.workload().unwrap_or(Workload::CRUD)).collect(),
            common: common_facets(&groups),
            groups,
            memory: Basis::fairest(competing.filter_map(|(_, trial)| Some(&trial.ok()?.memory))),
            claims: Vec::new(),
            tables: Vec::new(),
            floors: floor::floors(runs, &[]),
            readable: Readable::from_stores(stores.iter().filter(|store| store_names.contains(store.name))),
            stores,
        }
    }

    /// With published findings and tables to compare.
    pub fn with_published(self, claims: Vec<StudyClaims>, tables: Vec<Table>) -> Merged<'a> {
        Merged { claims, tables, ..self }
    }

    /// With device runs that may have figures of its places, if those among its own runs don't.
    pub fn with_devices(self, device_runs: &[Run]) -> Merged<'a> {
        Merged { floors: floor::floors(self.runs, device_runs), ..self }
    }

    /// The number of interim analyses that the figures of one position allow for. If several runs each had some, any of one
    /// may be combined with any of another.
    pub fn analyses<'e>(&self, entries: impl Iterator<Item = &'e Entry<'e>>) -> usize {
        let runs: BTreeSet<usize> = entries.map(|entry| entry.run).collect();
        interim::count_analyses(runs.into_iter().map(|run| self.runs[run].header.interim_analyses.len()))
    }

    /// Whether a store is part of the harness: shown in tables, never a winner.
    pub fn is_harness(&self, store: &str) -> bool {
        is_harness(self.stores, store)
    }

    /// A group's label: its guarantee, each facet that differs between groups or is not at its default, and how its method differs.
    pub fn label(&self, key: &GroupKey) -> String {
        let varying: Vec<_> = self.varying(key).collect();
        let is_named = |facet: &&(Axis, String)| {
            varying.contains(facet) || facet.0.default_value() != Some(facet.1.as_str())
        };
        let guarantee = key.guarantee().map(|label| label.to_string());
        let facets = key.facets.iter().filter(is_named).map(|(axis, value)| format!("{axis} {value}"));
        let method = (!key.method.is_empty()).then(|| key.method.clone());
        let parts: Vec<String> = guarantee.into_iter().chain(facets).chain(method).collect();
        parts.join(", ")
    }

    /// The hardware's name for formats without a column for the guarantee: with what distinguishes the group, if there
    /// is more than one, and without commas, for readers that split at commas.
    pub fn hardware_label(&self, key: &GroupKey) -> String {
        let mut parts = Vec::new();
        if self.groups.iter().any(|group| {
            (group.key.asked, group.key.tier, group.key.power_cut) != (key.asked, key.tier, key.power_cut)
        }) {
            parts.extend(key.asked.map(|asked| match (asked, key.tier) {
                (GuaranteeChoice::Tier(asked), Some(tier)) if asked == tier => asked.to_string(),
                (asked, Some(tier)) => format!("{asked}: {tier}"),
                (asked, None) => asked.to_string(),
            }));
            parts.extend(key.power_cut.map(|power_cut| format!("a power cut {power_cut}").replace(',', "")));
        }
        parts.extend(self.varying(key).map(|(axis, value)| match *axis {
            axis if axis == Axis::PLACE => format!("at {value}"),
            axis => format!("{axis}={value}"),
        }));
        parts.extend((!key.method.is_empty()).then(|| key.method.replace(',', "")));
        match parts.is_empty() {
            true => key.hardware.clone(),
            false => format!("{} ({})", key.hardware, parts.join(" ")),
        }
    }

    /// The facets of a group in which the groups differ.
    pub fn varying<'k>(&self, key: &'k GroupKey) -> impl Iterator<Item = &'k (Axis, String)> {
        key.facets.iter().filter(|facet| !self.common.contains(facet))
    }

    /// The cells of all runs, including those that were left out; repeated as often as they ran.
    pub fn cells(&self) -> impl Iterator<Item = &'a Cell> {
        cells(self.runs)
    }

    /// The axes that distinguish groups, except the guarantee.
    pub fn facets(&self) -> BTreeSet<Axis> {
        self.groups.iter().flat_map(|group| &group.key.facets).map(|(axis, _)| *axis).collect()
    }
}

/// The words that separate servers from libraries.
const SERVER_WORDS: &str = "client and server";

/// The words that separate libraries which alone report that they keep `power`.
const UNCHECKED_WORDS: &str = "by the library's word";

/// The contestants, with the guarantee asked for, whose `power` only their own report supports: no cut check confirmed it.
fn find_unchecked_power<'a>(runs: &'a [Run], layout: &Layout) -> BTreeSet<(Cow<'a, str>, GuaranteeChoice)> {
    let (mut claimed, mut checked) = (BTreeSet::new(), BTreeSet::new());
    for (_, trial) in all_trials(runs) {
        let Some(measured) = trial.ok().filter(|measured| measured.is_self_reported()) else { continue };
        let contestant = (layout.contestant(&trial.cell), trial.cell.guarantee());
        if measured.cuts().and_then(|cuts| holds(cuts, measured.guarantee)) == Some(true) {
            checked.insert(contestant.clone());
        }
        claimed.insert(contestant);
    }
    &claimed - &checked
}

fn cells(runs: &[Run]) -> impl Iterator<Item = &Cell> {
    let run_cells = runs.iter().flat_map(|run| &run.trials).map(|trial| &trial.cell);
    run_cells.chain(runs.iter().flat_map(|run| &run.header.left_out).map(|left_out| &left_out.cell))
}

fn is_harness(stores: &[StoreDef], store: &str) -> bool {
    stores.iter().any(|def| def.name == store && def.kind == StoreKind::Harness)
}

fn is_server(header: &RunHeader, store: &str) -> bool {
    header.stores.iter().any(|info| info.name == store && info.server)
}

fn all_trials(runs: &[Run]) -> impl Iterator<Item = (usize, &TrialResult)> + Clone {
    runs.iter().enumerate().flat_map(|(index, run)| run.trials.iter().map(move |trial| (index, trial)))
}

/// The facets that groups share: computed once, as every label needs them.
fn common_facets(groups: &[Group<'_>]) -> BTreeSet<(Axis, String)> {
    let mut keys = groups.iter().map(|group| &group.key);
    let mut common: BTreeSet<_> =
        keys.next().into_iter().flat_map(|key| key.facets.iter().cloned()).collect();
    keys.for_each(|key| common.retain(|(axis, value)| key.facet(*axis) == Some(value.as_str())));
    common
}

fn group_entry<'g, 'a>(groups: &'g mut BTreeMap<GroupKey, Group<'a>>, key: GroupKey) -> &'g mut Group<'a> {
    groups.entry(key).or_insert_with_key(|key| Group {
        key: key.clone(),
        trials: Vec::new(),
        left_out: Vec::new(),
    })
}

/// The groups from which a trial without a figure is missing. The store's other trials show which tier `default` would have been; without
/// any, it is missing from every group with the same request. `without_tier` is its key without a tier.
fn group_keys(
    without_tier: GroupKey,
    cell: &Cell,
    tiers: &BTreeMap<AskedStore<'_>, BTreeSet<GivenGuarantee>>,
    measured_keys: &[GroupKey],
) -> Vec<GroupKey> {
    match without_tier.asked {
        None => return vec![without_tier],
        Some(GuaranteeChoice::Tier(tier)) => return vec![GroupKey { tier: Some(tier), ..without_tier }],
        Some(GuaranteeChoice::Default) => {}
    }
    if let Some(tiers) = tiers.get(&(without_tier.clone(), cell.store())) {
        let group_key = |(tier, power_cut): &GivenGuarantee| GroupKey {
            tier: Some(*tier),
            power_cut: *power_cut,
            ..without_tier.clone()
        };
        return tiers.iter().map(group_key).collect();
    }
    let is_matching =
        |key: &&GroupKey| GroupKey { tier: None, power_cut: None, ..(*key).clone() } == without_tier;
    let matching: Vec<GroupKey> = measured_keys.iter().filter(is_matching).cloned().collect();
    if matching.is_empty() { vec![without_tier] } else { matching }
}

/// The measurements of the successful trials.
pub fn measured<'a>(entries: &[Entry<'a>]) -> Vec<(BlockKey, &'a Measurements)> {
    entries.iter().filter_map(|entry| entry.trial.ok().map(|measured| (entry.block(), measured))).collect()
}

#[cfg(test)]
mod tests {
    use storebench_model::cell::{Background, Data};
    use storebench_model::result::{
        COUNTED_BY_LIBRARY, Control, CutCheck, CutResults, FindingCount, StateFinding,
    };
    use storebench_model::store::Setting;
    use storebench_samples::{Sample, run};

    use super::*;

    fn titles(runs: &[Run]) -> Vec<String> {
        let merged = Merged::new(runs, &[]);
        merged.groups.iter().map(|group| merged.label(&group.key)).collect()
    }

    #[test]
    fn default_is_sorted_by_what_it_was_and_kept_apart_from_what_was_asked_for() {
        let samples = vec![
            Sample::new("sqlite").guarantee("default").tier(Guarantee::Power),
            Sample::new("leveldb").guarantee("default").tier(Guarantee::Process),
            Sample::new("leveldb").guarantee("process"),
        ];
        let expected = ["default (as shipped: process)", "default (as shipped: power)", "process"];
        assert_eq!(titles(&[run("box", &samples)]), expected);
    }

    #[test]
    fn servers_are_ranked_apart_unless_stores_are_compared_by_name() {
        let samples =
            [Sample::new("sqlite"), Sample::new("postgres")].map(|sample| sample.guarantee("power"));
        let mut mixed = run("box", &samples);
        for store in &mut mixed.header.stores {
            store.server = store.name == "postgres";
        }
        assert_eq!(titles(std::slice::from_ref(&mixed)), ["power", "power, client and server"]);
        let mut compared = mixed.clone();
        compared.header.plan = format!("compare = [\"store\"]\n{}", compared.header.plan);
        assert_eq!(titles(&[compared]), ["power"]);
    }

    #[test]
    fn a_library_is_ranked_apart_by_its_own_word_until_a_check_of_power_cuts_held() {
        let samples = [Sample::new("redb"), Sample::new("own")].map(|sample| sample.guarantee("power"));
        let titles = |findings: &[(StateFinding, u64)]| {
            let mut run = run("box", &samples);
            let measured = run.trials[1].measured.as_mut().unwrap();
            measured.statistics.push(Setting::read_back(COUNTED_BY_LIBRARY, 7));
            let mut cuts = CutResults { found: findings.iter().copied().collect(), ..CutResults::default() };
            cuts.controls.insert(Control::NoFlush, FindingCount { states: 4, caught: 4 });
            measured.cut_check = Some(CutCheck::Made(Box::new(cuts)));
            titles(&[run])
        };
        let separate = ["power", "power, by the library's word"];
        assert_eq!(titles(&[]), separate, "no state was looked at");
        assert_eq!(titles(&[(StateFinding::Held, 20), (StateFinding::Lost, 1)]), separate);
        assert_eq!(titles(&[(StateFinding::Held, 20)]), ["power"]);
    }

    #[test]
    fn failures_go_where_the_store_belongs_or_everywhere_if_that_is_unknown() {
        let samples = vec![
            Sample::new("sqlite").guarantee("default").tier(Guarantee::Power),
            Sample::new("leveldb").guarantee("default").tier(Guarantee::Process),
            Sample::new("leveldb").guarantee("default").data(Data::Compressible).failed("broken"),
            Sample::new("lmdb").guarantee("default").failed("broken"),
        ];
        let runs = [run("box", &samples)];
        let merged = Merged::new(&runs, &[]);
        let stores = |group: &Group<'_>| -> Vec<String> {
            group.trials.iter().map(|entry| entry.trial.cell.store().to_owned()).collect()
        };
        assert_eq!(stores(&merged.groups[0]), ["leveldb", "leveldb", "lmdb"]);
        assert_eq!(stores(&merged.groups[1]), ["sqlite", "lmdb"]);
        let failed = run("box", &[Sample::new("lmdb").guarantee("default").failed("x")]);
        assert_eq!(titles(&[failed]), ["default (as shipped: unknown)"]);
    }

    #[test]
    fn runs_of_one_machine_add_trials_and_other_machines_stay_apart() {
        let samples = [Sample::new("sqlite"), Sample::new("lmdb")];
        let runs = [run("box", &samples), run("box", &samples), run("other", &samples)];
        let merged = Merged::new(&runs, &[]);
        assert_eq!(merged.groups.len(), 2);
        let blocks: BTreeSet<BlockKey> = merged.groups[0].trials.iter().map(Entry::block).collect();
        assert_eq!(blocks.len(), 2);
        assert_eq!(merged.groups[0].trials.len(), 4);
    }

    #[test]
    fn what_is_off_its_default_is_named_though_it_does_not_differ() {
        let disturbed = Sample::new("sqlite").background(Background::Video);
        assert_eq!(titles(&[run("box", &[disturbed])]), ["process, background video"]);
    }

    #[test]
    fn places_are_named_where_they_differ() {
        let runs = [run("box", &[Sample::new("sqlite"), Sample::new("sqlite").place("ssd")])];
        assert_eq!(titles(&runs), ["process, place here", "process, place ssd"]);
    }
}
