/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * What the library calls and returns by. A kernel on bare processors has thunks against
 * speculation; User-Mode Linux is a process and has none, so these just go there.
 */
#include <linux/linkage.h>

	.text

.irp register, rax, rbx, rcx, rdx, rsi, rdi, rbp, r8, r9, r10, r11, r12, r13, r14, r15
	.globl	__x86_indirect_thunk_\register
__x86_indirect_thunk_\register:
	jmp	*%\register
.endr

	.globl	__x86_return_thunk
__x86_return_thunk:
	ret

	.section .note.GNU-stack, "", @progbits
