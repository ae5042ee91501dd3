package netns

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"runtime"

	"github.com/vishvananda/netlink"
	"github.com/vishvananda/netns"
	"golang.org/x/sync/errgroup"
	"golang.org/x/sys/unix"

	"aqmlab/orchestrator/host"
	"aqmlab/orchestrator/journal"
)

// Up brings up the lab that the plan describes, under the journal's id, and
// returns when every link has its carrier. It records in the journal before it
// makes; when it fails or ctx ends, it removes what it has made and returns
// why.
func Up(ctx context.Context, j *journal.Journal, p Plan) (*Lab, error) {
	lab, err := p.Lab(j.ID())
	if err != nil {
		return nil, err
	}
	entries := p.entries(lab)
	if err := refuseForeign(entries); err != nil {
		return nil, fmt.Errorf("bring up lab %s: %w", lab.ID, err)
	}
	if err := j.Record(entries...); err != nil {
		return nil, err
	}
	if err := build(ctx, p, lab); err != nil {
		return nil, errors.Join(fmt.Errorf("bring up lab %s: %w", lab.ID, err), removeAll(entries))
	}
	return lab, nil
}

// Down removes the lab's namespaces with everything in them. It is also what
// undoing the journal does.
func (l *Lab) Down() error { return removeAll(l.entries()) }

