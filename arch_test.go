package main

import (
	"go/ast"
	"go/parser"
	"go/token"
	"maps"
	"os"
	"os/exec"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// rooms says which of our own packages each room may import: imports point
// downward only. A room's sub-packages count as the room unless they stand in
// the table themselves. To add a room, add its row; to add an arrow, think of
// whether it still points down.
var rooms = map[string]string{
	"units":                  "",
	"bounded":                "",
	"lockfile":               "",
	"bounded/parquetfile":    "",
	"switch/event":           "",
	"switch/times":           "",
	"kind":                   "units",
	"switch/packet":          "",
	"switch/aqm":             "units kind switch/packet",
	"switch/sched":           "units kind switch/packet",
	"switch/port":            "units kind switch/packet switch/aqm switch/sched",
	"switch/fabric":          "units kind switch/event switch/packet switch/port",
	"switch/wire":            "units kind switch/event switch/packet switch/port switch/fabric switch/times",
	"trafficgen/transport":   "units kind",
	"results":                "",
	"results/coexist":        "results",
	"results/store":          "bounded bounded/parquetfile lockfile results",
	"results/compare":        "results results/coexist results/store",
	"results/foreign":        "bounded results results/store",
	"results/report":         "results results/coexist results/compare results/report/figure results/report/layout results/store",
	"results/report/figure":  "",
	"results/report/layout":  "results/report/figure",
	"results/response":       "results results/report/figure results/report/layout units",
	"results/serve":          "results results/report results/store",
	"results/resultstest":    "results", // tests only
	"trafficgen":             "bounded bounded/parquetfile units kind results trafficgen/traffic",
	"trafficgen/traffic":     "results units",
	"trafficgen/parser":      "kind results",
	"trafficgen/live":        "collectors/meter units results trafficgen/traffic",
	"collectors":             "switch/event results switch/aqm switch/fabric switch/packet switch/port switch/times",
	"collectors/meter":       "results",
	"sim/tcp":                "units switch/event kind switch/packet trafficgen/transport",
	"sim/rdma":               "units switch/event trafficgen/transport switch/packet",
	"e2e/truth":              "kind labs orchestrator results sim switch/aqm switch/packet switch/port units", // tests only
	"labs":                   "bounded units kind results switch/packet labs/basertt labs/clab labs/inventory labs/schema labs/topologies trafficgen/transport switch/aqm switch/sched switch/port switch/fabric trafficgen trafficgen/parser trafficgen/traffic",
	"labs/basertt":           "units kind trafficgen",
	"labs/clab":              "units kind labs/schema",
	"labs/inventory":         "bounded kind labs/schema",
	"labs/schema":            "kind",
	"labs/topologies":        "bounded units kind labs/clab",
	"sim":                    "collectors collectors/meter switch/event results sim/rdma sim/tcp switch/fabric switch/packet switch/port units trafficgen/traffic",
	"orchestrator/host":      "",
	"orchestrator/host/cc":   "orchestrator/host trafficgen/transport",
	"orchestrator/journal":   "bounded",
	"orchestrator/rootless":  "",
	"orchestrator/netns":     "orchestrator/host orchestrator/journal",
	"orchestrator/agent":     "orchestrator/host orchestrator/netns orchestrator/journal",
	"orchestrator/machines":  "kind labs/inventory orchestrator/docker switch/fabric",
	"orchestrator/program":   "orchestrator/host orchestrator/netns",
	"orchestrator/docker":    "orchestrator/agent orchestrator/host orchestrator/journal",
	"orchestrator/role":      "collectors orchestrator/agent orchestrator/host orchestrator/host/cc orchestrator/netns orchestrator/program results switch/fabric switch/port switch/wire trafficgen/live trafficgen/traffic",
	"orchestrator":           "labs orchestrator/backend orchestrator/guests orchestrator/host orchestrator/host/cc orchestrator/rootless orchestrator/simulated orchestrator/testbed results results/report results/store switch/port units trafficgen trafficgen/traffic",
	"orchestrator/backend":   "collectors labs results switch/fabric units trafficgen/traffic",
	"orchestrator/bench":     "labs orchestrator/backend orchestrator/netns orchestrator/role orchestrator/simulated orchestrator/testbed results sim switch/fabric switch/packet trafficgen/traffic",
	"orchestrator/doctor":    "orchestrator/docker orchestrator/host orchestrator/host/cc orchestrator/netns orchestrator/rootless orchestrator/testbed orchestrator/uml results switch/wire",
	"orchestrator/guests":    "labs orchestrator/backend orchestrator/doctor orchestrator/testbed orchestrator/uml orchestrator/uml/guest results switch/port units trafficgen",
	"orchestrator/sweep":     "bounded labs lockfile orchestrator orchestrator/backend results results/coexist results/response results/store switch/port",
	"orchestrator/tune":      "kind labs orchestrator orchestrator/sweep results results/store switch/port units",
	"orchestrator/simulated": "kind labs orchestrator/backend results sim sim/rdma sim/tcp switch/packet trafficgen",
	"orchestrator/testbed":   "collectors collectors/meter kind labs labs/inventory orchestrator/agent orchestrator/backend orchestrator/docker orchestrator/host orchestrator/host/cc orchestrator/journal orchestrator/machines orchestrator/netns orchestrator/program orchestrator/role orchestrator/underlay results switch/fabric switch/port switch/wire trafficgen/live trafficgen/parser trafficgen/transport units trafficgen trafficgen/traffic",
	"orchestrator/underlay":  "",
	"orchestrator/uml":       "bounded orchestrator/host orchestrator/uml/guest",
	"orchestrator/uml/guest": "",
	"e2e/vm":                 "e2e/vm/guest",
	"e2e/vm/guest":           "",
	"e2e/vm/vmtest":          "e2e/vm e2e/vm/guest",
	"e2e/vm/kernelaqm":       "units",
	"reproduce":              "kind labs orchestrator orchestrator/sweep reproduce/card reproduce/metric reproduce/papers reproduce/record results results/compare results/report/figure results/store switch/packet switch/port trafficgen trafficgen/traffic",
	"reproduce/card":         "labs orchestrator orchestrator/backend reproduce/metric reproduce/papers reproduce/record results/compare results/report/figure",
	"reproduce/metric":       "kind labs reproduce/papers results results/compare switch/aqm switch/packet",
	"reproduce/record":       "results",
	"reproduce/papers":       "",
	"site/play/bundle":       "",
	"site/play":              "kind labs orchestrator/simulated results results/coexist results/compare sim switch/port trafficgen trafficgen/traffic",
	"e2e":                    "results results/compare results/report results/store switch/packet",
	"e2e/tally":              "",
	"e2e/mutation":           "",
	"e2e/browsertest":        "", // tests only

	"orchestrator/machines/check": "labs/inventory orchestrator/agent orchestrator/docker orchestrator/doctor orchestrator/host orchestrator/journal orchestrator/machines orchestrator/netns orchestrator/testbed orchestrator/underlay results",

	// Sweeps: how they are shown, and who measures them.
	"orchestrator/sweep/board":     "orchestrator/sweep results results/response",
	"orchestrator/sweep/cluster":   "bounded labs lockfile orchestrator/sweep results/store trafficgen",
	"orchestrator/sweep/slurm":     "kind orchestrator/sweep/cluster units",
	"orchestrator/sweep/engine":    "bounded kind orchestrator/sweep orchestrator/sweep/cluster orchestrator/sweep/slurm results/store",
	"orchestrator/sweep/sweeptest": "labs orchestrator orchestrator/sweep", // tests only
}

// TestImportsPointDownward compares the table with what the packages import.
func TestImportsPointDownward(t *testing.T) {
	out, err := exec.Command("go", "list", "-f", "{{.ImportPath}} {{join .Imports \" \"}}", "./...").Output()
	if err != nil {
		t.Fatal(err)
	}
	seen := map[string]bool{}
	for line := range strings.Lines(string(out)) {
		fields := strings.Fields(line)
		room := roomOf(strings.TrimPrefix(fields[0], "aqmlab/"))
		if room == "" {
			continue
		}
		seen[room] = true
		allowed := strings.Fields(rooms[room])
		for _, imported := range fields[1:] {
			own, ok := strings.CutPrefix(imported, "aqmlab/")
			if !ok {
				continue
			}
			if target := roomOf(own); target != room && !slices.Contains(allowed, target) {
				t.Errorf("%s imports %s: %s may import only %v", fields[0], imported, room, allowed)
			}
		}
	}
	for room := range maps.Keys(rooms) {
		if !seen[room] {
			t.Errorf("the table has a row for %s, which does not exist", room)
		}
	}
}

// TestSerial: packages that are not tried with the race detector start no goroutine, nor
// do their tests.
func TestSerial(t *testing.T) {
	makefile, err := os.ReadFile("Makefile")
	if err != nil {
		t.Fatal(err)
	}
	line := regexp.MustCompile(`(?m)^SERIAL = (.+)$`).FindSubmatch(makefile)
	if line == nil {
		t.Fatal("the Makefile has no SERIAL")
	}
	serial := regexp.MustCompile("^aqmlab(/(" + string(line[1]) + "))?$")
	const files = "{{.ImportPath}}{{range .GoFiles}} {{$.Dir}}/{{.}}{{end}}{{range .TestGoFiles}} {{$.Dir}}/{{.}}{{end}}{{range .XTestGoFiles}} {{$.Dir}}/{{.}}{{end}}"
	out, err := exec.Command("go", "list", "-f", files, "./...").Output()
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(out)) {
		words := strings.Fields(line)
		if !serial.MatchString(words[0]) {
			continue
		}
		for _, file := range words[1:] {
			if at := concurrent(t, file); at != "" {
				t.Errorf("%s starts a goroutine at %s, and is among the Makefile's SERIAL", words[0], at)
			}
		}
	}
}

