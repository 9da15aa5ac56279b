# Everything runs on a plain machine with Go, make and git.
GO ?= go
STATICCHECK := honnef.co/go/tools/cmd/staticcheck@v0.8.2

.PHONY: build test lint bench fmt update

build: ## the program, as bin/preadmit
	CGO_ENABLED=0 $(GO) build -o bin/preadmit ./cmd/preadmit

test: ## all tests
	$(GO) test -timeout 20m ./...

lint: ## what CI asks of the sources
	@unformatted="$$(gofmt -l $$(git ls-files '*.go'))"; \
	if [ -n "$$unformatted" ]; then echo "gofmt these:"; echo "$$unformatted"; exit 1; fi
	$(GO) vet ./...
	$(GO) run $(STATICCHECK) ./...

bench: ## the benchmarks; docs/performance.md says what to look at
	$(GO) test -run '^$$' -bench . -benchtime 5x -timeout 30m ./...

fmt: ## format the sources
	gofmt -w $$(git ls-files '*.go')

update: ## write the golden files anew; read the difference before you commit it
	$(GO) test ./cmd/... ./report/... ./scanner/... -update
