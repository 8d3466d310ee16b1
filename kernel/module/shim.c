// SPDX-License-Identifier: GPL-2.0 OR MIT
/*
 * sch_goodqueue: the queues of goodqueue as a queue discipline.
 *
 * This file owns packets, time, memory and locks; kernel/rust decides. Every packet that waits
 * stands in one list here, whatever queue it is in there. So nothing is lost when that code fails:
 * the queue discipline goes on as a FIFO queue with the packets of the list.
 */
#include <linux/jhash.h>
#include <linux/module.h>
#include <linux/version.h>
#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 5, 0)
#include <net/gso.h>
#endif
#include <net/inet_ecn.h>

#include "sch_goodqueue.h"

#define FIFO_LIMIT	1000

static DEFINE_PER_CPU(struct gq_guard *, gq_at_work);

int gqk_enter(unsigned long *stack, struct GqkCall *call);
void __noreturn gqk_escape(unsigned long *stack);

/* What the library knows of a packet stands in the part of it that belongs to the queue discipline. */

static struct GqkFacts *gq_facts(struct sk_buff *skb)
{
	qdisc_cb_private_validate(skb, sizeof(struct GqkFacts));
	return (struct GqkFacts *)qdisc_skb_cb(skb)->data;
}

static struct sk_buff *gq_skb(struct GqkFacts *facts)
{
	void *cb = container_of((void *)facts, struct qdisc_skb_cb, data);

	return container_of(cb, struct sk_buff, cb);
}

/* The list of packets that wait, and the sums of it. */

static void gq_enter(struct sk_buff *skb, struct Qdisc *sch)
{
	struct gq_sched *g = qdisc_priv(sch);

	__skb_queue_tail(&g->waiting, skb);
	g->backlog += qdisc_pkt_len(skb);
	qdisc_qstats_backlog_inc(sch, skb);
	sch->q.qlen++;
}

static void gq_leave(struct sk_buff *skb, struct Qdisc *sch)
{
	struct gq_sched *g = qdisc_priv(sch);

	__skb_unlink(skb, &g->waiting);
	g->backlog -= qdisc_pkt_len(skb);
	qdisc_qstats_backlog_dec(sch, skb);
	sch->q.qlen--;
}

/* Tells the parents of packets that were dropped. */
static void gq_tell(struct Qdisc *sch)
{
	struct gq_sched *g = qdisc_priv(sch);
	int packets = g->told - skb_queue_len(&g->waiting), bytes = g->told_backlog - g->backlog;

	g->told -= packets;
	g->told_backlog -= bytes;
	if (packets || bytes)
		qdisc_tree_reduce_backlog(sch, packets, bytes);
}

/* What the library calls. */

struct GqkArena *gqk_current_arena(void)
{
	struct gq_guard *guard = this_cpu_read(gq_at_work);

	return guard ? guard->arena : NULL;
}

void gqk_panic(const u8 *message, size_t length)
{
	struct gq_guard *guard = this_cpu_read(gq_at_work);

	/* Nothing but gq_run() calls the library. */
	BUG_ON(!guard);
	length = min(length, sizeof(guard->message) - 1);
	memcpy(guard->message, message, length);
	guard->message[length] = 0;
	gqk_escape(&guard->stack);
}

void gqk_dropped(void *host, struct GqkFacts *packet)
{
	struct gq_guard *guard = host;
	struct Qdisc *sch = guard->sch;
	struct sk_buff *skb = gq_skb(packet);

	gq_leave(skb, sch);
	qdisc_qstats_drop(sch);
	if (skb == guard->arriving)
		guard->arriving = NULL;
	if (guard->to_free)
		__qdisc_drop(skb, guard->to_free);
	else
		kfree_skb(skb);
}

void gqk_marked(void *host, struct GqkFacts *packet)
{
	struct gq_guard *guard = host;
	struct gq_sched *g = qdisc_priv(guard->sch);

	if (INET_ECN_set_ce(gq_skb(packet)))
		g->marked++;
}

bool gq_run(struct gq_engine *engine, struct GqkCall *call, struct gq_guard *guard)
{
	bool failed;

	guard->arena = engine->arena;
	guard->message[0] = 0;
	call->host = guard;
	/* The library finds its memory by the processor. A softirq that interrupts a call made for
	 * netlink puts itself in front and back.
	 */
	preempt_disable();
	guard->outer = this_cpu_read(gq_at_work);
	this_cpu_write(gq_at_work, guard);
	failed = gqk_enter(&guard->stack, call);
	this_cpu_write(gq_at_work, guard->outer);
	preempt_enable();
	return !failed;
}

void gq_engine_free(struct gq_engine *engine)
{
	if (!engine)
		return;
	kvfree(engine->memory);
	kfree(engine->settings);
	kfree(engine);
}

