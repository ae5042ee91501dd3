package sweep

// Saving is what a process holds while it stores a sweep.
func Saving(s Store) (end func(), err error) { return s.saving() }
