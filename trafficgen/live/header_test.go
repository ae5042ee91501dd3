package live

import (
	"errors"
	"strings"
	"testing"

	"aqmlab/trafficgen"
)

// The bytes on the wire are those of the package comment.
func TestHeaderLayout(t *testing.T) {
	want := [headerSize]byte{
		'a', 'q', 'm', 1,
		46, 0, 0, 0,
		0, 0, 0, 0, 0, 0, 0x30, 0x39,
		0, 0, 0, 0, 0, 0x0f, 0x42, 0x40,
	}
	h := header{dscp: 46, flow: 12345, bytes: 1_000_000}
	got := [headerSize]byte{5: 1, 6: 1, 7: 1}
	if h.put(&got); got != want {
		t.Errorf("wrote % x, want % x", got, want)
	}
	if back, err := parseHeader(&want); back != h || err != nil {
		t.Errorf("read %+v, %v; want %+v", back, err, h)
	}
}

func TestHeaderErrors(t *testing.T) {
	for want, change := range map[string]func(*[headerSize]byte){
		"it begins with 47 45 54 20": func(b *[headerSize]byte) { copy(b[:], "GET / HTTP/1.1") },
		"it begins with 61 71 6d 02": func(b *[headerSize]byte) { b[3] = 2 },
		"DSCP 64 is above 63":        func(b *[headerSize]byte) { b[4] = 64 },
		"reserved bytes 00 00 01":    func(b *[headerSize]byte) { b[7] = 1 },
		"0 bytes of payload":         func(b *[headerSize]byte) { clear(b[16:]) },
		"1099511627777 bytes of":     func(b *[headerSize]byte) { header{bytes: trafficgen.MaxBytes + 1}.put(b) },
		"18446744073709551615 bytes": func(b *[headerSize]byte) { header{bytes: -1}.put(b) },
	} {
		var b [headerSize]byte
		header{dscp: 1, flow: 2, bytes: 3}.put(&b)
		change(&b)
		_, err := parseHeader(&b)
		if !errors.Is(err, errProtocol) || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v, want %s", err, want)
		}
	}
}

// What parses is within bounds and is written back as it was; the rest is an
// error of the protocol.
func FuzzParseHeader(f *testing.F) {
	var b [headerSize]byte
	header{dscp: 63, flow: 1 << 63, bytes: trafficgen.MaxBytes}.put(&b)
	f.Add(b[:])
	f.Add([]byte("GET / HTTP/1.1\r\nHost: a\r\n"))
	f.Fuzz(func(t *testing.T, data []byte) {
		var in, out [headerSize]byte
		copy(in[:], data)
		h, err := parseHeader(&in)
		if err != nil {
			if !errors.Is(err, errProtocol) {
				t.Fatalf("error %v", err)
			}
			return
		}
		if h.dscp > 63 || h.bytes < 1 || h.bytes > trafficgen.MaxBytes {
			t.Fatalf("%+v is out of bounds", h)
		}
		if h.put(&out); in != out {
			t.Fatalf("% x reads as %+v and writes as % x", in, h, out)
		}
	})
}
