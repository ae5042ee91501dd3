package labs

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"strings"

	"aqmlab/labs/topologies"
)

// YAML writes the lab as a file that loads to an equal lab, with every default
// written out. It is what is stored with results.
func (l *Lab) YAML() ([]byte, error) {
	data, err := schemaOf(l.Kinds).Encode(l, l.written)
	if err != nil {
		return nil, fmt.Errorf("writing lab %s: %w", l.Name, err)
	}
	return data, nil
}

// Hash is eight hexadecimal digits, the same for equal labs. The lab is one
// that was loaded: its parameters can be written.
//
// That lengths count network-layer bytes is left out: before labs could say so, all
// did, and what was measured then keeps its hash.
func (l *Lab) Hash() string {
	b, err := schemaOf(l.Kinds).Encode(l, func(path string, value any) any {
		if path == lengthsPath && value == lengthsIP {
			return nil
		}
		return l.written(path, value)
	})
	if err != nil {
		panic(fmt.Sprintf("a loaded lab that cannot be written: %v", err))
	}
	sum := sha256.Sum256(b)
	return hex.EncodeToString(sum[:4])
}

// written is what stands in a written lab for the value of a key, or nil where
// it says nothing there.
func (l *Lab) written(path string, value any) any {
	section, _, _ := strings.Cut(path, ".")
	hasDelays := l.Topology.hasDelays()
	silent := section == "probe" && l.Probe.From == "" ||
		section == "capture" && l.Capture.Format == "" ||
		path == hostsPath && l.Topology.Kind != topologies.Star ||
		path == rttMinPath && hasDelays ||
		path == rttMaxPath && hasDelays && l.RTT.Per == "" ||
		path == handshakePath && l.Workload.Connections != 0
	switch {
	case silent:
		return nil
	case path == backgroundKey+".load":
		return value.([]any)[0]
	}
	return value
}
