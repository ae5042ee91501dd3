package units_test

import (
	"encoding/json"
	"math"
	"math/big"
	"strings"
	"testing"
	"time"

	"aqmlab/units"
)

func TestParseRate(t *testing.T) {
	good := map[string]units.Rate{
		"10Gbps":                 10e9,
		"100 Mbps":               100e6,
		" 1.5Gbps ":              1.5e9,
		"64Kbps":                 64e3,
		"64kbps":                 64e3,
		"8bps":                   8,
		"0bps":                   0,
		"1Tbps":                  1e12,
		"9007199254740993bps":    1<<53 + 1, // not representable as a float64
		"9223372036854775807bps": math.MaxInt64,
		"0.6bps":                 1,
	}
	for in, want := range good {
		if got, err := units.ParseRate(in); err != nil || got != want {
			t.Errorf("ParseRate(%q) = %d, %v; want %d", in, got, err, want)
		}
	}
	for _, in := range []string{"", "10", "Gbps", "10gbps", "10GB", "10Gb/s", "-1Gbps", "1.2.3Gbps", "NaNbps", "Infbps", "1e30Gbps", "9223372036854775808bps", "1 0Gbps"} {
		if got, err := units.ParseRate(in); err == nil {
			t.Errorf("ParseRate(%q) = %v, want an error", in, got)
		} else if !strings.Contains(err.Error(), "10Gbps") {
			t.Errorf("ParseRate(%q): %v: want an example", in, err)
		}
	}
}

func TestParseSize(t *testing.T) {
	good := map[string]units.Size{
		"96KB":   96_000,
		"96kB":   96_000,
		"2500B":  2500,
		"1.5MB":  1_500_000,
		"64KiB":  65_536,
		"1MiB":   1 << 20,
		"2 GiB":  2 << 30,
		"0.5KiB": 512,
		"1GB":    1e9,
		"0B":     0,
	}
	for in, want := range good {
		if got, err := units.ParseSize(in); err != nil || got != want {
			t.Errorf("ParseSize(%q) = %d, %v; want %d", in, got, err, want)
		}
	}
	for _, in := range []string{"", "96", "KB", "96K", "96kb", "-1B", "NaNB", "infMB", "10000000000GB"} {
		if got, err := units.ParseSize(in); err == nil {
			t.Errorf("ParseSize(%q) = %v, want an error", in, got)
		} else if !strings.Contains(err.Error(), "96KB") {
			t.Errorf("ParseSize(%q): %v: want an example", in, err)
		}
	}
}

func TestParseTime(t *testing.T) {
	good := map[string]time.Duration{
		"250us":  250 * time.Microsecond,
		"250µs":  250 * time.Microsecond,
		"10 ms":  10 * time.Millisecond,
		" 1.5s ": 1500 * time.Millisecond,
		"1m30s":  90 * time.Second,
		"0s":     0,
		"-5ms":   -5 * time.Millisecond,
		"10ns":   10,
	}
	for in, want := range good {
		if got, err := units.ParseTime(in); err != nil || got != want {
			t.Errorf("ParseTime(%q) = %v, %v; want %v", in, got, err, want)
		}
	}
	for _, in := range []string{"", "0", "+0", "-0", "250", "us", "250u", "1 0ms", "1 .5s", "1m 30s", "10 KB", "10 m s"} {
		if got, err := units.ParseTime(in); err == nil {
			t.Errorf("ParseTime(%q) = %v, want an error", in, got)
		} else if !strings.Contains(err.Error(), "250us") {
			t.Errorf("ParseTime(%q): %v: want an example", in, err)
		}
	}
}

