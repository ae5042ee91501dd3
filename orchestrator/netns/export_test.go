package netns

// ReadyDir is readyDir, for tests that make namespaces before a lab does.
func ReadyDir() error { return readyDir() }
