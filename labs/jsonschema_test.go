package labs_test

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"go.yaml.in/yaml/v3"

	"aqmlab/labs"
	"aqmlab/switch/port"
)

// editor checks lab files as an editor with the JSON Schema does.
type editor struct{ *jsonschema.Schema }

func newEditor(t *testing.T, kinds port.Kinds) editor {
	t.Helper()
	data, err := labs.JSONSchema(kinds)
	if err != nil {
		t.Fatal(err)
	}
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(data))
	if err != nil {
		t.Fatal(err)
	}
	c := jsonschema.NewCompiler()
	c.DefaultDraft(jsonschema.Draft2020)
	if err := c.AddResource("lab.json", doc); err != nil {
		t.Fatal(err)
	}
	s, err := c.Compile("lab.json") // and checks it against the meta-schema
	if err != nil {
		t.Fatal(err)
	}
	return editor{s}
}

// check is what the editor underlines; nil also for what is not YAML, about which
// a schema has no say.
func (e editor) check(file []byte) error {
	var v any
	if yaml.Unmarshal(file, &v) != nil {
		return nil
	}
	asJSON, err := json.Marshal(v)
	if err != nil {
		return nil // a number that JSON does not have
	}
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(asJSON))
	if err != nil {
		return err
	}
	return e.Validate(doc)
}

// TestSchemaOfBook: the editor has nothing against any lab of the book, as it is
// written and as it is shown; of a part of labs it misses what the part lacks.
func TestSchemaOfBook(t *testing.T) {
	e := newEditor(t, port.Kinds{})
	entries, err := labs.Book()
	if err != nil {
		t.Fatal(err)
	}
	for _, entry := range entries {
		name := entry.Name
		l, err := labs.FromBook(name, port.Kinds{})
		if err != nil {
			t.Fatal(err)
		}
		shown, err := l.YAML()
		if err != nil {
			t.Fatal(err)
		}
		written, err := os.ReadFile(filepath.FromSlash(name + ".yaml"))
		if err != nil {
			t.Fatal(err)
		}
		for how, file := range map[string][]byte{"written": written, "shown": shown} {
			if err := e.check(file); err != nil {
				t.Errorf("%s, as %s: %v", name, how, err)
			}
		}
	}
	parts, err := filepath.Glob("*/parts/*.yaml")
	if err != nil || len(parts) == 0 {
		t.Fatalf("%d parts, %v", len(parts), err)
	}
	for _, part := range parts {
		file, err := os.ReadFile(part)
		if err != nil {
			t.Fatal(err)
		}
		if err := e.check(file); err != nil && !strings.Contains(err.Error(), "missing propert") {
			t.Errorf("%s: %v", part, err)
		}
	}
}

// unseen lists the bad labs whose mistake no schema of a file sees, by the reason.
func unseen() map[string][]string {
	return map[string][]string{
		"it is no YAML, or has no like in JSON": {
			"not YAML", "not YAML below", "bad indent", "two documents", "twice", "key is a list", "alias", "merge key", "fraction not a number",
		},
		"quantities are text there, and so are ranges": {"rate zero", "rto negative", "rtt negative", "seed range", "seed range long"},
		"it is about several keys": {
			"buffer below a packet", "pool below a packet", "bucket below a frame", "quantum below a packet", "inner quantum",
			"size of other sharing", "alpha of other sharing", "pool without a size", "static without a size",
			"fifo of many queues", "weights", "inner parameter", "inner without kind", "inner of another kind", "too many services",
			"fraction of nothing", "rtt two values", "scheme needs an RTT", "baseline", "same name",
		},
	}
}

// TestSchemaOfBadFiles: the editor sees the mistake of every bad lab, but for those
// that are told to be beyond a schema.
func TestSchemaOfBadFiles(t *testing.T) {
	e := newEditor(t, port.Kinds{})
	beyond := map[string]bool{}
	for _, names := range unseen() {
		for _, name := range names {
			beyond[name] = true
		}
	}
	files := badFiles()
	for name, bad := range files {
		if seen := e.check([]byte(bad.file)) != nil; seen == beyond[name] {
			t.Errorf("%s: seen: %v, though said to be beyond a schema: %v", name, seen, beyond[name])
		}
	}
	for name := range beyond {
		if _, ok := files[name]; !ok {
			t.Errorf("there is no bad lab %q", name)
		}
	}
}
