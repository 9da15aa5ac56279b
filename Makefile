# Most targets need only Go, make and git.
GO ?= go

# The program is one static file. Tests are built in the same way, so that Kubernetes is compiled once.
export CGO_ENABLED = 0

# Tests are linked without debug information, which halves the time. lint runs go vet's analyzers.
TESTFLAGS := -vet=off -ldflags='-s -w'
TEST := $(GO) test $(TESTFLAGS)
ALL := PREADMIT_TEST_ALL=1 $(TEST) -timeout 30m

.PHONY: build test test-all test-long test-e2e browser sshd lint sarif bench provenance fmt tidy update compare conformance-live conformance-e2e programs action-test service-test image

build: ## the programs, as bin/preadmit and bin/preadmit-sandbox
	$(GO) build -o bin/ ./cmd/preadmit ./cmd/preadmit-sandbox

# Packages that wait, for git, NATS or a clock, and those that take longest come first, so that the cores
# are not idle at the end.
PACKAGES := ./scanner ./scanner/policy ./webhooks/... ./...

# One more process than cores, since some wait.
test: ## what a change needs, in four minutes
	$(TEST) -p $$(($$(nproc) + 1)) -timeout 10m $(PACKAGES)

test-all: test-long test-e2e ## all tests but those of the Action and of the service, which have targets of their own

test-long: sshd ## the long tests of the packages too
	$(ALL) $(PACKAGES)

test-e2e: browser ## the tests of the modules below e2e
	cd e2e && $(ALL) . ./browser ./compare ./live ./replay ./updates
	cd e2e/chart && $(ALL) ./...
	cd e2e/release && $(ALL) ./...
	cd e2e/sandbox && $(ALL) .

# What the tests in a browser need: Chromium, preferably headless, which needs a third of the processor
# time. Without Chromium these tests are skipped; without axe-core they run only their own checks.
AXE := axe-core@4.14.1

browser: ## Chromium and axe-core for the tests of HTML reports, where they can be had
	@mkdir -p bin/e2e
	@if ! command -v chromium-headless-shell > /dev/null && [ "$$(id -u)" = 0 ] && command -v apt-get > /dev/null; then \
		apt-get update -q && for package in chromium-headless-shell chromium; do \
			apt-get install -q -y --no-install-recommends $$package fonts-dejavu-core && break; \
		done || true; \
	fi
	@if [ ! -f bin/e2e/axe.min.js ] && command -v npm > /dev/null; then \
		(cd bin/e2e && npm pack --silent $(AXE) && tar -xzOf axe-core-*.tgz package/axe.min.js > axe.min.js.new \
			&& mv axe.min.js.new axe.min.js; rm -f axe-core-*.tgz) || true; \
	fi

sshd: | browser ## OpenSSH's server for a test of fetching, where it can be had; apt installs one after the other
	@if [ ! -x /usr/sbin/sshd ] && [ "$$(id -u)" = 0 ] && command -v apt-get > /dev/null; then \
		apt-get update -q && apt-get install -q -y --no-install-recommends openssh-server || true; \
	fi

# The linter caches facts about Kubernetes by the ID of its own build. With these flags, the build does not
# depend on the directory of the repository.
lint: ## what CI asks of the sources: gofmt, go vet's analyzers, staticcheck
	@unformatted="$$(gofmt -l $$(git ls-files '*.go'))"; \
	if [ -n "$$unformatted" ]; then echo "gofmt these:"; echo "$$unformatted"; exit 1; fi
	cd .ci/lint && $(GO) build -trimpath -buildvcs=false -o ../../bin/lint .
	bin/lint ./...
	cd .ci/lint && ../../bin/lint ./...
	cd e2e && ../bin/lint ./...
	cd e2e/chart && ../../bin/lint ./...
	cd e2e/release && ../../bin/lint ./...
	cd e2e/sandbox && ../../bin/lint .

MULTITOOL ?= 5.7.0

sarif: bin/sarif-multitool/package/Sarif.Multitool ## put all SARIF to the SARIF Multitool, fetched with npm
	cd e2e && $(GO) test -count=1 -v ./sarif

