//! The clock and the random bytes of the machine, for stacks that ask for them by themselves.
//!
//! `build.rs` has the linker put functions of this file between the program and the C library's
//! `clock_gettime` and `getrandom`, and between it and BoringSSL's `RAND_bytes`. During
//! [`Place::within`] the monotonic clock stands at the simulated time, and bytes come from a
//! generator with a seed. Otherwise all are the machine's. Stacks need no change for it.

use goodqueue_net::Instant;
use std::cell::Cell;
use std::ffi::{c_int, c_uint, c_void};
use std::time::Duration;

/// Time that the clock shows at simulated time zero. Stacks subtract from the time.
const EPOCH: Duration = Duration::from_secs(1_000_000);

#[derive(Clone, Copy)]
struct World {
    /// Shown by the clock.
    time: Duration,
    /// State of the generator.
    random: u64,
}

thread_local! {
    static WORLD: Cell<Option<World>> = const { Cell::new(None) };
}

/// The machine as one endpoint sees it.
pub struct Place {
    random: u64,
}

impl Place {
    /// Creates a machine whose random bytes follow from `seed`.
    pub const fn new(seed: u64) -> Self {
        Self { random: seed }
    }

    /// Calls a stack at the simulated time `now`.
    pub fn within<T>(&mut self, now: Instant, call: impl FnOnce() -> T) -> T {
        /// Also a panicking stack gives the machine back.
        struct Back<'a>(&'a mut u64);
        impl Drop for Back<'_> {
            fn drop(&mut self) {
                if let Some(world) = WORLD.take() {
                    *self.0 = world.random;
                }
            }
        }
        let time = EPOCH + Duration::from_nanos(now.as_nanos());
        WORLD.set(Some(World { time, random: self.random }));
        let _back = Back(&mut self.random);
        call()
    }

    /// The instant of the clock at simulated time zero.
    pub fn epoch(&mut self) -> std::time::Instant {
        self.within(Instant::ZERO, std::time::Instant::now)
    }
}

unsafe extern "C" {
    fn __real_clock_gettime(clock: libc::clockid_t, time: *mut libc::timespec) -> c_int;
    fn __real_RAND_bytes(bytes: *mut u8, len: usize) -> c_int;
}

/// # Safety
/// As `clock_gettime`: `time` is valid for a write.
#[unsafe(no_mangle)]
unsafe extern "C" fn __wrap_clock_gettime(clock: libc::clockid_t, time: *mut libc::timespec) -> c_int {
    match WORLD.get() {
        Some(World { time: shown, .. }) if clock == libc::CLOCK_MONOTONIC => {
            let shown = libc::timespec { tv_sec: shown.as_secs() as i64, tv_nsec: shown.subsec_nanos().into() };
            // SAFETY: the caller's promise.
            unsafe { time.write(shown) };
            0
        }
        // SAFETY: the caller's promise.
        Some(_) | None => unsafe { __real_clock_gettime(clock, time) },
    }
}

/// # Safety
/// As `RAND_bytes`: `bytes` is valid for writes of `len` bytes.
#[unsafe(no_mangle)]
unsafe extern "C" fn __wrap_RAND_bytes(bytes: *mut u8, len: usize) -> c_int {
    let Some(mut world) = WORLD.get() else {
        // SAFETY: the caller's promise.
        return unsafe { __real_RAND_bytes(bytes, len) };
    };
    // SAFETY: the caller's promise.
    unsafe { fill(&mut world, bytes, len) };
    1
}

/// Found in place of the C library's by its name, which Rust's generators look up.
///
/// # Safety
/// As `getrandom`: `bytes` is valid for writes of `len` bytes.
#[unsafe(no_mangle)]
unsafe extern "C" fn getrandom(bytes: *mut c_void, len: usize, flags: c_uint) -> isize {
    let Some(mut world) = WORLD.get() else {
        // SAFETY: the caller's promise.
        return unsafe { libc::syscall(libc::SYS_getrandom, bytes, len, flags) } as isize;
    };
    // SAFETY: the caller's promise.
    unsafe { fill(&mut world, bytes.cast(), len) };
    len as isize
}

/// # Safety
/// `bytes` is valid for writes of `len` bytes.
unsafe fn fill(world: &mut World, bytes: *mut u8, len: usize) {
    for place in 0..len {
        // SAFETY: the caller's promise.
        unsafe { bytes.add(place).write(next(&mut world.random) as u8) };
    }
    WORLD.set(Some(*world));
}

/// SplitMix64 (Steele, Lea and Flood 2014).
pub fn next(state: &mut u64) -> u64 {
    *state = state.wrapping_add(0x9E37_79B9_7F4A_7C15);
    let mut mixed = *state;
    mixed = (mixed ^ mixed >> 30).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    mixed = (mixed ^ mixed >> 27).wrapping_mul(0x94D0_49BB_1331_11EB);
    mixed ^ mixed >> 31
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_clock_stands_within_and_goes_outside() {
        let mut place = Place::new(1);
        let epoch = place.epoch();
        let now = Instant::from_nanos(7);
        place.within(now, || assert_eq!(std::time::Instant::now(), epoch + Duration::from_nanos(7)));
        assert_ne!(std::time::Instant::now(), epoch);
    }

    #[test]
    fn generators_of_threads_have_a_seed_within() {
        let draw = |seed| {
            let mut generator = rand::rng();
            Place::new(seed).within(Instant::ZERO, || generator.reseed().expect("random bytes"));
            rand::Rng::next_u64(&mut generator)
        };
        assert_eq!(draw(1), draw(1));
        assert_ne!(draw(1), draw(2));
    }
}
