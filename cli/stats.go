//go:build linux

package cli

import (
	"context"
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"time"

	"github.com/spf13/cobra"

	"aqmlab/collectors"
	"aqmlab/orchestrator/testbed"
	"aqmlab/results"
	"aqmlab/switch/port"
	"aqmlab/units"
)

// statsFlags are those of lab stats.
type statsFlags struct {
	every         time.Duration
	count         int
	asJSON, asCSV bool
	all           bool
}

func newLabStats(kinds port.Kinds) *cobra.Command {
	var f statsFlags
	c := &cobra.Command{
		Use:   "stats [LAB]",
		Short: "Show what the queues of a lab that is up hold and do",
		Long: `Stats shows by switch, port and queue how long the queue is, how long packets waited,
how many were marked, dropped and sent, and at which rate: since the lab came up, or
with --every again and again, each time since the time before. Rates and times are lab
time. Queues through which nothing has passed are left out.

Marks and drops are those of this port: on joining the queue (ENQ), on leaving it (DEQ),
or for want of room in the buffer (FULL). A packet that was marked on joining counts when
it leaves. Sojourn times are of packets that were sent, right to a 64th. A name of a port
is that of the node at its far end.`,
		Example: `  aqmlab lab stats
  aqmlab lab stats --every 1s
  aqmlab lab stats --every 100ms --count 50 --csv > queues.csv
  aqmlab lab stats 3f2a --json`,
		Args: cobra.MaximumNArgs(1),
		RunE: func(c *cobra.Command, words []string) error {
			if err := f.check(); err != nil {
				return usage(err)
			}
			return withLive(c, optional(words, 0), kinds, func(l *testbed.Live) error { return f.run(c, l) })
		},
	}
	c.Flags().DurationVar(&f.every, "every", 0, "show what happened since the time before, again and again, at that interval")
	c.Flags().IntVar(&f.count, "count", 0, "with --every: end after that many times")
	c.Flags().BoolVar(&f.asJSON, "json", false, "print JSON: one object, a line each with --every")
	c.Flags().BoolVar(&f.asCSV, "csv", false, "print CSV: a row a queue")
	c.Flags().BoolVar(&f.all, "all", false, "show queues that are not used, too")
	return c
}

// shortest is the shortest interval between two looks.
const shortest = 10 * time.Millisecond

func (f statsFlags) check() error {
	switch {
	case f.asJSON && f.asCSV:
		return errors.New("--json, --csv: want one of them")
	case f.every != 0 && f.every < shortest:
		return fmt.Errorf("--every %v: want %v or more", f.every, shortest)
	case f.count < 0:
		return fmt.Errorf("--count %d: want 1 or more", f.count)
	case f.count > 0 && f.every == 0:
		return errors.New("--count: want --every, too")
	}
	return nil
}

// labInterval is an interval of a lab.
type labInterval struct {
	ID  string `json:"id"`
	Lab string `json:"lab"`
	results.Interval
}

// run shows one interval after another.
func (f statsFlags) run(c *cobra.Command, l *testbed.Live) error {
	show := f.printer(c.OutOrStdout())
	look := func(before []collectors.Look) ([]collectors.Look, error) {
		now, err := l.Look(c.Context())
		if err != nil || f.every > 0 && before == nil {
			return now, err
		}
		i := testbed.Since(before, now)
		if !f.all {
			i.Queues = slices.DeleteFunc(i.Queues, func(q results.QueueStats) bool { return !collectors.Used(q) })
		}
		return now, show(labInterval{l.ID, l.Lab, i})
	}
	before, err := look(nil)
	if err != nil || f.every == 0 {
		return err
	}
	tick := time.NewTicker(f.every)
	defer tick.Stop()
	for n := 0; f.count == 0 || n < f.count; n++ {
		select {
		case <-tick.C:
		case <-c.Context().Done():
			return ended(c)
		}
		if before, err = look(before); err != nil {
			return err
		}
	}
	return nil
}

// ended is the exit status of a command that users end by a signal.
func ended(c *cobra.Command) error {
	var by interrupted
	if errors.As(context.Cause(c.Context()), &by) {
		return exitStatus(by.status())
	}
	return context.Cause(c.Context())
}

