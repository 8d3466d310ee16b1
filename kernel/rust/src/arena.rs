//! The memory of one queue: taken from the kernel at once, and given back at once.

use core::alloc::Layout;
use core::ptr::{self, NonNull};

/// Smallest block, and alignment of every block.
const GRAIN: usize = 16;
/// Blocks up to this size are rounded up to a power of two, so that they are used again.
const SMALL: usize = 1024;
const CLASSES: usize = usize::BITS as usize;

/// A block that is not in use.
struct Free {
    next: *mut Free,
}

/// An allocator over one piece of memory, at whose beginning it stands itself.
///
/// Blocks are cut from the front. A freed block goes to a list of its size (a power of two, rounded
/// down), except for the last one cut, which is put back; so a vector that grows alone grows in
/// place.
#[derive(Debug)]
pub struct Arena {
    next: *mut u8,
    end: *mut u8,
    /// A block was asked for that does not fit.
    exhausted: bool,
    free: [*mut Free; CLASSES],
}

impl Arena {
    /// An empty arena over `size` bytes at `memory`; `None` if they are too few for the arena
    /// itself.
    ///
    /// # Safety
    /// `memory` points to `size` bytes that nobody else uses as long as the arena is used.
    #[must_use]
    pub unsafe fn over(memory: NonNull<u8>, size: usize) -> Option<NonNull<Self>> {
        let layout = Layout::new::<Self>();
        let skip = memory.as_ptr().align_offset(layout.align().max(GRAIN));
        let first = skip.checked_add(layout.size())?.checked_next_multiple_of(GRAIN)?;
        if first > size {
            return None;
        }
        // SAFETY: all of it lies within the `size` bytes, and the place is aligned.
        unsafe {
            let place = memory.as_ptr().add(skip).cast::<Self>();
            let (next, end) = (memory.as_ptr().add(first), memory.as_ptr().add(size));
            place.write(Self { next, end, exhausted: false, free: [ptr::null_mut(); CLASSES] });
            Some(NonNull::new_unchecked(place))
        }
    }

    /// Whether a block was asked for that did not fit.
    #[must_use]
    pub const fn is_exhausted(&self) -> bool {
        self.exhausted
    }

    /// Bytes from the arena's own place to the end of the last block.
    #[must_use]
    pub fn used(&self) -> usize {
        self.next as usize - ptr::from_ref(self) as usize
    }

    fn rounded(layout: Layout) -> Option<usize> {
        let size = layout.size().max(GRAIN);
        if size <= SMALL { Some(size.next_power_of_two()) } else { size.checked_next_multiple_of(GRAIN) }
    }

    /// A block for `layout`; null when none fits.
    pub fn take(&mut self, layout: Layout) -> *mut u8 {
        let Some(size) = Self::rounded(layout) else { return self.fail() };
        // Every block of this list is large enough.
        let class = size.next_power_of_two().trailing_zeros() as usize;
        let first = self.free[class];
        if !first.is_null() && first.cast::<u8>().align_offset(layout.align()) == 0 {
            // SAFETY: a block in a list is not in use and begins with a `Free`.
            self.free[class] = unsafe { (*first).next };
            return first.cast();
        }
        let skip = self.next.align_offset(layout.align().max(GRAIN));
        let room = self.end as usize - self.next as usize;
        if skip.checked_add(size).is_none_or(|wanted| wanted > room) {
            return self.fail();
        }
        // SAFETY: both are within the room that is left.
        unsafe {
            let block = self.next.add(skip);
            self.next = block.add(size);
            block
        }
    }

    #[cold]
    fn fail(&mut self) -> *mut u8 {
        self.exhausted = true;
        ptr::null_mut()
    }

    /// Gives back a block.
    ///
    /// # Safety
    /// `block` came from [`Arena::take`] of this arena with this `layout`, and is not used again.
    pub unsafe fn give(&mut self, block: *mut u8, layout: Layout) {
        let Some(size) = Self::rounded(layout) else { return };
        // SAFETY: the block has `size` bytes in the arena.
        unsafe {
            if block.add(size) == self.next {
                self.next = block;
                return;
            }
            let class = size.ilog2() as usize;
            let entry = block.cast::<Free>();
            entry.write(Free { next: self.free[class] });
            self.free[class] = entry;
        }
    }

