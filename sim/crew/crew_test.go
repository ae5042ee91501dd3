package crew

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"aqmlab/switch/event"
)

const (
	nodes  = 6
	window = 10 * time.Nanosecond
)

// mail is a network whose nodes write to each other: a letter takes a window or more.
type mail struct {
	nodes [nodes]*node
	boxes [][]*[2][]letter // by the part that writes, and the one that reads
	turn  []int            // by part: the half that it fills
}

type letter struct {
	at       time.Duration
	from, to int
}

type node struct {
	lane *event.Lane
	part int
	r    *rand.Rand
	log  []string
}

// newMail spreads the nodes over so many parts.
func newMail(parts int) (*mail, []*event.Loop) {
	m := &mail{turn: make([]int, parts)}
	loops := make([]*event.Loop, parts)
	for i := range loops {
		loops[i] = new(event.Loop)
		m.boxes = append(m.boxes, nil)
		for range parts {
			m.boxes[i] = append(m.boxes[i], new([2][]letter))
		}
	}
	for i := range m.nodes {
		part := i % parts
		m.nodes[i] = &node{loops[part].Lane(i), part, rand.New(rand.NewPCG(1, uint64(i))), nil}
	}
	for i := range m.nodes {
		m.arrive(letter{0, i, i})
	}
	return m, loops
}

// arrive has a letter be read when it is due. Its reader writes another one.
func (m *mail) arrive(l letter) {
	n := m.nodes[l.to]
	n.lane.Loop().ScheduleBy(n.lane.Way(l.from).At(l.at), event.NewTimer(func(now time.Duration) {
		n.log = append(n.log, fmt.Sprint(l, now))
		if l.to == 0 && now > 300*window { // of the first loop, as the end of a simulation is
			n.lane.Loop().Stop()
		}
		next := letter{now + window + time.Duration(n.r.IntN(30)), l.to, n.r.IntN(nodes)}
		if to := m.nodes[next.to].part; to != n.part {
			half := &m.boxes[n.part][to][m.turn[n.part]]
			*half = append(*half, next)
			return
		}
		m.arrive(next)
	}), l.at)
}

func (m *mail) Sent(part int) time.Duration {
	earliest := forever
	for _, b := range m.boxes[part] {
		for _, l := range b[m.turn[part]] {
			earliest = min(earliest, l.at)
		}
	}
	return earliest
}

func (m *mail) Turn(part int) { m.turn[part] ^= 1 }

func (m *mail) Take(part, turn int) {
	for from := range m.boxes {
		half := &m.boxes[from][part][turn]
		for _, l := range *half {
			m.arrive(l)
		}
		*half = nil
	}
}

// TestAnyWay: what happens does not depend on how many loops there are, nor on whether
// they run side by side or in turn, nor on when that changes.
func TestAnyWay(t *testing.T) {
	var want []string
	for _, parts := range []int{1, 2, 3} {
		for _, step := range []time.Duration{0, trial} { // of the clock: with one that stands still all jobs are side by side
			m, loops := newMail(parts)
			c := New(loops, m, window)
			var now time.Duration
			c.clock = func() time.Duration { now += step; return now }
			ways := map[bool]int{}
			for until := time.Duration(0); until < 200*window; until += 15 {
				ways[c.gait.alone]++
				c.Run(until, 1000)
			}
			c.Run(forever, 50)
			c.Run(forever, 10_000) // ends with the window in which a node stops it
			c.Dismiss()
			var got []string
			for _, n := range m.nodes {
				got = append(got, n.log...)
			}
			if want == nil {
				want = got
			}
			if len(got) < 500 || !slices.Equal(got, want) {
				t.Errorf("%d parts, clock by %v: %d events, want the %d of one part", parts, step, len(got), len(want))
			}
			if step > 0 && parts > 1 && (ways[true] == 0 || ways[false] == 0) {
				t.Errorf("%d parts: %v jobs in turn", parts, ways)
			}
		}
	}
}
