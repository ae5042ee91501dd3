// Package transport lists the transports that a lab's hosts may speak, whoever
// provides them: the kernel, an eBPF program, or a model.
package transport

import (
	"time"

	"aqmlab/kind"
	"aqmlab/units"
)

// Transport is what every provider of one must keep to.
type Transport struct {
	Name string
	ECN  bool // connections negotiate ECN (RFC 3168), so that switches may mark
	// Modelled tells that no kernel provides it: only modelled hosts speak it, in
	// virtual time.
	Modelled bool
	// Instead is the transport that hosts may speak where no kernel provides this one;
	// empty: none.
	Instead string
	// Metered tells that it goes by the times at which segments leave and arrive. Modelled
	// hosts cannot find losses without them then (host.loss_recovery: sack).
	Metered bool
	// RDMA tells that hosts send messages by RDMA, and not streams of bytes by TCP.
	RDMA bool
	// Datagrams tells that hosts send datagrams at the rate of the application, and take
	// no notice of what becomes of them. Flows then need a rate and a time to stop.
	Datagrams bool

	DCTCP DCTCP // parameters of dctcp; zero for other transports
	DCQCN DCQCN // parameters of dcqcn; zero for other transports
}

// Table lists every transport.
func Table() kind.Table[struct{}, Transport] {
	return kind.Table[struct{}, Transport]{
		kind.Row("dctcp", "cut the window by the share of marked packets (RFC 8257)", DefaultDCTCP(), newDCTCP),
		kind.Row("ecn-star", "Reno that treats a mark like a loss, at most once a window (RFC 3168)", DefaultECNStar(), newECNStar),
		row("reno", "Reno without ECN (RFC 5681)", false),
		kind.Row("cubic", "CUBIC without ECN (RFC 9438)", Cubic{}, newCubic),
		kind.Row("bbr", "pace by the rate and the round trip of the path, version 1 (BBR, as in Linux)", struct{}{}, newBBR),
		kind.Row("bbr3", "BBR version 3, which also goes by losses (draft-ietf-ccwg-bbr); modelled hosts only", struct{}{}, newBBR3),
		kind.Row("dcqcn", "pace RDMA messages at a rate that congestion notifications cut (DCQCN); modelled hosts only", DefaultDCQCN(), newDCQCN),
		kind.Row("prague", "cut the window by the share of marked packets, paced and with ECT(1) (L4S); modelled hosts only", DefaultPrague(), newPrague),
		kind.Row("swift", "keep the delay of the network at a target (SIGCOMM 2020); modelled hosts only", DefaultSwift(), newSwift),
		kind.Row("udp", "send datagrams at the rate of the flow, whatever the network does (UDP)", struct{}{}, newUDP),
	}
}

func row(name, doc string, ecn bool) kind.Kind[struct{}, Transport] {
	return kind.Row(name, doc, struct{}{}, func(_, _ struct{}) (Transport, error) {
		return Transport{Name: name, ECN: ecn}, nil
	})
}

func newBBR(struct{}, struct{}) (Transport, error) {
	return Transport{Name: "bbr", Metered: true}, nil
}

func newBBR3(struct{}, struct{}) (Transport, error) {
	return Transport{Name: "bbr3", Metered: true, Modelled: true}, nil
}

// Cubic are the parameters of CUBIC.
type Cubic struct {
	HyStart bool `lab:"hystart" doc:"modelled hosts end slow start by the times of acknowledgements, as real hosts always do, and not by the first loss"`
}

func newCubic(Cubic, struct{}) (Transport, error) { return Transport{Name: "cubic"}, nil }

// What DCTCP takes of the window for a loss.
const (
	OnLossHalf  = "half"  // half of it (RFC 8257, section 3.5)
	OnLossAlpha = "alpha" // what a mark takes, as Linux 3.18 to 5.0 do
)

// OnLoss is the parameter of DCTCP that real hosts follow, too.
const OnLoss = "on_loss"

// DCTCP are the parameters of DCTCP, by the names of RFC 8257. Real hosts have the
// defaults of all but [OnLoss].
type DCTCP struct {
	G            float64 `lab:"g" only:"modelled" range:"(0, 1]" doc:"weight of the newest window in the estimate of how much is marked"`
	InitialAlpha float64 `lab:"initial_alpha" only:"modelled" range:"[0, 1]" doc:"the estimate before the first mark: 1 in RFC 8257 and Linux, 0 in ns-2"`
	MinWindow    int     `lab:"min_window" only:"modelled" range:"1..1000000" doc:"segments below which no mark takes the window: 2 in Linux, 1 in ns-2"`
	GrowOnEcho   bool    `lab:"grow_on_echo" only:"modelled" doc:"an ACK with an echo lets the window grow if the one before had an echo, too, as in ns-2"`
	OnLoss       string  `lab:"on_loss" oneof:"half,alpha" what:"choice" doc:"what a loss takes of the window: half (RFC 8257, section 3.5) or alpha (what a mark takes, as in Linux 3.18 to 5.0)"`
}

