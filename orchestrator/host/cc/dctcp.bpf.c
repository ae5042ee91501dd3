//go:build ignore

// SPDX-License-Identifier: GPL-2.0-only OR Apache-2.0

/* Data Center TCP (RFC 8257) as a congestion control in BPF, for kernels that
 * were built without one. Growth and undo are those of Reno, which the kernel
 * lends out; what is here is the estimator of the marked share, the window cut
 * that follows it, and the receiver that echoes each mark exactly. */

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

/* No cut goes below two segments: ack clocking needs them (RFC 5681, eq. 4). */
#define MIN_CWND 2U

/* What one connection knows. User space reads it by the socket's descriptor. */
struct state {
	__u32 alpha;	    /* estimated share of marked packets, of ONE */
	__u32 window_end;   /* sequence number that ends the observation window */
	__u32 delivered;    /* tcp_sock.delivered when the window began */
	__u32 delivered_ce; /* tcp_sock.delivered_ce when the window began */
	__u32 received;	    /* rcv_nxt as the latest data packet left it */
	__u32 sent;	    /* segments sent when the latest data packet came */
	__u32 ce;	    /* 1 if the latest data packet was marked (DCTCP.CE) */
	__u32 windows;	    /* observation windows closed */
	__u32 reductions;   /* window cuts, for marks and losses */
};

struct {
	__uint(type, BPF_MAP_TYPE_SK_STORAGE);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, int);
	__type(value, struct state);
} dctcp_states SEC(".maps");

extern void tcp_reno_cong_avoid(struct sock *sk, __u32 ack, __u32 acked) __ksym;
extern __u32 tcp_reno_undo_cwnd(struct sock *sk) __ksym;

static struct state *state_of(struct sock *sk)
{
	return bpf_sk_storage_get(&dctcp_states, sk, 0, 0);
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
	struct state *s;

	if (!(tp->ecn_flags & (ECN_MODE_RFC3168 | ECN_MODE_ACCECN))) {
		fall_back(sk);
		return;
	}
	s = bpf_sk_storage_get(&dctcp_states, sk, 0, BPF_SK_STORAGE_GET_F_CREATE);
	if (!s)
		return;
	/* Nothing is known yet, so the first mark halves (section 4.2). */
	s->alpha = ONE;
	s->received = tp->rcv_nxt;
	s->sent = tp->segs_out - 1; /* the handshake is acknowledged */
	s->ce = 0;
	s->windows = 0;
	s->reductions = 0;
	open_window(s, tp);
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
	struct state *s = state_of(sk);
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

/* Step 9: cwnd * (1 - alpha/2). The kernel asks when it begins a reduction and
 * begins none before the data of the last one is acknowledged, which makes it
 * at most one a window. */
SEC("struct_ops")
__u32 BPF_PROG(dctcp_ssthresh, struct sock *sk)
{
	struct tcp_sock *tp = (struct tcp_sock *)sk;
	struct state *s = state_of(sk);
	__u64 alpha = ONE;

	if (s) {
		alpha = s->alpha;
		s->reductions++;
	}
	return at_least(MIN_CWND, tp->snd_cwnd - ((tp->snd_cwnd * alpha) >> (ALPHA_SHIFT + 1)));
}

/* A loss halves, whatever alpha says (section 3.5). Half is taken of the window
 * with which the reduction began, so that a loss among marked packets leads to
 * what the loss alone would have led to and not to two cuts in one window. */
static void halve(struct tcp_sock *tp)
{
	tp->snd_ssthresh = at_least(MIN_CWND, tp->prior_cwnd >> 1);
}

/* ssthresh() is not told why it is called; the state that follows tells. */
SEC("struct_ops")
void BPF_PROG(dctcp_set_state, struct sock *sk, __u8 next)
{
	struct inet_connection_sock *icsk = (struct inet_connection_sock *)sk;
	__u8 now = BPF_CORE_READ_BITFIELD(icsk, icsk_ca_state);

	/* A timeout from any other state than CWR is announced by an event. */
	if (next == TCP_CA_RECOVERY || (next == TCP_CA_LOSS && now == TCP_CA_CWR))
		halve((struct tcp_sock *)sk);
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

	if (event == bpf_core_enum_value(enum tcp_ca_event, CA_EVENT_LOSS)) {
		halve((struct tcp_sock *)sk);
		return;
	}
	if (!ce && event != bpf_core_enum_value(enum tcp_ca_event, CA_EVENT_ECN_NO_CE))
		return;
	s = state_of(sk);
	if (s)
		receive(sk, s, ce);
}

SEC("struct_ops")
void BPF_PROG(dctcp_cong_avoid, struct sock *sk, __u32 ack, __u32 acked)
{
	tcp_reno_cong_avoid(sk, ack, acked);
}

SEC("struct_ops")
__u32 BPF_PROG(dctcp_undo_cwnd, struct sock *sk)
{
	return tcp_reno_undo_cwnd(sk);
}

SEC(".struct_ops.link")
struct tcp_congestion_ops dctcp = {
	.init = (void *)dctcp_init,
	.release = (void *)dctcp_release,
	.in_ack_event = (void *)dctcp_in_ack_event,
	.ssthresh = (void *)dctcp_ssthresh,
	.set_state = (void *)dctcp_set_state,
	.cwnd_event = (void *)dctcp_cwnd_event,
	.cong_avoid = (void *)dctcp_cong_avoid,
	.undo_cwnd = (void *)dctcp_undo_cwnd,
	/* Any network namespace may use it, also as its default. */
	.flags = TCP_CONG_NEEDS_ECN | TCP_CONG_NON_RESTRICTED,
	.name = "dctcp", /* the loader writes the lab's name over it */
};

const char LICENSE[] SEC("license") = "GPL";
