//go:build ignore

// SPDX-License-Identifier: GPL-2.0-only OR Apache-2.0

/* Tells, for a queueing discipline with classes, how long a packet is held
 * back: by the class that the hash of its flow picks. Pure ACKs are in none.
 * Hash and class are those of packages packet and fabric, so that a flow is
 * delayed alike whoever does it. */

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

/* bpf_helper_defs.h wants this one name. */
enum bpf_map_type { BPF_MAP_TYPE_UNSPEC };

#include <bpf/bpf_helpers.h>
#include <bpf/bpf_endian.h>

struct __sk_buff;

/* How many classes there are. */
volatile const __u32 classes = 1;

/* What the discipline calls itself; its classes are numbered from 1. */
#define HANDLE (1U << 16)
#define NO_CLASS 0

#define ETHERNET_SIZE 14
#define FRAGMENTS 0x3fff /* "more fragments" and the fragment offset */
#define TCP 6
#define UDP 17
#define FIN 0x01
#define SYN 0x02
#define RST 0x04
#define ACK 0x10

struct ipv4 {
	__u8 version_length; /* length in words */
	__u8 tos;
	__be16 total;
	__be16 id;
	__be16 fragment;
	__u8 ttl;
	__u8 protocol;
	__be16 checksum;
	__be32 src, dst;
};

struct tcp {
	__be16 src, dst; /* UDP begins alike */
	__be32 sequence, acknowledgment;
	__u8 offset; /* length in words, in the upper half */
	__u8 flags;
};

/* The two halves of the product, combined: packet's flowHash.add. BPF multiplies
 * 64 bits by 64 to 64 only. */
static __u64 mix(__u64 hash, __u64 value)
{
	const __u64 b = 0xd6e8feb86659fd93;
	__u64 a = hash ^ value ^ 0x9e3779b97f4a7c15;
	__u64 low = (a & 0xffffffff) * (b & 0xffffffff);
	__u64 cross = (a >> 32) * (b & 0xffffffff) + (low >> 32);
	__u64 other = (a & 0xffffffff) * (b >> 32) + (cross & 0xffffffff);
	__u64 high = (a >> 32) * (b >> 32) + (cross >> 32) + (other >> 32);

	return high ^ (other << 32 | (low & 0xffffffff));
}

static int is_pure_ack(const struct tcp *tcp, int length)
{
	return (tcp->offset >> 4) * 4 == length && (tcp->flags & (FIN | SYN | RST | ACK)) == ACK;
}

SEC("tc")
int classify(struct __sk_buff *skb)
{
	struct ipv4 ip;
	struct tcp tcp;
	__u64 hash;
	int header, length;

	if (bpf_skb_load_bytes(skb, ETHERNET_SIZE, &ip, sizeof(ip)) || ip.version_length >> 4 != 4)
		return NO_CLASS;
	hash = mix(ip.protocol, (__u64)bpf_ntohl(ip.src) << 32 | bpf_ntohl(ip.dst));
	if ((ip.protocol == TCP || ip.protocol == UDP) && !(bpf_ntohs(ip.fragment) & FRAGMENTS)) {
		header = (ip.version_length & 15) * 4;
		length = bpf_ntohs(ip.total) - header;
		if (length < 4 || bpf_skb_load_bytes(skb, ETHERNET_SIZE + header, &tcp, 4))
			return NO_CLASS;
		hash = mix(hash, (__u64)bpf_ntohs(tcp.src) << 16 | bpf_ntohs(tcp.dst));
		if (ip.protocol == TCP && !bpf_skb_load_bytes(skb, ETHERNET_SIZE + header, &tcp, sizeof(tcp)) && is_pure_ack(&tcp, length))
			return NO_CLASS;
	}
	/* fabric's class */
	hash = (__u64)(__u32)hash * 0xd1342543de82ef95;
	return HANDLE | (((hash >> 32) * classes >> 32) + 1);
}

const char LICENSE[] SEC("license") = "GPL";
