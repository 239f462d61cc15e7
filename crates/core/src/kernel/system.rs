//! Calls that Linux has and other systems lack. There each is refused, and whoever makes it says that what it is for can't be had.

#[cfg(target_os = "linux")]
mod linux;
#[cfg(not(target_os = "linux"))]
mod other;

#[cfg(target_os = "linux")]
pub use self::linux::*;
#[cfg(not(target_os = "linux"))]
pub use self::other::*;
