/* SPDX-License-Identifier: GPL-2.0 WITH Linux-syscall-note OR MIT */
/*
 * What tc and the module say to each other.
 *
 * A setting has a name and a value, both words as `gq list aqm` shows them; the module reads them
 * and answers what is wrong through the netlink extended acknowledgement. Settings that every queue
 * has travel in attributes of their own, the parameters of its kind as `NAME=VALUE` strings. Those
 * of an inner algorithm have `of.` in front, once for each level.
 */
#ifndef GOODQUEUE_NETLINK_H
#define GOODQUEUE_NETLINK_H

enum {
	TCA_GOODQUEUE_UNSPEC,
	TCA_GOODQUEUE_KIND,	/* string: codel, fair:pie, shaper:priority:codel */
	TCA_GOODQUEUE_LIMIT,	/* string: 1000, 64kB, 100ms */
	TCA_GOODQUEUE_ECN,	/* u8: 1 marks, 0 drops */
	TCA_GOODQUEUE_PARAM,	/* string NAME=VALUE, any number of them */
	__TCA_GOODQUEUE_MAX,
};

#define TCA_GOODQUEUE_MAX (__TCA_GOODQUEUE_MAX - 1)

/* Statistics (TCA_STATS_APP) are strings NAME=NUMBER, each with a zero byte behind it. */

#endif
