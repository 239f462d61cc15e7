//! Decides the next race from the measurements so far and the time left. Pure: the same races give the same search.
//!
//! One setting at a time is screened against the default. The values that look helpful are combined, the best first. The best combination
//! races its neighbours, until none is better: settings without effect go, and those that help only in combination are found. Reported is
//! only the interval of fresh blocks against the default, so that the choice of the best does not make it look better than it is.

use storebench_figures::judge::interim;

use super::race::{DEFAULT, Kind, RaceResult, Settings};

/// The share of the time after which each kind of race ends: time left over goes to the next ones.
pub const SCREEN_UNTIL: f64 = 0.4;
const COMBINE_UNTIL: f64 = 0.55;
const NEAR_UNTIL: f64 = 0.7;
const PROOF_UNTIL: f64 = 0.9;

/// A value that seems to save less than this share of the time is not combined.
const MIN_SAVING: f64 = 0.01;
/// The confidence that a single value helps before it is combined; later races remove a false one.
const PROMISING: f64 = 0.8;
/// The confidence that a neighbour is better before it replaces the best.
const BETTER: f64 = 0.9;
/// A setting is removed if the time grows by no more than this share without it.
const MAX_LOSS: f64 = 0.005;
const MOST_COMBINED: usize = 6;
const MOST_NEAR: usize = 6;
/// The fewest blocks for which a race among neighbours needs time.
const FEWEST_BLOCKS: f64 = 3.0;
/// A single value that seemed worse than the default by this factor is no neighbour.
const HOPELESS: f64 = 1.05;

/// One value of one setting.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Change {
    /// The setting.
    pub setting: String,
    /// Its value.
    pub value: String,
}

impl Change {
    /// Settings with only this change.
    pub fn as_settings(&self) -> Settings {
        Settings::from([(self.setting.clone(), self.value.clone())])
    }
}

/// The available time, in seconds.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Time {
    /// The whole budget.
    pub budget_s: f64,
    /// The time used so far.
    pub spent_s: f64,
    /// The time of a trial.
    pub trial_s: f64,
    /// The time before a race's first trial.
    pub race_s: f64,
}

impl Time {
    /// The number of blocks of `trials` trials until a share of the budget is used.
    fn blocks(&self, share: f64, trials: usize) -> f64 {
        let left_s = self.budget_s * share - self.spent_s - self.race_s;
        (left_s / (self.trial_s * trials as f64).max(f64::MIN_POSITIVE)).max(0.0)
    }
}

/// A race to be run.
#[derive(Debug, Clone, PartialEq)]
pub struct Race {
    /// Its purpose.
    pub kind: Kind,
    /// The settings, the default first.
    pub arms: Vec<Settings>,
    /// Numbers of blocks after which the race may end.
    pub looks: Vec<u32>,
    /// No trial begins after this share of the budget.
    pub until: f64,
}

/// The next race; `None` when the search is over.
pub fn next(changes: &[Change], races: &[RaceResult], time: Time) -> Option<Race> {
    let Some(screen) = screened(races) else {
        let arms = with_default(changes.iter().map(Change::as_settings));
        return (arms.len() > 1).then(|| race(Kind::Screen, arms, SCREEN_UNTIL));
    };
    let helpful = helpful_changes(&screen);
    let count = |kind| races_of_kind(races, kind).count();
    if count(Kind::Proof) > 0 {
        return None;
    }
    let Some(best) = best(races) else { return repeat_screen(&screen, count(Kind::Screen), time) };
    if helpful.len() > 1
        && count(Kind::Combine) + count(Kind::Near) == 0
        && let Some(combine) = race_combinations(&helpful, time)
    {
        return Some(combine);
    }
    if let Some(near) = race_neighbours(&screen, races, &best, time) {
        return Some(near);
    }
    let looks = interim::plan_analyses(time.blocks(PROOF_UNTIL, 2) as u32).to_vec();
    Some(Race { kind: Kind::Proof, arms: vec![Settings::new(), best], looks, until: PROOF_UNTIL })
}

/// If nothing looks helpful: the remaining candidates once more, for a stronger statement.
fn repeat_screen(screen: &RaceResult, screenings: usize, time: Time) -> Option<Race> {
    let may_help = |arm: &usize| screen.arms[*arm].out.is_none() && screen.value(*arm) < HOPELESS;
    let rivals = (DEFAULT + 1..screen.arms.len()).filter(may_help);
    let arms = with_default(rivals.map(|arm| screen.arms[arm].settings.clone()));
    let has_time = time.blocks(NEAR_UNTIL, arms.len()) >= FEWEST_BLOCKS;
    (screenings == 1 && arms.len() > 1 && has_time).then(|| race(Kind::Screen, arms, NEAR_UNTIL))
}

fn race_combinations(helpful: &[Change], time: Time) -> Option<Race> {
    let arms = with_default(prefixes(helpful));
    let until = [COMBINE_UNTIL, NEAR_UNTIL];
    let until = until.into_iter().find(|until| time.blocks(*until, arms.len()) >= FEWEST_BLOCKS)?;
    Some(race(Kind::Combine, arms, until))
}

fn race(kind: Kind, arms: Vec<Settings>, until: f64) -> Race {
    Race { kind, arms, looks: super::race::LOOKS.to_vec(), until }
}

fn with_default(others: impl IntoIterator<Item = Settings>) -> Vec<Settings> {
    std::iter::once(Settings::new()).chain(others).collect()
}

fn races_of_kind(races: &[RaceResult], kind: Kind) -> impl Iterator<Item = &RaceResult> {
    races.iter().filter(move |race| race.kind == kind)
}

