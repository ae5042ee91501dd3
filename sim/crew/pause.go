//go:build amd64 || arm64

package crew

// pause leaves the core to what else runs on it for some cycles.
//
//go:noescape
func pause()
