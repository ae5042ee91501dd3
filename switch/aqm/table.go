package aqm

import "aqmlab/kind"

// Table lists every scheme.
func Table() kind.Table[Env, Scheme] {
	return kind.Table[Env, Scheme]{
		kind.Row("droptail", "accept while the buffer has room, never mark", struct{}{}, newDropTail),
		kind.Row("dctcp-red", "mark on arrival when the instantaneous queue is longer than a threshold", DCTCPRED{Threshold: Standard, Lambda: 1}, newDCTCPRED),
		kind.Row("tcn", "mark on departure what waited longer than a threshold", TCN{}, newTCN),
	}
}
