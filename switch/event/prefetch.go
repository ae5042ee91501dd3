//go:build amd64 || arm64

package event

import "unsafe"

// Prefetch begins to fetch the cache line at p, and does not wait for it. p may be nil.
func Prefetch[T any](p *T) { prefetch(unsafe.Pointer(p)) }

//go:noescape
func prefetch(p unsafe.Pointer)
