/* A link of 10 Mbit/s under CoDel, then under FQ-CoDel: packets of two flows arrive faster than it sends.
 *
 *   cc -Iinclude examples/link.c libgoodqueue.a -lpthread -ldl -lm -o link && ./link
 */
#include "goodqueue.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

/* This program's own packets. */
struct packet {
    uint32_t number;
    uint32_t length;
};

static void dropped(void *context, GqPacket packet, GqReason reason, uint64_t enqueued_at)
{
    uint64_t *by_reason = context;
    (void)enqueued_at;
    by_reason[reason]++;
    free(packet.data);
}

static GqPacket arrival(uint32_t number)
{
    struct packet *packet = malloc(sizeof *packet);
    if (packet == NULL)
        abort();
    packet->number = number;
    packet->length = number % 3 == 0 ? 200 : 1500;
    /* A packet of the small flow, or of the large one. */
    return (GqPacket){ .data = packet, .length = packet->length, .flow = packet->length == 200 ? 7 : 8, .ecn = 0 };
}

static int run(const char *kind, const GqParam *params, size_t count)
{
    const GqLink link = { .rate = 10000000, .delay = 10000000, .mtu = 1500, .limit_packets = 1000, .limit_bytes = GQ_NONE, .seed = 1 };
    uint64_t by_reason[GQ_REASONS] = { 0 };
    const GqSink sink = { .context = by_reason, .dropped = dropped };
    char message[200];
    GqQueue *queue = gq_queue_new(kind, params, count, &link, message, sizeof message);
    if (queue == NULL) {
        fprintf(stderr, "%s\n", message);
        return 1;
    }
    /* Arrivals every 0.8 ms against 0.86 ms a packet on the wire, for ten seconds. */
    uint64_t now = 1, free_at = 1, next_arrival = 1, sojourn = 0, number = 0;
    while (now < 10000000000) {
        uint64_t timer = gq_next_timer(queue);
        now = next_arrival < free_at ? next_arrival : free_at;
        if (timer <= now)
            gq_handle_timer(queue, timer);
        if (now == next_arrival) {
            gq_enqueue(queue, now, arrival((uint32_t)number++), &sink);
            next_arrival += 800000;
        }
        if (now >= free_at) {
            GqDeparture departure;
            if (gq_dequeue(queue, now, &departure, &sink)) {
                sojourn += now - departure.enqueued_at;
                free_at = now + departure.packet.length * 800u;
                free(departure.packet.data);
            } else {
                free_at = next_arrival;
            }
        }
    }
    const GqCounters counters = gq_counters(queue);
    printf("%s: %" PRIu64 " arrived, %" PRIu64 " departed, %" PRIu64 " dropped (%" PRIu64 " head), mean sojourn %" PRIu64 " us\n", kind,
           counters.arrived, counters.departed, counters.dropped, by_reason[GQ_REASON_HEAD], sojourn / counters.departed / 1000);
    gq_queue_free(queue, now, &sink);
    return counters.arrived == counters.departed + counters.dropped + counters.waiting ? 0 : 1;
}

int main(void)
{
    const GqParam target = { .name = "target", .number = 0.010 };
    return run("codel", &target, 1) || run("fq-codel", NULL, 0);
}
