// SPDX-License-Identifier: GPL-2.0 OR MIT
/* sch_goodqueue: what tc asks for, and the answers. The library reads all settings. */
#include <linux/mm.h>
#include <linux/random.h>
#include <linux/rtnetlink.h>
#include <linux/slab.h>
#include <net/netlink.h>

#include "goodqueue_netlink.h"
#include "sch_goodqueue.h"

#define FIRST_MEMORY	((size_t)64 << 10)
#define MOST_MEMORY	((size_t)256 << 20)
/* For what a queue asks for later all the same, which is rare. */
#define SPARE_MEMORY	((size_t)8 << 10)
#define MOST_TEXT	((size_t)4096)
#define MOST_RETIRED	8

static const struct nla_policy gq_policy[TCA_GOODQUEUE_MAX + 1] = {
	[TCA_GOODQUEUE_KIND] = { .type = NLA_NUL_STRING, .len = 256 },
	[TCA_GOODQUEUE_LIMIT] = { .type = NLA_NUL_STRING, .len = 64 },
	[TCA_GOODQUEUE_ECN] = NLA_POLICY_MAX(NLA_U8, 1),
	[TCA_GOODQUEUE_PARAM] = { .type = NLA_NUL_STRING, .len = 256 },
};

/* Answers stand here until netlink has sent them, which is after the lock was given up; so there
 * are some, in turn.
 */
static char gq_answers[8][768];
static unsigned int gq_answer;

static char *gq_new_answer(void)
{
	ASSERT_RTNL();
	return gq_answers[gq_answer++ % ARRAY_SIZE(gq_answers)];
}

static bool gq_append(char *text, size_t *length, const char *name, const char *value)
{
	size_t room = MOST_TEXT - *length;
	int written = snprintf(text + *length, room, "%s%s%s", name, *name ? "=" : "", value);

	if (written + 1 > room)
		return false;
	*length += written + 1;
	return true;
}

/* The settings of a request as words for the library. */
static int gq_words(struct nlattr *opt, char *text, size_t *length, struct netlink_ext_ack *extack)
{
	struct nlattr *attr;
	int rest, err;
	bool fits = true;

	*length = 0;
	if (!opt)
		return 0;
	err = nla_validate_nested(opt, TCA_GOODQUEUE_MAX, gq_policy, extack);
	if (err)
		return err;
	nla_for_each_nested(attr, opt, rest) {
		switch (nla_type(attr)) {
		case TCA_GOODQUEUE_KIND:
			fits &= gq_append(text, length, "kind", nla_data(attr));
			break;
		case TCA_GOODQUEUE_LIMIT:
			fits &= gq_append(text, length, "limit", nla_data(attr));
			break;
		case TCA_GOODQUEUE_ECN:
			fits &= gq_append(text, length, "ecn", nla_get_u8(attr) ? "true" : "false");
			break;
		case TCA_GOODQUEUE_PARAM:
			fits &= gq_append(text, length, "", nla_data(attr));
			break;
		}
	}
	if (!fits) {
		NL_SET_ERR_MSG(extack, "goodqueue: the settings are too long: allowed 4096 bytes");
		return -EMSGSIZE;
	}
	return 0;
}

/* A queue in `size` bytes of memory, from `text` and the settings of `before`. -EAGAIN: they are too
 * few.
 */
static struct gq_engine *gq_try(struct Qdisc *sch, const struct gq_engine *before, const char *text,
				size_t length, size_t size, u64 seed, struct netlink_ext_ack *extack)
{
	struct net_device *dev = qdisc_dev(sch);
	char *answer = gq_new_answer();
	struct gq_guard guard = { .sch = sch };
	struct GqkCall call = {
		.what = GQK_MAKE,
		.queue = before ? before->queue : NULL,
		.text = answer,
		.read = text,
		.length = length,
		.room = sizeof(gq_answers[0]),
		.device = { .mtu = dev->mtu, .overhead = dev->hard_header_len, .seed = seed },
	};
	struct gq_engine *engine = kzalloc(sizeof(*engine), GFP_KERNEL);
	int err = -ENOMEM;

	if (!engine)
		goto out_of_memory;
	engine->size = size;
	engine->memory = kvmalloc(size, GFP_KERNEL | __GFP_NOWARN);
	if (!engine->memory)
		goto out_of_memory;
	engine->arena = gqk_arena_new(engine->memory, size);
	if (!engine->arena)
		goto out_of_memory;
	if (!gq_run(engine, &call, &guard)) {
		err = -EAGAIN;
		if (!gqk_arena_used(engine->arena))
			goto out;
		/* It failed for another reason than its memory. */
		err = -EINVAL;
		strscpy(answer, guard.message, sizeof(gq_answers[0]));
		pr_err("goodqueue: %s\n", guard.message);
		goto say;
	}
	if (call.outcome != GQK_DONE) {
		err = -EINVAL;
		goto say;
	}
	engine->queue = call.queue;
	engine->limit = min_t(u64, call.waiting, U32_MAX);
	return engine;
say:
	if (extack)
		extack->_msg = answer;
	goto out;
out_of_memory:
	NL_SET_ERR_MSG(extack, "goodqueue: not enough memory for this limit and number of flows");
out:
	gq_engine_free(engine);
	return ERR_PTR(err);
}

/* Keeps the settings of an engine as words. */
static int gq_note(struct Qdisc *sch, struct gq_engine *engine)
{
	struct gq_guard guard = { .sch = sch };
	struct GqkCall call = { .what = GQK_SETTINGS, .queue = engine->queue, .room = MOST_TEXT };

	call.text = kmalloc(MOST_TEXT, GFP_KERNEL);
	if (!call.text)
		return -ENOMEM;
	if (!gq_run(engine, &call, &guard) || call.length > MOST_TEXT) {
		kfree(call.text);
		return -EINVAL;
	}
	engine->settings = krealloc(call.text, call.length, GFP_KERNEL);
	if (!engine->settings) {
		kfree(call.text);
		return -ENOMEM;
	}
	engine->settings_length = call.length;
	return 0;
}

