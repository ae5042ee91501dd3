package labs_test

import (
	"reflect"
	"strings"
	"testing"

	"aqmlab/labs"
	"aqmlab/results"
)

const withPrograms = `
topology: {hosts: 3, rate: 1Gbps}
workload: {arrival: none}
schemes: [{name: tcn, aqm: tcn, threshold: 100us}]
programs:
  - {name: server, on: h1, run: [redis-server, --port, 6379], serves: true, listens: [6379]}
  - name: client
    on: h2
    at: 10ms
    run: [sh, -c, "bench {h1} {scheme} {load} {seed} '{{h1}}' ${x} %{x} {a b} '{\"a\":{\"b\":1}}'"]
    env: ["PEER={h3}", "EMPTY="]
    stdin: |
      two
      lines
    metrics: {kind: lines, from: descriptor}
`

// TestPrograms: what a lab says of programs is read, written, and filled in for a point.
func TestPrograms(t *testing.T) {
	l := load(t, write(t, "x.yaml", withPrograms))
	if len(l.Programs) != 2 || !l.Programs[0].Serves || !reflect.DeepEqual(l.Programs[0].Listens, []int{6379}) || l.Programs[0].Run[2] != "6379" {
		t.Fatalf("%+v", l.Programs)
	}
	client := l.Programs[1]
	if client.Stdin != "two\nlines\n" || client.Metrics.Kind != "lines" {
		t.Errorf("%+v", client)
	}
	addresses := map[string]string{"h1": "10.77.0.1", "h2": "10.77.0.2", "h3": "10.77.0.3"}
	running := client.Running(results.Coord{Scheme: "tcn", Load: 0.5, Seed: 7}, addresses)
	if want := "bench 10.77.0.1 tcn 0.5 7 '{h1}' ${x} %{x} {a b} '{\"a\":{\"b\":1}}'"; running.Run[2] != want {
		t.Errorf("%q, want %q", running.Run[2], want)
	}
	if want := []string{"PEER=10.77.0.3", "EMPTY="}; !reflect.DeepEqual(running.Env, want) {
		t.Errorf("%q, want %q", running.Env, want)
	}
	yaml, err := l.YAML()
	if err != nil {
		t.Fatal(err)
	}
	again, err := labs.Parse("x.yaml", yaml)
	if err != nil || !reflect.DeepEqual(again.Programs, l.Programs) {
		t.Errorf("written and read again: %+v, %v\n%s", again, err, yaml)
	}
}

// TestNoPrograms: a lab that names none is written as before there were any.
func TestNoPrograms(t *testing.T) {
	yaml, err := load(t, write(t, "x.yaml", base)).YAML()
	if err != nil || strings.Contains(string(yaml), "programs") {
		t.Errorf("%v\n%s", err, yaml)
	}
}

// TestBadPrograms: each mistake has an error with the key and what is wanted.
func TestBadPrograms(t *testing.T) {
	for change, want := range map[string]string{
		"on: h2|on: h9":        `programs.client.on: no host "h9": want one of h1 to h3`,
		"on: h2|":              "programs.client.on: missing",
		"run: [sh,|run2: [sh,": "programs.client.run",
		"run: [redis-server, --port, 6379]|run: []":        "programs.server.run: missing: want a program and its arguments",
		"{h1} {scheme}|{h7} {scheme}":                      "programs.client.run[2]: {h7} is no host of the lab, scheme, load or seed: want one of them, or {{h7}} for the text itself",
		`"PEER={h3}"|"{h3}"`:                               "programs.client.env[0]",
		`"PEER={h3}"|{h3}`:                                 "braces are a mapping in YAML: want quotes",
		`"EMPTY="|"A=\0"`:                                  "programs.client.env[1]: \"A=\\x00\" is not text: it has a zero byte",
		"--port, 6379|--port, 1.50":                        "programs.server.run[2]: 1.5 is not text: want quotes around it",
		"serves: true|serves: true, stop: 1s":              "programs.server.stop: a program that serves is stopped when all else has ended",
		"at: 10ms|stop: 10ms\n    at: 10ms":                "programs.client.stop: 10ms is not after at, 10ms",
		"at: 10ms|stop: 5ms\n    at: 10ms":                 "programs.client.stop: 5ms is not after at, 10ms",
		"at: 10ms|listens: [1]\n    at: 10ms":              "programs.client.at: a program that listens starts before time zero",
		"on: h2\n    at: 10ms|on: h1\n    listens: [6379]": "programs.client.listens[0]: server listens at port 6379 of h1 already",
		"listens: [6379]|listens: [70000]":                 "1 to 65535",
		"from: descriptor|from: nowhere":                   "programs.client.metrics.from",
		"kind: lines|kind: guess":                          "programs.client.metrics",
		"programs:|seeds: [1]\nprograms2:":                 "programs2",
		"workload: {arrival: none}|host: {rootfs: x}":      `host.rootfs: "x" is not an absolute path`,
	} {
		old, now, _ := strings.Cut(change, "|")
		text := strings.Replace(withPrograms, old, now, 1)
		if text == withPrograms {
			t.Errorf("%q is not in the lab", old)
		}
		if _, err := labs.Load(write(t, "x.yaml", text), labs.Options{}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: got %v, want %q", change, err, want)
		}
	}
	none := "topology: {hosts: 3, rate: 1Gbps}\nworkload: {arrival: none}\nschemes: [{name: tcn, aqm: tcn, threshold: 100us}]\n"
	if _, err := labs.Load(write(t, "x.yaml", none), labs.Options{}); err == nil || !strings.Contains(err.Error(), "workload.arrival: none: there is nothing to measure") {
		t.Errorf("got %v", err)
	}
}

// TestProgramsGoTogether: what is like a mistake and is none.
func TestProgramsGoTogether(t *testing.T) {
	loads := strings.Replace(withPrograms, "arrival: none", "arrival: none, load: [0.3, 0.5]", 1)
	for what, text := range map[string]string{
		"a port on two hosts":              strings.Replace(withPrograms, "at: 10ms", "listens: [6379]", 1),
		"a program beside one background":  strings.Replace(oneProgram, "programs:", "background: [{name: b, flows: 10}]\nprograms:", 1),
		"a root of their own":              strings.Replace(withPrograms, "workload: {", "host: {rootfs: /srv/rootfs}\nworkload: {", 1),
		"the end just after the beginning": strings.Replace(withPrograms, "at: 10ms", "stop: 10000001ns\n    at: 10ms", 1),
		"loads that a program is told":     loads,
	} {
		if _, err := labs.Parse("x.yaml", []byte(text)); err != nil {
			t.Errorf("%s: %v", what, err)
		}
	}
	if _, err := labs.Parse("x.yaml", []byte(strings.Replace(loads, "{load} ", "", 1))); err == nil || !strings.Contains(err.Error(), "2 loads, but no flows start by the load") {
		t.Errorf("loads that nobody is told: %v", err)
	}
}

const oneProgram = `
topology: {hosts: 3, rate: 1Gbps}
workload: {arrival: none}
schemes: [{name: tcn, aqm: tcn, threshold: 100us}]
programs: [{name: server, on: h1, run: [sleep, 1]}]
`
