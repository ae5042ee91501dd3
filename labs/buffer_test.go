package labs_test

import (
	"reflect"
	"testing"

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
			port.Spec{Buffer: 96 * units.KB, Sharing: port.Sharing{Kind: "port"}},
		},
		"{sharing: static, per_queue: 32KB}": {
			labs.Buffer{Sharing: "static", PerQueue: 32 * units.KB},
			port.Spec{Buffer: 96 * units.KB, Sharing: port.Sharing{Kind: "static", PerQueue: 32 * units.KB}},
		},
		"{sharing: pool, pool: 9MB}": {
			labs.Buffer{Sharing: "pool", Pool: 9 * units.MB},
			port.Spec{Buffer: 9 * units.MB, Sharing: port.Sharing{Kind: "pool"}},
		},
		"{sharing: dynamic, pool: 9MB}": {
			labs.Buffer{Sharing: "dynamic", Pool: 9 * units.MB, Alpha: 1},
			port.Spec{Buffer: 9 * units.MB, Sharing: port.Sharing{Kind: "dynamic", Alpha: 1}},
		},
		"{sharing: dynamic, pool: 1MB, alpha: 0.125}": {
			labs.Buffer{Sharing: "dynamic", Pool: units.MB, Alpha: 0.125},
			port.Spec{Buffer: units.MB, Sharing: port.Sharing{Kind: "dynamic", Alpha: 0.125}},
		},
	} {
		t.Run(keys, func(t *testing.T) {
			l := load(t, write(t, "x.yaml", base+"switch: {buffer: "+keys+", scheduler: {kind: sp, queues: 3}}\n"))
			if l.Switch.Buffer != want.buffer {
				t.Errorf("read %+v, want %+v", l.Switch.Buffer, want.buffer)
			}
			if again := reload(t, l); !reflect.DeepEqual(l, again) {
				t.Errorf("wrote\n%+v\nand read\n%+v", l, again)
			}
			spec, err := l.Fabric("droptail", 1)
			if err != nil {
				t.Fatal(err)
			}
			if got := spec.Port; got.Buffer != want.port.Buffer || got.Sharing != want.port.Sharing {
				t.Errorf("ports get %v shared %+v, want %v, %+v", got.Buffer, got.Sharing, want.port.Buffer, want.port.Sharing)
			}
		})
	}
}

// Another sharing takes its own size; the one of the file is not used.
func TestOverrideSharing(t *testing.T) {
	path := write(t, "x.yaml", base)
	l := load(t, path, "switch.buffer.sharing=dynamic", "switch.buffer.pool=9MB", "switch.buffer.alpha=2")
	if want := (labs.Buffer{Sharing: "dynamic", Pool: 9 * units.MB, Alpha: 2}); l.Switch.Buffer != want {
		t.Errorf("got %+v, want %+v", l.Switch.Buffer, want)
	}
}
