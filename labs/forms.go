package labs

import (
	"encoding/json"
	"fmt"
	"maps"
	"path/filepath"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/distribution/reference"

	"aqmlab/kind"
	"aqmlab/labs/basertt"
	"aqmlab/labs/inventory"
	"aqmlab/labs/schema"
	"aqmlab/labs/topologies"
	"aqmlab/switch/port"
	"aqmlab/trafficgen"
	"aqmlab/trafficgen/parser"
	"aqmlab/trafficgen/traffic"
	"aqmlab/trafficgen/transport"
	"aqmlab/units"
)

// schemaOf is the schema of lab files whose schemes and schedulers are of those
// kinds.
func schemaOf(kinds port.Kinds) *schema.Schema {
	forms := map[string]schema.Form{
		"name":       schema.Name(),
		"image":      {Type: "image", Read: readImage},
		"seeds":      {Type: "list or range", Read: readSeeds, JSON: orText("^[0-9]+\\.\\.[0-9]+$")},
		"weights":    {Type: "number or list", Read: readWeights},
		"thresholds": {Type: "list of sizes", Read: readThresholds, JSON: orText("^" + noThresholds + "$")},
		"folder":     {Type: "path", Read: readFolder},
		"command":    {Type: "list of text", Read: readCommand, JSON: orWords},
		"text":       {Type: "text", Read: readText},
		"dilation":   {Type: "number", Read: readDilation, Write: writeDilation, JSON: orText("^" + auto + "$")},
		"placement":  {Type: "mapping", JSON: ofNames},
	}
	maps.Copy(forms, inventory.Forms())
	return schema.Of(reflect.TypeFor[Lab](), schema.Rules{
		File: schema.Content{What: "lab", Keys: "topology and schemes"},
		Names: map[string][]string{
			"topology": topologies.Table().Names(),
			"sharing":  port.Sharings().Names(),
			"pattern":  trafficgen.Patterns(),
			"rule":     trafficgen.ServiceRules(),
			"share":    trafficgen.Shares(),
			"sizes":    sizesWithoutParams(),
		},
		Forms: forms,
		Tables: map[string][]kind.Entry{
			"topologies":  topologies.Table().Entries(),
			"rtts":        basertt.Table().Entries(),
			"transports":  transport.Table().Entries(),
			"sharings":    port.Sharings().Entries(),
			"classifiers": port.Classifiers().Entries(),
			"schedulers":  kinds.Schedulers().Entries(),
			"schemes":     slices.Concat(kinds.Schemes().Entries(), port.Gates().Entries()),
			"gates":       port.Gates().Entries(),
			"arrivals":    trafficgen.Arrivals().Entries(),
			"sizes":       trafficgen.Sizes().Entries(),
			"metrics":     parser.Table().Entries(),
		},
	})
}

// JSONSchema is what editors need for completion in lab files, and for checks of
// all that concerns a single key or kind. A lab that extends another may lack what
// the other has.
func JSONSchema(kinds port.Kinds) ([]byte, error) {
	s := schemaOf(kinds).JSON()
	s["title"] = "aqmlab lab"
	required := func(keys ...string) map[string]any { return map[string]any{"required": keys} }
	hasRate := map[string]any{"type": "object", "anyOf": []any{required("rate"), required("file")}}
	whole := required("topology", "schemes")
	whole["properties"] = map[string]any{"topology": hasRate}
	s["anyOf"] = []any{required("extends"), whole}
	data, err := json.MarshalIndent(s, "", "  ")
	if err != nil {
		return nil, fmt.Errorf("writing the JSON Schema of labs: %w", err)
	}
	return append(data, '\n'), nil
}

// orText is the JSON Schema of plain values and of text that matches a pattern.
func orText(pattern string) func(map[string]any) map[string]any {
	return func(plain map[string]any) map[string]any {
		return map[string]any{"anyOf": []any{plain, map[string]any{"type": "string", "pattern": pattern}}}
	}
}

// orWords is the JSON Schema of plain values and of lists of text and whole numbers.
func orWords(plain map[string]any) map[string]any {
	words := map[string]any{"type": "array", "items": map[string]any{"type": []string{"string", "integer"}}}
	return map[string]any{"anyOf": []any{plain, words}}
}

