package live

import (
	"slices"
	"sync"
)

// ends are the two hosts of a connection.
type ends struct{ client, server int }

// pool holds the connections between each pair of hosts in the order in which
// they were opened.
type pool struct {
	mu   sync.Mutex
	open openSet
	list map[ends][]*connection
}

// take books the first idle connection between two hosts, or returns nil.
func (p *pool) take(e ends) *connection {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, c := range p.list[e] {
		if !c.busy {
			c.busy = true
			return c
		}
	}
	return nil
}

// add appends a connection, or closes it and reports false after closeAll.
func (p *pool) add(c *connection) bool {
	if !p.open.add(c) {
		return false
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.list[c.ends] = append(p.list[c.ends], c)
	return true
}

// put makes a connection idle.
func (p *pool) put(c *connection) {
	p.mu.Lock()
	defer p.mu.Unlock()
	c.busy = false
}

// drop closes and forgets a connection that failed.
func (p *pool) drop(c *connection) {
	p.open.close(c)
	p.mu.Lock()
	defer p.mu.Unlock()
	p.list[c.ends] = slices.DeleteFunc(p.list[c.ends], func(o *connection) bool { return o == c })
}
