package labs_test

import (
	"crypto/sha256"
	"fmt"
	"reflect"
	"regexp"
	"strings"
	"testing"

	"aqmlab/labs"
)

// reload writes a lab and reads it again under another name.
func reload(t *testing.T, l *labs.Lab) *labs.Lab {
	t.Helper()
	b, err := l.YAML()
	if err != nil {
		t.Fatal(err)
	}
	again, err := labs.Parse("stored.yaml", b)
	if err != nil {
		t.Fatalf("the written lab does not load:\n%v\n%s", err, b)
	}
	return again
}

func TestWrittenLabLoadsEqual(t *testing.T) {
	files := map[string]string{
		"base":    base,
		"queues":  queues,
		"lambda":  base + "switch: {scheduler: {kind: dwrr, queues: 2, weights: [2.0, 1]}}\n",
		"words":   base + "title: \"yes: 1, #2 'three' \\\"four\\\" µ\"\nsource: {paper: \"012\", experiment: \"null\"}\n",
		"numbers": base + "name: \"123\"\nrtt: 1.2345ms\nworkload: {load: [1, 0.1, 0.30000000000000004]}\nseeds: [0, 9223372036854775807]\ndilation: 1.5\n",
		"sizes":   base + "switch: {buffer: {per_port: 1234567B}, limiter: {rate_fraction: 0.1, bucket: 64KiB}}\nworkload: {sizes: {kind: fixed, size: 1B}}\n",
	}
	for name, file := range files {
		t.Run(name, func(t *testing.T) {
			l, err := labs.Parse("x.yaml", []byte(file))
			if err != nil {
				t.Fatal(err)
			}
			if again := reload(t, l); !reflect.DeepEqual(l, again) {
				t.Errorf("wrote\n%+v\nand read\n%+v", l, again)
			}
		})
	}
}

// What was overridden is part of what is stored.
func TestWrittenLabHoldsOverrides(t *testing.T) {
	l := load(t, "quickstart", "schemes.tcn.threshold=100us", "switch.scheduler.weights=4,3,2,1", "rtt=1ms", "seeds=1..3")
	if again := reload(t, l); !reflect.DeepEqual(l, again) {
		t.Errorf("wrote\n%+v\nand read\n%+v", l, again)
	}
}

// TestWrittenBookLoadsEqual: every lab of the book is stored as what it is, with overrides.
func TestWrittenBookLoadsEqual(t *testing.T) {
	book, err := labs.Book()
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range book {
		l := load(t, e.Name, "workload.flows=77", "seeds=4..6", "host.rto_min=7ms")
		again := reload(t, l)
		if !reflect.DeepEqual(l, again) {
			t.Errorf("%s: wrote\n%+v\nand read\n%+v", e.Name, l, again)
		}
		one, err := l.YAML()
		two, other := again.YAML()
		if err != nil || other != nil || string(one) != string(two) {
			t.Errorf("%s: written again it is another: %v, %v", e.Name, err, other)
		}
	}
}

func TestHash(t *testing.T) {
	hash := load(t, "smoke").Hash()
	if !regexp.MustCompile(`^[0-9a-f]{8}$`).MatchString(hash) {
		t.Errorf("hash %q", hash)
	}
	if again := load(t, "smoke").Hash(); again != hash {
		t.Errorf("hashes %s and %s of one lab", hash, again)
	}
	if again := reload(t, load(t, "smoke")).Hash(); again != hash {
		t.Errorf("hash %s of the stored lab, %s before", again, hash)
	}
	if other := load(t, "smoke", "workload.flows=21").Hash(); other == hash {
		t.Errorf("hash %s of two labs", hash)
	}
	// The same lab in other words.
	if same := load(t, "smoke", "switch.buffer.per_port=0.1MB", "seeds=1..1").Hash(); same != hash {
		t.Errorf("hashes %s and %s of one lab", hash, same)
	}
}

func FuzzLoad(f *testing.F) {
	f.Add([]byte(base))
	f.Add([]byte(queues))
	f.Add([]byte(abqLab))
	f.Add([]byte("topology: {kind: leaf-spine, leaves: 3, core_rate: 40Gbps, rate: 10Gbps, link_delay: 1us}\nschemes: [{name: d, aqm: droptail}]\nrtt: {max: 1ms, distribution: long-tail, per: host}\nhost: {transport: {g: 1}, delayed_ack: 1}\n"))
	f.Add([]byte("topology: {rate: 1Gbps}\nschemes: [{name: d, aqm: droptail, x: [1, {a: b}]}]\nrtt: !!binary aGVsbG8=\n"))
	f.Add([]byte("a: &a [*a]\nb: *a\nschemes: *a\n? {c: d}\n: 2020-01-01\n"))
	f.Add([]byte("topology: {rate: 1Gbps}\nschemes:\n  - {name: t, aqm: tcn, threshold: 1us, lambda: 1e3}\nseeds: 0..9\nworkload: {services: [1], load: [0x1p-1]}\n"))
	f.Fuzz(func(t *testing.T, file []byte) {
		if strings.Contains(string(file), "file") {
			t.Skip("a lab that names files may open any")
		}
		l, err := labs.Parse("x.yaml", file)
		if err != nil {
			if l != nil || strings.TrimSpace(err.Error()) == "" {
				t.Fatalf("Parse = %+v, %q", l, err)
			}
			return
		}
		if again := reload(t, l); !reflect.DeepEqual(l, again) {
			t.Errorf("wrote\n%+v\nand read\n%+v", l, again)
		}
	})
}

// TestHashOfLengths: a hash is that of the lab as it is written. How lengths are counted is left out where
// it is as it always was.
func TestHashOfLengths(t *testing.T) {
	for _, lengths := range []string{"ip", "wire"} {
		l := load(t, write(t, "ip.yaml", base+"switch: {lengths: "+lengths+"}\nname: ip\n"))
		text, err := l.YAML()
		if err != nil {
			t.Fatal(err)
		}
		text = regexp.MustCompile(`(?m)^ *lengths: ip( #.*)?\n`).ReplaceAll(text, nil)
		if sum := fmt.Sprintf("%x", sha256.Sum256(text)); l.Hash() != sum[:8] {
			t.Errorf("lengths: %s: %s, want %s, that of\n%s", lengths, l.Hash(), sum[:8], text)
		}
	}
}
