package labs

import (
	"fmt"

	"go.yaml.in/yaml/v3"

	"aqmlab/kind"
	"aqmlab/trafficgen"
)

// Background is traffic beside the workload, under a name. Its connections,
// handshake and PIAS are those of the workload, and not set.
type Background struct {
	Name string
	Workload
}

// backgroundKey is the list of background in a file. In the environment and in
// --set the names are the keys below it.
const backgroundKey = "background"

func backgroundPath(name string) string { return backgroundKey + "." + name }

// isList tells whether a key of a file holds a list of things with names.
func isList(path string) bool { return path == schemesKey || path == backgroundKey }

// backgroundDefaults has no load: it is that of the workload.
func backgroundDefaults(name string) Background {
	b := Background{Name: name, Workload: workloadDefaults()}
	b.Load, b.Connections, b.Handshake = nil, 0, false
	return b
}

// keys lists the keys of a background below a path.
func (b *Background) keys(path string) []key {
	return trafficKeys(path, &b.Workload, oneLoad(&b.Load))
}

// trafficChoices lists the choices that the workload and each background have.
func trafficChoices(path string) []choice {
	return []choice{
		{join(path, "arrival"), "kind", params(trafficgen.Arrivals())},
		{join(path, "sizes"), "kind", params(trafficgen.Sizes())},
	}
}

// addBackground adds the keys and choices of a background of the lab.
func (f *form) addBackground(name string) {
	b := backgroundDefaults(name)
	for _, k := range b.keys(backgroundPath(name)) {
		f.leaves = append(f.leaves, k.path)
	}
	f.choices = append(f.choices, trafficChoices(backgroundPath(name))...)
}

// backgroundList takes the list of background apart by the names.
func (d *document) backgroundList(list *yaml.Node) {
	const example = "{name: queries, arrival: {kind: incast, fan_out: 100}}"
	if list.Kind != yaml.SequenceNode || len(list.Content) == 0 {
		d.fail(list.Line, backgroundKey, "not a list of workloads: want at least one %s", example)
		return
	}
	for i, item := range list.Content {
		path := fmt.Sprintf("%s[%d]", backgroundKey, i)
		if item.Kind != yaml.MappingNode {
			d.fail(item.Line, path, "not a workload: want one such as %s", example)
			continue
		}
		name, ok := d.entryName(item, path, backgroundPath)
		if !ok {
			continue
		}
		d.backgrounds = append(d.backgrounds, name)
		d.lines[backgroundPath(name)] = item.Line
		d.form.addBackground(name)
		d.mapping(withoutName(item), backgroundPath(name))
	}
}

// withoutName is a mapping without its first key "name".
func withoutName(item *yaml.Node) *yaml.Node {
	rest := *item
	rest.Content = nil
	found := false
	for name, value := range pairs(item) {
		if !found && name.Value == "name" {
			found = true
			continue
		}
		rest.Content = append(rest.Content, name, value)
	}
	return &rest
}

// background reads a background.
func (r *reader) background(name string) Background {
	b, path := backgroundDefaults(name), backgroundPath(name)
	for _, k := range b.keys(path) {
		r.read(k)
	}
	b.Arrival = r.choice(r.form.choice(join(path, "arrival")), b.Arrival)
	b.Sizes = r.choice(r.form.choice(join(path, "sizes")), b.Sizes)
	return b
}

// unknownBackground is the error for a name that no background has.
func (ls *layers) unknownBackground(name string) error {
	if len(ls.backgrounds) == 0 {
		return fmt.Errorf("%w background %q: the lab has none", kind.ErrUnknown, name)
	}
	return kind.Unknown("background", name, ls.backgrounds)
}

// putBackground writes the list of background.
func (l *Lab) putBackground(root *yaml.Node) error {
	if len(l.Background) == 0 {
		return nil
	}
	list := child(root, backgroundKey, yaml.SequenceNode)
	for _, b := range l.Background {
		entry := &yaml.Node{Kind: yaml.MappingNode, Style: yaml.FlowStyle}
		list.Content = append(list.Content, entry)
		if err := put(entry, "name", b.Name); err != nil {
			return err
		}
		for _, k := range b.keys("") {
			if err := put(entry, k.path, k.write()); err != nil {
				return err
			}
		}
		for _, c := range trafficChoices("") {
			ch := b.Arrival
			if c.path == "sizes" {
				ch = b.Sizes
			}
			if err := putChoice(entry, c, ch); err != nil {
				return err
			}
		}
	}
	return nil
}
