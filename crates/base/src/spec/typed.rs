//! Parameters that know the type of their values.

use crate::spec::param_type::Words;
use crate::spec::{BoundedValue, Choice, Param, ParamError, ParamFault, ParamType, ParamValues, Size, Unit, Value, contains};
use crate::units::{Bytes, Duration, Rate};

/// A parameter whose values have the type `T`; an [`Option`] where the default follows from other
/// settings.
///
/// One constant states name, default, range and meaning. The description of its kind lists
/// [`TypedParam::param`], and the kind's builder calls [`TypedParam::read`].
///
/// ```
/// use goodqueue_base::spec::{Kind, ParamValues, TypedParam, Value};
/// use goodqueue_base::units::Duration;
///
/// const TARGET: TypedParam<Duration> = TypedParam::duration("target", Duration::ms(5)).about("acceptable delay");
/// const INTERVAL: TypedParam<Option<Duration>> = TypedParam::auto("interval", "20 target");
/// const KIND: Kind = Kind { kind: "codel", params: &[TARGET.param, INTERVAL.param], ..Kind::PLAIN };
///
/// let values = [("interval", Value::Duration(Duration::ms(200)))];
/// let given = ParamValues::new(&KIND, &values)?;
/// assert_eq!(TARGET.read(&given), Duration::ms(5));
/// assert_eq!(INTERVAL.read(&given), Some(Duration::ms(200)));
/// # Ok::<(), goodqueue_base::spec::ParamError>(())
/// ```
#[derive(Clone, Copy, Debug)]
#[must_use]
pub struct TypedParam<T> {
    /// The description.
    pub param: Param,
    /// The value when none is given.
    pub default: T,
}

impl TypedParam<Duration> {
    /// A time span.
    pub const fn duration(name: &'static str, default: Duration) -> Self {
        Self { param: Param::duration(name, default), default }
    }
}

impl TypedParam<Size> {
    /// An amount of queue.
    pub const fn size(name: &'static str, default: Size) -> Self {
        Self { param: Param::size(name, default), default }
    }
}

impl TypedParam<Bytes> {
    /// A size in whole bytes.
    pub const fn whole_bytes(name: &'static str, default: Bytes) -> Self {
        Self { param: Param::bytes(name, default), default }
    }

    /// An amount of queue that is read in bytes.
    pub const fn size_in_bytes(name: &'static str, default: Bytes) -> Self {
        Self { param: Param::size(name, Size::Bytes(default.get() as f64)), default }
    }

    /// The amount given, on a link with this MTU and rate, else the default.
    ///
    /// # Errors
    /// As [`ParamValues::bytes`].
    pub fn bytes(&self, given: &ParamValues<'_>, mtu: Bytes, rate: Option<Rate>) -> Result<Bytes, ParamError> {
        Ok(given.bytes(self.param.name, mtu, rate)?.unwrap_or(self.default))
    }
}

impl TypedParam<Option<Size>> {
    /// The amount given in bytes, on a link with this MTU and rate.
    ///
    /// # Errors
    /// As [`ParamValues::bytes`].
    pub fn bytes(&self, given: &ParamValues<'_>, mtu: Bytes, rate: Option<Rate>) -> Result<Option<Bytes>, ParamError> {
        given.bytes(self.param.name, mtu, rate)
    }
}

impl TypedParam<f64> {
    /// A plain number.
    pub const fn number(name: &'static str, default: f64) -> Self {
        Self { param: Param::number(name, default), default }
    }

    /// A share.
    pub const fn ratio(name: &'static str, default: f64) -> Self {
        Self { param: Param::ratio(name, default), default }
    }
}

impl TypedParam<u32> {
    /// A whole number.
    pub const fn count(name: &'static str, default: u32) -> Self {
        Self { param: Param::count(name, default as f64), default }
    }
}