    /// A block for `layout` with the contents of `block`, as far as they fit; null when none fits,
    /// and then `block` stays.
    ///
    /// # Safety
    /// As [`Arena::give`]; `size` is not zero.
    pub unsafe fn change(&mut self, block: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        let Ok(wanted) = Layout::from_size_align(size, layout.align()) else { return self.fail() };
        let (Some(had), Some(wants)) = (Self::rounded(layout), Self::rounded(wanted)) else { return self.fail() };
        if wants == had {
            return block;
        }
        // SAFETY: `block` has `had` bytes; the new one is a different block with `wants`.
        unsafe {
            let is_last = block.add(had) == self.next;
            if is_last && wants <= self.end as usize - block as usize {
                self.next = block.add(wants);
                return block;
            }
            let new = self.take(wanted);
            if !new.is_null() {
                ptr::copy_nonoverlapping(block, new, layout.size().min(size));
                self.give(block, layout);
            }
            new
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use goodqueue_base::units::Rng;
    use std::vec::Vec;

    /// An arena over memory that begins at an odd place.
    fn with_arena(size: usize, test: impl FnOnce(&mut Arena)) {
        let mut memory = alloc::vec![0u8; size + 1];
        let start = NonNull::from(&mut memory[1..]).cast::<u8>();
        // SAFETY: the vector outlives the arena and is not used meanwhile.
        let mut arena = unsafe { Arena::over(start, size) }.expect("room for the arena itself");
        // SAFETY: it was just made and nobody else knows it.
        test(unsafe { arena.as_mut() });
    }

    fn layout(size: usize, align: usize) -> Layout {
        Layout::from_size_align(size, align).expect("a layout")
    }

    #[test]
    fn blocks_do_not_overlap_and_keep_their_contents() {
        with_arena(1 << 20, |arena| {
            let mut rng = Rng::new(3);
            let mut blocks: Vec<(*mut u8, Layout, u8)> = Vec::new();
            for step in 0..20_000u32 {
                let fill = step as u8;
                if rng.fires(0.5) || blocks.is_empty() {
                    let layout = layout(1 + rng.below(3000) as usize, 1 << rng.below(7));
                    let block = arena.take(layout);
                    if !block.is_null() {
                        assert_eq!(block.align_offset(layout.align()), 0);
                        // SAFETY: the block is as large as its layout says.
                        unsafe { block.write_bytes(fill, layout.size()) };
                        blocks.push((block, layout, fill));
                    }
                } else {
                    let (block, old, fill) = blocks.swap_remove(rng.below(blocks.len() as u64) as usize);
                    // SAFETY: as above.
                    let holds = |block: *mut u8, count| unsafe { (0..count).all(|at| *block.add(at) == fill) };
                    assert!(holds(block, old.size()), "a block was overwritten");
                    let size = 1 + rng.below(3000) as usize;
                    // SAFETY: the block came from this arena with this layout.
                    let new = unsafe { arena.change(block, old, size) };
                    let (block, old) = if new.is_null() { (block, old) } else { (new, layout(size, old.align())) };
                    assert!(new.is_null() || holds(new, size.min(old.size()).min(1)));
                    // SAFETY: as above; it is forgotten.
                    unsafe { arena.give(block, old) };
                }
            }
            assert!(arena.used() <= 1 << 20);
        });
    }

    #[test]
    fn a_block_that_does_not_fit_is_refused_and_remembered() {
        with_arena(4096, |arena| {
            assert!(!arena.take(layout(1000, 8)).is_null() && !arena.is_exhausted());
            assert!(arena.take(layout(1 << 40, 8)).is_null());
            assert!(arena.take(layout(isize::MAX as usize - 64, 8)).is_null());
            assert!(arena.is_exhausted());
            assert!(!arena.take(layout(1000, 8)).is_null(), "what fits is still given");
        });
        let mut memory = [0u8; 64];
        // SAFETY: the array outlives the call.
        assert!(unsafe { Arena::over(NonNull::from(&mut memory).cast(), 64) }.is_none());
    }

    #[test]
    fn the_last_block_grows_in_place() {
        with_arena(1 << 16, |arena| {
            let first = layout(2000, 8);
            let block = arena.take(first);
            // SAFETY: the block came from this arena with this layout, here and below.
            assert_eq!(unsafe { arena.change(block, first, 40_000) }, block);
            let used = arena.used();
            // SAFETY: as above.
            unsafe { arena.give(block, layout(40_000, 8)) };
            assert!(arena.used() < used - 39_000);
        });
    }
}