func TestFormat(t *testing.T) {
	tests := []struct{ got, want string }{
		{units.Rate(10e9).String(), "10Gbps"},
		{units.Rate(995e6).String(), "995Mbps"},
		{units.Rate(1_500_000_000).String(), "1.5Gbps"},
		{units.Rate(999).String(), "999bps"},
		{units.Rate(0).String(), "0bps"},
		{units.Size(96_000).String(), "96KB"},
		{units.Size(2500).String(), "2.5KB"},
		{units.Size(1001).String(), "1.001KB"},
		{units.Size(65_536).String(), "65.536KB"},
		{units.Size(1_048_576).String(), "1048.576KB"},
		{units.Size(-2500).String(), "-2.5KB"},
		{units.Size(0).String(), "0B"},
		{units.FormatTime(250 * time.Microsecond), "250us"},
		{units.FormatTime(51_200), "51.2us"},
		{units.FormatTime(1_234_567), "1234.567us"},
		{units.FormatTime(90 * time.Second), "90s"},
		{units.FormatTime(-10 * time.Millisecond), "-10ms"},
		{units.FormatTime(1), "1ns"},
		{units.FormatTime(0), "0s"},
	}
	for _, tt := range tests {
		if tt.got != tt.want {
			t.Errorf("got %s, want %s", tt.got, tt.want)
		}
	}
}

// FuzzFormat checks that printing and parsing are each other's inverse.
func FuzzFormat(f *testing.F) {
	for _, v := range []int64{0, 1, 999, 1001, 2500, 65_536, 1e9 + 1, 1e15 - 1, 1e15 + 1, 1<<53 + 1, math.MaxInt64} {
		f.Add(v)
	}
	f.Fuzz(func(t *testing.T, v int64) {
		if d, err := units.ParseTime(units.FormatTime(time.Duration(v))); err != nil || int64(d) != v {
			t.Errorf("time %d -> %s -> %d, %v", v, units.FormatTime(time.Duration(v)), d, err)
		}
		if v < 0 {
			return // no lab has a negative rate or size
		}
		if r, err := units.ParseRate(units.Rate(v).String()); err != nil || int64(r) != v {
			t.Errorf("rate %d -> %v -> %d, %v", v, units.Rate(v), r, err)
		}
		if s, err := units.ParseSize(units.Size(v).String()); err != nil || int64(s) != v {
			t.Errorf("size %d -> %v -> %d, %v", v, units.Size(v), s, err)
		}
	})
}

func TestJSON(t *testing.T) {
	type pair struct {
		Rate units.Rate
		Size units.Size
	}
	want := pair{units.Gbps, 0}
	b, err := json.Marshal(want)
	if err != nil || string(b) != `{"Rate":"1Gbps","Size":"0B"}` {
		t.Fatalf("Marshal = %s, %v", b, err)
	}
	var got pair
	if err := json.Unmarshal(b, &got); err != nil || got != want {
		t.Errorf("Unmarshal = %v, %v; want %v", got, err, want)
	}
	for _, bad := range []string{`{"Rate":"fast"}`, `{"Size":"big"}`, `{"Rate":1000}`} {
		if err := json.Unmarshal([]byte(bad), &got); err == nil {
			t.Errorf("Unmarshal(%s): want an error", bad)
		}
	}
}

func TestRateBytes(t *testing.T) {
	tests := []struct {
		rate units.Rate
		d    time.Duration
		want int64
	}{
		{units.Gbps, time.Second, 125_000_000},
		{8 * units.Gbps, 3, 3}, // a float64 product falls short of 3
		{10 * units.Gbps, 1230, 1537},
		{10 * units.Gbps, 250 * time.Microsecond, 312_500},
		{8, time.Second - 1, 0},
		{4 * units.Gbps, math.MaxInt64, math.MaxInt64 / 2}, // beyond int64 in between
		{math.MaxInt64, math.MaxInt64, math.MaxInt64},
		{units.Gbps, -time.Second, 0},
		{0, time.Second, 0},
	}
	for _, tt := range tests {
		if got := tt.rate.Bytes(tt.d); got != tt.want {
			t.Errorf("%v in %v carries %d bytes, want %d", tt.rate, tt.d, got, tt.want)
		}
	}
}

