// SPDX-License-Identifier: MIT OR Apache-2.0
/*
 * A queue discipline `record` that has one other as its class 1, changes nothing, and notes what that one does: arrivals, drops, marks,
 * requests and departures with the kernel's time, in the order in which they happen. /proc/gq_record holds the notes, `struct note` each.
 * The running number of a packet is kept in its mark, and its release while it is in the discipline's hands tells of a drop.
 *
 * A discipline that must be the root has no room for one above it: the name of a device, written to /proc/gq_record, makes those of its
 * transmit queues note what they do.
 */
#include <linux/init.h>
#include <linux/ip.h>
#include <linux/kernel.h>
#include <linux/ktime.h>
#include <linux/netdevice.h>
#include <linux/proc_fs.h>
#include <linux/rtnetlink.h>
#include <linux/skbuff.h>
#include <linux/string.h>
#include <linux/timer.h>
#include <linux/uaccess.h>
#include <linux/vmalloc.h>
#include <net/pkt_sched.h>
#include <net/sch_generic.h>

/* A packet arrived, was dropped, marked; the discipline was asked, gave a packet; a timer of it was set; it was made. */
enum { ARRIVED = '+', DROPPED = '-', MARKED = '!', ASKED = '?', LEFT = '>', TIMER = '~', MADE = '*' };
enum { MOST = 1 << 19 };

struct note {
	u64 time;
	/* Of the packet; of a request, that of the transmit queue. */
	u32 number;
	u32 what;
	/* What the discipline wrote beside an arrived packet: hashes, for those that keep them there. */
	u32 beside[2];
	u32 length;
	u32 draws;
};

struct record {
	struct Qdisc *inner;
	/* Does it take packets out to look at them? */
	bool takes;
};

u32 gq_draws_made(void);
int gq_mod_timer(struct timer_list *timer, unsigned long expires);
void gq_note_timer(void);

static struct note *notes;
static u8 *tos;
static u32 noted, packets;

static struct note *put(int what, u32 number)
{
	struct note *note;

	if (!notes || noted >= MOST)
		return NULL;
	note = &notes[noted++];
	*note = (struct note){ .time = ktime_get_ns(), .number = number, .what = what, .draws = gq_draws_made() };
	return note;
}

void gq_note_timer(void)
{
	put(TIMER, 0);
}

int gq_mod_timer(struct timer_list *timer, unsigned long expires)
{
	gq_note_timer();
	return mod_timer(timer, expires);
}

static u8 type_of_service(const struct sk_buff *skb)
{
	return ip_hdr(skb)->tos;
}

static void released(struct sk_buff *skb)
{
	put(DROPPED, skb->mark);
	tos[skb->mark] = 0xff;
}

static void take_over(struct sk_buff *skb, u32 number)
{
	skb_orphan(skb);
	skb->mark = number;
	skb->destructor = released;
	tos[number] = type_of_service(skb) & 3;
}

static void note_mark(const struct sk_buff *skb)
{
	u8 now = type_of_service(skb) & 3;

	if (now != tos[skb->mark])
		put(MARKED, skb->mark);
	tos[skb->mark] = now;
}

/* Packets that are to be freed once locks are given back were dropped now: the first of the list last. */
static void note_drops(struct sk_buff *first, const struct sk_buff *end)
{
	u32 from = noted, to;

	for (; first && first != end; first = first->next) {
		if (first->destructor != released)
			continue;
		released(first);
		first->destructor = NULL;
	}
	for (to = noted; from + 1 < to; from++, to--)
		swap(notes[from], notes[to - 1]);
}

static int note_enqueue(struct sk_buff *skb, struct Qdisc *inner, struct sk_buff **to_free)
{
	struct sk_buff *end = *to_free;
	unsigned int length = qdisc_pkt_len(skb);
	struct note *note;
	u32 number;
	int result;

	if (!notes || packets >= MOST)
		return qdisc_drop(skb, inner, to_free);
	number = packets++;
	take_over(skb, number);
	note = put(ARRIVED, number);
	result = inner->ops->enqueue(skb, inner, to_free);
	if (note)
		note->length = length;
	if (tos[number] != 0xff) {
		if (note)
			memcpy(note->beside, qdisc_skb_cb(skb)->data, sizeof(note->beside));
		note_mark(skb);
	}
	note_drops(*to_free, end);
	return result;
}

static int record_enqueue(struct sk_buff *skb, struct Qdisc *sch, struct sk_buff **to_free)
{
	struct record *q = qdisc_priv(sch);
	unsigned int length = qdisc_pkt_len(skb);
	int result;

	qdisc_calculate_pkt_len(skb, q->inner);
	result = note_enqueue(skb, q->inner, to_free);
	if (result == NET_XMIT_SUCCESS) {
		sch->q.qlen++;
		sch->qstats.backlog += length;
	} else if (net_xmit_drop_count(result)) {
		qdisc_qstats_drop(sch);
	}
	return result;
}

static void note_left(struct sk_buff *skb)
{
	if (!skb || skb->destructor != released)
		return;
	note_mark(skb);
	put(LEFT, skb->mark);
	skb->destructor = NULL;
}

/* A discipline that cannot look at the next packet takes it out, and keeps it ready in its books. */
static bool holds(const struct Qdisc *inner)
{
	return !skb_queue_empty(&inner->gso_skb);
}

