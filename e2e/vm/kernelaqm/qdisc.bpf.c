//go:build ignore

/* SPDX-License-Identifier: GPL-2.0-only OR Apache-2.0 */

/* Records what the kernel's CoDel, FQ-CoDel, PIE and RED do with packets: one event for
 * each arrival, departure and run of PIE's controller, with the times that the
 * queueing discipline itself read. */

typedef unsigned char __u8;
typedef unsigned short __u16;
typedef signed int __s32;
typedef unsigned int __u32;
typedef signed long long __s64;
typedef unsigned long long __u64;
typedef __u16 __be16;
typedef __u32 __be32;
typedef __u32 __wsum;

/* bpf_helper_defs.h wants this one name. */
enum bpf_map_type {
	BPF_MAP_TYPE_RINGBUF = 27,
};

#include <bpf/bpf_helpers.h>
#include <bpf/bpf_core_read.h>
#include <bpf/bpf_endian.h>
#include <bpf/bpf_tracing.h>

char LICENSE[] SEC("license") = "Dual MIT/GPL";

/* The parts of the kernel that are read. Only names and kinds matter: CO-RE
 * looks up the real offsets when the programs are loaded. */

#define KERNEL __attribute__((preserve_access_index))

struct sk_buff {
	unsigned int len;
	char cb[48];
	__u32 priority;
	unsigned char *data;
} KERNEL;

struct gnet_stats_queue {
	__u32 backlog;
} KERNEL;

struct Qdisc {
	struct gnet_stats_queue qstats;
	long privdata[0];
} KERNEL;

struct qdisc_skb_cb {
	unsigned char data[20];
} KERNEL;

struct codel_skb_cb {
	__u32 enqueue_time;
} KERNEL;

struct codel_vars {
	__u32 ldelay;
} KERNEL;

struct codel_sched_data {
	struct codel_vars vars;
} KERNEL;

struct fq_codel_flow {
	struct codel_vars cvars;
} KERNEL;

struct fq_codel_sched_data {
	struct fq_codel_flow *flows;
} KERNEL;

struct pie_skb_cb {
	__u64 enqueue_time;
} KERNEL;

struct pie_vars {
	__u64 dq_tstamp;
	__u64 prob;
	__u64 accu_prob;
} KERNEL;

struct pie_sched_data {
	struct pie_vars vars;
} KERNEL;

struct pie_params;

struct red_parms {
	__u8 Wlog;
} KERNEL;

struct red_vars {
	unsigned long qavg;
} KERNEL;

struct red_sched_data {
	struct red_parms parms;
	struct red_vars vars;
} KERNEL;

enum event_kind {
	ARRIVAL = 1,
	DEPARTURE = 2,
	CONTROL = 3,
	EMPTY = 4,
};

struct event {
	__u64 now;         /* ns since boot */
	__u64 probability; /* PIE: of a mark, in 2^-56 */
	__u64 accumulated; /* PIE: sum of the probabilities since the last mark, in 2^-56 */
	__u64 random;      /* PIE: the random number that decided, if one did */
	__u64 average;     /* RED: average length, bytes */
	__u32 number;      /* of the packet, as the sender counts */
	__u32 bytes;
	__u32 backlog;     /* bytes in the queue, the packet excluded at its arrival */
	__u8 kind;
	__u8 dropped;
	__u8 marked;       /* the packet carries CE */
	__u8 drew;         /* random counts */
};

/* Keeps the type in the object's own type information, for the Go side. */
const struct event *const unused __attribute__((unused)) = NULL;

struct {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, 1 << 24);
} events SEC(".maps");

/* How many events found no room. */
__u64 lost = 0;

/* The last random number that PIE drew. The guest has one CPU, and the queue's
 * lock is held from an arrival to its end. */
static __u64 drawn;
static __u8 drew;

/* A frame of the sender: Ethernet, IPv4 without options, UDP, a number. */
struct frame {
	__u8 ethernet[14];
	__u8 version;
	__u8 tos;
	__u8 rest_of_headers[26];
	__be32 number;
} __attribute__((packed));

#define ECN_MASK 3
#define ECN_CE 3

#define NOW_SHIFT_CODEL 10 /* codel_time_t counts 1024 ns */
#define NOW_SHIFT_PIE 6    /* psched_time_t counts 64 ns */

static void *private_data(struct Qdisc *sch)
{
	return &sch->privdata;
}

static void *packet_data(struct sk_buff *skb)
{
	struct qdisc_skb_cb *cb = (void *)&skb->cb;

	return &cb->data;
}

/* Inlined, because the verifier does not carry over that a caller's pointer is
 * not NULL. */
static __always_inline struct event *reserve(struct Qdisc *sch, struct sk_buff *skb, __u8 kind)
{
	struct frame f = {};
	struct event *e = bpf_ringbuf_reserve(&events, sizeof(*e), 0);

	if (!e) {
		lost++;
		return NULL;
	}
	__builtin_memset(e, 0, sizeof(*e));
	e->kind = kind;
	e->now = bpf_ktime_get_ns();
	if (!skb)
		return e;
	bpf_probe_read_kernel(&f, sizeof(f), BPF_CORE_READ(skb, data));
	e->number = bpf_ntohl(f.number);
	e->marked = (f.tos & ECN_MASK) == ECN_CE;
	e->bytes = BPF_CORE_READ(skb, len);
	e->backlog = BPF_CORE_READ(sch, qstats.backlog);
	return e;
}

/* An arrival is seen when it is over; ret is 0 if the packet stands in the
 * queue. */
static __always_inline struct event *arrival(struct Qdisc *sch, struct sk_buff *skb, int ret)
{
	struct event *e = reserve(sch, skb, ARRIVAL);

	if (!e)
		return NULL;
	e->dropped = ret != 0;
	if (!e->dropped)
		e->backlog -= e->bytes;
	return e;
}

