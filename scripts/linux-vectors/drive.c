/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * Inside a guest: drive SCHEDULE OUT. Sends a frame on in0 at each time of the schedule (lines of: nanoseconds, IP length, flow, codepoint), and
 * notes what comes out of out0, and when. Writes "# T0" (the monotonic clock at time zero), then a line a packet: number, scheduled, sent,
 * received (-1: never), IP length, flow, codepoint, TOS byte received.
 */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <linux/if_ether.h>
#include <linux/if_packet.h>
#include <net/if.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <time.h>

enum { HEADERS = ETH_HLEN + 20 + 8, LONGEST = 1600, MOST = 200000 };
static const int64_t SECOND = 1000000000;

struct packet {
	int64_t scheduled, sent, received;
	int length, flow, codepoint, tos;
};

static struct packet packets[MOST];
static unsigned int count;
static int64_t zero;

static void stop(const char *what)
{
	perror(what);
	exit(1);
}

static int64_t now(clockid_t clock)
{
	struct timespec at;

	clock_gettime(clock, &at);
	return at.tv_sec * SECOND + at.tv_nsec;
}

static int open_device(const char *name)
{
	struct sockaddr_ll address = {
		.sll_family = AF_PACKET,
		.sll_protocol = htons(ETH_P_IP),
		.sll_ifindex = (int)if_nametoindex(name),
	};
	int room = 64 << 20;
	int device = socket(AF_PACKET, SOCK_RAW, 0);

	if (device < 0 || bind(device, (struct sockaddr *)&address, sizeof(address)) < 0)
		stop(name);
	setsockopt(device, SOL_SOCKET, SO_SNDBUFFORCE, &room, sizeof(room));
	setsockopt(device, SOL_SOCKET, SO_RCVBUFFORCE, &room, sizeof(room));
	return device;
}

static void note(const unsigned char *frame, ssize_t length, struct msghdr *message)
{
	struct cmsghdr *part;
	struct timespec at;
	uint32_t number;

	if (length < HEADERS + 4)
		return;
	memcpy(&number, frame + HEADERS, sizeof(number));
	if (number >= count)
		return;
	for (part = CMSG_FIRSTHDR(message); part; part = CMSG_NXTHDR(message, part)) {
		if (part->cmsg_level != SOL_SOCKET || part->cmsg_type != SO_TIMESTAMPNS)
			continue;
		memcpy(&at, CMSG_DATA(part), sizeof(at));
		packets[number].received = at.tv_sec * SECOND + at.tv_nsec - zero;
		packets[number].tos = frame[ETH_HLEN + 1];
	}
}

static void *listen_to(void *device)
{
	unsigned char frame[LONGEST];
	char control[256];

	for (;;) {
		struct iovec room = { frame, sizeof(frame) };
		struct msghdr message = {
			.msg_iov = &room, .msg_iovlen = 1, .msg_control = control, .msg_controllen = sizeof(control),
		};
		ssize_t length = recvmsg(*(int *)device, &message, 0);

		if (length < 0 && errno != EINTR)
			stop("recvmsg");
		note(frame, length, &message);
	}
	return NULL;
}

static void build(unsigned char *frame, uint32_t number)
{
	const struct packet *packet = &packets[number];
	unsigned char *ip = frame + ETH_HLEN, *udp = ip + 20;
	int data = packet->length - 20, from = 10000 + packet->flow;
	uint32_t sum = 0;
	int at;

	memset(frame, 0, HEADERS);
	frame[0] = frame[6] = 2;
	frame[5] = 2;
	frame[11] = 1;
	frame[12] = ETH_P_IP >> 8;
	ip[0] = 0x45;
	ip[1] = (unsigned char)packet->codepoint;
	ip[2] = (unsigned char)(packet->length >> 8);
	ip[3] = (unsigned char)packet->length;
	ip[8] = 64;
	ip[9] = IPPROTO_UDP;
	ip[12] = ip[16] = 10;
	ip[15] = 1;
	ip[19] = 2;
	for (at = 0; at < 20; at += 2)
		sum += (uint32_t)(ip[at] << 8 | ip[at + 1]);
	sum = (sum & 0xffff) + (sum >> 16);
	ip[10] = (unsigned char)(~sum >> 8);
	ip[11] = (unsigned char)~sum;
	udp[0] = (unsigned char)(from >> 8);
	udp[1] = (unsigned char)from;
	udp[2] = 5000 >> 8;
	udp[3] = 5000 & 255;
	udp[4] = (unsigned char)(data >> 8);
	udp[5] = (unsigned char)data;
	memcpy(frame + HEADERS, &number, sizeof(number));
}

static void read_schedule(const char *path)
{
	FILE *file = fopen(path, "r");
	long long at;

	if (!file)
		stop(path);
	while (count < MOST) {
		struct packet *packet = &packets[count];

		if (fscanf(file, "%lld %d %d %d", &at, &packet->length, &packet->flow, &packet->codepoint) != 4)
			break;
		packet->scheduled = at;
		packet->received = -1;
		count++;
	}
	fclose(file);
}

int main(int argc, char **argv)
{
	static unsigned char frame[LONGEST];
	int in, out, one = 1;
	int64_t before, after, wall, offset;
	struct timespec at;
	pthread_t listener;
	uint32_t number;
	FILE *file;

	if (argc != 3)
		return 2;
	read_schedule(argv[1]);
	/* Otherwise timers are late by 50 us. */
	prctl(PR_SET_TIMERSLACK, 1);
	in = open_device("in0");
	out = open_device("out0");
	setsockopt(out, SOL_SOCKET, SO_TIMESTAMPNS, &one, sizeof(one));
	zero = (now(CLOCK_REALTIME) / SECOND + 2) * SECOND;
	if (pthread_create(&listener, NULL, listen_to, &out))
		stop("pthread_create");
	/* Reading a clock takes a quantum of time. */
	before = now(CLOCK_MONOTONIC);
	wall = now(CLOCK_REALTIME);
	after = now(CLOCK_MONOTONIC);
	offset = wall - (before + after) / 2;
	for (number = 0; number < count; number++) {
		int64_t due = zero + packets[number].scheduled;

		build(frame, number);
		at.tv_sec = due / SECOND;
		at.tv_nsec = due % SECOND;
		while (clock_nanosleep(CLOCK_REALTIME, TIMER_ABSTIME, &at, NULL) == EINTR)
			;
		packets[number].sent = now(CLOCK_REALTIME) - zero;
		/* A queue that is full says so here: the packet is then one that was never received. */
		if (send(in, frame, (size_t)packets[number].length + ETH_HLEN, 0) < 0 && errno != ENOBUFS)
			stop("send");
	}
	/* What waits leaves within this. */
	at.tv_sec = 20;
	at.tv_nsec = 0;
	nanosleep(&at, NULL);
	file = fopen(argv[2], "w");
	if (!file)
		stop(argv[2]);
	fprintf(file, "# %lld\n", (long long)(zero - offset));
	for (number = 0; number < count; number++) {
		const struct packet *packet = &packets[number];

		fprintf(file, "%u %lld %lld %lld %d %d %d %d\n", number, (long long)packet->scheduled, (long long)packet->sent,
			(long long)packet->received, packet->length, packet->flow, packet->codepoint, packet->tos);
	}
	return fclose(file) ? 1 : 0;
}
