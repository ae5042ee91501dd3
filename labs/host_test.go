package labs_test

import (
	"reflect"
	"slices"
	"testing"

	"aqmlab/labs"
)

// A transport is a name, or a name with parameters.
func TestTransport(t *testing.T) {
	for form, want := range map[string]map[string]any{
		"dctcp":                 nil,
		"{kind: dctcp}":         nil,
		"{kind: dctcp, g: 0.5}": {"g": 0.5},
		"{g: 0.5}":              {"g": 0.5},
	} {
		l := load(t, write(t, "x.yaml", base+"host: {transport: "+form+"}\n"))
		if l.Host.Transport != "dctcp" || !reflect.DeepEqual(l.Host.TransportParams, want) {
			t.Errorf("%s: %s with %v, want dctcp with %v", form, l.Host.Transport, l.Host.TransportParams, want)
		}
		if again := reload(t, l); !reflect.DeepEqual(l, again) {
			t.Errorf("wrote\n%+v\nand read\n%+v", l.Host, again.Host)
		}
	}
	// Another transport drops the parameters of the file.
	l := load(t, write(t, "x.yaml", base+"host: {transport: {kind: dctcp, g: 0.5}}\n"), "host.transport=cubic")
	if l.Host.Transport != "cubic" || l.Host.TransportParams != nil {
		t.Errorf("%s with %v, want plain cubic", l.Host.Transport, l.Host.TransportParams)
	}
}

func TestBadHosts(t *testing.T) {
	tests := map[string]struct{ host, want string }{
		"g":                 {"{transport: {kind: dctcp, g: 2}}", `x.yaml:3: host.transport.g: 2 is outside (0, 1]`},
		"parameter of none": {"{transport: {kind: reno, bias: 1}}", `x.yaml:3: host.transport.bias: unknown parameter: it takes none`},
		"initial timeout":   {"{rto_initial: 0s}", `x.yaml:3: host.rto_initial: 0s is outside 1us to 120s`},
		"longest timeout":   {"{rto_max: 121s}", `x.yaml:3: host.rto_max: 121s is outside 1us to 120s`},
		"initial above all": {"{rto_initial: 2s,\n  rto_max: 1s}", `x.yaml:3: host.rto_initial: 2s is above host.rto_max, 1s`},
		"least above all":   {"{rto_initial: 1ms, rto_min: 20ms, rto_max: 10ms}", `x.yaml:3: host.rto_min: 20ms is above host.rto_max, 10ms`},
		"default above all": {"{rto_max: 500ms}", `x.yaml:3: host.rto_initial: 1s is above host.rto_max, 500ms`},
		"no ACK":            {"{delayed_ack: 0}", `x.yaml:3: host.delayed_ack: 0 is outside 1 to 64`},
		"port":              {"{port: uplink}", `x.yaml:3: host.port: unknown port "uplink": want one of nic, switch`},
		"late ACK":          {"{ack_timeout: 501ms}", `x.yaml:3: host.ack_timeout: 501ms is outside 1us to 500ms`},
		"recovery":          {"{loss_recovery: rac}", `x.yaml:3: host.loss_recovery: unknown loss recovery "rac": want one of rack, sack, sack-prr (did you mean rack?)`},
		"recovery of bbr":   {"{transport: bbr, loss_recovery: sack}", `x.yaml:3: host.loss_recovery: sack does not go with bbr, which needs the times of segments: want rack or sack-prr`},
		"queue":             {"{small_queue: 2s}", `x.yaml:3: host.small_queue: 2s is outside 0s to 1s`},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			_, err := labs.Parse("x.yaml", []byte(base+"host: "+tt.host+"\n"))
			if err == nil || err.Error() != tt.want {
				t.Errorf("got\n%v\nwant\n%s", err, tt.want)
			}
		})
	}
}

// Hosts send by a port of their own when the lab says so.
func TestHostPort(t *testing.T) {
	for host, want := range map[string]bool{"": false, "host: {port: nic}\n": false, "host: {port: switch}\n": true} {
		l := load(t, write(t, "x.yaml", base+host))
		spec, err := l.Fabric("droptail", 1)
		if err != nil {
			t.Fatal(err)
		}
		if spec.HostPorts != want {
			t.Errorf("%q: ports of their own: %v, want %v", host, spec.HostPorts, want)
		}
	}
}

// Real hosts follow a lab that leaves the keys alone. They are told apart from
// what they do not follow, and modelled hosts follow everything.
func TestUnsupported(t *testing.T) {
	plain := load(t, write(t, "x.yaml", base+"host: {rto_min: 5ms, init_cwnd: 16, transport: {kind: dctcp, g: 0.0625, on_loss: alpha}}\n"))
	set := load(t, write(t, "x.yaml", base+`host:
  transport: {kind: dctcp, g: 0.25}
  rto_initial: 5ms
  rto_max: 60s
  delayed_ack: 1
  ack_timeout: 1ms
  loss_recovery: sack
  stack: plain
  small_queue: 0s
`))
	want := []string{
		"host.rto_initial: 5ms is for modelled hosts only, real hosts have 1s",
		"host.rto_max: 60s is for modelled hosts only, real hosts have 120s",
		"host.delayed_ack: 1 is for modelled hosts only, real hosts have 2",
		"host.ack_timeout: 1ms is for modelled hosts only, real hosts have 40ms",
		"host.stack: plain is for modelled hosts only, real hosts have linux",
		"host.small_queue: 0s is for modelled hosts only, real hosts have 1ms",
		"host.transport.g: 0.25 is for modelled hosts only, real hosts have 0.0625",
	}
	for _, hosts := range []labs.Hosts{{}, {Containers: true}} {
		if got := plain.Unsupported(hosts); got != nil {
			t.Errorf("%+v, nothing set: %q", hosts, got)
		}
		if got := set.Unsupported(hosts); !slices.Equal(got, want) {
			t.Errorf("%+v: got\n%q\nwant\n%q", hosts, got, want)
		}
	}
	if got := set.Unsupported(labs.Hosts{Modelled: true}); got != nil {
		t.Errorf("modelled: %q", got)
	}
}
