package packet

// Codepoint is the ECN codepoint that what a transport sends gets in place of its own. The
// zero Codepoint leaves every packet as it is.
type Codepoint struct {
	Set bool
	ECN ECN // NotECT, ECT0 or ECT1
	// All has packets with payload get it, too, that the transport does not make
	// ECN-capable. Else only those do that it does.
	All bool
}

// Of is the codepoint of a packet that the transport has given its own.
func (c Codepoint) Of(own ECN, payload bool) ECN {
	if c.Set && (own.Capable() || c.All && payload) {
		return c.ECN
	}
	return own
}
