//! Proportional rate reduction: during a reduction, how much may be sent for what was delivered.
//!
//! Above the target, sending is the target's share of what is delivered; below it, sending catches
//! up with deliveries, one segment faster on acknowledgements that advance without new losses.
//! Window at the start of the reduction serves as `RecoverFS`, as in Linux. *Source*: RFC 6937; RFC
//! 9937's choice of the bound per acknowledgement, as in Linux 6.12.

/// One reduction, in segments.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Prr {
    prior_window: u32,
    target: u32,
    delivered: u32,
    sent: u32,
}

/// Whether it is safe to catch up faster.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Ack {
    /// Advances the cumulative acknowledgement and reveals no new loss.
    Safe,
    /// Anything else.
    Unsafe,
}

impl Prr {
    pub(crate) const fn new(prior_window: u32, target: u32) -> Self {
        Self { prior_window, target, delivered: 0, sent: 0 }
    }

    /// Another target from now on.
    pub(crate) const fn aim_at(&mut self, target: u32) {
        self.target = target;
    }

    pub(crate) const fn on_sent(&mut self) {
        self.sent += 1;
    }

    /// The window after an acknowledgement that newly delivered `delivered > 0` segments and left
    /// `in_flight`.
    pub(crate) fn window(&mut self, delivered: u32, in_flight: u32, ack: Ack) -> u32 {
        self.delivered += delivered;
        let ahead = i64::from(self.delivered) - i64::from(self.sent);
        let allowed = if in_flight > self.target {
            let share = u64::from(self.target) * u64::from(self.delivered);
            share.div_ceil(u64::from(self.prior_window.max(1))) as i64 - i64::from(self.sent)
        } else {
            let catching_up = ahead.max(i64::from(delivered)) + i64::from(ack == Ack::Safe);
            catching_up.min(i64::from(self.target - in_flight))
        };
        // The first retransmission always goes out.
        let allowed = allowed.max(i64::from(self.sent == 0));
        in_flight + allowed.max(0) as u32
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_single_loss_halves_the_window_by_sending_every_other_time() {
        let mut prr = Prr::new(20, 10);
        let mut in_flight = 19;
        let mut sent = 0;
        for ack in 0..19 {
            in_flight -= 1;
            let window = prr.window(1, in_flight, Ack::Unsafe);
            assert!(window <= in_flight + 1, "no burst at acknowledgement {ack}");
            if window > in_flight {
                prr.on_sent();
                in_flight += 1;
                sent += 1;
            }
        }
        assert_eq!((in_flight, sent), (10, 10));
    }

    #[test]
    fn after_heavy_losses_it_grows_back_towards_the_target() {
        let mut prr = Prr::new(100, 50);
        // 80 of 100 are lost: in flight drops far below the target at once.
        let mut in_flight = 5;
        for _ in 0..30 {
            let window = prr.window(1, in_flight, Ack::Safe);
            while in_flight < window {
                prr.on_sent();
                in_flight += 1;
            }
            in_flight -= 1;
        }
        assert!(in_flight > 25, "doubling on safe acknowledgements, got {in_flight}");
        assert!(prr.window(1, 49, Ack::Safe) == 50, "never above the target");
    }

    #[test]
    fn an_unsafe_acknowledgement_only_replaces_what_left() {
        let mut prr = Prr::new(100, 50);
        assert_eq!(prr.window(1, 10, Ack::Unsafe), 11);
        assert_eq!(Prr::new(100, 50).window(1, 10, Ack::Safe), 12);
    }
}
