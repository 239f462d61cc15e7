# `make help` lists what there is. Nothing here is needed to build: `cargo build --release` does that once the libraries
# are there (docs/building.md).

.DEFAULT_GOAL := help
SHELL := /bin/sh

# What `make run` runs.
ARGS ?= run crud --quick
# system: the system's library, which is shown but not ranked where it was built with assertions. Empty: cargo compiles its
# authors' sources, once a machine. authors, of RocksDB alone: the library that its authors build, fetched once a machine.
ROCKSDB ?=
LEVELDB ?=
# The stores to build in, by cargo feature and separated by commas; empty: all.
FEATURES ?=
# `no`: install nothing, look for nothing.
SETUP ?= yes
# How many times as many tries `make torture` makes as `make test`, which takes a minute for them.
TORTURE ?= 20
# How many seconds `make storm` lasts.
STORM ?= 60
# How many tests run at a time: they wait for disks and children half of their time.
TEST_THREADS ?= $(shell echo $$((3 * $$(getconf _NPROCESSORS_ONLN))))
# The sizes of clusters, in bytes, that `make test-vfat` tries; empty: all that FAT32 has.
CLUSTERS ?=
# The machines, as Rust calls them, that `make test-cross` builds for.
CROSS ?= aarch64-unknown-linux-gnu armv7-unknown-linux-gnueabihf aarch64-unknown-linux-musl
# The systems, as Rust calls them, that `make check-systems` compiles for; empty: macOS and Android.
SYSTEMS ?=
# Where `make install` puts things; DESTDIR goes before it.
PREFIX ?= $(shell if [ "$$(id -u)" = 0 ]; then echo /usr/local; else echo "$$HOME/.local"; fi)
DESTDIR ?=
# Where `make dist` puts the packages.
DIST ?= dist

# The machine that `make cross` builds for, as Rust calls it (scripts/target.sh).
TARGET ?= aarch64-unknown-linux-gnu

export FEATURES
# Empty is not the same to cargo as not there: it would build anew after a plain `cargo build`.
ifneq ($(ROCKSDB),)
export ROCKSDB
endif
ifneq ($(LEVELDB),)
export LEVELDB
endif

environment = . scripts/env.sh
ifeq ($(SETUP),no)
setup = true
else
setup = scripts/setup.sh
endif

.PHONY: help
help: ## List these targets
	@echo "usage: make TARGET [OPTION=VALUE...]"
	@echo
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  %-14s %s\n", $$1, $$2 }' Makefile
	@echo
	@echo "options: ARGS='$(ARGS)' (for run), ROCKSDB=system (or authors), LEVELDB=system,"
	@echo "         FEATURES=sqlite,lmdb,..., SETUP=no, TORTURE=$(TORTURE), STORM=$(STORM),"
	@echo "         DIST=$(DIST), PREFIX=$(PREFIX), CLUSTERS='512 4096' (for test-vfat),"
	@echo "         TARGET=$(TARGET) (for cross); CARGO_TARGET_DIR is respected"

.PHONY: run
run: ## Install what is missing, build, and run the quick study
	@$(setup)
	@$(environment) && cargo run --release --package storebench $$STOREBENCH_CARGO_FLAGS -- $(ARGS)

# What a test needs was installed: none may be left out for lack of it.
ifneq ($(SETUP),no)
test test-all test-conformance torture storm: export STOREBENCH_TEST_STRICT = 1
endif
# Tests that only `make test-all` runs (CONTRIBUTING.md), apart from cases that say `(whole)`.
whole = torture::kills torture::races torture::images torture::disk torture::storm conformance::kill under_other_settings \
	snippets::c:: snippets::python:: snippets::rust:: snippets::configuration:: slurm_runs \
	androbench::servers ycsb::threads_share
cargo_test = RUST_TEST_THREADS=$(TEST_THREADS) cargo test --release --workspace --no-fail-fast $$STOREBENCH_CARGO_FLAGS

.PHONY: test
test: ## Run the tests that one waits for
	@$(setup) test
	@$(environment) && $(cargo_test) -- $(whole:%=--skip %)
	@scripts/tests.sh

.PHONY: test-all
test-all: ## Run every test there is, which takes an hour
	@$(setup) test
	@$(environment) && STOREBENCH_TESTS=all $(cargo_test)
	@scripts/tests.sh
	@$(MAKE) test-vfat test-cross check-systems test-dist

.PHONY: test-conformance
test-conformance: ## Hold every store to its contract at every guarantee
	@$(setup) test
	@$(environment) && STOREBENCH_TESTS=all $(cargo_test) --test integration -- conformance:: $(whole:%=--skip %)

.PHONY: cross
cross: ## Build the program to be taken elsewhere, for TARGET
	@$(setup) cross
	@scripts/cross.sh $(TARGET)

.PHONY: test-cross
test-cross: ## Build for other machines, CROSS, and run it under qemu
	@$(setup) cross cross-test
	@for target in $(CROSS); do scripts/cross.sh --test "$$target" || exit; done

