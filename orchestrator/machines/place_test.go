package machines

import (
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"testing"

	"aqmlab/kind"
	"aqmlab/labs"
	"aqmlab/labs/inventory"
	"aqmlab/switch/fabric"
)

// star is n hosts at one switch.
func star(n int) fabric.Spec { return racks(n) }

// racks is a switch s1, s2, ... for each number, which is how many hosts it has.
func racks(hosts ...int) fabric.Spec {
	var spec fabric.Spec
	for i, n := range hosts {
		s := fmt.Sprintf("s%d", i+1)
		spec.Switches = append(spec.Switches, s)
		for range n {
			h := fmt.Sprintf("h%d", len(spec.Hosts)+1)
			spec.Hosts = append(spec.Hosts, fabric.Host{Name: h})
			spec.Links = append(spec.Links, fabric.Link{A: h, B: s})
		}
	}
	return spec
}

// fabricOf is the network of a lab of a topology.
func fabricOf(t *testing.T, topology string) fabric.Spec {
	t.Helper()
	l, err := labs.Parse("x.yaml", []byte("topology: {"+topology+", rate: 1Gbps}\nschemes: [{name: d, aqm: droptail}]\n"))
	if err != nil {
		t.Fatal(err)
	}
	spec, err := l.Fabric("d", 1)
	if err != nil {
		t.Fatal(err)
	}
	return spec
}

// of is machines m1, m2, ... of so many cores.
func of(cores ...int) []Capacity {
	all := make([]Capacity, len(cores))
	for i, n := range cores {
		all[i] = Capacity{Name: fmt.Sprintf("m%d", i+1), Cores: n}
	}
	return all
}

// counts are the hosts, the switches, and the links that leave, machine by machine.
type counts struct{ hosts, switches, leaving []int }

func count(t *testing.T, spec fabric.Spec, machines []Capacity, placed map[string]string) (c counts) {
	t.Helper()
	for _, s := range Shares(spec, machines, placed) {
		c.hosts, c.switches, c.leaving = append(c.hosts, len(s.Hosts)), append(c.switches, len(s.Switches)), append(c.leaving, s.Leaving)
	}
	return c
}

// TestPlace: hosts are spread in proportion to cores, and hosts are beside their switch
// where cores allow.
func TestPlace(t *testing.T) {
	for name, tt := range map[string]struct {
		spec  fabric.Spec
		cores []int
		want  counts
	}{
		"one machine":      {star(4), []int{2}, counts{[]int{4}, []int{1}, []int{0}}},
		"equal machines":   {star(9), []int{4, 4, 4}, counts{[]int{3, 3, 3}, []int{1, 0, 0}, []int{6, 3, 3}}},
		"unequal machines": {star(8), []int{2, 2, 4}, counts{[]int{2, 2, 4}, []int{0, 0, 1}, []int{2, 2, 4}}},
		"fewer hosts":      {star(2), []int{1, 1, 1}, counts{[]int{1, 1, 0}, []int{1, 0, 0}, []int{1, 1, 0}}},
		"a rack each":      {racks(4, 4, 4), []int{1, 1, 1}, counts{[]int{4, 4, 4}, []int{1, 1, 1}, []int{0, 0, 0}}},
		"two racks each":   {racks(2, 2, 2, 2), []int{4, 4}, counts{[]int{4, 4}, []int{2, 2}, []int{0, 0}}},
		"unequal racks":    {racks(2, 6), []int{6, 2}, counts{[]int{6, 2}, []int{1, 1}, []int{0, 0}}},
		"leaves and spines": { // a spine each, whose other links leave
			fabricOf(t, "kind: leaf-spine, leaves: 4, spines: 4, hosts_per_leaf: 8"), []int{2, 2, 2, 2},
			counts{[]int{8, 8, 8, 8}, []int{2, 2, 2, 2}, []int{6, 6, 6, 6}},
		},
		"a pod each": { // only links to the core leave, but for those to the core switch that is there
			fabricOf(t, "kind: fat-tree, k: 4"), []int{1, 1, 1, 1},
			counts{[]int{4, 4, 4, 4}, []int{5, 5, 5, 5}, []int{6, 6, 6, 6}},
		},
	} {
		t.Run(name, func(t *testing.T) {
			placed, err := Place(tt.spec, of(tt.cores...), nil)
			if err != nil {
				t.Fatal(err)
			}
			if len(placed) != len(tt.spec.Hosts)+len(tt.spec.Switches) {
				t.Errorf("%d nodes are placed", len(placed))
			}
			if got := count(t, tt.spec, of(tt.cores...), placed); !reflect.DeepEqual(got, tt.want) {
				t.Errorf("hosts, switches and links that leave are\n%v, want\n%v", got, tt.want)
			}
			for range 3 {
				if again, err := Place(tt.spec, of(tt.cores...), nil); err != nil || !maps.Equal(again, placed) {
					t.Fatalf("placed again as %v, %v; was %v", again, err, placed)
				}
			}
		})
	}
}

