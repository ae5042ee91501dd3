package schema

import (
	"errors"
	"reflect"
	"strings"
	"testing"
	"time"
)

// A key of hosts is one field with tags: what the tests below see of the beacon is
// all that there is of it.
type host struct {
	MTU    int           `lab:"mtu" default:"1500" range:"576..9000"`
	Beacon time.Duration `lab:"beacon" default:"5ms" range:"1ms..1s" only:"modelled" doc:"between two beacons, see [there](x.md)"`
}

type file struct {
	Host host `lab:"host"`
}

func beacons() *Schema { return Of(reflect.TypeFor[file](), Rules{}) }

// open reads a file of that text.
func open(t *testing.T, text string, set ...string) (file, error) {
	t.Helper()
	find := func(Source, string) (Source, error) { return Source{}, errors.New("none") }
	r, err := beacons().Open(Source{File: "x.yaml", Data: []byte(text)}, find, Overrides{Environment: true, Set: set})
	if err != nil {
		t.Fatal(err)
	}
	var f file
	r.Decode(&f)
	return f, r.Err()
}

// The file prevails over the default, the environment over the file, and --set
// over both.
func TestOneKeyIsRead(t *testing.T) {
	const text = "host: {beacon: 20ms}\n"
	want := func(what string, got file, err error, beacon time.Duration) {
		t.Helper()
		if err != nil || got.Host != (host{1500, beacon}) {
			t.Errorf("%s: %+v, %v; want %v", what, got, err, beacon)
		}
	}
	f, err := open(t, "host: {mtu: 1500}\n")
	want("default", f, err, 5*time.Millisecond)
	f, err = open(t, text)
	want("file", f, err, 20*time.Millisecond)
	t.Setenv("AQMLAB_HOST_BEACON", "30ms")
	f, err = open(t, text)
	want("environment", f, err, 30*time.Millisecond)
	f, err = open(t, text, "host.beacon=40ms")
	want("--set", f, err, 40*time.Millisecond)
}

// What does not fit is blamed on the place that says it.
func TestOneKeyIsChecked(t *testing.T) {
	const outside = "2s is outside 1ms to 1s"
	check := func(err error, want string) {
		t.Helper()
		if err == nil || err.Error() != want {
			t.Errorf("got\n%v\nwant\n%s", err, want)
		}
	}
	_, err := open(t, "host:\n  beacon: 2s\n")
	check(err, "x.yaml:2: host.beacon: "+outside)
	_, err = open(t, "host:\n  beacom: 2ms\n")
	check(err, `x.yaml:2: host.beacom: unknown key "beacom": want one of mtu, beacon (did you mean beacon?)`)
	_, err = open(t, "host: {mtu: 1500}\n", "host.beacon=2s")
	check(err, "--set: host.beacon: "+outside)
	t.Setenv("AQMLAB_HOST_BEACON", "2s")
	_, err = open(t, "host: {mtu: 1500}\n")
	check(err, "AQMLAB_HOST_BEACON: host.beacon: "+outside)
}

// The key is written, documented, and in the JSON Schema.
func TestOneKeyIsWritten(t *testing.T) {
	f := file{host{1500, 20 * time.Millisecond}}
	data, err := beacons().Encode(&f, func(_ string, value any) any { return value })
	if want := "host:\n  mtu: 1500\n  beacon: 20ms\n"; err != nil || string(data) != want {
		t.Errorf("wrote %q, %v; want %q", data, err, want)
	}
	k := beacons().Keys[1]
	if k.Path != "host.beacon" || k.Default != "5ms" || k.Only != "modelled" || k.IsDefault(k.Of(&f)) {
		t.Errorf("documented as %+v", k)
	}
	hosts := properties(properties(beacons().JSON())["host"].(object))
	if s := hosts["beacon"].(object); s["type"] != "string" || s["default"] != "5ms" || s["description"] != "between two beacons, see there" {
		t.Errorf("in the JSON Schema: %v", s)
	}
}

// A tag that says nothing sensible is found when the schema is used first.
func TestTagsAreChecked(t *testing.T) {
	for name, v := range map[string]any{
		"default": struct {
			X int `lab:"x" default:"many"`
		}{},
		"range": struct {
			X time.Duration `lab:"x" default:"1s" range:"1..2"`
		}{},
		"no range": struct {
			X int `lab:"x" default:"1" range:"some"`
		}{},
	} {
		t.Run(name, func(t *testing.T) {
			defer func() {
				if text, ok := recover().(string); !ok || !strings.Contains(text, "x") {
					t.Errorf("no word of the tag: %v", text)
				}
			}()
			Of(reflect.TypeOf(v), Rules{}).fill(reflect.New(reflect.TypeOf(v)).Elem())
		})
	}
}
