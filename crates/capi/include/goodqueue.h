/* The queues of goodqueue for programs in C. Made from crates/capi/src/lib.rs: `make docs` writes it again. */

#ifndef GOODQUEUE_H
#define GOODQUEUE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 No such time, rate or limit.
 */
#define GQ_NONE UINT64_MAX

/*
 The number of reasons: the length of an array that is indexed by `GqReason`.
 */
#define GQ_REASONS 10

/*
 The reason that a packet was dropped or marked.
 */
typedef enum GqReason {
  /*
   The queue's hard limit was reached.
   */
  GQ_REASON_OVERFLOW,
  /*
   The algorithm's decision on arrival.
   */
  GQ_REASON_EARLY,
  /*
   The algorithm's decision on departure.
   */
  GQ_REASON_HEAD,
  /*
   A token bucket had too few tokens.
   */
  GQ_REASON_POLICER,
  /*
   A flow was recognized as unresponsive and held back.
   */
  GQ_REASON_PENALTY,
  /*
   A fair queue dropped from its fattest flow.
   */
  GQ_REASON_OVER_LIMIT,
  /*
   A packet of the same flow was found in the queue.
   */
  GQ_REASON_MATCH,
  /*
   Sojourn time above a fixed marking threshold.
   */
  GQ_REASON_THRESHOLD,
  /*
   The frame could not be parsed.
   */
  GQ_REASON_MALFORMED,
  /*
   An acknowledgement of which a later one in the queue says everything.
   */
  GQ_REASON_REDUNDANT,
} GqReason;

/*
 A queue under one of goodqueue's algorithms.
 */
typedef struct GqQueue GqQueue;

/*
 One parameter of an algorithm, as `gq list aqm` names it.
 */
typedef struct GqParam {
  /*
   The parameter's name.
   */
  const char *name;
  /*
   The value in seconds, bytes, bit/s or as a plain number; 0 or 1 for a switch.
   */
  double number;
  /*
   The value where that is a word (a choice, or the algorithm of `fair`'s flows in `of`); null
   otherwise.
   */
  const char *word;
} GqParam;

/*
 The link a queue stands before.
 */
typedef struct GqLink {
  /*
   Bits per second; `GQ_NONE`: unknown.
   */
  uint64_t rate;
  /*
   One-way propagation delay in ns; some automatic settings use it.
   */
  uint64_t delay;
  /*
   Largest packet without framing, in bytes: 1 to 1000000.
   */
  uint32_t mtu;
  /*
   Framing bytes per packet, 0 to 10000.
   */
  uint32_t overhead;
  /*
   Most packets that the queue holds; `GQ_NONE`: no limit.
   */
  uint64_t limit_packets;
  /*
   Most bytes that the queue holds; `GQ_NONE`: no limit.
   */
  uint64_t limit_bytes;
  /*
   Not zero: ECN-capable packets are marked instead of dropped.
   */
  uint8_t ecn;
  /*
   Seed of the queue's random numbers.
   */
  uint64_t seed;
} GqLink;

/*
 The facts of a packet that a queue needs.
 */
typedef struct GqPacket {
  /*
   The caller's own, never looked at.
   */
  void *data;
  /*
   Bytes without link framing.
   */
  uint32_t length;
  /*
   A hash or number, equal for packets of one flow.
   */
  uint32_t flow;
  /*
   ECN field: 0 Not-ECT, 1 ECT(1), 2 ECT(0), 3 CE. Comes back as 3 if the queue marked the
   packet: the caller then sets CE in its header.
   */
  uint8_t ecn;
  /*
   Class selector of the DSCP, 0 to 7; 0 is best effort.
   */
  uint8_t traffic_class;
} GqPacket;

/*
 The callbacks by which a queue reports what it does to packets. Both may be null; neither may
 call the queue. Both must return: a C++ exception or a `longjmp` that leaves one ends the
 program or is undefined behavior.
 */
