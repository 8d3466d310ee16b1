/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * Inside a guest: drive SCHEDULE OUT [MAJOR]. Sends a frame on in0 at each time of the schedule (lines of: nanoseconds, IP length, flow, codepoint, and for a
 * TCP acknowledgement its words, see `struct ack`), then writes what the discipline `record` noted: a line for each note, with the kernel's time.
 *
 *   + TIME LENGTH FLOW CODEPOINT HASH HASH DRAWS [words of the acknowledgement]
 *                                          a packet arrives, after so many random draws; packets are numbered from 0 in this order
 *   - NUMBER, ! NUMBER                       it is dropped, marked: in the arrival, or the request, before
 *   ? TIME QUEUE                             the discipline is asked for a packet, of that transmit queue where it has several
 *   > NUMBER                                 it gives one
 *   ~ TIME                                   a timer of it is set
 *   * TIME                                   it was made
 *
 * With MAJOR (hexadecimal) packets of flow f ask for class f of that discipline.
 * Packets of flow f have class selector f mod 8 (EF for 5, the one of its codepoints that is in use), come from host f div 8 mod 8 and go to host f div 64.
 */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <linux/if_ether.h>
#include <linux/if_packet.h>
#include <net/if.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <time.h>

enum { IP = ETH_HLEN, LONGEST = 1600, MOST = 200000, RANGES = 3, ACK_WORDS = 3 + 2 * RANGES };
static const int64_t SECOND = 1000000000;

/* In a schedule: the number, the time stamp it echoes, 1 for an echo of congestion, and starts and ends of SACK ranges, zeros for none. */
struct ack {
	unsigned int number, echoed, echo, ranges[2 * RANGES];
};

struct packet {
	int64_t scheduled;
	int length, flow, codepoint;
	/* Is it TCP and nothing but an acknowledgement, or else UDP? */
	int acknowledges;
	struct ack ack;
};

/* As the kernel's discipline writes it. */
struct note {
	uint64_t time;
	uint32_t number, what, beside[2], length, draws;
};

static struct packet packets[MOST];
static uint32_t count;

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
	return device;
}

static void put16(unsigned char *at, unsigned int value)
{
	at[0] = (unsigned char)(value >> 8);
	at[1] = (unsigned char)value;
}

static void put32(unsigned char *at, unsigned int value)
{
	put16(at, value >> 16);
	put16(at + 2, value & 0xffff);
}

static int ranges_of(const struct ack *ack)
{
	int ranges = 0;

	while (ranges < RANGES && ack->ranges[2 * ranges + 1])
		ranges++;
	return ranges;
}

/* Bytes of IPv4 and TCP headers with options: two fillers and time stamps, two fillers and SACK ranges. */
static int headers_of(const struct ack *ack)
{
	int ranges = ranges_of(ack);

	return 20 + 20 + 12 + (ranges ? 4 + 8 * ranges : 0);
}

static void build_tcp(unsigned char *tcp, const struct packet *packet)
{
	const struct ack *ack = &packet->ack;
	int ranges = ranges_of(ack), range;

	put16(tcp, 10000 + (unsigned int)packet->flow);
	put16(tcp + 2, 5000);
	put32(tcp + 4, 1);
	put32(tcp + 8, ack->number);
	tcp[12] = (unsigned char)((headers_of(ack) - 20) / 4 << 4);
	/* ACK and ECE. */
	tcp[13] = (unsigned char)(0x10 | (ack->echo ? 0x40 : 0));
	put16(tcp + 14, 0xffff);
	tcp[20] = tcp[21] = 1;
	tcp[22] = 8;
	tcp[23] = 10;
	put32(tcp + 24, 1);
	put32(tcp + 28, ack->echoed);
	if (!ranges)
		return;
	tcp[32] = tcp[33] = 1;
	tcp[34] = 5;
	tcp[35] = (unsigned char)(2 + 8 * ranges);
	for (range = 0; range < 2 * ranges; range++)
		put32(tcp + 36 + 4 * range, ack->ranges[range]);
}

static void build(unsigned char *frame, const struct packet *packet)
{
	unsigned char *ip = frame + IP, *udp = ip + 20;
	int flow = packet->flow, class = flow % 8, at;
	uint32_t sum = 0;

	memset(frame, 0, LONGEST);
	frame[0] = frame[6] = 2;
	frame[5] = 2;
	frame[11] = 1;
	put16(frame + 12, ETH_P_IP);
	ip[0] = 0x45;
	ip[1] = (unsigned char)((class == 5 ? 46 << 2 : class << 5) | packet->codepoint);
	put16(ip + 2, (unsigned int)packet->length);
	ip[8] = 64;
	ip[9] = packet->acknowledges ? IPPROTO_TCP : IPPROTO_UDP;
	ip[12] = ip[16] = 10;
	ip[14] = (unsigned char)(flow / 8 % 8);
	ip[17] = 1;
	ip[18] = (unsigned char)(flow / 64);
	ip[15] = 1;
	ip[19] = 2;
	for (at = 0; at < 20; at += 2)
		sum += (uint32_t)(ip[at] << 8 | ip[at + 1]);
	sum = (sum & 0xffff) + (sum >> 16);
	put16(ip + 10, ~sum & 0xffff);
	if (packet->acknowledges) {
		build_tcp(udp, packet);
		return;
	}
	put16(udp, 10000 + (unsigned int)flow);
	put16(udp + 2, 5000);
	put16(udp + 4, (unsigned int)packet->length - 20);
}

