package live

import (
	"testing"
)

// fill opens n connections between hosts 0 and 1 and returns them in order.
func fill(t *testing.T, n int) (*Client, []*connection) {
	t.Helper()
	network := newLoopback()
	serve(t, network, 1)
	c := open(t, network, Config{Flows: one(flow(0, 1, 1)), Connections: n})
	return c, append([]*connection(nil), c.pool.list[ends{server: 1}]...)
}

func TestPoolTakesTheFirstIdle(t *testing.T) {
	c, conns := fill(t, 3)
	e := ends{server: 1}
	for i, want := range conns {
		if got := c.pool.take(e); got != want {
			t.Fatalf("take %d gave another connection", i)
		}
	}
	if got := c.pool.take(e); got != nil {
		t.Fatal("a booked connection was given again")
	}
	c.pool.put(conns[2])
	c.pool.put(conns[1])
	if got := c.pool.take(e); got != conns[1] {
		t.Error("not the first idle one in order of opening")
	}
	if got := c.pool.take(ends{client: 1}); got != nil {
		t.Error("a connection of other hosts")
	}
}

func TestPoolForgetsWhatFailed(t *testing.T) {
	c, conns := fill(t, 2)
	e := ends{server: 1}
	c.pool.drop(c.pool.take(e))
	if got := c.pool.take(e); got != conns[1] {
		t.Error("want the connection that is left")
	}
	if got := c.pool.take(e); got != nil {
		t.Error("a closed connection was given")
	}
	if _, err := conns[0].Write([]byte{0}); err == nil {
		t.Error("the failed connection is still open")
	}
}

func TestPoolRefusesAfterTheEnd(t *testing.T) {
	c, conns := fill(t, 1)
	c.Close()
	if c.pool.add(conns[0]) {
		t.Error("a connection was added after the end")
	}
	if _, err := c.connect(t.Context(), ends{server: 1}); err == nil {
		t.Error("connected after the end")
	}
	if _, err := conns[0].Write([]byte{0}); err == nil {
		t.Error("a connection outlived the end")
	}
}
