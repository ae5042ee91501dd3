package role

// background is what samples beside a replay, until it is ended.
type background[T any] struct {
	over    chan struct{} // closed to end it
	done    chan struct{} // closed when it has ended
	samples []T
	err     error
}

// inBackground runs something that ends when over does.
func inBackground[T any](run func(over <-chan struct{}) ([]T, error)) *background[T] {
	b := &background[T]{over: make(chan struct{}), done: make(chan struct{})}
	go func() {
		defer close(b.done)
		b.samples, b.err = run(b.over)
	}()
	return b
}

// end ends it, and returns what it sampled.
func (b *background[T]) end() ([]T, error) {
	close(b.over)
	<-b.done
	return b.samples, b.err
}
