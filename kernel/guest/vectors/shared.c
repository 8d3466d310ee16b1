/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * Inside a guest: shared DEVICE RATE TINS. Makes `cake_mq`, which `tc` does not know yet, the root of a device: RATE bytes per second, TINS as
 * the kernel numbers them (0 diffserv3, 1 diffserv4, 3 besteffort), a queue for each flow.
 */
#include <linux/if_ether.h>
#include <linux/pkt_sched.h>
#include <linux/rtnetlink.h>
#include <net/if.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

enum { ONLY_FLOWS = 4 };

struct request {
	struct nlmsghdr head;
	struct tcmsg tc;
	char attributes[256];
};

static struct rtattr *add(struct request *request, unsigned short type, const void *value, size_t length)
{
	struct rtattr *attribute = (struct rtattr *)((char *)request + NLMSG_ALIGN(request->head.nlmsg_len));

	attribute->rta_type = type;
	attribute->rta_len = (unsigned short)RTA_LENGTH(length);
	if (length)
		memcpy(RTA_DATA(attribute), value, length);
	request->head.nlmsg_len = (uint32_t)(NLMSG_ALIGN(request->head.nlmsg_len) + RTA_ALIGN(attribute->rta_len));
	return attribute;
}

int main(int argc, char **argv)
{
	struct request request = {
		.head = { .nlmsg_len = NLMSG_LENGTH(sizeof(struct tcmsg)), .nlmsg_type = RTM_NEWQDISC },
		.tc = { .tcm_family = AF_UNSPEC, .tcm_parent = TC_H_ROOT, .tcm_handle = 3 << 16 },
	};
	struct {
		struct nlmsghdr head;
		struct nlmsgerr fault;
		char rest[1024];
	} answer;
	int netlink = socket(AF_NETLINK, SOCK_RAW, NETLINK_ROUTE);
	uint32_t flows = ONLY_FLOWS, tins;
	struct rtattr *options;
	uint64_t rate;

	if (argc != 4)
		return 2;
	rate = strtoull(argv[2], NULL, 10);
	tins = (uint32_t)strtoul(argv[3], NULL, 10);
	request.tc.tcm_ifindex = (int)if_nametoindex(argv[1]);
	request.head.nlmsg_flags = NLM_F_REQUEST | NLM_F_ACK | NLM_F_CREATE | NLM_F_REPLACE;
	add(&request, TCA_KIND, "cake_mq", sizeof("cake_mq"));
	options = add(&request, TCA_OPTIONS, NULL, 0);
	add(&request, TCA_CAKE_BASE_RATE64, &rate, sizeof(rate));
	add(&request, TCA_CAKE_DIFFSERV_MODE, &tins, sizeof(tins));
	add(&request, TCA_CAKE_FLOW_MODE, &flows, sizeof(flows));
	options->rta_len = (unsigned short)((char *)&request + request.head.nlmsg_len - (char *)options);
	if (send(netlink, &request, request.head.nlmsg_len, 0) < 0 || recv(netlink, &answer, sizeof(answer), 0) < 0) {
		perror("netlink");
		return 1;
	}
	if (answer.fault.error) {
		fprintf(stderr, "cake_mq: %s\n", strerror(-answer.fault.error));
		return 1;
	}
	return 0;
}
