// Preloaded into packetdrill in the guest, which has one processor and whose time stands still while
// it computes. Waiting there by yielding, by looking for the next tick, or with real-time priority
// would never end: these calls sleep for a moment, and priorities stay as they are. Fields of
// tcp_info that this kernel does not have are zero.

#define _GNU_SOURCE
#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sched.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/times.h>
#include <time.h>
#include <unistd.h>

static int pause_for(long nanoseconds)
{
	struct timespec span = { .tv_sec = 0, .tv_nsec = nanoseconds };

	return nanosleep(&span, NULL);
}

int sched_yield(void)
{
	return pause_for(1000);
}

// A tick is looked for at the begin of each script; it is found within this time.
clock_t times(struct tms *buffer)
{
	pause_for(50000);
	return syscall(SYS_times, buffer);
}

int sched_setscheduler(pid_t pid, int policy, const struct sched_param *param)
{
	(void)pid;
	(void)policy;
	(void)param;
	errno = EPERM;
	return -1;
}

int getsockopt(int socket, int level, int name, void *value, socklen_t *length)
{
	socklen_t asked = length ? *length : 0;
	int done;

	if (level != IPPROTO_TCP || name != TCP_INFO || !value)
		return syscall(SYS_getsockopt, socket, level, name, value, length);
	memset(value, 0, asked);
	done = syscall(SYS_getsockopt, socket, level, name, value, length);
	if (!done)
		*length = asked;
	return done;
}
