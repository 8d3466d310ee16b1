/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * The way into the Rust library, and the way out of it when it panics.
 *
 * int gqk_enter(unsigned long *stack, struct GqkCall *call);
 *	Calls gqk_work(call). Returns 0 when that returns, and 1 when gqk_escape(stack) was called
 *	meanwhile. What must survive is kept on the stack, whose place goes to *stack.
 *
 * void gqk_escape(unsigned long *stack);
 *	Gives up everything above gqk_enter and returns from there.
 */
#include <linux/linkage.h>
#include <linux/objtool.h>
#ifdef CONFIG_UML
#define RET ret
#else
#include <asm/nospec-branch.h>
#endif

	.text

SYM_FUNC_START(gqk_enter)
	pushq	%rbp
	movq	%rsp, %rbp
	pushq	%rbx
	pushq	%r12
	pushq	%r13
	pushq	%r14
	pushq	%r15
	movq	%rbp, (%rdi)
	movq	%rsi, %rdi
	/* The kernel keeps the stack at multiples of 8, Rust wants 16. */
	andq	$-16, %rsp
	call	gqk_work
	xorl	%eax, %eax
	leaq	-40(%rbp), %rsp
	popq	%r15
	popq	%r14
	popq	%r13
	popq	%r12
	popq	%rbx
	popq	%rbp
	RET
SYM_FUNC_END(gqk_enter)

SYM_FUNC_START(gqk_escape)
	movq	(%rdi), %rbp
	leaq	-40(%rbp), %rsp
	movl	$1, %eax
	popq	%r15
	popq	%r14
	popq	%r13
	popq	%r12
	popq	%rbx
	popq	%rbp
	RET
SYM_FUNC_END(gqk_escape)
	/* It leaves by another frame than the one it was called in. */
	STACK_FRAME_NON_STANDARD gqk_escape
