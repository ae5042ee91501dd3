package live

import (
	"sync"
	"time"

	"aqmlab/collectors/meter"
	"aqmlab/results"
)

// goodput adds up what the connections of a client take off their sockets.
type goodput struct {
	every    time.Duration // lab time; zero: nobody wants to know
	dilation float64

	mu    sync.Mutex
	start time.Time // of lab time
	meter *meter.Meter
}

// begin counts from lab time zero on.
func (g *goodput) begin(start time.Time) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.start, g.meter = start, meter.New(g.every)
}

func (g *goodput) add(service int, bytes int64) {
	if g.every == 0 {
		return
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	g.meter.Add(time.Duration(float64(time.Since(g.start))/g.dilation), service, bytes)
}

// arrived counts payload that came for a flow of a service.
func (c *Client) arrived(service int, bytes int64) {
	c.bytes.Add(bytes)
	c.goodput.add(service, bytes)
}

// Services are what the services of the trace have delivered since Run began, by
// the times at which payload was taken off sockets.
func (c *Client) Services() []results.ServiceSample {
	g := &c.goodput
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.meter == nil {
		return nil
	}
	return g.meter.Samples()
}
