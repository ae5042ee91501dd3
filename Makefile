# The targets are the newcomer's guide: build, test, lint, and what each means.
GO      ?= go
# Pinned, so that a new release cannot fail an old commit.
STATICCHECK = honnef.co/go/tools/cmd/staticcheck@v0.7.0
FUZZTIME ?= 5s
FUZZ = ./switch/packet:FuzzParse ./labs:FuzzLoad ./units:FuzzFormat ./trafficgen:FuzzParseCDF ./trafficgen/live:FuzzParseHeader ./orchestrator/host:FuzzParse

.PHONY: build test lint unit race fuzz e2e bench golden generate

build: ## one static binary, ./aqmlab
	CGO_ENABLED=0 $(GO) build -o aqmlab .

test: lint unit race fuzz e2e ## everything, as CI runs it

lint: ## gofmt, go vet, staticcheck
	@test -z "$$(gofmt -l .)" || { echo "not gofmt-ed:"; gofmt -l .; exit 1; }
	$(GO) vet ./...
	$(GO) run $(STATICCHECK) ./...

unit: ## all packages but the end-to-end tests
	$(GO) test $$($(GO) list ./... | grep -v /e2e$$)

race: ## the same with the race detector
	$(GO) test -race $$($(GO) list ./... | grep -v /e2e$$)

fuzz: ## every fuzz target for FUZZTIME
	@for f in $(FUZZ); do \
		echo "fuzz $$f"; \
		$(GO) test -run '^$$' -fuzz "^$${f##*:}$$" -fuzztime $(FUZZTIME) $${f%%:*} || exit 1; \
	done

e2e: ## the command itself, on real hosts (needs root)
	$(GO) test -count=1 -timeout 15m ./e2e

bench: ## Go benchmarks of the packages; see also aqmlab bench
	$(GO) test -run '^$$' -bench . ./event ./switch/... ./results

golden: ## rewrite golden files after a change that is meant
	$(GO) test ./results -update

generate: ## the eBPF program (needs clang, llvm and libbpf's headers)
	$(GO) generate ./orchestrator/host/cc
