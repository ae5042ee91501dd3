// Package labtest tests labs of real hosts on Debian's kernel, in a virtual
// machine of package vm: a kernel that has what others lack, netem and DCTCP.
package labtest
