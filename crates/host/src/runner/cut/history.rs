//! A history: a store's requests to its disk, the acknowledgements, and what a state must contain.

use std::iter;
use std::ops::Range;

use storebench_disk::cut::{Cut, Log};

use super::draw::DrawnState;
use storebench_core::workload::cut::step_progress::describe_steps;
use storebench_core::workload::cut::{RecordedHistory, StateReport, StepMark};
use storebench_model::result::{Phase, StateFinding};

pub struct History {
    pub log: Log,
    /// The steps, and the rest of the report.
    pub recording: RecordedHistory,
}

/// A state's finding, compared with what was acknowledged.
pub struct StateVerdict {
    /// With another finding if steps are lost.
    pub report: StateReport,
    /// Acknowledged steps that are lost, if they are the newest.
    pub lost: u64,
    /// The time from the acknowledgement of the first lost step to the last one before the cut: no clock runs at the cut.
    pub lost_ns: u64,
}

impl History {
    /// The number of log entries at the last acknowledgement: later ones are in no state.
    pub fn end(recording: &RecordedHistory) -> usize {
        recording.sessions.iter().flatten().map(|mark| mark.after).max().unwrap_or_default() as usize
    }

    /// Steps that were acknowledged.
    pub fn steps(&self) -> u64 {
        self.recording.sessions.iter().map(|marks| marks.len() as u64).sum()
    }

    /// The moments just after an acknowledgement, in order.
    pub fn acknowledgements(&self) -> Vec<usize> {
        let mut moments: Vec<usize> =
            self.recording.sessions.iter().flatten().map(|mark| mark.after as usize).collect();
        moments.sort_unstable();
        moments
    }

    /// Steps of each session that were acknowledged before a moment, and that were begun.
    pub fn steps_before(&self, moment: usize) -> (Vec<u64>, Vec<u64>) {
        let moment = moment as u64;
        let count_acknowledged =
            |marks: &Vec<StepMark>| marks.partition_point(|mark| mark.after <= moment) as u64;
        let count_begun = |marks: &Vec<StepMark>| marks.partition_point(|mark| mark.before < moment) as u64;
        let sessions = &self.recording.sessions;
        let acknowledged: Vec<u64> = sessions.iter().map(count_acknowledged).collect();
        let begun =
            sessions.iter().zip(&acknowledged).map(|(marks, least)| count_begun(marks).max(*least)).collect();
        (acknowledged, begun)
    }

    /// The moments of a part of the history; empty if it has no requests.
    pub fn phase_ranges(&self, phase: Phase) -> Vec<Range<usize>> {
        let RecordedHistory { began, opened, settling, .. } = &self.recording;
        let range = |from: u64, to: usize| iter::once(from as usize..to).collect();
        match phase {
            Phase::Creating => range(*began, *opened as usize),
            Phase::Settling => settling.iter().map(|(from, to)| *from as usize + 1..*to as usize).collect(),
            Phase::Writing | Phase::Recovering => range(*opened, History::end(&self.recording) + 1),
        }
    }

    /// The part of the history in which a moment lies.
    pub fn phase(&self, moment: usize) -> Phase {
        let is_in = |phase: &Phase| self.phase_ranges(*phase).iter().any(|range| range.contains(&moment));
        [Phase::Creating, Phase::Settling].into_iter().find(is_in).unwrap_or(Phase::Writing)
    }

    pub fn draw_state(&self, number: u64, cut: Cut) -> DrawnState {
        let (acknowledged, begun) = self.steps_before(cut.at);
        DrawnState { number, phase: self.phase(cut.at), cut, acknowledged, begun }
    }

