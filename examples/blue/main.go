// Command blue is aqmlab with one more scheme: all commands of aqmlab, and labs
// that may say "aqm: blue".
package main

import (
	"os"

	"aqmlab/cli"
	"aqmlab/switch/aqm"
)

func main() {
	app := cli.App{Schemes: []aqm.Kind{row()}}
	os.Exit(app.Main(os.Args[1:], cli.Streams{Out: os.Stdout, Err: os.Stderr}))
}
