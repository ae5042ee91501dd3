//go:build linux

package orchestrator

import (
	"bytes"
	"encoding/binary"
	"errors"
	"os"
	"slices"
	"testing"

	"aqmlab/orchestrator/backend"
	"aqmlab/orchestrator/simulated"
	"aqmlab/orchestrator/testbed"
	"aqmlab/results"
	"aqmlab/trafficgen"
)

// pias is a lab whose first 100 KB of each message go by the first queue, with
// messages on connections of their own.
const pias = `
name: pias
topology: {kind: star, hosts: 4, rate: 100Mbps}
rtt: 2ms
host: {transport: dctcp, rto_min: 10ms}
switch: {buffer: {per_port: 500KB}, scheduler: {kind: sp, queues: 3, strict: 1, inner: {kind: dwrr}}}
schemes: [{name: tcn, aqm: tcn, threshold: 2ms}]
workload: {sizes: {kind: uniform, min: 50KB, max: 300KB}, load: 0.5, flows: 12, services: 2, pias: 100KB, connections: 0}
capture: {format: pcapng, ports: [s1:h1], snap: 96B}
dilation: 2
`

// TestCaptureShowsPIAS: a capture before the client shows the first 100 KB of every
// message with the DSCP of the first queue and the rest with that of its service,
// of models and of the kernel's TCP.
func TestCaptureShowsPIAS(t *testing.T) {
	lab := parse(t, pias)
	flows, err := trafficgen.Trace(lab.Traffic(0.5, 1))
	if err != nil {
		t.Fatal(err)
	}
	p := backend.Point{Coord: results.Coord{Scheme: "tcn", Load: 0.5, Seed: 1}, Flows: flows}
	t.Run("sim", func(t *testing.T) {
		made, err := simulated.Models{Lab: lab}.Measure(t.Context(), p, func(backend.Progress) {})
		if err != nil {
			t.Fatal(err)
		}
		showsPIAS(t, made)
	})
	t.Run("netns", func(t *testing.T) {
		needRoot(t)
		tb, err := testbed.Up(t.Context(), lab, testbed.Options{Root: t.TempDir(), Log: os.Stderr})
		if err != nil {
			t.Fatal(err)
		}
		made, err := tb.Run(t.Context(), p, func(backend.Progress) {})
		if err := errors.Join(err, tb.Down(t.Context())); err != nil {
			t.Fatal(err)
		}
		showsPIAS(t, made)
	})
}

// segment is what the headers of a captured TCP segment say.
type segment struct {
	conn  string // addresses and ports
	dscp  uint8
	seq   uint32
	bytes int
	syn   bool
}

func segmentOf(frame []byte) segment {
	const ip, tcp = 14, 34
	header := 20 + int(frame[tcp+12]>>4)*4
	return segment{
		conn:  string(frame[ip+12 : tcp+4]),
		dscp:  frame[ip+1] >> 2,
		seq:   binary.BigEndian.Uint32(frame[tcp+4:]),
		bytes: int(binary.BigEndian.Uint16(frame[ip+2:])) - header,
		syn:   frame[tcp+13]&2 != 0,
	}
}

// stream is the server's direction of one connection.
type stream struct {
	first uint32  // sequence number of the first byte
	end   int64   // what was sent up to
	dscps []uint8 // of the bytes behind the threshold
}

// sentFrames are the frames that left the switch by a captured port: those of the
// packet blocks of a pcapng file whose flags do not say inbound, and that have no
// comment on a drop.
func sentFrames(c results.Capture) (frames [][]byte) {
	const packetBlock, frameAt, inbound = 6, 28, 1
	for b := slices.Concat(c.Chunks...); len(b) > 0; b = b[binary.LittleEndian.Uint32(b[4:]):] {
		if binary.LittleEndian.Uint32(b) != packetBlock {
			continue
		}
		block := b[:binary.LittleEndian.Uint32(b[4:])]
		end := frameAt + binary.LittleEndian.Uint32(block[20:])
		options := block[(end+3)/4*4:] // the first are the flags
		if options[4]&3 != inbound && !bytes.Contains(options, []byte("dropped")) {
			frames = append(frames, block[frameAt:end])
		}
	}
	return frames
}

func showsPIAS(t *testing.T, p results.Point) {
	t.Helper()
	const (
		threshold = 100_000
		answer    = 24 // what precedes the payload
	)
	streams := map[string]*stream{}
	for _, frame := range sentFrames(p.Capture) {
		s := segmentOf(frame)
		switch st := streams[s.conn]; {
		case s.syn:
			streams[s.conn] = &stream{first: s.seq + 1}
		case s.bytes > 0:
			at := int64(s.seq - st.first)
			if at < st.end {
				continue // sent again, with the DSCP that the socket has by now
			}
			st.end = at + int64(s.bytes)
			if at < threshold && s.dscp != 0 {
				t.Errorf("byte %d of a message has DSCP %d, want that of the first queue", at, s.dscp)
			}
			if at >= threshold+answer {
				st.dscps = append(st.dscps, s.dscp)
			}
		}
	}
	got := map[int64]uint8{} // by length, which tells the flows of this trace apart
	for _, st := range streams {
		got[st.end] = 0
		if len(st.dscps) > 0 {
			got[st.end] = st.dscps[0]
		}
		if len(slices.Compact(st.dscps)) > 1 {
			t.Errorf("a message of %d bytes has several DSCPs behind the threshold: %v", st.end, st.dscps)
		}
	}
	if len(streams) != len(p.Flows) {
		t.Errorf("%d messages captured, want %d", len(streams), len(p.Flows))
	}
	for _, f := range p.Flows {
		want := uint8(0)
		if f.Bytes > threshold {
			want = uint8(1 + f.Service)
		}
		if dscp, ok := got[f.Bytes+answer]; !ok || dscp != want {
			t.Errorf("flow %d of %d bytes ends with DSCP %d (captured: %v), want %d", f.ID, f.Bytes, dscp, ok, want)
		}
	}
}
