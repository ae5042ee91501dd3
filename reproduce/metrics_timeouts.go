package reproduce

import (
	"fmt"

	"aqmlab/results"
)

func timeouts(s subject) (float64, error) {
	return float64(results.CountsOf(s.point).Timeouts), nil
}

// counted are the flows of the claim's class whose timeouts were counted. Those of
// a flow that was cut short may not be, but those of one that completed must.
func (s subject) counted() ([]results.Flow, error) {
	var flows []results.Flow
	for _, f := range s.point.Flows {
		switch {
		case !results.Class(s.Class).Holds(f.Bytes):
		case f.Timeouts != results.Unknown:
			flows = append(flows, f)
		case f.Completed():
			return nil, fmt.Errorf("%w: nobody counted the timeouts of single flows", errNothing)
		}
	}
	if len(flows) == 0 {
		return nil, fmt.Errorf("%w: there is no flow of class %s", errNothing, s.Class)
	}
	return flows, nil
}

func classTimeouts(s subject) (float64, error) {
	flows, err := s.counted()
	sum := int64(0)
	for _, f := range flows {
		sum += f.Timeouts
	}
	return float64(sum), err
}

func classTimedOut(s subject) (float64, error) {
	flows, err := s.counted()
	if err != nil {
		return 0, err
	}
	met := 0
	for _, f := range flows {
		if f.Timeouts > 0 {
			met++
		}
	}
	return 100 * float64(met) / float64(len(flows)), nil
}