// ofNames is the JSON Schema of mappings of names to names.
func ofNames(map[string]any) map[string]any {
	name := map[string]any{"type": "string", "minLength": 1}
	return map[string]any{"type": "object", "additionalProperties": name, "minProperties": 1}
}

// sizesWithoutParams lists the distributions of sizes that are all in their name.
func sizesWithoutParams() []string {
	var names []string
	for _, k := range trafficgen.Sizes() {
		if len(k.Params) == 0 {
			names = append(names, k.Name)
		}
	}
	return names
}

func readImage(raw, _ any, plain func() error) error {
	s, ok := kind.AsText(raw)
	if !ok {
		return fmt.Errorf("%s is not text: want an image such as debian:12", kind.Show(raw))
	}
	if _, err := reference.ParseNormalizedNamed(s); err != nil {
		return fmt.Errorf("%s is not an image, such as debian:12: %w", kind.Show(raw), err)
	}
	return plain()
}

// maxSeeds bounds a range of seeds, of which a slip of the finger makes a
// billion.
const maxSeeds = 10_000

// readSeeds reads a list of seeds or a range such as 1..3.
func readSeeds(raw, into any, plain func() error) error {
	s, _ := kind.AsText(raw)
	from, to, ok := strings.Cut(s, "..")
	if !ok {
		return plain()
	}
	low, errLow := strconv.ParseUint(from, 10, 63)
	high, errHigh := strconv.ParseUint(to, 10, 63)
	if errLow != nil || errHigh != nil || high < low || high-low >= maxSeeds {
		return fmt.Errorf("%q is not a range: want one such as 1..3, of at most %d seeds", s, maxSeeds)
	}
	var seeds []uint64
	for seed := low; seed <= high; seed++ {
		seeds = append(seeds, seed)
	}
	*into.(*[]uint64) = seeds
	return nil
}

// readWeights reads the number of services that share the load equally, of which
// a DSCP has room for 64, or a list with the weight of each.
func readWeights(raw, into any, plain func() error) error {
	if _, isList := raw.([]any); isList {
		return plain()
	}
	if s, ok := kind.AsText(raw); ok && strings.ContainsAny(s, ",[") {
		return plain()
	}
	var services int
	number := kind.Field{Param: kind.Param{Range: "1..64"}}
	if err := number.Decode(raw, reflect.ValueOf(&services).Elem()); err != nil {
		return err
	}
	*into.(*[]int) = slices.Repeat([]int{1}, services)
	return nil
}

// noThresholds stands for no priorities.
const noThresholds = "none"

// readThresholds reads a size or a list of rising sizes, or none.
func readThresholds(raw, into any, plain func() error) error {
	thresholds := into.(*[]units.Size)
	if s, ok := kind.AsText(raw); ok && s == noThresholds {
		*thresholds = nil
		return nil
	}
	if err := plain(); err != nil {
		return err
	}
	return traffic.Tagging{Thresholds: *thresholds}.Check(1)
}

// auto leaves the dilation to the runtime.
const auto = "auto"

func readDilation(raw, into any, plain func() error) error {
	if s, ok := kind.AsText(raw); ok && s == auto {
		*into.(*Dilation) = 0
		return nil
	}
	if err := plain(); err != nil {
		return fmt.Errorf("%w, or %s", err, auto)
	}
	return nil
}

func writeDilation(value any) any {
	if d := value.(Dilation); d != 0 {
		return float64(d)
	}
	return auto
}

// nameOf makes the name of a lab out of that of its file.
func nameOf(file string) string {
	base := strings.ToLower(filepath.Base(file))
	base = strings.TrimSuffix(base, filepath.Ext(base))
	name := strings.Trim(strings.Map(func(r rune) rune {
		if schema.IsName(string(r)) {
			return r
		}
		return '-'
	}, base), "-")
	if !schema.IsName(name) {
		return "lab"
	}
	return name
}

// readFolder reads the path of a folder, which must be absolute: labs are stored, and
// run again from elsewhere.
func readFolder(raw, into any, plain func() error) error {
	s, ok := kind.AsText(raw)
	if !ok || !filepath.IsAbs(s) {
		return fmt.Errorf("%s is not an absolute path, such as /srv/rootfs", kind.Show(raw))
	}
	return plain()
}