.PHONY: check-systems
check-systems: ## Compile for macOS and Android, or SYSTEMS, and run nothing
	@$(setup) cross
	@scripts/check-systems.sh $(SYSTEMS)

.PHONY: test-vfat
test-vfat: ## Run every store on FAT32 in user-mode Linux, CLUSTERS
	@$(setup) test-vfat
	@$(environment) && cargo build --release --workspace $$STOREBENCH_CARGO_FLAGS
	@scripts/test-vfat.sh "$${CARGO_TARGET_DIR:-target}/release/storebench" $(CLUSTERS)

.PHONY: torture
torture: ## Run the tests that kill, race and break, TORTURE times as often
	@$(setup) test
	@$(environment) && STOREBENCH_TORTURE=$(TORTURE) cargo test --release --workspace \
		$$STOREBENCH_CARGO_FLAGS -- torture::

.PHONY: storm
storm: ## Run small studies for STORM seconds while all that can go wrong does
	@$(setup) test
	@$(environment) && STOREBENCH_STORM=$(STORM) cargo test --release --workspace \
		$$STOREBENCH_CARGO_FLAGS -- torture::storm --nocapture

.PHONY: check
check: ## Check format, lints, packages, scripts, written pages, and the dependencies' licences
	@$(setup) check
	@$(environment) && cargo fmt --all --check && cargo fmt --manifest-path examples/rust-turso/Cargo.toml --check
	@$(environment) && cargo clippy --release --workspace --all-targets --locked $$STOREBENCH_CARGO_FLAGS -- -D warnings
	@$(environment) && package="cargo package --workspace --no-verify --allow-dirty --quiet" && \
		{ $$package --offline 2>/dev/null || $$package; }
	@[ "$(FEATURES)" ] || { $(environment) && pages=$$(mktemp -d) && trap 'rm -rf "$$pages"' EXIT && \
		cargo run --quiet --release --package storebench -- reference --out "$$pages" && diff -r docs/reference "$$pages"; } || \
		{ echo "write it anew: cargo run --release -p storebench -- reference --out docs/reference"; exit 1; }
	@[ "$(FEATURES)" ] || { $(environment) && cargo run --quiet --release --package storebench -- findings findings --out - | \
		diff docs/findings.md -; } || \
		{ echo "write it anew: cargo run --release -p storebench -- findings findings"; exit 1; }
	@shellcheck -x scripts/*.sh scripts/zig/tool examples/fleet/*.sh .ci/run crates/storebench/tests/integration/cases/helpers.sh
	@$(environment) && scripts/deny.sh

.PHONY: bench
bench: ## Measure the cost of the harness itself
	@$(setup)
	@$(MAKE) -C examples c-null $(if $(shell command -v go),go-null) \
		$(if $(wildcard /usr/bin/python3-config),python-null)
	@$(environment) && STOREBENCH_BENCH_LIBRARIES="$$(ls -d "$(CURDIR)"/examples/build/lib*-null.so | paste -sd :)" \
		cargo bench --workspace --bench harness --bench syncs $$STOREBENCH_CARGO_FLAGS

.PHONY: bench-fidelity
bench-fidelity: ## Compare storebench with minimal loops over each engine
	@$(setup)
	@$(environment) && cargo bench --package storebench-stores --bench fidelity $$STOREBENCH_CARGO_FLAGS

.PHONY: bench-device
bench-device: ## Compare the study device with fio, which must be installed
	@$(setup)
	@$(environment) && cargo build --release --package storebench $$STOREBENCH_CARGO_FLAGS
	@STOREBENCH="$${CARGO_TARGET_DIR:-target}/release/storebench" scripts/pairs-fio.sh

.PHONY: install
install: ## Install the program, manual pages and completions under PREFIX
	@$(setup)
	@$(environment) && cargo build --release --package storebench $$STOREBENCH_CARGO_FLAGS
	@$(environment) && scripts/install.sh "$(DESTDIR)$(PREFIX)"

.PHONY: uninstall
uninstall: ## Remove what install put under PREFIX
	@scripts/install.sh --remove "$(DESTDIR)$(PREFIX)"

.PHONY: dist
dist: ## Make packages in DIST that need no others, for TARGET
	@$(setup) cross $(if $(filter command line,$(origin TARGET)),cross-test)
	@$(environment) && scripts/dist.sh "$(DIST)" $(if $(filter command line,$(origin TARGET)),"$(TARGET)")

.PHONY: test-dist
test-dist: ## Make packages for this machine, install each on clean systems, and run them
	@$(setup) cross cross-test
	@$(environment) && dist=$$(mktemp -d) && trap 'rm -rf "$$dist"' EXIT && scripts/dist.sh "$$dist" && scripts/dist.sh --check "$$dist"

.PHONY: clean
clean: ## Remove what was built; the runs are kept
	@$(environment) && cargo clean
	@echo "The folders of your runs are kept (storebench-runs/ unless you named another)."
