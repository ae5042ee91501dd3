// Package cc gives a lab's hosts their congestion control. What the running
// kernel has is used as it is; DCTCP, which many kernels are built without, is
// loaded as BPF struct_ops under a name of the lab's own and vanishes with the
// last descriptor of its link, also when the process that loaded it is killed.
// Before Linux 6.4 there are no such links, and it stays until it is unregistered.
//
// Names are the kernel's, for TCP_CONGESTION, for net.ipv4.tcp_congestion_control
// and for the congctl attribute of a route. Congestion controls are global to
// the kernel: all network namespaces see them.
package cc
