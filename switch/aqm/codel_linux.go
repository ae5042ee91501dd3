package aqm

import "time"

// linuxTick is the unit in which sch_codel keeps time: 1024 ns, so that a shift
// makes it.
const linuxTick = 1 << 10

// ticks rounds down to a whole number of ticks.
func ticks(t time.Duration) time.Duration { return t &^ (linuxTick - 1) }

// linuxClock is when a packet leaves and how long it waited, as sch_codel sees
// it: it reads its clock when a packet comes and when it goes.
func linuxClock(now, waited time.Duration) (time.Duration, time.Duration) {
	left := ticks(now)
	return left, left - ticks(now-waited)
}

// inverseRoot is sch_codel's 1/sqrt(count), in 2^-16. It is not computed anew for
// each count but follows it by one Newton step a change, which lags: at count 2
// it is 0.5 where the root is 0.707, at 4 it is 2.4 % below, at 8 0.6 %.
type inverseRoot uint16

// firstRoot is the root of 1, as near as it gets.
const firstRoot inverseRoot = 1<<16 - 1

// step takes one Newton step, x (3 - count x^2) / 2, towards the root of count.
// All of it is in 32-bit fractions, rounded down where the kernel does. It wraps
// as the kernel's does when count is far from the root's own.
func (r inverseRoot) step(count int) inverseRoot {
	x := uint64(r) << 16
	square := x * x >> 32
	rest := 3<<32 - uint64(count)*square
	return inverseRoot(rest >> 2 * x >> 31 >> 16) // the factor 4 makes room for the product
}

// of is that part of an interval of whole ticks.
func (r inverseRoot) of(interval time.Duration) time.Duration {
	return interval / linuxTick * time.Duration(r) >> 16 * linuxTick
}
