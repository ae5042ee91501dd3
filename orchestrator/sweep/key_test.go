package sweep

import (
	"errors"
	"testing"

	"aqmlab/labs"
	"aqmlab/orchestrator"
	"aqmlab/results"
)

// TestKeyOfKernel: points of another guest kernel, or of another release of the same, are
// other points. The default is the same kernel whether a lab names it or not.
func TestKeyOfKernel(t *testing.T) {
	patch := ".2"
	h, err := NewHasher("uml")
	if err != nil {
		t.Fatal(err)
	}
	h.find = func(kernel string) (string, error) { return "Linux " + kernel + patch, nil }
	at := results.Coord{Scheme: "tcn", Load: 0.5, Seed: 1}
	key := func(set ...string) string {
		lab, err := labs.Load("smoke", labs.Options{Set: set})
		if err != nil {
			t.Fatal(err)
		}
		key, err := h.Key(lab, at)
		if err != nil {
			t.Fatal(err)
		}
		return key
	}
	plain := key()
	if named := key("host.kernel=6.1"); named != plain {
		t.Errorf("%s with the default by name, else %s", named, plain)
	}
	if other := key("host.kernel=6.12"); other == plain {
		t.Errorf("two kernels have the key %s", other)
	}
	h.found, patch = make(map[string]string), ".3"
	if later := key(); later == plain {
		t.Errorf("two releases have the key %s", later)
	}
}

// TestKeyOfMachines: which machines a lab lies on makes other points of it where they
// count, and no others where they do not.
func TestKeyOfMachines(t *testing.T) {
	at := results.Coord{Scheme: "tcn", Load: 0.5, Seed: 1}
	for _, of := range []struct {
		runtime orchestrator.Runtime
		count   bool
	}{{"sim", false}, {"docker", true}} {
		h, err := NewHasher(of.runtime)
		if err != nil {
			t.Fatal(err)
		}
		keys := make(map[string]bool)
		for _, more := range []string{"", `
machines: [{name: m1, docker: one, address: 192.0.2.1}, {name: m2, docker: two, address: 192.0.2.2}]
placement: {h1: m2}
`} {
			lab, err := labs.Parse("on.yaml", []byte("extends: smoke\n"+more))
			if err != nil {
				t.Fatal(err)
			}
			key, err := h.Key(lab, at)
			if err != nil {
				t.Fatal(err)
			}
			keys[key] = true
		}
		if (len(keys) > 1) != of.count {
			t.Errorf("%s: %d points of a lab with machines and without", of.runtime, len(keys))
		}
	}
}

// TestLacking: what the machine lacks is no fault of a point. Plans of what would be
// measured do without.
func TestLacking(t *testing.T) {
	h, err := NewHasher("uml")
	if err != nil {
		t.Fatal(err)
	}
	none := errors.New("none here")
	h.find = func(string) (string, error) { return "", none }
	lab, err := labs.Load("smoke", labs.Options{})
	if err != nil {
		t.Fatal(err)
	}
	at := results.Coord{Scheme: "tcn", Load: 0.5, Seed: 1}
	if _, err := h.Key(lab, at); !errors.Is(err, none) || !errors.As(err, new(*Lacking)) {
		t.Errorf("%v, want %v", err, none)
	}
	if key, err := h.Anyway().Key(lab, at); err != nil || key == "" {
		t.Errorf("anyway: %q, %v", key, err)
	}
}
