// SPDX-License-Identifier: MIT OR Apache-2.0
/*
 * The random draws of the queue disciplines (net/sched is compiled with their names replaced by these). With gq_draws=SEED on the
 * command line value k = 1, 2, ... is mix(SEED + k * 0x9E3779B97F4A7C15), splitmix64, narrower values its upper bits: a reference
 * outside can then know every draw. Without it they are the kernel's own.
 */
#include <linux/init.h>
#include <linux/kernel.h>
#include <linux/minmax.h>
#include <linux/random.h>
#include <linux/string.h>

static u64 state;
static u32 made;
static bool known;

static int __init gq_draws(char *text)
{
	known = kstrtou64(text, 10, &state) == 0;
	return 1;
}
__setup("gq_draws=", gq_draws);

static u64 next(void)
{
	u64 z = (state += 0x9E3779B97F4A7C15ULL);

	made++;
	z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9ULL;
	z = (z ^ (z >> 27)) * 0x94D049BB133111EBULL;
	return z ^ (z >> 31);
}

u32 gq_draws_made(void);
u8 gq_random_u8(void);
u16 gq_random_u16(void);
u32 gq_random_u32(void);
u64 gq_random_u64(void);
u32 gq_random_u32_below(u32 ceil);
void gq_random_bytes(void *buffer, size_t length);

u32 gq_draws_made(void)
{
	return made;
}

u8 gq_random_u8(void)
{
	return known ? next() >> 56 : get_random_u8();
}

u16 gq_random_u16(void)
{
	return known ? next() >> 48 : get_random_u16();
}

u32 gq_random_u32(void)
{
	return known ? next() >> 32 : get_random_u32();
}

u64 gq_random_u64(void)
{
	return known ? next() : get_random_u64();
}

u32 gq_random_u32_below(u32 ceil)
{
	return known ? ((next() >> 32) * ceil) >> 32 : get_random_u32_below(ceil);
}

void gq_random_bytes(void *buffer, size_t length)
{
	if (!known)
		return get_random_bytes(buffer, length);
	while (length) {
		u64 value = next();
		size_t part = min_t(size_t, length, 8);

		memcpy(buffer, &value, part);
		buffer += part;
		length -= part;
	}
}
