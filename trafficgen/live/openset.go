package live

import (
	"io"
	"sync"
)

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
