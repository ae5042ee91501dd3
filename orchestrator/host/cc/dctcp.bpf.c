//go:build ignore

// SPDX-License-Identifier: GPL-2.0-only OR Apache-2.0

/* Data Center TCP (RFC 8257) as a congestion control in BPF, for kernels that
 * were built without one. Growth is Reno's, which the kernel lends out; what is
 * here is the estimator of the marked share, the window cut that follows it,
 * and the receiver that echoes each mark exactly. */

#include "kernel.bpf.h"
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_core_read.h>
#include <bpf/bpf_tracing.h>

/* alpha is a fraction of ONE. Twenty bits keep the estimate exact to a
 * millionth, so that one mark in a thousand packets still counts. */
#define ALPHA_SHIFT 20
#define ONE (1U << ALPHA_SHIFT)

/* g = 1/16 (RFC 8257, section 4.2). */
#define GAIN_SHIFT 4

/* Whether a loss takes of the window what a mark would, as in Linux 3.18 to 5.0,
 * and not half (RFC 8257, section 3.5). The loader writes it. */
const volatile bool loss_by_alpha;

/* No cut goes below two segments: ack clocking needs them (RFC 5681, eq. 4). */
#define MIN_CWND 2U

#define USEC_PER_SEC 1000000ULL

/* What one connection knows. User space reads it by the socket's descriptor. */
struct state {
	/* sender: the marked share (RFC 8257, section 3.3) */
	__u32 alpha;	    /* estimated share of marked packets, of ONE */
	__u32 window_end;   /* sequence number that ends the observation window */
	__u32 delivered;    /* tcp_sock.delivered when the window began */
	__u32 delivered_ce; /* tcp_sock.delivered_ce when the window began */
	__u32 windows;	    /* observation windows closed */
	/* sender: the congestion window */
	__u32 ssthresh;	     /* slow start threshold */
	__u32 acked;	     /* tcp_sock.delivered at the latest acknowledgment */
	__u32 reducing;	     /* kernel state that the window is cut for, 0 for none */
	__u32 reduction;     /* tcp_sock.high_seq of that cut */
	__u32 prr_delivered; /* delivered since it began */
	__u32 reductions;    /* cuts, for marks and losses */
	__u32 initial;	     /* initial window */
	__u32 parked;	     /* window put aside while idle, 0 for none */
	/* receiver: the echo (section 3.2) */
	__u32 received; /* rcv_nxt as the latest data packet left it */
	__u32 sent;	/* segments sent when the latest data packet came */
	__u32 ce;	/* 1 if the latest data packet was marked (DCTCP.CE) */
};

struct {
	__uint(type, BPF_MAP_TYPE_SK_STORAGE);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, int);
	__type(value, struct state);
} dctcp_states SEC(".maps");

extern void tcp_reno_cong_avoid(struct sock *sk, __u32 ack, __u32 acked) __ksym;

static struct state *state_of(struct sock *sk)
{
	return bpf_sk_storage_get(&dctcp_states, sk, 0, 0);
}

static bool has_ecn(struct tcp_sock *tp)
{
	return tp->ecn_flags & (ECN_MODE_RFC3168 | ECN_MODE_ACCECN);
}

/* Sequence numbers wrap; a is before b if b is less than half the space ahead. */
static bool before(__u32 a, __u32 b)
{
	return (__s32)(a - b) < 0;
}

static __u32 at_least(__u32 floor, __u32 n)
{
	return n < floor ? floor : n;
}

static void open_window(struct state *s, struct tcp_sock *tp)
{
	s->window_end = tp->snd_nxt;
	s->delivered = tp->delivered;
	s->delivered_ce = tp->delivered_ce;
}

static struct state *new_state(struct sock *sk, struct tcp_sock *tp)
{
	struct state *s = bpf_sk_storage_get(&dctcp_states, sk, 0, BPF_SK_STORAGE_GET_F_CREATE);

	if (!s)
		return 0;
	__builtin_memset(s, 0, sizeof(*s));
	/* Nothing is known yet, so the first mark halves (section 4.2). */
	s->alpha = ONE;
	s->ssthresh = tp->snd_ssthresh;
	s->acked = tp->delivered;
	s->initial = tp->snd_cwnd;
	s->received = tp->rcv_nxt;
	s->sent = tp->segs_out - 1; /* the handshake is acknowledged */
	open_window(s, tp);
	return s;
}

