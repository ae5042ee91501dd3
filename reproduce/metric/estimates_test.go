package metric

import (
	"errors"
	"math"
	"testing"
	"time"

	"aqmlab/labs"
	"aqmlab/reproduce/papers"
	"aqmlab/results"
)

// estimated is a queue to h1 that sends 100 KB every 100 ms, 8 Mbps. Its estimates,
// every 100 ms as well, are 16, 8 and 12 Mbps by themselves, and 16, 12 and 8.07
// smoothed; those of another queue and another port are none of its own.
func estimated() results.Point {
	p := results.Point{Queues: samples(steady(100_000))}
	for i, rates := range [][2]int64{{16e6, 16e6}, {8e6, 12e6}, {12e6, 8.07e6}} {
		at := time.Duration(i+1) * 100 * time.Millisecond
		p.Estimates = append(p.Estimates,
			results.EstimateSample{At: at, Port: "h1", Rate: rates[0], Smoothed: rates[1]},
			results.EstimateSample{At: at, Port: "h1", Queue: 1, Rate: 1, Smoothed: 8e6},
			results.EstimateSample{At: at, Port: "h2", Rate: 1e12, Smoothed: 8e6})
	}
	return p
}

func estimateCases() []metricCase {
	c := papers.Claim{Port: "h1", Windows: oneSecond()}
	late := papers.Claim{Port: "h1", Windows: []papers.Window{{From: 100 * time.Millisecond, To: 200 * time.Millisecond}}}
	wire := 1538.0 / 1500 / 1000
	return []metricCase{
		{"rate-samples", c, estimated(), 3},
		{"rate-samples", late, estimated(), 1},
		{"rate-sample-min", c, estimated(), 8 * wire},
		{"rate-sample-max", c, estimated(), 16 * wire},
		{"rate-estimate", c, estimated(), 8.07 * wire},
		{"rate-estimate", late, estimated(), 12 * wire},
		{"rate-convergence", c, estimated(), 300_000},
		{"rate-convergence", papers.Claim{Port: "h1", Windows: []papers.Window{{From: 100 * time.Millisecond, To: 900 * time.Millisecond}}}, estimated(), 200_000},
	}
}

// TestMetricsOfEstimates: figures are the same whatever lengths count, if estimates of
// the wire are as much higher as it takes more.
func TestMetricsOfEstimates(t *testing.T) {
	for lengths, factor := range map[string]float64{"ip": 1, "wire": 1538. / 1500} {
		lab := &labs.Lab{Host: labs.Host{MTU: 1500}, Switch: labs.Switch{Lengths: lengths}}
		for _, tt := range estimateCases() {
			for i := range tt.point.Estimates {
				e := &tt.point.Estimates[i]
				e.Rate, e.Smoothed = int64(float64(e.Rate)*factor), int64(float64(e.Smoothed)*factor)
			}
			m, _ := Find(tt.metric)
			got, err := m.Compute(Subject{tt.claim, tt.point, lab})
			if err != nil || math.Abs(got-tt.want) > 1e-6*tt.want { // rates are whole numbers
				t.Errorf("%s: %v, %v, want %v", tt.metric, got, err, tt.want)
			}
		}
	}
}

// A rate that never comes near takes for ever; without estimates, or without what
// the queue took of the link, there is nothing to say.
func TestNoConvergence(t *testing.T) {
	s := Subject{papers.Claim{Port: "h1", Windows: oneSecond()}, estimated(), &labs.Lab{Host: labs.Host{MTU: 1500}}}
	for i := range s.Point.Estimates {
		s.Point.Estimates[i].Smoothed = 8.09e6
	}
	if got, err := rateConvergence(s); err != nil || !math.IsInf(got, 1) {
		t.Errorf("%v, %v: want never", got, err)
	}
	s.Point.Queues = nil
	if _, err := rateConvergence(s); !errors.Is(err, ErrNothing) {
		t.Errorf("without samples of queues: error %v", err)
	}
	s.Point.Estimates = nil
	if _, err := rateSamples(s); !errors.Is(err, ErrNothing) {
		t.Errorf("without estimates: error %v", err)
	}
}
