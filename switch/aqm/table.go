package aqm

import (
	"time"

	"aqmlab/kind"
	"aqmlab/switch/packet"
	"aqmlab/units"
)

// Kind is a row of the table of schemes.
type Kind = kind.Kind[Env, Scheme]

// What happens to a packet that is not ECN-capable, for the notes of rows: the
// verdicts [Mark] and [MarkOrDrop].
const (
	NotECTPasses    = "A packet that is not ECN-capable passes where another is marked."
	NotECTIsDropped = "A packet that is not ECN-capable is dropped where another is marked."
)

// Table lists every scheme that ships with aqmlab.
func Table() kind.Table[Env, Scheme] {
	return kind.Table[Env, Scheme]{
		kind.Row("droptail", "accept while the buffer has room, never mark", struct{}{}, newDropTail).Noting("Nothing is marked; every packet passes, ECN-capable or not."),
		kind.Row("dctcp-red", "mark when the instantaneous queue is longer than a threshold, or ever more likely between two", DCTCPRED{PMax: 1, Threshold: Standard, RTT: P90RTT, Lambda: 1, Scope: scopeQueue, At: atEnqueue}, newDCTCPRED).Noting(NotECTPasses),
		kind.Row("tcn", "mark on departure what waited longer than a threshold", TCN{RTT: P90RTT, PMax: 1, StampBits: stampBits}, newTCN).Noting(NotECTPasses),
		kind.Row("red", "mark or drop on arrival by the averaged length of the queue", RED{RTT: P90RTT, PMax: 0.1, Weight: 0.002, ECN: true}, newRED).Noting(NotECTIsDropped),
		kind.Row("ideal-red", "mark on arrival above a threshold that follows the queue's drain rate", IdealRED{Estimator: estimatorDepartureRate, RTT: P90RTT, Lambda: 1, DQThresh: 10 * units.KB, Weight: 0.875, Timing: timingCovered}, newIdealRED).Noting(NotECTPasses),
		kind.Row("codel", "mark or drop on departure when the sojourn time stays above a target", CoDel{RTT: MaxRTT, Action: actionMark, MTU: packet.FullPacket, Spares: sparesMTU, Arithmetic: arithmeticExact}, newCoDel).Noting(NotECTPasses + " With action either it is dropped. With drop all are dropped alike."),
		kind.Row("pie", "mark or drop on arrival by a probability that steers the queueing delay", PIE{
			Target: 15 * time.Millisecond, TUpdate: 15 * time.Millisecond, MaxBurst: 150 * time.Millisecond,
			Alpha: 0.125, Beta: 1.25, ECN: true, MarkECNTh: 0.1,
			Signal: delayBySojourn, DQThreshold: 1 << 14,
		}, newPIE).Noting(NotECTIsDropped),
		kind.Row("mq-ecn", "mark on arrival above a threshold that follows the queue's share of the scheduler's rounds", MQECN{Threshold: Standard, RTT: MeanRTT, Lambda: 1, Beta: 0.75, Sample: sampleBoth, Idle: idlePort, Weight: 1, PMax: 1}, newMQECN).Noting(NotECTPasses),
		kind.Row("ecn-sharp", "mark on departure what waited too long, and, ever more often, while a queue stands", ECNSharp{RTT: P90RTT, PstRule: pstTestbed, Signal: signalSojourn, Gaps: gapsHarmonic, PMax: 1, Arithmetic: arithmeticExact, Clock: clockLess, Division: divisionScaled}, newECNSharp).Noting(NotECTPasses),
		kind.Row("pi2", "mark or drop on arrival by a probability that a linear controller steers, squared for classic transports", PI2{RTT: MaxRTT, K: 2, Scalable: scalableECT}, newPI2).Noting(NotECTIsDropped),
		kind.Row("dualpi2", "mark a low-latency queue, and mark or drop a classic one, by coupled probabilities", DualPI2{RTT: MaxRTT, K: 2, ThLen: 1}, newDualPI2).Noting("In the low-latency queue a packet that is not ECN-capable passes where another is marked. In the classic queue it is dropped."),
		kind.Row("pmsb", "mark on arrival above a threshold of the port, but no queue below its own share of it", PMSB{Threshold: Standard, RTT: P90RTT, Lambda: 1}, newPMSB).Noting(NotECTPasses),
		kind.Row("phantom", "mark on departure by the length of a queue that a slower link would have", Phantom{Threshold: 6 * units.KB, Drain: 0.95}, newPhantom).Noting(NotECTPasses),
	}
}