impl TypedParam<bool> {
    /// A switch that is off unless given.
    pub const fn off(name: &'static str) -> Self {
        Self { param: Param::off(name), default: false }
    }

    /// A switch that is on unless given.
    pub const fn on(name: &'static str) -> Self {
        Self { param: Param::on(name), default: true }
    }
}

impl<T: Choice> TypedParam<T> {
    /// One of the words of `T`.
    ///
    /// # Panics
    /// When `default` is none of them; at compile time, since it is called for constants.
    pub const fn choice(name: &'static str, default: &'static str) -> Self {
        let mut place = 0;
        while !contains(&[default], T::WORDS[place].0) {
            place += 1;
        }
        Self { param: Param::choice(name, Words::<T>::ALL, default), default: T::WORDS[place].1 }
    }
}

impl TypedParam<&'static str> {
    /// One of `words`.
    pub const fn word(name: &'static str, words: &'static [&'static str], default: &'static str) -> Self {
        Self { param: Param::choice(name, words, default), default }
    }
}

impl<T: ParamType> TypedParam<Option<T>> {
    /// A parameter whose default follows from other settings as `how` says.
    pub const fn auto(name: &'static str, how: &'static str) -> Self {
        Self { param: Param::auto(name, T::UNIT, how), default: None }
    }
}

impl TypedParam<Option<f64>> {
    /// A share whose default follows from other settings as `how` says.
    pub const fn auto_ratio(name: &'static str, how: &'static str) -> Self {
        Self { param: Param::auto(name, Unit::Ratio, how), default: None }
    }
}

impl<T: Copy> TypedParam<T> {
    const fn with(self, param: Param) -> Self {
        Self { param, ..self }
    }

    /// Sets the smallest and largest allowed value.
    pub const fn within(self, low: f64, high: f64) -> Self {
        self.with(self.param.within(low, high))
    }

    /// Sets the meaning.
    pub const fn about(self, doc: &'static str) -> Self {
        self.with(self.param.about(doc))
    }

    /// Sets the source of the default.
    pub const fn from_source(self, source: &'static str) -> Self {
        self.with(self.param.from_source(source))
    }

    /// Makes it an amount that the queue must reach before the algorithm acts.
    pub const fn as_threshold(self) -> Self {
        self.with(self.param.as_threshold())
    }

    /// Makes it the number of queues that a discipline has from the start ([`Param::as_queues`]).
    pub const fn as_queues(self, of_words: &'static [u32]) -> Self {
        self.with(self.param.as_queues(of_words))
    }

    /// The key in files.
    #[must_use]
    pub const fn name(&self) -> &'static str {
        self.param.name
    }

    /// A fault of this parameter.
    #[must_use]
    pub const fn fault(&self, fault: ParamFault) -> ParamError {
        self.param.fault(fault)
    }

    /// Whether a value was given, rather than left to the default.
    #[must_use]
    pub fn is_given(&self, given: &ParamValues<'_>) -> bool {
        given.is_given(self.param.name)
    }
}

impl<T: Copy> TypedParam<T> {
    /// Checks that the parameter's value is not more than that of another one.
    ///
    /// # Errors
    /// When it is.
    pub fn at_most<V: PartialOrd + Into<Value>>(&self, value: V, other: &Self, bound: V) -> Result<(), ParamError> {
        if value <= bound { Ok(()) } else { Err(self.fault(ParamFault::Above(other.pair(value, bound)))) }
    }

    /// Checks that the parameter's value is not less than that of another one.
    ///
    /// # Errors
    /// When it is.
    pub fn at_least<V: PartialOrd + Into<Value>>(&self, value: V, other: &Self, bound: V) -> Result<(), ParamError> {
        if value >= bound { Ok(()) } else { Err(self.fault(ParamFault::Below(other.pair(value, bound)))) }
    }

    fn pair<V: Into<Value>>(&self, value: V, bound: V) -> BoundedValue {
        BoundedValue { value: value.into(), other: self.name(), bound: bound.into() }
    }
}

