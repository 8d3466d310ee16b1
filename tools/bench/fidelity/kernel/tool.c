// SPDX-License-Identifier: MIT OR Apache-2.0
/*
 * What runs inside the guest of ../reference.py:
 *   tool plain DEV                         no offloads
 *   tool serve PORT                        takes connections and throws away what they bring
 *   tool send IP PORT CC END_S START_US... a bulk flow from each start to the end
 *   tool queue DEV PERIOD_US COUNT FILE    a line a period: time, then for each queue discipline of DEV
 *                                          handle packets bytes dropped sent-bytes sent-packets
 */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <linux/ethtool.h>
#include <linux/gen_stats.h>
#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#include <linux/sockios.h>
#include <net/if.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static char buffer[65536];

static long long now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1000000000LL + t.tv_nsec;
}

static void sleep_until(long long at)
{
	struct timespec t = { at / 1000000000, at % 1000000000 };

	while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &t, NULL) == EINTR)
		;
}

static int plain(const char *device)
{
	static const unsigned int features[] = { ETHTOOL_STSO, ETHTOOL_SGSO, ETHTOOL_SGRO, ETHTOOL_STXCSUM };
	int s = socket(AF_INET, SOCK_DGRAM, 0);

	for (size_t i = 0; i < sizeof features / sizeof *features; i++) {
		struct ethtool_value off = { .cmd = features[i] };
		struct ifreq request = { 0 };

		strncpy(request.ifr_name, device, IFNAMSIZ - 1);
		request.ifr_data = (void *)&off;
		if (ioctl(s, SIOCETHTOOL, &request)) {
			perror("ethtool");
			return 1;
		}
	}
	return 0;
}

static int serve(int port)
{
	struct sockaddr_in any = { .sin_family = AF_INET, .sin_port = htons(port) };
	int listener = socket(AF_INET, SOCK_STREAM, 0), one = 1;

	setsockopt(listener, SOL_SOCKET, SO_REUSEADDR, &one, sizeof one);
	if (bind(listener, (void *)&any, sizeof any) || listen(listener, 512)) {
		perror("listen");
		return 1;
	}
	signal(SIGCHLD, SIG_IGN);
	for (;;) {
		int s = accept(listener, NULL, NULL);

		if (s < 0)
			continue;
		if (!fork()) {
			close(listener);
			while (recv(s, buffer, sizeof buffer, MSG_TRUNC) > 0)
				;
			_exit(0);
		}
		close(s);
	}
}

static void flow(char **args, long long start, long long end)
{
	struct sockaddr_in peer = { .sin_family = AF_INET, .sin_port = htons(atoi(args[1])) };
	int s;

	prctl(PR_SET_TIMERSLACK, 1);
	sleep_until(start);
	s = socket(AF_INET, SOCK_STREAM, 0);
	inet_aton(args[0], &peer.sin_addr);
	if (setsockopt(s, IPPROTO_TCP, TCP_CONGESTION, args[2], strlen(args[2])) || connect(s, (void *)&peer, sizeof peer)) {
		perror(args[2]);
		_exit(1);
	}
	if (!fork()) {
		while (now() < end && send(s, buffer, sizeof buffer, MSG_NOSIGNAL) > 0)
			;
		_exit(0);
	}
	sleep_until(end);
	_exit(0);
}

static int send_all(char **args, int count, char **starts)
{
	long long begin = now(), end = begin + atoll(args[3]) * 1000000000LL;

	for (int i = 0; i < count; i++)
		if (!fork())
			flow(args, begin + atoll(starts[i]) * 1000, end);
	while (wait(NULL) > 0)
		;
	return 0;
}

static void print_discipline(FILE *file, struct nlmsghdr *header)
{
	struct tcmsg *message = NLMSG_DATA(header);
	int length = header->nlmsg_len - NLMSG_LENGTH(sizeof *message);
	struct rtattr *all = (void *)((char *)message + NLMSG_ALIGN(sizeof *message));
	struct gnet_stats_queue queue = { 0 };
	struct gnet_stats_basic basic = { 0 };

	for (; RTA_OK(all, length); all = RTA_NEXT(all, length)) {
		int inner = RTA_PAYLOAD(all);

		if (all->rta_type != TCA_STATS2)
			continue;
		for (struct rtattr *one = RTA_DATA(all); RTA_OK(one, inner); one = RTA_NEXT(one, inner)) {
			if (one->rta_type == TCA_STATS_QUEUE)
				memcpy(&queue, RTA_DATA(one), sizeof queue);
			if (one->rta_type == TCA_STATS_BASIC)
				memcpy(&basic, RTA_DATA(one), sizeof basic);
		}
	}
	fprintf(file, " %x %u %u %u %llu %u", message->tcm_handle >> 16, queue.qlen, queue.backlog, queue.drops,
		(unsigned long long)basic.bytes, basic.packets);
}

static int watch(const char *device, long long period, long count, const char *name)
{
	static char lines[1 << 20];
	int index = if_nametoindex(device), s = socket(AF_NETLINK, SOCK_RAW, NETLINK_ROUTE);
	FILE *file = fopen(name, "w");
	long long at = now();

	if (!file || s < 0)
		return 1;
	prctl(PR_SET_TIMERSLACK, 1);
	setvbuf(file, lines, _IOFBF, sizeof lines);
	for (long i = 0; i < count; i++) {
		struct {
			struct nlmsghdr header;
			struct tcmsg message;
		} request = { { sizeof request, RTM_GETQDISC, NLM_F_REQUEST | NLM_F_DUMP, i, 0 }, { .tcm_ifindex = index } };
		int done = 0;

		sleep_until(at += period);
		if (send(s, &request, sizeof request, 0) < 0)
			return 1;
		fprintf(file, "%lld", now());
		while (!done) {
			int left = recv(s, buffer, sizeof buffer, 0);

			if (left <= 0)
				return 1;
			for (struct nlmsghdr *h = (void *)buffer; !done && NLMSG_OK(h, left); h = NLMSG_NEXT(h, left)) {
				done = h->nlmsg_type == NLMSG_DONE || h->nlmsg_type == NLMSG_ERROR;
				if (!done && ((struct tcmsg *)NLMSG_DATA(h))->tcm_ifindex == index)
					print_discipline(file, h);
			}
		}
		fputc('\n', file);
	}
	return fclose(file);
}

int main(int count, char **args)
{
	if (count == 3 && !strcmp(args[1], "plain"))
		return plain(args[2]);
	if (count == 3 && !strcmp(args[1], "serve"))
		return serve(atoi(args[2]));
	if (count > 6 && !strcmp(args[1], "send"))
		return send_all(args + 2, count - 6, args + 6);
	if (count == 6 && !strcmp(args[1], "queue"))
		return watch(args[2], atoll(args[3]) * 1000, atol(args[4]), args[5]);
	return 2;
}
