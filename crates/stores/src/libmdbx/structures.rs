//! The structures of libmdbx's C interface that the store looks into. A test holds them to the header.
#![allow(non_camel_case_types, reason = "these are the header's names")]

use std::ffi::{c_char, c_void};

#[repr(C)]
pub struct MDBX_val {
    pub iov_base: *mut c_void,
    pub iov_len: usize,
}

#[repr(C)]
#[derive(Default)]
pub struct MDBX_stat {
    pub ms_psize: u32,
    pub ms_depth: u32,
    pub ms_branch_pages: u64,
    pub ms_leaf_pages: u64,
    pub ms_overflow_pages: u64,
    pub ms_entries: u64,
    pub ms_mod_txnid: u64,
}

#[repr(C)]
#[derive(Default)]
pub struct MDBX_envinfo {
    pub mi_geo: Geometry,
    pub mi_mapsize: u64,
    pub mi_dxb_fsize: u64,
    pub mi_dxb_fallocated: u64,
    pub mi_last_pgno: u64,
    pub mi_recent_txnid: u64,
    _readers: [u64; 2],
    _metas: [u64; 6],
    pub mi_maxreaders: u32,
    pub mi_numreaders: u32,
    pub mi_dxb_pagesize: u32,
    _sizes: [u32; 3],
    _boots: [u64; 8],
    _unsynced: [u64; 2],
    _times: [u32; 3],
    pub mi_mode: u32,
    _pages: [u64; 12],
    _id: [u64; 2],
}

#[repr(C)]
#[derive(Default)]
pub struct Geometry {
    pub lower: u64,
    pub upper: u64,
    pub current: u64,
    pub shrink: u64,
    pub grow: u64,
}

/// The functions that a check calls, all optional.
#[repr(C)]
#[derive(Default)]
pub struct MDBX_chk_callbacks_t {
    _none: [usize; 17],
}

#[repr(C)]
pub struct MDBX_chk_context_t {
    _handles: [*mut c_void; 4],
    _nesting: u8,
    pub result: Found,
}

#[repr(C)]
pub struct Found {
    _counts: [usize; 10],
    _problems: [usize; 6],
    pub total_problems: usize,
    _transactions: [u64; 2],
    _histograms: [[usize; 40]; 3],
    _tables: *const c_void,
}

#[repr(C)]
pub struct MDBX_version_info {
    pub major: u16,
    pub minor: u16,
    pub patch: u16,
    pub tweak: u16,
    _texts: [*const c_char; 6],
}

// SAFETY: the library has one, which nobody changes.
unsafe impl Sync for MDBX_version_info {}

unsafe extern "C" {
    pub static mdbx_version: MDBX_version_info;
}
