/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * traffic COUNT FIRST-PORT [ADDRESS]: COUNT datagrams from seven flows to ADDRESS, IPv4 and IPv6 in
 * turn (10.7.0.2 and fd00:7::2; IPv4 alone where there is no other), of changing size, ECN and DSCP.
 * With DSCP=N in the environment all have that one; with PACE=N one is sent every N microseconds,
 * otherwise as fast as they go.
 */
#include <arpa/inet.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

enum { FLOWS = 7, LARGEST = 1400 };

int main(int argc, char **argv)
{
	static char data[LARGEST];
	int sockets[FLOWS], n, sent = 0, count = argc > 1 ? atoi(argv[1]) : 1000, port = argc > 2 ? atoi(argv[2]) : 5000;
	const char *dscp = getenv("DSCP"), *pace = getenv("PACE");
	struct timespec gap = { .tv_nsec = pace ? atol(pace) * 1000 : 0 };
	int probe = socket(AF_INET6, SOCK_DGRAM, 0), has_v6 = probe >= 0;

	if (has_v6)
		close(probe);
	for (n = 0; n < FLOWS; n++) {
		int is_v6 = has_v6 && n % 2;
		struct sockaddr_in v4 = { .sin_family = AF_INET, .sin_port = htons(port + n) };
		struct sockaddr_in6 v6 = { .sin6_family = AF_INET6, .sin6_port = htons(port + n) };

		inet_pton(AF_INET, "10.7.0.2", &v4.sin_addr);
		inet_pton(AF_INET6, "fd00:7::2", &v6.sin6_addr);
		sockets[n] = socket(is_v6 ? AF_INET6 : AF_INET, SOCK_DGRAM, 0);
		if (sockets[n] < 0 || connect(sockets[n], is_v6 ? (void *)&v6 : (void *)&v4, is_v6 ? sizeof(v6) : sizeof(v4))) {
			perror("traffic");
			return 1;
		}
	}
	for (n = 0; n < count; n++) {
		int flow = n % FLOWS, field = (dscp ? atoi(dscp) : n * 5 % 48) << 2 | (n / FLOWS) % 4, is_v6 = has_v6 && flow % 2;

		setsockopt(sockets[flow], is_v6 ? IPPROTO_IPV6 : IPPROTO_IP, is_v6 ? IPV6_TCLASS : IP_TOS, &field, sizeof(field));
		if (pace)
			nanosleep(&gap, NULL);
		sent += send(sockets[flow], data, 40 + n * 37 % (LARGEST - 40), MSG_DONTWAIT) > 0;
	}
	printf("%d\n", sent);
	return 0;
}
