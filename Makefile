# make demo   install dependencies, build, and simulate training on eight unequal devices: the usual way, then with Tributary
# make test   install dependencies, build, and run all tests
# make format format the sources (make test checks the format)
# make docs   build the documentation site in build/docs/site
# make bench  build and run the benchmarks of docs/benchmarks.md
# make build  build only the program: build/release/bin/tributary

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

# Needs clang-format 14. If it cannot be installed, the check is reported as skipped; in CI it fails.
test-format:
	@if scripts/setup format; then \
	  scripts/format check; \
	elif [ "$$CI" = true ]; then \
	  echo "FAILED: the check of the format needs clang-format-14, which could not be installed" >&2; exit 1; \
	else \
	  echo "SKIPPED: the check of the format (needs clang-format-14)"; \
	fi

# Tests of streams need brokers; tests of imported networks and TensorBoard files need Python packages. If these are missing,
# the tests are reported as skipped; in CI they fail.
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

# Needs clang. If it cannot be installed, the fuzz targets are reported as skipped; in CI they fail.
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
	ninja -C build/release bench_engine bench_simulator bench_clock bench_fleet bench_scheduling bench_sampling bench_compression bench_split bench_dropout bench_partitioning bench_store bench_dashboard bench_trust tributary
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
	build/release/bench/trust

clean:
	rm -rf build
