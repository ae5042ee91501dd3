package results

import (
	"encoding/json"
	"reflect"
	"strings"
	"testing"
	"time"
)

func TestSpanOf(t *testing.T) {
	const us = time.Microsecond
	if got := SpanOf(nil); got != (RTTSpan{}) {
		t.Errorf("span of nothing is %+v", got)
	}
	got := SpanOf([]time.Duration{30 * us, 10 * us, 50 * us, 10 * us})
	if want := (RTTSpan{Mean: Micros(25 * us), Min: Micros(10 * us), Max: Micros(50 * us)}); got != want {
		t.Errorf("span %+v, want %+v", got, want)
	}
}

// TestMissedRTTs: a run says so if the mean or the range of base RTTs is more
// than 5 % off.
func TestMissedRTTs(t *testing.T) {
	span := func(mean, least, most float64) RTTSpan {
		us := func(f float64) Micros { return Micros(f * 1e3) }
		return RTTSpan{us(mean), us(least), us(most)}
	}
	host := func(name string, measured, lab RTTSpan) BaseRTT {
		return BaseRTT{Seed: 3, Host: name, Connections: 2, Measured: measured, Lab: lab}
	}
	good := host("h1", span(104.9, 76.1, 228.1), span(100, 80, 240))
	tests := map[string]struct {
		rtts []BaseRTT
		want []string // parts of the text
	}{
		"nothing measured":  {nil, nil},
		"within 5 %":        {[]BaseRTT{good}, nil},
		"mean":              {[]BaseRTT{good, host("h2", span(105.1, 80, 240), span(100, 80, 240))}, []string{"1 of 2", "h2 with seed 3", "105.1µs (80µs to 240µs), want 100µs"}},
		"shortest":          {[]BaseRTT{host("h2", span(100, 75.9, 240), span(100, 80, 240))}, []string{"1 of 1", "h2"}},
		"longest":           {[]BaseRTT{host("h2", span(100, 80, 252.1), span(100, 80, 240))}, []string{"1 of 1", "h2"}},
		"the worst of them": {[]BaseRTT{host("h2", span(110, 110, 110), span(100, 100, 100)), host("h3", span(80, 80, 80), span(100, 100, 100)), good}, []string{"2 of 3", "h3 with seed 3: 80µs, want 100µs"}},
		"none asked for":    {[]BaseRTT{host("h2", span(100, 80, 240), RTTSpan{})}, nil},
		"some from zero":    {[]BaseRTT{host("h2", span(100, 30, 240), span(100, 0, 240))}, nil},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			got := MissedRTTs(tt.rtts)
			if (got == "") != (tt.want == nil) {
				t.Fatalf("got %q", got)
			}
			for _, part := range tt.want {
				if !strings.Contains(got, part) {
					t.Errorf("%q does not hold %q", got, part)
				}
			}
		})
	}
}

// TestBaseRTTAsJSON: times are microseconds, and come back to the nanosecond.
func TestBaseRTTAsJSON(t *testing.T) {
	b := BaseRTT{Seed: 1, Host: "h1", Connections: 4, Measured: RTTSpan{81234, 80001, 90000}, Lab: RTTSpan{81000, 80000, 90000}}
	text, err := json.Marshal(b)
	if err != nil {
		t.Fatal(err)
	}
	want := `{"seed":1,"host":"h1","connections":4,"measured_us":{"mean":81.234,"min":80.001,"max":90},"lab_us":{"mean":81,"min":80,"max":90}}`
	if string(text) != want {
		t.Errorf("got\n%s\nwant\n%s", text, want)
	}
	var back BaseRTT
	if err := json.Unmarshal(text, &back); err != nil || !reflect.DeepEqual(back, b) {
		t.Errorf("back is %+v, %v", back, err)
	}
}
