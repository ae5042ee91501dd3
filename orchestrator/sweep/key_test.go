package sweep

import (
	"errors"
	"testing"

	"aqmlab/labs"
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
