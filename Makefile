# The front door. Each target sets up what it needs under .venv/ and build/ and calls the tool that does
# the work; the tools' settings are in pyproject.toml, CMakeLists.txt and CMakePresets.json.

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip --disable-pip-version-check --quiet
# CMake finds ninja, and CMakeLists.txt finds Python, in the virtual environment.
WORKFLOW := . $(BIN)/activate && cmake --workflow --preset
CPP := $(shell find src/cpp tests -name '*.[chi]pp' -o -name '*.inl')
# ThreadSanitizer of GCC 12 and older does not start under wide address space randomisation.
FIXED_ADDRESSES := $(shell setarch -R true 2>/dev/null && echo setarch -R)
QEMU := qemu-aarch64 -L /usr/aarch64-linux-gnu
# The newest clang++ there is: libFuzzer comes with it.
CLANG := $(lastword $(shell ls $(foreach d,$(subst :, ,$(PATH)),$(d)/clang++ $(d)/clang++-[0-9]*) \
           2>/dev/null | sort -V))
MINUTES ?= 2
ROWS ?= 1000000
# The interpreter is built without sanitizers, so their libraries have to be loaded before it; and
# that of C++ with them, or they would not see its exceptions.
library = $(shell $(CXX) -print-file-name=$1)
preloaded = LD_PRELOAD='$(call library,$1) $(call library,libstdc++.so)'
# The interpreter never frees some of its memory. Out of memory is an exception, not a report. The
# handler of SIGBUS is fastdump's.
ASAN := ASAN_OPTIONS=detect_leaks=0:allocator_may_return_null=1:handle_sigbus=0 \
  UBSAN_OPTIONS=halt_on_error=1:print_stacktrace=1
TSAN_SUPP := $(CURDIR)/tests/tsan.supp
# Tests end processes that still have threads.
TSAN := TSAN_OPTIONS=halt_on_error=1:handle_sigbus=0:report_thread_leaks=0:suppressions=$(TSAN_SUPP)
SANITIZED = -C build-dir=$(VENV)/objects -C cmake.build-type=RelWithDebInfo \
  -C cmake.define.FASTDUMP_SANITIZE=$(SANITIZERS)
# What has threads.
THREADED := scan array_stats compare convert convert_runs exit processes determinism scarcity \
  dlpack changed_files cli_signals
# Of the tests that touch the core, those that an emulator runs in two minutes on two CPUs. All
# element types are in what `make aarch64` compares before.
EMULATED := array_stats buffers cli_info damage describe determinism dlpack elements exit \
  file_kinds io_depth layout reference_dumps scan
ARM64 := build/arm64
BITS_OF := $(ARM64)/dumps/right $(ARM64)/dumps/wrong \
  $(wildcard ../shared/reference-dumps ../shared/reference-models/llama-float16-overflow)
ARM64_WHEEL := ls -t dist/fastdump-*-cp311-cp311-manylinux*_aarch64.whl 2>/dev/null | head -n 1
WITHOUT_TIER := sed 's/ [^ ]*$$//' | sort -u

.DEFAULT_GOAL := help
.NOTPARALLEL:
.PHONY: help demo test native oldest wheels bundle bench bench-full bench-docs simulate \
        instructions lint tidy sanitize sanitize-python tsan-python fuzz torture screens \
        pictures notebook docs models coverage neon neon-instructions aarch64 aarch64-core clean

help:  ## this list
	@awk -F ':.*## ' '/^[a-z0-9-]+:.*## / { printf "  make %-15s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

demo: $(VENV)/built  ## write a sample dump, show its statistics, find where they went bad
	rm -rf build/demo-dump
	$(BIN)/fastdump demo build/demo-dump
	@echo 'One of its files was cut short. That not all could be read is exit code 3:'
	$(BIN)/fastdump stats build/demo-dump; test $$? -eq 3
	@echo 'The dump has a fault. That triage finds it is exit code 1, and so what has to be here:'
	$(BIN)/fastdump triage build/demo-dump; test $$? -eq 1

test: native $(VENV)/test  ## all tests: of the core (ctest), then of the package (pytest)
	$(BIN)/python -m pytest --numprocesses auto $(ARGS)

