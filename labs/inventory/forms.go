package inventory

import (
	"errors"
	"fmt"
	"net/netip"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"aqmlab/kind"
	"aqmlab/labs/schema"
)

// Forms are those of the keys of machines.
func Forms() map[string]schema.Form {
	text := func(typeName string, check func(string) error) schema.Form {
		return schema.Form{Type: typeName, Read: func(raw, _ any, plain func() error) error {
			s, ok := kind.AsText(raw)
			if !ok {
				return fmt.Errorf("%s is not text", kind.Show(raw))
			}
			if err := check(s); err != nil {
				return err
			}
			return plain()
		}}
	}
	return map[string]schema.Form{
		"name":      schema.Name(),
		"endpoint":  text("endpoint", checkEndpoint),
		"socket":    text("path", checkSocket),
		"address":   {Type: "IPv4 address", Read: readAddress},
		"cpus":      numbers("CPUs", 0, lastCPU, "0-3,8"),
		"vlans":     numbers("VLANs", 1, lastVLAN, "100-199"),
		"interface": text("name", checkInterface),
	}
}

const wantEndpoint = "want ssh://user@host, ssh://user@host:port, tcp://host:port, unix:///path of a socket, or the name of a Docker context"

// checkEndpoint lets no endpoint pass that ssh could take for an option, or a shell for
// more than a word.
func checkEndpoint(s string) error {
	scheme, _, isURL := strings.Cut(s, "://")
	if !isURL {
		return matches(s, `[a-zA-Z0-9][a-zA-Z0-9_.+-]+`, wantEndpoint)
	}
	if schemes := []string{SSH, TCP, Unix}; !slices.Contains(schemes, scheme) {
		return kind.Unknown("scheme", scheme, schemes)
	}
	u, err := url.Parse(s)
	if err != nil {
		return fmt.Errorf("%q is no endpoint: %s", s, wantEndpoint)
	}
	if _, has := u.User.Password(); has {
		return fmt.Errorf("%s has a password: ssh wants a key", u.Redacted())
	}
	const host, port, path = `([a-zA-Z0-9][a-zA-Z0-9._-]*|\[[0-9a-fA-F:.]+\])`, `:[0-9]+`, `(/[a-zA-Z0-9._@+=~-]+)+`
	form := map[string]string{
		SSH:  `ssh://([a-zA-Z0-9_][a-zA-Z0-9._-]*@)?` + host + `(` + port + `)?(` + path + `)?`,
		TCP:  `tcp://` + host + port,
		Unix: `unix://` + path,
	}[scheme]
	if n, err := strconv.ParseUint(u.Port(), 10, 16); u.Port() != "" && (err != nil || n == 0) {
		return fmt.Errorf("%q has no port from 1 to 65535", s)
	}
	return matches(s, form, wantEndpoint)
}

// socketOf is the path of an endpoint.
func socketOf(endpoint string) string {
	u, err := url.Parse(endpoint)
	if err != nil || u.Scheme == "" {
		return ""
	}
	return u.Path
}

func checkSocket(s string) error {
	return matches(s, `(/[a-zA-Z0-9._@+=~-]+)+`, "want an absolute path such as "+usualSocket)
}

// checkInterface follows the kernel's rule for names of devices (dev_valid_name).
func checkInterface(s string) error {
	return matches(s, `[^/:\s]{1,15}`, "want the name of an interface, such as eth0")
}

func matches(s, form, want string) error {
	if s == "." || s == ".." || !regexp.MustCompile(`^(`+form+`)$`).MatchString(s) {
		return fmt.Errorf("%q does not fit: %s", s, want)
	}
	return nil
}

// readAddress reads an address that other machines can send to.
func readAddress(raw, into any, _ func() error) error {
	s, _ := kind.AsText(raw)
	a, err := netip.ParseAddr(s)
	if err != nil || !a.Is4() || a.IsUnspecified() || a.IsLoopback() || a.IsMulticast() || a.As4() == [4]byte{255, 255, 255, 255} {
		return fmt.Errorf("%s is not an IPv4 address that other machines reach, such as 192.0.2.1", kind.Show(raw))
	}
	*into.(*netip.Addr) = a
	return nil
}

const (
	// lastCPU is the highest number that a CPU can have (Linux's NR_CPUS).
	lastCPU = 8191
	// lastVLAN is the highest id of a VLAN (IEEE 802.1Q, 9.6: 4095 is reserved).
	lastVLAN = 4094
)

// numbers is the form of lists of numbers and ranges, as the kernel writes them, such as
// 0-3,8.
func numbers(of string, least, most int, example string) schema.Form {
	return schema.Form{
		Type: "list of " + of,
		Read: func(raw, into any, plain func() error) error {
			all := into.(*[]int)
			text, isText := kind.AsText(raw)
			if !isText {
				err := plain()
				slices.Sort(*all)
				return err
			}
			read, err := readNumbers(text, least, most)
			if err != nil {
				return fmt.Errorf("%q is not a list of %s from %d to %d: want one such as %s", text, of, least, most, example)
			}
			if len(slices.Compact(slices.Clone(read))) < len(read) {
				return fmt.Errorf("%q has %s twice", text, of)
			}
			*all = read
			return nil
		},
		Write: func(value any) any { return Ranges(value.([]int)) },
		JSON:  orNumbers,
	}
}

var errNumber = errors.New("not a number in the range")

// readNumbers reads a list of numbers, sorted. More than there are between the bounds are
// cut off: some are there twice.
func readNumbers(text string, least, most int) (all []int, err error) {
	for _, item := range schema.AsList(kind.Text(text)) {
		from, to, isRange := strings.Cut(string(item.(kind.Text)), "-")
		if !isRange {
			to = from
		}
		first, wrongFirst := strconv.ParseUint(from, 10, 16)
		last, wrongLast := strconv.ParseUint(to, 10, 16)
		if wrongFirst != nil || wrongLast != nil || first < uint64(least) || first > last || last > uint64(most) {
			return nil, errNumber
		}
		for n := first; n <= last; n++ {
			all = append(all, int(n))
		}
		if len(all) > most-least+1 {
			break
		}
	}
	slices.Sort(all)
	return all, nil
}

// Ranges writes sorted numbers as lists of them are written, such as 0-3,8.
func Ranges(all []int) string {
	var parts []string
	for len(all) > 0 {
		n := 1
		for n < len(all) && all[n] == all[0]+n {
			n++
		}
		part := strconv.Itoa(all[0])
		if n > 1 {
			part += "-" + strconv.Itoa(all[n-1])
		}
		parts, all = append(parts, part), all[n:]
	}
	return strings.Join(parts, ",")
}

// orNumbers is the JSON Schema of plain values and of ranges.
func orNumbers(plain map[string]any) map[string]any {
	return map[string]any{"anyOf": []any{plain, map[string]any{"type": "string", "pattern": "^[][0-9, -]+$"}}}
}
