package foreign

import (
	"bufio"
	"fmt"
	"io"
	"math"
	"regexp"
	"strconv"
	"time"
)

// readHTSim reads the lines that sources of csg-htsim print when their flows end, among
// others:
//
//	Flow Uec_3_0 flowId 12 uec_7 finished at 1234.56 total packets 40 RTS 0 total bytes 160000
//
// The time is in microseconds. The number is that of the connection matrix (id), where zero
// is not allowed: that of the trace and one.
func readHTSim(in io.Reader) (seen []Seen, err error) {
	ended := regexp.MustCompile(`^Flow \S+ flow_?[iI]d (\d+) .*?finished at ([0-9.eE+]+)\b.* total bytes (\d+)`)
	anonymous := regexp.MustCompile(`^Flow .*finished at `)
	lines := bufio.NewScanner(in)
	lines.Buffer(nil, maxLine+1)
	for n := 1; lines.Scan(); n++ {
		line := lines.Text()
		found := ended.FindStringSubmatch(line)
		if found == nil {
			if anonymous.MatchString(line) {
				return nil, fmt.Errorf("line %d: %q does not say which flow ended, as other programs of htsim do: Flow NAME flowId NUMBER ... finished at TIME ... total bytes NUMBER", n, line)
			}
			continue
		}
		s, err := endedFlow(found)
		if err != nil {
			return nil, fmt.Errorf("line %d: %w", n, err)
		}
		seen = append(seen, s)
	}
	return seen, lines.Err()
}

func endedFlow(found []string) (Seen, error) {
	id, err := strconv.ParseInt(found[1], 10, 64)
	if err != nil || id == 0 {
		return Seen{}, fmt.Errorf("flow %s: want a number from 1", found[1])
	}
	us, err := strconv.ParseFloat(found[2], 64)
	if err != nil || !(us >= 0 && us < math.MaxInt64/4e3) {
		return Seen{}, fmt.Errorf("flow %d: %q is no time in microseconds", id, found[2])
	}
	bytes, err := strconv.ParseInt(found[3], 10, 64)
	if err != nil {
		return Seen{}, fmt.Errorf("flow %d: %q is no number of bytes", id, found[3])
	}
	return Seen{ID: id - 1, Start: -1, End: time.Duration(math.Round(us * 1e3)), Exact: rounding(found[2], us*1e3), Bytes: bytes}, nil
}
