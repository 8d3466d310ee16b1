// SPDX-License-Identifier: GPL-2.0 OR MIT
/*
 * port0: a network device of the guest kernel whose line is a program outside.
 *
 * Frames with EtherType 0x88b5 that arrive on a card are orders of that program. An offered packet
 * goes through port0 as any packet does, by dev_queue_xmit() into the root queue discipline. The
 * device is busy until the program asks for a packet; then it takes one and is busy again. Each
 * order is answered by one frame: what left, what was dropped meanwhile, and the kernel's time.
 */
#include <linux/etherdevice.h>
#include <linux/init.h>
#include <linux/ip.h>
#include <linux/ktime.h>
#include <linux/module.h>
#include <linux/netdevice.h>
#include <linux/skbuff.h>
#include <net/pkt_sched.h>
#include <net/sch_generic.h>

#define ORDERS	0x88b5
#define NOTHING	U32_MAX

enum { OFFER = 1, TAKE = 2, LOOK = 3 };

/* All numbers are of this machine, as both sides are on it. */
struct order {
	u32 what;
	/* Of the packet that is offered: its name, what the card would say of its flow, its length. */
	u32 number;
	u32 hash;
	u32 length;
	/* Its first bytes, from the network header on; the others are zeros. */
	u8 bytes[];
} __packed;

struct answer {
	u64 time;
	/* The packet that left, or NOTHING, and its field of DSCP and ECN. */
	u32 left;
	u32 field;
	/* Packets that the queue discipline has now. */
	u32 waiting;
	/* What the queue discipline keeps beside the packet that was offered, if it has it still. */
	u32 beside[5];
	u32 dropped;
	u32 numbers[];
} __packed;

#define MOST_DROPS	((ETH_DATA_LEN - sizeof(struct answer)) / sizeof(u32))

static struct net_device *port;
/* What happens during an order; there is one processor. */
static u32 left, field, dropped;
static u32 numbers[MOST_DROPS];

static void port_released(struct sk_buff *skb)
{
	if (dropped < MOST_DROPS)
		numbers[dropped] = skb->mark;
	dropped++;
}

static netdev_tx_t port_xmit(struct sk_buff *skb, struct net_device *dev)
{
	netif_stop_queue(dev);
	left = skb->mark;
	field = ip_hdr(skb)->tos;
	skb->destructor = NULL;
	consume_skb(skb);
	return NETDEV_TX_OK;
}

/* Also says what the queue discipline keeps beside the packet, if it has it then. */
static void port_offer(const struct order *order, unsigned int given, u32 *beside)
{
	unsigned int length = clamp_t(unsigned int, order->length, sizeof(struct iphdr), ETH_MAX_MTU);
	struct sk_buff *skb = alloc_skb(LL_RESERVED_SPACE(port) + length, GFP_ATOMIC);

	if (!skb) {
		numbers[0] = order->number;
		dropped = 1;
		return;
	}
	skb_reserve(skb, LL_RESERVED_SPACE(port));
	skb_put_zero(skb, length);
	memcpy(skb->data, order->bytes, min(given, length));
	skb_reset_network_header(skb);
	skb->protocol = htons(ETH_P_IP);
	skb->dev = port;
	skb->mark = order->number;
	skb_set_hash(skb, order->hash, PKT_HASH_TYPE_L4);
	dev_hard_header(skb, port, ETH_P_IP, port->dev_addr, port->dev_addr, skb->len);
	skb_reset_mac_header(skb);
	skb->destructor = port_released;
	skb_get(skb);
	dev_queue_xmit(skb);
	if (refcount_read(&skb->users) > 1)
		memcpy(beside, qdisc_skb_cb(skb)->data, sizeof_field(struct answer, beside));
	kfree_skb(skb);
}

static void port_take(void)
{
	struct netdev_queue *queue = netdev_get_tx_queue(port, 0);
	struct Qdisc *root = rcu_dereference_bh(queue->qdisc);
	spinlock_t *lock = qdisc_lock(root);

	netif_tx_start_queue(queue);
	spin_lock(lock);
	qdisc_run(root);
	spin_unlock(lock);
	netif_tx_stop_queue(queue);
}

static void port_answer(struct net_device *card, const u8 *to, const struct answer *answer)
{
	unsigned int count = min_t(unsigned int, dropped, MOST_DROPS);
	struct sk_buff *skb = alloc_skb(LL_RESERVED_SPACE(card) + ETH_DATA_LEN, GFP_ATOMIC);

	/* Then the program outside hears nothing, and says so. */
	if (!skb)
		return;
	skb_reserve(skb, LL_RESERVED_SPACE(card));
	skb_put_data(skb, answer, sizeof(*answer));
	skb_put_data(skb, numbers, count * sizeof(u32));
	skb_reset_network_header(skb);
	skb->protocol = htons(ORDERS);
	skb->dev = card;
	dev_hard_header(skb, card, ORDERS, to, card->dev_addr, skb->len);
	skb_reset_mac_header(skb);
	dev_queue_xmit(skb);
}

static int port_order(struct sk_buff *skb, struct net_device *card, struct packet_type *type, struct net_device *first)
{
	struct answer answer = {};
	const struct order *order;

	if (!netif_running(port) || skb_linearize(skb) || skb->len < sizeof(*order))
		goto out;
	order = (const struct order *)skb->data;
	left = NOTHING;
	dropped = 0;
	switch (order->what) {
	case OFFER:
		port_offer(order, skb->len - sizeof(*order), answer.beside);
		break;
	case TAKE:
		port_take();
		break;
	}
	answer.time = ktime_get_ns();
	answer.left = left;
	answer.field = field;
	answer.waiting = rcu_dereference_bh(netdev_get_tx_queue(port, 0)->qdisc)->q.qlen;
	answer.dropped = dropped;
	port_answer(card, eth_hdr(skb)->h_source, &answer);
out:
	consume_skb(skb);
	return NET_RX_SUCCESS;
}

static struct packet_type port_orders = {
	.type = htons(ORDERS),
	.func = port_order,
};

static int port_open(struct net_device *dev)
{
	netif_stop_queue(dev);
	return 0;
}

static int port_close(struct net_device *dev)
{
	netif_stop_queue(dev);
	return 0;
}

static const struct net_device_ops port_ops = {
	.ndo_open = port_open,
	.ndo_stop = port_close,
	.ndo_start_xmit = port_xmit,
};

static int __init port_start(void)
{
	int err;

	port = alloc_netdev(0, "port0", NET_NAME_PREDICTABLE, ether_setup);
	if (!port)
		return -ENOMEM;
	port->netdev_ops = &port_ops;
	port->max_mtu = ETH_MAX_MTU;
	port->flags |= IFF_NOARP;
	err = register_netdev(port);
	if (err) {
		free_netdev(port);
		return err;
	}
	dev_add_pack(&port_orders);
	return 0;
}
late_initcall(port_start);
