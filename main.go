// Command aqmlab finds out which ECN/AQM scheme serves a datacenter best. See
// README.md, or run it with --help.
package main

import (
	"os"

	"aqmlab/cli"
)

func main() {
	os.Exit(cli.App{}.Main(os.Args[1:], cli.Streams{Out: os.Stdout, Err: os.Stderr}))
}