// DefaultDCTCP is what RFC 8257 recommends (sections 3.3 and 4.2) and Linux does.
func DefaultDCTCP() DCTCP {
	return DCTCP{G: 1.0 / 16, InitialAlpha: 1, MinWindow: 2, OnLoss: OnLossHalf}
}

// ECNStar are the parameters of Reno with ECN.
type ECNStar struct {
	MinWindow  int  `lab:"min_window" only:"modelled" range:"1..1000000" doc:"segments below which no mark takes the window: 2 in RFC 5681 and Linux, 1 in ns-2"`
	GrowOnEcho bool `lab:"grow_on_echo" only:"modelled" doc:"an ACK with an echo lets the window grow if the one before had an echo, too, as in ns-2; not in RFC 3168"`
}

// DefaultECNStar is what Linux does.
func DefaultECNStar() ECNStar { return ECNStar{MinWindow: 2} }

func newDCTCP(p DCTCP, _ struct{}) (Transport, error) {
	return Transport{Name: "dctcp", ECN: true, Instead: "ecn-star", DCTCP: p}, nil
}

func newECNStar(p ECNStar, _ struct{}) (Transport, error) {
	return Transport{Name: "ecn-star", ECN: true}, nil
}

// DCQCN are the parameters of DCQCN, by the names of its paper (Zhu et al.,
// Congestion Control for Large-Scale RDMA Deployments, SIGCOMM 2015).
type DCQCN struct {
	G            float64       `lab:"g" only:"modelled" range:"(0, 1]" doc:"weight of a notification in the estimate of congestion, alpha"`
	AlphaTimer   time.Duration `lab:"alpha_timer" only:"modelled" range:"1ns..100h" doc:"time without a notification after which alpha decays once (K)"`
	CNPInterval  time.Duration `lab:"cnp_interval" only:"modelled" range:"1ns..100h" doc:"least time between two notifications of one flow (N)"`
	CNPDSCP      int           `lab:"cnp_dscp" only:"modelled" range:"-1..63" doc:"DSCP of notifications; -1: that of the data"`
	Timer        time.Duration `lab:"timer" only:"modelled" range:"1ns..100h" doc:"time between two increases of the rate (T)"`
	ByteCounter  units.Size    `lab:"byte_counter" only:"modelled" range:"1B..1000GB" doc:"bytes sent between two increases of the rate (B)"`
	FastRecovery int           `lab:"fast_recovery" only:"modelled" range:"0..1000000" doc:"increases by timer or byte counter that only recover the rate before the cut (F)"`
	RAI          units.Rate    `lab:"rai" only:"modelled" range:"1bps..1000Tbps" doc:"step of the target rate in additive increase"`
	RHAI         units.Rate    `lab:"rhai" only:"modelled" range:"1bps..1000Tbps" doc:"step of the target rate in hyper increase"`
	MinRate      units.Rate    `lab:"min_rate" only:"modelled" range:"1bps..1000Tbps" doc:"rate below which no flow is cut"`
	AckEvery     int           `lab:"ack_every" only:"modelled" range:"1..1000000" doc:"packets for which one acknowledgement is asked, besides the last of a message"`
}

// DefaultDCQCN is what the paper sets (sections 3 and 5.2). It leaves three
// parameters open: the hyper step is ten additive ones, as in QCN; no flow is
// cut below 10 Mbps, so that a thousand share 10 Gbps; and an acknowledgement is
// asked for every 16 packets.
func DefaultDCQCN() DCQCN {
	return DCQCN{
		G:            1.0 / 256,
		AlphaTimer:   55 * time.Microsecond,
		CNPInterval:  50 * time.Microsecond,
		CNPDSCP:      -1,
		Timer:        55 * time.Microsecond,
		ByteCounter:  10 * units.MB,
		FastRecovery: 5,
		RAI:          40 * units.Mbps,
		RHAI:         400 * units.Mbps,
		MinRate:      10 * units.Mbps,
		AckEvery:     16,
	}
}

func newDCQCN(p DCQCN, _ struct{}) (Transport, error) {
	return Transport{Name: "dcqcn", ECN: true, Modelled: true, RDMA: true, DCQCN: p}, nil
}
