//! A sender in the place of another one.

mod pipe;

use goodqueue_base::units::{Bytes, Duration, Rng};
use goodqueue_tcp::cc::kinds;
use goodqueue_tcp::{CcConfig, Data, ReceiverConfig, Sender, SenderConfig};
use pipe::{Fate, Pipe};

#[test]
fn a_renewed_sender_is_a_new_one() {
    for kind in kinds().iter().map(|spec| spec.kind) {
        for data in [Data::Unlimited, Data::Messages, Data::Bytes(Bytes::new(1_000_000))] {
            let cc = CcConfig { kind, params: Vec::new() };
            let config = SenderConfig { cc, data, ..SenderConfig::default() };
            let new = |seed| Sender::new(&config, Rng::new(seed)).expect("a valid configuration");
            let mut pipe = Pipe::new(&config, &ReceiverConfig::default())
                .with_fate(|_, number| if number % 97 == 50 { Fate::Drop } else { Fate::Deliver });
            pipe.run(Duration::secs(3));
            pipe.sender.renew(&new(1), Rng::new(2));
            assert_eq!(format!("{:?}", pipe.sender), format!("{:?}", new(2)), "{kind}");
            assert_eq!(format!("{:?}", Sender::renewed(&new(1), Rng::new(2))), format!("{:?}", new(2)), "{kind}");
        }
    }
}
