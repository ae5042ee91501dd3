package live

import (
	"io"
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

// openSet is what must be closed at the end. The zero value is ready to use.
type openSet struct {
	mu      sync.Mutex
	closed  bool
	members map[io.Closer]struct{}
}

// add remembers c, or closes it and reports false when the end has come.
func (s *openSet) add(c io.Closer) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		c.Close()
		return false
	}
	if s.members == nil {
		s.members = map[io.Closer]struct{}{}
	}
	s.members[c] = struct{}{}
	return true
}

// close closes c and forgets it.
func (s *openSet) close(c io.Closer) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.members, c)
	c.Close()
}

// closeAll closes all members, and from now on whatever is added.
func (s *openSet) closeAll() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.closed = true
	for c := range s.members {
		c.Close()
	}
	clear(s.members)
}
