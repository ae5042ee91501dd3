package host

import (
	"testing"
	"time"
)

// TestOthers: the busiest programs beside the lab are named, if they use much
// of the machine.
func TestOthers(t *testing.T) {
	const s = time.Second
	lab := Process{PID: 1, Name: "aqmlab", CPU: 19 * s}
	burner := func(pid int, cpu time.Duration) Process { return Process{PID: pid, Name: "burner", CPU: cpu} }
	for _, tt := range []struct {
		name  string
		used  []Process
		ended time.Duration // used by programs that ended
		want  string
	}{
		{"nobody", nil, 0, ""},
		{"the lab", []Process{lab}, 0, ""},
		{"a child of the lab", []Process{{PID: 7, Parent: 1, Name: "exe", CPU: 19 * s}}, 0, ""},
		{"little", []Process{lab, burner(2, 1900*time.Millisecond)}, 0, ""},
		{"one", []Process{lab, burner(2, 9*s)}, 0, "other programs use 45 % of the CPUs: burner (process 2) 90 % of one"},
		{
			"the busiest", []Process{lab, burner(2, 10*s), burner(3, 5*s), burner(4, 3*s), burner(5, 2*s)}, 0,
			"other programs use 100 % of the CPUs: burner (process 2) 100 %, burner (process 3) 50 %, burner (process 4) 30 % of one",
		},
		{"many small", []Process{burner(2, s/2), burner(3, s/2), burner(4, s/2), burner(5, s/2)}, 0, "other programs use 10 % of the CPUs"},
		{"short ones", []Process{lab}, 5 * s, "other programs use 25 % of the CPUs"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			const interrupts = 700 // ticks, for the lab
			busy := int64(tt.ended/Tick) + interrupts
			for _, p := range tt.used {
				busy += int64(p.CPU / Tick)
			}
			after := Load{time.Time{}.Add(10 * s), tt.used, CPUTimes{Busy: busy, Interrupts: interrupts, Total: int64(20 * s / Tick)}}
			if got := after.Others(Load{}, 1); got != tt.want {
				t.Errorf("%q, want %q", got, tt.want)
			}
		})
	}
}
