/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * Put before User-Mode Linux's arch/x86/um/os-Linux/registers.c, whose PTRACE_SETREGSET becomes gq_set_xstate.
 *
 * User-Mode Linux keeps 2696 bytes of a process's extended state (up to AVX-512 and protection keys). Where the processor has more
 * (AMX: 11008 bytes), the host takes all of it or nothing (EFAULT). What is beyond belongs to features that a process has to ask its kernel
 * for, which guests cannot, so it is in its first state: zeroes, and no bit in the header.
 */
#include <string.h>
#include <sys/ptrace.h>
#include <sys/uio.h>
#include <linux/elf.h>

static long gq_set_xstate(int pid, struct iovec *kept)
{
	static unsigned long all[4096];
	static size_t size;
	struct iovec whole = { .iov_base = all, .iov_len = sizeof(all) };

	if (size == 0) {
		if (ptrace(PTRACE_GETREGSET, pid, NT_X86_XSTATE, &whole) < 0)
			return -1;
		size = whole.iov_len;
		memset(all, 0, sizeof(all));
	}
	if (size <= kept->iov_len)
		return ptrace(PTRACE_SETREGSET, pid, NT_X86_XSTATE, kept);
	memcpy(all, kept->iov_base, kept->iov_len);
	whole.iov_len = size;
	return ptrace(PTRACE_SETREGSET, pid, NT_X86_XSTATE, &whole);
}

