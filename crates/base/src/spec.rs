//! Descriptions of parameters as data: what a thing is called, which parameters it has, and which
//! values they take.
//!
//! A [`Param`] states name, unit, default, range, meaning and source of one parameter, and a
//! [`TypedParam`] the type of its values, too; a [`Kind`] is a named thing with parameters; a
//! [`ParamValues`] pairs the values that a user gave with the defaults of the others. Readers,
//! listings, forms and documentation derive from the same descriptions, so none of them repeats a
//! fact.
//!
//! ```
//! use goodqueue_base::spec::{Kind, ParamValues, TypedParam, Value};
//! use goodqueue_base::units::Duration;
//!
//! const TARGET: TypedParam<Duration> = TypedParam::duration("target", Duration::ms(5)).within(1e-6, 10.0);
//! const KIND: Kind = Kind { kind: "codel", title: "CoDel", params: &[TARGET.param], ..Kind::PLAIN };
//!
//! let values = [("target", Value::Duration(Duration::ms(20)))];
//! let given = ParamValues::new(&KIND, &values)?;
//! assert_eq!(TARGET.read(&given), Duration::ms(20));
//! let error = ParamValues::new(&KIND, &[("target", Value::Duration(Duration::secs(20)))]).unwrap_err();
//! assert_eq!(error.to_string(), "target: 20 s is out of range: allowed 1 us to 10 s");
//! # Ok::<(), goodqueue_base::spec::ParamError>(())
//! ```

mod decimal;
mod error;
mod excerpt;
mod given;
mod kind;
mod names;
mod param;
mod param_type;
pub mod quantity;
mod read;
mod typed;
mod value;

pub use decimal::Decimal;
pub use error::{BoundedValue, ClassFault, Given, ParamError, ParamFault, Setting};
pub use given::ParamValues;
pub use kind::{Kind, find};
pub use names::{is_same_name, nearest};
pub use param::{Default, Param, Role, contains, join, with_default};
pub use param_type::{Choice, ParamType};
pub use typed::TypedParam;
pub use value::{Size, Unit, Value};
