//! A queue with classes: what shapes besides them, and the queues of their leaves.

use super::{SHAPING, Shaping, Side};
use crate::router::dialect::{Refusal, kind};
use goodqueue_aqm::Limit;
use goodqueue_aqm::spec::{ClassAndParams, KindAndParams, ParamValues, Size};
use goodqueue_base::units::{Packets, Rate};
use goodqueue_lab::scenario::plan::LinkDirection;

impl Side {
    /// Refuses what shapes before the classes do, and no shaping at all.
    pub(super) fn refuse_other_shapers(
        &self,
        direction: &LinkDirection,
        own: Option<Rate>,
        shaping: Shaping,
    ) -> Result<(), Refusal> {
        let kind = self.chosen.kind.kind;
        let above = "a class above the others with that rate";
        let (what, nearest) = match (own, shaping) {
            (Some(rate), _) => (format!("a shaper of {rate} around `{kind}` cannot be exported: its classes shape"), above),
            (None, _) if !direction.burst.is_zero() => {
                (format!("`burst` of a link with `{kind}` cannot be exported: its classes shape"), above)
            }
            (None, Shaping::None) => (format!("`{kind}` cannot be exported without a shaper: its classes shape"), "fq-codel"),
            (None, Shaping::Percent(_)) => return Ok(()),
        };
        Err(Refusal::plain(what).instead(nearest).at(&self.place))
    }

    /// Refuses classes, for what has no words for them.
    ///
    /// # Errors
    /// When the queue has classes.
    pub(crate) fn refuse_classes(&self, title: &str) -> Result<(), Refusal> {
        if self.chosen.classes.is_empty() {
            return Ok(());
        }
        let what = format!("`{}` has classes, which are not exported to {title}", self.chosen.name());
        Err(Refusal::plain(what).instead("gq export tc, which writes them").at(&self.place))
    }

    /// The settings of a class.
    pub(crate) fn of_class<'a>(&self, class: &'a ClassAndParams) -> Result<ParamValues<'a>, Refusal> {
        // A queue has classes where its kind has settings for them.
        let settings = self.chosen.kind.class.unwrap_or(&self.chosen.kind.base);
        let place = self.place_of(class);
        ParamValues::new(settings, &class.params).map_err(|error| Refusal::plain(error.to_string()).at(&place))
    }

    /// The place of a class in the scenario.
    pub(crate) fn place_of(&self, class: &ClassAndParams) -> String {
        format!("{}.class.{}", self.place, class.name)
    }

    /// The queue of a leaf, as that of a line of this rate.
    ///
    /// # Errors
    /// When it shapes, too.
    pub(crate) fn leaf(&self, class: &ClassAndParams, ceil: Rate) -> Result<Self, Refusal> {
        let chosen = class.of.clone().unwrap_or_else(|| KindAndParams::new(kind("tail-drop"), Vec::new()));
        let own = self.of_class(class)?.size("limit").map(|limit| match limit {
            Size::Packets(packets) => Limit { packets: Packets::new(packets.round() as u64), ..Limit::NONE },
            size => Limit { bytes: size.bytes(self.mtu, Some(ceil)).unwrap_or_default(), ..Limit::NONE },
        });
        let mut leaf = Self {
            place: format!("{}.of", self.place_of(class)),
            line: ceil,
            rate: Some(ceil),
            has_shaper: true,
            burst: None,
            marks: self.marks && chosen.kind.marks.is_possible(),
            chosen,
            limit: own.or(self.limit),
            held: own.unwrap_or(self.held),
            mtu: self.mtu,
            framing: None,
            notes: Vec::new(),
        };
        if leaf.chosen.kind.kind == "cake" {
            let cake = leaf.chosen.clone();
            let given = leaf.given(&cake)?;
            if let Some(param) = SHAPING.into_iter().find(|param| *param != "memlimit" && given.is_given(param)) {
                let what = format!("`{param}` of cake in a class cannot be exported: the class shapes");
                return Err(Refusal::plain(what).instead("cake without it").at(&leaf.place));
            }
            let memory = given.bytes("memlimit", leaf.mtu, Some(ceil)).map_err(|error| leaf.wrong(&error))?;
            if let Some(memory) = memory {
                leaf.limit_memory(memory);
            }
            leaf.chosen.params.retain(|(name, _)| !SHAPING.contains(name));
        }
        Ok(leaf)
    }
}
