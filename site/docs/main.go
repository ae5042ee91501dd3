// Command docs makes a site of aqmlab's documentation: its Markdown files and what the code
// knows of itself as pages with a search, the simulator in a page, and apart from these the
// man pages and completions of the command.
//
//	go run . -out ../../dist/site
//	go run . -manual ../../dist/manual
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"aqmlab/cli"
	"aqmlab/site/play/bundle"
)

func main() {
	out := flag.String("out", "", "folder of the site, which is made anew")
	manual := flag.String("manual", "", "folder of man pages and completions, which is made anew")
	flag.Parse()
	if err := run(*out, *manual); err != nil {
		fmt.Fprintln(os.Stderr, "docs:", err)
		os.Exit(1)
	}
}

func run(out, manual string) error {
	root, err := (cli.App{}).Command()
	if err != nil {
		return err
	}
	if manual != "" {
		if err := anew(manual); err != nil {
			return err
		}
		if err := writeManual(root, manual); err != nil {
			return err
		}
	}
	if out == "" {
		return nil
	}
	if err := anew(out); err != nil {
		return err
	}
	if err := pagesOf(root, out); err != nil {
		return err
	}
	return bundle.Write(context.Background(), filepath.Join(out, "play"))
}

// pagesOf writes the pages of the documentation.
func pagesOf(root *cobra.Command, out string) error {
	s := site{root: filepath.Join("..", ".."), out: out}
	return s.write(map[string][]byte{kindsPage: kindsText(), manualPage: manualText(root)})
}

// anew makes a folder empty.
func anew(dir string) error {
	if err := os.RemoveAll(dir); err != nil {
		return fmt.Errorf("emptying %s: %w", dir, err)
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return fmt.Errorf("making %s: %w", dir, err)
	}
	return nil
}