func TestRateTime(t *testing.T) {
	tests := []struct {
		rate units.Rate
		n    int
		want time.Duration
	}{
		{units.Gbps, 1500, 12 * time.Microsecond},
		{100 * units.Gbps, 1538, 123}, // 123.04 ns
		{3, 1, 2_666_666_667},         // rounded up
		{units.Gbps, 0, 0},
	}
	for _, tt := range tests {
		if got := tt.rate.Time(tt.n); got != tt.want {
			t.Errorf("%v carries %d bytes in %v, want %v", tt.rate, tt.n, got, tt.want)
		}
	}
}

// A full frame at 100 Gbps takes 123.04 ns: 25 of them, back to back, take 3076
// ns, which rounding each would make 3075.
func TestClockKeepsFractions(t *testing.T) {
	var c units.Clock
	var at time.Duration
	for i := range 25 {
		at = c.Transmit(at, 1538, 100*units.Gbps, i > 0)
	}
	if at != 3076 {
		t.Errorf("25 frames took %d ns, want 3076", at)
	}
}

func TestClockStartsAfreshAfterAPause(t *testing.T) {
	var c units.Clock
	const rate = 3 * units.Gbps // a byte takes 2 2/3 ns
	if at := c.Transmit(0, 1, rate, false); at != 2 {
		t.Fatalf("the first byte was sent at %d ns, want 2", at)
	}
	if at := c.Transmit(100, 1, rate, false); at != 102 {
		t.Errorf("a byte after a pause was sent at %d ns, want 102", at)
	}
	if at := c.Transmit(102, 1, rate, true); at != 105 {
		t.Errorf("the byte back to back was sent at %d ns, want 105", at)
	}
}

// Over many frames the clock is never off by a nanosecond.
func TestClockDoesNotDrift(t *testing.T) {
	var c units.Clock
	var at time.Duration
	const rate, size = 7 * units.Gbps, 1538
	for i := range int64(700_000) {
		at = c.Transmit(at, size, rate, i > 0)
		if want := (i + 1) * size * 8e9 / int64(rate); int64(at) != want {
			t.Fatalf("frame %d was sent at %d ns, want %d", i, at, want)
		}
	}
}

// FuzzClock: whatever a clock was used for before, and whatever it sends at whatever rate,
// it ends when an exact division says.
func FuzzClock(f *testing.F) {
	for _, r := range []int64{1, 2, 3, 7, 8e9, 8e9 + 1, 1e9, 25e9, 100e9, 1<<62 - 1, 1 << 62, math.MaxInt64} {
		for _, n := range []int32{0, 1, 84, 1538, 9038, 1e9} {
			f.Add(r, n, r, n)
			f.Add(int64(10e9), int32(1538), r, n)
		}
	}
	f.Fuzz(func(t *testing.T, before int64, first int32, r int64, n int32) {
		var c units.Clock
		rest := new(big.Int)
		for i, send := range []struct {
			rate  int64
			bytes int32
		}{{before, first}, {r, n}, {r, n}, {r, n}} {
			if send.rate < 1 || send.bytes < 0 || send.bytes > 1e9 {
				return // no link is so
			}
			follows := i > 1
			if !follows {
				rest.SetInt64(0)
			}
			bits := new(big.Int).Mul(big.NewInt(int64(send.bytes)), big.NewInt(8e9))
			if bits.Add(bits, rest); !bits.IsInt64() {
				return // no packet is so long
			}
			want, _ := bits.DivMod(bits, big.NewInt(send.rate), rest)
			if got := c.Transmit(5, int(send.bytes), units.Rate(send.rate), follows); int64(got) != 5+want.Int64() {
				t.Fatalf("transmission %d, %d bytes at %d bps: %d ns, want %d", i, send.bytes, send.rate, int64(got)-5, want)
			}
		}
	})
}
