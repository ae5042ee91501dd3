package labs

import (
	"slices"
	"strings"
	"time"

	"aqmlab/kind"
	"aqmlab/switch/port"
	"aqmlab/trafficgen/transport"
	"aqmlab/units"
)

// defaults is what a lab gets for the keys that it leaves out. It is not a
// valid lab: the rate and the schemes have no default.
func defaults() *Lab {
	return &Lab{
		Topology: Topology{Kind: star, Hosts: 9},
		RTT:      RTT{Distribution: kind.Choice{Kind: fixedRTT}},
		Host:     hostDefaults(),
		Switch: Switch{
			Buffer:    Buffer{PerPort: units.MB, Sharing: port.SharedPort},
			Queues:    1,
			Scheduler: kind.Choice{Kind: "fifo"},
			Limiter:   Limiter{RateFraction: 1, Bucket: 2500},
		},
		Workload: workloadDefaults(),
		Probe:    probeDefaults(),
		Capture:  captureDefaults(),
		Seeds:    []uint64{1},
	}
}

// key is one value of a lab file: where it stands, and how it is read into a
// lab and written from it.
type key struct {
	path string
	codec
}

// keysOf lists every key with a fixed name, in the order of a written lab file.
func keysOf(l *Lab) []key {
	const second = time.Second
	return slices.Concat([]key{
		{"name", label(&l.Name)},
		{"title", line(&l.Title)},
		{"source.paper", line(&l.Source.Paper)},
		{"source.experiment", line(&l.Source.Experiment)},
		{"topology.kind", oneOf(&l.Topology.Kind, "topology", Topologies().Names())},
		{hostsPath, written(whole(&l.Topology.Hosts, 2, maxHosts), l.Topology.Kind == star)},
		{"topology.rate", rate(&l.Topology.Rate)},
		{linkDelayPath, optional(&l.Topology.LinkDelay, spanOf(1, second))},
		{rttMinPath, written(span(&l.RTT.Min, 0, 10*second), !l.Topology.hasDelays())},
		{rttMaxPath, written(span(&l.RTT.Max, 0, 10*second), !l.Topology.hasDelays() || l.RTT.Per != "")},
		{rttBasePath, optional(&l.RTT.Base, nameOf("place", baseLinks, baseHosts))},
		{rttPerPath, optional(&l.RTT.Per, nameOf("owner", perHost, perFlow))},
		{rttAtPath, optional(&l.RTT.At, nameOf("place", atSender))},
		{rttByPath, optional(&l.RTT.By, nameOf("maker", ByAny, ByNetem, ByDelayLine))},
		{"host.init_cwnd", whole(&l.Host.InitCwnd, 1, 1000)},
		{rtoMinPath, span(&l.Host.RTOMin, time.Microsecond, longestRTO)},
		{rtoInitialPath, span(&l.Host.RTOInitial, time.Microsecond, longestRTO)},
		{rtoMaxPath, span(&l.Host.RTOMax, time.Microsecond, longestRTO)},
		{delayedACKPath, whole(&l.Host.DelayedACK, 1, 64)},
		{ackTimeoutPath, span(&l.Host.ACKTimeout, time.Microsecond, second/2)},
		{lossRecoveryPath, oneOf(&l.Host.LossRecovery, "loss recovery", []string{RecoverRACK, RecoverSACK, RecoverSACKPRR})},
		{stackPath, oneOf(&l.Host.Stack, "stack", []string{StackLinux, StackPlain})},
		{smallQueuePath, span(&l.Host.SmallQueue, 0, second)},
		{"host.mtu", whole(&l.Host.MTU, 576, 9000)},
		{"host.idle_restart", flag(&l.Host.IdleRestart)},
		{"host.port", oneOf(&l.Host.Port, "port", []string{HostNIC, HostSwitchPort})},
	}, containerKeys(&l.Host.Container), []key{
		{perPortPath, optional(&l.Switch.Buffer.PerPort, size)},
		{"switch.buffer.sharing", oneOf(&l.Switch.Buffer.Sharing, "sharing", port.Sharings())},
		{perQueuePath, optional(&l.Switch.Buffer.PerQueue, size)},
		{poolPath, optional(&l.Switch.Buffer.Pool, size)},
		{alphaPath, optional(&l.Switch.Buffer.Alpha, factor)},
		{"switch.scheduler.queues", whole(&l.Switch.Queues, 1, 64)},
		{"switch.limiter.rate_fraction", fraction(&l.Switch.Limiter.RateFraction)},
		{"switch.limiter.bucket", size(&l.Switch.Limiter.Bucket)},
	}, pauseKeys(&l.Switch.Pause), workloadKeys(&l.Workload), probeKeys(&l.Probe), collectKeys(&l.Collect, &l.Capture), []key{
		{"seeds", seeds(&l.Seeds)},
		{"baseline", label(&l.Baseline)},
		{"dilation", dilation(&l.Dilation)},
	})
}