// TestPins: what is pinned is there, and the rest is spread around it.
func TestPins(t *testing.T) {
	placed, err := Place(star(6), of(1, 1, 1), map[string]string{"s1": "m3", "h1": "m3", "h2": "m1"})
	if err != nil {
		t.Fatal(err)
	}
	if placed["s1"] != "m3" || placed["h1"] != "m3" || placed["h2"] != "m1" {
		t.Errorf("pinned: %v", placed)
	}
	if got, want := count(t, star(6), of(1, 1, 1), placed), (counts{[]int{2, 2, 2}, []int{0, 0, 1}, []int{2, 2, 4}}); !reflect.DeepEqual(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
	// More pins than the machine's share: the others are on the other one.
	placed, err = Place(star(4), of(1, 1), map[string]string{"h1": "m2", "h2": "m2", "h3": "m2"})
	if err != nil || placed["h4"] != "m1" || placed["s1"] != "m2" {
		t.Errorf("%v, %v", placed, err)
	}
	// The switch of a rack whose hosts all have a place goes to where the most of them are.
	placed, err = Place(star(3), of(1, 1), map[string]string{"h1": "m2", "h2": "m2", "h3": "m1"})
	if err != nil || placed["s1"] != "m2" {
		t.Errorf("%v, %v", placed, err)
	}
}

// TestBadPins: pins of what is not there are told, with what is.
func TestBadPins(t *testing.T) {
	for want, pins := range map[string]map[string]string{
		`placement: unknown node "h3": want one of s1, h1, h2`:                                                            {"h3": "m1"},
		`placement.h1: unknown machine "m3": want one of m1, m2`:                                                          {"h1": "m3"},
		"placement: unknown node \"h3\": want one of s1, h1, h2\nplacement.s1: unknown machine \"x\": want one of m1, m2": {"s1": "x", "h3": "m1"},
	} {
		if _, err := Place(star(2), of(1, 1), pins); err == nil || err.Error() != want || !errors.Is(err, kind.ErrUnknown) {
			t.Errorf("%v: %v, want %s", pins, err, want)
		}
	}
	if _, err := Place(star(2), nil, nil); err == nil {
		t.Error("a lab is placed on no machines")
	}
	if _, err := Place(star(2), of(1, 0), nil); err == nil || err.Error() != "placing a lab: machine m2 has 0 cores: want at least 1" {
		t.Errorf("a machine without cores: %v", err)
	}
}

// TestCapacities: cores are the CPUs that an inventory names, if it does so for every
// machine.
func TestCapacities(t *testing.T) {
	told := inventory.Inventory{Machines: []inventory.Machine{{Name: "m1", CPUs: []int{0, 1, 5}}, {Name: "m2", CPUs: []int{2}}}}
	if got := Capacities(told); !slices.Equal(got, of(3, 1)) {
		t.Errorf("%v", got)
	}
	told.Machines[0].CPUs = nil
	if got := Capacities(told); !slices.Equal(got, of(1, 1)) {
		t.Errorf("%v: want all alike", got)
	}
}
