// Package hugepages has the heap stand on huge pages. A large network is larger than what
// the processor's tables of pages hold (TLB), and of a virtual machine two tables have to
// be walked for each page that is not there. With pages of 2 MB in place of 4 KB there are
// few of them.
//
// Most distributions give huge pages to those who ask for them ("madvise" in
// /sys/kernel/mm/transparent_hugepage/enabled), and Go's runtime does not ask. Where the
// kernel has none, all is as without.
package hugepages
