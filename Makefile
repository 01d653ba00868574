# make demo   install what is needed, build, and train eight unequal devices twice: conventionally, and with all that helps
# make test   the same set-up, and every test
# make format format the sources as make test wants them
# make docs   the documentation site: build/docs/site
# make bench  the benchmarks behind docs/benchmarks.md
# make build  the program alone: build/release/bin/tributary

.DEFAULT_GOAL := build
.PHONY: build demo docs format test test-format test-dev test-release test-tsan test-fuzz bench clean

build/%/build.ninja:
	cmake --preset $*

build:
	@scripts/setup build
	@scripts/web || echo "Without Node: the program will have no dashboard and write no reports."
	@$(MAKE) --no-print-directory build/release/build.ninja
	ninja -C build/release tributary

demo: build
	build/release/bin/tributary run --threads 2

format:
	@scripts/format

docs:
	@scripts/setup docs
	scripts/docs

test: test-format test-dev test-release test-tsan test-fuzz
	@echo "All tests passed: format, dev (sanitizers), release, tsan, fuzz."

# Needs clang-format 14; where it cannot be installed the check is skipped by name, but not in CI.
test-format:
	@if scripts/setup format; then \
	  scripts/format check; \
	elif [ "$$CI" = true ]; then \
	  echo "FAILED: the check of the format needs clang-format-14, which could not be installed" >&2; exit 1; \
	else \
	  echo "SKIPPED: the check of the format (needs clang-format-14)"; \
	fi

# Brokers are for the tests of streams, Python's tools for those of imported networks and of TensorBoard's files; they are skipped by name where there
# are none, but not in CI.
test-dev test-release test-tsan: test-%:
	@scripts/setup build
	@scripts/web || echo "Without Node: the tests of the dashboard will be skipped."
	@[ $* != dev ] || scripts/setup docs || echo "Without mkdocs: the test of the documentation site will be skipped."
	@[ $* != release ] || scripts/setup browser || echo "Without a browser: the test of the dashboard's page will be skipped."
	@{ scripts/setup brokers && scripts/kafka fetch; } || echo "Without brokers: the tests of streams will be skipped."
	@[ $* != release ] || { scripts/setup python && scripts/python fetch; } || echo "Without Python's tools: the tests of imported networks and of TensorBoard's files will be skipped."
	@$(MAKE) --no-print-directory build/$*/build.ninja
	ninja -C build/$*
	ctest --preset $*

# Needs clang; on a machine where it cannot be installed the fuzz targets are skipped by name, but not in CI.
test-fuzz: test-dev
	@if scripts/setup fuzz; then \
	  $(MAKE) --no-print-directory build/fuzz/build.ninja && ninja -C build/fuzz && ctest --preset fuzz; \
	elif [ "$$CI" = true ]; then \
	  echo "FAILED: the fuzz targets need clang-14, which could not be installed" >&2; exit 1; \
	else \
	  for fuzzer in $$(find src -name '*_fuzz.cc' -exec basename {} .cc \;); do echo "SKIPPED: $$fuzzer (needs clang-14)"; done; \
	fi

bench:
	@scripts/setup build
	@$(MAKE) --no-print-directory build/release/build.ninja
	ninja -C build/release bench_engine bench_simulator bench_clock bench_fleet bench_scheduling bench_sampling bench_compression bench_split bench_dropout bench_partitioning bench_store bench_dashboard tributary
	build/release/bench/engine
	build/release/bench/simulator
	build/release/bench/clock
	build/release/bench/fleet
	build/release/bench/scheduling
	build/release/bench/sampling
	build/release/bench/compression
	build/release/bench/split
	build/release/bench/dropout
	build/release/bench/partitioning
	build/release/bench/partitioning quality
	build/release/bench/store
	build/release/bench/dashboard build/release/bin/tributary

clean:
	rm -rf build
