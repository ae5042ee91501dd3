package sweep

import "aqmlab/orchestrator"

// Status is how far a sweep is.
type Status struct {
	Name    string               `json:"name"`
	Lab     string               `json:"lab"`
	Runtime orchestrator.Runtime `json:"runtime"`
	Points  int                  `json:"points"` // different measurements
	Stored  int                  `json:"stored"`
	Failed  int                  `json:"failed"`
}

// List says of all sweeps how far they are, the latest last.
func (s Store) List() (all []Status, err error) {
	names, err := s.Sweeps()
	if err != nil {
		return nil, err
	}
	for _, name := range names {
		w, err := s.Sweep(name)
		if err != nil {
			return nil, err
		}
		status, err := s.Status(w)
		if err != nil {
			return nil, err
		}
		all = append(all, status)
	}
	return all, nil
}

// Status says how far a sweep is.
func (s Store) Status(w *Sweep) (Status, error) {
	failed, err := s.Failures(w)
	if err != nil {
		return Status{}, err
	}
	status := Status{Name: w.Name, Lab: w.Lab, Runtime: w.Runtime, Failed: len(failed)}
	for _, p := range w.Measurements() {
		status.Points++
		if s.Has(p.Key) {
			status.Stored++
		}
	}
	return status, nil
}
