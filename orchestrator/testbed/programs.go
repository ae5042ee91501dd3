package testbed

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"aqmlab/labs"
	"aqmlab/orchestrator/program"
	"aqmlab/results"
	"aqmlab/trafficgen/parser"
)

// programs are those of a point that is going on.
type programs struct {
	lab   []labs.Program // with their placeholders filled in
	on    []int          // host of each
	fleet fleet          // the processes that run some
}

// launchPrograms readies the lab's programs, and starts those that listen.
func (t *Testbed) launchPrograms(ctx context.Context, at results.Coord) (*programs, error) {
	all := &programs{}
	addresses := make(map[string]string)
	for _, h := range t.net.Hosts {
		addresses[h.Name] = h.Addr.String()
	}
	for _, p := range t.lab.Programs {
		all.lab = append(all.lab, p.Running(at, addresses))
		all.on = append(all.on, slices.Index(t.plan.Hosts, p.On))
	}
	for _, p := range t.hosts {
		c := program.Config{Dilation: t.dilation}
		for i, one := range all.lab {
			if p.carries(all.on[i]) {
				c.Programs = append(c.Programs, specOf(one, all.on[i]))
			}
		}
		if len(c.Programs) == 0 {
			continue
		}
		if err := p.Launch(ctx, c); err != nil {
			return nil, err
		}
		all.fleet = append(all.fleet, p)
	}
	return all, nil
}

func specOf(p labs.Program, host int) program.Spec {
	s := program.Spec{
		Name: p.Name, Host: host, Run: p.Run, Env: p.Env, Stdin: p.Stdin,
		At: p.At, Stop: p.Stop, Serves: p.Serves, Listens: p.Listens,
	}
	if reads, err := parserOf(p); err == nil && reads != nil {
		from := reads.Source()
		s.Figures, s.File = from.Descriptor, from.File
	}
	return s
}

// parserOf is nil for a program that measures nothing itself.
func parserOf(p labs.Program) (parser.Parser, error) {
	if p.Metrics.Kind == "" {
		return nil, nil
	}
	return parser.Table().New(p.Metrics.Kind, p.Metrics.Params, struct{}{})
}

// begin starts the programs at their times.
func (p *programs) begin(ctx context.Context, zero int64) error {
	return each(p.fleet, func(_ int, h hostsProcess) error { return h.BeginPrograms(ctx, h.clock(zero)) })
}

// left counts the programs that are waited for.
func (p *programs) left(ctx context.Context) (all int, err error) {
	counts, err := gather(ctx, p.fleet, hostsProcess.ProgramsLeft)
	for _, n := range counts {
		all += n
	}
	return all, err
}

// finish stops the programs that serve, and reads what all have left.
func (t *Testbed) finishPrograms(ctx context.Context, p *programs, zero int64) (m programsMeasured, err error) {
	shares, err := gather(ctx, p.fleet, hostsProcess.EndPrograms)
	if err != nil {
		return m, err
	}
	ended := make(map[string]program.Ended)
	m.cpu = make(map[string]time.Duration)
	for i, share := range shares {
		for _, e := range share {
			e.Start, e.End = p.fleet[i].testbedTime(e.Start), p.fleet[i].testbedTime(e.End)
			ended[e.Name] = e
			m.cpu[p.fleet[i].machine] += e.CPU
		}
	}
	for _, spec := range p.lab {
		if err := m.add(spec, ended[spec.Name], func(at int64) time.Duration { return time.Duration(float64(at-zero) / t.dilation) }); err != nil {
			return m, fmt.Errorf("reading what program %s measured: %w", spec.Name, err)
		}
	}
	return m, nil
}

// programsMeasured is what the programs of a point leave.
type programsMeasured struct {
	programs []results.Program
	figures  []results.ProgramSample
	outputs  []results.ProgramFile
	cpu      map[string]time.Duration // that they used on each machine
}

// add adds one program. What it says of itself is read if it ended as it should.
func (m *programsMeasured) add(p labs.Program, e program.Ended, labTime func(int64) time.Duration) error {
	record := results.Program{
		Name: p.Name, Host: p.On, Exit: e.Exit, Signal: e.Signal, Stopped: e.Stopped, Error: problem(p, e),
		Sent: results.Unknown, Received: results.Unknown, Retransmits: results.Unknown,
	}
	if e.Counted {
		record.Sent, record.Received, record.Retransmits = e.Sockets.Sent, e.Sockets.Received, e.Sockets.Retransmits
	}
	if e.End != 0 {
		record.Start, record.End = labTime(e.Start), labTime(e.End)
	}
	reads, err := parserOf(p)
	if err != nil {
		return err
	}
	if reads != nil && record.Error == "" {
		figures, err := reads.Parse(parser.Output{Stdout: e.Stdout, Stderr: e.Stderr, Figures: e.Figures, Cut: e.Cut})
		switch {
		case e.Unread != "":
			record.Error = "its figures: " + e.Unread
		case err != nil:
			record.Error = "its figures: " + err.Error()
		}
		for _, f := range figures {
			f.Program = p.Name
			m.figures = append(m.figures, f)
		}
	}
	m.programs = append(m.programs, record)
	for _, o := range []results.ProgramFile{{Name: results.OutputFile(p.Name, "out"), Text: e.Stdout}, {Name: results.OutputFile(p.Name, "err"), Text: e.Stderr}} {
		if len(o.Text) > 0 {
			m.outputs = append(m.outputs, o)
		}
	}
	return nil
}

// problem says what was not as the lab expects it; it is empty if all was.
func problem(p labs.Program, e program.Ended) string {
	why := ""
	switch {
	case e.Error != "":
		why = e.Error
	case e.Stopped:
		return ""
	case e.Overdue:
		why = fmt.Sprintf("it had not ended by %v of lab time, and was stopped", program.Longest)
	case e.Signal != "":
		why = "ended by " + e.Signal
	case int(e.Exit) != p.Expect:
		why = "exit status " + strconv.Itoa(int(e.Exit))
		if p.Expect != 0 {
			why += ", not " + strconv.Itoa(p.Expect)
		}
	}
	if said := lastLine(e.Stderr); why != "" && said != "" {
		why += ": " + said
	}
	return why
}

// lastLine is the last that a program said, as much as can stand in a table.
func lastLine(text []byte) string {
	lines := strings.Split(strings.TrimSpace(string(text)), "\n")
	last := lines[len(lines)-1]
	return last[:min(len(last), 200)]
}

// CheckPrograms tells, before anything is made, which program of the lab cannot run from
// the file system below a root. Runs says what else keeps a file of this machine from it.
func CheckPrograms(lab *labs.Lab, root string, runs func(at string) error) error {
	for _, p := range lab.Programs {
		at, err := program.Find(root, p.Run[0], p.Env)
		if err == nil {
			err = runs(at)
		}
		if err != nil {
			return fmt.Errorf("lab %s: program %s: %w", lab.Name, p.Name, err)
		}
	}
	return nil
}

// namesFile is the path of an /etc/hosts for programs, within their file system; it is
// empty where they have one already.
func (t *Testbed) namesFile() (string, error) {
	switch {
	case len(t.lab.Programs) == 0 || t.contained:
		return "", nil
	case t.image != "": // whose scratch layer it goes to
		return "", os.WriteFile(filepath.Join(t.image, "/etc/hosts"), t.net.HostsFile(), 0o644)
	}
	path := filepath.Join(t.journal.Dir(), hostsFile)
	return path, os.WriteFile(path, t.net.HostsFile(), 0o644)
}