static struct sk_buff *record_peek(struct Qdisc *sch)
{
	struct record *q = qdisc_priv(sch);
	struct Qdisc *inner = q->inner;
	u32 before = noted;
	struct sk_buff *skb;

	if (holds(inner))
		return inner->ops->peek(inner);
	put(ASKED, 0);
	skb = inner->ops->peek(inner);
	if (holds(inner)) {
		q->takes = true;
		note_left(skb);
	} else if (!q->takes) {
		/* It was but looked at. */
		noted = before;
	}
	return skb;
}

static struct sk_buff *record_dequeue(struct Qdisc *sch)
{
	struct Qdisc *inner = ((struct record *)qdisc_priv(sch))->inner;
	bool is_asked = !holds(inner);
	struct sk_buff *skb;

	if (is_asked)
		put(ASKED, 0);
	skb = qdisc_dequeue_peeked(inner);
	if (is_asked)
		note_left(skb);
	if (skb) {
		qdisc_bstats_update(sch, skb);
		qdisc_qstats_backlog_dec(sch, skb);
		sch->q.qlen--;
	}
	return skb;
}

/* The discipline of a transmit queue: what it drops while it is asked is freed later. */
static struct sk_buff *queue_dequeue(struct Qdisc *sch)
{
	struct sk_buff *skb;
#ifdef TCQ_F_DEQUEUE_DROPS
	struct sk_buff *end = sch->to_free;
#endif

	put(ASKED, sch->dev_queue - netdev_get_tx_queue(qdisc_dev(sch), 0));
	skb = sch->ops->dequeue(sch);
#ifdef TCQ_F_DEQUEUE_DROPS
	note_drops(sch->to_free, end);
#endif
	note_left(skb);
	return skb;
}

static int make_room(void)
{
	if (!notes)
		notes = vmalloc(MOST * sizeof(*notes));
	if (!tos)
		tos = vmalloc(MOST);
	noted = packets = 0;
	return notes && tos ? 0 : -ENOMEM;
}

static int record_queues(struct net_device *dev)
{
	unsigned int queue;
	int fault = make_room();

	for (queue = 0; !fault && queue < dev->num_tx_queues; queue++) {
		struct Qdisc *sch = rtnl_dereference(netdev_get_tx_queue(dev, queue)->qdisc_sleeping);

		sch->enqueue = note_enqueue;
		sch->dequeue = queue_dequeue;
	}
	put(MADE, 0);
	return fault;
}

static int record_init(struct Qdisc *sch, struct nlattr *options, struct netlink_ext_ack *extack)
{
	struct record *q = qdisc_priv(sch);

	q->inner = &noop_qdisc;
	return make_room();
}

static void record_reset(struct Qdisc *sch)
{
	struct record *q = qdisc_priv(sch);

	qdisc_reset(q->inner);
}

static void record_destroy(struct Qdisc *sch)
{
	struct record *q = qdisc_priv(sch);

	qdisc_put(q->inner);
}

static int record_graft(struct Qdisc *sch, unsigned long class, struct Qdisc *new, struct Qdisc **old, struct netlink_ext_ack *extack)
{
	struct record *q = qdisc_priv(sch);

	put(MADE, 0);
	*old = qdisc_replace(sch, new ? new : &noop_qdisc, &q->inner);
	return 0;
}

static struct Qdisc *record_leaf(struct Qdisc *sch, unsigned long class)
{
	return ((struct record *)qdisc_priv(sch))->inner;
}

static unsigned long record_find(struct Qdisc *sch, u32 id)
{
	return 1;
}

static void record_walk(struct Qdisc *sch, struct qdisc_walker *walker)
{
	if (!walker->stop)
		tc_qdisc_stats_dump(sch, 1, walker);
}

static const struct Qdisc_class_ops class_ops = {
	.graft = record_graft,
	.leaf = record_leaf,
	.find = record_find,
	.walk = record_walk,
};

static struct Qdisc_ops record_ops = {
	.cl_ops = &class_ops,
	.id = "record",
	.priv_size = sizeof(struct record),
	.enqueue = record_enqueue,
	.dequeue = record_dequeue,
	.peek = record_peek,
	.init = record_init,
	.reset = record_reset,
	.destroy = record_destroy,
};

static ssize_t read_notes(struct file *file, char __user *buffer, size_t length, loff_t *position)
{
	return simple_read_from_buffer(buffer, length, position, notes, noted * sizeof(*notes));
}

static ssize_t write_device(struct file *file, const char __user *buffer, size_t length, loff_t *position)
{
	char name[IFNAMSIZ] = "";
	struct net_device *dev;
	int fault = -ENODEV;

	if (length >= IFNAMSIZ || copy_from_user(name, buffer, length))
		return -EINVAL;
	rtnl_lock();
	dev = __dev_get_by_name(&init_net, strim(name));
	if (dev)
		fault = record_queues(dev);
	rtnl_unlock();
	return fault ?: length;
}

static const struct proc_ops proc_ops = {
	.proc_read = read_notes,
	.proc_write = write_device,
};

static int __init record_start(void)
{
	if (!proc_create("gq_record", 0600, NULL, &proc_ops))
		return -ENOMEM;
	return register_qdisc(&record_ops);
}
late_initcall(record_start);
