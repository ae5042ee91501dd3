package compare

import "aqmlab/results/store"

// RunComparison is the comparison of one run's schemes: what `compare --each
// --json` prints.
type RunComparison struct {
	Lab string `json:"lab"`
	Comparison
}

// Each compares the schemes of every run by itself: runs of different
// flows can stand side by side so, and nothing is compared between them. The
// baseline "" stands for each run's own.
func Each(runs []*store.Run, baseline string) ([]RunComparison, error) {
	all := []RunComparison{}
	for _, r := range runs {
		c, err := Runs([]*store.Run{r}, baseline)
		if err != nil {
			return nil, err
		}
		all = append(all, RunComparison{r.Manifest.Lab, c})
	}
	return all, nil
}
