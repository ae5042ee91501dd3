package labs

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"aqmlab/kind"
	"aqmlab/labs/schema"
	"aqmlab/switch/fabric"
	"aqmlab/switch/packet"
	"aqmlab/switch/port"
	"aqmlab/switch/sched"
	"aqmlab/units"
)

func checkSwitch(r *schema.Reader, l *Lab) {
	checkBuffer(r, l)
	checkClassifier(r, l)
	mtu := units.Size(l.Host.MTU)
	limiter := l.Switch.Limiter
	if limiter.RateFraction == 1 {
		return
	}
	if frame := mtu + packet.FrameOverhead; r.Sound("host.mtu", "switch.limiter.bucket") && limiter.Bucket < frame {
		r.Fail("switch.limiter.bucket", "%v does not hold a frame: want at least host.mtu and the %d bytes of Ethernet, %dB",
			limiter.Bucket, packet.FrameOverhead, frame)
	}
	limit := limiter.RateFraction * float64(l.Topology.Rate)
	if l.Topology.Rate > 0 && limit < float64(units.Rate(slowest)) && r.Sound("switch.limiter.rate_fraction") {
		r.Fail("switch.limiter.rate_fraction", "%v of %v is less than %v", limiter.RateFraction, l.Topology.Rate, units.Rate(slowest))
	}
}

// checkScheduler answers the scheduler of that path, or nil when it cannot be built.
func checkScheduler(r *schema.Reader, l *Lab, path string, c kind.Choice) sched.Scheduler {
	scheduler := schema.BuildOf(r, path, c, l.Kinds.Schedulers(), l.schedulerEnv())
	if scheduler == nil {
		return nil
	}
	checkQuantum(r, l, path, c)
	if inner, ok := c.Params["inner"].(map[string]any); ok {
		name, _ := inner["kind"].(string) // the scheduler was built: it is there
		checkQuantum(r, l, path+".inner", kind.Choice{Kind: name, Params: inner})
	}
	return scheduler
}

// served is a scheduler of the lab, and where it stands there.
type served struct {
	path string
	sched.Scheduler
}

// checkSchedulers answers the scheduler of each scheme, or nil where it cannot be built:
// its own, or that of the switch, which is checked whether a scheme uses it or not.
func checkSchedulers(r *schema.Reader, l *Lab) []served {
	common := served{schedulerPath, checkScheduler(r, l, schedulerPath, l.Switch.Scheduler)}
	all := make([]served, len(l.Schemes))
	for i, s := range l.Schemes {
		all[i] = common
		path := schemePath(s.Name) + ".scheduler"
		switch {
		case s.Scheduler.Kind != "":
			all[i] = served{path, checkScheduler(r, l, path, s.Scheduler)}
		case len(s.Scheduler.Params) > 0 && r.Sound(r.Choice(path).KindPath()):
			r.Fail(r.Choice(path).KindPath(), "missing: want one of %s", strings.Join(l.Kinds.Schedulers().Names(), ", "))
		}
	}
	return all
}

// schedulerOf is what serves the queues under a scheme.
func (l *Lab) schedulerOf(s Scheme) kind.Choice {
	if s.Scheduler.Kind != "" {
		return s.Scheduler
	}
	return l.Switch.Scheduler
}

// schedulerEnv is what schedulers of the lab are built for, where none is to run.
func (l *Lab) schedulerEnv() sched.Env {
	return sched.Env{Queues: l.Switch.Queues, FullPacket: int(l.FullPacket()), Schedulers: l.Kinds.Schedulers()}
}

// checkQuantum wants a turn to send at least the largest packet, which MQ-ECN
// and TCN take for granted, and without which a turn may send nothing. Papers write
// 1.5 KB for a packet of 1500 bytes, which its frame makes longer: with such a quantum
// a backlogged queue of dwrr sits out one turn in 40, and shares stay as they are.
func checkQuantum(r *schema.Reader, l *Lab, path string, c kind.Choice) {
	row, err := l.Kinds.Schedulers().Find(c.Kind)
	i := slices.IndexFunc(row.Params, func(p kind.Param) bool { return p.Name == "quantum" })
	if err != nil || i < 0 || !r.Sound("host.mtu") {
		return
	}
	raw, ok := c.Params["quantum"].(string)
	if !ok {
		return
	}
	mtu := units.Size(l.Host.MTU)
	if quantum, err := units.ParseSize(raw); err == nil && quantum < mtu {
		r.Fail(path+".quantum", "%v does not hold one packet: want at least host.mtu, %dB", quantum, mtu)
	}
}

// classifierPath is where the classifier stands.
const classifierPath = "switch.classifier"

// checkClassifier builds it, if the lab names one.
func checkClassifier(r *schema.Reader, l *Lab) {
	c, choice := l.Switch.Classifier, r.Choice(classifierPath)
	switch {
	case c.Kind != "":
		r.RefuseUnused(choice, c)
		schema.BuildOf(r, classifierPath, c, port.Classifiers(), port.ClassifierEnv{Queues: l.Switch.Queues})
	case len(c.Params) > 0 && r.Sound(choice.KindPath()):
		r.Fail(choice.KindPath(), "missing: want one of %s", strings.Join(port.Classifiers().Names(), ", "))
	}
}

// queueByDSCP tells whether each DSCP has a queue of its own, the one of its number.
func (l *Lab) queueByDSCP() bool {
	made, err := port.Classifiers().New(l.Switch.Classifier.Kind, l.Switch.Classifier.Params, port.ClassifierEnv{Queues: l.Switch.Queues})
	return err != nil || made == nil
}

