package cc

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
)

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
