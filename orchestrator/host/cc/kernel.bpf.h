/* SPDX-License-Identifier: GPL-2.0-only OR Apache-2.0 */

/* The parts of the running kernel that dctcp.bpf.c touches. Only names and
 * kinds matter: CO-RE looks up the real offsets in the kernel's BTF when the
 * programs are loaded. */

#ifndef AQMLAB_KERNEL_BPF_H
#define AQMLAB_KERNEL_BPF_H

typedef unsigned char __u8;
typedef signed short __s16;
typedef unsigned short __u16;
typedef signed int __s32;
typedef unsigned int __u32;
typedef signed long long __s64;
typedef unsigned long long __u64;
typedef __u16 __be16;
typedef __u32 __be32;
typedef __u32 __wsum;
typedef _Bool bool;

/* bpf_helper_defs.h wants this one name. */
enum bpf_map_type {
	BPF_MAP_TYPE_SK_STORAGE = 24,
};

enum {
	BPF_F_NO_PREALLOC = 1 << 0,
	BPF_SK_STORAGE_GET_F_CREATE = 1 << 0,
};

/* Socket options (uapi). */
enum {
	SOL_TCP = 6,
	TCP_CONGESTION = 13,
};

/* Congestion states of a sender (uapi enum tcp_ca_state). */
enum {
	TCP_CA_CWR = 2,
	TCP_CA_RECOVERY = 3,
	TCP_CA_LOSS = 4,
};

/* Flags of a congestion control. */
enum {
	TCP_CONG_NON_RESTRICTED = 1 << 0,
	TCP_CONG_NEEDS_ECN = 1 << 1,
};

/* Bits of tcp_sock.ecn_flags. MODE_ACCECN is unused before Linux 6.18. */
enum {
	ECN_MODE_RFC3168 = 1 << 0,
	ECN_DEMAND_CWR = 1 << 2,
	ECN_MODE_ACCECN = 1 << 4,
};

/* Enums private to the kernel: their values are looked up as well, through
 * bpf_core_enum_value. */
enum tcp_ca_event {
	CA_EVENT_TX_START = 0,
	CA_EVENT_ECN_NO_CE = 4,
	CA_EVENT_ECN_IS_CE = 5,
};

/* Bits of icsk_ack.pending. */
enum inet_csk_ack_state_t {
	ICSK_ACK_NOW = 16,
};

#pragma clang attribute push(__attribute__((preserve_access_index)), apply_to = record)

struct netns_ipv4 {
	__u8 sysctl_tcp_slow_start_after_idle;
};

struct net {
	struct netns_ipv4 ipv4;
};

typedef struct {
	struct net *net;
} possible_net_t;

struct sock_common {
	possible_net_t skc_net;
};

struct sock {
	struct sock_common __sk_common;
	unsigned long sk_pacing_rate; /* bytes per second */
	unsigned long sk_max_pacing_rate;
};

struct inet_connection_sock {
	__u32 icsk_rto; /* jiffies */
	__u8 icsk_ca_state : 5;
	struct {
		__u8 pending;
	} icsk_ack;
};

struct tcp_sock {
	__u32 rcv_nxt;
	__u32 snd_nxt;
	__u32 snd_una;
	__u32 snd_cwnd;
	__u32 snd_ssthresh;
	__u32 prior_cwnd; /* window when the current reduction began */
	__u32 prior_ssthresh;
	__u32 high_seq; /* snd_nxt then */
	__u32 prr_out;	/* segments sent since */
	__u32 packets_out;
	__u32 sacked_out;
	__u32 lost_out;
	__u32 retrans_out;
	__u32 mss_cache;
	__u32 srtt_us;	/* eighths of a microsecond */
	__u32 lsndtime; /* jiffies of the latest data segment */
	__u32 delivered;
	__u32 delivered_ce;
	__u32 segs_out;
	__u8 ecn_flags;
};

struct tcp_congestion_ops {
	__u32 (*ssthresh)(struct sock *sk);
	void (*cong_avoid)(struct sock *sk, __u32 ack, __u32 acked);
	void (*cwnd_event)(struct sock *sk, enum tcp_ca_event event);
	void (*in_ack_event)(struct sock *sk, __u32 flags);
	__u32 (*undo_cwnd)(struct sock *sk);
	void (*cong_control)(struct sock *sk, __u32 ack, int flag, const void *rs);
	char name[16];
	__u32 flags;
	void (*init)(struct sock *sk);
	void (*release)(struct sock *sk);
};

#pragma clang attribute pop

#endif
