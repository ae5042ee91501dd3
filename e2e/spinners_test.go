package e2e

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"aqmlab/results"
)

// spinners is a lab in which two programs wait by reading the clock, and a third one tells
// by how many nanoseconds at most it woke late.
const spinners = `
name: spinners
topology: {kind: star, hosts: 3, rate: 1Gbps}
rtt: 200us
schemes: [{name: droptail, aqm: droptail}]
workload: {arrival: none}
programs:
  - name: one
    on: h1
    run: [python3, -c, "import time\nend = time.monotonic() + 0.06\nwhile time.monotonic() < end: pass"]
  - name: two
    on: h3
    run: [python3, -c, "import time\nend = time.monotonic() + 0.06\nwhile time.monotonic() < end: pass"]
  - name: sleeper
    on: h2
    run: [python3, -c, "import time\nlate = []\nfor i in range(40):\n  t = time.monotonic_ns()\n  time.sleep(0.0007)\n  late.append(time.monotonic_ns() - t - 700000)\nprint(max(late))"]
`

// TestGuestSpinners: programs that wait by reading the clock come to their end, and make
// nobody late. Linux itself lets a sleep take 50 us longer (timer slack).
func TestGuestSpinners(t *testing.T) { testGuestSpinners(t, "6.1") }

// TestGuestSpinnersOfOtherKernel is the same on another kernel, whose scheduler is another.
func TestGuestSpinnersOfOtherKernel(t *testing.T) { testGuestSpinners(t, "6.12") }

func testGuestSpinners(t *testing.T, kernel string) {
	t.Helper()
	needPrograms(t)
	run, _ := needGuestOf(t, kernel).run(t, labFile(t, spinners), "--kernel", kernel)
	for _, s := range run.Points() {
		text, err := os.ReadFile(filepath.Join(s.Path(), results.OutputFile("sleeper", "out")))
		if err != nil {
			t.Fatal(err)
		}
		late, err := strconv.Atoi(strings.TrimSpace(string(text)))
		if err != nil || late < 0 || late > 55_000 {
			t.Errorf("the sleeper was %d ns late, %v", late, err)
		}
	}
}
