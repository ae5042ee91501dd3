//go:build linux

package cli

import (
	"fmt"
	"io"
	"regexp"
	"strconv"
	"strings"

	"aqmlab/labs"
	"aqmlab/orchestrator/machines"
)

// showPlacement prints which machine has what of a lab.
func showPlacement(w io.Writer, lab *labs.Lab) error {
	if len(lab.Rack.Machines) == 0 {
		return usage(listsNoMachines(lab))
	}
	spec, err := lab.Fabric(lab.Baseline, lab.Seeds[0])
	if err != nil {
		return err
	}
	have := machines.Capacities(lab.Rack)
	placed, err := machines.Place(spec, have, lab.Placement)
	if err != nil {
		return usage(err)
	}
	return columns(w, func(w io.Writer) {
		fmt.Fprintln(w, "MACHINE\tSWITCHES\tHOSTS\tLINKS THAT LEAVE IT")
		for _, s := range machines.Shares(spec, have, placed) {
			fmt.Fprintf(w, "%s\t%s\t%s\t%d\n", s.Machine, inShort(s.Switches), inShort(s.Hosts), s.Leaving)
		}
	})
}

// inShort lists names, those that are numbered one after the other in short: h1..h9.
func inShort(names []string) string {
	numbered := regexp.MustCompile(`^(.*?)([1-9][0-9]{0,8}|0)$`)
	split := func(name string) (prefix string, n int) {
		m := numbered.FindStringSubmatch(name)
		if m == nil {
			return name, -2
		}
		n, _ = strconv.Atoi(m[2]) // nine digits
		return m[1], n
	}
	var parts []string
	for len(names) > 0 {
		prefix, from := split(names[0])
		n := 1
		for n < len(names) {
			if p, number := split(names[n]); p != prefix || number != from+n {
				break
			}
			n++
		}
		if n > 2 {
			parts = append(parts, names[0]+".."+names[n-1])
		} else {
			parts = append(parts, names[:n]...)
		}
		names = names[n:]
	}
	if len(parts) == 0 {
		return "-"
	}
	return strings.Join(parts, " ")
}