native: $(VENV)/tools  ## the core and its tests alone, without Python
	$(WORKFLOW) default

wheels: $(VENV)/wheels  ## wheels for x86-64 and aarch64, for glibc 2.17 and newer, into dist/
	$(BIN)/python packaging/wheels.py $(ARGS)

bundle: $(VENV)/wheels  ## archives to install from without a network, of the wheels in dist/
	$(BIN)/python packaging/bundle.py

oldest:  ## the package's tests with the oldest dependencies that pyproject.toml admits
	$(MAKE) VENV=build/oldest build/oldest/test
	build/oldest/bin/python -m pip --disable-pip-version-check --quiet install --group oldest
	build/oldest/bin/python -m pytest --numprocesses auto $(ARGS)

bench: $(VENV)/bench  ## benchmarks; FASTDUMP_BENCH_QUICK=1 for a short run
	$(BIN)/python -m pytest benchmarks --benchmark-only $(ARGS)

instructions: $(VENV)/tools  ## instructions that kernels and files take, against committed figures
	@command -v valgrind >/dev/null || { \
	  echo "make instructions needs valgrind: apt install valgrind" >&2; exit 1; }
	. $(BIN)/activate && cmake --preset default && \
	  cmake --build --preset default --target counted_runs
	$(BIN)/python -m benchmarks.instruction_counts $(ARGS) callgrind \
	  build/default/tests/native/counted_runs

bench-full: $(VENV)/bench  ## the table of docs/performance.md, in some ten minutes
	mkdir -p build
	FASTDUMP_BENCH_FULL=1 $(BIN)/python -m pytest benchmarks --benchmark-only -m scan \
	  --benchmark-json build/bench-full.json $(ARGS)

simulate: $(VENV)/bench  ## join, count and triage tables of up to ROWS=1000000 synthetic rows
	$(BIN)/python -m benchmarks.many_rows --rows $(ROWS)

bench-docs: $(VENV)/bench  ## put what bench-full measured last into docs/, as table and picture
	$(BIN)/python -m benchmarks.performance_page build/bench-full.json docs/performance.md
	$(BIN)/python -m benchmarks.picture build/bench-full.json docs/throughput.svg

docs: $(VENV)/docs  ## the documentation as a site, with every command and docstring: build/site
	NO_MKDOCS_2_WARNING=1 $(BIN)/python -m mkdocs build --quiet
	@echo 'build/site/index.html'

lint: $(VENV)/lint  ## formatting, types, stubs, spelling, workflows, compiler warnings
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/stubtest --mypy-config-file pyproject.toml fastdump._core
	@$(BIN)/clang-format --dry-run -Werror $(CPP)
	@! grep -nE '^.{101}' $(CPP)
	$(BIN)/codespell
	$(BIN)/zizmor --offline --quiet .github/workflows
	$(WORKFLOW) lint

tidy: $(VENV)/tidy  ## clang-tidy on the core
	. $(BIN)/activate && cmake --preset lint
	@$(BIN)/clang-tidy --quiet -p build/lint $(filter src/cpp/core/%.cpp,$(CPP))

sanitize: $(VENV)/tools  ## native tests under ASan and UBSan, then under TSan
	$(WORKFLOW) sanitize
	. $(BIN)/activate && $(FIXED_ADDRESSES) cmake --workflow --preset tsan

sanitize-python:  ## pytest with the extension under ASan and UBSan
	$(MAKE) VENV=build/sanitized SANITIZERS=address,undefined build/sanitized/test
	$(call preloaded,libasan.so) $(ASAN) build/sanitized/bin/python -X faulthandler \
	  -m pytest --numprocesses auto $(ARGS)

tsan-python:  ## tests of what has threads, with the extension under TSan
	$(MAKE) VENV=build/sanitized-threads SANITIZERS=thread build/sanitized-threads/test
	$(FIXED_ADDRESSES) env $(call preloaded,libtsan.so) $(TSAN) build/sanitized-threads/bin/python \
	  -X faulthandler -m pytest --numprocesses auto $(THREADED:%=tests/test_%.py) $(ARGS)

