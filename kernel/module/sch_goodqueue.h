/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* What the files of the module share. */
#ifndef SCH_GOODQUEUE_H
#define SCH_GOODQUEUE_H

#include <linux/skbuff.h>
#include <net/pkt_sched.h>

#include "gqk.h"

/* A queue of the library, and the memory it lives in. */
struct gq_engine {
	struct gq_engine *next;
	void *memory;
	size_t size;
	struct GqkArena *arena;
	struct GqkQueue *queue;
	/* Its settings as words, each with a zero byte behind it. */
	char *settings;
	size_t settings_length;
	u32 limit;
};

struct gq_sched {
	/* NULL after a failure: then this is a FIFO queue. */
	struct gq_engine *engine;
	/* Queues from before the last changes in which packets wait, the oldest first. */
	struct gq_engine *retired;
	u32 retired_count;
	/* Queues that failed, until nobody reads their settings any more. */
	struct gq_engine *dead;
	/* All packets that wait. */
	struct sk_buff_head waiting;
	/* The first of them that are in no queue of the library. */
	u32 loose;
	u32 failures;
	u64 marked;
	struct qdisc_watchdog watchdog;
	u32 backlog;
	/* What the parents believe to wait here, which is more after packets were dropped. */
	u32 told;
	u32 told_backlog;
};

/* A call of the library that is at work, and where the packets go that it drops. */
struct gq_guard {
	unsigned long stack;
	struct gq_guard *outer;
	struct GqkArena *arena;
	struct Qdisc *sch;
	struct sk_buff **to_free;
	/* The packet that arrives; NULL after it was dropped. */
	struct sk_buff *arriving;
	char message[160];
};

/* Calls the library for `engine`; false when it panicked. */
bool gq_run(struct gq_engine *engine, struct GqkCall *call, struct gq_guard *guard);
/* The library failed: from now on the packets are in no queue of its. */
void gq_fail_open(struct Qdisc *sch, const char *message);
void gq_engine_free(struct gq_engine *engine);
void gq_engines_free(struct gq_engine *first);

int gq_change(struct Qdisc *sch, struct nlattr *opt, struct netlink_ext_ack *extack);
int gq_dump(struct Qdisc *sch, struct sk_buff *skb);
int gq_dump_stats(struct Qdisc *sch, struct gnet_dump *d);

#endif
