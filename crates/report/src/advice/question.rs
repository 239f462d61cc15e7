//! The question of a user who asks for advice: how many records, how large, what is done to them, and what matters.

use std::fmt;

pub use storebench_core::workload::mix::Mix;
use storebench_core::workload::operation::Operation;
use storebench_model::axis::table::HERE;
use storebench_model::cell::Data;
use storebench_model::store::Guarantee;
use storebench_model::units::{Period, Sizes, plural, rough_bytes};
use storebench_model::words::words;

/// The question that advice answers.
#[derive(Debug, Clone, PartialEq)]
pub struct Question {
    /// The number of records that the store holds.
    pub records: u64,
    /// The sizes of their values.
    pub size: Sizes,
    /// The kind of bytes that the values are made of.
    pub data: Data,
    /// The guarantee: the accident that an acknowledged write must survive.
    pub guarantee: Guarantee,
    /// Sessions at work at once.
    pub threads: u32,
    /// The machine that limits stand in for; `here` is this one, without limits.
    pub machine: String,
    /// The simulated disk; `None`: the disk under the directory, or the machine's simulated one.
    pub disk: Option<String>,
    /// The operations on the records, by share.
    pub mix: Mix,
    /// Whether reads find nothing in memory: the store reopened and the page cache emptied.
    pub cold: bool,
    /// The period in which all records are overwritten once, for questions about ageing.
    pub overwritten: Option<Period>,
    /// The round trip between the servers of a cluster, for questions about clusters.
    pub network: Option<Period>,
    /// The goal that decides which store is best.
    pub goal: Goal,
    /// The largest allowed peak of memory, in bytes: not the least memory that a store can run in.
    pub max_memory_bytes: Option<u64>,
    /// The stores to choose from; `None`: all.
    pub stores: Option<Vec<String>>,
}

impl Question {
    /// Whether a store is among those to choose from.
    pub fn allows(&self, store: &str) -> bool {
        self.stores.as_ref().is_none_or(|stores| stores.iter().any(|name| name == store))
    }

    /// The bytes of all values together, by their mean size.
    pub fn values_bytes(&self) -> f64 {
        self.records as f64 * self.size.mean()
    }

    /// Whether anything is read.
    pub fn reads(&self) -> bool {
        self.mix.share(Operation::Get) > 0.0
    }

    /// `only gets`, or `of 100 operations 80 get, 20 update`.
    fn operations(&self) -> String {
        match self.mix.shares() {
            [(only, _)] => format!("only {}s", only.name()),
            _ => format!("of 100 operations {}", self.mix.describe()),
        }
    }

    /// `, on machine laptop-hdd`; empty for this machine.
    pub(super) fn whereabouts(&self) -> String {
        let machine = (self.machine != HERE).then(|| format!(", on machine {}", self.machine));
        let disk = self.disk_in_words().map(|disk| format!(", {disk}"));
        [machine, disk].into_iter().flatten().collect()
    }

    fn disk_in_words(&self) -> Option<String> {
        self.disk.as_deref().map(|disk| match disk {
            HERE => "on the disk here".into(),
            simulated => format!("on simulated disk {simulated}"),
        })
    }

    /// Whether its machine may have a simulated disk.
    pub(crate) fn may_have_own_disk(&self) -> bool {
        self.disk.is_none() && self.machine != HERE
    }

    /// `1 thread`, or `4 threads`.
    pub(super) fn sessions(&self) -> String {
        plural(self.threads, "thread")
    }
}

impl fmt::Display for Question {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{} of {}; {}{}; {}; {}; {}",
            plural(self.records, &format!("{} record", self.data.name())),
            self.size.describe(),
            self.operations(),
            if self.cold { ", read cold" } else { "" },
            match self.guarantee {
                Guarantee::None => "a write need survive nothing (guarantee none)",
                Guarantee::Process => "a write survives a killed process (guarantee process)",
                Guarantee::Power => "a write survives a power cut (guarantee power)",
                Guarantee::Node => "a write survives the loss of a machine (guarantee node)",
            },
            self.sessions(),
            self.goal.describe(),
        )?;
        if self.machine != HERE {
            write!(f, "; on machine {}", self.machine)?;
        }
        if let Some(disk) = self.disk_in_words() {
            write!(f, "; {disk}")?;
        }
        if let Some(bytes) = self.max_memory_bytes {
            write!(f, "; a peak of at most {} of memory", rough_bytes(bytes as f64))?;
        }
        match &self.stores {
            Some(stores) => write!(f, "; among {}", stores.join(", ")),
            None => Ok(()),
        }
    }
}

/// What makes a store the best.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, strum::VariantNames, strum::VariantArray)]
#[strum(serialize_all = "lowercase")]
pub enum Goal {
    /// The mean time of an operation.
    Speed,
    /// Bytes on disk.
    Space,
    /// Peak memory.
    Memory,
    /// The geometric mean of the ratios of all three.
    Balance,
}

words!(Goal, "{} is no goal: say speed, space, memory or balance");

impl Goal {
    /// The goal's figure, for the help.
    pub fn figure_name(self) -> &'static str {
        match self {
            Goal::Speed => "The mean time of an operation",
            Goal::Space => "Bytes on disk",
            Goal::Memory => "Peak memory",
            Goal::Balance => "Speed, disk and memory alike: the geometric mean of their ratios",
        }
    }

    /// Whether the goal is a time.
    pub fn is_of_time(self) -> bool {
        matches!(self, Goal::Speed | Goal::Balance)
    }

    /// The goal in a sentence.
    pub fn describe(self) -> &'static str {
        match self {
            Goal::Speed => "the fastest is wanted",
            Goal::Space => "the smallest on disk is wanted",
            Goal::Memory => "the one with the least memory is wanted",
            Goal::Balance => "a balance of speed, space and memory is wanted",
        }
    }
}
