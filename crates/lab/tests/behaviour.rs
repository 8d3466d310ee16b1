//! Closed loops: each algorithm in front of real senders. A short scenario, its figures kept as a
//! table, and what the algorithm's authors claim asserted of them.

mod behaviour {
    #[allow(dead_code, reason = "each test takes what it needs")]
    mod lab;

    mod avq;
    mod blue;
    mod cake;
    mod choke;
    mod cobalt;
    mod codel;
    mod cp_aqm;
    mod docsis_pie;
    mod dualpi2;
    mod fq_codel;
    mod fq_pie;
    mod gsp;
    mod htb;
    mod jobs;
    mod nfq_codel;
    mod phantom_queue;
    mod pi;
    mod pie;
    mod priority;
    mod red;
    mod rem;
    mod sfb;
    mod sfq_codel;
    mod shaper;
    mod steering;
}
