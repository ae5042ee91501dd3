// Package labs is the lab book: it reads lab files into validated labs, says what
// a run needs of a lab (network, traffic, probes), and carries the labs that ship
// with aqmlab.
package labs

import (
	"time"

	"aqmlab/kind"
	"aqmlab/labs/inventory"
	"aqmlab/labs/topologies"
	"aqmlab/switch/fabric"
	"aqmlab/switch/packet"
	"aqmlab/switch/port"
	"aqmlab/units"
)

// Lab is one experiment, validated and with every default filled in. Times and
// rates are lab time. The tags say what its file looks like, see package schema:
// a field with tags is a key, which is read, checked, written and documented.
type Lab struct {
	Name       string       `lab:"name" form:"name" doc:"without, the file's name"`
	Title      string       `lab:"title" write:"set" doc:"one line"`
	Source     Source       `lab:"source"`
	Topology   Topology     `lab:"topology"`
	RTT        RTT          `lab:"rtt" short:"min max"`
	Host       Host         `lab:"host"`
	Switch     Switch       `lab:"switch"`
	Schemes    []Scheme     `lab:"schemes" what:"scheme" example:"{name: tcn, aqm: tcn}" doc:"required; the contenders, see [below](#schemes-and-parameters-of-kinds)"`
	Workload   Workload     `lab:"workload"`
	Background []Background `lab:"background" what:"workload" example:"{name: queries, arrival: {kind: incast, fan_out: 100}}" doc:"more traffic beside the workload, see [below](#background)"`
	Transports []Speech     `lab:"transports" what:"transport" example:"{name: bulk, transport: cubic, services: [1]}" doc:"what some flows speak in place of host.transport, see [below](#transports)"`
	Programs   []Program    `lab:"programs" what:"program" example:"{name: server, on: h2, run: [iperf3, -s], serves: true, listens: [5201]}" doc:"commands that run on hosts, beside the workload or in its place, see [programs.md](programs.md)"`
	Probe      Probe        `lab:"probe"`
	Collect    Collect      `lab:"collect"`
	Capture    Capture      `lab:"capture" short:"format"`
	Events     []Event      `lab:"events" what:"change" example:"{at: 100ms, link: s1:h2, rate: 500Mbps}" doc:"how links and hosts change meanwhile, see [below](#events)"`
	Seeds      []uint64     `lab:"seeds" form:"seeds" distinct:"yes" default:"1" range:"0..9223372036854775807" doc:"whole numbers, distinct, or a range such as 1..3, of at most 10,000"`
	Sweep      Sweep        `lab:"sweep"`
	Baseline   string       `lab:"baseline" form:"name" doc:"name of the scheme that the others are compared with; without, the first"`
	Dilation   Dilation     `lab:"dilation" form:"dilation" default:"auto" range:"[1, 1000000]" doc:"how many times slower than lab time the wall clock runs, or auto, see [fidelity.md](fidelity.md)"`

	Rack      inventory.Inventory `lab:""`
	Placement map[string]string   `lab:"placement" form:"placement" write:"set" doc:"which machine hosts and switches are on, as {h1: m1, s1: m2}; the others are placed by themselves, see [rack.md](rack.md#placement)"`

	// Kinds is what its switches can be built of: its schedulers and schemes are
	// rows of it.
	Kinds port.Kinds
}

// Source says which published experiment a lab re-runs.
type Source struct {
	Paper      string `lab:"paper" write:"set" doc:"whose experiment the lab re-runs"`
	Experiment string `lab:"experiment" write:"set" doc:"which one"`
}

// Topology is the network: a kind of [topologies.Table] with its parameters, and
// what every kind has.
type Topology struct {
	Kind      string         `lab:"kind" what:"topology" default:"star" doc:"see [below](#topologies)"`
	Params    map[string]any `lab:"" kinds:"topologies" name:"Kind" default:"star" doc:"the network, see [below](#topologies)"`
	Hosts     int            `lab:"hosts" default:"9" range:"2..65534" doc:"of star: hosts h1, h2, ...; other kinds derive it"`
	Rate      units.Rate     `lab:"rate" range:"1Kbps..100000Gbps" doc:"required; of the links of hosts; with a file, [of those that do not say theirs](containerlab.md#links)"`
	LinkDelay time.Duration  `lab:"link_delay" write:"set" range:"1ns..1s" doc:"one way, of every link that says none of its own, in place of rtt.min"`

	Convergence time.Duration `lab:"convergence" write:"set" range:"1ns..1000s" doc:"time after which routes follow a link that goes down or comes up, see [below](#events); at once when absent"`

	laid *topologies.Layout // of the kind that stands in a file: what was in it when the lab was loaded
}