void gq_engines_free(struct gq_engine *first)
{
	struct gq_engine *engine;

	while ((engine = first)) {
		first = engine->next;
		gq_engine_free(engine);
	}
}

void gq_fail_open(struct Qdisc *sch, const char *message)
{
	struct gq_sched *g = qdisc_priv(sch);
	struct gq_engine **last;

	net_err_ratelimited("goodqueue: %s: %s; the queue goes on as a FIFO of %d packets\n",
			    qdisc_dev(sch)->name, message, FIFO_LIMIT);
	/* A change of settings may be reading those of the queue right now. */
	for (last = &g->dead; *last; last = &(*last)->next)
		;
	*last = g->engine;
	if (g->engine)
		g->engine->next = g->retired;
	else
		*last = g->retired;
	g->engine = NULL;
	g->retired = NULL;
	g->retired_count = 0;
	g->loose = skb_queue_len(&g->waiting);
	g->failures++;
}

static void gq_watch(struct gq_sched *g, const struct GqkCall *call)
{
	if (call->waiting && call->next != GQK_NEVER)
		qdisc_watchdog_schedule_ns(&g->watchdog, call->next);
}

/* What the library is told of a packet. */
static struct GqkFacts *gq_describe(struct sk_buff *skb)
{
	struct GqkFacts *packet = gq_facts(skb);
	int field = skb_get_dsfield(skb);

	packet->length = skb->len > skb_network_offset(skb) ? skb->len - skb_network_offset(skb) : skb->len;
	packet->flow = skb_get_hash(skb);
	packet->source = packet->flow;
	packet->destination = packet->flow;
	packet->ecn = 0;
	packet->dscp = 0;
	if (field < 0)
		return packet;
	packet->ecn = field & INET_ECN_MASK;
	packet->dscp = field >> 2;
	/* skb_get_dsfield() has seen that the header is there. */
	if (skb_protocol(skb, true) == htons(ETH_P_IP)) {
		/* The library mixes them. */
		packet->source = (__force u32)ip_hdr(skb)->saddr;
		packet->destination = (__force u32)ip_hdr(skb)->daddr;
	} else {
		packet->source = jhash2((const u32 *)&ipv6_hdr(skb)->saddr, 4, 0);
		packet->destination = jhash2((const u32 *)&ipv6_hdr(skb)->daddr, 4, 0);
	}
	return packet;
}

/* For calls on the way of packets, which do not clear memory that nobody reads. */
static void gq_prepare(struct gq_guard *guard, struct Qdisc *sch, struct sk_buff **to_free,
		       struct sk_buff *arriving)
{
	guard->sch = sch;
	guard->to_free = to_free;
	guard->arriving = arriving;
}

/* Takes one packet in; false when that very packet is dropped. */
static bool gq_take(struct sk_buff *skb, struct Qdisc *sch, struct sk_buff **to_free)
{
	struct gq_sched *g = qdisc_priv(sch);
	struct gq_guard guard;
	struct GqkCall call;

	if (!g->engine && skb_queue_len(&g->waiting) >= FIFO_LIMIT) {
		qdisc_drop(skb, sch, to_free);
		return false;
	}
	gq_enter(skb, sch);
	if (!g->engine) {
		g->loose++;
		return true;
	}
	gq_prepare(&guard, sch, to_free, skb);
	call.what = GQK_ENQUEUE;
	call.queue = g->engine->queue;
	call.now = ktime_get_ns();
	call.packet = gq_describe(skb);
	if (gq_run(g->engine, &call, &guard))
		gq_watch(g, &call);
	else
		gq_fail_open(sch, guard.message);
	return guard.arriving;
}

static int gq_enqueue(struct sk_buff *skb, struct Qdisc *sch, struct sk_buff **to_free)
{
	struct gq_sched *g = qdisc_priv(sch);
	unsigned int length = qdisc_pkt_len(skb);
	struct sk_buff *segment, *next;
	bool is_kept = false;

	if (skb_is_gso(skb)) {
		segment = skb_gso_segment(skb, netif_skb_features(skb) & ~NETIF_F_GSO_MASK);
		if (IS_ERR_OR_NULL(segment))
			return qdisc_drop(skb, sch, to_free);
		skb_list_walk_safe(segment, segment, next) {
			skb_mark_not_on_list(segment);
			qdisc_skb_cb(segment)->pkt_len = segment->len;
#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 19, 0)
			/* A copy of the number that the whole packet had. */
			qdisc_skb_cb(segment)->pkt_segs = 1;
#endif
			if (gq_take(segment, sch, to_free))
				is_kept = true;
		}
		consume_skb(skb);
	} else {
		is_kept = gq_take(skb, sch, to_free);
	}
	/* The parents count one packet of the original length as soon as this returns. */
	if (is_kept) {
		g->told++;
		g->told_backlog += length;
	}
	gq_tell(sch);
	return is_kept ? NET_XMIT_SUCCESS : NET_XMIT_DROP;
}