fuzz: $(VENV)/tools  ## all fuzz targets, for MINUTES=2 together; ARGS names some of them
	@test -n '$(CLANG)' || { echo "make fuzz needs clang with libFuzzer; on Debian and Ubuntu:" >&2; \
	  echo "  apt install clang libclang-rt-dev" >&2; exit 1; }
	. $(BIN)/activate && CXX='$(CLANG)' cmake --preset fuzz && cmake --build --preset fuzz
	$(BIN)/python tests/fuzz/fuzz.py --minutes $(MINUTES) $(ARGS)

coverage: $(VENV)/coverage  ## lines and branches of core/formats that tests and fuzz corpora run
	find build/coverage -name '*.gcda' -delete 2>/dev/null || true
	$(WORKFLOW) coverage
	@for corpus in $(wildcard build/fuzz/corpus/*); do \
	  find $$corpus -type f -print0 | \
	    xargs -0 -r build/coverage/tests/fuzz/replay_$${corpus##*/} || exit 1; done
	$(BIN)/gcovr --root . --filter src/cpp/core/formats/ --exclude-throw-branches \
	  --gcov-ignore-parse-errors=negative_hits.warn --fail-under-line 95 --print-summary --txt - \
	  $(ARGS) build/coverage

torture: $(VENV)/test  ## every call that may fail, then files that change, for MINUTES=2
	FASTDUMP_ALL_FAULTS=1 $(BIN)/python -m pytest tests/test_command_faults.py --numprocesses auto \
	  -o faulthandler_timeout=0
	$(BIN)/python tests/torture.py --minutes $(MINUTES) $(ARGS)

screens: $(VENV)/test  ## docs/screens and docs/browse.md: what commands show on terminals
	@command -v tmux less >/dev/null || { \
	  echo "make screens needs tmux and less: apt install tmux less" >&2; exit 1; }
	PYTHONPATH=tests $(BIN)/python tests/screens.py
	$(BIN)/python tests/browse_screens.py

pictures: $(VENV)/browser  ## docs/pictures: pages of the sample dumps, drawn by Chromium
	PYTHONPATH=tests $(BIN)/python tests/page_pictures.py docs/pictures

notebook: $(VENV)/test  ## docs/story-of-a-nan.ipynb: run, and written with what its cells show
	$(BIN)/python tests/story_notebook.py docs/story-of-a-nan.ipynb

models: $(VENV)/test  ## recorded PyTorch models with three seeds: no false alarm, faults named
	@$(BIN)/python -c 'import torch' || { echo "make models needs torch in $(VENV)" >&2; exit 1; }
	FASTDUMP_ALL_SEEDS=1 $(BIN)/python -m pytest --numprocesses auto \
	  tests/test_compare_models.py tests/test_triage_models.py $(ARGS)

neon: neon-instructions  ## native tests for aarch64 under qemu, after neon-instructions
	$(WORKFLOW) neon

neon-instructions: $(VENV)/tools  ## NEON under qemu: the bits of this CPU, instructions as committed
	@command -v aarch64-linux-gnu-g++ >/dev/null && command -v qemu-aarch64 >/dev/null || { \
	  echo "$@ needs a cross compiler and an emulator; on Debian and Ubuntu:" >&2; \
	  echo "  apt install g++-aarch64-linux-gnu libc6-dev-arm64-cross qemu-user" >&2; exit 1; }
	. $(BIN)/activate && cmake --preset default && \
	  cmake --build --preset default --target tier_digest && cmake --preset neon && \
	  cmake --build --preset neon --target tier_digest counted_runs
	build/default/tests/native/tier_digest | $(WITHOUT_TIER) > build/default/digests
	$(QEMU) build/neon/tests/native/tier_digest | $(WITHOUT_TIER) > build/neon/digests
	test -s build/default/digests && diff build/default/digests build/neon/digests
	$(BIN)/python -m benchmarks.instruction_counts $(ARGS) qemu build/neon/tests/native/counted_runs