impl<T: ParamType> TypedParam<T> {
    /// The value given, else the default: that in the description of the kind at hand, which may
    /// be another than that of the constant.
    ///
    /// # Panics
    /// As [`ParamValues::value`].
    #[must_use]
    pub fn read(&self, given: &ParamValues<'_>) -> T {
        given.value(self.param.name).and_then(T::from_value).unwrap_or(self.default)
    }

    /// Reads the value if the kind has this parameter, which several kinds have in part; else the
    /// default holds.
    #[must_use]
    pub fn read_if_listed(&self, given: &ParamValues<'_>) -> T {
        if given.lists(self.param.name) { self.read(given) } else { self.default }
    }
}

/// Declares a struct of settings. A field `name: Type => PARAM` has the value of a [`TypedParam`];
/// a field `name: Type = value` has this value unless the builder gives it another, as has a field
/// `name: Type => PARAM = value`, whose parameter the builder reads in its own way.
///
/// The struct gets a [`Default`] and, for its crate only, the same as a constant `DEFAULT`, a
/// constructor `read`, which takes what was given for the parameters, and their list `PARAMS`.
///
/// ```
/// use goodqueue_base::settings;
/// use goodqueue_base::spec::TypedParam;
/// use goodqueue_base::units::{Bytes, Duration};
///
/// const TARGET: TypedParam<Duration> = TypedParam::duration("target", Duration::ms(5));
///
/// settings! {
///     /// Settings of an algorithm.
///     #[derive(Clone, Copy, Debug, PartialEq)]
///     pub struct Params {
///         /// Acceptable delay.
///         pub target: Duration => TARGET,
///         /// Largest packet.
///         pub mtu: Bytes = Bytes::new(1500),
///     }
/// }
/// assert_eq!(Params::default().target, Duration::ms(5));
/// # let given = goodqueue_base::spec::ParamValues::new(
/// #     &goodqueue_base::spec::Kind { params: &[TARGET.param], ..goodqueue_base::spec::Kind::PLAIN }, &[]).unwrap();
/// assert_eq!(Params::read(&given), Params::default());
/// assert_eq!(Params::PARAMS.map(|param| param.name), ["target"]);
/// ```
#[macro_export]
macro_rules! settings {
    ($(#[$meta:meta])* $vis:vis struct $Name:ident {
        $($(#[$about:meta])* $seen:vis $field:ident: $Type:ty $(=> $param:path)? $(= $value:expr)?,)+
    }) => {
        $(#[$meta])*
        $vis struct $Name {
            $($(#[$about])* $seen $field: $Type,)+
        }

        impl $Name {
            /// The defaults.
            pub(crate) const DEFAULT: Self =
                Self { $($field: $crate::settings!(@default $($param)?; $($value)?),)+ };

            /// The parameters, in the order of the fields.
            #[allow(dead_code, reason = "some kinds list them in another order, or with others")]
            pub(crate) const PARAMS: [$crate::spec::Param; [$($(stringify!($param),)?)+].len()] = [$($($param.param,)?)+];

            /// The values of the parameters; the other fields have their defaults.
            pub(crate) fn read(given: &$crate::spec::ParamValues<'_>) -> Self {
                Self { $($field: $crate::settings!(@read given, Self::DEFAULT.$field, $($param)?; $($value)?),)+ }
            }
        }

        impl ::core::default::Default for $Name {
            fn default() -> Self {
                Self::DEFAULT
            }
        }
    };
    (@default $param:path;) => { $param.default };
    (@default $($param:path)?; $value:expr) => { $value };
    (@read $given:ident, $default:expr, $param:path;) => { $param.read($given) };
    (@read $given:ident, $default:expr, $($param:path)?; $value:expr) => { $default };
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::spec::{Kind, Value};
    use crate::units::Cells;

    const TARGET: TypedParam<Duration> = TypedParam::duration("target", Duration::ms(5)).within(1e-3, 1.0);
    const TAU: TypedParam<Option<Duration>> = TypedParam::auto("tau", "5 target");
    const SLOPE: TypedParam<f64> = TypedParam::ratio("slope", 0.5);
    const FLOWS: TypedParam<u32> = TypedParam::count("flows", 1024);
    const GENTLE: TypedParam<bool> = TypedParam::on("gentle");
    const HEADER: TypedParam<Bytes> = TypedParam::size_in_bytes("header", Bytes::new(14));
    const BURST: TypedParam<Option<Size>> = TypedParam::auto("burst", "one packet");
    const LAW: TypedParam<Law> = TypedParam::choice("law", "new");
    const CELLS: TypedParam<Option<Cells>> = TypedParam::auto("cells", "none");

    const KIND: Kind = Kind {
        kind: "plain",
        params: &[
            TARGET.param,
            TAU.param,
            SLOPE.param,
            FLOWS.param,
            GENTLE.param,
            HEADER.param,
            BURST.param,
            LAW.param,
            CELLS.param,
        ],
        ..Kind::PLAIN
    };

    #[derive(Clone, Copy, Debug, PartialEq)]
    enum Law {
        Old,
        New,
    }

    impl Choice for Law {
        const WORDS: &'static [(&'static str, Self)] = &[("old", Self::Old), ("new", Self::New)];
    }

    #[test]
    fn a_default_is_that_of_the_description() {
        let given = ParamValues::new(&KIND, &[]).expect("nothing is given");
        assert_eq!((TARGET.read(&given), TARGET.default), (Duration::ms(5), Duration::ms(5)));
        assert_eq!((TAU.read(&given), SLOPE.read(&given), FLOWS.read(&given)), (None, 0.5, 1024));
        assert_eq!((GENTLE.read(&given), LAW.read(&given), CELLS.read(&given)), (true, Law::New, None));
        assert_eq!(LAW.param.unit, Unit::Choice(&["old", "new"]));
        assert_eq!(CELLS.param.unit, Unit::Choice(&["none", "atm", "ptm"]));
        let mtu = Bytes::new(1500);
        assert_eq!((HEADER.bytes(&given, mtu, None), BURST.bytes(&given, mtu, None)), (Ok(Bytes::new(14)), Ok(None)));
    }

    #[test]
    fn a_given_value_is_read_in_its_type() {
        let values = [
            ("tau", Value::Duration(Duration::ms(7))),
            ("flows", Value::Number(3.0)),
            ("law", Value::Choice("old")),
            ("cells", Value::Choice("ptm")),
            ("header", Value::Size(Size::Packets(2.0))),
            ("burst", Value::Size(Size::Time(Duration::ms(1)))),
        ];
        let given = ParamValues::new(&KIND, &values).expect("within range");
        assert_eq!((TAU.read(&given), FLOWS.read(&given)), (Some(Duration::ms(7)), 3));
        assert_eq!((LAW.read(&given), CELLS.read(&given)), (Law::Old, Some(Cells::Ptm)));
        let mtu = Bytes::new(1500);
        assert_eq!(HEADER.bytes(&given, mtu, None), Ok(Bytes::new(3000)));
        assert_eq!(BURST.bytes(&given, mtu, None).map_err(|error| error.param), Err("burst"));
        assert_eq!((FLOWS.is_given(&given), TARGET.is_given(&given)), (true, false));
    }

    #[test]
    fn the_description_of_a_kind_may_have_another_default() {
        const OTHER: Kind = Kind { kind: "other", params: &[Param::off("gentle")], ..Kind::PLAIN };
        let given = ParamValues::new(&OTHER, &[]).expect("nothing is given");
        assert!(!GENTLE.read(&given));
        assert_eq!((GENTLE.read_if_listed(&given), LAW.read_if_listed(&given)), (false, Law::New));
    }
}
