/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * tc's part of the queue discipline: q_goodqueue.so, which tc loads from /usr/lib/tc or $TC_LIB_DIR.
 *
 * It knows no setting: words go to the module as they are, and what the module says is printed as it
 * is. So a kind or a parameter that is new needs no new plugin. iproute2 has no headers to install;
 * what is declared here is what tc offers to its plugins since version 5.0.
 */
#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "goodqueue_netlink.h"

#define MOST_BYTES 16384

struct qdisc_util {
	struct qdisc_util *next;
	const char *id;
	int (*parse_qopt)(struct qdisc_util *, int, char **, struct nlmsghdr *, const char *);
	int (*print_qopt)(struct qdisc_util *, FILE *, struct rtattr *);
	int (*print_xstats)(struct qdisc_util *, FILE *, struct rtattr *);
	int (*parse_copt)(struct qdisc_util *, int, char **, struct nlmsghdr *, const char *);
	int (*print_copt)(struct qdisc_util *, FILE *, struct rtattr *);
	int (*has_block)(struct qdisc_util *, struct rtattr *, bool *);
};

enum { PRINT_ANY = 4, COLOR_NONE = 7 };

int addattr_l(struct nlmsghdr *, int, int, const void *, int);
struct rtattr *addattr_nest(struct nlmsghdr *, int, int);
int addattr_nest_end(struct nlmsghdr *, struct rtattr *);
bool is_json_context(void);
int print_color_string(int, int, const char *, const char *, const char *);
int print_color_float(int, int, const char *, const char *, double);
int print_color_u64(int, int, const char *, const char *, uint64_t);
int print_color_bool(int, int, const char *, const char *, bool);

static void usage(void)
{
	fprintf(stderr,
		"Usage: ... goodqueue kind KIND [ limit AMOUNT ] [ ecn | noecn ] [ NAME VALUE ]...\n"
		"KIND is one of `gq list aqm`; fair:pie is fair queueing over PIE.\n"
		"NAME is link, delay, link_overhead, seed or a parameter of KIND; of.NAME is one of what KIND is over.\n"
		"AMOUNT is 1000, 64kB, or 100ms if the rate of the line is given as `link RATE`.\n");
}

static int add(struct nlmsghdr *n, int type, const char *text)
{
	return addattr_l(n, MOST_BYTES, type, text, strlen(text) + 1);
}

static int parse(struct qdisc_util *qu, int argc, char **argv, struct nlmsghdr *n, const char *dev)
{
	struct rtattr *nest = addattr_nest(n, MOST_BYTES, TCA_OPTIONS);
	char setting[256];
	uint8_t on;

	(void)qu;
	(void)dev;
	for (; argc > 0; argc--, argv++) {
		if (!strcmp(*argv, "help")) {
			usage();
			return -1;
		}
		if (!strcmp(*argv, "ecn") || !strcmp(*argv, "noecn")) {
			on = **argv == 'e';
			addattr_l(n, MOST_BYTES, TCA_GOODQUEUE_ECN, &on, sizeof(on));
			continue;
		}
		if (argc < 2) {
			fprintf(stderr, "goodqueue: \"%s\" needs a value\n", *argv);
			return -1;
		}
		if (!strcmp(*argv, "kind")) {
			add(n, TCA_GOODQUEUE_KIND, argv[1]);
		} else if (!strcmp(*argv, "limit")) {
			add(n, TCA_GOODQUEUE_LIMIT, argv[1]);
		} else {
			if (snprintf(setting, sizeof(setting), "%s=%s", *argv, argv[1]) >= (int)sizeof(setting)) {
				fprintf(stderr, "goodqueue: \"%.32s\" with its value is too long: allowed 255 bytes\n", *argv);
				return -1;
			}
			add(n, TCA_GOODQUEUE_PARAM, setting);
		}
		argc--;
		argv++;
	}
	addattr_nest_end(n, nest);
	return 0;
}

/* NAME VALUE, in JSON as a number or a truth value where it is one. */
static void print(const char *name, const char *value)
{
	char format[300], *end;
	double number = strtod(value, &end);

	snprintf(format, sizeof(format), "%s %%s ", name);
	if (!is_json_context())
		print_color_string(PRINT_ANY, COLOR_NONE, name, format, value);
	else if (!strcmp(value, "true") || !strcmp(value, "false"))
		print_color_bool(PRINT_ANY, COLOR_NONE, name, NULL, *value == 't');
	else if (*value && !*end && !strpbrk(value, ".eEnN"))
		print_color_u64(PRINT_ANY, COLOR_NONE, name, NULL, strtoull(value, NULL, 10));
	else if (*value && !*end && number - number == 0)
		print_color_float(PRINT_ANY, COLOR_NONE, name, NULL, number);
	else
		print_color_string(PRINT_ANY, COLOR_NONE, name, NULL, value);
}

/* NAME=VALUE in `size` bytes, which end with a zero byte. */
static void print_pair(const char *pair)
{
	const char *value = strchr(pair, '=');
	char name[64];

	if (!value || value - pair >= (int)sizeof(name))
		return;
	memcpy(name, pair, value - pair);
	name[value - pair] = 0;
	print(name, value + 1);
}

static int print_settings(struct qdisc_util *qu, FILE *f, struct rtattr *opt)
{
	struct rtattr *attr;
	int rest;

	(void)qu;
	(void)f;
	if (!opt)
		return 0;
	rest = RTA_PAYLOAD(opt);
	for (attr = RTA_DATA(opt); RTA_OK(attr, rest); attr = RTA_NEXT(attr, rest)) {
		const char *text = RTA_DATA(attr);

		if (RTA_PAYLOAD(attr) == 0 ||
		    (attr->rta_type != TCA_GOODQUEUE_ECN && text[RTA_PAYLOAD(attr) - 1]))
			continue;
		switch (attr->rta_type & NLA_TYPE_MASK) {
		case TCA_GOODQUEUE_KIND:
			print("kind", text);
			break;
		case TCA_GOODQUEUE_LIMIT:
			print("limit", text);
			break;
		case TCA_GOODQUEUE_ECN:
			if (is_json_context())
				print("ecn", *text ? "true" : "false");
			else
				print_color_string(PRINT_ANY, COLOR_NONE, "ecn", "%s ", *text ? "ecn" : "noecn");
			break;
		case TCA_GOODQUEUE_PARAM:
			print_pair(text);
			break;
		}
	}
	return 0;
}

static int print_statistics(struct qdisc_util *qu, FILE *f, struct rtattr *xstats)
{
	const char *text, *end;

	(void)qu;
	(void)f;
	if (!xstats || RTA_PAYLOAD(xstats) == 0)
		return 0;
	text = RTA_DATA(xstats);
	end = text + RTA_PAYLOAD(xstats);
	if (end[-1])
		return 0;
	if (!is_json_context())
		print_color_string(PRINT_ANY, COLOR_NONE, NULL, "%s", "  ");
	for (; text < end; text += strlen(text) + 1)
		print_pair(text);
	return 0;
}

struct qdisc_util goodqueue_qdisc_util = {
	.id = "goodqueue",
	.parse_qopt = parse,
	.print_qopt = print_settings,
	.print_xstats = print_statistics,
};
