package port

import (
	"slices"
	"strings"
	"testing"
	"time"

	"aqmlab/kind"
	"aqmlab/switch/aqm"
	"aqmlab/switch/packet"
	"aqmlab/switch/sched"
)

// refuser is an added scheme: it drops the packets of one queue.
type refuser struct {
	Queue int `lab:"queue" doc:"queue whose packets are dropped"`
}

func (r refuser) Arrive(_ time.Duration, _ *packet.Packet, v aqm.View) aqm.Verdict {
	if v.Queue == r.Queue {
		return aqm.Drop
	}
	return aqm.Pass
}

func (refuser) Depart(time.Duration, *packet.Packet, aqm.View) aqm.Verdict { return aqm.Pass }

// backwards is an added scheduler: the last busy queue goes first.
type backwards struct {
	sched.Heads
	queues int
}

func (backwards) Enqueued(time.Duration, int, int) {}
func (backwards) Sent(time.Duration, int, int)     {}

func (b backwards) Next(time.Duration) (int, bool) {
	for q := b.queues - 1; q >= 0; q-- {
		if b.HeadSize(q) > 0 {
			return q, true
		}
	}
	return 0, false
}

func refuserRow(name string) aqm.Kind {
	return kind.Row(name, "drop one queue", refuser{}, func(p refuser, _ aqm.Env) (aqm.Scheme, error) { return p, nil })
}

func backwardsRow(name string) sched.Kind {
	return kind.Row(name, "last queue first", struct{}{}, func(_ struct{}, env sched.Env) (sched.Scheduler, error) {
		return backwards{env.Heads, env.Queues}, nil
	})
}

// TestAddedKinds: a port is built of added kinds as it is of others, and an
// added scheduler can stand below one of ours, at any depth.
func TestAddedKinds(t *testing.T) {
	kinds, err := NewKinds([]aqm.Kind{refuserRow("refuser")}, []sched.Kind{backwardsRow("backwards")})
	if err != nil {
		t.Fatal(err)
	}
	type params = map[string]any
	alone := params{"kind": "backwards"}
	for _, tt := range []struct {
		scheduler kind.Choice
		want      []int // order of the queues; 2 is refused
	}{
		{kind.Choice{Kind: "backwards"}, []int{3, 1, 0}},
		{kind.Choice{Kind: "sp", Params: params{"inner": alone}}, []int{0, 3, 1}},
		{kind.Choice{Kind: "sp", Params: params{"inner": params{"kind": "sp", "inner": alone}}}, []int{0, 1, 3}},
	} {
		spec := testbed("refuser", map[string]any{"queue": 2})
		spec.Scheduler = tt.scheduler
		var pool packet.Pool
		p, err := New(spec, kinds, pool.Put)
		if err != nil {
			t.Errorf("%v: %v", tt.scheduler, err)
			continue
		}
		for q := range 4 {
			if queued := p.Enqueue(0, get(&pool, uint8(q), 1500, packet.ECT0)); queued != (q != 2) {
				t.Errorf("%v: queue %d took its packet: %v", tt.scheduler, q, queued)
			}
		}
		var got []int
		for k, _ := p.Dequeue(0); k != nil; k, _ = p.Dequeue(0) {
			got = append(got, int(k.DSCP))
		}
		if !slices.Equal(got, tt.want) {
			t.Errorf("%v: queues %v left, want %v", tt.scheduler, got, tt.want)
		}
	}
}

// TestKindsOfAProgramAreItsOwn: what one program adds, no other kinds hold.
func TestKindsOfAProgramAreItsOwn(t *testing.T) {
	schemes, schedulers := []aqm.Kind{refuserRow("refuser")}, []sched.Kind{backwardsRow("backwards")}
	kinds, err := NewKinds(schemes, schedulers)
	if err != nil {
		t.Fatal(err)
	}
	schemes[0].Name, schedulers[0].Name = "changed", "changed"
	if got, want := kinds.Schemes().Names(), append(aqm.Table().Names(), "refuser"); !slices.Equal(got, want) {
		t.Errorf("schemes %v, want %v", got, want)
	}
	if got, want := kinds.Schedulers().Names(), append(sched.Table().Names(), "backwards"); !slices.Equal(got, want) {
		t.Errorf("schedulers %v, want %v", got, want)
	}
	for want, spec := range map[string]Spec{
		`scheme: unknown kind "refuser"`:      testbed("refuser", nil),
		`scheduler: unknown kind "backwards"`: func() Spec { s := testbed("tcn", nil); s.Scheduler.Kind = "backwards"; return s }(),
	} {
		if _, err := New(spec, Kinds{}, nil); err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("without the kinds: %v, want %s", err, want)
		}
	}
}

// TestNewKindsRefuses: a name says which row is meant, so there is one of it.
func TestNewKindsRefuses(t *testing.T) {
	for want, tt := range map[string]struct{ schemes, schedulers []string }{
		`scheme "tcn": there is one of that name`:     {schemes: []string{"tcn"}},
		`scheme "abq": there is one of that name`:     {schemes: []string{"abq"}},
		`scheme "mine": there is one of that name`:    {schemes: []string{"mine", "other", "mine"}},
		`scheduler "dwrr": there is one of that name`: {schedulers: []string{"dwrr"}},
		`scheduler "mine": there is one of that name`: {schedulers: []string{"mine", "mine"}},
		`adding a scheme: it has no name`:             {schemes: []string{""}},
		"":                                            {[]string{"mine", "dwrr"}, []string{"mine", "tcn"}},
	} {
		var schemes []aqm.Kind
		for _, name := range tt.schemes {
			schemes = append(schemes, refuserRow(name))
		}
		var schedulers []sched.Kind
		for _, name := range tt.schedulers {
			schedulers = append(schedulers, backwardsRow(name))
		}
		_, err := NewKinds(schemes, schedulers)
		if (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%v: %v, want %q", tt, err, want)
		}
	}
}
