//go:build linux

package cli

import (
	"cmp"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"aqmlab/orchestrator/testbed"
	"aqmlab/switch/port"
)

// What changes a lab that is up. Errors call the words of users by the commands.
const (
	setCommand   = "lab set"
	eventCommand = "lab event"
)

func newLabUse(kinds port.Kinds) *cobra.Command {
	return shown(&cobra.Command{
		Use:   "use SCHEME [LAB]",
		Short: "Have the switches of a lab that is up run another scheme",
		Long: `Use swaps the scheme in the running switches for another of the lab's, in no time.
Hosts and connections stay. Packets that wait stay in their queues, in order, with the
marks that they have; the new scheme begins anew. LAB is an id or a name, and may be
left out when one lab is up.`,
		Example: `  aqmlab lab use tcn
  aqmlab lab use droptail 3f2a`,
		Args:              cobra.RangeArgs(1, 2),
		ValidArgsFunction: completeKept(kinds),
	}, func(c *cobra.Command, words []string) (testbed.Standing, error) {
		return changed(c, optional(words, 1), kinds, func(l *testbed.Live) error { return l.Use(c.Context(), words[0]) })
	}, printChanged)
}

func newLabSet(kinds port.Kinds) *cobra.Command {
	return shown(&cobra.Command{
		Use:   "set KEY=VALUE... [LAB]",
		Short: "Change parameters of a lab that is up",
		Long: `Set changes keys of the lab in its running switches: parameters of schemes, also of
those that do not run now, the scheduler, the buffer and the limiter. Keys and values
are those of run --set. With another scheduler, number of queues or buffer, packets that
wait move to the queues of their DSCPs, in the order in which they came; none is lost.
Hosts and links stay: lab event changes a link or a host's RTT. What was set holds
until the lab is taken down.`,
		Example: `  aqmlab lab set schemes.tcn.threshold=100us
  aqmlab lab set switch.scheduler.kind=dwrr switch.scheduler.queues=4 3f2a`,
		Args: cobra.MinimumNArgs(1),
	}, func(c *cobra.Command, words []string) (s testbed.Standing, err error) {
		pairs, ref, err := pairsAndLab(words, func(word string) bool { return strings.Contains(word, "=") })
		if err != nil {
			return s, err
		}
		return changed(c, ref, kinds, func(l *testbed.Live) error { return l.Set(c.Context(), setCommand, pairs) })
	}, printChanged)
}

func newLabEvent(kinds port.Kinds) *cobra.Command {
	return shown(&cobra.Command{
		Use:   "event KEY=VALUE... [LAB]",
		Short: "Change a link or a host's RTT of a lab that is up",
		Long: `Event makes happen now what an entry of a lab's events says: another rate, delay or
loss of a link, in one direction or both, a link that goes down or comes up, another
base RTT of a host. The keys are those of events (docs/labs.md), without at; down
stands for down=true, up for down=false. With for, the command waits until the event is
over, and ends it when it is interrupted.`,
		Example: `  aqmlab lab event link=s1:h2 rate=500Mbps
  aqmlab lab event link=l1:p1 down for=2s
  aqmlab lab event link=s1:h2 from=s1 loss=0.1% 3f2a
  aqmlab lab event host=h3 rtt=300us`,
		Args: cobra.MinimumNArgs(1),
	}, func(c *cobra.Command, words []string) (s testbed.Standing, err error) {
		words, ref, err := pairsAndLab(words, func(word string) bool {
			return strings.Contains(word, "=") || word == "down" || word == "up"
		})
		if err != nil {
			return s, err
		}
		if s, err = testbed.Find(ref, testbed.Options{}); err != nil {
			return s, explain(err)
		}
		if err := enter(c, s); err != nil { // hosts are changed from inside
			return s, err
		}
		defer hold(c)()
		return changed(c, s.ID, kinds, func(l *testbed.Live) error { return l.Happen(c.Context(), eventCommand, words) })
	}, printChanged)
}

// changed is a kept lab after a change.
func changed(c *cobra.Command, ref string, kinds port.Kinds, do func(*testbed.Live) error) (s testbed.Standing, err error) {
	err = withLive(c, ref, kinds, func(l *testbed.Live) error {
		err := do(l)
		s = l.Standing
		return err
	})
	return s, err
}

// printChanged says what a lab runs now.
func printChanged(w io.Writer, s testbed.Standing) error {
	with := ""
	if changes := s.Changes(); len(changes) > 0 {
		with = ", changed: " + strings.Join(changes, "; ")
	}
	_, err := fmt.Fprintf(w, "Lab %s (%s) runs %s%s.\n", s.ID, s.Lab, s.Scheme, with)
	return err
}

// withLive does something with the kept lab of that id or name.
func withLive(c *cobra.Command, ref string, kinds port.Kinds, do func(*testbed.Live) error) error {
	l, err := testbed.OpenLive(c.Context(), ref, kinds, testbed.Options{})
	if err != nil {
		return explain(err)
	}
	err = do(l)
	return cmp.Or(explain(err), l.Close())
}

// optional is the argument at a place, or empty.
func optional(words []string, at int) string {
	if at < len(words) {
		return words[at]
	}
	return ""
}

// pairsAndLab parts words from the lab, if one is named.
func pairsAndLab(words []string, isPair func(string) bool) (pairs []string, lab string, err error) {
	for _, word := range words {
		switch {
		case isPair(word):
			pairs = append(pairs, word)
		case lab == "":
			lab = word
		default:
			return nil, "", usage(fmt.Errorf("%q and %q: want KEY=VALUE, and one lab", lab, word))
		}
	}
	if len(pairs) == 0 {
		return nil, "", usage(fmt.Errorf("%q: want KEY=VALUE", lab))
	}
	return pairs, lab, nil
}

// completeKept proposes schemes of the kept labs, and then the labs.
func completeKept(kinds port.Kinds) completion {
	return func(_ *cobra.Command, given []string, _ string) ([]string, cobra.ShellCompDirective) {
		kept, err := testbed.Kept(testbed.Options{})
		if err != nil {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		var words []string
		for _, s := range kept {
			switch len(given) {
			case 0:
				words = append(words, s.Schemes(kinds, testbed.Options{})...)
			case 1:
				words = append(words, s.ID+"\t"+s.Lab)
			}
		}
		return words, cobra.ShellCompDirectiveNoFileComp
	}
}