    /// Compares a process's findings with what was acknowledged.
    pub fn judge(&self, drawn: &DrawnState, report: &StateReport) -> StateVerdict {
        let verdict = |finding, message, lost, lost_ns| StateVerdict {
            report: StateReport { finding, message, ..report.clone() },
            lost,
            lost_ns,
        };
        if report.finding != StateFinding::Held {
            return verdict(report.finding, report.message.clone(), 0, 0);
        }
        let before = |steps: &u64| (*steps as usize).checked_sub(1);
        let sessions = || self.recording.sessions.iter().zip(drawn.acknowledged.iter().zip(&report.kept));
        let lost: u64 = sessions().map(|(_, (acknowledged, kept))| acknowledged.saturating_sub(*kept)).sum();
        if lost == 0 {
            return verdict(StateFinding::Held, String::new(), 0, 0);
        }
        let first_lost = sessions()
            .filter(|(_, (acknowledged, kept))| kept < acknowledged)
            .filter_map(|(marks, (_, kept))| marks.get(*kept as usize))
            .map(|mark| mark.ended_ns)
            .min();
        // The beginning of the last step that each session still has.
        let last_kept =
            sessions().filter_map(|(marks, (_, kept))| Some(marks.get(before(kept)?)?.began_ns)).max();
        let total: u64 = drawn.acknowledged.iter().sum();
        let mut steps = Vec::new();
        for (session, (_, (acknowledged, kept))) in (0..).zip(sessions()) {
            steps.extend((*kept..*acknowledged).map(|number| (session, number)));
        }
        let steps = describe_steps(&steps);
        if first_lost.zip(last_kept).is_some_and(|(lost, kept)| lost < kept) {
            let message = format!(
                "{lost} of {total} acknowledged steps are lost, and one that began after them is there: {steps}"
            );
            return verdict(StateFinding::Hole, message, 0, 0);
        }
        let last_acknowledged = sessions()
            .filter_map(|(marks, (acknowledged, _))| Some(marks.get(before(acknowledged)?)?.ended_ns))
            .max();
        let lost_ns = last_acknowledged.zip(first_lost).map(|(last, first)| last.saturating_sub(first));
        let message = format!("the last {lost} of {total} acknowledged steps are lost: {steps}");
        verdict(StateFinding::Lost, message, lost, lost_ns.unwrap_or_default())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Two sessions that take turns: their steps have two entries each.
    fn history() -> History {
        let mark = |turn: u64| {
            let (before, began_ns) = (10 + turn * 2, turn * 100);
            StepMark { before, after: before + 2, began_ns, ended_ns: began_ns + 50 }
        };
        let session = |first: u64| (0..5).map(|step| mark(step * 2 + first)).collect();
        let sessions = vec![session(0), session(1)];
        let recording = RecordedHistory { sessions, began: 0, opened: 10, settling: vec![(20, 22)] };
        History { log: Log { entries: Vec::new() }, recording }
    }

    fn judge_kept(at: usize, kept: [u64; 2]) -> (StateFinding, u64, u64) {
        let history = history();
        let drawn = history.draw_state(0, Cut { at, lost: Default::default() });
        let report = StateReport { kept: kept.into(), ..StateReport::new(StateFinding::Held, String::new()) };
        let verdict = history.judge(&drawn, &report);
        (verdict.report.finding, verdict.lost, verdict.lost_ns)
    }

    #[test]
    fn what_was_acknowledged_and_begun_follows_from_the_log() {
        let history = history();
        assert_eq!(History::end(&history.recording), 30);
        assert_eq!(history.steps_before(9), (vec![0, 0], vec![0, 0]));
        assert_eq!(history.steps_before(11), (vec![0, 0], vec![1, 0]));
        assert_eq!(history.steps_before(12), (vec![1, 0], vec![1, 0]));
        assert_eq!(history.steps_before(17), (vec![2, 1], vec![2, 2]));
        let phases = [Phase::Creating, Phase::Writing, Phase::Settling, Phase::Writing];
        assert_eq!([3, 12, 21, 25].map(|at| history.phase(at)), phases);
    }

    #[test]
    fn the_newest_of_all_sessions_may_be_lost_and_not_one_before_another() {
        assert_eq!(judge_kept(30, [5, 5]), (StateFinding::Held, 0, 0));
        assert_eq!(judge_kept(30, [5, 4]), (StateFinding::Lost, 1, 0));
        assert_eq!(judge_kept(30, [4, 4]), (StateFinding::Lost, 2, 100));
        // The other session's last step began later.
        assert_eq!(judge_kept(30, [4, 5]), (StateFinding::Hole, 0, 0));
        // A step that was begun and not acknowledged may be there or not.
        assert_eq!(judge_kept(13, [1, 0]), (StateFinding::Held, 0, 0));
        assert_eq!(judge_kept(13, [1, 1]), (StateFinding::Held, 0, 0));
    }
}