typedef struct GqSink {
  /*
   Handed to both functions.
   */
  void *context;
  /*
   The packet is the caller's again. `enqueued_at` is when it had arrived.
   */
  void (*dropped)(void *context, struct GqPacket packet, enum GqReason reason, uint64_t enqueued_at);
  /*
   CE was newly set on a packet, which stays in or leaves the queue as usual.
   */
  void (*marked)(void *context, struct GqPacket packet, enum GqReason reason);
} GqSink;

/*
 A packet that leaves its queue.
 */
typedef struct GqDeparture {
  /*
   The packet.
   */
  struct GqPacket packet;
  /*
   The time it arrived at the queue.
   */
  uint64_t enqueued_at;
} GqDeparture;

/*
 Counts of packets that arrived, left, were dropped and marked, and those that wait.
 */
typedef struct GqCounters {
  /*
   Packets offered, dropped ones included.
   */
  uint64_t arrived;
  /*
   Packets handed out.
   */
  uint64_t departed;
  /*
   Packets dropped.
   */
  uint64_t dropped;
  /*
   Packets on which CE was newly set.
   */
  uint64_t marked;
  /*
   Packets waiting.
   */
  uint64_t waiting;
  /*
   Bytes of the waiting packets.
   */
  uint64_t waiting_bytes;
} GqCounters;

#ifdef __cplusplus
extern "C" {
#endif // __cplusplus

/*
 Makes a queue of the kind `kind` (for instance "codel" or "fq-codel") with `count` parameters
 before `link`. Returns null and writes why into `message` (`size` bytes, cut to fit, ending in a
 zero byte) when that is not possible.

 # Safety
 `kind` and every `name` and `word` are zero-terminated or, for `word`, null; `params` points to
 `count` parameters, or is null for none; `link` points to a link; `message` points to `size`
 writable bytes, or is null.
 */
struct GqQueue *gq_queue_new(const char *kind,
                             const struct GqParam *params,
                             size_t count,
                             const struct GqLink *link,
                             char *message,
                             size_t size);

/*
 Frees a queue. All packets that wait go to `dropped` of `sink` with the reason overflow,
 whatever the queue holds back; `marked` is not called. Null is allowed.

 # Safety
 `queue` came from [`gq_queue_new`] and is not used again; `sink` points to a sink or is null.
 */
void gq_queue_free(struct GqQueue *queue, uint64_t now, const struct GqSink *sink);

/*
 A packet arrives: it is queued, or dropped (it or others) and reported to `sink`.

 # Safety
 `queue` came from [`gq_queue_new`]; `sink` points to a sink or is null.
 */
void gq_enqueue(struct GqQueue *queue,
                uint64_t now,
                struct GqPacket packet,
                const struct GqSink *sink);

/*
 The link is free: writes the next packet to `out` and returns true, or returns false when none
 is ready. If packets wait all the same, ask again at [`gq_next_timer`]. Packets dropped on the
 way go to `sink`.

 # Safety
 `queue` came from [`gq_queue_new`]; `out` points to writable memory for a departure; `sink`
 points to a sink or is null.
 */
bool gq_dequeue(struct GqQueue *queue,
                uint64_t now,
                struct GqDeparture *out,
                const struct GqSink *sink);

/*
 Returns the time to call [`gq_handle_timer`]; `GQ_NONE`: never. May change with every other
 call.

 # Safety
 `queue` came from [`gq_queue_new`].
 */
uint64_t gq_next_timer(const struct GqQueue *queue);

/*
 Runs whatever is due. Early and repeated calls change nothing.

 # Safety
 `queue` came from [`gq_queue_new`].
 */
void gq_handle_timer(struct GqQueue *queue, uint64_t now);

/*
 The link's rate is now `rate` bits per second; zero: it is down, `GQ_NONE`: unknown.

 # Safety
 `queue` came from [`gq_queue_new`].
 */
void gq_set_link_rate(struct GqQueue *queue, uint64_t now, uint64_t rate);

/*
 Returns the counts so far.

 # Safety
 `queue` came from [`gq_queue_new`].
 */
struct GqCounters gq_counters(const struct GqQueue *queue);

#ifdef __cplusplus
}  // extern "C"
#endif  // __cplusplus

#endif  /* GOODQUEUE_H */
