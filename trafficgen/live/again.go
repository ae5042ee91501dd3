package live

import (
	"os"
	"unsafe"

	"golang.org/x/sys/unix"

	"aqmlab/results"
)

// again counts what a socket has sent again, SYNs included, since it was made.
type again struct{ packets, timeouts int64 }

// unknown is the again of a socket that cannot be asked any more.
func unknown() again { return again{results.Unknown, results.Unknown} }

// again asks the kernel. Linux counts timeouts from 6.7 on (tcpi_total_rto); an
// older one fills less of the structure.
func (s *socket) again() again {
	var info unix.TCPInfo
	size, err := s.info(&info)
	if err != nil {
		return unknown()
	}
	a := again{int64(info.Total_retrans), results.Unknown}
	if size >= unsafe.Offsetof(info.Total_rto)+unsafe.Sizeof(info.Total_rto) {
		a.timeouts = int64(info.Total_rto)
	}
	return a
}

// info reads TCP_INFO and says how many bytes of it this kernel knows. The call
// is made by hand because that of package unix does not tell.
func (s *socket) info(info *unix.TCPInfo) (size uintptr, err error) {
	length := uint32(unix.SizeofTCPInfo)
	err = control(s.raw, func(fd int) error {
		_, _, errno := unix.Syscall6(unix.SYS_GETSOCKOPT, uintptr(fd), unix.IPPROTO_TCP, unix.TCP_INFO,
			uintptr(unsafe.Pointer(info)), uintptr(unsafe.Pointer(&length)), 0)
		if errno != 0 {
			return os.NewSyscallError("getsockopt TCP_INFO", errno)
		}
		return nil
	})
	return uintptr(length), err
}

// since is what was sent again after an earlier look.
func (a again) since(before again) again {
	return again{less(a.packets, before.packets), less(a.timeouts, before.timeouts)}
}

func less(now, before int64) int64 {
	if now == results.Unknown || before == results.Unknown {
		return results.Unknown
	}
	return now - before
}
