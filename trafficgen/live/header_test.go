package live

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"aqmlab/trafficgen/traffic"
	"aqmlab/units"
)

// full is a request that uses every field.
func full() request {
	return request{
		flow: 12345, bytes: 1_000_000, service: 46, count: 2,
		thresholds: [8]units.Size{20_000, 100_000}, rate: 62_500_000, lasts: time.Second, gap: 0x0205,
	}
}

// The bytes on the wire are those of the package comment.
func TestRequestLayout(t *testing.T) {
	want := [104]byte{
		'a', 'q', 'm', 2, 46, 2, 2, 5,
		0, 0, 0, 0, 0, 0, 0x30, 0x39,
		0, 0, 0, 0, 0, 0x0f, 0x42, 0x40,
		0, 0, 0, 0, 0x03, 0xb9, 0xac, 0xa0,
		0, 0, 0, 0, 0x3b, 0x9a, 0xca, 0,
		0, 0, 0, 0, 0, 0, 0x4e, 0x20,
		0, 0, 0, 0, 0, 1, 0x86, 0xa0,
	}
	q := full()
	got := [requestSize]byte{6: 1, 7: 1, 103: 1}
	if q.put(&got); got != want {
		t.Errorf("wrote % x, want % x", got, want)
	}
	if back, err := parseRequest(&want); back != q || err != nil {
		t.Errorf("read %+v, %v; want %+v", back, err, q)
	}
	if tagging := q.tagging(); !slices.Equal(tagging.Thresholds, []units.Size{20_000, 100_000}) {
		t.Errorf("tagging %+v", tagging)
	}
}

func TestAnswerLayout(t *testing.T) {
	q := full()
	var asked [requestSize]byte
	q.put(&asked)
	var got [24]byte
	putAnswer(&got, &asked, 0x0102030405060708)
	want := [24]byte{'a', 'q', 'm', 2, 46, 2, 2, 5, 0, 0, 0, 0, 0, 0, 0x30, 0x39, 1, 2, 3, 4, 5, 6, 7, 8}
	if got != want {
		t.Errorf("wrote % x, want % x", got, want)
	}
	if began, err := parseAnswer(&want, &asked); began != 0x0102030405060708 || err != nil {
		t.Errorf("read %x, %v", began, err)
	}
	want[15]++
	if _, err := parseAnswer(&want, &asked); !errors.Is(err, errProtocol) {
		t.Errorf("the answer to another request: %v", err)
	}
}

func TestRequestErrors(t *testing.T) {
	change := func(f func(*request)) func(*[requestSize]byte) {
		return func(b *[requestSize]byte) {
			q := full()
			f(&q)
			q.put(b)
		}
	}
	for want, change := range map[string]func(*[requestSize]byte){
		"it begins with 47 45 54 20":          func(b *[requestSize]byte) { copy(b[:], "GET / HTTP/1.1") },
		"it begins with 61 71 6d 01":          func(b *[requestSize]byte) { b[3] = 1 },
		"9 thresholds are above 8":            func(b *[requestSize]byte) { b[5] = 9 },
		"need 65 DSCPs: there are 64":         change(func(q *request) { q.service = 62 }),
		"0 bytes of payload are outside":      change(func(q *request) { q.bytes = 0 }),
		"1099511627777 bytes of payload":      change(func(q *request) { q.bytes = traffic.MaxBytes + 1 }),
		"-1 bytes of payload":                 change(func(q *request) { q.bytes = -1 }),
		"rate -1 is outside":                  change(func(q *request) { q.rate = -1 }),
		"time -1ns is below zero":             change(func(q *request) { q.lasts = -1 }),
		"threshold 100KB is beyond":           change(func(q *request) { q.count = 1 }),
		"threshold 10KB is not above 20KB":    change(func(q *request) { q.thresholds[1] = 10_000 }),
		"threshold 0B is not above 100KB":     change(func(q *request) { q.count = 3 }),
		"threshold 1KB is beyond the number ": change(func(q *request) { q.thresholds[7] = 1000 }),
	} {
		q := full()
		var b [requestSize]byte
		q.put(&b)
		change(&b)
		if _, err := parseRequest(&b); !errors.Is(err, errProtocol) || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v, want %s", err, want)
		}
	}
}

// What parses is within bounds and is written back as it was; the rest is an
// error of the protocol.
func FuzzParseHeader(f *testing.F) {
	var b [requestSize]byte
	q := full()
	q.put(&b)
	f.Add(b[:])
	f.Add([]byte("GET / HTTP/1.1\r\nHost: a\r\n"))
	f.Fuzz(func(t *testing.T, data []byte) {
		var in, out [requestSize]byte
		copy(in[:], data)
		q, err := parseRequest(&in)
		if err != nil {
			if !errors.Is(err, errProtocol) {
				t.Fatalf("error %v", err)
			}
			return
		}
		if last := q.tagging().DSCP(int(q.service), q.bytes); last > 63 || q.bytes < 1 || q.bytes > traffic.MaxBytes || q.rate < 0 || q.lasts < 0 {
			t.Fatalf("%+v is out of bounds", q)
		}
		if q.put(&out); in != out {
			t.Fatalf("% x reads as %+v and writes as % x", in, q, out)
		}
	})
}
