package record

import (
	"testing"
	"time"
)

// What was measured before the time that was asked for gives way, though it be of
// more flows; so does what is of another lab.
func TestRank(t *testing.T) {
	old := rank{current: true, since: false, flows: 9, seeds: 9, measured: time.Unix(1, 0)}
	fresh := rank{current: true, since: true, flows: 1, seeds: 1}
	if !fresh.beats(old) || old.beats(fresh) {
		t.Error("what was asked to be measured anew stays")
	}
	stale := rank{since: true, flows: 9, seeds: 9}
	if !old.beats(stale) || stale.beats(old) {
		t.Error("what is of another lab takes the place of what is of this one")
	}
	fewer := rank{current: true, since: true, flows: 1, seeds: 1, measured: time.Unix(9, 0)}
	more := rank{current: true, since: true, flows: 1, seeds: 2}
	if fewer.beats(more) || !more.beats(fewer) || !more.beats(more) {
		t.Error("fewer seeds take the place of more")
	}
}
