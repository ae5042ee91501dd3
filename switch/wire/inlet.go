//go:build linux

package wire

// inlet is a ring that frames come in by, those of one port or those of all.
type inlet struct {
	*ring
	port  int   // that all frames are of, unless there are ports
	ports []int // by the index of the interface; negative: it is no port
}

// portOf is the port that a frame came in by, or negative for an interface that is none.
func (in *inlet) portOf(f frame) int {
	if in.ports == nil {
		return in.port
	}
	index := f.index()
	if index >= len(in.ports) {
		return -1
	}
	return in.ports[index]
}

// openTogether has all ports' frames come in by one ring. In
// virtual time that loses nothing: the switch is never away, and who sends does not do so
// at the expense of others. To look for frames, and to wait for one, then costs as much
// with 144 ports as with one.
func (s *Switch) openTogether(indices []int) error {
	r, err := newRing("of all ports", s.config.ringBytes(), s.config.MTU)
	if err != nil {
		return err
	}
	in := inlet{ring: r, ports: []int{}}
	for i, index := range indices {
		for len(in.ports) <= index {
			in.ports = append(in.ports, -1)
		}
		in.ports[index] = i
	}
	s.inlets = []inlet{in}
	return r.open(indices...)
}

// openEach has the frames of each port come in by a ring of its own.
func (s *Switch) openEach(all []PortConfig, indices []int) error {
	for i, p := range all {
		r, err := newRing(p.Interface, s.config.ringBytes(), s.config.MTU)
		if err != nil {
			return err
		}
		s.inlets = append(s.inlets, inlet{ring: r, port: i})
	}
	return each(len(all), func(i int) error { return s.inlets[i].open(indices[i]) })
}

// sharedRing is the size in bytes of one ring for so many ports: 128 slots of the usual MTU
// for each.
func sharedRing(ports int) int {
	const slots, size = 128, 2048
	return max(ringLeast, ports*slots*size)
}
