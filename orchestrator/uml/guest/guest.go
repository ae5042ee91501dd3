// Package guest is what runs as process 1 under a kernel of package uml: it
// mounts the kernel's file systems, makes the guest repeatable, does the host's
// order, and powers the guest off.
package guest

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"
)

// Mounts are the folders of the guest's root that something is mounted on.
func Mounts() []string {
	all := []string{Dir}
	for _, m := range mounts() {
		all = append(all, m.at)
	}
	return all
}

// Order does what the host wants. It may say how far it is, in few bytes.
type Order func(order []byte, progress func([]byte) error) (reply []byte, err error)

// Main is the whole life of the guest: it does the order, and returns only when
// it is not process 1.
func Main(do Order) error {
	if os.Getpid() != 1 {
		return errors.New("this is for process 1 of a guest kernel, which aqmlab starts itself")
	}
	err := serve(do)
	if err != nil {
		// If even this fails the host sees that there is neither reply nor error,
		// and shows the console.
		fmt.Fprintln(os.Stderr, "aqmlab:", err)
		_ = deliver(ErrorFile, []byte(err.Error()))
	}
	return os.NewSyscallError("reboot", unix.Reboot(unix.LINUX_REBOOT_CMD_POWER_OFF))
}

func serve(do Order) error {
	if err := setUp(); err != nil {
		return err
	}
	order, err := os.ReadFile(filepath.Join(Dir, OrderFile))
	if err != nil {
		return fmt.Errorf("reading the order: %w", err)
	}
	reply, err := do(order, progress)
	if err != nil {
		return err
	}
	return deliver(ReplyFile, reply)
}

// deliver writes a file that the host finds whole or not at all.
func deliver(name string, text []byte) error {
	path := filepath.Join(Dir, name)
	if err := os.WriteFile(path+".new", text, 0o644); err != nil {
		return fmt.Errorf("answering the host: %w", err)
	}
	if err := os.Rename(path+".new", path); err != nil {
		return fmt.Errorf("answering the host: %w", err)
	}
	return nil
}

// progress rewrites the progress.
func progress(text []byte) error {
	if err := deliver(ProgressFile, text); err != nil {
		return fmt.Errorf("telling the progress: %w", err)
	}
	return nil
}