// RTT is the base round-trip time, without queueing and transmission, between
// the hosts that are furthest apart. What a flow has above Min is added where
// its data is sent. Which of them a scheme computes its thresholds from is its own
// parameter, rtt.
type RTT struct {
	Min          time.Duration `lab:"min" range:"0s..10s" doc:"base round-trip time between the hosts that are furthest apart, without queueing and transmission; with a link delay, as that makes it"`
	Max          time.Duration `lab:"max" range:"0s..10s" doc:"longest base RTT; required unless the distribution is fixed"`
	Base         string        `lab:"base" write:"set" what:"place" oneof:"links,hosts" doc:"where rtt.min sits: links, all alike, or hosts, their links alone, see [below](#base-rtts); links when absent"`
	Per          string        `lab:"per" write:"set" what:"owner" oneof:"host,flow" doc:"what has an RTT of its own; not with fixed; flow when absent"`
	At           string        `lab:"at" write:"set" what:"place" oneof:"sender" doc:"where what is above rtt.min is added; not with fixed; sender when absent"`
	By           string        `lab:"by" write:"set" what:"maker" oneof:"auto,netem,delay-line" doc:"what holds it back: the hosts' kernel (netem), the switch (delay-line), or netem where the kernel has it (auto); not with fixed; auto when absent"`
	Distribution kind.Choice   `lab:"distribution" kinds:"rtts" default:"fixed" doc:"of base RTTs from rtt.min to rtt.max, see [below](#base-rtts)"`
}

// What [RTT] has to choose from.
const (
	baseLinks   = "links"
	baseHosts   = "hosts"
	perHost     = "host"
	perFlow     = "flow"
	atSender    = "sender"
	ByAny       = "auto"       // netem if the kernel has it, else the delay line
	ByNetem     = "netem"      // the sending host's kernel
	ByDelayLine = "delay-line" // the switch, before the host's link
)

// Host is how the end hosts are set up. Keys with a tag "only" are followed by
// one sort of hosts alone, see [Lab.Unsupported]; what real hosts do about the
// keys of modelled ones is the default.
type Host struct {
	InitCwnd     int           `lab:"init_cwnd" default:"10" range:"1..1000" doc:"initial congestion window in segments"`
	RTOMin       time.Duration `lab:"rto_min" default:"10ms" range:"1us..120s" doc:"shortest retransmission timeout"`
	RTOInitial   time.Duration `lab:"rto_initial" default:"1s" range:"1us..120s" only:"modelled" doc:"timeout before the first measurement of the RTT (RFC 6298, section 2.1)"`
	RTOMax       time.Duration `lab:"rto_max" default:"120s" range:"1us..120s" only:"modelled" doc:"longest timeout, and no shorter than the other two"`
	DelayedACK   int           `lab:"delayed_ack" default:"2" range:"1..64" only:"modelled" doc:"full segments that one ACK answers, 1 answers each (RFC 5681, section 4.2)"`
	ACKTimeout   time.Duration `lab:"ack_timeout" default:"40ms" range:"1us..500ms" only:"modelled" doc:"longest that an ACK waits for another segment; Linux's shortest when absent"`
	LossRecovery string        `lab:"loss_recovery" what:"loss recovery" oneof:"rack,sack,sack-prr" default:"rack" doc:"how losses are found: rack, by time and with tail loss probes (RFC 8985), sack, by what is selectively acknowledged (RFC 6675), or sack-prr, the same with windows reduced in proportion to what arrives (RFC 6937), as Linux does without RACK; real hosts do the last for either, before Linux 6.17, as under --runtime uml, and later ones leave out the probes alone"`
	Stack        string        `lab:"stack" what:"stack" oneof:"linux,plain" default:"linux" only:"modelled" doc:"what hosts do around their transport: with linux what Linux does, see [sim.md](sim.md#linux-around-the-transport), with plain nothing; loss_recovery: sack is always plain, sack-prr is not"`
	SmallQueue   time.Duration `lab:"small_queue" default:"1ms" range:"0s..1s" only:"modelled" doc:"longest that what a connection sends may wait for its host's link before it sends no more, as with Linux's TCP small queues; 0s is no bound, and there is none with port: switch"`
	MTU          int           `lab:"mtu" default:"1500" range:"576..9000" doc:"bytes of network layer"`
	IdleRestart  bool          `lab:"idle_restart" default:"true" doc:"back towards the initial window after an idle RTO: as Linux does (RFC 2861), or with stack: plain or loss_recovery: sack at once (RFC 5681, section 4.1)"`
	Port         string        `lab:"port" what:"port" oneof:"nic,switch" default:"nic" doc:"what hosts send by: nic, a queue without end that marks nothing, or switch, a port like those of switches, with their buffer, scheduler and scheme, as in the papers' ns-2 and ns-3 simulations"`
	Container    Container     `lab:""`
	RootFS       string        `lab:"rootfs" form:"folder" write:"set" only:"guests" doc:"folder with the file system of [programs](programs.md#under-a-guest-kernel), such as an unpacked image; this machine's when absent"`
	Kernel       string        `lab:"kernel" what:"guest kernel" oneof:"6.1,6.12" default:"6.1" write:"changed" only:"guests" doc:"version of Linux, in quotes, see [uml.md](uml.md#two-kernels)"`

	Transport       string         // one of [transport.Table]
	TransportParams map[string]any `lab:"transport" kinds:"transports" name:"Transport" default:"dctcp" doc:"what aqmlab transport list lists"`
}

