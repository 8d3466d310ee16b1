//! What only the processor can do.

/// A cache line, in bytes.
#[cfg(target_arch = "x86_64")]
const LINE: usize = 64;

/// Asks for `what` to be brought into the cache, as its first `bytes` bytes. Changes nothing but time.
#[inline(always)]
pub(crate) fn fetch_ahead<T>(what: &T, bytes: usize) {
    #[cfg(target_arch = "x86_64")]
    {
        use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        let start = std::ptr::from_ref(what).cast::<i8>();
        for offset in (0..bytes.min(size_of::<T>())).step_by(LINE) {
            #[allow(unsafe_code, reason = "a hint")]
            // SAFETY: fetching ahead never fails, whatever the address, and this one lies within `what`.
            unsafe {
                _mm_prefetch::<_MM_HINT_T0>(start.wrapping_add(offset));
            }
        }
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = (what, bytes);
}
