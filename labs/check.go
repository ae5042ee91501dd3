package labs

import "aqmlab/labs/schema"

// check looks at what no key can tell on its own, fills in the defaults that
// depend on other keys, and builds every kind that the lab names. Keys that
// have an error of their own are left out of it.
func check(r *schema.Reader, l *Lab) {
	layout := checkTopology(r, l)
	checkRTT(r, l, layout)
	checkHost(r, l)
	checkSwitch(r, l)
	scheduler := checkScheduler(r, l)
	checkSchemes(r, l, scheduler)
	checkBaseline(r, l)
	checkTraffic(r, l, scheduler)
	checkPause(r, l)
	checkProbe(r, l, layout)
	checkCapture(r, l, layout)
}
