package program

import (
	"bytes"
	"slices"
	"sync"
)

// keeper keeps the begin of a stream.
type keeper struct {
	mu   sync.Mutex
	kept bytes.Buffer
	lost bool
	done chan struct{} // closed at its end; nil: nobody waits for that
}

// Write never fails: the rest is read and forgotten.
func (k *keeper) Write(b []byte) (int, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	room := max(0, kept-k.kept.Len())
	k.lost = k.lost || len(b) > room
	k.kept.Write(b[:min(room, len(b))])
	return len(b), nil
}

func (k *keeper) text() []byte {
	k.mu.Lock()
	defer k.mu.Unlock()
	return slices.Clone(k.kept.Bytes())
}

func (k *keeper) cut() bool {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.lost
}
