package labs

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"aqmlab/labs/schema"
	"aqmlab/switch/port"
)

// mayChange lists what may change in a lab that is up.
func mayChange() []string {
	return []string{schemesKey + ".", schedulerPath, "switch.buffer", "switch.limiter"}
}

// stays says of the rest why it cannot. The first row that a key begins with counts.
func stays() []struct{ key, why string } {
	return []struct{ key, why string }{
		{topologyPath, "the hosts and links stand: lab event changes a link, and another network is another lab"},
		{"rtt", "the links and hosts have been set up with it: lab event changes the delay of a link, or the RTT of a host"},
		{"host", "the hosts have been set up with it: bring the lab up anew"},
		{"switch", "the packets that wait in the switch have been counted by it: bring the lab up anew"},
		{"dilation", "the hosts' timers run by it: bring the lab up anew"},
		{eventsKey, "lab event makes one happen now"},
		{"", "nothing in a lab that is up follows it"},
	}
}

// Stored reads a lab that [Lab.YAML] has written, of those kinds, with changes
// "key=value" in an order in which the last prevails. by is what errors call the changes.
func Stored(data []byte, kinds port.Kinds, by string, set ...string) (*Lab, error) {
	return read(schema.Source{File: "lab", Data: data, BookOnly: true, Made: true}, schema.Overrides{Set: set, By: by}, kinds)
}

// CheckChange tells whether keys "key=value" may change in a lab that is up. The error is
// [Errors].
func CheckChange(by string, set ...string) error {
	var errs Errors
	for _, pair := range set {
		key, _, given := strings.Cut(pair, "=")
		key = strings.ToLower(strings.TrimSpace(key))
		if !given || slices.ContainsFunc(mayChange(), func(may string) bool { return begins(key, may) }) {
			continue // what is no pair is told by who reads it
		}
		all := stays()
		i := slices.IndexFunc(all, func(row struct{ key, why string }) bool { return begins(key, row.key) })
		err := fmt.Errorf("cannot change in a lab that is up: %s; want a key below %s", all[i].why, strings.Join(mayChange(), ", "))
		errs = append(errs, &Error{Source: by, Key: key, Err: err})
	}
	if len(errs) == 0 {
		return nil
	}
	return errs
}

// begins tells whether a key is, or is below, another one.
func begins(key, above string) bool {
	rest, ok := strings.CutPrefix(key, above)
	return ok && (above == "" || strings.HasSuffix(above, ".") || rest == "" || rest[0] == '.')
}

// ParseEvents reads events of the lab without their times, each from words "key=value",
// or down or up in place of down=true and down=false. by is what errors call the words.
func (l *Lab) ParseEvents(by string, all ...[]string) ([]Event, error) {
	if len(all) == 0 {
		return nil, nil
	}
	one := *l
	one.Events = make([]Event, len(all))
	data, err := one.YAML()
	if err != nil {
		return nil, err
	}
	var set []string
	for i, words := range all {
		for _, word := range words {
			key, value, given := strings.Cut(longEvent(word), "=")
			if key = strings.TrimSpace(key); key == "at" || !given {
				return nil, &Error{Source: by, Key: key, Err: errors.New("want keys and values such as link=s1:h2 rate=500Mbps, down, or up; it happens now")}
			}
			set = append(set, fmt.Sprintf("%s.%d.%s=%s", eventsKey, i, key, value))
		}
	}
	read, err := Stored(data, l.Kinds, by, set...)
	var errs Errors
	if errors.As(err, &errs) {
		for _, e := range errs {
			e.Source, e.Key = by, strings.TrimPrefix(strings.TrimPrefix(e.Key, eventsKey+".0"), ".")
		}
	}
	if err != nil {
		return nil, err
	}
	return read.Events, nil
}

// longEvent is a word of an event as a key with a value.
func longEvent(word string) string {
	switch word {
	case "down":
		return "down=true"
	case "up":
		return "down=false"
	}
	return word
}

// Supersedes tells whether nothing of an earlier event is left once the event happens: it
// sets all that the earlier one set, which is not to end later.
func (e Event) Supersedes(earlier Event) bool {
	sets := func(e Event) (all [5]bool) {
		return [5]bool{e.Rate > 0, e.Delay != nil, e.Loss != nil, e.Down != nil, e.RTT > 0}
	}
	if e.Link != earlier.Link || e.From != earlier.From || e.Host != earlier.Host || earlier.For > 0 && earlier.At+earlier.For > e.At {
		return false
	}
	mine := sets(e)
	for i, set := range sets(earlier) {
		if set && !mine[i] {
			return false
		}
	}
	return true
}
