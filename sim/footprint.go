package sim

// footprint is about how many bytes the heap of a large network has while it runs: what
// links and open connections hold, packets included, and about as much that is garbage. It
// is zero for a network that the processor has page tables enough for.
func (c *Config) footprint() int {
	const link, flow, small = 12 << 10, 32 << 10, 32 << 20
	links := len(c.Fabric.Links)
	if bytes := link*links + flow*min(len(c.Flows), links); bytes >= small {
		return bytes
	}
	return 0
}