bin/sarif-multitool/package/Sarif.Multitool:
	mkdir -p bin/sarif-multitool
	cd bin/sarif-multitool && tar xzf "$$(npm pack --silent @microsoft/sarif-multitool-linux@$(MULTITOOL))"
	chmod +x $@

bench: ## the benchmarks; docs/performance.md says what to look at
	$(GO) test -run '^$$' -bench . -benchtime 5x -timeout 30m ./...

# Real repositories as git bundles, in CORPORA/gitops.
CORPORA ?= ../shared/corpora

provenance: ## how many fields are located, and proven, on real repositories (CORPORA=DIR, VERBOSE=n examples)
	PREADMIT_TEST_ALL=1 PREADMIT_CORPORA="$(abspath $(CORPORA))" PREADMIT_PROVENANCE=all PREADMIT_VERBOSE="$(VERBOSE)" \
		$(GO) test ./render ./render/helm/locate -run '^Test(Provenance|ValueLines)$$' -count=1 -v -timeout 90m

fmt: ## format the sources
	gofmt -w $$(git ls-files '*.go')

# Kubernetes requires its staging modules at v0.0.0, which does not exist. go mod tidy
# drops those that none of our packages needs; then `go list -m all`, and tools that use
# it, fail.
KUBERNETES = $(shell $(GO) list -m -f '{{.Version}}' k8s.io/kubernetes)
STAGING = $(shell $(GO) list -m -f '{{.GoMod}}' k8s.io/kubernetes)

tidy: ## go.mod as it has to be
	$(GO) mod tidy
	@for module in $$(sed -n 's/^[[:space:]]*\(k8s.io\/[a-z-]*\) v0.0.0$$/\1/p' "$(STAGING)"); do \
		$(GO) mod edit -require=$$module@$(KUBERNETES:v1.%=v0.%); \
	done
	$(GO) mod download
	$(GO) list -m all > /dev/null

update: ## write the golden files anew; read the difference before you commit it
	$(GO) test ./cmd/... ./report/... ./scanner/... -update

# Any builder of Dockerfiles works, without network access. vfs needs no support by the kernel.
BUILDAH ?= buildah --storage-driver vfs
IMAGE ?= preadmit
REVISION = $(shell git rev-parse HEAD)
CREATED = $(shell TZ=UTC git log -1 --date=iso-strict-local --format=%cd)

image: ## a container image, as bin/preadmit.oci.tar
	rm -rf bin/image && mkdir -p bin/image/rootfs/tmp && chmod 1777 bin/image/rootfs/tmp
	$(GO) build -ldflags '-s -w' -o bin/image/rootfs/preadmit ./cmd/preadmit
	$(BUILDAH) build --isolation chroot --file Dockerfile --tag $(IMAGE) --timestamp 0 --build-context program=bin/image \
		--build-arg VERSION="$$(bin/image/rootfs/preadmit version | sed -n 's/^preadmit //p')" \
		--build-arg REVISION=$(REVISION) --build-arg CREATED=$(CREATED) bin/image
	$(BUILDAH) push $(IMAGE) oci-archive:bin/preadmit.oci.tar
	cd e2e && $(GO) test -count=1 -run '^TestImage$$' -v ./action

ACT := github.com/nektos/act@v0.2.89

programs:
	mkdir -p bin/e2e
	$(GO) build -ldflags='-s -w' -o bin/e2e/preadmit ./cmd/preadmit

action-test: programs ## the Action in workflows, under nektos/act; no Docker
	GOBIN="$(abspath bin/e2e)" $(GO) install $(ACT)
	cd e2e && $(ALL) -count=1 ./action

service-test: programs browser ## the service, built, against a GitHub for tests, git, NATS and Chromium
	cd e2e && $(GO) build -o ../bin/e2e/nats-server github.com/nats-io/nats-server/v2
	cd e2e && $(ALL) -count=1 -parallel 4 -v ./service

