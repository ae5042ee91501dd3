// Package browsertest has tests look at pages in Chromium.
package browsertest

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"
)

// Met is what a tab has met so far.
type Met struct {
	mu       sync.Mutex
	errors   []string
	requests []string
}

func (w *Met) note(list *[]string, text string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	*list = append(*list, text)
}

// All returns the errors and the addresses that were asked for.
func (w *Met) All() (errors, requests []string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return slices.Clone(w.errors), slices.Clone(w.requests)
}

// Expected takes the errors that have a text from those that fail the test. It returns how
// many they were.
func (w *Met) Expected(text string) int {
	w.mu.Lock()
	defer w.mu.Unlock()
	all := len(w.errors)
	w.errors = slices.DeleteFunc(w.errors, func(e string) bool { return strings.Contains(e, text) })
	return all - len(w.errors)
}

func (w *Met) event(ev any) {
	switch e := ev.(type) {
	case *runtime.EventExceptionThrown:
		w.note(&w.errors, fmt.Sprintf("%s %s:%d", e.ExceptionDetails.Text, e.ExceptionDetails.URL, e.ExceptionDetails.LineNumber))
	case *runtime.EventConsoleAPICalled:
		w.note(&w.errors, fmt.Sprintf("console.%s: %v", e.Type, e.Args))
	case *log.EventEntryAdded:
		w.note(&w.errors, fmt.Sprintf("%s: %s %s", e.Entry.Level, e.Entry.Text, e.Entry.URL))
	case *network.EventRequestWillBeSent:
		w.note(&w.requests, e.Request.URL)
	}
}

// limit is how long a tab may be needed for. A slow machine compiles WebAssembly in it.
const limit = 5 * time.Minute

// Open opens a tab of Chromium with an empty profile, which ends with the
// test. It fails the test on any error that a page meets.
func Open(t *testing.T) (context.Context, *Met) {
	t.Helper()
	path, err := exec.LookPath("chromium")
	if err != nil {
		t.Skip("no chromium on this machine: Debian has it in the package chromium")
	}
	profile, err := os.MkdirTemp("", "aqmlab-chromium-")
	if err != nil {
		t.Fatal(err)
	}
	options := []chromedp.ExecAllocatorOption{chromedp.ExecPath(path), chromedp.UserDataDir(profile), chromedp.WindowSize(1200, 1700)}
	for _, flag := range []string{
		"headless", "no-sandbox", "disable-gpu", "disable-quic", "no-first-run", "no-default-browser-check",
		"disable-background-networking", "disable-component-update", "disable-sync", "hide-scrollbars",
	} {
		options = append(options, chromedp.Flag(flag, true))
	}
	ctx, cancel := context.WithTimeout(context.Background(), limit) // the test's own ends before it can be closed
	ctx, kill := chromedp.NewExecAllocator(ctx, options...)
	ctx, end := chromedp.NewContext(ctx)
	w := &Met{}
	t.Cleanup(func() {
		if errors, _ := w.All(); len(errors) > 0 {
			t.Errorf("the browser met errors: %q", errors)
		}
		if err := chromedp.Cancel(ctx); err != nil {
			t.Errorf("closing the browser: %v", err)
		}
		end()
		kill()
		cancel()
		if err := os.RemoveAll(profile); err != nil {
			t.Error(err)
		}
	})
	if err := chromedp.Listen(ctx, w.event); err != nil {
		t.Fatal(err)
	}
	return ctx, w
}

// Do runs actions in the browser.
func Do(ctx context.Context, t *testing.T, actions ...chromedp.Action[chromedp.Void]) {
	t.Helper()
	if err := chromedp.Do(ctx, actions...); err != nil {
		t.Fatal(err)
	}
}

// Until waits until a JavaScript expression is true, also if the page goes elsewhere
// meanwhile.
func Until(expression string) chromedp.Action[chromedp.Void] {
	gone := func(err error) bool {
		return err != nil && (strings.Contains(err.Error(), "Cannot find context") || strings.Contains(err.Error(), "Inspected target navigated"))
	}
	return func(ctx context.Context, target *chromedp.Target) (chromedp.Void, error) {
		_, err := chromedp.Poll[bool](expression)(ctx, target)
		for ctx.Err() == nil && gone(err) {
			_, err = chromedp.Poll[bool](expression)(ctx, target)
		}
		if err != nil {
			err = fmt.Errorf("waiting for %s: %w", expression, err)
		}
		return chromedp.Void{}, err
	}
}

// Call is a command of the protocol whose answer does not matter.
func Call[P any](command cdp.Command[P, cdp.Empty], params P) chromedp.Action[chromedp.Void] {
	return chromedp.Func(func(ctx context.Context, target *chromedp.Target) error {
		_, err := cdp.Call(ctx, target, command, params)
		return err
	})
}

// Value is what a JavaScript expression yields, or the promise that it does.
func Value[T any](ctx context.Context, t *testing.T, expression string) T {
	t.Helper()
	v, err := chromedp.Run(ctx, chromedp.Evaluate[T](expression, chromedp.EvalAwaitPromise))
	if err != nil {
		t.Fatal(err)
	}
	return v
}