aarch64: $(VENV)/built  ## pytest on the aarch64 wheel, in a Debian root under qemu; needs root
	@test "$$(id -u)" = 0 && command -v mmdebstrap unshare >/dev/null && \
	  test -e /usr/lib/binfmt.d/qemu-aarch64.conf || { \
	  echo "make aarch64 needs root, and Debian's tools; on Debian and Ubuntu:" >&2; \
	  echo "  apt install mmdebstrap debian-archive-keyring qemu-user-static" >&2; exit 1; }
	@wheel=$$($(ARM64_WHEEL)); test -n "$$wheel" && test -z "$$(find src CMakeLists.txt \
	  pyproject.toml -type f ! -name '*.pyc' -newer "$$wheel" -print -quit)" || \
	  $(MAKE) wheels ARGS='--python python3.11 --platform aarch64'
	$(BIN)/python packaging/arm64_root.py $(ARM64)/root "$$($(ARM64_WHEEL))"
	packaging/arm64_run.sh $(ARM64)/root python3 -m fastdump info
	@rm -rf $(ARM64)/dumps $(ARM64)/bits
	$(BIN)/fastdump demo $(ARM64)/dumps/right >/dev/null
	$(BIN)/fastdump demo $(ARM64)/dumps/wrong --wrong model.layers.1.mlp.act_fn/Swish >/dev/null
	@# A table tells the state of a directory only if its names have not changed for a minute.
	find $(ARM64)/dumps -type d -exec touch -d '1 hour ago' {} +
	$(BIN)/python packaging/arm64_bits.py $(ARM64)/bits/here $(BITS_OF)
	packaging/arm64_run.sh $(ARM64)/root python3 packaging/arm64_bits.py $(ARM64)/bits/aarch64 $(BITS_OF)
	diff -r $(ARM64)/bits/here $(ARM64)/bits/aarch64
	packaging/arm64_run.sh $(ARM64)/root python3 -m pytest --numprocesses $$(nproc) \
	  $(TESTS) $(ARGS)

aarch64-core: TESTS := $(EMULATED:%=tests/test_%.py)
aarch64-core: aarch64  ## the same with a few minutes' worth of the tests that touch the core

clean:  ## remove everything that make has made
	rm -rf $(VENV) build dist .mypy_cache .pytest_cache .ruff_cache .hypothesis .benchmarks
	find src tests benchmarks -name __pycache__ -type d -prune -exec rm -rf {} +

# Stamps: a file in .venv/ is newer than everything that the step before it depended on.

$(VENV)/created:
	@$(PYTHON) -c 'import sys; sys.version_info >= (3, 10) or sys.exit("fastdump needs Python 3.10 or newer; $(PYTHON) is " + sys.version.split()[0] + ". Name another one: make PYTHON=python3.12")'
	@$(PYTHON) -c 'import ensurepip' 2>/dev/null || { echo "$(PYTHON) cannot make virtual environments: apt install python3-venv" >&2; exit 1; }
	@$(PYTHON) packaging/compiler.py >/dev/null  # headers of Python, a compiler
	$(PYTHON) -m venv --clear $(VENV)
	$(PIP) install 'pip>=25.1'
	@touch $@

$(VENV)/tools: $(VENV)/created pyproject.toml
	$(PIP) install --group build $$($(PYTHON) packaging/compiler.py)
	@touch $@

$(VENV)/built: $(VENV)/tools CMakeLists.txt $(shell find src/cpp -type f) \
               $(if $(WHEELS),$(wildcard $(WHEELS)/*.whl))
ifdef WHEELS
	$(PIP) install --no-index --find-links $(WHEELS) --no-deps --force-reinstall fastdump
	$(PIP) install 'fastdump[parquet]'
else
	@echo 'compiling the extension, a minute at most on two CPUs'
	$(PIP) install --no-build-isolation $(if $(SANITIZERS),$(SANITIZED)) --editable '.[parquet]'
endif
	@touch $@

$(VENV)/coverage $(VENV)/wheels: $(VENV)/tools
	$(PIP) install --group $(@F)
	@touch $@

$(VENV)/test $(VENV)/bench $(VENV)/lint $(VENV)/tidy $(VENV)/browser $(VENV)/docs: $(VENV)/tools | $(VENV)/built
	$(PIP) install --group $(@F)
	@touch $@
