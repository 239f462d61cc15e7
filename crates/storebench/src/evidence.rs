//! The findings of power cuts that come with the program: what its authors' own runs of the study `crash` found, by version. Made by
//! `scripts/evidence.py` from these runs.

use storebench_core::store::{Evidence, Guarantee};

pub const BERKELEYDB: &[Evidence] = &[
    Evidence {
        version: "5.3.28",
        guarantee: Guarantee::Power,
        torn: false,
        file_systems: &["btrfs", "ext3", "ext4", "xfs"],
        states: 2_040,
        broken: 0,
    },
    Evidence {
        version: "5.3.28",
        guarantee: Guarantee::Power,
        torn: true,
        file_systems: &["ext4"],
        states: 80,
        broken: 2,
    },
    Evidence {
        version: "5.3.28",
        guarantee: Guarantee::Process,
        torn: false,
        file_systems: &["btrfs", "ext3", "ext4", "xfs"],
        states: 1_420,
        broken: 0,
    },
];
pub const CASSANDRA: &[Evidence] = &[Evidence {
    version: "5.0.9",
    guarantee: Guarantee::Power,
    torn: false,
    file_systems: &["ext4"],
    states: 40,
    broken: 2,
}];
pub const ETCD: &[Evidence] = &[Evidence {
    version: "3.4.23",
    guarantee: Guarantee::Power,
    torn: false,
    file_systems: &["ext4"],
    states: 18,
    broken: 1,
}];
pub const FJALL: &[Evidence] = &[
    Evidence {
        version: "3.1.13",
        guarantee: Guarantee::Power,
        torn: false,
        file_systems: &["btrfs", "ext3", "ext4", "xfs"],
        states: 1_740,
        broken: 8,
    },
    Evidence {
        version: "3.1.13",
        guarantee: Guarantee::Power,
        torn: true,
        file_systems: &["ext4"],
        states: 180,
        broken: 3,
    },
    Evidence {
        version: "3.1.13",
        guarantee: Guarantee::Process,
        torn: false,
        file_systems: &["btrfs", "ext3", "ext4", "xfs"],
        states: 635,
        broken: 8,
    },
    Evidence {
        version: "3.1.13",
        guarantee: Guarantee::Process,
        torn: true,
        file_systems: &["ext4"],
        states: 43,
        broken: 2,
    },
];
pub const FLAT_FOLDER: &[Evidence] = &[
    Evidence {
        version: "6.18.44",
        guarantee: Guarantee::Power,
        torn: false,
        file_systems: &["btrfs", "ext3", "ext4", "xfs"],
        states: 1_740,
        broken: 0,
    },
    Evidence {
        version: "6.18.44",
        guarantee: Guarantee::Power,
        torn: true,
        file_systems: &["ext4"],
        states: 179,
        broken: 0,
    },
    Evidence {
        version: "6.18.44",
        guarantee: Guarantee::Process,
        torn: false,
        file_systems: &["btrfs", "ext3", "ext4", "xfs"],
        states: 1_134,
        broken: 10,
    },
    Evidence {
        version: "6.18.44",
        guarantee: Guarantee::Process,
        torn: true,
        file_systems: &["ext4"],
        states: 96,
        broken: 2,
    },
];
pub const LEVELDB: &[Evidence] = &[
    Evidence {
        version: "1.23",
        guarantee: Guarantee::Power,
        torn: false,
        file_systems: &["btrfs", "ext3", "ext4", "xfs"],
        states: 1_740,
        broken: 0,
    },
    Evidence {
        version: "1.23",
        guarantee: Guarantee::Power,
        torn: true,
        file_systems: &["ext4"],
        states: 179,
        broken: 0,
    },
    Evidence {
        version: "1.23",
        guarantee: Guarantee::Process,
        torn: false,
        file_systems: &["btrfs", "ext3", "ext4", "xfs"],
        states: 1_219,
        broken: 14,
    },
];
pub const LIBMDBX: &[Evidence] = &[
    Evidence {
        version: "0.14.4",
        guarantee: Guarantee::Power,
        torn: false,
        file_systems: &["btrfs", "ext3", "ext4", "xfs"],
        states: 1_040,
        broken: 0,
    },
    Evidence {
        version: "0.14.4",
        guarantee: Guarantee::Power,
        torn: true,
        file_systems: &["ext4"],
        states: 59,
        broken: 0,
    },
    Evidence {
        version: "0.14.4",
        guarantee: Guarantee::Process,
        torn: false,
        file_systems: &["btrfs", "ext3", "ext4", "xfs"],
        states: 1_020,
        broken: 86,
    },
    Evidence {
        version: "0.14.4",
        guarantee: Guarantee::Process,
        torn: true,
        file_systems: &["ext4"],
        states: 56,
        broken: 3,
    },
];
pub const LMDB: &[Evidence] = &[
    Evidence {
        version: "0.9.70",
        guarantee: Guarantee::Power,
        torn: false,
        file_systems: &["btrfs", "ext3", "ext4", "xfs"],
        states: 1_740,
        broken: 0,
    },
    Evidence {
        version: "0.9.70",
        guarantee: Guarantee::Power,
        torn: true,
        file_systems: &["ext4"],
        states: 180,
        broken: 0,
    },
    Evidence {
        version: "0.9.70",
        guarantee: Guarantee::Process,
        torn: false,
        file_systems: &["btrfs", "ext3", "ext4", "xfs"],
        states: 1_620,
        broken: 478,
    },
];
pub const MARIADB: &[Evidence] = &[
    Evidence {
        version: "10.11.19",
        guarantee: Guarantee::Power,
        torn: false,
        file_systems: &["ext4"],
        states: 60,
        broken: 0,
    },
    Evidence {
        version: "10.11.19",
        guarantee: Guarantee::Power,
        torn: true,
        file_systems: &["ext4"],
        states: 60,
        broken: 0,
    },
    Evidence {
        version: "10.11.19",
        guarantee: Guarantee::Process,
        torn: false,
        file_systems: &["ext4"],
        states: 60,
        broken: 0,
    },
];
pub const NATS: &[Evidence] = &[
    Evidence {
        version: "2.15.1",
        guarantee: Guarantee::Power,
        torn: false,
        file_systems: &["ext4", "xfs"],
        states: 600,
        broken: 0,
    },
    Evidence {
        version: "2.15.1",
        guarantee: Guarantee::Process,
        torn: false,
        file_systems: &["ext4", "xfs"],
        states: 600,
        broken: 160,
    },
];
pub const NESTED_FOLDER: &[Evidence] = &[
    Evidence {
        version: "6.18.44",
        guarantee: Guarantee::Power,
        torn: false,
        file_systems: &["btrfs", "ext3", "ext4", "xfs"],
        states: 1_540,
        broken: 0,
    },
    Evidence {
        version: "6.18.44",
        guarantee: Guarantee::Power,
        torn: true,
        file_systems: &["ext4"],
        states: 180,
        broken: 0,
    },
    Evidence {
        version: "6.18.44",
        guarantee: Guarantee::Process,
        torn: false,
        file_systems: &["btrfs", "ext3", "ext4", "xfs"],
        states: 1_434,
        broken: 33,
    },
];
pub const ONE_FILE: &[Evidence] = &[
    Evidence {
        version: "0.1.0",
        guarantee: Guarantee::Power,
        torn: false,
        file_systems: &["btrfs", "ext3", "ext4", "xfs"],
        states: 2_140,
        broken: 0,
    },
    Evidence {
        version: "0.1.0",
        guarantee: Guarantee::Power,
        torn: true,
        file_systems: &["ext4"],
        states: 80,
        broken: 0,
    },
    Evidence {
        version: "0.1.0",
        guarantee: Guarantee::Process,
        torn: false,
        file_systems: &["btrfs", "ext3", "ext4", "xfs"],
        states: 1_694,
        broken: 233,
    },
];
pub const POSTGRES: &[Evidence] = &[
    Evidence {
        version: "15.18",
        guarantee: Guarantee::Power,
        torn: false,
        file_systems: &["ext4"],
        states: 60,
        broken: 0,
    },
    Evidence {
        version: "15.18",
        guarantee: Guarantee::Power,
        torn: true,
        file_systems: &["ext4"],
        states: 60,
        broken: 0,
    },
    Evidence {
        version: "15.18",
        guarantee: Guarantee::Process,
        torn: false,
        file_systems: &["ext4"],
        states: 54,
        broken: 22,
    },
];
pub const REDB: &[Evidence] = &[
    Evidence {
        version: "4.5.0",
        guarantee: Guarantee::Power,
        torn: false,
        file_systems: &["btrfs", "ext3", "ext4", "xfs"],
        states: 2_040,
        broken: 24,
    },
    Evidence {
        version: "4.5.0",
        guarantee: Guarantee::Power,
        torn: true,
        file_systems: &["ext4"],
        states: 180,
        broken: 2,
    },
];
pub const REDIS: &[Evidence] = &[
    Evidence {
        version: "7.0.15",
        guarantee: Guarantee::Power,
        torn: false,
        file_systems: &["ext4"],
        states: 20,
        broken: 0,
    },
    Evidence {
        version: "7.0.15",
        guarantee: Guarantee::Power,
        torn: true,
        file_systems: &["ext4"],
        states: 58,
        broken: 0,
    },
    Evidence {
        version: "7.0.15",
        guarantee: Guarantee::Process,
        torn: false,
        file_systems: &["ext4"],
        states: 20,
        broken: 2,
    },
];
pub const ROCKSDB: &[Evidence] = &[
    Evidence {
        version: "11.8.1",
        guarantee: Guarantee::Power,
        torn: false,
        file_systems: &["btrfs", "ext3", "ext4", "xfs"],
        states: 1_740,
        broken: 0,
    },
    Evidence {
        version: "11.8.1",
        guarantee: Guarantee::Power,
        torn: true,
        file_systems: &["ext4"],
        states: 180,
        broken: 0,
    },
    Evidence {
        version: "11.8.1",
        guarantee: Guarantee::Process,
        torn: false,
        file_systems: &["btrfs", "ext3", "ext4", "xfs"],
        states: 1_288,
        broken: 0,
    },
    Evidence {
        version: "11.8.1",
        guarantee: Guarantee::Process,
        torn: true,
        file_systems: &["ext4"],
        states: 100,
        broken: 0,
    },
];
pub const SLED: &[Evidence] = &[
    Evidence {
        version: "0.34.7",
        guarantee: Guarantee::Process,
        torn: false,
        file_systems: &["btrfs", "ext3", "ext4", "xfs"],
        states: 1_039,
        broken: 0,
    },
    Evidence {
        version: "0.34.7",
        guarantee: Guarantee::Process,
        torn: true,
        file_systems: &["ext4"],
        states: 59,
        broken: 0,
    },
];
pub const SQLITE: &[Evidence] = &[
    Evidence {
        version: "3.54.1",
        guarantee: Guarantee::Power,
        torn: false,
        file_systems: &["btrfs", "ext3", "ext4", "xfs"],
        states: 2_038,
        broken: 0,
    },
    Evidence {
        version: "3.54.1",
        guarantee: Guarantee::Power,
        torn: true,
        file_systems: &["ext4"],
        states: 177,
        broken: 0,
    },
    Evidence {
        version: "3.54.1",
        guarantee: Guarantee::Process,
        torn: false,
        file_systems: &["btrfs", "ext3", "ext4", "xfs"],
        states: 1_598,
        broken: 0,
    },
    Evidence {
        version: "3.54.1",
        guarantee: Guarantee::Process,
        torn: true,
        file_systems: &["ext4"],
        states: 100,
        broken: 0,
    },
];
pub const UNQLITE: &[Evidence] = &[
    Evidence {
        version: "1.1.9",
        guarantee: Guarantee::Power,
        torn: false,
        file_systems: &["btrfs", "ext3", "ext4", "xfs"],
        states: 1_460,
        broken: 0,
    },
    Evidence {
        version: "1.1.9",
        guarantee: Guarantee::Power,
        torn: true,
        file_systems: &["ext4"],
        states: 180,
        broken: 0,
    },
];
