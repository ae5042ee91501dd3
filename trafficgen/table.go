package trafficgen

import (
	"os"
	"path/filepath"

	"aqmlab/kind"
)

// Env is what an arrival process or a size distribution is built for. The zero
// value is ready to use.
type Env struct {
	Dir string // folder that relative file names start from; empty: the working directory
}

// open opens a file that a parameter names.
func (e Env) open(name string) (*os.File, error) {
	if !filepath.IsAbs(name) {
		name = filepath.Join(e.Dir, name)
	}
	return os.Open(name)
}

// Arrivals lists every arrival process.
func Arrivals() kind.Table[Env, Arrival] {
	return kind.Table[Env, Arrival]{
		kind.Row("poisson", "independent flows: exponential gaps whose mean gives the load", poisson{}, newPoisson),
		kind.Row("incast", "queries that many servers answer at the same time", incast{}, newIncast),
		kind.Row("static", "long flows with given times of start and stop, in groups", static{Count: []int{1}}, newStatic),
		kind.Row(replayed, "flows replayed from a CSV or Parquet file, such as the flows of a stored run", replay{}, newReplay),
		kind.Row("none", "no flows: of labs with programs or with background alone", none{}, newNone),
	}
}

// Sizes lists every size distribution.
func Sizes() kind.Table[Env, Distribution] {
	return kind.Table[Env, Distribution]{
		kind.Row("websearch", "a web search cluster (DCTCP, SIGCOMM 2010): mean 1.7 MB", struct{}{}, embedded("websearch")),
		kind.Row("datamining", "a data mining cluster (VL2, SIGCOMM 2009): mean 12.7 MB, half of the flows at most 1100 B", struct{}{}, embedded("datamining")),
		kind.Row("cache", "cache servers, as in the MQ-ECN and TCN simulations: mean 0.9 MB", struct{}{}, embedded("cache")),
		kind.Row("hadoop", "a Hadoop cluster, as in the MQ-ECN and TCN simulations: mean 4.1 MB", struct{}{}, embedded("hadoop")),
		kind.Row("websearch-ns2", "web search in whole packets, as in the MQ-ECN and TCN simulations: mean 1.7 MB", struct{}{}, embedded("websearch-ns2")),
		kind.Row("datamining-ns2", "data mining with the lighter tail of the MQ-ECN and TCN simulations: mean 7.5 MB", struct{}{}, embedded("datamining-ns2")),
		kind.Row("pareto", "a heavy tail: sizes above x are as frequent as x to the power of minus the shape", defaultPareto(), newPareto),
		kind.Row("fixed", "every flow has the same size", fixed{}, newFixed),
		kind.Row("uniform", "every whole number of bytes between two bounds is as likely", uniform{Min: 1}, newUniform),
		kind.Row("cdf", "a table of sizes and cumulative probabilities from a file, interpolated linearly", cdfFile{}, newCDFFile),
	}
}
