package transport

// newUDP is the transport of datagrams.
func newUDP(struct{}, struct{}) (Transport, error) {
	return Transport{Name: "udp", Datagrams: true}, nil
}
