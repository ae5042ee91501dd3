package main

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/cobra/doc"

	"aqmlab/kind"
	"aqmlab/switch/port"
	"aqmlab/trafficgen"
	"aqmlab/trafficgen/transport"
)

// kindsText is the page of all that labs may name, made from the tables.
func kindsText() []byte {
	var b bytes.Buffer
	b.WriteString("# Schemes, schedulers, traffic and transports\n\nWhat a lab may name, with the parameters of each and their defaults. `aqmlab scheme show NAME` and its like print the same.\n")
	for _, table := range []struct {
		title   string
		entries []kind.Entry
	}{
		{"Schemes", port.Kinds{}.Schemes().Entries()},
		{"Ingress gates", port.Gates().Entries()},
		{"Schedulers", port.Kinds{}.Schedulers().Entries()},
		{"Transports", transport.Table().Entries()},
		{"Flow sizes", trafficgen.Sizes().Entries()},
		{"Arrivals", trafficgen.Arrivals().Entries()},
	} {
		fmt.Fprintf(&b, "\n## %s\n", table.title)
		for _, e := range table.entries {
			writeKind(&b, e)
		}
	}
	return b.Bytes()
}

func writeKind(b *bytes.Buffer, e kind.Entry) {
	fmt.Fprintf(b, "\n### %s\n\n%s. %s\n", e.Name, capital(e.Doc), e.Note)
	if len(e.Params) == 0 {
		return
	}
	b.WriteString("\n| parameter | type | default | meaning |\n|---|---|---|---|\n")
	for _, p := range e.Params {
		value := p.Default
		if value != "" {
			value = "`" + value + "`"
		}
		fmt.Fprintf(b, "| `%s` | %s | %s | %s |\n", p.Name, p.Type, value, strings.ReplaceAll(p.Doc, "|", "\\|"))
	}
}

func capital(s string) string { return strings.ToUpper(s[:1]) + s[1:] }

// manualText is the page of all commands, made from the command line.
func manualText(root *cobra.Command) []byte {
	var b bytes.Buffer
	b.WriteString("# Manual of the command line\n\nEvery command with its flags, as `--help` prints them. [The commands by what they are for](../docs/commands.md) are shorter to read.\n")
	walk(root, func(c *cobra.Command) {
		fmt.Fprintf(&b, "\n## %s\n\n%s.\n", c.CommandPath(), c.Short)
		if c.Long != "" && c.Long != c.Short {
			fmt.Fprintf(&b, "\n%s\n", c.Long)
		}
		if c.Runnable() && !c.HasAvailableSubCommands() {
			fmt.Fprintf(&b, "\n```\n%s\n```\n", c.UseLine())
		}
		if c.Example != "" {
			fmt.Fprintf(&b, "\n```sh\n%s\n```\n", c.Example)
		}
		if flags := c.NonInheritedFlags(); flags.HasAvailableFlags() {
			fmt.Fprintf(&b, "\n```\n%s```\n", flags.FlagUsages())
		}
	})
	return b.Bytes()
}

// walk visits the commands that users see, in the order of their names.
func walk(c *cobra.Command, visit func(*cobra.Command)) {
	visit(c)
	for _, sub := range c.Commands() {
		if sub.IsAvailableCommand() {
			walk(sub, visit)
		}
	}
}

// writeManual writes man pages and the completions of shells into a folder.
func writeManual(root *cobra.Command, dir string) error {
	man := filepath.Join(dir, "man")
	if err := os.MkdirAll(man, 0o755); err != nil {
		return fmt.Errorf("writing man pages: %w", err)
	}
	// No date of today: the same sources give the same bytes.
	never := time.Unix(0, 0).UTC()
	if err := doc.GenManTree(root, &doc.GenManHeader{Section: "1", Source: "aqmlab", Manual: "aqmlab", Date: &never}, man); err != nil {
		return fmt.Errorf("writing man pages: %w", err)
	}
	completions := filepath.Join(dir, "completions")
	if err := os.MkdirAll(completions, 0o755); err != nil {
		return fmt.Errorf("writing completions: %w", err)
	}
	for name, write := range map[string]func(string) error{
		"aqmlab.bash": func(f string) error { return root.GenBashCompletionFileV2(f, true) },
		"_aqmlab":     root.GenZshCompletionFile,
		"aqmlab.fish": func(f string) error { return root.GenFishCompletionFile(f, true) },
		"aqmlab.ps1":  root.GenPowerShellCompletionFileWithDesc,
	} {
		if err := write(filepath.Join(completions, name)); err != nil {
			return fmt.Errorf("writing completions: %w", err)
		}
	}
	return nil
}
