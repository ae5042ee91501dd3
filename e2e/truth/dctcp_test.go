package truth

import (
	"fmt"
	"math"
	"testing"
	"time"

	"aqmlab/units"
)

// sawtooth is the steady state of n DCTCP flows whose windows swing together, as
// Alizadeh et al. derive it (Data Center TCP, SIGCOMM 2010, section 3.3). bdp is
// C x RTT, k the threshold, and a window that reaches w* = (bdp + k) / n is marked
// for one round trip, in which it grows to w* + 1. Lengths are in packets, the
// period is in round trips.
type sawtooth struct{ alpha, most, amplitude, period float64 }

func newSawtooth(n, bdp, k float64) sawtooth {
	w := (bdp + k) / n
	alpha := 0.0
	for range 100 { // equation 6: alpha^2 (1 - alpha/4) = (2 w* + 1) / (w* + 1)^2
		alpha = math.Sqrt((2*w+1)/(1-alpha/4)) / (w + 1)
	}
	drop := (w + 1) * alpha / 2 // equation 7
	return sawtooth{alpha, k + n, n * drop, drop}
}

// TestDCTCPSawtooth: the queue of N flows in the setting of the paper's figure 12:
// 10 Gbps, a base RTT of 100 us, K of 40 packets. K is far above C RTT / 7 (12
// packets), so the queue never runs empty and nothing of the link is lost.
//
// The largest queue, K + N, does not depend on how exactly the windows swing. It
// is exceeded by at most two packets: the port does not count the packet that
// arrives, and a mark tells of a queue that has been longer than K. The amplitude
// is met within a quarter, and the mean, which is half of it below, within a
// twentieth. With 40 flows the windows are of three packets and change by whole
// ones: there the mean is met within a quarter.
//
// The model cuts all windows in one instant and lets them grow from then on, so
// its period is the least. Here cuts come spread over the round trip in which the
// flows hear of marks; no window grows while ACKs of what was marked come (RFC
// 3168, section 6.1.2), for another; and a window regains what it lost in whole
// packets, which rounds up.
func TestDCTCPSawtooth(t *testing.T) {
	const (
		k    = 40
		rate = 10 * units.Gbps
		rtt  = 100 * us
	)
	bdp := rtt.Seconds() * float64(rate) / 8 / frame
	for n, mean := range map[int]float64{2: 0.05, 5: 0.05, 10: 0.05, 40: 0.25} {
		t.Run(fmt.Sprint(n), func(t *testing.T) {
			want := newSawtooth(float64(n), bdp, k)
			c := load(t, star{n, rate, rtt, "dctcp", fmt.Sprintf("dctcp-red, threshold: %dB", k*frame), 250 * ms}.lab())
			m := measure(t, &c, 0, 50*ms, 250*ms)
			middle := want.most - want.amplitude/2
			m.low, m.high = int(middle-1), int(middle+1)
			run(t, c)
			between(t, "largest queue", float64(m.quantile(1)), want.most, want.most+2)
			near(t, "amplitude", float64(m.quantile(0.99)-m.quantile(0.01)), want.amplitude, 0.25)
			near(t, "mean queue", m.mean(), middle, mean)
			if long := rtt + time.Duration(m.mean()*float64(rate.Time(frame))); n <= 10 {
				between(t, "period in round trips", float64(m.period())/float64(long), want.period, want.period+3)
			}
			if m.quantile(0) == 0 {
				t.Error("the queue ran empty")
			}
			near(t, "goodput", m.goodput(), float64(rate)*payload/frame, 0.001)
		})
	}
}

// TestLowThreshold: what is left of the throughput with next to no queue. The
// papers on marking say that it is 94 % with DCTCP and 75 % with ECN*.
//
// For DCTCP that is the fluid model of Alizadeh, Javanmard and Prabhakar
// (Analysis of DCTCP, SIGMETRICS 2011) as K goes to zero: see [fluid]. Its least
// value over all windows is 94.2 %, at about 15 packets. Packets are not a fluid:
// two that come at once find one another, so K is two packets here; the model gets
// the same K, and is met within three points.
//
// ECN* halves its window. A ramp from half a bandwidth-delay product to all of it
// is three quarters of it on average. With the peak at a = (bdp + k + n) / bdp,
// the packets of a cycle are 3 a^2 / 8 (in bdp^2 / n), and it takes 1 - a/2 round
// trips (in bdp / n) below the link's rate, and (a^2 - 1) / 2 above, where they
// grow with the queue. It is met within two points.
func TestLowThreshold(t *testing.T) {
	const (
		n    = 8
		k    = 2
		rate = 10 * units.Gbps
	)
	least := 1.0
	for _, w := range []float64{15, 20, 40, 80} {
		bdp := w * n
		rtt := time.Duration(bdp * frame * 8 / float64(rate) * 1e9)
		share := func(transport string) float64 {
			c := load(t, star{n, rate, rtt, transport, fmt.Sprintf("dctcp-red, threshold: %dB", k*frame), 1500 * rtt}.lab())
			m := measure(t, &c, 0, 300*rtt, 1500*rtt)
			run(t, c)
			return m.goodput() / float64(rate) * frame / payload
		}
		model := fluid(n, bdp, k)
		least = min(least, fluid(n, bdp, 0))
		between(t, fmt.Sprintf("dctcp, windows of %v", w), share("dctcp"), model-0.03, model+0.03)
		a := (bdp + k + n) / bdp
		ramp := 3 * a * a / 8 / (1 - a/2 + (a*a-1)/2)
		between(t, fmt.Sprintf("ecn-star, windows of %v", w), share("ecn-star"), ramp-0.02, ramp+0.02)
	}
	between(t, "the least throughput of the model without a threshold", least, 0.935, 0.945)
}

// fluid is the share of the link that n DCTCP flows use in the limit cycle of the
// fluid model, with g = 1/16. Time is in base RTTs and lengths are in packets:
//
//	dW/dt = 1/R - W alpha / 2R p(t - R*),  dalpha/dt = g/R (p(t - R*) - alpha),
//	dq/dt = n W/R - C,  p(t) = [q(t) > k],  R = 1 + q/C,  R* = 1 + k/C
func fluid(n, bdp, k float64) float64 {
	const (
		g    = 1.0 / 16
		step = 1e-3
		span = 400.0
	)
	past := make([]float64, int((1+k/bdp)/step)) // p, a ring
	w, alpha, q, used := bdp/n, 0.3, 0.0, 0.0
	for i := range int(span / step) {
		p := &past[i%len(past)]
		r := 1 + q/bdp
		rate := n * w / r
		marked := *p
		*p = 0
		if q > k {
			*p = 1
		}
		if i >= int(span/step)/2 {
			used += min(rate, bdp)
			if q > 0 {
				used += max(0, bdp-rate)
			}
		}
		w += step * (1 - w*alpha/2*marked) / r
		alpha += step * g * (marked - alpha) / r
		q = max(0, q+step*(rate-bdp))
	}
	return used / bdp / (span / step / 2)
}