// TestOnce: packages that are tried with the race detector are tried with it alone, so it
// must leave out no file of theirs, and no test.
func TestOnce(t *testing.T) {
	const files = "{{.ImportPath}} {{.GoFiles}} {{.TestGoFiles}} {{.XTestGoFiles}}"
	plain, err := exec.Command("go", "list", "-f", files, "./...").Output()
	if err != nil {
		t.Fatal(err)
	}
	raced, err := exec.Command("go", "list", "-race", "-f", files, "./...").Output()
	if err != nil {
		t.Skipf("the race detector needs gcc: %v", err)
	}
	if string(plain) != string(raced) {
		t.Errorf("with the race detector packages have other files: a constraint //go:build names race\n%s\nwant\n%s", raced, plain)
	}
}

// concurrent returns where a file starts goroutines, or is about to.
func concurrent(t *testing.T, file string) (where string) {
	set := token.NewFileSet()
	tree, err := parser.ParseFile(set, file, nil, parser.SkipObjectResolution)
	if err != nil {
		t.Fatal(err)
	}
	ast.Inspect(tree, func(n ast.Node) bool {
		started := false
		switch n := n.(type) {
		case *ast.GoStmt:
			started = true
		case *ast.CallExpr: // of a method of sync.WaitGroup or errgroup.Group, of a test or a benchmark
			f, ok := n.Fun.(*ast.SelectorExpr)
			started = ok && slices.Contains([]string{"Go", "Parallel", "RunParallel"}, f.Sel.Name)
		}
		if started {
			where = set.Position(n.Pos()).String()
		}
		return where == ""
	})
	return where
}

