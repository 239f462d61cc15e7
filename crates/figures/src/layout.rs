//! The roles of the axes in reports: which are ranked, which make rows and columns of a matrix, and which separate groups.

mod position;
pub mod words;

use std::borrow::Cow;
use std::collections::BTreeSet;

use serde::Deserialize;
use storebench_core::workload::table::Workload;
use storebench_host::run::Run;
use storebench_model::axis::Role;
use storebench_model::cell::{Axis, Cell};

pub use self::position::{MovedRoles, Position};

/// The roles of the axes in the reports of some runs: from the table of axes, unless the runs compare others.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Layout {
    /// The axes whose values are ranked; those with [`Role::Contestant`] if empty.
    compared: Vec<Axis>,
    roles: MovedRoles,
    axes: Vec<Axis>,
}

impl Default for Layout {
    /// Crud's layout, in which stores are ranked.
    fn default() -> Layout {
        Layout::from_axes(Vec::new(), Workload::CRUD.def().axes.iter().copied())
    }
}

impl Layout {
    pub fn from_axes(compared: Vec<Axis>, axes: impl IntoIterator<Item = Axis>) -> Layout {
        let axes: BTreeSet<Axis> = axes.into_iter().collect();
        Layout { compared, roles: MovedRoles::default(), axes: axes.into_iter().collect() }
    }

