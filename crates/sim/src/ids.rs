//! Typed numbers of what a world is made of, and vectors that are indexed by them.

use std::marker::PhantomData;
use std::num::NonZeroU32;
use std::ops::{Index, IndexMut};

/// A number of one kind of thing.
pub(crate) trait Id: Copy {
    /// The number as an index.
    fn index(self) -> usize;
    /// The number with this index. Worlds are checked to have fewer things than numbers.
    fn at(index: usize) -> Self;
}

macro_rules! ids {
    ($($(#[$doc:meta])* $name:ident($number:ty);)*) => {$(
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
        pub(crate) struct $name($number);

        #[allow(dead_code, reason = "few kinds are packed into other words")]
        impl $name {
            #[inline(always)]
            pub(crate) const fn new(number: $number) -> Self {
                Self(number)
            }

            #[inline(always)]
            pub(crate) const fn get(self) -> $number {
                self.0
            }
        }

        impl Id for $name {
            #[inline(always)]
            fn index(self) -> usize {
                self.0 as usize
            }

            #[inline(always)]
            fn at(index: usize) -> Self {
                Self(index as $number)
            }
        }
    )*};
}

ids! {
    /// A link with a queue.
    LinkId(u32);
    /// A link without a queue.
    WireId(u32);
    /// The properties that wires of equal rate, delay, overhead and jitter share.
    WireClassId(u16);
    /// A lane: packets on their way, ordered by arrival time.
    LaneId(u32);
    /// A place on a route.
    HopId(u32);
    /// A slot of the agenda.
    SlotId(usize);
    /// A flow: those of the specification, then those of sessions' connections.
    FlowId(u32);
    /// A group of flows of the specification.
    GroupId(u16);
    /// The two ends of a TCP connection.
    TcpId(u32);
    /// A UDP source and its sink.
    UdpId(u32);
    /// A flow whose TCP ends are outside of the world.
    OutsideId(u32);
    /// A session.
    SessionId(u32);
    /// A channel of a session, numbered across all sessions.
    ChannelId(u32);
    /// One direction of a channel.
    StreamId(u32);
    /// A control event.
    ControlId(u32);
}

/// The number by which a packet's owner identifies it, from one up. The owner gives each number to
/// one packet at a time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Ticket(pub NonZeroU32);

/// A vector indexed by one kind of number.
#[derive(Clone, Debug)]
pub(crate) struct IdVec<I, T> {
    items: Vec<T>,
    ids: PhantomData<fn(I) -> I>,
}

impl<I: Id, T> IdVec<I, T> {
    pub(crate) const fn new() -> Self {
        Self { items: Vec::new(), ids: PhantomData }
    }

    /// `count` copies of `item`.
    pub(crate) fn filled(item: T, count: usize) -> Self
    where
        T: Clone,
    {
        Self { items: vec![item; count], ids: PhantomData }
    }

    /// Adds an item and returns its number.
    pub(crate) fn push(&mut self, item: T) -> I {
        let id = self.next_id();
        self.items.push(item);
        id
    }

    /// The number that the next item will have.
    pub(crate) fn next_id(&self) -> I {
        I::at(self.items.len())
    }

    pub(crate) const fn len(&self) -> usize {
        self.items.len()
    }

    pub(crate) const fn is_empty(&self) -> bool {
        self.items.is_empty()
    }

    /// Adds copies of `item` until there are `len` items.
    pub(crate) fn resize(&mut self, len: usize, item: T)
    where
        T: Clone,
    {
        self.items.resize(len, item);
    }

    /// The numbers of all items.
    pub(crate) fn ids(&self) -> impl DoubleEndedIterator<Item = I> + use<I, T> {
        (0..self.items.len()).map(I::at)
    }

    pub(crate) fn iter(&self) -> std::slice::Iter<'_, T> {
        self.items.iter()
    }

    pub(crate) fn iter_mut(&mut self) -> std::slice::IterMut<'_, T> {
        self.items.iter_mut()
    }

    /// All items with their numbers.
    pub(crate) fn pairs(&self) -> impl Iterator<Item = (I, &T)> {
        self.items.iter().enumerate().map(|(index, item)| (I::at(index), item))
    }

    #[inline]
    pub(crate) fn get(&self, id: I) -> Option<&T> {
        self.items.get(id.index())
    }

    #[inline]
    pub(crate) fn get_mut(&mut self, id: I) -> Option<&mut T> {
        self.items.get_mut(id.index())
    }

    pub(crate) fn last_mut(&mut self) -> Option<&mut T> {
        self.items.last_mut()
    }

    /// The items from `first` on, `count` of them.
    pub(crate) fn run(&self, first: I, count: usize) -> &[T] {
        &self.items[first.index()..first.index() + count]
    }

    /// The items from `first` on.
    #[inline(always)]
    pub(crate) fn from(&self, first: I) -> &[T] {
        &self.items[first.index()..]
    }

    /// Adds copies of the items from `first` on, `count` of them.
    pub(crate) fn repeat(&mut self, first: I, count: usize)
    where
        T: Clone,
    {
        self.items.extend_from_within(first.index()..first.index() + count);
    }

    pub(crate) const fn as_slice(&self) -> &[T] {
        self.items.as_slice()
    }
}

impl<I, T> Default for IdVec<I, T> {
    fn default() -> Self {
        Self { items: Vec::new(), ids: PhantomData }
    }
}

impl<I: Id, T> Index<I> for IdVec<I, T> {
    type Output = T;

    #[inline(always)]
    fn index(&self, id: I) -> &T {
        &self.items[id.index()]
    }
}

impl<I: Id, T> IndexMut<I> for IdVec<I, T> {
    #[inline(always)]
    fn index_mut(&mut self, id: I) -> &mut T {
        &mut self.items[id.index()]
    }
}

impl<I, T> FromIterator<T> for IdVec<I, T> {
    fn from_iter<S: IntoIterator<Item = T>>(items: S) -> Self {
        Self { items: items.into_iter().collect(), ids: PhantomData }
    }
}

impl<I, T> IntoIterator for IdVec<I, T> {
    type Item = T;
    type IntoIter = std::vec::IntoIter<T>;

    fn into_iter(self) -> Self::IntoIter {
        self.items.into_iter()
    }
}
