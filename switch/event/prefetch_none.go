//go:build !amd64 && !arm64

package event

// Prefetch does nothing on a processor for which nobody has written it.
func Prefetch[T any](*T) {}
