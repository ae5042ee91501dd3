package results

// Class groups flows by size, as the papers do. KB and MB are decimal.
type Class string

// The size classes.
const (
	All    Class = "all"
	Small  Class = "small"  // (0, 100 KB]
	Medium Class = "medium" // (100 KB, 10 MB]
	Large  Class = "large"  // over 10 MB
)

// Queries is the class of queries in a comparison, whose times are query
// completion times. Flows have none of it.
const Queries Class = "queries"

// Upper bounds of the classes, in bytes, inclusive.
const (
	smallMax  = 100_000
	mediumMax = 10_000_000
)

// Classes lists the classes in the order in which they are shown.
func Classes() []Class { return []Class{All, Small, Medium, Large} }

// ClassOf is the class, other than All, of a flow of so many bytes.
func ClassOf(bytes int64) Class {
	switch {
	case bytes <= smallMax:
		return Small
	case bytes <= mediumMax:
		return Medium
	}
	return Large
}

// Holds tells whether a flow of so many bytes is in the class.
func (c Class) Holds(bytes int64) bool { return c == All || c == ClassOf(bytes) }
