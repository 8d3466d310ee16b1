//! Calls out of line, so that a stack holds what one kind of queue needs and not what all need.

use crate::spec::ParamError;

/// Calls out of line: the caller then needs no room on the stack for what one of many kinds needs,
/// on top of which another one's calls would come.
#[inline(never)]
pub(crate) fn aside<T>(work: impl FnOnce() -> T) -> T {
    work()
}

/// Makes something large of a part, in a call of its own. While the part is built, which takes more
/// calls, the caller then needs no room for the whole: stacks of kernels and of small machines have
/// few kilobytes.
#[inline(never)]
pub(crate) fn finish<T, U>(part: Result<T, ParamError>, make: impl FnOnce(T) -> U) -> Result<U, ParamError> {
    part.map(make)
}