# Suites and objects to send to the real API server. Those outside of the repository
# are optional.
SUITES ?= scanner/suite/testdata/conformance scanner/suite/testdata/versions examples/suite $(wildcard ../shared/conformance/real-world ../shared/conformance/mutation)
OBJECTS ?= $(wildcard ../shared/corpora/gitops/*.bundle)
# The number of generated updates, and the number of the first one. With OTHERS=1 others write to the
# objects before they are updated, and preadmit gets the objects from the server.
PAIRS ?= 300
SEED ?= 0
OTHERS ?=

# Another minor version, like 1.35, whose kube-apiserver is built in a module of its own. With UPDATE=1
# its records are written if they differ from those of the suites.
MINOR ?=
ifneq ($(MINOR),)
SUITES := scanner/suite/testdata/conformance scanner/suite/testdata/versions
OBJECTS :=
PAIRS := 0
endif

conformance-live: programs ## ask a real kube-apiserver (SUITES="DIR...", OBJECTS="DIR...", PAIRS=n, OTHERS=1, UPDATE=1, MINOR=1.35)
	cd e2e && $(GO) build -o ../bin/e2e/conformance .
	@if [ -z "$$KUBEBUILDER_ASSETS" ]; then \
		set -e; \
		if [ -n "$(MINOR)" ]; then e2e/kube-apiserver.sh $(MINOR) bin/e2e/kube-apiserver-$(MINOR); \
		else (cd e2e && $(GO) build -o ../bin/e2e/kube-apiserver k8s.io/kubernetes/cmd/kube-apiserver); fi; \
		if ! command -v etcd > /dev/null && [ "$$(id -u)" = 0 ] && command -v apt-get > /dev/null; then \
			apt-get install -y --no-install-recommends etcd-server; \
		fi; \
	fi
	cd e2e/sandbox && $(GO) build -o ../../bin/e2e/kubectl k8s.io/kubernetes/cmd/kubectl
	bin/e2e/conformance -preadmit bin/e2e/preadmit -apiserver bin/e2e/kube-apiserver$(addprefix -,$(MINOR)) -kubectl bin/e2e/kubectl \
		$(if $(MINOR),-kubernetes $(MINOR) -records scanner/suite/testdata/records/$(MINOR)) \
		$(if $(UPDATE),-update) -updates $(PAIRS) -seed $(SEED) $(if $(OTHERS),-others) $(addprefix -objects ,$(OBJECTS)) $(SUITES)

# Kubernetes' end-to-end tests of policies, including type checking. Compiling the tests takes some
# minutes.
POLICIES ?= ValidatingAdmissionPolicy|MutatingAdmissionPolicy

conformance-e2e: ## Kubernetes' own tests of policies, on the server of preadmit sandbox
	mkdir -p bin/e2e
	$(GO) build -o bin/e2e/ ./cmd/preadmit ./cmd/preadmit-sandbox
	cd e2e/sandbox && $(GO) test -c $(TESTFLAGS) -o ../../bin/e2e/kubernetes.test ./conformance
	bin/e2e/preadmit sandbox --empty -- bin/e2e/kubernetes.test -test.v -ginkgo.no-color -ginkgo.fail-on-empty -ginkgo.focus '$(POLICIES)'

# Directories with scenarios, suites and git bundles on which to compare two programs.
CASES ?= examples scanner/suite/testdata/conformance $(wildcard ../shared/scenarios ../shared/conformance ../shared/corpora ../shared/deployments)

compare: ## what another build of preadmit says differently (OLD=FILE, CASES="DIR...", WHOLE=1, MATCH=REGEXP)
	@test -n "$(OLD)" || { echo "OLD=FILE names the program to compare with"; exit 2; }
	mkdir -p bin/e2e
	$(GO) build -o bin/preadmit ./cmd/preadmit
	cd e2e && $(GO) build -o ../bin/e2e/compare ./compare
	bin/e2e/compare -old $(OLD) -new bin/preadmit -results bin/e2e/compared $(if $(WHOLE),-whole) $(if $(MATCH),-match '$(MATCH)') $(CASES)
