package results

import (
	"errors"
	"fmt"
	"strconv"
)

// Schema is the version of the form in which results are stored: manifests, tables, and
// sweeps. It grows when an older program would take something for what it is not. What
// is only added, such as a column, a key or a file, leaves it as it is. Zero is the form of
// the versions that noted none.
const Schema = 1

// SchemaKey is where the metadata of a Parquet file has its schema.
const SchemaKey = "aqmlab.schema"

// ErrNewer is wrapped by errors about results that a newer program stored.
var ErrNewer = errors.New("a newer aqmlab stored it")

// CheckSchema refuses results of a later schema than this program's.
func CheckSchema(schema int) error {
	if schema <= Schema {
		return nil
	}
	version, _ := ThisBuild()
	return fmt.Errorf("%w: it has schema %d, and this version, %s, reads schemas up to %d; read it with an aqmlab that is at least as new", ErrNewer, schema, version, Schema)
}

// CheckTable is [CheckSchema] for a Parquet file, by a lookup in its metadata. One without
// a schema is of an older version, or of another program.
func CheckTable(lookup func(key string) (value string, ok bool)) error {
	text, ok := lookup(SchemaKey)
	if !ok {
		return nil
	}
	schema, err := strconv.Atoi(text)
	if err != nil || schema < 0 {
		return fmt.Errorf("its %s is %q: want a number", SchemaKey, text)
	}
	return CheckSchema(schema)
}