// What [Host] has to choose from.
const (
	HostNIC        = "nic"    // keeps all that it is given, and marks nothing
	HostSwitchPort = "switch" // a port like those of switches, with their buffer, scheduler and scheme

	RecoverRACK    = "rack"     // by time, with tail loss probes (RFC 8985)
	RecoverSACK    = "sack"     // by what is selectively acknowledged (RFC 6675)
	RecoverSACKPRR = "sack-prr" // the same as Linux does it without RACK, with windows that are reduced in proportion to what arrives (RFC 6937)

	StackLinux = "linux" // what Linux does, where losses are found as it does
	StackPlain = "plain" // nothing
)

// Container is what a host is made of where hosts are containers. The zero
// Container is aqmlab's own image without limits.
type Container struct {
	Image  string     `lab:"image" form:"image" write:"set" only:"containers" doc:"what [containers](docker.md) are made of, such as debian:12; without, aqmlab's own"`
	CPUs   float64    `lab:"cpus" write:"set" range:"[0.01, 1024]" only:"containers" doc:"most CPU time of a host over wall time; without, no limit"`
	Memory units.Size `lab:"memory" write:"set" range:"64MB..1000GB" example:"256MB" only:"containers" doc:"most memory of a host, with the kernel's for its sockets; without, no limit"`
}

// Switch is how every switch port is set up.
type Switch struct {
	Buffer     Buffer       `lab:"buffer"`
	Lengths    string       `lab:"lengths" what:"count" oneof:"wire,ip" default:"wire" doc:"what the length of a packet counts in queues, buffers, thresholds and quanta: wire, what it takes on the wire, or ip, its network-layer bytes, see [below](#lengths)"`
	Queues     int          `lab:"scheduler.queues" default:"1" range:"1..64" doc:"queues of a port"`
	Scheduler  kind.Choice  `lab:"scheduler" kinds:"schedulers" default:"fifo" doc:"what aqmlab scheduler list lists"`
	Classifier kind.Choice  `lab:"classifier" kinds:"classifiers" doc:"which queue of a port a DSCP has, see [below](#classifier); that of its number when absent"`
	Limiter    port.Limiter `lab:"limiter"`
	Pause      fabric.Pause `lab:"pause"` // flow control; zero: off
}

// What [Switch] has lengths count.
const (
	lengthsWire = "wire" // what a packet takes on the wire
	lengthsIP   = "ip"   // network-layer bytes
)

// lengths is what lengths count.
func (s Switch) lengths() packet.Lengths {
	if s.Lengths == lengthsIP {
		return packet.IP
	}
	return packet.Wire
}

// FullPacket is the length of a packet of the lab's MTU.
func (l *Lab) FullPacket() units.Size { return units.Size(l.Switch.lengths().Of(l.Host.MTU)) }

// Buffer is the packet memory of a switch: how it is shared, a kind of [port.Sharings] with
// its parameters, and how much there is. Sizes that its sharing does not use are zero.
type Buffer struct {
	PerPort units.Size     `lab:"per_port" write:"set" default:"1MB" range:"1B..1GB" doc:"of port: packet memory of a port, which all its queues share; at least a full packet"`
	Sharing string         `lab:"sharing" what:"sharing" default:"port" doc:"who may fill how much of the packet memory, see [below](#sharing-the-buffer)"`
	Params  map[string]any `lab:"" kinds:"sharings" name:"Sharing" key:"sharing" default:"port" doc:"who may fill how much of the packet memory, see [below](#sharing-the-buffer)"`
	Pool    units.Size     `lab:"pool" write:"set" range:"1B..1GB" doc:"of all but port and static: packet memory of the whole switch, at least a full packet"`
}

