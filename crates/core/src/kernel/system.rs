//! Calls that Linux has and other systems lack, where each fails; the caller says what can't be had.

#[cfg(target_os = "linux")]
mod linux;
#[cfg(not(target_os = "linux"))]
mod other;

#[cfg(target_os = "linux")]
pub use self::linux::*;
#[cfg(not(target_os = "linux"))]
pub use self::other::*;
