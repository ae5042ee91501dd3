package machines

import (
	"context"
	"fmt"

	"aqmlab/labs/inventory"
	"aqmlab/orchestrator/docker"
)

// TwiceError says that a machine is in a list twice, by two ways to its Docker daemon.
type TwiceError struct {
	First, Second inventory.Machine
}

// Error says what to do.
func (e *TwiceError) Error() string {
	return fmt.Sprintf("machines %s (%s) and %s (%s) are one: their keys docker lead to the same Docker daemon, so want another daemon for one of them, or leave it out",
		e.First.Name, e.First.Docker, e.Second.Name, e.Second.Docker)
}

// Site is a machine on which a site has been started.
type Site struct {
	Machine inventory.Machine
	Engine  *docker.Engine
	Name    string // of the site
}

// CheckTwice wants each of some machines to be another one. The error is a [TwiceError].
func CheckTwice(ctx context.Context, all []Site) error {
	for i, first := range all {
		for _, second := range all[i+1:] {
			same, err := second.Engine.Shares(ctx, first.Engine, first.Name)
			if err != nil {
				return fmt.Errorf("machine %s (%s): %w", second.Machine.Name, second.Machine.Docker, err)
			}
			if same {
				return &TwiceError{first.Machine, second.Machine}
			}
		}
	}
	return nil
}