static void read_schedule(const char *path)
{
	FILE *file = fopen(path, "r");
	char line[256];

	if (!file)
		stop(path);
	while (count < MOST && fgets(line, sizeof(line), file)) {
		struct packet *packet = &packets[count];
		struct ack *ack = &packet->ack;
		unsigned int *r = ack->ranges;
		long long at;
		int words = sscanf(line, "%lld %d %d %d %u %u %u %u %u %u %u %u %u", &at, &packet->length, &packet->flow, &packet->codepoint,
				   &ack->number, &ack->echoed, &ack->echo, r, r + 1, r + 2, r + 3, r + 4, r + 5);

		packet->acknowledges = words == 4 + ACK_WORDS;
		if ((words != 4 && !packet->acknowledges) || (packet->acknowledges && packet->length != headers_of(ack))) {
			fprintf(stderr, "line %u of the schedule is not understood: %s", count + 1, line);
			exit(1);
		}
		packet->scheduled = at;
		count++;
	}
	fclose(file);
}

static void write_ack(FILE *to, const struct ack *ack)
{
	int word;

	fprintf(to, " %u %u %u", ack->number, ack->echoed, ack->echo);
	for (word = 0; word < 2 * RANGES; word++)
		fprintf(to, " %u", ack->ranges[word]);
}

static void write_notes(const char *path)
{
	FILE *from = fopen("/proc/gq_record", "r"), *to = fopen(path, "w");
	uint32_t arrived = 0;
	struct note note;

	if (!from || !to)
		stop(path);
	while (fread(&note, sizeof(note), 1, from) == 1) {
		const struct packet *packet = &packets[note.number < count ? note.number : 0];

		switch (note.what) {
		case '+':
			if (note.number >= count || (int)note.length != packet->length + ETH_HLEN) {
				fprintf(stderr, "packet %u is not one of the schedule\n", note.number);
				exit(1);
			}
			arrived++;
			fprintf(to, "+ %llu %u %d %d %u %u %u", (unsigned long long)note.time, note.length, packet->flow, packet->codepoint,
				note.beside[0], note.beside[1], note.draws);
			if (packet->acknowledges)
				write_ack(to, &packet->ack);
			fputc('\n', to);
			break;
		case '?':
			fprintf(to, "? %llu %u\n", (unsigned long long)note.time, note.number);
			break;
		case '~':
		case '*':
			fprintf(to, "%c %llu\n", (char)note.what, (unsigned long long)note.time);
			break;
		default:
			fprintf(to, "%c %u\n", (char)note.what, note.number);
		}
	}
	if (arrived != count) {
		fprintf(stderr, "%u of %u packets arrived at the discipline\n", arrived, count);
		exit(1);
	}
	fclose(from);
	if (fclose(to))
		stop(path);
}

static void ask_for_class(int device, uint32_t class)
{
	if (setsockopt(device, SOL_SOCKET, SO_PRIORITY, &class, sizeof(class)) < 0)
		stop("SO_PRIORITY");
}

int main(int argc, char **argv)
{
	static unsigned char frame[LONGEST];
	struct timespec at;
	uint32_t number, major = 0;
	int64_t zero;
	int in;

	if (argc != 3 && argc != 4)
		return 2;
	if (argc == 4)
		major = (uint32_t)strtoul(argv[3], NULL, 16) << 16;
	read_schedule(argv[1]);
	/* Otherwise timers are late by 50 us. */
	prctl(PR_SET_TIMERSLACK, 1);
	in = open_device("in0");
	zero = (now(CLOCK_REALTIME) / SECOND + 2) * SECOND;
	for (number = 0; number < count; number++) {
		int64_t due = zero + packets[number].scheduled;

		build(frame, &packets[number]);
		if (major)
			ask_for_class(in, major | (uint32_t)packets[number].flow);
		at.tv_sec = due / SECOND;
		at.tv_nsec = due % SECOND;
		while (clock_nanosleep(CLOCK_REALTIME, TIMER_ABSTIME, &at, NULL) == EINTR)
			;
		/* A queue that is full says so here. */
		if (send(in, frame, (size_t)packets[number].length + ETH_HLEN, 0) < 0 && errno != ENOBUFS)
			stop("send");
	}
	/* What waits leaves within this. */
	at.tv_sec = 20;
	at.tv_nsec = 0;
	nanosleep(&at, NULL);
	write_notes(argv[2]);
	return 0;
}