/* The state of a connection, also of one whose init() was left out. */
static struct state *state_or_new(struct sock *sk)
{
	struct tcp_sock *tp = (struct tcp_sock *)sk;
	struct state *s = state_of(sk);

	if (!s && has_ecn(tp))
		s = new_state(sk, tp);
	return s;
}

/* A connection whose peer refused ECN gets the kernel's own Reno: that is what
 * DCTCP is without marks, and the switch also stops the ECN-capable codepoint
 * on its packets, which a mark could not be echoed for. */
static void fall_back(struct sock *sk)
{
	char reno[] = "reno";

	bpf_setsockopt(sk, SOL_TCP, TCP_CONGESTION, reno, sizeof(reno));
}

SEC("struct_ops")
void BPF_PROG(dctcp_init, struct sock *sk)
{
	struct tcp_sock *tp = (struct tcp_sock *)sk;

	if (has_ecn(tp))
		new_state(sk, tp);
	else
		fall_back(sk);
}

SEC("struct_ops")
void BPF_PROG(dctcp_release, struct sock *sk)
{
	bpf_sk_storage_delete(&dctcp_states, sk);
}

/* Section 3.3, steps 4 to 8, on every acknowledgment. The kernel counts what
 * was delivered, with and without ECE; a window of data closes once all that
 * was outstanding at its beginning is acknowledged. */
SEC("struct_ops")
void BPF_PROG(dctcp_in_ack_event, struct sock *sk, __u32 flags)
{
	struct tcp_sock *tp = (struct tcp_sock *)sk;
	struct state *s = state_or_new(sk);
	__u32 delivered, share;
	__u64 marked;

	if (!s || before(tp->snd_una, s->window_end))
		return;
	delivered = tp->delivered - s->delivered;
	/* The peer's data carry acknowledgments also while we are idle; they
	 * say nothing about the path to the peer. */
	if (!delivered)
		return;
	marked = tp->delivered_ce - s->delivered_ce;
	share = (marked << ALPHA_SHIFT) / delivered;
	if (share > ONE)
		share = ONE;
	s->alpha += (share >> GAIN_SHIFT) - (s->alpha >> GAIN_SHIFT);
	s->windows++;
	open_window(s, tp);
}

/* cwnd * (1 - share/2): the cut of section 3.3, step 9, and with a share of ONE
 * that of a loss (section 3.5). */
static __u32 cut(__u32 cwnd, __u64 share)
{
	return at_least(MIN_CWND, cwnd - ((cwnd * share) >> (ALPHA_SHIFT + 1)));
}

/* The kernel wants a threshold when it begins a reduction. What counts is set
 * in cong_control, so this value lives only until then. */
SEC("struct_ops")
__u32 BPF_PROG(dctcp_ssthresh, struct sock *sk)
{
	struct tcp_sock *tp = (struct tcp_sock *)sk;
	struct state *s = state_of(sk);

	return cut(tp->snd_cwnd, s ? s->alpha : ONE);
}

/* A reduction begins: for marks by alpha, for a loss by half unless told
 * otherwise, of the window with which the kernel entered it. A loss among marked
 * packets makes the cut of that same window deeper, so there are never two cuts in
 * one window. */
static void begin(struct tcp_sock *tp, struct state *s, __u32 ca_state)
{
	bool by_alpha = ca_state == TCP_CA_CWR || loss_by_alpha;

	s->ssthresh = cut(tp->prior_cwnd, by_alpha ? s->alpha : ONE);
	if (s->reduction != tp->high_seq || !s->reducing) {
		s->prr_delivered = 0;
		s->reductions++;
	}
	s->reducing = ca_state;
	s->reduction = tp->high_seq;
}

/* Proportional rate reduction (RFC 6937, section 3, with its slow-start bound):
 * what is sent shrinks with what is delivered, until the window is ssthresh. */
