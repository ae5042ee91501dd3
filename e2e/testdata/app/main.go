// Command app is somebody's own application, for the end-to-end tests: it
// serves its host's name, or asks a host for it.
package main

import (
	"fmt"
	"io"
	"log"
	"net"
	"os"
)

const port = ":7000"

func main() {
	log.SetFlags(0)
	if len(os.Args) < 2 {
		serve()
	}
	ask(os.Args[1])
}

func serve() {
	name, err := os.Hostname()
	if err != nil {
		log.Fatal(err)
	}
	l, err := net.Listen("tcp", port)
	if err != nil {
		log.Fatal(err)
	}
	for {
		c, err := l.Accept()
		if err != nil {
			log.Fatal(err)
		}
		fmt.Fprintln(c, "this is", name)
		c.Close()
	}
}

func ask(host string) {
	c, err := net.Dial("tcp", host+port)
	if err != nil {
		log.Fatal(err)
	}
	defer c.Close()
	if _, err := io.Copy(os.Stdout, c); err != nil {
		log.Fatal(err)
	}
}
