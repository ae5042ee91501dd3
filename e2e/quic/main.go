// Command quic is a server and a client of QUIC, for a test of programs that bring a
// transport of their own:
//
//	quic serve ADDRESS              answers each stream with as many bytes as it asks for
//	quic ask ADDRESS BYTES COUNT    asks so often, one after the other, and prints how
//	                                long each answer took, as a figure
package main

import (
	"context"
	"crypto/ed25519"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"io"
	"math/big"
	"os"
	"strconv"
	"time"

	"github.com/quic-go/quic-go"
)

func main() {
	if err := run(context.Background(), os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "quic:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, args []string) error {
	switch {
	case len(args) == 2 && args[0] == "serve":
		return serve(ctx, args[1])
	case len(args) == 4 && args[0] == "ask":
		size, serr := strconv.ParseUint(args[2], 10, 32)
		count, cerr := strconv.ParseUint(args[3], 10, 32)
		if serr == nil && cerr == nil {
			return ask(ctx, args[1], size, count)
		}
	}
	return fmt.Errorf("want serve ADDRESS, or ask ADDRESS BYTES COUNT")
}

const protocol = "answers"

func serve(ctx context.Context, address string) error {
	public, private, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		return err
	}
	own := &x509.Certificate{SerialNumber: big.NewInt(1)}
	certificate, err := x509.CreateCertificate(rand.Reader, own, own, public, private)
	if err != nil {
		return err
	}
	listener, err := quic.ListenAddr(address, &tls.Config{
		Certificates: []tls.Certificate{{Certificate: [][]byte{certificate}, PrivateKey: private}},
		NextProtos:   []string{protocol},
	}, nil)
	if err != nil {
		return err
	}
	for {
		c, err := listener.Accept(ctx)
		if err != nil {
			return err
		}
		go func() {
			for {
				stream, err := c.AcceptStream(ctx)
				if err != nil {
					return // the client has ended
				}
				go answer(stream)
			}
		}()
	}
}

func answer(stream *quic.Stream) {
	defer stream.Close()
	var size uint64
	if binary.Read(stream, binary.BigEndian, &size) != nil {
		return
	}
	_, _ = io.CopyN(stream, zeros{}, int64(size))
}

type zeros struct{}

func (zeros) Read(b []byte) (int, error) { clear(b); return len(b), nil }

func ask(ctx context.Context, address string, size, count uint64) error {
	// The server's certificate is its own: the lab's hosts are nobody else's.
	c, err := quic.DialAddr(ctx, address, &tls.Config{InsecureSkipVerify: true, NextProtos: []string{protocol}}, nil)
	if err != nil {
		return err
	}
	defer c.CloseWithError(0, "")
	out := json.NewEncoder(os.Stdout)
	for range count {
		begun := time.Now()
		stream, err := c.OpenStreamSync(ctx)
		if err != nil {
			return err
		}
		if err := binary.Write(stream, binary.BigEndian, size); err != nil {
			return err
		}
		if err := stream.Close(); err != nil {
			return err
		}
		got, err := io.Copy(io.Discard, stream)
		if err != nil {
			return err
		}
		if uint64(got) != size {
			return fmt.Errorf("%d bytes came, want %d", got, size)
		}
		took := float64(time.Since(begun).Nanoseconds()) / 1e3
		if err := out.Encode(map[string]any{"metric": "answer", "value": took, "unit": "us"}); err != nil {
			return err
		}
	}
	return nil
}