/* The next packet of one queue of the library. */
static struct sk_buff *gq_next(struct gq_engine *engine, struct Qdisc *sch, struct GqkCall *call)
{
	struct gq_sched *g = qdisc_priv(sch);
	struct gq_guard guard;

	gq_prepare(&guard, sch, NULL, NULL);
	call->what = GQK_DEQUEUE;
	call->queue = engine->queue;
	call->now = ktime_get_ns();
	call->packet = NULL;
	if (!gq_run(engine, call, &guard)) {
		gq_fail_open(sch, guard.message);
		return NULL;
	}
	gq_watch(g, call);
	return call->packet ? gq_skb(call->packet) : NULL;
}

static struct sk_buff *gq_dequeue(struct Qdisc *sch)
{
	struct gq_sched *g = qdisc_priv(sch);
	struct gq_engine *oldest;
	struct GqkCall call;
	struct sk_buff *skb = NULL;

	while (!g->loose && !skb && (oldest = g->retired)) {
		skb = gq_next(oldest, sch, &call);
		if (g->loose || !g->retired)
			break;
		if (!call.waiting) {
			g->retired = oldest->next;
			g->retired_count--;
			gq_engine_free(oldest);
		} else if (!skb) {
			/* It holds its packets back until its timer. */
			goto out;
		}
	}
	if (!skb && !g->loose && g->engine)
		skb = gq_next(g->engine, sch, &call);
	/* Also after a failure just now. */
	if (!skb && g->loose) {
		g->loose--;
		skb = skb_peek(&g->waiting);
	}
	if (!skb)
		goto out;
	gq_leave(skb, sch);
	g->told--;
	g->told_backlog -= qdisc_pkt_len(skb);
	qdisc_bstats_update(sch, skb);
out:
	/* A parent must not take this for an empty class while it dequeues. */
	if (sch->q.qlen)
		gq_tell(sch);
	return skb;
}

static int gq_init(struct Qdisc *sch, struct nlattr *opt, struct netlink_ext_ack *extack)
{
	struct gq_sched *g = qdisc_priv(sch);

	/* destroy is called when this fails. */
	__skb_queue_head_init(&g->waiting);
	qdisc_watchdog_init(&g->watchdog, sch);
	return gq_change(sch, opt, extack);
}

static void gq_reset(struct Qdisc *sch)
{
	struct gq_sched *g = qdisc_priv(sch);
	struct sk_buff *skb;

	qdisc_watchdog_cancel(&g->watchdog);
	while ((skb = __skb_dequeue(&g->waiting)))
		rtnl_kfree_skbs(skb, skb);
	gq_engines_free(g->retired);
	g->retired = NULL;
	g->retired_count = 0;
	g->loose = 0;
	g->backlog = 0;
	g->told = 0;
	g->told_backlog = 0;
	if (g->engine) {
		struct gq_guard guard = { .sch = sch };
		struct GqkCall call = {
			.what = GQK_RESET,
			.queue = g->engine->queue,
			.now = ktime_get_ns(),
		};

		if (!gq_run(g->engine, &call, &guard))
			gq_fail_open(sch, guard.message);
	}
}

static void gq_destroy(struct Qdisc *sch)
{
	struct gq_sched *g = qdisc_priv(sch);

	qdisc_watchdog_cancel(&g->watchdog);
	__skb_queue_purge(&g->waiting);
	gq_engines_free(g->retired);
	gq_engines_free(g->dead);
	gq_engine_free(g->engine);
}

static struct Qdisc_ops gq_ops __read_mostly = {
	.id = "goodqueue",
	.priv_size = sizeof(struct gq_sched),
	.enqueue = gq_enqueue,
	.dequeue = gq_dequeue,
	.peek = qdisc_peek_dequeued,
	.init = gq_init,
	.change = gq_change,
	.reset = gq_reset,
	.destroy = gq_destroy,
	.dump = gq_dump,
	.dump_stats = gq_dump_stats,
	.owner = THIS_MODULE,
};

static int __init gq_module_init(void)
{
	return register_qdisc(&gq_ops);
}

static void __exit gq_module_exit(void)
{
	unregister_qdisc(&gq_ops);
}

module_init(gq_module_init);
module_exit(gq_module_exit);
MODULE_DESCRIPTION("Queue disciplines of goodqueue: every kind of `gq list aqm`");
MODULE_ALIAS("sch_goodqueue");
/*
 * Ours is MIT OR Apache-2.0. The kernel knows "Dual MIT/GPL", which says that this module may be
 * linked with it under the GPL, and it demands that of whoever uses ktime_get() and others.
 */
MODULE_LICENSE("Dual MIT/GPL");
