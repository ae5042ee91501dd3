//go:build !linux || (!amd64 && !arm64)

package hugepages

// Grow does nothing where huge pages are not asked for in this way, or where addresses are
// scarce.
func Grow(int) {}
