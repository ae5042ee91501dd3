package check

import (
	"context"
	"errors"
	"fmt"
	"math"
	"net/netip"
	"slices"
	"sync"

	"golang.org/x/sync/errgroup"

	"aqmlab/orchestrator/netns"
	"aqmlab/orchestrator/underlay"
)

// Tagging asks for VLANs of an interface.
type Tagging struct {
	Interface string
	IDs       []int
	Number    int // of the machine among all, from 1 on
}

// Tagged is where a machine answers in its VLANs.
type Tagged struct {
	Number int
	Port   uint16
	InUse  []int // ids that somebody else has on the interface
}

// tags are the VLANs of this machine, and who answers in all of them.
type tags struct {
	*netns.Tags
	reflector *underlay.Reflector
}

// openTags makes VLANs, and begins to answer other machines in them.
func openTags(ctx context.Context, o Tagging) (*tags, error) {
	open, err := netns.OpenTags(ctx, o.Interface, o.IDs, o.Number)
	if err != nil {
		return nil, err
	}
	var r *underlay.Reflector
	err = open.Do(func() (err error) {
		r, err = underlay.Reflect(netip.AddrPortFrom(netip.IPv4Unspecified(), 0))
		return err
	})
	if err != nil {
		return nil, errors.Join(err, open.Close())
	}
	return &tags{open, r}, nil
}

// answers says where other machines are answered, as the machine of a number.
func (t *tags) answers(number int) Tagged {
	return Tagged{Number: number, Port: t.reflector.Addr().Port(), InUse: t.InUse()}
}

func (t *tags) close() error { return errors.Join(t.reflector.Close(), t.Tags.Close()) }

// Crossing asks which VLANs lead to another machine.
type Crossing struct {
	IDs []int
	To  Tagged
}

// Crossed is which do, by the ids of those that do not, and the size of the largest packet
// that passes in each of the others.
type Crossed struct {
	Silent []int
	MTU    int // 0: there are no others
}

// together is how many VLANs are tried at a time.
const together = 16

// cross tries VLANs.
func (t *tags) cross(ctx context.Context, c Crossing) (found Crossed, err error) {
	var mu sync.Mutex
	least := math.MaxInt
	all, ctx := errgroup.WithContext(ctx)
	all.SetLimit(together)
	for _, id := range c.IDs {
		all.Go(func() error {
			return t.Do(func() error {
				mtu, err := underlay.MTU(ctx, netip.AddrPortFrom(netns.TagAddr(id, c.To.Number), c.To.Port))
				mu.Lock()
				defer mu.Unlock()
				switch {
				case errors.Is(err, underlay.ErrNoAnswer):
					found.Silent = append(found.Silent, id)
				case err != nil:
					return fmt.Errorf("VLAN %d: %w", id, err)
				default:
					least = min(least, mtu)
				}
				return nil
			})
		})
	}
	if err := all.Wait(); err != nil {
		return Crossed{}, err
	}
	slices.Sort(found.Silent)
	if len(found.Silent) < len(c.IDs) {
		found.MTU = least
	}
	return found, nil
}
