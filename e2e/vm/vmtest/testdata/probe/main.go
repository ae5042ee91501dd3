// Command probe tells what a program finds in a virtual machine, then ends as
// its argument says.
package main

import (
	"crypto/rand"
	"fmt"
	"net"
	"os"
	"os/exec"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

func main() {
	switch os.Args[1] {
	case "exit":
		check(look())
		// An orphan that outlives the program must not keep the machine up.
		check(exec.Command(os.Args[0], "linger").Start())
		fmt.Print("no newline at the end\r")
		os.Exit(3)
	case "die":
		check(unix.Kill(unix.Getpid(), unix.SIGKILL))
	case "linger":
		time.Sleep(time.Hour)
	case "repeat":
		var number [8]byte
		_, err := rand.Read(number[:])
		check(err)
		time.Sleep(time.Second)
		fmt.Printf("random %x at %d\n", number, time.Now().UnixNano())
	}
}

func check(err error) {
	if err != nil {
		fmt.Println("error:", err)
		os.Exit(1)
	}
}

// look prints one line for each thing that a guest promises.
func look() error {
	start := time.Now()
	time.Sleep(100 * time.Second)
	fmt.Println("slept", time.Since(start).Round(time.Second))
	lo, err := net.InterfaceByName("lo")
	if err != nil {
		return err
	}
	fmt.Println("lo up", lo.Flags&net.FlagUp != 0)
	fmt.Println("env", os.Getenv("AQMLAB_VM"), os.Getenv("GREETING"))
	text, err := os.ReadFile("/etc/deep/down")
	if err != nil {
		return err
	}
	fmt.Printf("file %q\n", text)
	modules, err := os.ReadFile("/proc/modules")
	if err != nil {
		return err
	}
	for line := range strings.Lines(string(modules)) {
		fmt.Println("module", strings.Fields(line)[0])
	}
	for _, path := range []string{"/sys/kernel/btf/vmlinux", "/dev/null", "/sys/fs/bpf", "/sys/kernel/tracing/events", "/tmp", "/sys/fs/cgroup/cgroup.procs"} {
		if _, err := os.Stat(path); err != nil {
			return err
		}
	}
	return os.WriteFile("/run/writable", nil, 0o600)
}
