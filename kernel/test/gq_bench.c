// SPDX-License-Identifier: GPL-2.0 OR MIT
/*
 * What the root queue discipline of bench0 costs: reading /proc/gq_bench pushes PACKETS packets
 * through it, with DEPTH of them waiting, and says how many ticks of the processor's counter the
 * calls of enqueue and dequeue took, and two readings of the counter alone.
 */
#include <linux/etherdevice.h>
#include <linux/ip.h>
#include <linux/module.h>
#include <linux/netdevice.h>
#include <linux/proc_fs.h>
#include <linux/rtnetlink.h>
#include <linux/seq_file.h>
#include <linux/udp.h>
#include <asm/msr.h>
#include <net/ip.h>
#include <net/pkt_sched.h>
#include <net/sch_generic.h>

enum { PACKETS = 20000, DEPTH = 30, FLOWS = 16, LENGTH = 1000, BATCH = 64 };

static struct net_device *dev;

static netdev_tx_t bench_xmit(struct sk_buff *skb, struct net_device *on)
{
	dev_kfree_skb(skb);
	return NETDEV_TX_OK;
}

static struct sk_buff *bench_packet(unsigned int number)
{
	struct sk_buff *skb = alloc_skb(LL_RESERVED_SPACE(dev) + LENGTH, GFP_KERNEL);
	struct udphdr *udp;
	struct iphdr *ip;

	if (!skb)
		return NULL;
	skb_reserve(skb, LL_RESERVED_SPACE(dev));
	skb_reset_network_header(skb);
	ip = skb_put_zero(skb, LENGTH);
	udp = (struct udphdr *)(ip + 1);
	ip->version = 4;
	ip->ihl = 5;
	ip->tos = 2;
	ip->tot_len = htons(LENGTH);
	ip->ttl = 64;
	ip->protocol = IPPROTO_UDP;
	ip->saddr = htonl(0x0a000001 + number % FLOWS);
	ip->daddr = htonl(0x0a010001);
	ip_send_check(ip);
	udp->source = htons(5000 + number % FLOWS);
	udp->dest = htons(6000);
	udp->len = htons(LENGTH - sizeof(*ip));
	skb->protocol = htons(ETH_P_IP);
	skb->dev = dev;
	/* As a card with receive-side scaling says it; so nobody has to look into the headers. */
	skb_set_hash(skb, (number % FLOWS + 1) * 0x9e3779b1, PKT_HASH_TYPE_L4);
	dev_hard_header(skb, dev, ETH_P_IP, dev->dev_addr, dev->dev_addr, skb->len);
	skb_reset_mac_header(skb);
	qdisc_skb_cb(skb)->pkt_len = skb->len;
	return skb;
}

static int bench_show(struct seq_file *file, void *data)
{
	u64 in = 0, out = 0, empty = 0, from;
	unsigned int number, left = 0;
	struct sk_buff *skb, *to_free;
	struct Qdisc *root;

	rtnl_lock();
	root = rtnl_dereference(dev->qdisc);
	for (number = 0; number < PACKETS; number++) {
		skb = bench_packet(number);
		if (!skb)
			break;
		to_free = NULL;
		local_bh_disable();
		spin_lock(qdisc_lock(root));
		from = rdtsc_ordered();
		empty += rdtsc_ordered() - from;
		from = rdtsc_ordered();
		root->enqueue(skb, root, &to_free);
		in += rdtsc_ordered() - from;
		skb = NULL;
		if (number >= DEPTH) {
			from = rdtsc_ordered();
			skb = root->dequeue(root);
			out += rdtsc_ordered() - from;
		}
		spin_unlock(qdisc_lock(root));
		local_bh_enable();
		left += !!skb;
		kfree_skb(skb);
		kfree_skb_list(to_free);
		if (number % BATCH == 0)
			cond_resched();
	}
	rtnl_unlock();
	seq_printf(file, "%u %llu %llu %llu %u\n", number, in, out, empty, left);
	return 0;
}

static const struct net_device_ops bench_ops = {
	.ndo_start_xmit = bench_xmit,
};

static int __init bench_init(void)
{
	int err;

	dev = alloc_netdev(0, "bench0", NET_NAME_PREDICTABLE, ether_setup);
	if (!dev)
		return -ENOMEM;
	dev->netdev_ops = &bench_ops;
	dev->flags |= IFF_NOARP;
	err = register_netdev(dev);
	if (err) {
		free_netdev(dev);
		return err;
	}
	if (!proc_create_single("gq_bench", 0400, NULL, bench_show)) {
		unregister_netdev(dev);
		free_netdev(dev);
		return -ENOMEM;
	}
	return 0;
}

static void __exit bench_exit(void)
{
	remove_proc_entry("gq_bench", NULL);
	unregister_netdev(dev);
	free_netdev(dev);
}

module_init(bench_init);
module_exit(bench_exit);
MODULE_DESCRIPTION("Cost of a queue discipline");
MODULE_LICENSE("Dual MIT/GPL");
