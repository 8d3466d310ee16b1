/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * Put before arch/um/os-Linux/util.c, whose call of getrandom it takes: with GQ_SEED in the environment the kernel's random
 * numbers follow from that number, so that a run can be repeated; without it nothing changes.
 */
static ssize_t gq_getrandom(void *buffer, size_t length, unsigned int flags)
{
	static unsigned long long state;
	static int known;
	const char *seed = getenv("GQ_SEED");
	unsigned char *byte = buffer;
	size_t i;

	if (!seed)
		return getrandom(buffer, length, flags);
	if (!known) {
		state = strtoull(seed, NULL, 10);
		known = 1;
	}
	for (i = 0; i < length; i++) {
		unsigned long long z = (state += 0x9E3779B97F4A7C15ull);

		z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9ull;
		z = (z ^ (z >> 27)) * 0x94D049BB133111EBull;
		byte[i] = (z ^ (z >> 31)) >> 24;
	}
	return length;
}