/* A queue with just the memory it needs. The same settings and the same seed need the same. */
static struct gq_engine *gq_make(struct Qdisc *sch, const struct gq_engine *before,
				 struct nlattr *opt, struct netlink_ext_ack *extack)
{
	u64 seed = get_random_u64() >> 11;
	char *text = kmalloc(MOST_TEXT, GFP_KERNEL);
	size_t length, size = FIRST_MEMORY, used;
	struct gq_engine *engine, *exact;
	int err;

	if (!text)
		return ERR_PTR(-ENOMEM);
	err = gq_words(opt, text, &length, extack);
	if (err) {
		engine = ERR_PTR(err);
		goto out;
	}
	do {
		engine = gq_try(sch, before, text, length, size, seed, extack);
		size *= 2;
	} while (engine == ERR_PTR(-EAGAIN) && size <= MOST_MEMORY);
	if (engine == ERR_PTR(-EAGAIN)) {
		NL_SET_ERR_MSG(extack, "goodqueue: would need more than 256 MB for this limit and number of flows");
		engine = ERR_PTR(-ENOMEM);
	}
	if (IS_ERR(engine))
		goto out;
	used = PAGE_ALIGN(gqk_arena_used(engine->arena) + SPARE_MEMORY);
	if (used < engine->size / 4 * 3) {
		/* Where that fails, a little more memory is taken than needed. */
		exact = gq_try(sch, before, text, length, used, seed, NULL);
		if (!IS_ERR(exact)) {
			gq_engine_free(engine);
			engine = exact;
		}
	}
	err = gq_note(sch, engine);
	if (err) {
		gq_engine_free(engine);
		engine = ERR_PTR(err);
	}
out:
	kfree(text);
	return engine;
}

int gq_change(struct Qdisc *sch, struct nlattr *opt, struct netlink_ext_ack *extack)
{
	struct gq_sched *g = qdisc_priv(sch);
	struct gq_engine *engine, *before, *dead, **last;

	if (g->retired_count >= MOST_RETIRED) {
		NL_SET_ERR_MSG(extack, "goodqueue: packets from before earlier changes still wait: try again later");
		return -EBUSY;
	}
	engine = gq_make(sch, g->engine, opt, extack);
	if (IS_ERR(engine))
		return PTR_ERR(engine);
	sch_tree_lock(sch);
	before = g->engine;
	if (before && skb_queue_len(&g->waiting) > g->loose) {
		for (last = &g->retired; *last; last = &(*last)->next)
			;
		*last = before;
		g->retired_count++;
		before = NULL;
	}
	g->engine = engine;
	dead = g->dead;
	g->dead = NULL;
	sch->limit = engine->limit;
	sch_tree_unlock(sch);
	gq_engine_free(before);
	gq_engines_free(dead);
	return 0;
}

/* Answers */

int gq_dump(struct Qdisc *sch, struct sk_buff *skb)
{
	struct gq_sched *g = qdisc_priv(sch);
	struct nlattr *opts = nla_nest_start_noflag(skb, TCA_OPTIONS);
	const char *word, *end;
	int err = 0;

	if (!opts)
		return -EMSGSIZE;
	/* The engine may fail meanwhile. */
	sch_tree_lock(sch);
	if (g->engine) {
		word = g->engine->settings;
		end = word + g->engine->settings_length;
	} else {
		word = NULL;
		end = NULL;
		err = nla_put_string(skb, TCA_GOODQUEUE_KIND, "failed-open");
	}
	for (; word < end && !err; word += strlen(word) + 1) {
		if (strstarts(word, "kind="))
			err = nla_put_string(skb, TCA_GOODQUEUE_KIND, word + 5);
		else if (strstarts(word, "limit="))
			err = nla_put_string(skb, TCA_GOODQUEUE_LIMIT, word + 6);
		else if (strstarts(word, "ecn="))
			err = nla_put_u8(skb, TCA_GOODQUEUE_ECN, word[4] == 't');
		else
			err = nla_put_string(skb, TCA_GOODQUEUE_PARAM, word);
	}
	sch_tree_unlock(sch);
	if (err) {
		nla_nest_cancel(skb, opts);
		return err;
	}
	return nla_nest_end(skb, opts);
}

int gq_dump_stats(struct Qdisc *sch, struct gnet_dump *d)
{
	struct gq_sched *g = qdisc_priv(sch);
	struct gq_guard guard = { .sch = sch };
	struct GqkCall call = { .what = GQK_STATISTICS, .room = MOST_TEXT / 2 };
	char *text = kzalloc(MOST_TEXT, GFP_KERNEL);
	size_t length = 0;
	int err;

	if (!text)
		return -ENOMEM;
	call.text = text;
	sch_tree_lock(sch);
	if (g->engine) {
		call.queue = g->engine->queue;
		if (gq_run(g->engine, &call, &guard))
			length = min(call.length, call.room);
		else
			gq_fail_open(sch, guard.message);
	}
	sch_tree_unlock(sch);
	length += scnprintf(text + length, MOST_TEXT - length, "ce_set=%llu", g->marked) + 1;
	length += scnprintf(text + length, MOST_TEXT - length, "earlier_queues=%u", g->retired_count) + 1;
	length += scnprintf(text + length, MOST_TEXT - length, "failures=%u", g->failures) + 1;
	err = gnet_stats_copy_app(d, text, length);
	kfree(text);
	return err;
}