    /// The layout of runs: the axes of their workloads and those that their cells name; the compared ones count if all plans agree.
    pub fn from_runs<'r>(runs: impl IntoIterator<Item = &'r Run>) -> Layout {
        let mut axes = BTreeSet::new();
        let mut layouts: Vec<(Vec<Axis>, MovedRoles)> = Vec::new();
        for run in runs {
            let requested = RequestedLayout::from_run(run);
            axes.extend(requested.workload.unwrap_or(Workload::CRUD).def().axes);
            axes.extend(cells(run).flat_map(Cell::values).map(|(axis, _)| axis));
            let roles = requested.moved_roles();
            layouts.push((requested.compared_axes(), roles));
        }
        if axes.is_empty() {
            axes.extend(Workload::CRUD.def().axes);
        }
        let is_same = layouts.windows(2).all(|pair| pair[0] == pair[1]);
        let (compared, roles) = layouts.into_iter().next().filter(|_| is_same).unwrap_or_default();
        Layout { compared, roles, axes: axes.into_iter().collect() }
    }

    pub fn axes(&self) -> &[Axis] {
        &self.axes
    }

    pub fn role(&self, axis: Axis) -> Role {
        match self.roles.role(axis) {
            _ if self.compared.contains(&axis) => Role::Contestant,
            Role::Contestant if !self.compared.is_empty() => Role::Group,
            role => role,
        }
    }

    /// Whether the runs' plans ask for an axis to be ranked.
    pub fn names(&self, axis: Axis) -> bool {
        self.compared.contains(&axis)
    }

    pub fn is_ranked(&self, axis: Axis) -> bool {
        self.role(axis) == Role::Contestant
    }

    /// The ranked axes, in the order in which ids name them.
    fn contestants(&self) -> Vec<Axis> {
        let is_ranked = |axis: &&Axis| self.role(**axis) == Role::Contestant;
        let mut axes: Vec<Axis> = self.axes.iter().filter(is_ranked).copied().collect();
        axes.sort_by_key(|axis| (axis.place_in_id(), *axis));
        axes
    }

    /// The position of a cell in its matrix.
    pub fn position(&self, cell: &Cell) -> Position {
        let within = self.axes.iter().copied().filter(|axis| self.role(*axis).is_within());
        Position::from_values(within.filter_map(|axis| Some((axis, words::value(cell, axis)?))))
            .with_roles(&self.roles)
    }

    /// A cell's name in the ranking: its store's, unless other axes are compared. Axes that most studies
    /// leave at their defaults follow if they differ: `sqlite page_size=8192`.
    pub fn contestant<'c>(&self, cell: &'c Cell) -> Cow<'c, str> {
        if self.compared.is_empty()
            && let Some(only) = self.only_word(cell)
        {
            return Cow::Borrowed(only);
        }
        let parts: Vec<String> =
            self.contestants().into_iter().filter_map(|axis| self.name_part(axis, cell)).collect();
        match parts.as_slice() {
            [] => Cow::Borrowed("all"),
            parts => Cow::Owned(parts.join(" ")),
        }
    }

    /// The value on the only ranked axis on which a cell differs from the default, if ids name it by its value alone.
    fn only_word<'c>(&self, cell: &'c Cell) -> Option<&'c str> {
        let mut ranked = cell.values().filter(|(axis, _)| self.role(*axis) == Role::Contestant);
        let (axis, value) = ranked.next()?;
        (axis.default_value().is_none() && ranked.next().is_none()).then(|| value.text())
    }

    fn name_part(&self, axis: Axis, cell: &Cell) -> Option<String> {
        let text = cell.text(axis);
        let is_compared = self.compared.contains(&axis);
        let is_default = axis.default_value() == Some(text);
        if (is_default && !is_compared) || (text.is_empty() && axis.default_value().is_none()) {
            return None;
        }
        Some(match (axis.default_value(), axis.setting()) {
            (None, _) => text.to_owned(),
            (Some(_), Some((_, name))) if text.is_empty() => format!("{name} as shipped"),
            (Some(_), None) if !is_compared => format!("{axis}={text}"),
            (Some(_), _) => axis.describe(text),
        })
    }

    /// The noun for the contestants, singular and plural: `store` and `stores`, unless other axes are compared.
    pub fn ranked<'c>(&self, cells: impl Iterator<Item = &'c Cell>) -> (String, &'static str) {
        let mut axes: BTreeSet<Axis> = self.compared.iter().copied().collect();
        if axes.is_empty() {
            let ranked = cells.flat_map(Cell::values).map(|(axis, _)| axis);
            axes = ranked.filter(|axis| axis.role() == Role::Contestant).collect();
        }
        let only = axes.iter().next().filter(|_| axes.len() == 1).copied();
        let stores = self.compared.is_empty() && axes.contains(&Axis::STORE);
        match only.or(stores.then_some(Axis::STORE)) {
            Some(axis) => (words::value_noun(axis), axis.def().many),
            None => ("contestant".into(), "contestants"),
        }
    }

    /// Values of the axes that separate groups, except the guarantee; without axes on which a cell has no value.
    pub fn facets(&self, cell: &Cell) -> Vec<(Axis, String)> {
        let is_facet = |axis: &Axis| self.role(*axis) == Role::Group && *axis != Axis::GUARANTEE;
        let value =
            |axis: Axis| Some((axis, cell.text(axis).to_owned())).filter(|(_, text)| !text.is_empty());
        self.axes.iter().copied().filter(is_facet).filter_map(value).collect()
    }
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct RequestedLayout {
    workload: Option<Workload>,
    compare: Vec<Axis>,
    rows: Vec<Axis>,
    columns: Vec<Axis>,
    groups: Vec<Axis>,
}

impl RequestedLayout {
    /// For an unreadable plan, crud's: the first runs had no other.
    fn from_run(run: &Run) -> RequestedLayout {
        run.plan_keys().and_then(|plan| plan.clone().try_into().ok()).unwrap_or_default()
    }

    /// The axes with another role than the default. Each guarantee always has a separate matrix.
    fn moved_roles(&self) -> MovedRoles {
        let lists = [(Role::Row, &self.rows), (Role::Column, &self.columns), (Role::Group, &self.groups)];
        let roles = lists.into_iter().flat_map(|(role, axes)| axes.iter().map(move |axis| (*axis, role)));
        MovedRoles::new(roles.filter(|(axis, _)| *axis != Axis::GUARANTEE))
    }

    /// Guarantees are never ranked against each other.
    fn compared_axes(mut self) -> Vec<Axis> {
        self.compare.retain(|axis| *axis != Axis::GUARANTEE);
        self.compare.sort();
        self.compare.dedup();
        self.compare
    }
}

fn cells(run: &Run) -> impl Iterator<Item = &Cell> {
    let left_out = run.header.left_out.iter().map(|omitted| &omitted.cell);
    run.trials.iter().map(|trial| &trial.cell).chain(left_out)
}