// Scheme is one contender, under a name: what the output queues do, what the ingress
// side does, and what serves the queues where that is part of the contender. Each is a
// kind and its parameters.
type Scheme struct {
	Name      string      `lab:"name" form:"name" doc:"unique in the lab"`
	AQM       kind.Choice `lab:"" kinds:"schemes" key:"aqm" doc:"what aqmlab scheme list lists"`
	Ingress   kind.Choice `lab:"ingress" kinds:"gates" doc:"what holds packets before the scheme; without a kind, every packet passes the ingress side at once"`
	Scheduler kind.Choice `lab:"scheduler" kinds:"schedulers" doc:"what serves the queues under this scheme; without a kind, switch.scheduler"`
	Sharing   kind.Choice `lab:"sharing" kinds:"sharings" doc:"who may fill how much of the packet memory under this scheme; without a kind, as switch.buffer says"`
}

// Workload is the traffic.
type Workload struct {
	Arrival      kind.Choice `lab:"arrival" kinds:"arrivals" default:"poisson" doc:"when flows start, see [below](#traffic)"`
	Sizes        kind.Choice `lab:"sizes" kinds:"sizes" default:"websearch" doc:"what aqmlab workload list lists"`
	Pattern      string      `lab:"pattern" what:"pattern" default:"many-to-one" doc:"who asks whom, see [below](#traffic)"`
	Host         int         `lab:"host" default:"1" range:"1..65534" doc:"the one host of many-to-one and one-to-many: 1 is h1"`
	Load         []float64   `lab:"load" write:"set" distinct:"yes" default:"0.6" range:"(0, 1]" doc:"payload over the rate of a host's link"`
	Flows        int         `lab:"flows" default:"1000" range:"1..100000000" doc:"at each load and seed; static and trace have their own number"`
	Services     []int       `lab:"services" form:"weights" default:"1" range:"1..1000000" doc:"how many equally popular services, up to 64, or the weight of each; service i has DSCP i and queue i, but for pias"`
	ServiceBy    string      `lab:"service_by" what:"rule" default:"flow" doc:"flow: each flow picks a service at random; pair: each pair of client and server belongs to one for good, dealt out at random; pair-number: dealt out by the pair's number, see [below](#traffic)"`
	SharesOf     string      `lab:"shares_of" write:"changed" what:"share" default:"flows" doc:"what services share by their weights: flows, or bytes, with which services of small flows have the more of them; poisson arrivals only, see [below](#traffic)"`
	ServiceSizes []string    `lab:"service_sizes" write:"set" what:"sizes" doc:"in place of sizes, distributions that take no parameters; with n of them, service i has number i modulo n"`
	Transfer     string      `lab:"transfer" what:"transfer" oneof:"pull,push" default:"pull" doc:"pull: the client asks, and a flow's time counts from there; push: the server sends by itself, and it counts from there"`

	// What follows is for all traffic of the lab, its background included.

	Jitter      time.Duration `lab:"jitter" write:"set" range:"1ns..1s" doc:"each flow, of background too, starts later than its arrival says by less than that, drawn uniformly, see [below](#jitter); by nothing when absent"`
	LoadOf      string        `lab:"load_of" write:"changed" what:"count" oneof:"payload,wire" default:"payload" doc:"what load counts, of background too: payload, or wire, which is full packets with their headers and frames: 1448 of 1538 bytes are payload then, with an MTU of 1500"`
	Connections int           `lab:"connections" default:"5" range:"0..1000" doc:"persistent connections, opened ahead, to each server; 0: a fresh connection for each flow"`
	Handshake   bool          `lab:"handshake" default:"true" doc:"of fresh connections: whether opening one is part of the flow's time"`
	PIAS        []units.Size  `lab:"pias" write:"set" form:"thresholds" range:"1B..1GB" doc:"up to 8 thresholds, rising, see [below](#priorities); none when absent"`

	PIASGap time.Duration `lab:"pias_gap" write:"set" range:"1us..1s" doc:"of pias: time without a write that begins a message on a connection, see [below](#priorities); each flow is one when absent"`
}

// What [Workload] has to choose from.
const (
	Pull = "pull" // the client asks, and the flow's time counts from there
	Push = "push" // the server sends, and the flow's time counts from there

	Payload = "payload" // load counts application bytes
	Wire    = "wire"    // and the headers and frames of full packets
)