static void reduce(struct tcp_sock *tp, struct state *s, __u32 acked)
{
	__u32 flight = tp->packets_out - tp->sacked_out - tp->lost_out + tp->retrans_out;
	__u32 prior = at_least(1, tp->prior_cwnd);
	__s64 may;

	s->prr_delivered += acked;
	if (flight > s->ssthresh) {
		may = ((__u64)s->ssthresh * s->prr_delivered + prior - 1) / prior - tp->prr_out;
	} else {
		may = (__s64)s->prr_delivered - tp->prr_out;
		if (may < acked)
			may = acked;
		may++;
		if (may > s->ssthresh - flight)
			may = s->ssthresh - flight;
	}
	/* The first retransmission goes out at once. */
	if (may < !tp->prr_out)
		may = !tp->prr_out;
	tp->snd_cwnd = flight + may;
}

/* While the connection is idle its window is put aside; what is sent first then
 * sees the initial window, or gets the old one back if the idle time was short.
 * The kernel does the like (RFC 5681, section 4.1) only for algorithms that
 * leave the window to it. */
static void park(struct sock *sk, struct tcp_sock *tp, struct state *s)
{
	if (tp->packets_out || tp->snd_cwnd <= s->initial ||
	    !sk->__sk_common.skc_net.net->ipv4.sysctl_tcp_slow_start_after_idle)
		return;
	s->parked = tp->snd_cwnd;
	tp->snd_cwnd = s->initial;
}

static void unpark(struct sock *sk, struct state *s)
{
	struct inet_connection_sock *icsk = (struct inet_connection_sock *)sk;
	struct tcp_sock *tp = (struct tcp_sock *)sk;
	__u32 cwnd = s->parked;
	__s32 idle = (__u32)bpf_jiffies64() - tp->lsndtime;
	__s32 rto = icsk->icsk_rto;
	int i;

	if (!cwnd)
		return;
	s->parked = 0;
	if (idle > rto) {
		s->ssthresh = at_least(s->ssthresh, (cwnd >> 1) + (cwnd >> 2));
		for (i = 0; i < 31 && idle > rto; i++, idle -= rto)
			cwnd >>= 1;
	}
	tp->snd_cwnd = at_least(s->initial, cwnd);
	tp->snd_ssthresh = s->ssthresh;
}

/* The kernel sizes its bursts, and what may wait in the host's own queue, by the
 * pacing rate: twice the window a round trip in slow start, else 1.2 times. */
static void set_pacing_rate(struct sock *sk, struct tcp_sock *tp)
{
	__u64 rate = (__u64)tp->mss_cache * 8 * USEC_PER_SEC;
	__u32 window = at_least(tp->packets_out, tp->snd_cwnd);

	if (!tp->srtt_us)
		return;
	rate = rate * window / tp->srtt_us;
	rate = tp->snd_cwnd < tp->snd_ssthresh / 2 ? rate * 2 : rate * 6 / 5;
	if (rate > sk->sk_max_pacing_rate)
		rate = sk->sk_max_pacing_rate;
	sk->sk_pacing_rate = rate;
}

/* The window after each acknowledgment. It is set here alone, never from the
 * answer to a call: a kernel may leave a BPF program out where it interrupts
 * something that it guards, and then takes what its stack holds for the answer.
 * A window from nowhere would burst; a call that never came only leaves the
 * window as it is until the next acknowledgment. */
SEC("struct_ops")
void BPF_PROG(dctcp_cong_control, struct sock *sk)
{
	struct inet_connection_sock *icsk = (struct inet_connection_sock *)sk;
	struct tcp_sock *tp = (struct tcp_sock *)sk;
	struct state *s = state_or_new(sk);
	__u8 ca_state = BPF_CORE_READ_BITFIELD(icsk, icsk_ca_state);
	__u32 acked;

	if (!s)
		return;
	acked = tp->delivered - s->acked;
	s->acked = tp->delivered;
	if (ca_state >= TCP_CA_CWR) {
		if (ca_state != s->reducing || tp->high_seq != s->reduction)
			begin(tp, s, ca_state);
	} else if (s->reducing) {
		if (s->reducing != TCP_CA_LOSS)
			tp->snd_cwnd = s->ssthresh;
		s->reducing = 0;
	}
	tp->snd_ssthresh = s->ssthresh;
	if (ca_state == TCP_CA_CWR || ca_state == TCP_CA_RECOVERY)
		reduce(tp, s, acked);
	else if (acked)
		tcp_reno_cong_avoid(sk, tp->snd_una, acked);
	set_pacing_rate(sk, tp);
	park(sk, tp, s);
}

