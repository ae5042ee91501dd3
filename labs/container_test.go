package labs_test

import (
	"reflect"
	"slices"
	"testing"

	"aqmlab/labs"
	"aqmlab/units"
)

// TestContainer: what hosts are made of is read, written, and left out where a
// lab does not say.
func TestContainer(t *testing.T) {
	tests := map[string]labs.Container{
		"{mtu: 1500}":        {},
		"{image: debian:12}": {Image: "debian:12"},
		"{image: 'r.example.com:5000/me/app@sha256:e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855'}": {
			Image: "r.example.com:5000/me/app@sha256:e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"},
		"{cpus: 0.01, memory: 64MB}":   {CPUs: 0.01, Memory: 64 * units.MB},
		"{cpus: 1024, memory: 1000GB}": {CPUs: 1024, Memory: 1000 * units.GB},
	}
	for text, want := range tests {
		l := load(t, write(t, "x.yaml", base+"host: "+text+"\n"))
		if l.Host.Container != want {
			t.Errorf("%s: %+v, want %+v", text, l.Host.Container, want)
		}
		if again := reload(t, l); !reflect.DeepEqual(l, again) {
			t.Errorf("wrote\n%+v\nand read\n%+v", l.Host, again.Host)
		}
	}
	if l := load(t, write(t, "x.yaml", base), "host.image=app:1", "host.cpus=2", "host.memory=1GB"); l.Host.Container != (labs.Container{Image: "app:1", CPUs: 2, Memory: units.GB}) {
		t.Errorf("overridden: %+v", l.Host.Container)
	}
}

func TestBadContainers(t *testing.T) {
	tests := map[string]string{
		"{image: 'Debian 12'}": `x.yaml:3: host.image: "Debian 12" is not an image, such as debian:12: invalid reference format: repository name (library/Debian 12) must be lowercase`,
		"{image: [a]}":         `x.yaml:3: host.image: [a] is not text: want an image such as debian:12`,
		"{cpus: 0}":            `x.yaml:3: host.cpus: 0 is outside [0.01, 1024]`,
		"{cpus: 1025}":         `x.yaml:3: host.cpus: 1025 is outside [0.01, 1024]`,
		"{cpus: half}":         `x.yaml:3: host.cpus: "half" is not a number: want one in [0.01, 1024]`,
		"{memory: 63MB}":       `x.yaml:3: host.memory: 63MB is outside 64MB to 1000GB`,
		"{memory: 64}":         `x.yaml:3: host.memory: 64 has no unit: want a size such as 256MB`,
	}
	for host, want := range tests {
		_, err := labs.Parse("x.yaml", []byte(base+"host: "+host+"\n"))
		if err == nil || err.Error() != want {
			t.Errorf("%+v: got\n%v\nwant\n%s", host, err, want)
		}
	}
}

// TestContainersOnly: only hosts that are containers follow these keys.
func TestContainersOnly(t *testing.T) {
	l := load(t, write(t, "x.yaml", base+"host: {image: app:1, memory: 1GB}\n"))
	want := []string{"host.image: only hosts that are containers follow it", "host.memory: only hosts that are containers follow it"}
	for hosts, want := range map[labs.Hosts][]string{{}: want, {Containers: true}: nil, {Modelled: true}: nil} {
		if got := l.Unsupported(hosts); !slices.Equal(got, want) {
			t.Errorf("%+v: %q, want %q", hosts, got, want)
		}
	}
}