// Background is traffic beside the workload, under a name. Its load is that of
// the workload unless it has one of its own. Its jitter, connections, handshake and
// PIAS are those of the workload, and not set.
type Background struct {
	Name     string `lab:"name" form:"name" doc:"unique in the lab"`
	Workload `lab:"" without:"jitter load_of connections handshake pias pias_gap"`
}

// Probe measures round-trip times through queues while there is traffic: one
// host sends another small packets, which come back with the same DSCP. A lab
// without a From has no probe.
type Probe struct {
	From     string        `lab:"from" write:"set" doc:"host that sends probes, see [below](#probes)"`
	To       string        `lab:"to" write:"set" doc:"host that answers them"`
	Services []int         `lab:"service" distinct:"yes" default:"0" range:"0..63" doc:"services, from 0, whose queues are probed; each has packets of its own"`
	Every    time.Duration `lab:"every" default:"1ms" range:"1us..1000s" doc:"between two packets"`
	Start    time.Duration `lab:"start" range:"0s..1000s" doc:"time of the first packet"`
	Stop     time.Duration `lab:"stop" write:"set" range:"1ns..1000s" doc:"after probe.start; from when on none is sent; without, as long as there is traffic"`
}

// Collect says how closely a run is looked at.
type Collect struct {
	Queues    time.Duration `lab:"queues" write:"set" range:"1us..1000s" doc:"between two samples of a queue, see [collectors.md](collectors.md); without, some thousands over the run"`
	Senders   time.Duration `lab:"senders" write:"set" range:"1us..1000s" doc:"between two samples of what senders know: congestion window, alpha; without, none"`
	Delays    bool          `lab:"delays" write:"set" default:"false" doc:"count every packet by how long it waits in queues of switches, by queue and DSCP, see [collectors.md](collectors.md#delays)"`
	Estimates bool          `lab:"estimates" write:"set" default:"false" doc:"keep what schemes estimate of how fast queues drain, see [collectors.md](collectors.md#estimates)"`
}

// Capture says which packets are kept. A lab without a format keeps none.
type Capture struct {
	Format string     `lab:"format" write:"set" what:"format" oneof:"pcapng" doc:"capture packets, see [collectors.md](collectors.md#captures)"`
	Ports  []string   `lab:"ports" write:"set" distinct:"yes" doc:"such as s1:h1: the port of the switch s1 towards h1; with host.port: switch also h1:s1; all when absent"`
	Snap   units.Size `lab:"snap" default:"128B" range:"64B..9018B" example:"128B or 64MB" doc:"of each frame"`
	Size   units.Size `lab:"size" default:"64MB" range:"1MB..256MB" example:"128B or 64MB" doc:"about how large the file of a point may become"`
}

// Sweep is what aqmlab sweep varies of the lab. Nothing else looks at it.
type Sweep struct {
	Over   []string `lab:"over" write:"set" example:"workload.load=0.1..0.9/0.1" doc:"axes of a sweep, which are crossed: key=values, see [sweeps.md](sweeps.md)"`
	Points []string `lab:"points" write:"set" example:"rtt.min=50us schemes.tcn.threshold=60us" doc:"points of a sweep that are listed, each with the same keys, which are crossed with its axes"`
}

// PCAPNG is the format of captures, which Wireshark opens.
const PCAPNG = "pcapng"

// The paths of keys of which more is said than their tags say.
const (
	topologyPath     = "topology"
	filePath         = topologyPath + "." + topologies.FileKey
	hostsPath        = "topology.hosts"
	linkDelayPath    = "topology.link_delay"
	rttMinPath       = "rtt.min"
	rttMaxPath       = "rtt.max"
	rttBasePath      = "rtt.base"
	rttPerPath       = "rtt.per"
	rttAtPath        = "rtt.at"
	rttByPath        = "rtt.by"
	distributionPath = "rtt.distribution"
	transportPath    = "host.transport"
	lengthsPath      = "switch.lengths"
	schedulerPath    = "switch.scheduler"
	schemesKey       = "schemes"
	workloadKey      = "workload"
	loadPath         = workloadKey + ".load"
	connectionsPath  = workloadKey + ".connections"
	handshakePath    = workloadKey + ".handshake"
	piasPath         = workloadKey + ".pias"
	piasGapPath      = workloadKey + ".pias_gap"
	backgroundKey    = "background"
	transportsKey    = "transports"
	eventsKey        = "events"
	placementPath    = "placement"
)

// slowest is the lowest rate that a link may have.
const slowest = units.Kbps

// Dilation is how many times slower than lab time the wall clock runs. Zero
// means auto: the smallest factor for which the machine keeps up.
type Dilation float64