// printer is how intervals are shown.
func (f statsFlags) printer(w io.Writer) func(labInterval) error {
	switch {
	case f.asCSV:
		return csvIntervals(w)
	case f.asJSON && f.every > 0:
		e := json.NewEncoder(w)
		return func(i labInterval) error { return e.Encode(i) }
	case f.asJSON:
		return func(i labInterval) error { return printJSON(w, i) }
	}
	return func(i labInterval) error { return printInterval(w, i) }
}

// printInterval prints a table.
func printInterval(w io.Writer, i labInterval) error {
	fmt.Fprintf(w, "lab %s (%s), %s of lab time up to %s\n", i.ID, i.Lab, i.Length.Round(time.Millisecond), i.At.Round(time.Millisecond))
	if len(i.Queues) == 0 {
		_, err := fmt.Fprint(w, "No packet has passed the switches.\n\n")
		return err
	}
	err := numbers(w, func(w io.Writer) {
		fmt.Fprintln(w, "\t\t\tHELD\t\tSOJOURN\t\t\t\tMARKED\t\tDROPPED\t\t\tSENT\t\t")
		fmt.Fprintln(w, "SWITCH\tPORT\tQUEUE\tBYTES\tPACKETS\tMEAN\tP50\tP99\tMAX\tENQ\tDEQ\tFULL\tENQ\tDEQ\tPACKETS\tRATE\t")
		for _, q := range i.Queues {
			fmt.Fprintf(w, "%s\t%s\t%d\t%d\t%d\t%s\t%s\t%s\t%s\t%d\t%d\t%d\t%d\t%d\t%d\t%s\t\n", q.Switch, q.Port, q.Queue, q.Bytes, q.Packets,
				short(q.SojournMean), short(q.SojournP50), short(q.SojournP99), short(q.SojournMax),
				q.MarkedEnqueue, q.MarkedDequeue, q.DroppedFull, q.DroppedEnqueue, q.DroppedDequeue, q.Sent, rateText(q.Rate))
		}
	})
	for _, l := range i.Links {
		fmt.Fprintf(w, "link %s to %s lost %d by chance, %d because it was down\n", l.From, l.To, l.Lost, l.LostDown)
	}
	fmt.Fprintln(w)
	return err
}

// short is a time in three or four digits.
func short(d time.Duration) string {
	for unit := time.Duration(1); ; unit *= 10 {
		if d < 10_000*unit {
			return units.FormatTime(d.Round(unit))
		}
	}
}

// rateText is a rate in three or four digits.
func rateText(bps float64) string {
	for unit := 1.0; ; unit *= 10 {
		if bps < 10_000*unit {
			return units.Rate(math.Round(bps/unit) * unit).String()
		}
	}
}

// csvIntervals prints a header once, and a row a queue. Columns are those of JSON.
func csvIntervals(w io.Writer) func(labInterval) error {
	out := csv.NewWriter(w)
	header := []string{"at_ns", "interval_ns", "switch", "port", "queue", "queue_bytes", "queue_packets",
		"sojourn_mean_ns", "sojourn_p50_ns", "sojourn_p99_ns", "sojourn_max_ns", "marked_enqueue", "marked_dequeue",
		"dropped_full", "dropped_enqueue", "dropped_dequeue", "sent", "sent_bytes", "rate_bps"}
	begun := false
	return func(i labInterval) error {
		if !begun {
			begun = true
			if err := out.Write(header); err != nil {
				return err
			}
		}
		for _, q := range i.Queues {
			row := []string{number(i.At), number(i.Length), q.Switch, q.Port, strconv.Itoa(q.Queue), number(q.Bytes), number(q.Packets),
				number(q.SojournMean), number(q.SojournP50), number(q.SojournP99), number(q.SojournMax), number(q.MarkedEnqueue), number(q.MarkedDequeue),
				number(q.DroppedFull), number(q.DroppedEnqueue), number(q.DroppedDequeue), number(q.Sent), number(q.SentBytes), number(int64(q.Rate))}
			if err := out.Write(row); err != nil {
				return err
			}
		}
		out.Flush()
		return out.Error()
	}
}

// number is a whole number as text.
func number[N ~int64](n N) string { return strconv.FormatInt(int64(n), 10) }
