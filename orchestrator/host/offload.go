package host

import (
	"fmt"
	"slices"
	"strings"
)

// DisableOffloads turns off, on a device in the namespace that e was opened
// in, everything that leaves checksums unwritten or makes one frame of many:
// checksums, scatter-gather, segmentation and receive merging. A software
// switch needs all of it off. With transmit checksums on, ping works and TCP
// never connects; with merging on, frames beyond the MTU reach the switch, which would
// queue, mark and drop the merged packet as one.
//
// The device is read back, and what did not turn off is an error.
func DisableOffloads(e *Ethtool, device string) error {
	if err := e.TurnOff(device, reshapes); err != nil {
		return fmt.Errorf("turn off offloads of %s: %w", device, err)
	}
	on, err := offloads(e, device)
	if err != nil {
		return err
	}
	if len(on) > 0 {
		return fmt.Errorf("turn off offloads of %s: still on: %s", device, strings.Join(on, ", "))
	}
	return nil
}

// offloads lists the device's active offloads that DisableOffloads is about.
func offloads(e *Ethtool, device string) ([]string, error) {
	features, err := e.Features(device)
	if err != nil {
		return nil, fmt.Errorf("read offloads of %s: %w", device, err)
	}
	var on []string
	for name, active := range features {
		if active && reshapes(name) {
			on = append(on, name)
		}
	}
	slices.Sort(on)
	return on, nil
}

// reshapes tells whether the kernel's feature of this name changes what
// frames look like on the wire. Names are those of
// net/ethtool/common.c, netdev_features_strings.
func reshapes(feature string) bool {
	for _, family := range []string{
		"rx-checksum", "tx-checksum-", "tx-scatter-gather", "tx-gso-", "rx-gro", "rx-lro",
	} {
		if strings.HasPrefix(feature, family) {
			return true
		}
	}
	return strings.HasPrefix(feature, "tx-") && strings.HasSuffix(feature, "-segmentation")
}
