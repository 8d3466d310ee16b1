//! The parts that std would provide: an allocator, and a panic handler.

use crate::Arena;
use core::alloc::{GlobalAlloc, Layout};
use core::ffi::c_void;
use core::fmt::{self, Write};
use core::panic::PanicInfo;

// The module's part, in `kernel/module/shim.c`.
unsafe extern "C" {
    /// The arena of the call that runs on this processor; null when none does.
    fn gqk_current_arena() -> *mut c_void;
    /// Says what went wrong and leaves the library.
    fn gqk_panic(message: *const u8, length: usize);
}

/// Memory from the arena of the queue at work.
struct Current;

// SAFETY: blocks come from one arena as long as a queue lives, as the module sets the arena of a
// queue whenever it calls for that queue; arenas keep the promises of an allocator.
unsafe impl GlobalAlloc for Current {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        // SAFETY: the module's arena, used by nobody else during the call; or null.
        unsafe { arena() }.map_or(core::ptr::null_mut(), |arena| arena.take(layout))
    }
    unsafe fn dealloc(&self, block: *mut u8, layout: Layout) {
        // SAFETY: as above; the caller's promise is the arena's precondition.
        unsafe {
            if let Some(arena) = arena() {
                arena.give(block, layout);
            }
        }
    }
    unsafe fn realloc(&self, block: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        // SAFETY: as above.
        unsafe { arena().map_or(core::ptr::null_mut(), |arena| arena.change(block, layout, size)) }
    }
}

/// # Safety
/// The arena is used by nobody else as long as the reference lives.
unsafe fn arena() -> Option<&'static mut Arena> {
    // SAFETY: the module's own, or null.
    unsafe { gqk_current_arena().cast::<Arena>().as_mut() }
}

#[global_allocator]
static ALLOCATOR: Current = Current;

/// The beginning of a message.
struct Line {
    text: [u8; 160],
    length: usize,
}

impl Write for Line {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        let room = &mut self.text[self.length..];
        let length = text.len().min(room.len());
        room[..length].copy_from_slice(&text.as_bytes()[..length]);
        self.length += length;
        Ok(())
    }
}

#[panic_handler]
fn panic(info: &PanicInfo<'_>) -> ! {
    let mut line = Line { text: [0; 160], length: 0 };
    if let Some(place) = info.location() {
        let _cut = write!(line, "{}:{}: ", place.file(), place.line());
    }
    let _cut = write!(line, "{}", info.message());
    // SAFETY: the text outlives the call, which does not return. The kernel's checker of objects
    // does not know that, but knows the instruction behind it.
    unsafe {
        gqk_panic(line.text.as_ptr(), line.length);
        core::arch::asm!("ud2", options(noreturn));
    }
}