// TestRecordersAreLight: whoever only records what happens knows nothing of how
// records are stored, compared and shown. net/rpc brings html/template for a page
// that nobody serves.
func TestRecordersAreLight(t *testing.T) {
	recorders := []string{"./collectors", "./collectors/meter", "./orchestrator/role", "./results", "./sim", "./trafficgen/live"}
	out, err := exec.Command("go", append([]string{"list", "-deps", "-f", "{{.ImportPath}} {{join .Imports \" \"}}"}, recorders...)...).Output()
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(out)) {
		imports := strings.Fields(line)
		for _, imported := range imports[1:] {
			for _, heavy := range []string{"codeberg.org/go-pdf/", "github.com/parquet-go/", "html/template", "aqmlab/results/"} {
				if strings.HasPrefix(imported, heavy) && imports[0] != "net/rpc" {
					t.Errorf("what records needs %s, which imports %s", imports[0], imported)
				}
			}
		}
	}
}

// TestBinaryHasNoBrowser: what drives browsers is for tests only.
func TestBinaryHasNoBrowser(t *testing.T) {
	out, err := exec.Command("go", "list", "-deps", ".").Output()
	if err != nil {
		t.Fatal(err)
	}
	for pkg := range strings.Lines(string(out)) {
		if strings.HasPrefix(pkg, "github.com/chromedp/") {
			t.Errorf("the binary has %s", strings.TrimSpace(pkg))
		}
	}
}

// roomOf is the longest row of the table that a package stands in, or "" for
// packages at the top (main, cli), which may import everything.
func roomOf(pkg string) string {
	for p := pkg; p != ""; p = p[:max(strings.LastIndexByte(p, '/'), 0)] {
		if _, ok := rooms[p]; ok {
			return p
		}
	}
	return ""
}