// refuseForeign makes sure that no namespace of the lab exists yet: recording
// it would have it removed, though it is not ours.
func refuseForeign(entries []journal.Entry) error {
	for _, e := range entries {
		_, err := os.Lstat(path(e.Name))
		if err == nil {
			return fmt.Errorf("namespace %s exists and is not of this lab: remove it with `ip netns del %[1]s`", e.Name)
		}
		if !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	return nil
}

// build makes the switches, the links between them, and then all hosts.
func build(ctx context.Context, p Plan, lab *Lab) error {
	if err := ctx.Err(); err != nil {
		return context.Cause(ctx)
	}
	if err := readyDir(); err != nil {
		return err
	}
	for i, name := range p.Switches {
		if !p.Here(name) {
			continue
		}
		err := Do("", func() error {
			ns, err := p.namespace(name, lab.Switches[i])
			if err != nil {
				return err
			}
			// Its own stack must be out of the traffic.
			return errors.Join(host.DisableIPv6(), ns.Close())
		})
		if err != nil {
			return err
		}
	}
	if err := buildTrunks(ctx, p, lab); err != nil {
		return err
	}
	return buildHosts(ctx, p, lab)
}

// buildHosts makes all hosts, as many at once as there are usable CPUs.
func buildHosts(ctx context.Context, p Plan, lab *Lab) error {
	all, ctx := errgroup.WithContext(ctx)
	all.SetLimit(runtime.GOMAXPROCS(0))
	for i, h := range lab.Hosts {
		all.Go(func() error {
			if ctx.Err() != nil {
				return context.Cause(ctx)
			}
			err := buildHost(ctx, p.forHost(i), lab, i)
			if err == nil && p.delayed() {
				err = Do(h.Namespace, func() error { return addDelays(p.Delays[i]) })
			}
			if err != nil {
				return fmt.Errorf("host %s: %w", h.Name, err)
			}
			return nil
		})
	}
	return all.Wait()
}

// buildHost makes what this machine has of one host and its link, which is up when it
// returns.
func buildHost(ctx context.Context, p Plan, lab *Lab, i int) error {
	h := lab.Hosts[i]
	here, there := p.Here(h.Name), p.Here(p.Switches[h.Switch])
	if !here && !there {
		return nil
	}
	if here {
		if err := Do("", func() error { return prepareHost(p, h) }); err != nil {
			return err
		}
	}
	port := end{h.Name, h.Gateway, p.Switches[h.Switch], lab.Switches[h.Switch]}
	if err := p.link(ctx, i, port, end{p.hostEnd(), h.MAC, h.Name, h.Namespace}); err != nil {
		return err
	}
	if there {
		if err := Do(lab.Switches[h.Switch], func() error { return setUpPort(h.Name) }); err != nil {
			return err
		}
	}
	if !here {
		return nil
	}
	return Do(h.Namespace, func() error { return setUpDevice(ctx, p, h) })
}

// prepareHost makes a host's namespace, in which it leaves the calling thread.
func prepareHost(p Plan, h Host) error {
	ns, err := p.namespace(h.Name, h.Namespace)
	if err != nil {
		return err
	}
	defer ns.Close()
	if err := (host.Setting{Key: ackDefer, Value: "0"}).SetIfThere(); err != nil {
		return err
	}
	if host.InUserNamespace() {
		if err := host.PresetReceive(p.ReceiveCPUs); err != nil {
			return err
		}
	}
	for _, s := range hostSysctls(p) {
		if err := s.Set(); err != nil {
			return err
		}
	}
	return host.DisableIPv6()
}

var errOwn = errors.New("it is this program's own namespace")

// namespace makes the named namespace of a node, or gives the name to the one
// that the node has already, and leaves the calling thread inside it.
func (p Plan) namespace(node, name string) (netns.NsHandle, error) {
	pid, ok := p.Owners[node]
	if !ok {
		return create(name)
	}
	// Of this process that would be the namespace which its first thread happens to
	// be in.
	if pid == os.Getpid() {
		return -1, errOwn
	}
	ns, err := netns.GetFromPid(pid)
	if err != nil {
		return ns, fmt.Errorf("open the namespace of process %d: %w", pid, err)
	}
	if err := errors.Join(adopt(ns, name), netns.Set(ns)); err != nil {
		return ns, errors.Join(fmt.Errorf("adopt the namespace of process %d as %s: %w", pid, name, err), ns.Close())
	}
	return ns, nil
}

// adopt gives a name to a namespace, which stays as long as it has the name.
func adopt(ns netns.NsHandle, name string) error {
	// By descriptor, not by process: its id may be another's by now.
	from := fmt.Sprintf("/proc/thread-self/fd/%d", ns)
	theirs, err := inodeOf(from)
	if err != nil {
		return err
	}
	if own, err := inodeOf("/proc/self/ns/net"); err != nil || own == theirs {
		// It would turn the machine's own network into a host's.
		return errors.Join(err, errOwn)
	}
	file, err := os.OpenFile(path(name), os.O_RDONLY|os.O_CREATE|os.O_EXCL, 0o444)
	if err != nil {
		return err
	}
	if err := file.Close(); err != nil {
		return err
	}
	return os.NewSyscallError("mount", unix.Mount(from, path(name), "", unix.MS_BIND, ""))
}

// create makes a named namespace and leaves the calling thread inside it.
func create(name string) (netns.NsHandle, error) {
	ns, err := netns.NewNamed(name)
	if err != nil {
		return ns, fmt.Errorf("create namespace %s: %w", name, err)
	}
	return ns, nil
}

// ackDefer makes a receiver that works off its backlog acknowledge several
// segments at once. The kernel's own DCTCP then tells its sender of one mark
// where there were many. It came with Linux 6.7.
const ackDefer = "net.ipv4.tcp_backlog_ack_defer"

// hostSysctls are the settings of a host's namespace, in the order in which
// they are made: before its device is, so that the device inherits them.
func hostSysctls(p Plan) []host.Setting {
	settings := []host.Setting{
		// The reverse path filter knows nothing of a gateway that is no neighbour's
		// address. The larger of "all" and the device's counts, hence both.
		{Key: "net.ipv4.conf.all.rp_filter", Value: "0"},
		{Key: "net.ipv4.conf.default.rp_filter", Value: "0"},
		// What one connection learned (ssthresh, RTT) must not shape the next:
		// runs are independent.
		{Key: "net.ipv4.tcp_no_metrics_save", Value: "1"},
		{Key: "net.ipv4.tcp_slow_start_after_idle", Value: bit(p.TCP.IdleRestart)},
		{Key: "net.ipv4.tcp_ecn", Value: bit(p.TCP.ECN && len(p.Also) == 0)}, // else the routes say
		// A lost SYN that asked for ECN is repeated without, as if a middlebox had
		// swallowed it. Here it was the queue, and the flow would run without ECN to
		// its end.
		{Key: "net.ipv4.tcp_ecn_fallback", Value: "0"},
	}
	if p.TCP.SACKRecovery {
		settings = append(settings, host.Setting{Key: "net.ipv4.tcp_recovery", Value: "0"}, host.Setting{Key: "net.ipv4.tcp_early_retrans", Value: "0"})
	}
	return append(settings, p.Sysctls...)
}

func bit(on bool) string {
	if on {
		return "1"
	}
	return "0"
}

// Retime changes what depends on how fast the lab runs to what the plan says:
// the hosts' uplinks and delays, and TCP's times, which hold for connections
// that are opened from then on. The plan differs from the lab's in nothing
// else.
func (l *Lab) Retime(p Plan) error {
	if err := p.check(); err != nil {
		return fmt.Errorf("retime lab %s: %w", l.ID, err)
	}
	err := parallel(len(l.Hosts), func(i int) error {
		if !p.Here(l.Hosts[i].Name) {
			return nil
		}
		err := Do(l.Hosts[i].Namespace, func() error {
			if err := retimeHost(p.forHost(i), l.Hosts[i]); err != nil || !p.delayed() {
				return err
			}
			return changeDelays(p.Delays[i])
		})
		if err != nil {
			return fmt.Errorf("host %s: %w", l.Hosts[i].Name, err)
		}
		return nil
	})
	if err != nil {
		return fmt.Errorf("retime lab %s: %w", l.ID, err)
	}
	return nil
}

// CheckUplink tells whether a host can send at a rate in bits per second, as of
// [Plan.Uplink].
func CheckUplink(uplink int64) error {
	if uplink < minUplink {
		return fmt.Errorf("uplink of %d bit/s: want %d or more", uplink, minUplink)
	}
	return nil
}

// Rerate changes the rate at which a host sends on its link, in bits per second as
// [Plan.Uplink] is. What the host has queued is kept.
func (l *Lab) Rerate(host int, p Plan, uplink int64) error {
	if err := Rerate(l.Hosts[host].Namespace, p.MTU, uplink); err != nil {
		return fmt.Errorf("rerate host %s: %w", l.Hosts[host].Name, err)
	}
	return nil
}

// Rerate is [Lab.Rerate] for the host of a namespace, which is the caller's if it is
// empty. The MTU is that of its link.
func Rerate(namespace string, mtu int, uplink int64) error {
	if err := CheckUplink(uplink); err != nil {
		return err
	}
	return Do(namespace, func() error {
		device, err := netlink.LinkByName(Device)
		if err != nil {
			return fmt.Errorf("find %s: %w", Device, err)
		}
		return shapeUplink(Plan{MTU: mtu, Uplink: uplink}, device.Attrs().Index)
	})
}

// retimeHost changes the host that the calling thread is in.
func retimeHost(p Plan, h Host) error {
	device, err := netlink.LinkByName(Device)
	if err != nil {
		return fmt.Errorf("find %s: %w", Device, err)
	}
	for _, r := range routes(p, h, device.Attrs().Index) {
		if err := netlink.RouteReplace(&r); err != nil {
			return fmt.Errorf("replace route to %s: %w", r.Dst, err)
		}
	}
	return shapeUplink(p, device.Attrs().Index)
}
