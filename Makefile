# The targets are the newcomer's guide: build, test, lint, and what each means.
GO      ?= go
# Pinned, so that a new release cannot fail an old commit.
STATICCHECK = honnef.co/go/tools/cmd/staticcheck@v0.7.0
GOVULNCHECK = golang.org/x/vuln/cmd/govulncheck@v1.9.0
FUZZTIME ?= 5s
# What simulations spend their time on, by which the compiler inlines. Named for builds
# that last, and not where go run would take it, which is to be quick to compile.
PROFILE = orchestrator/bench/simulations.pgo
# Of a package: what takes a minute alone takes many where others use the CPUs.
TIMEOUT ?= 30m
UNITS = $(GO) list ./... | grep -vE '/(e2e|e2e/vm/vmtest|e2e/vm/kernelaqm|e2e/vm/labtest)$$'
# Packages that start no goroutine, which TestSerial checks: nothing in them can race.
SERIAL = bounded.*|collectors/meter|kind|labs.*|results|results/(coexist|compare|foreign|report.*|store)|sim|sim/(rdma|tcp)|site.*|switch/(aqm|event|fabric|packet|sched)|trafficgen|trafficgen/(parser|traffic|transport)|units
# What the race detector does not try: these, and long simulations, whose pool is
# orchestrator/sweep's. TestOnce checks that it leaves out no test of the other packages.
UNRACED = ^aqmlab(/($(SERIAL)|e2e/(pages|truth)|orchestrator/tune|reproduce.*))?$$
# Modules of their own, which use aqmlab from outside.
EXAMPLES = examples/blue site/docs release
# What there are programs for; packages and images are of those for Linux.
TARGETS ?= linux-amd64 linux-arm64 darwin-amd64 darwin-arm64 windows-amd64
FUZZ = ./switch/packet:FuzzParse ./bounded/parquetfile:FuzzOpen ./labs:FuzzLoad ./labs/inventory:FuzzParse ./labs/clab:FuzzParse ./labs/basertt:FuzzTable ./units:FuzzFormat ./units:FuzzClock ./trafficgen/parser:FuzzParsers ./trafficgen:FuzzParseCDF ./trafficgen:FuzzReadTrace ./trafficgen:FuzzReadParquet ./trafficgen/live:FuzzParseHeader ./sim/tcp:FuzzDelivery ./orchestrator/host:FuzzParse ./orchestrator/journal:FuzzDecode ./orchestrator/agent:FuzzMessages ./orchestrator/sweep/cluster:FuzzRecords ./results/foreign:FuzzForeign ./results/store:FuzzTable ./results/store:FuzzManifest

# go test, with a table of what was skipped and why, and a closing line of counts.
TALLY = $(GO) run ./e2e/tally

.PHONY: build test lint unit race fuzz examples supply duckdb kernel e2e test-vm bench golden generate mutation soak reproducible release profile

build: ## one static binary, ./aqmlab
	CGO_ENABLED=0 $(GO) build -pgo $(PROFILE) -buildvcs=auto -o aqmlab .

test: ## everything, as CI runs it, with what each part took
	@$(TALLY) -parts lint,unit,race,fuzz,examples,supply,duckdb,e2e,test-vm

lint: ## gofmt, go vet, staticcheck
	@test -z "$$(gofmt -l .)" || { echo "not gofmt-ed:"; gofmt -l .; exit 1; }
	$(GO) vet ./... && $(GO) vet -C e2e/quic ./...
	$(GO) run $(STATICCHECK) ./...

unit: ## packages that race leaves out, but those of e2e and test-vm
	@$(TALLY) -timeout $(TIMEOUT) $$($(UNITS) | grep -E '$(UNRACED)')

race: ## packages that start goroutines, with the race detector (needs gcc)
	@$(TALLY) -timeout $(TIMEOUT) -race $$($(UNITS) | grep -vE '$(UNRACED)')

fuzz: ## every fuzz target for FUZZTIME of a CPU
	@printf '%s\n' $(FUZZ) | GO=$(GO) xargs -P $$(nproc) -I TARGET e2e/scripts/fuzz TARGET $(FUZZTIME)

examples: ## the modules that add to aqmlab from outside
	@for e in $(EXAMPLES); do \
		echo "example $$e"; \
		$(GO) build -C $$e -o /dev/null . && $(GO) vet -C $$e ./... && \
		$(GO) run -C $$e $(STATICCHECK) ./... && $(TALLY) -C $$e ./... || exit 1; \
	done

supply: ## what the program is made of: modules as their checksums say, licenses, known vulnerabilities (needs their database)
	$(GO) mod verify
	@dir=$$(mktemp -d); trap 'rm -rf '$$dir EXIT; \
	$(GO) vet -C e2e/supply ./... && $(GO) run -C e2e/supply $(STATICCHECK) ./... && $(GO) build -o $$dir/aqmlab . && $(GO) run -C e2e/supply . -bom $$dir/bom.json $$dir/aqmlab && \
	if ! $(GO) run $(GOVULNCHECK) -mode binary $$dir/aqmlab >$$dir/log 2>&1; then \
		grep -q 'fetching vulnerabilities' $$dir/log || { cat $$dir/log; exit 1; }; \
		echo 'vulnerabilities were not looked up: their database cannot be reached'; \
	fi

