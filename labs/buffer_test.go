package labs_test

import (
	"reflect"
	"strings"
	"testing"

	"aqmlab/kind"
	"aqmlab/labs"
	"aqmlab/switch/port"
	"aqmlab/units"
)

// TestBufferSharings: the lab keeps the sizes that its sharing uses, reads back
// what it wrote, and tells a port all that it may fill.
func TestBufferSharings(t *testing.T) {
	for keys, want := range map[string]struct {
		buffer labs.Buffer
		port   port.Spec
	}{
		"{per_port: 96KB}": {
			labs.Buffer{Sharing: "port", PerPort: 96 * units.KB},
			port.Spec{Buffer: 96 * units.KB, Sharing: kind.Choice{Kind: "port"}},
		},
		"{sharing: static, per_queue: 32KB}": {
			labs.Buffer{Sharing: "static", Params: map[string]any{"per_queue": "32KB"}},
			port.Spec{Buffer: 96 * units.KB, Sharing: kind.Choice{Kind: "static", Params: map[string]any{"per_queue": "32KB"}}},
		},
		"{sharing: pool, pool: 9MB}": {
			labs.Buffer{Sharing: "pool", Pool: 9 * units.MB},
			port.Spec{Buffer: 9 * units.MB, Sharing: kind.Choice{Kind: "pool"}},
		},
		"{sharing: dynamic, pool: 9MB}": {
			labs.Buffer{Sharing: "dynamic", Pool: 9 * units.MB, Params: map[string]any{"alpha": 1}},
			port.Spec{Buffer: 9 * units.MB, Sharing: kind.Choice{Kind: "dynamic", Params: map[string]any{"alpha": 1}}},
		},
		"{sharing: dynamic, pool: 1MB, alpha: 0.125}": {
			labs.Buffer{Sharing: "dynamic", Pool: units.MB, Params: map[string]any{"alpha": 0.125}},
			port.Spec{Buffer: units.MB, Sharing: kind.Choice{Kind: "dynamic", Params: map[string]any{"alpha": 0.125}}},
		},
	} {
		t.Run(keys, func(t *testing.T) {
			l := load(t, write(t, "x.yaml", base+"switch: {buffer: "+keys+", scheduler: {kind: sp, queues: 3}}\n"))
			if !reflect.DeepEqual(l.Switch.Buffer, want.buffer) {
				t.Errorf("read %+v, want %+v", l.Switch.Buffer, want.buffer)
			}
			if again := reload(t, l); !reflect.DeepEqual(l, again) {
				t.Errorf("wrote\n%+v\nand read\n%+v", l, again)
			}
			spec, err := l.Fabric("droptail", 1)
			if err != nil {
				t.Fatal(err)
			}
			if got := spec.Port; got.Buffer != want.port.Buffer || !reflect.DeepEqual(got.Sharing, want.port.Sharing) {
				t.Errorf("ports get %v shared %+v, want %v, %+v", got.Buffer, got.Sharing, want.port.Buffer, want.port.Sharing)
			}
		})
	}
}

// Another sharing takes its own size; the one of the file is not used.
func TestOverrideSharing(t *testing.T) {
	path := write(t, "x.yaml", base)
	l := load(t, path, "switch.buffer.sharing=dynamic", "switch.buffer.pool=9MB", "switch.buffer.alpha=2")
	if want := (labs.Buffer{Sharing: "dynamic", Pool: 9 * units.MB, Params: map[string]any{"alpha": 2}}); !reflect.DeepEqual(l.Switch.Buffer, want) {
		t.Errorf("got %+v, want %+v", l.Switch.Buffer, want)
	}
}

// A scheme may come with a sharing of its own, of the same memory.
func TestSharingOfAScheme(t *testing.T) {
	const head = "topology: {rate: 1Gbps}\nrtt: 1ms\nswitch: {buffer: {sharing: pool, pool: 9MB}}\nschemes:\n  - {name: common, aqm: droptail}\n  - "
	l := load(t, write(t, "x.yaml", head+"{name: own, aqm: droptail, sharing: {kind: dynamic, alpha: 0.5}}\n"))
	if again := reload(t, l); !reflect.DeepEqual(l, again) {
		t.Errorf("wrote\n%+v\nand read\n%+v", l, again)
	}
	for name, want := range map[string]kind.Choice{"common": {Kind: "pool"}, "own": {Kind: "dynamic", Params: map[string]any{"alpha": 0.5}}} {
		spec, err := l.Fabric(name, 1)
		if err != nil || !reflect.DeepEqual(spec.Port.Sharing, want) || spec.Port.Buffer != 9*units.MB {
			t.Errorf("%s: %v shared %+v, %v", name, spec.Port.Buffer, spec.Port.Sharing, err)
		}
	}
	for scheme, want := range map[string]string{
		"sharing: fair}":                   `x.yaml:6: schemes.own.sharing.kind: unknown kind "fair": want one of port, static, pool, dynamic`,
		"sharing: {alpha: 2}}":             "x.yaml:6: schemes.own.sharing.kind: missing: want one of port, static, pool, dynamic",
		"sharing: {kind: pool, alpha: 2}}": "x.yaml:6: schemes.own.sharing.alpha: unknown parameter",
		"sharing: port}":                   "x.yaml:6: schemes.own.sharing.kind: port has other memory than pool, which switch.buffer.sharing is",
	} {
		_, err := labs.Parse("x.yaml", []byte(head+"{name: own, aqm: droptail, "+scheme+"\n"))
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: got %v, want %s", scheme, err, want)
		}
	}
}
