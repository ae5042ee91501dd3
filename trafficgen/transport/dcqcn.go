package transport

import (
	"time"

	"aqmlab/kind"
	"aqmlab/units"
)

// DCQCN are the parameters of DCQCN, by the names of its paper (Zhu et al.,
// Congestion Control for Large-Scale RDMA Deployments, SIGCOMM 2015).
type DCQCN struct {
	G            float64       `lab:"g" doc:"weight of a notification in the estimate of congestion, alpha, above 0 and at most 1"`
	AlphaTimer   time.Duration `lab:"alpha_timer" doc:"time without a notification after which alpha decays once (K)"`
	CNPInterval  time.Duration `lab:"cnp_interval" doc:"least time between two notifications of one flow (N)"`
	CNPDSCP      int           `lab:"cnp_dscp" doc:"DSCP of notifications, 0 to 63; -1: that of the data"`
	Timer        time.Duration `lab:"timer" doc:"time between two increases of the rate (T)"`
	ByteCounter  units.Size    `lab:"byte_counter" doc:"bytes sent between two increases of the rate (B)"`
	FastRecovery int           `lab:"fast_recovery" doc:"increases by timer or byte counter that only recover the rate before the cut (F)"`
	RAI          units.Rate    `lab:"rai" doc:"step of the target rate in additive increase"`
	RHAI         units.Rate    `lab:"rhai" doc:"step of the target rate in hyper increase"`
	MinRate      units.Rate    `lab:"min_rate" doc:"rate below which no flow is cut"`
	AckEvery     int           `lab:"ack_every" doc:"packets for which one acknowledgement is asked, besides the last of a message"`
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

// Check validates the parameters. Errors name the one that does not fit.
func (p DCQCN) Check() error {
	switch {
	case !(p.G > 0 && p.G <= 1): // NaN neither
		return kind.Invalid("g", "%v is outside (0, 1]", p.G)
	case p.AlphaTimer <= 0:
		return kind.Invalid("alpha_timer", "%v is not above zero", p.AlphaTimer)
	case p.CNPInterval <= 0:
		return kind.Invalid("cnp_interval", "%v is not above zero", p.CNPInterval)
	case p.CNPDSCP < -1 || p.CNPDSCP > 63:
		return kind.Invalid("cnp_dscp", "%d is outside -1 to 63", p.CNPDSCP)
	case p.Timer <= 0:
		return kind.Invalid("timer", "%v is not above zero", p.Timer)
	case p.ByteCounter <= 0:
		return kind.Invalid("byte_counter", "%v is not above zero", p.ByteCounter)
	case p.FastRecovery < 0:
		return kind.Invalid("fast_recovery", "%d is below zero", p.FastRecovery)
	case p.RAI <= 0:
		return kind.Invalid("rai", "%v is not above zero", p.RAI)
	case p.RHAI <= 0:
		return kind.Invalid("rhai", "%v is not above zero", p.RHAI)
	case p.MinRate <= 0:
		return kind.Invalid("min_rate", "%v is not above zero", p.MinRate)
	case p.AckEvery < 1:
		return kind.Invalid("ack_every", "%d is below 1", p.AckEvery)
	}
	return nil
}

func newDCQCN(p DCQCN, _ struct{}) (Transport, error) {
	return Transport{Name: "dcqcn", ECN: true, Modelled: true, DCQCN: p}, p.Check()
}
