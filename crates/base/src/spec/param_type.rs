//! Types that values of parameters have.

use crate::spec::{Size, Unit, Value};
use crate::units::{Cells, Duration, Rate};
use core::marker::PhantomData;

/// A type that values of parameters have.
pub trait ParamType: Copy + 'static {
    /// The unit of values of this type.
    const UNIT: Unit;

    /// Returns `value` as this type, if it is of this type.
    fn from_value(value: Value) -> Option<Self>;
}

/// A type whose values files write as words.
pub trait Choice: Copy + 'static {
    /// Each word, and its meaning.
    const WORDS: &'static [(&'static str, Self)];
}

/// Declares an enum with a word for each variant, which is then a [`Choice`].
///
/// ```
/// use goodqueue_base::spec::TypedParam;
/// use goodqueue_base::words;
///
/// words! {
///     /// The end at which a packet is dropped.
///     #[derive(Clone, Copy, Debug, PartialEq)]
///     pub enum DropEnd {
///         /// The newest packet.
///         Tail = "tail",
///         /// The oldest packet.
///         Head = "head",
///     }
/// }
/// assert_eq!(TypedParam::<DropEnd>::choice("drop", "head").default, DropEnd::Head);
/// ```
#[macro_export]
macro_rules! words {
    ($(#[$meta:meta])* $vis:vis enum $Name:ident { $($(#[$about:meta])* $Variant:ident = $word:literal,)+ }) => {
        $(#[$meta])*
        $vis enum $Name {
            $($(#[$about])* $Variant,)+
        }

        impl $crate::spec::Choice for $Name {
            const WORDS: &'static [(&'static str, Self)] = &[$(($word, Self::$Variant)),+];
        }
    };
}

/// Declares an enum whose variants have names in files and listings.
///
/// ```
/// goodqueue_base::named! {
///     /// Side of a link.
///     #[derive(Clone, Copy)]
///     pub enum Side {
///         /// The sender's.
///         Near = "near",
///         /// The receiver's.
///         Far = "far",
///     }
/// }
/// assert_eq!(Side::ALL.map(Side::name), ["near", "far"]);
/// ```
#[macro_export]
macro_rules! named {
    ($(#[$meta:meta])* $vis:vis enum $Name:ident { $($(#[$about:meta])* $Variant:ident = $word:literal,)+ }) => {
        $(#[$meta])*
        $vis enum $Name {
            $($(#[$about])* $Variant,)+
        }

        impl $Name {
            /// Every variant, in order.
            pub const ALL: [Self; [$($word),+].len()] = [$(Self::$Variant),+];

            /// The name in files and listings.
            #[must_use]
            pub const fn name(self) -> &'static str {
                match self {
                    $(Self::$Variant => $word,)+
                }
            }
        }
    };
}

/// Most words of a [`Choice`].
const MAX_WORDS: usize = 16;

/// The words of a [`Choice`] without their meanings.
pub(super) struct Words<T>(PhantomData<T>);

impl<T: Choice> Words<T> {
    const PADDED: [&'static str; MAX_WORDS] = {
        let mut words = [""; MAX_WORDS];
        let mut place = 0;
        while place < T::WORDS.len() {
            words[place] = T::WORDS[place].0;
            place += 1;
        }
        words
    };
    pub(super) const ALL: &'static [&'static str] = Self::PADDED.split_at(T::WORDS.len()).0;
}

macro_rules! param_types {
    ($($Type:ty, $unit:ident: $value:pat => $read:expr;)+) => {
        $(impl ParamType for $Type {
            const UNIT: Unit = Unit::$unit;

            fn from_value(value: Value) -> Option<Self> {
                match value {
                    $value => Some($read),
                    _ => None,
                }
            }
        })+
    };
}

param_types! {
    Duration, Duration: Value::Duration(span) => span;
    Size, Size: Value::Size(size) => size;
    Rate, Rate: Value::Rate(rate) => rate;
    f64, Number: Value::Number(number) => number;
    u32, Count: Value::Number(number) => number as Self;
    bool, Switch: Value::Switch(on) => on;
    &'static str, Text: Value::Choice(word) => word;
}

impl<T: Choice> ParamType for T {
    const UNIT: Unit = Unit::Choice(Words::<T>::ALL);

    fn from_value(value: Value) -> Option<Self> {
        let Value::Choice(word) = value else { return None };
        T::WORDS.iter().find(|(known, _)| *known == word).map(|(_, meaning)| *meaning)
    }
}

impl<T: ParamType> ParamType for Option<T> {
    const UNIT: Unit = T::UNIT;

    fn from_value(value: Value) -> Option<Self> {
        T::from_value(value).map(Some)
    }
}

impl Choice for Cells {
    const WORDS: &'static [(&'static str, Self)] = &Self::WORDS;
}
