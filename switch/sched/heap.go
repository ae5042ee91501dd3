package sched

// entry is a busy queue in a [ranking]. Ranks are compared by their difference,
// so that they may wrap around: those in use at a time lie less than half of
// their range apart.
type entry struct {
	rank uint64
	tie  uint64 // the lower goes first when the ranks are equal
	q    int
}

func (e entry) before(o entry) bool {
	if e.rank != o.rank {
		return precedes(e.rank, o.rank)
	}
	return e.tie < o.tie
}

func precedes(a, b uint64) bool { return int64(a-b) < 0 }

// ranking is a binary heap of the busy queues, the next one at its front. It
// grows and shrinks in O(log n) and allocates nothing once it has room for all
// queues.
type ranking []entry

func (r *ranking) push(e entry) {
	*r = append(*r, e)
	r.up(len(*r) - 1)
}

// up moves an entry towards the front, to its place.
func (r ranking) up(i int) {
	for i > 0 {
		up := (i - 1) / 2
		if !r[i].before(r[up]) {
			return
		}
		r[i], r[up] = r[up], r[i]
		i = up
	}
}

// last is where the entry stands that goes last. There is one.
func (r ranking) last() int {
	at := len(r) / 2 // none before this is a leaf
	for i := at + 1; i < len(r); i++ {
		if r[at].before(r[i]) {
			at = i
		}
	}
	return at
}

// cut takes out an entry that no other stands behind.
func (r *ranking) cut(leaf int) {
	h := *r
	end := len(h) - 1
	h[leaf] = h[end]
	*r = h[:end]
	if leaf < end {
		r.up(leaf)
	}
}

// replace puts e where the front was.
func (r ranking) replace(e entry) {
	r[0] = e
	for i := 0; ; {
		least := i
		for down := 2*i + 1; down <= 2*i+2 && down < len(r); down++ {
			if r[down].before(r[least]) {
				least = down
			}
		}
		if least == i {
			return
		}
		r[i], r[least] = r[least], r[i]
		i = least
	}
}

func (r *ranking) pop() {
	last := len(*r) - 1
	e := (*r)[last]
	*r = (*r)[:last]
	if last > 0 {
		r.replace(e)
	}
}

// next is what a scheduler that serves in the order of the ranking answers.
func (r ranking) next() (q int, ok bool) {
	if len(r) == 0 {
		return 0, false
	}
	return r[0].q, true
}
