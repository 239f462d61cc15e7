//! The threads that share the work on many results.

use std::sync::Once;

use rayon::ThreadPoolBuilder;

/// Makes them, once; where the system permits no more threads, the one that asks does all by itself. Rayon would panic there.
pub fn start_threads() {
    static STARTED: Once = Once::new();
    STARTED.call_once(|| {
        if ThreadPoolBuilder::new().build_global().is_err() {
            // Rayon asks the pool of the thread that it is on, if there is one, and not the one for all, which can't be made.
            let pool = ThreadPoolBuilder::new().num_threads(1).use_current_thread().build();
            std::mem::forget(pool);
        }
    });
}
