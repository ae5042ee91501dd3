package transport

import (
	"time"

	"aqmlab/units"
)

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
	return Transport{Name: "dcqcn", ECN: true, Modelled: true, DCQCN: p}, nil
}
