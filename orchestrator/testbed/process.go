package testbed

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"sync"

	"aqmlab/orchestrator/agent"
	"aqmlab/orchestrator/role"
)

// process is a helper process of a testbed.
type process struct {
	*agent.Process
	name string // for errors
}

// died says which process ended on its own and why; nil while it runs.
func (p process) died() error {
	if err := p.Err(); err != nil {
		return fmt.Errorf("%s: %w", p.name, err)
	}
	return nil
}

// switchProcess carries a switch, or all of them.
type switchProcess struct {
	process
	role.SwitchClient
}

func newSwitchProcess(p *agent.Process, name string) switchProcess {
	return switchProcess{process{p, name}, role.NewSwitchClient(p)}
}

// hostsProcess carries the traffic of hosts.
type hostsProcess struct {
	process
	role.HostsClient
	carries func(host int) bool
}

func newHostsProcess(p *agent.Process, name string, carries func(host int) bool) hostsProcess {
	return hostsProcess{process{p, name}, role.NewHostsClient(p), carries}
}

// each calls do for every one of some processes at once, waits, and joins their
// errors. That of a process that died is that it did, whatever was being done.
func each[P interface{ died() error }](all []P, do func(i int, p P) error) error {
	errs := make([]error, len(all))
	var calls sync.WaitGroup
	for i, p := range all {
		calls.Go(func() {
			if errs[i] = do(i, p); errors.Is(errs[i], agent.ErrDied) {
				errs[i] = cmp.Or(p.died(), errs[i])
			}
		})
	}
	calls.Wait()
	return errors.Join(errs...)
}

// gather asks all of some processes at once, and returns their replies.
func gather[P interface{ died() error }, R any](ctx context.Context, all []P, ask func(P, context.Context) (R, error)) ([]R, error) {
	replies := make([]R, len(all))
	return replies, each(all, func(i int, p P) (err error) {
		replies[i], err = ask(p, ctx)
		return err
	})
}
