package netns

import (
	"fmt"
	"sync"

	"github.com/vishvananda/netlink"
	"github.com/vishvananda/netns"
	"golang.org/x/sys/unix"
)

// Watch calls lost for every link of a switch's namespace, by the name that it has there,
// of which an end is removed or set down, until stop is called. Other interfaces, such as
// a bridge over the links, may come and go.
func Watch(namespace string, lost func(link string)) (stop func(), err error) {
	at, err := netns.GetFromName(namespace)
	if err != nil {
		return nil, fmt.Errorf("open namespace %s: %w", namespace, err)
	}
	defer at.Close()
	events, done := make(chan netlink.LinkUpdate), make(chan struct{})
	if err := netlink.LinkSubscribeAt(at, events, done); err != nil {
		return nil, fmt.Errorf("watch the interfaces of namespace %s: %w", namespace, err)
	}
	var watching sync.WaitGroup
	watching.Go(func() {
		for e := range events {
			// What a bridge says of its ports is of another family.
			ours := e.Attrs().Group == portGroup && e.IfInfomsg.Family == unix.AF_UNSPEC
			if ours && (e.Header.Type == unix.RTM_DELLINK || e.IfInfomsg.Flags&unix.IFF_RUNNING == 0) {
				lost(e.Attrs().Name)
			}
		}
	})
	return func() { close(done); watching.Wait() }, nil
}
