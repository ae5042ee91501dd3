package host

import "testing"

func TestParseCPU(t *testing.T) {
	// user nice system idle iowait irq softirq steal guest guest_nice
	got, err := parseCPU(" 10 1 5 100 20 2 3 4 9 9")
	if want := (CPUTimes{Busy: 25, Interrupts: 5, Total: 145}); err != nil || got != want {
		t.Errorf("got %+v, %v; want %+v", got, err, want)
	}
	if _, err := parseCPU("1 two"); err == nil {
		t.Error("text passes as ticks")
	}
}

func TestReadCPUs(t *testing.T) {
	all, err := ReadCPUs([]int{0})
	if err != nil || all.Total <= 0 || all.Busy > all.Total {
		t.Errorf("CPU 0: %+v, %v", all, err)
	}
	none, err := ReadCPUs(nil)
	if err != nil || none != (CPUTimes{}) {
		t.Errorf("no CPUs: %+v, %v", none, err)
	}
}
