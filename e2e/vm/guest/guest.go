// Package guest is what runs as init in a virtual machine of package vm: it
// mounts the kernel's file systems, loads modules, runs one program, reports how
// it ended, and powers the machine off.
package guest

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"

	"golang.org/x/sys/unix"
)

// OrdersPath is where the init finds its orders.
const OrdersPath = "/orders.json"

// Variable is set, to "1", in the environment of programs in a guest.
const Variable = "AQMLAB_VM"

// The serial ports. The kernel's console has the first one, ttyS0.
const (
	outputPort = "/dev/ttyS1" // of the program
	reportPort = "/dev/ttyS2" // of the init
)

// Orders are what the host wants done.
type Orders struct {
	Command []string // path of the program and its arguments
	Env     []string // KEY=VALUE, added to the guest's own
	Modules []string // paths of modules, in the order to load them in
}

// Report is how it went.
type Report struct {
	Status int    // exit status of the program, 128 and the signal's number if it was killed
	Error  string // why the program could not be run; empty when it was
}

// Main is the whole life of the machine; it does not return. It must be process
// 1 of a guest of package vm. What it cannot report it writes to the kernel's
// log, which the host shows.
func Main() {
	status, err := serve()
	r := Report{Status: status}
	if err != nil {
		r.Error = err.Error()
	}
	if err := send(r); err != nil {
		// Without a log either, the host still sees that there is no report.
		_ = os.WriteFile("/dev/kmsg", []byte(err.Error()), 0)
	}
	// For process 1 this cannot fail; if it did, the kernel would panic at the
	// end of init, and the host would see that.
	_ = unix.Reboot(unix.LINUX_REBOOT_CMD_POWER_OFF)
}

func serve() (status int, err error) {
	if os.Getpid() != 1 {
		return 0, errors.New("not process 1 of a virtual machine")
	}
	if err := mountAll(); err != nil {
		return 0, err
	}
	text, err := os.ReadFile(OrdersPath)
	if err != nil {
		return 0, fmt.Errorf("read the orders: %w", err)
	}
	var o Orders
	if err := json.Unmarshal(text, &o); err != nil {
		return 0, fmt.Errorf("read the orders: %w", err)
	}
	for _, path := range o.Modules {
		if err := loadModule(path); err != nil {
			return 0, err
		}
	}
	if err := loopbackUp(); err != nil {
		return 0, err
	}
	return run(o)
}

// send writes the report and waits until it has left the machine.
func send(r Report) error {
	port, err := openSerial(reportPort)
	if err != nil {
		return fmt.Errorf("report: %w", err)
	}
	if err := json.NewEncoder(port).Encode(r); err != nil {
		return fmt.Errorf("report: %w", err)
	}
	return drain(port)
}