static __u64 codel_arrival_time(struct sk_buff *skb)
{
	struct codel_skb_cb *cb = packet_data(skb);

	return BPF_CORE_READ(cb, enqueue_time);
}

SEC("fexit/codel_qdisc_enqueue")
int BPF_PROG(codel_arrival, struct sk_buff *skb, struct Qdisc *sch, void *to_free, int ret)
{
	struct event *e = arrival(sch, skb, ret);

	if (!e)
		return 0;
	e->now = codel_arrival_time(skb) << NOW_SHIFT_CODEL;
	bpf_ringbuf_submit(e, 0);
	return 0;
}

SEC("fexit/codel_qdisc_dequeue")
int BPF_PROG(codel_departure, struct Qdisc *sch, struct sk_buff *skb)
{
	struct codel_sched_data *q = private_data(sch);
	struct event *e;

	if (!skb)
		return 0;
	e = reserve(sch, skb, DEPARTURE);
	if (!e)
		return 0;
	e->now = (codel_arrival_time(skb) + BPF_CORE_READ(q, vars.ldelay)) << NOW_SHIFT_CODEL;
	bpf_ringbuf_submit(e, 0);
	return 0;
}

SEC("fexit/fq_codel_enqueue")
int BPF_PROG(fq_codel_arrival, struct sk_buff *skb, struct Qdisc *sch, void *to_free, int ret)
{
	struct event *e = arrival(sch, skb, ret);

	if (!e)
		return 0;
	e->now = codel_arrival_time(skb) << NOW_SHIFT_CODEL;
	bpf_ringbuf_submit(e, 0);
	return 0;
}

/* The sender names the queue by the minor number of the priority, from 1. */
static __always_inline __u32 fq_codel_delay(struct Qdisc *sch, struct sk_buff *skb)
{
	struct fq_codel_sched_data *q = private_data(sch);
	__u32 i = (BPF_CORE_READ(skb, priority) & 0xffff) - 1;
	struct fq_codel_flow *flow = (void *)BPF_CORE_READ(q, flows) + i * bpf_core_type_size(struct fq_codel_flow);

	return BPF_CORE_READ(flow, cvars.ldelay);
}

SEC("fexit/fq_codel_dequeue")
int BPF_PROG(fq_codel_departure, struct Qdisc *sch, struct sk_buff *skb)
{
	struct event *e = reserve(sch, skb, skb ? DEPARTURE : EMPTY);

	if (!e)
		return 0;
	if (skb)
		e->now = (codel_arrival_time(skb) + fq_codel_delay(sch, skb)) << NOW_SHIFT_CODEL;
	bpf_ringbuf_submit(e, 0);
	return 0;
}

SEC("fentry/pie_qdisc_enqueue")
int BPF_PROG(pie_before_arrival)
{
	drew = 0;
	return 0;
}

SEC("fexit/get_random_bytes")
int BPF_PROG(pie_random, void *buf, unsigned long len)
{
	if (len == sizeof(drawn)) {
		bpf_probe_read_kernel(&drawn, sizeof(drawn), buf);
		drew = 1;
	}
	return 0;
}

SEC("fexit/pie_qdisc_enqueue")
int BPF_PROG(pie_arrival, struct sk_buff *skb, struct Qdisc *sch, void *to_free, int ret)
{
	struct pie_sched_data *q = private_data(sch);
	struct pie_skb_cb *cb = packet_data(skb);
	struct event *e = arrival(sch, skb, ret);

	if (!e)
		return 0;
	if (!e->dropped)
		e->now = BPF_CORE_READ(cb, enqueue_time) << NOW_SHIFT_PIE;
	e->probability = BPF_CORE_READ(q, vars.prob);
	e->accumulated = BPF_CORE_READ(q, vars.accu_prob);
	e->drew = drew;
	e->random = drawn;
	bpf_ringbuf_submit(e, 0);
	return 0;
}

SEC("fexit/pie_qdisc_dequeue")
int BPF_PROG(pie_departure, struct Qdisc *sch, struct sk_buff *skb)
{
	struct pie_sched_data *q = private_data(sch);
	struct event *e;

	if (!skb)
		return 0;
	e = reserve(sch, skb, DEPARTURE);
	if (!e)
		return 0;
	e->now = BPF_CORE_READ(q, vars.dq_tstamp) << NOW_SHIFT_PIE;
	bpf_ringbuf_submit(e, 0);
	return 0;
}

SEC("fexit/pie_calculate_probability")
int BPF_PROG(pie_control, struct pie_params *params, struct pie_vars *vars)
{
	struct event *e = reserve(NULL, NULL, CONTROL);

	if (!e)
		return 0;
	e->probability = BPF_CORE_READ(vars, prob);
	bpf_ringbuf_submit(e, 0);
	return 0;
}

SEC("fexit/red_enqueue")
int BPF_PROG(red_arrival, struct sk_buff *skb, struct Qdisc *sch, void *to_free, int ret)
{
	struct red_sched_data *q = private_data(sch);
	struct event *e = arrival(sch, skb, ret);

	if (!e)
		return 0;
	e->average = BPF_CORE_READ(q, vars.qavg) >> BPF_CORE_READ(q, parms.Wlog);
	bpf_ringbuf_submit(e, 0);
	return 0;
}

SEC("fexit/red_dequeue")
int BPF_PROG(red_departure, struct Qdisc *sch, struct sk_buff *skb)
{
	struct event *e;

	if (!skb)
		return 0;
	e = reserve(sch, skb, DEPARTURE);
	if (!e)
		return 0;
	bpf_ringbuf_submit(e, 0);
	return 0;
}