/// All screenings as one race: in a second one the same settings add blocks.
pub fn screened(races: &[RaceResult]) -> Option<RaceResult> {
    let mut screens = races_of_kind(races, Kind::Screen);
    let mut screen = screens.next()?.clone();
    for arm in screens.flat_map(|race| &race.arms) {
        if let Some(same) = screen.arms.iter_mut().find(|same| same.settings == arm.settings) {
            same.times.extend(&arm.times);
            same.out = same.out.take().or_else(|| arm.out.clone());
        }
    }
    Some(screen)
}

/// The best settings in the races so far; `None` for the default.
pub fn best(races: &[RaceResult]) -> Option<Settings> {
    let screen = screened(races)?;
    let mut best = helpful_changes(&screen).into_iter().next()?.as_settings();
    for race in races {
        best = match race.kind {
            Kind::Combine => best_combination(race).unwrap_or(best),
            Kind::Near => better_neighbour(race).unwrap_or(best),
            Kind::Screen | Kind::Proof | Kind::Beside => best,
        };
    }
    Some(best)
}

/// The best value of each setting that looks helpful, the most helpful first; any usable one if the default can't be used.
fn helpful_changes(screen: &RaceResult) -> Vec<Change> {
    let must_replace = screen.arms.first().is_some_and(|default| default.out.is_some());
    let mut changes: Vec<(f64, Change)> = Vec::new();
    for (index, arm) in screen.arms.iter().enumerate().skip(DEFAULT + 1) {
        let is_measured = !arm.times.is_empty();
        let is_helpful = is_measured && (must_replace || screen.is_better(index, MIN_SAVING, PROMISING));
        let Some((setting, value)) =
            arm.settings.first_key_value().filter(|_| arm.out.is_none() && is_helpful)
        else {
            continue;
        };
        let change = Change { setting: setting.clone(), value: value.clone() };
        match changes.iter_mut().find(|(_, other)| other.setting == change.setting) {
            Some(other) if other.0 > screen.value(index) => *other = (screen.value(index), change),
            Some(_) => {}
            None => changes.push((screen.value(index), change)),
        }
    }
    changes.sort_by(|a, b| a.0.total_cmp(&b.0));
    changes.into_iter().map(|(_, change)| change).take(MOST_COMBINED).collect()
}

/// The first, the first two, and so on.
fn prefixes(helpful: &[Change]) -> Vec<Settings> {
    let first_changes = |number: usize| helpful[..number].iter().flat_map(Change::as_settings).collect();
    (1..=helpful.len()).map(first_changes).collect()
}

/// The best of the combinations that reached the end; one with fewer settings if more save next to nothing.
fn best_combination(race: &RaceResult) -> Option<Settings> {
    let best = race.alive().into_iter().min_by(|a, b| race.price(*a).total_cmp(&race.price(*b)))?;
    Some(race.arms[best].settings.clone())
}

/// The neighbour that replaces the best: a better one, or one without an ineffective setting.
fn better_neighbour(race: &RaceResult) -> Option<Settings> {
    let control = &race.arms.get(race.control())?.settings;
    let mut alive = race.alive();
    alive.sort_by(|a, b| race.value(*a).total_cmp(&race.value(*b)));
    let better = alive.iter().find(|arm| race.is_better(**arm, MIN_SAVING, BETTER));
    let has_fewer = |arm: &&usize| race.arms[**arm].settings.len() < control.len();
    let find_free = || alive.iter().filter(has_fewer).find(|arm| race.value(**arm) <= 1.0 + MAX_LOSS);
    better.or_else(find_free).map(|arm| race.arms[*arm].settings.clone())
}

/// The next race among neighbours, if the last found a better one and there is time.
fn race_neighbours(screen: &RaceResult, races: &[RaceResult], best: &Settings, time: Time) -> Option<Race> {
    let earlier: Vec<&RaceResult> = races_of_kind(races, Kind::Near).collect();
    if earlier.len() >= MOST_NEAR || earlier.last().is_some_and(|last| better_neighbour(last).is_none()) {
        return None;
    }
    let is_known = |settings: &Settings| {
        earlier.iter().flat_map(|race| race.arms.iter().skip(1)).any(|arm| arm.settings == *settings)
    };
    let mut rivals: Vec<Settings> =
        neighbours(screen, best).into_iter().filter(|settings| !is_known(settings)).collect();
    let most_rivals = (time.blocks(NEAR_UNTIL, 1) / FEWEST_BLOCKS) as usize;
    rivals.truncate(most_rivals.saturating_sub(2));
    let arms = with_default(std::iter::once(best.clone()).chain(rivals));
    (arms.len() > 2).then(|| race(Kind::Near, arms, NEAR_UNTIL))
}

/// The settings that differ from given ones in one: first without it, then with each other value that is not much worse alone, best first.
fn neighbours(screen: &RaceResult, best: &Settings) -> Vec<Settings> {
    let remove_setting = |name: &String| {
        let mut settings = best.clone();
        settings.remove(name);
        settings
    };
    let fewer = best.keys().map(remove_setting).filter(|settings| !settings.is_empty());
    let mut others: Vec<(f64, Settings)> = Vec::new();
    for (index, arm) in screen.arms.iter().enumerate().skip(DEFAULT + 1) {
        let is_hopeless = arm.out.is_some() || screen.value(index) > HOPELESS;
        if is_hopeless || arm.settings.iter().any(|(name, value)| best.get(name) == Some(value)) {
            continue;
        }
        let mut settings = best.clone();
        settings.extend(arm.settings.clone());
        others.push((screen.value(index), settings));
    }
    others.sort_by(|a, b| a.0.total_cmp(&b.0));
    fewer.chain(others.into_iter().map(|(_, settings)| settings)).collect()
}

#[cfg(test)]
mod tests;
