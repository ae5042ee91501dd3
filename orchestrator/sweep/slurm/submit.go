package slurm

import (
	"context"
	"fmt"
	"math"
	"regexp"
	"strconv"
	"strings"
	"time"

	"aqmlab/orchestrator/sweep/cluster"
)

// Script is the job array as sbatch reads it. It has all that was asked for, so that it
// can be read, and submitted by hand. A task that Slurm puts back into the queue after
// its node failed writes on at the end of its log.
func (c Cluster) Script(a cluster.Array) (string, error) {
	if strings.ContainsAny(a.Folder+a.Log, "\"\\%\n") { // which its comments cannot say
		return "", fmt.Errorf("the folder %s: Slurm cannot write into a folder with a quote, a backslash or a per cent sign in its name", a.Folder)
	}
	options := []string{
		"--job-name=" + a.Name,
		fmt.Sprintf("--array=0-%d", a.Tasks-1),
		fmt.Sprintf("--cpus-per-task=%d", a.CPUs),
		fmt.Sprintf("--time=%d", int(math.Ceil(time.Duration(c.Time).Minutes()))),
		`--chdir="` + a.Folder + `"`,
		`--output="` + a.Log + `%a.log"`,
		"--open-mode=append",
		"--requeue",
	}
	if c.Account != "" {
		options = append(options, "--account="+c.Account)
	}
	if c.Partition != "" {
		options = append(options, "--partition="+c.Partition)
	}
	if c.Memory > 0 {
		options = append(options, fmt.Sprintf("--mem=%dK", (c.Memory+1023)/1024))
	}
	var script strings.Builder
	script.WriteString("#!/bin/sh\n")
	for _, o := range append(options, c.Option...) {
		script.WriteString("#SBATCH " + o + "\n")
	}
	words := make([]string, len(a.Command))
	for i, word := range a.Command {
		before, after, number := strings.Cut(word, cluster.Number)
		words[i] = quote(before)
		if number {
			words[i] += `"$SLURM_ARRAY_TASK_ID"` + quote(after)
		}
	}
	fmt.Fprintf(&script, "# %s\nexec %s\n", a.Comment, strings.Join(words, " "))
	return script.String(), nil
}

// quote is text as a shell reads it back.
func quote(text string) string {
	if regexp.MustCompile(`^[A-Za-z0-9_./=:-]*$`).MatchString(text) {
		return text
	}
	return "'" + strings.ReplaceAll(text, "'", `'\''`) + "'"
}

// Submit submits a script, and returns the number of the job.
func (Cluster) Submit(ctx context.Context, script string) (string, error) {
	out, err := run(ctx, "sbatch", "--parsable", script)
	if err == nil {
		out, err = jobNumber(out)
	}
	if err != nil {
		return "", fmt.Errorf("submitting jobs: %w", err)
	}
	return out, nil
}

// jobNumber reads what sbatch --parsable prints: a number, and the name of the cluster
// where there are several.
func jobNumber(out string) (string, error) {
	id, _, _ := strings.Cut(strings.TrimSpace(out), ";")
	if _, err := strconv.ParseUint(id, 10, 64); err != nil {
		return "", fmt.Errorf("sbatch printed %q, which is no number of a job", out)
	}
	return id, nil
}