// bufferPath is where the buffer stands.
const bufferPath = "switch.buffer"

// checkBuffer wants the size that the sharing uses, and no other.
func checkBuffer(r *schema.Reader, l *Lab) {
	b := &l.Switch.Buffer
	perPort, pool := bufferPath+".per_port", bufferPath+".pool"
	made := schema.BuildOf(r, bufferPath, kind.Choice{Kind: b.Sharing, Params: b.Params}, port.Sharings(), l.sharingEnv(nil))
	if !r.Sound(bufferPath+".sharing", bufferPath+".per_queue") {
		return
	}
	unused := func(path, want string) {
		if r.Has(path) {
			r.Fail(path, "not used when switch.buffer.sharing is %s: want %s", b.Sharing, want)
		}
	}
	switch {
	case made.Pooled:
		unused(perPort, pool)
		checkHoldsPacket(r, l, pool, b.Pool)
	case made.PerQueue > 0:
		unused(perPort, bufferPath+".per_queue")
		unused(pool, bufferPath+".per_queue")
	default:
		unused(pool, perPort)
		checkHoldsPacket(r, l, perPort, b.PerPort)
	}
	if made.Pooled || made.PerQueue > 0 {
		b.PerPort = 0
	}
	b.Params = withDefaults(b.Params, b.Sharing)
}

// withDefaults adds the parameters of a sharing that a lab leaves out: written labs have
// always had them.
func withDefaults(params map[string]any, sharing string) map[string]any {
	row, _ := port.Sharings().Find(sharing)
	for _, p := range row.Params {
		value, err := strconv.Atoi(p.Default)
		if _, given := params[p.Name]; given || err != nil {
			continue
		}
		if params == nil {
			params = map[string]any{}
		}
		params[p.Name] = value
	}
	return params
}

// checkSharings wants of a scheme's own sharing that it has as much memory as the switch's.
func checkSharings(r *schema.Reader, l *Lab, schedulers []served) {
	b := l.Switch.Buffer
	common, err := port.Sharings().New(b.Sharing, b.Params, l.sharingEnv(nil))
	for i, s := range l.Schemes {
		path := schemePath(s.Name) + ".sharing"
		switch kindPath := r.Choice(path).KindPath(); {
		case s.Sharing.Kind != "":
			made := schema.BuildOf(r, path, s.Sharing, port.Sharings(), l.sharingEnv(schedulers[i].Scheduler))
			if same := made.Pooled == common.Pooled && made.PerQueue == common.PerQueue; err == nil && !same && r.Sound(kindPath) {
				r.Fail(kindPath, "%s has other memory than %s, which switch.buffer.sharing is: want kinds that both draw from switch.buffer.pool, or neither", s.Sharing.Kind, b.Sharing)
			}
		case len(s.Sharing.Params) > 0 && r.Sound(kindPath):
			r.Fail(kindPath, "missing: want one of %s", strings.Join(port.Sharings().Names(), ", "))
		}
	}
}

func checkHoldsPacket(r *schema.Reader, l *Lab, path string, size units.Size) {
	switch {
	case size == 0 && r.Sound(path):
		r.Fail(path, "missing: switch.buffer.sharing is %s: want a size such as 96KB", l.Switch.Buffer.Sharing)
	case size < l.FullPacket() && r.Sound("host.mtu", path):
		r.Fail(path, "%v does not hold one packet: want at least %s", size, l.fullPacketText())
	}
}

// checkPause wants thresholds between which flow control can come to rest. By
// default links go on two full packets below where they stop.
func checkPause(r *schema.Reader, l *Lab) {
	p, packet := &l.Switch.Pause, l.FullPacket()
	if p.XOff == 0 && p.XOn == 0 || !r.Sound("switch.pause.xoff", "switch.pause.xon", "host.mtu") {
		return
	}
	if p.XOn == 0 {
		p.XOn = max(p.XOff-2*packet, 1)
	}
	switch {
	case p.XOn > p.XOff:
		r.Fail("switch.pause.xon", "%v is above switch.pause.xoff, %v", p.XOn, p.XOff)
	case p.XOff < packet:
		r.Fail("switch.pause.xoff", "%v does not hold a packet: want at least %s", p.XOff, l.fullPacketText())
	case r.Err() != nil || len(l.Schemes) == 0:
		// There is no fabric to look at.
	default:
		if spec, err := l.fabric(l.Schemes[0].Name, 0); err == nil {
			if err := headroom(spec, packet); err != nil {
				r.Fail("switch.pause.xoff", "%w", err)
			}
		}
	}
}

// fullPacketText is the length of a full packet, and what it is made of.
func (l *Lab) fullPacketText() string {
	if l.Switch.lengths() == packet.IP {
		return fmt.Sprintf("host.mtu, %dB", l.FullPacket())
	}
	return fmt.Sprintf("host.mtu and the %d bytes of Ethernet, %dB", packet.FrameOverhead, l.FullPacket())
}

// headroom is an error if a switch of the fabric may have to drop a packet in
// spite of its flow control.
func headroom(spec fabric.Spec, packet units.Size) error {
	need := map[string]units.Size{}
	for i, l := range spec.Links {
		l = spec.Timeline.Most(i, l)
		need[l.A] += spec.Pause.Peak(l, packet)
		need[l.B] += spec.Pause.Peak(l, packet)
	}
	for _, s := range spec.Switches {
		if need[s] > spec.Port.Buffer {
			return fmt.Errorf("switch %s may come to hold %v before its links stop: a buffer of %v would drop some", s, need[s], spec.Port.Buffer)
		}
	}
	return nil
}