duckdb: ## other programs read the results: DuckDB, in a module of its own (needs g++), and through it pandas and R
	@if command -v g++ >/dev/null; then \
		$(GO) vet -C e2e/duckdb ./... && $(GO) run -C e2e/duckdb $(STATICCHECK) ./... && $(TALLY) -C e2e/duckdb -count=1 -timeout $(TIMEOUT) ./...; \
	else \
		$(TALLY) -skip 'DuckDB is linked with g++, which is not installed'; \
	fi

kernel: build ## the guest kernel of --runtime uml, unless there is one; says what to install where it cannot
	@flock Makefile sh -c './aqmlab kernel path >/dev/null 2>&1 || ./aqmlab kernel build || test $$? -eq 2'

e2e: kernel ## the command itself, on real hosts (needs root) and in guests
	@$(TALLY) -count=1 -timeout $(TIMEOUT) ./e2e

test-vm: ## beside Debian's kernel, in QEMU; says what to install where it cannot
	@$(TALLY) -count=1 -timeout $(TIMEOUT) -v ./e2e/vm/vmtest ./e2e/vm/kernelaqm ./e2e/vm/labtest

bench: ## Go benchmarks of the packages; see also aqmlab bench
	$(GO) test -run '^$$' -bench . ./switch/event ./switch/... ./results/...

profile: ## what simulations spend their time on, for the compiler (minutes, on a quiet machine)
	cd orchestrator/bench && $(GO) test . -trimpath -run '^$$' -bench Simulation -benchtime 3x -cpuprofile simulations.pgo -o /dev/null

golden: ## rewrite golden files, and what the documentation shows of simulations, after a change that is meant (minutes)
	$(GO) test ./results/report -update
	$(GO) test ./labs -run TestManual -update
	$(GO) test ./e2e/pages -run TestPages -count 1 -timeout $(TIMEOUT) -update

generate: ## the eBPF programs (needs clang, llvm and libbpf's headers)
	$(GO) generate ./orchestrator/host/cc ./orchestrator/netns ./e2e/vm/kernelaqm

mutation: ## small changes of the source that no test notices (hours of CPU time; not part of make test)
	nice -n 15 $(GO) run ./e2e/mutation ./switch/... ./results/compare ./labs/...

soak: ## 500 labs up and down, 100 in containers, an hour of runs: nothing grows, nothing is left (needs root; not part of make test)
	@e2e/scripts/soak

reproducible: ## two releases made in two places, the second with nothing cached, are the same bytes (TARGETS="linux-amd64" for one system alone)
	@dir=$$(mktemp -d); trap 'rm -rf '$$dir EXIT; \
	git clone -q . $$dir/1 && git clone -q . $$dir/2/another/place && \
	$(MAKE) --no-print-directory -C $$dir/1 release >$$dir/log && \
	GOCACHE=$$dir/cache $(MAKE) --no-print-directory -C $$dir/2/another/place release >>$$dir/log || { cat $$dir/log; exit 1; }; \
	diff -r $$dir/1/dist $$dir/2/another/place/dist && cat $$dir/1/dist/SHA256SUMS

release: ## what is published, in dist/: static binaries, packages, images, a guest kernel, what they are made of, checksums; the same sources and Go release give the same bytes
	@rm -rf dist && mkdir dist
	@for target in $(TARGETS); do \
		os=$${target%-*}; end=; [ $$os != windows ] || end=.exe; \
		CGO_ENABLED=0 GOOS=$$os GOARCH=$${target#*-} $(GO) build -buildvcs=auto -pgo $(PROFILE) -trimpath -ldflags '-s -w' -o "dist/aqmlab-$$target$$end" . || exit 1; \
	done
	@$(GO) run -C e2e/supply . -bom $(CURDIR)/dist/aqmlab.cdx.json -notices $(CURDIR)/dist/NOTICES.txt $(CURDIR)/dist/aqmlab-$(firstword $(TARGETS)) >dist/LICENSES.txt
	@$(GO) run -C site/docs . -manual $(CURDIR)/dist/manual
	@$(GO) run -C release . -dist $(CURDIR)/dist >/dev/null && rm -r dist/manual
	@dist/aqmlab-$$($(GO) env GOOS)-$$($(GO) env GOARCH) kernel pack --out dist >/dev/null || echo 'so the release has no guest kernel'
	@sums=$$(cd dist && sha256sum *) && echo "$$sums" | tee dist/SHA256SUMS

foreign: ## go vet of the program and its tests as macOS and Windows have them
	@for os in darwin windows; do \
		CGO_ENABLED=0 GOOS=$$os $(GO) vet $$(CGO_ENABLED=0 GOOS=$$os $(GO) list -deps . | grep ^aqmlab) || exit 1; \
	done

.PHONY: site manual foreign

site: ## the documentation and the simulator in a page, in dist/site: static, to be put on any web server
	@$(GO) run -C site/docs . -out $(CURDIR)/dist/site
	@echo 'dist/site is ready; the simulator has' $$(wc -c <dist/site/play/play.wasm.gz) 'bytes'

manual: ## man pages and completions of shells, in dist/manual
	@$(GO) run -C site/docs . -manual $(CURDIR)/dist/manual
