package cc

import (
	"errors"
	"fmt"
	"os"
	"syscall"

	"github.com/cilium/ebpf"
	"golang.org/x/sys/unix"
)

// State is a snapshot of one connection's congestion control.
type State struct {
	Algorithm   string // name of the congestion control in the kernel
	ECN         bool   // both ends agreed on ECN
	Cwnd        uint32 // congestion window in segments
	SSThresh    uint32 // slow start threshold in segments
	Delivered   uint32 // segments delivered to the peer so far
	DeliveredCE uint32 // those of them that the peer reported as marked
	DCTCP       *DCTCP // nil if the connection does not run DCTCP
}

// DCTCP is the part of a connection's state that only DCTCP has.
type DCTCP struct {
	Alpha      float64 // estimated share of marked packets, 0 to 1; 1 at the start
	CE         bool    // the latest data packet received was marked
	Windows    uint32  // windows of data over which Alpha was updated; the kernel's own DCTCP does not tell and reports 0
	Reductions uint32  // cuts of the congestion window, for marks and losses; the kernel's own DCTCP does not tell and reports 0
}

const (
	ourAlphaOne    = 1 << 20 // ONE in dctcp.bpf.c
	kernelAlphaOne = 1 << 10 // of struct tcp_dctcp_info
	tcpiOptECN     = 1 << 3  // TCPI_OPT_ECN of linux/tcp.h
)

// Reader reads the state of the calling process's connections. The zero Reader
// reads what the kernel tells by itself, which is all there is to know unless
// the congestion control comes from eBPF.
type Reader struct {
	states *ebpf.Map
}

// OpenReader makes a Reader from a descriptor that [Handle.StateFile] returned,
// perhaps in another process. The file remains the caller's.
func OpenReader(states *os.File) (*Reader, error) {
	fd, err := duplicate(int(states.Fd()))
	if err != nil {
		return nil, fmt.Errorf("open %s: %w", states.Name(), err)
	}
	m, err := ebpf.NewMapFromFD(fd)
	if err != nil {
		return nil, fmt.Errorf("open %s: %w", states.Name(), err)
	}
	if m.Type() != ebpf.SkStorage {
		return nil, errors.Join(fmt.Errorf("open %s: want a map of socket storage, not %s", states.Name(), m.Type()), m.Close())
	}
	return &Reader{states: m}, nil
}

// Close releases the Reader's descriptor.
func (r *Reader) Close() error {
	return r.states.Close()
}

// Read takes a snapshot of a TCP connection's state.
func (r *Reader) Read(conn syscall.RawConn) (state State, err error) {
	control := conn.Control(func(fd uintptr) { state, err = r.read(int(fd)) })
	if err := errors.Join(control, err); err != nil {
		return State{}, fmt.Errorf("read congestion control state: %w", err)
	}
	return state, nil
}

func (r *Reader) read(fd int) (State, error) {
	name, err := unix.GetsockoptString(fd, unix.IPPROTO_TCP, unix.TCP_CONGESTION)
	if err != nil {
		return State{}, fmt.Errorf("getsockopt TCP_CONGESTION: %w", err)
	}
	info, err := unix.GetsockoptTCPInfo(fd, unix.IPPROTO_TCP, unix.TCP_INFO)
	if err != nil {
		return State{}, fmt.Errorf("getsockopt TCP_INFO: %w", err)
	}
	state := State{
		Algorithm:   name,
		ECN:         info.Options&tcpiOptECN != 0,
		Cwnd:        info.Snd_cwnd,
		SSThresh:    info.Snd_ssthresh,
		Delivered:   info.Delivered,
		DeliveredCE: info.Delivered_ce,
	}
	if name == "dctcp" {
		state.DCTCP, err = kernelDCTCP(fd)
	} else if r.states != nil {
		state.DCTCP, err = r.ourDCTCP(fd)
	}
	return state, err
}

func kernelDCTCP(fd int) (*DCTCP, error) {
	info, err := unix.GetsockoptTCPCCDCTCPInfo(fd, unix.IPPROTO_TCP, unix.TCP_CC_INFO)
	if err != nil {
		return nil, fmt.Errorf("getsockopt TCP_CC_INFO: %w", err)
	}
	return fromKernel(info), nil
}

// fromKernel translates what the kernel's DCTCP tells of a connection. It is
// not enabled on one that fell back to Reno.
func fromKernel(info *unix.TCPDCTCPInfo) *DCTCP {
	if info.Enabled == 0 {
		return nil
	}
	return &DCTCP{Alpha: float64(info.Alpha) / kernelAlphaOne, CE: info.Ce_state != 0}
}

func (r *Reader) ourDCTCP(fd int) (*DCTCP, error) {
	var s dctcpState
	err := r.states.Lookup(int32(fd), &s)
	if errors.Is(err, ebpf.ErrKeyNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("look up DCTCP state: %w", err)
	}
	return &DCTCP{
		Alpha:      float64(s.Alpha) / ourAlphaOne,
		CE:         s.Ce != 0,
		Windows:    s.Windows,
		Reductions: s.Reductions,
	}, nil
}
