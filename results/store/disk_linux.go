package store

import (
	"fmt"
	"os"

	"golang.org/x/sys/unix"
)

// flush makes all files of a folder durable in one step. Disks take as long for one as
// for many.
func flush(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	defer d.Close()
	if err := unix.Syncfs(int(d.Fd())); err != nil {
		return fmt.Errorf("flushing folder %s: %w", dir, err)
	}
	return nil
}
