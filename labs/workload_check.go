package labs

import (
	"aqmlab/switch/sched"
	"aqmlab/trafficgen"
)

// checkTraffic builds what the workload and the background are made of, and,
// when all of the lab holds together, sees whether flows can be drawn.
func (r *reader) checkTraffic(l *Lab, scheduler sched.Scheduler) {
	byLoad := r.checkWorkload(l, workloadKey, &l.Workload)
	for i := range l.Background {
		b := &l.Background[i]
		if r.checkWorkload(l, backgroundPath(b.Name), &b.Workload) && len(b.Load) == 0 {
			byLoad = true
		}
	}
	if len(l.Workload.Load) > 1 && !byLoad && r.sound(loadPath) {
		r.fail(loadPath, "%d loads, but no flows start by the load: want one", len(l.Workload.Load))
	}
	if l.Workload.Connections > 0 && !l.Workload.Handshake {
		r.fail(handshakePath, "connections that are opened ahead have none in a flow: want %s 0", connectionsPath)
	}
	r.checkPIAS(l, scheduler)
	if len(r.errs) > 0 {
		return
	}
	for _, load := range l.Workload.Load {
		if err := l.Traffic(load, l.Seeds[0]).Check(); err != nil {
			r.fail(workloadKey, "%w", err)
			return
		}
	}
}

// checkWorkload tells whether flows start by the load, as far as can be told.
func (r *reader) checkWorkload(l *Lab, path string, w *Workload) (byLoad bool) {
	build(r, r.form.choice(join(path, "sizes")), w.Sizes, func(params map[string]any) (trafficgen.Distribution, error) {
		return trafficgen.Sizes().New(w.Sizes.Kind, params, trafficgen.SizesEnv{})
	})
	arrival := build(r, r.form.choice(join(path, "arrival")), w.Arrival, func(params map[string]any) (trafficgen.Arrival, error) {
		return trafficgen.Arrivals().New(w.Arrival.Kind, params, trafficgen.ArrivalEnv{})
	})
	services := join(path, "services")
	if n := len(w.Services); n > l.Switch.Queues && r.sound(services, "switch.scheduler.queues") {
		r.fail(services, "%d services: want at most one for each queue, switch.scheduler.queues is %d", n, l.Switch.Queues)
	}
	return arrival == nil || arrival.ByLoad()
}

// checkPIAS wants a strict queue for each priority, and one more for each
// service.
func (r *reader) checkPIAS(l *Lab, scheduler sched.Scheduler) {
	priorities := len(l.Workload.PIAS)
	if priorities == 0 || !r.sound(piasPath, "switch.scheduler.queues") {
		return
	}
	services := len(l.Workload.Services)
	for _, b := range l.Background {
		services = max(services, len(b.Services))
	}
	if n := l.Tagging().Queues(services); n > l.Switch.Queues {
		r.fail(piasPath, "thresholds (%d) and services (%d) need %d queues: switch.scheduler.queues is %d", priorities, services, n, l.Switch.Queues)
	}
	if scheduler != nil && sched.Strict(scheduler) < priorities {
		r.fail(piasPath, "each threshold needs a strict queue, which makes %d: %s has %d: want sp", priorities, schedulerPath, sched.Strict(scheduler))
	}
}