/* A reduction turns out to have been for nothing: nothing was lost. */
SEC("struct_ops")
__u32 BPF_PROG(dctcp_undo_cwnd, struct sock *sk)
{
	struct tcp_sock *tp = (struct tcp_sock *)sk;
	struct state *s = state_of(sk);

	if (s) {
		s->ssthresh = at_least(s->ssthresh, tp->prior_ssthresh);
		s->reducing = 0;
	}
	return at_least(tp->snd_cwnd, tp->prior_cwnd);
}

/* The kernel sets ECE on what it sends while ECN_DEMAND_CWR is set. */
static void echo(struct tcp_sock *tp, __u32 ce)
{
	if (ce)
		tp->ecn_flags |= ECN_DEMAND_CWR;
	else
		tp->ecn_flags &= ~ECN_DEMAND_CWR;
}

/* The receiver of section 3.2. An acknowledgment covers marked packets only or
 * unmarked ones only: when the codepoint changes, what is not yet acknowledged
 * of the earlier packets is at once, with their ECE, and this packet without
 * delay.
 *
 * Every segment acknowledges, so if none was sent since the packet before this
 * one, that one is waiting. A pending delayed acknowledgment does not tell: the
 * kernel also puts off immediate ones while it works through a backlog. */
static void receive(struct sock *sk, struct state *s, __u32 ce)
{
	struct inet_connection_sock *icsk = (struct inet_connection_sock *)sk;
	struct tcp_sock *tp = (struct tcp_sock *)sk;

	if (s->ce != ce) {
		if (tp->segs_out == s->sent) {
			echo(tp, s->ce);
			bpf_tcp_send_ack(tp, s->received);
		}
		icsk->icsk_ack.pending |= bpf_core_enum_value(enum inet_csk_ack_state_t, ICSK_ACK_NOW);
	}
	s->ce = ce;
	s->received = tp->rcv_nxt;
	s->sent = tp->segs_out;
	/* Also without a change: the sender's CWR has cleared the flag. */
	echo(tp, ce);
}

SEC("struct_ops")
void BPF_PROG(dctcp_cwnd_event, struct sock *sk, enum tcp_ca_event event)
{
	bool ce = event == bpf_core_enum_value(enum tcp_ca_event, CA_EVENT_ECN_IS_CE);
	struct state *s;

	if (event == bpf_core_enum_value(enum tcp_ca_event, CA_EVENT_TX_START)) {
		s = state_of(sk);
		if (s)
			unpark(sk, s);
		return;
	}
	if (!ce && event != bpf_core_enum_value(enum tcp_ca_event, CA_EVENT_ECN_NO_CE))
		return;
	s = state_or_new(sk);
	if (s)
		receive(sk, s, ce);
}

/* Every congestion control has one; the kernel never calls it beside
 * cong_control. */
SEC("struct_ops")
void BPF_PROG(dctcp_cong_avoid, struct sock *sk, __u32 ack, __u32 acked)
{
}

SEC(".struct_ops.link")
struct tcp_congestion_ops dctcp = {
	.init = (void *)dctcp_init,
	.release = (void *)dctcp_release,
	.in_ack_event = (void *)dctcp_in_ack_event,
	.ssthresh = (void *)dctcp_ssthresh,
	.cwnd_event = (void *)dctcp_cwnd_event,
	.cong_avoid = (void *)dctcp_cong_avoid,
	.cong_control = (void *)dctcp_cong_control,
	.undo_cwnd = (void *)dctcp_undo_cwnd,
	/* Any network namespace may use it, also as its default. */
	.flags = TCP_CONG_NEEDS_ECN | TCP_CONG_NON_RESTRICTED,
	.name = "dctcp", /* the loader writes the lab's name over it */
};

const char LICENSE[] SEC("license") = "GPL";
