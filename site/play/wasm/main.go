//go:build js && wasm

// Command wasm is the simulator for a web page: functions of a global object aqmlab, which
// take and answer JSON. A worker of the page calls them.
package main

import (
	"encoding/json"
	"syscall/js"
	"time"

	"aqmlab/site/play"
)

// slice is how long a call of advance runs, in wall time.
const slice = 80 * time.Millisecond

func main() {
	m := &machine{}
	js.Global().Set("aqmlab", map[string]any{
		"book":    js.FuncOf(func(js.Value, []js.Value) any { return answer(play.TheBook()) }),
		"open":    js.FuncOf(func(_ js.Value, args []js.Value) any { return answer(m.open(args[0].String())) }),
		"advance": js.FuncOf(func(js.Value, []js.Value) any { return answer(m.advance()) }),
		"result":  js.FuncOf(func(js.Value, []js.Value) any { return answer(m.session.Result()) }),
	})
	select {}
}

// answer is what a function found, or its error.
func answer[T any](v T, err error) any {
	var text []byte
	if err == nil {
		text, err = json.Marshal(v)
	}
	if err != nil {
		text, _ = json.Marshal(map[string]string{"error": err.Error()}) // text can always be encoded
	}
	return string(text)
}

// machine has the session that the page looks at.
type machine struct{ session *play.Session }

func (m *machine) open(text string) (file string, err error) {
	var ask play.Ask
	if err := json.Unmarshal([]byte(text), &ask); err != nil {
		return "", err
	}
	next, err := play.Open(ask)
	if err != nil {
		return "", err
	}
	if m.session != nil {
		m.session.Close()
	}
	m.session = next
	return next.File()
}

// advance runs for a while, and answers what there is to draw.
func (m *machine) advance() (play.Frame, error) {
	for end := time.Now().Add(slice); time.Now().Before(end); {
		more, err := m.session.Step()
		if err != nil {
			return play.Frame{}, err
		}
		if !more {
			break
		}
	}
	return m.session.Frame(), nil
}