// choice is a mapping of a lab file that names a kind and holds the parameters
// for it, or stands for the bare name of the kind.
type choice struct {
	path    string
	kindKey string   // key of the kind's name in the mapping
	params  []string // what the kinds of its table take
}

const (
	schedulerPath = "switch.scheduler"
	innerPath     = schedulerPath + "." + innerKey
	arrivalPath   = workloadKey + ".arrival"
	sizesPath     = workloadKey + ".sizes"
)

// innerKey is the parameter of a scheduler that is a choice of its own: the
// scheduler below it.
const innerKey = "inner"

// fixedChoices lists the choices that every lab has. Each of its schemes is one
// more. What stands below a scheduler is a choice and not a value.
func fixedChoices(kinds port.Kinds) []choice {
	schedulers := slices.DeleteFunc(params(kinds.Schedulers()), func(name string) bool { return name == innerKey })
	return append([]choice{
		{topologyPath, "kind", params(Topologies())},
		{distributionPath, "kind", params(RTTs())},
		{transportPath, "kind", params(transport.Table())},
		{schedulerPath, "kind", schedulers},
		{innerPath, "kind", schedulers},
	}, trafficChoices(workloadKey)...)
}

func schemeChoice(name string, kinds port.Kinds) choice {
	return choice{schemePath(name), "aqm", slices.Concat(params(kinds.Schemes()), params(port.Gates()))}
}

func schemePath(name string) string { return schemesKey + "." + name }

// schemesKey is the list of schemes in a file. In the environment and in --set
// the schemes' names are the keys below it.
const schemesKey = "schemes"

// params lists the parameters of all kinds of a table.
func params[E, T any](t kind.Table[E, T]) []string {
	var names []string
	for _, k := range t {
		for _, p := range k.Params {
			names = append(names, p.Name)
		}
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// form is the names of the keys: which there are, and what they are short for.
type form struct {
	kinds   port.Kinds
	leaves  []string
	choices []choice
}

func newForm(kinds port.Kinds) form {
	f := form{kinds: kinds, choices: fixedChoices(kinds)}
	for _, k := range keysOf(defaults()) {
		f.leaves = append(f.leaves, k.path)
	}
	return f
}

// addScheme adds the choices of a scheme of the lab.
func (f *form) addScheme(name string) {
	f.choices = append(f.choices, schemeChoice(name, f.kinds), ingressChoice(name))
}

// choice is the one at a path that has one.
func (f form) choice(path string) choice {
	return f.choices[slices.IndexFunc(f.choices, func(c choice) bool { return c.path == path })]
}

// inChoice tells whether path is the kind or a parameter of a choice, and not a
// choice itself.
func (f form) inChoice(path string) bool {
	parent, _, ok := cutLast(path)
	isChoice := slices.ContainsFunc(f.choices, func(c choice) bool { return c.path == path })
	return ok && !isChoice && slices.ContainsFunc(f.choices, func(c choice) bool { return c.path == parent })
}

func (f form) leaf(path string) bool { return slices.Contains(f.leaves, path) || f.inChoice(path) }

// section tells whether path holds further keys; the empty path does.
func (f form) section(path string) bool { return len(f.below(path)) > 0 }

// below lists the names of the keys directly below a path, parameters of kinds
// not included.
func (f form) below(path string) []string {
	var names []string
	add := func(full string) {
		rest, ok := strings.CutPrefix(full, path+".")
		if path == "" {
			rest, ok = full, true
		}
		name, _, _ := strings.Cut(rest, ".")
		if ok && !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	for _, leaf := range f.leaves {
		add(leaf)
	}
	for _, c := range f.choices {
		add(c.path + "." + c.kindKey)
	}
	if path == "" {
		add(schemesKey)
		add(backgroundKey)
	}
	return names
}

// shorthand is the key that a bare value stands for where a mapping could be:
// "rtt: 250us", "sizes: websearch".
func (f form) shorthand(path string) (string, bool) {
	switch path {
	case "rtt":
		return "rtt.min", true
	case captureKey:
		return captureFormatPath, true
	}
	for _, c := range f.choices {
		if c.path == path {
			return path + "." + c.kindKey, true
		}
	}
	return "", false
}

// cutLast splits the last name off a path.
func cutLast(path string) (parent, name string, ok bool) {
	i := strings.LastIndexByte(path, '.')
	if i < 0 {
		return "", path, false
	}
	return path[:i], path[i+1:], true
}
