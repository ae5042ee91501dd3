package store

import "bytes"

// renamed has the keys of point.json that the first version, which noted no checksums, gave
// other names.
func renamed() map[string]string {
	return map[string]string{
		"DropsFull": "drops_full", "DropsScheme": "drops_scheme", "SentBytes": "sent_bytes", "PeakBytes": "peak_bytes",
		"CEReceived": "ce_received", "ECEReceived": "ece_received",
	}
}

// inTodaysWords renames the keys of a point.json of the first version.
func inTodaysWords(object []byte) []byte {
	for was, is := range renamed() {
		object = bytes.ReplaceAll(object, []byte(`"`+was+`":`), []byte(`"`+is+`":`))
	}
	return object
}
