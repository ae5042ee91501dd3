package cc

import (
	"errors"
	"fmt"
	"io/fs"
	"os"

	"golang.org/x/sys/unix"

	"aqmlab/trafficgen/transport"
)

// algorithm is how the kernel knows a transport.
type algorithm struct {
	transport.Transport
	kernel string // name in the kernel
	ours   bool   // the programs in dctcp.bpf.c can stand in for the kernel's
}

func algorithmOf(t transport.Transport) algorithm {
	switch t.Name {
	case "dctcp":
		return algorithm{Transport: t, kernel: "dctcp", ours: true}
	case "ecn-star":
		return algorithm{Transport: t, kernel: "reno"}
	case "udp": // what connections of programs have there; every kernel has it
		return algorithm{Transport: t, kernel: "reno"}
	default:
		return algorithm{Transport: t, kernel: t.Name}
	}
}

// kernels reports whether the kernel, or a module of it, provides the congestion control
// now. What goes by its name may be ours, of a lab that offers it.
func (a algorithm) kernels() (bool, error) {
	has, err := kernelHas(a.kernel)
	if !has || err != nil || !a.ours {
		return has, err
	}
	ours, err := isBPF(a.kernel)
	return !ours, err
}

// Acquire makes the transport's congestion control available in the kernel. It
// may make the kernel load a module. Suffix tells labs that run at once apart:
// 1 to 9 letters, digits, underscores or dots. Errors wrap an
// [*UnsupportedError], as for a transport that only modelled hosts speak, or
// [unix.EEXIST] if a running lab has the same suffix.
func Acquire(t transport.Transport, suffix string) (*Handle, error) {
	h, err := algorithmOf(t).acquire(suffix)
	if err != nil {
		return nil, fmt.Errorf("acquire transport %s: %w", t.Name, err)
	}
	return h, nil
}

// Provided tells whether the kernel has what real hosts of a transport need, so that
// nothing is to be loaded, which only root of the machine may. The error is nil or an
// [*UnsupportedError].
func Provided(t transport.Transport) error {
	a := algorithmOf(t)
	if a.Modelled {
		return a.onlyModelled()
	}
	has, err := a.kernels()
	if err != nil {
		return err
	}
	switch {
	case !has && !a.ours:
		return a.missingModule()
	case !has, a.ours && a.lossByAlpha():
		return a.explain(unix.EPERM, thisMachine())
	}
	return nil
}

// lossByAlpha tells that a loss is to take of DCTCP's window what a mark would.
func (a algorithm) lossByAlpha() bool { return a.DCTCP.OnLoss == transport.OnLossAlpha }

func (a algorithm) acquire(suffix string) (*Handle, error) {
	name, err := uniqueName(suffix)
	if err != nil {
		return nil, err
	}
	if a.Modelled {
		return nil, a.onlyModelled()
	}
	if _, err := kernelHasOrLoads(a.kernel); err != nil {
		return nil, err
	}
	has, err := a.kernels()
	if err != nil {
		return nil, err
	}
	m := thisMachine()
	if has && a.ours {
		if has, err = answersLosses(a.lossByAlpha(), m); err != nil {
			return nil, err
		}
	}
	switch {
	case has:
		return &Handle{name: a.kernel, provider: Kernel, ecn: a.ECN}, nil
	case !a.ours:
		return nil, a.missingModule()
	}
	v := variant{linked: m.links(), lossByAlpha: a.lossByAlpha()}
	r, err := register(name, v)
	if err != nil {
		return nil, a.explain(err, m)
	}
	return &Handle{name: name, provider: EBPF, ecn: a.ECN, registration: r, variant: v}, nil
}

// halvesOnLoss is a parameter of the kernel's DCTCP in guests of User-Mode Linux,
// which are built with it: whether a loss halves the window. Other kernels have
// none.
const halvesOnLoss = "/sys/module/tcp_dctcp/parameters/dctcp_halve_on_loss"

// HalvesSince is the first kernel, as KERNEL_VERSION has it, whose own DCTCP halves
// the window for a loss: Linux 5.1 ("tcp: Ensure DCTCP reacts to losses"). Those
// before take of it what a mark would.
const HalvesSince = 5<<16 | 1<<8

// answersLosses tells whether the kernel's own DCTCP will do for a loss what is
// wanted, and has it do so where there is a choice. That an old kernel does not
// halve is no reason to do without it: there is no other there.
func answersLosses(byAlpha bool, m machine) (bool, error) {
	value := "Y"
	if byAlpha {
		value = "N"
	}
	switch err := setParameter(halvesOnLoss, value); {
	case err == nil:
		return true, nil
	case !errors.Is(err, fs.ErrNotExist):
		return false, fmt.Errorf("choose what a loss takes of DCTCP's window: %w", err)
	}
	return !byAlpha || m.version != 0 && m.version < HalvesSince, nil
}

// setParameter writes to a file that is there: to make one in /sys is refused as if
// one were and could not be written to.
func setParameter(path, value string) error {
	f, err := os.OpenFile(path, os.O_WRONLY, 0)
	if err != nil {
		return err
	}
	_, err = f.WriteString(value)
	return errors.Join(err, f.Close())
}