#[cfg(test)]
mod tests {
    use storebench_samples::{Sample, run};

    use super::*;

    fn comparing(compared: Vec<Axis>) -> Layout {
        Layout::from_axes(compared, Workload::CRUD.def().axes.iter().copied())
    }

    fn cell() -> Cell {
        Cell::new("sqlite")
            .with(Axis::PLACE, Axis::PLACE.read("ssd").unwrap())
            .with(Axis::DATA, Axis::DATA.read("compressible").unwrap())
            .with(Axis::RECORDS, Axis::RECORDS.read("1000").unwrap())
    }

    #[test]
    fn stores_are_ranked_unless_other_axes_are_named() {
        let plain = Layout::default();
        assert_eq!(plain.contestant(&cell()), "sqlite");
        assert!(matches!(plain.contestant(&cell()), Cow::Borrowed(_)));
        assert_eq!(plain.contestant(&Cell::default()), "all");
        assert!(plain.facets(&cell()).contains(&(Axis::PLACE, "ssd".into())));
        let places = comparing(vec![Axis::PLACE]);
        let ranked = |layout: &Layout| layout.ranked([cell()].iter()).0;
        assert_eq!([ranked(&plain), plain.ranked([].iter()).0], ["store", "contestant"]);
        assert_eq!(ranked(&places), "place");
        assert_eq!(places.contestant(&cell()), "place ssd");
        assert_eq!(places.contestant(&Cell::new("lmdb")), "place here");
        assert_eq!((places.role(Axis::STORE), places.role(Axis::PLACE)), (Role::Group, Role::Contestant));
        let facets = places.facets(&cell());
        assert_eq!(facets.last(), Some(&(Axis::STORE, "sqlite".into())));
        assert!(!facets.iter().any(|(axis, _)| *axis == Axis::PLACE));
        let both = comparing(vec![Axis::PLACE, Axis::STORE]);
        assert_eq!(both.contestant(&cell()), "sqlite place ssd");
    }

    #[test]
    fn plans_say_what_is_compared() {
        let layout_of = |plans: &[&str]| {
            let mut runs: Vec<Run> = plans.iter().map(|_| run("box", &[Sample::new("sqlite")])).collect();
            runs.iter_mut().zip(plans).for_each(|(run, plan)| run.header.plan = (*plan).to_owned());
            Layout::from_runs(&runs)
        };
        let (places, plain) = (comparing(vec![Axis::PLACE]), Layout::default());
        assert_eq!(layout_of(&["compare = [\"place\"]", "seed = 1\ncompare = [\"place\"]"]), places);
        assert_eq!(layout_of(&["seed = 1", "compare = [\"place\"]"]), plain);
        assert_eq!(layout_of(&["compare = [\"guarantee\"]"]), plain);
        assert_eq!(
            (layout_of(&["compare = \"place\""]), layout_of(&["= ?"]), layout_of(&[])),
            (plain.clone(), plain.clone(), plain)
        );
    }

    #[test]
    fn settings_follow_their_store() {
        let page_size = Axis::find("sqlite.page_size").unwrap();
        let tuned = cell().with(page_size, page_size.read("8192").unwrap());
        let plain = Layout { axes: [Axis::STORE, page_size].into(), ..Layout::default() };
        assert_eq!(plain.contestant(&tuned), "sqlite page_size=8192");
        let sizes = Layout { compared: vec![page_size], ..plain };
        assert_eq!(sizes.contestant(&tuned), "page_size=8192");
        assert_eq!(sizes.contestant(&cell()), "page_size as shipped");
    }

    #[test]
    fn an_axis_that_is_ranked_is_no_part_of_the_position() {
        let text = |layout: Layout| layout.position(&cell()).to_string();
        assert_eq!(text(Layout::default()), "1,000 records, compressible");
        assert_eq!(text(comparing(vec![Axis::DATA])), "1,000 records");
        assert_eq!(comparing(vec![Axis::DATA]).contestant(&cell()), "compressible");
    }
}
