//! Instructions that depend on the processor.

/// A cache line, in bytes.
#[cfg(target_arch = "x86_64")]
const LINE: usize = 64;

/// Number of flows or connections whose state together exceeds the nearest caches.
pub(crate) const CROWD: usize = 256;

/// Prefetches the first `bytes` bytes of `what` into the cache. Has no effect but on time.
#[inline(always)]
pub(crate) fn prefetch<T>(what: &T, bytes: usize) {
    #[cfg(target_arch = "x86_64")]
    {
        use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        let start = std::ptr::from_ref(what).cast::<i8>();
        for offset in (0..bytes.min(size_of::<T>())).step_by(LINE) {
            #[allow(unsafe_code, reason = "a hint")]
            // SAFETY: a prefetch never fails, whatever the address, and this one lies within
            // `what`.
            unsafe {
                _mm_prefetch::<_MM_HINT_T0>(start.wrapping_add(offset));
            }
        }
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = (what, bytes);
}

/// Whether worlds may be processed late. In a browser somebody looks at each world while it runs,
/// so that none is, and what would do it is left out.
pub(crate) const DEFERRING: bool = cfg!(not(target_arch = "wasm32"));

/// Whether code may be compiled into each place that calls it. A browser loads every byte.
pub(crate) const SPACIOUS: bool = cfg!(not(target_arch = "wasm32"));
