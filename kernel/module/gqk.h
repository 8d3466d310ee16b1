/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* What kernel/rust offers to the module, and what it needs of it. `make docs` writes it again. */

#ifndef GQK_H
#define GQK_H

#include <linux/limits.h>
#include <linux/types.h>

#ifndef UINT64_MAX
#define UINT64_MAX U64_MAX
#endif

/*
 Makes a queue from `read`, and from the settings of `queue` unless that is null. The new queue
 is in `queue` then.
 */
#define GQK_MAKE 0

/*
 Offers `packet` to the queue.
 */
#define GQK_ENQUEUE 1

/*
 Takes the next packet into `packet`.
 */
#define GQK_DEQUEUE 2

/*
 Writes all settings to `text`.
 */
#define GQK_SETTINGS 3

/*
 Writes counters and figures to `text`.
 */
#define GQK_STATISTICS 4

/*
 Empties the queue. The packets that waited are the module's again, without a call for each. The
 algorithm keeps what it has learned.
 */
#define GQK_RESET 5

/*
 The call did what it was to do.
 */
#define GQK_DONE 0

/*
 The settings are wrong; `text` says why.
 */
#define GQK_REFUSED 1

/*
 No such time.
 */
#define GQK_NEVER UINT64_MAX

/*
 An allocator over one piece of memory, at whose beginning it stands itself.

 Blocks are cut from the front. A freed block goes to a list of its size (a power of two, rounded
 down), except for the last one cut, which is put back; so a vector that grows alone grows in
 place.
 */
struct GqkArena;

/*
 A queue and what it was made from.
 */
struct GqkQueue;

/*
 The facts of a packet that a queue needs. They lie in the packet itself, in the part of
 `struct sk_buff` that belongs to the queue in which it waits; so a queue holds nothing but where
 that is.
 */
struct GqkFacts {
  /*
   Bytes from the network header on.
   */
  uint32_t length;
  /*
   Hash of the flow.
   */
  uint32_t flow;
  /*
   Hash of the source address.
   */
  uint32_t source;
  /*
   Hash of the destination address.
   */
  uint32_t destination;
  /*
   ECN field: 0 Not-ECT, 1 ECT(1), 2 ECT(0), 3 CE.
   */
  uint8_t ecn;
  /*
   DSCP, 0 to 63.
   */
  uint8_t dscp;
};

/*
 The facts of the device that are known when a queue is made.
 */
struct GqkDevice {
  /*
   Largest packet without framing, in bytes.
   */
  uint32_t mtu;
  /*
   Framing bytes of a packet, unless the settings say otherwise.
   */
  uint32_t overhead;
  /*
   Seed of the random numbers, unless the settings say otherwise.
   */
  uint64_t seed;
};

/*
 A call of the library: what to do, with what, and what came out.
 */
struct GqkCall {
  /*
   `GQK_MAKE` and so on.
   */
  uint32_t what;
  /*
   `GQK_DONE` or `GQK_REFUSED`.
   */
  uint32_t outcome;
  /*
   The queue.
   */
  struct GqkQueue *queue;
  /*
   Nanoseconds of a clock that never runs backwards.
   */
  uint64_t now;
  /*
   Time of the next call of the queue at the latest; `GQK_NEVER`: not before something arrives.
   */
  uint64_t next;
  /*
   Packets that wait in the queue after the call; after `GQK_MAKE`, the most that may.
   */
  uint64_t waiting;
  /*
   The packet that arrives, or leaves; null when none is ready.
   */
  struct GqkFacts *packet;
  /*
   Handed to `gqk_dropped` and `gqk_marked`.
   */
  void *host;
  /*
   Settings to read, each `NAME=VALUE` with a zero byte behind it.
   */
  const uint8_t *read;
  /*
   Bytes to read; then bytes that were written to `text`, or would have been.
   */
  size_t length;
  /*
   Memory for words.
   */
  uint8_t *text;
  /*
   Bytes of it.
   */
  size_t room;
  /*
   The device, when a queue is made.
   */
  struct GqkDevice device;
};

/*
 Does what `call` says, and writes what came out into it. Unlike the module's other calls it may
 end by `gqk_panic`.

 # Safety
 `call` points to a call; its `queue` is null where that is allowed, or came from `GQK_MAKE` and
 is used by nobody else; `read` points to `length` bytes or is null; `text` points to `room`
 bytes or is null.
 */
void gqk_work(struct GqkCall *call);

/*
 Prepares `size` bytes at `memory` for one queue; null if they are too few.

 # Safety
 `memory` points to `size` bytes that nobody else uses as long as the queue lives.
 */
struct GqkArena *gqk_arena_new(uint8_t *memory, size_t size);

/*
 Bytes that are used of an arena; zero if something was asked for that did not fit.

 # Safety
 `arena` came from `gqk_arena_new`, and no call for its queue is at work.
 */
size_t gqk_arena_used(const struct GqkArena *arena);

#endif  /* GQK_H */

/* What the module offers to the library. */
/* The packet belongs to the module again. */
void gqk_dropped(void *host, struct GqkFacts *packet);
/* CE is to be set on the packet, which stays in or leaves the queue as usual. */
void gqk_marked(void *host, struct GqkFacts *packet);
/* The arena of the call that runs on this processor; NULL when none does. */
struct GqkArena *gqk_current_arena(void);
/* Says what went wrong and leaves the library. */
void gqk_panic(const uint8_t *message, size_t length) __attribute__((noreturn));
