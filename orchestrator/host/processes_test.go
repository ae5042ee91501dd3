package host

import (
	"os"
	"reflect"
	"testing"
	"time"
)

func TestParseProcess(t *testing.T) {
	// Fields 1 to 22 of proc(5): user time is 14, system time 15, start time 22.
	const text = "7 (a) b (c) S 4 5 6 7 8 9 10 11 12 13 140 15 16 17 18 19 20 21 2200 23 24\n"
	got, err := parseProcess([]byte(text))
	if want := (Process{Name: "a) b (c", Parent: 4, Start: 2200, CPU: 1550 * time.Millisecond}); err != nil || got != want {
		t.Errorf("%+v, %v; want %+v", got, err, want)
	}
	for _, bad := range []string{"", "7 (a) S 1 2", ")(", "7 (a) S 4 5 6 7 8 9 10 11 12 13 x 15 16 17 18 19 20 21 2200"} {
		if p, err := parseProcess([]byte(bad)); err == nil {
			t.Errorf("%q is %+v", bad, p)
		}
	}
}

func TestUsed(t *testing.T) {
	before := []Process{{1, 1, "idle", 10, 5}, {2, 1, "busy", 10, 5}, {3, 1, "gone", 10, 5}, {4, 1, "before", 10, 5}}
	after := []Process{{1, 1, "idle", 10, 5}, {2, 1, "busy", 10, 25}, {4, 1, "reused number", 90, 30}, {5, 1, "new", 90, 2}}
	want := []Process{{4, 1, "reused number", 90, 30}, {2, 1, "busy", 10, 20}, {5, 1, "new", 90, 2}}
	if got := Used(before, after); !reflect.DeepEqual(got, want) {
		t.Errorf("%+v, want %+v", got, want)
	}
}

func TestProcesses(t *testing.T) {
	for _, p := range Processes() {
		if p.PID == os.Getpid() {
			return
		}
	}
	t.Error("this process is not among them")
}
