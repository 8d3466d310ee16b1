//! Closed loops: each algorithm in front of real senders. A short scenario, its figures kept as a table, and what the algorithm's authors
//! claim asserted of them.

mod behaviour {
    mod lab;

    mod gsp;
}
