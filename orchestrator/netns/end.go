package netns

import "github.com/vishvananda/netlink"

// end is an end of a link: an interface of a node.
type end struct {
	name      string
	mac       MAC
	node      string
	namespace string // of the node
}

// attrs are what the interface is made with.
func (e end) attrs(mtu int) netlink.LinkAttrs {
	return netlink.LinkAttrs{
		Name:         e.name,
		MTU:          mtu,
		TxQLen:       -1, // the driver's own
		HardwareAddr: e.mac[:],
		NumTxQueues:  1, // one lane: frames of a link keep their order
		NumRxQueues:  1,
	}
}
