package metric

import (
	"time"

	"aqmlab/results"
)

// goodputRatio is of flows that were sent for a time: what each got in it.
func goodputRatio(s Subject) (float64, error) {
	var own, others []float64
	for _, f := range s.Point.Flows {
		if f.FCT == 0 {
			continue
		}
		rate := float64(f.Received) / f.FCT.Seconds()
		if f.Transport == 0 {
			own = append(own, rate)
		} else {
			others = append(others, rate)
		}
	}
	if len(own) == 0 || len(others) == 0 || mean(others) == 0 {
		return 0, nothing("the flows do not speak two transports")
	}
	return mean(own) / mean(others), nil
}

// ofClass adds up what became of the packets of the claim's DSCP.
func (s Subject) ofClass() (sum results.ClassCount, err error) {
	for _, c := range s.Point.Classes {
		if c.Port == s.Port && c.DSCP == s.DSCP {
			sum.Sent += c.Sent
			sum.Waited += c.Waited
			sum.DropsFull += c.DropsFull
			sum.DropsScheme += c.DropsScheme
		}
	}
	if sum.Sent == 0 {
		return sum, nothing("no packet of DSCP %d was sent to %s, or nobody counted", s.DSCP, s.Port)
	}
	return sum, nil
}

func classWait(c results.ClassCount) float64 {
	return float64(c.Waited) / float64(c.Sent) / float64(time.Microsecond)
}

func classDrops(c results.ClassCount) float64 { return float64(c.DropsFull + c.DropsScheme) }
