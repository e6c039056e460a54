# Every command a person types. `make help` lists them.
SHELL := /bin/bash
CC ?= cc
BUILD ?= build
VARIANT ?= release

# Why each package is here: README.md, "Dependencies".
PACKAGES := gcc make libck-dev libyaml-dev libjemalloc-dev libcmocka-dev libxxhash-dev \
            libjansson-dev libjudy-dev libhwloc-dev libmetis-dev libsqlite3-dev libzstd-dev zlib1g-dev libexpat1-dev g++ pkg-config node-d3
# Commands that tests call: they unpack files, and read manual pages, completions and plots.
TEST_PACKAGES := zstd mandoc man-db zsh fish gnuplot-nox

# Warnings are errors in CI alone: another compiler or library may warn of more.
WARN := -Wall -Wextra $(if $(filter true,$(CI)),-Werror) -Wshadow -Wcast-qual -Wpointer-arith -Wstrict-prototypes \
        -Wmissing-prototypes -Wvla
# -ffp-contract=off: results must not depend on whether the compiler fuses operations.
CFLAGS_COMMON := -std=gnu17 -g $(WARN) -I. -pthread -ffp-contract=off -MMD -MP
# Prefix of the tools' names where the build is for another machine.
TOOLS :=
SYSROOT := $(abspath $(BUILD))/sysroot-arm64

# Needed in any case: calls of malloc() come out of the link-time optimiser too late for --as-needed,
# the default of some linkers, to see them.
COMMA := ,
# As an archive where there is one: the shared library needs that of C++, and to load both is a third of the
# start of the program.
JEMALLOC_ARCHIVE := $(filter /%,$(shell $(CC) -print-file-name=libjemalloc_pic.a 2>/dev/null))
LIBS_JEMALLOC := $(if $(JEMALLOC_ARCHIVE),-Wl$(COMMA)-u$(COMMA)malloc$(COMMA)-u$(COMMA)mallctl -Wl$(COMMA)--push-state$(COMMA)-Bstatic -ljemalloc_pic -Wl$(COMMA)--pop-state,-Wl$(COMMA)--push-state$(COMMA)--no-as-needed -ljemalloc -Wl$(COMMA)--pop-state)

# For the builds that look for bugs: sizes whose limits short runs meet often.
SMALL := -DUNDO_BLOCK_BYTES=2048u -DPURGE_MIN=8
# Where each allocation fails in turn, and few messages may be under way.
SMALLISH := -DUNDO_BLOCK_BYTES=8192u -DPURGE_MIN=8 -DSLAB_BYTES_ONLY=2048 -DARRAYS_BEGIN_AT=1 \
            -DCREDIT_MIN=8 -DCREDIT_MAX=24

# What an installed program and library get, so that an error in them is hard to use: addresses that
# differ from run to run, tables of calls that are read-only once they are filled, stacks that are never
# executed.
HARDENED := -fPIE
# Checked stacks and checked sizes, for all that reads files of others. In the engine, where they would
# cost PHOLD 1.8 %, they are left out; and a function that is guarded leaves another stack than its own,
# which the checks do not know.
CHECKED := -fstack-protector-strong -U_FORTIFY_SOURCE -D_FORTIFY_SOURCE=3
HARDENED_LINK := -Wl,-z,relro,-z,now,-z,noexecstack

ifeq ($(VARIANT),release)
  OUT := $(BUILD)
  CFLAGS_VARIANT := -O3 -flto=auto -fno-semantic-interposition $(HARDENED)
  LDFLAGS_VARIANT := -O3 -flto=auto
  LINK_VARIANT := $(HARDENED_LINK)
  LIBS_ALLOC := $(LIBS_JEMALLOC)
else ifeq ($(VARIANT),check)
  # For the tests that link the library: quick to build. The program that they run is the release's.
  OUT := $(BUILD)/check
  CFLAGS_VARIANT := -O1
  LDFLAGS_VARIANT :=
  LIBS_ALLOC := $(LIBS_JEMALLOC)
else ifeq ($(VARIANT),asan)
  OUT := $(BUILD)/asan
  CFLAGS_VARIANT := -O1 -fsanitize=address,undefined -fno-sanitize-recover=all \
                    -fno-omit-frame-pointer -DCW_SANITIZE $(SMALL)
  LDFLAGS_VARIANT := -fsanitize=address,undefined
  LIBS_ALLOC :=
else ifeq ($(VARIANT),tsan)
  OUT := $(BUILD)/tsan
  CFLAGS_VARIANT := -O1 -fsanitize=thread -fno-omit-frame-pointer $(SMALL)
  LDFLAGS_VARIANT := -fsanitize=thread
  LIBS_ALLOC :=
else ifeq ($(VARIANT),explore)
  OUT := $(BUILD)/explore
  CFLAGS_VARIANT := -O2 -DSYNC_EXPLORE $(SMALLISH)
  LDFLAGS_VARIANT :=
  LIBS_ALLOC := $(LIBS_JEMALLOC)
else ifeq ($(VARIANT),explore-asan)
  OUT := $(BUILD)/explore-asan
  CFLAGS_VARIANT := -O1 -fsanitize=address,undefined -fno-sanitize-recover=all \
                    -fno-omit-frame-pointer -DCW_SANITIZE -DSYNC_EXPLORE $(SMALLISH)
  LDFLAGS_VARIANT := -fsanitize=address,undefined
  LIBS_ALLOC :=
else ifeq ($(VARIANT),clang)
  OUT := $(BUILD)/clang
  # Long texts in lists are broken by clang-format.
  CFLAGS_VARIANT := -O2 -Wno-string-concatenation
  LDFLAGS_VARIANT :=
  LIBS_ALLOC := $(LIBS_JEMALLOC)
else ifeq ($(VARIANT),fuzz)
  OUT := $(BUILD)/fuzz
  CFLAGS_VARIANT := -O1 -fsanitize=fuzzer-no-link,address,undefined -fno-sanitize-recover=all \
                    -fno-omit-frame-pointer -DCW_SANITIZE
  LDFLAGS_VARIANT := -fsanitize=address,undefined
  LIBS_ALLOC :=
else ifeq ($(VARIANT),cover)
  OUT := $(BUILD)/cover
  CFLAGS_VARIANT := -O0 --coverage -fprofile-update=atomic
  LDFLAGS_VARIANT := --coverage
  LIBS_ALLOC :=
else ifeq ($(VARIANT),cross)
  # For another machine: aarch64, with the packages that .ci/sysroot.sh has unpacked.
  OUT := $(BUILD)/cross
  TOOLS := aarch64-linux-gnu-
  override CC := $(filter ccache,$(CC)) $(TOOLS)gcc
  CFLAGS_VARIANT := -O2 --sysroot=$(SYSROOT)
  LDFLAGS_VARIANT := --sysroot=$(SYSROOT)
  LIBS_ALLOC :=
else
  $(error VARIANT is release, check, asan, tsan, clang, fuzz, explore, explore-asan, cover or cross)
endif

# -mprfchw: what another core has read is fetched for writing, not to be read; where a processor does
# not know how, it does nothing.
MACHINE := $(firstword $(subst -, ,$(shell $(CC) -dumpmachine 2>/dev/null)))
ifeq ($(MACHINE),x86_64)
  ARCH := -march=x86-64-v3 -mprfchw
else # any processor of the kind
  ARCH :=
endif

# METIS is not linked: the partitioner that needs it loads it (partition/metis_library.c).
LIBS_ARCHIVED := yaml jansson xxhash sqlite3 zstd z expat
LIBS_SHARED := -lJudy -lhwloc $(LIBS_ALLOC) -lm -ldl
LIBS := $(LIBS_ARCHIVED:%=-l%) $(LIBS_SHARED)
# The program takes these as archives, where there are any: to find, map and bind them as shared libraries is a
# third of its start. Their symbols are not for plug-ins. Judy's licence is for shared libraries.
ARCHIVES := $(if $(filter release,$(VARIANT)),$(filter /%,$(shell for l in $(LIBS_ARCHIVED); do $(CC) -print-file-name=lib$$l.a; done 2>/dev/null)))
EMPTY :=
LIBS_PROGRAM := $(addprefix -Wl$(COMMA)--exclude-libs$(COMMA),$(subst $(EMPTY) $(EMPTY),:,$(notdir $(ARCHIVES)))) $(if $(ARCHIVES),-static-libgcc -Wl$(COMMA)--exclude-libs$(COMMA)libgcc_eh.a:libgcc.a) \
    $(foreach l,$(LIBS_ARCHIVED),$(or $(filter %/lib$l.a,$(ARCHIVES)),-l$l)) $(LIBS_SHARED)
ALL_CFLAGS = $(CFLAGS_COMMON) $(CFLAGS_VARIANT) $(CFLAGS)

DIRS := core lp partition hw collectives perf bench
BARE_SOURCES := $(wildcard perf/bare/*.c)
PROGRAM_SOURCES := bench/main.c bench/build_commit.c
EXAMPLE_SOURCES := $(wildcard core/example/*.c)
LIB_SOURCES := $(filter-out $(PROGRAM_SOURCES) $(BARE_SOURCES) $(EXAMPLE_SOURCES),$(foreach d,$(DIRS),$(wildcard $(d)/*.c $(d)/*/*.c $(d)/*/*/*.c)))
LIB_OBJECTS := $(LIB_SOURCES:%.c=$(OUT)/obj/%.o)
CHECKED_OBJECTS := $(patsubst %.c,$(OUT)/obj/%.o,$(filter bench/% perf/% collectives/config/% collectives/msccl/% collectives/data/op_%,$(LIB_SOURCES)))
ifneq ($(filter release check,$(VARIANT)),)
  $(CHECKED_OBJECTS): CFLAGS_VARIANT += $(CHECKED)
endif
# Minutes under a sanitizer: first, so that no core waits for them at the end.
LONG_TESTS := test/faults/test_faults.c test/faults/test_kills.c test/unit/core/test_core_phold.c test/unit/core/test_core_parallel.c
TEST_SOURCES := $(LONG_TESTS) $(filter-out $(LONG_TESTS),$(wildcard test/unit/*/test_*.c test/integration/test_*.c test/faults/test_*.c test/fuzz/test_*.c))
FAULT_TESTS := $(wildcard test/faults/test_*.c)
TEST_SUPPORT := $(wildcard test/support/*.c)
TEST_SUPPORT_OBJECTS := $(TEST_SUPPORT:%.c=$(OUT)/obj/%.o)
TEST_BINARIES := $(TEST_SOURCES:%.c=$(OUT)/%)
# The explorer's tests exist in the variants explore and explore-asan only.
EXPLORE_TESTS := $(wildcard test/stress/test_*.c)
EXPLORE_SUPPORT := $(filter-out $(EXPLORE_TESTS),$(wildcard test/stress/*.c)) test/support/random_model.c \
                   test/support/harsh_model.c test/support/tied_model.c
EXPLORE_BINARIES := $(EXPLORE_TESTS:%.c=$(OUT)/%)
BARE_BINARIES := $(BARE_SOURCES:%.c=$(OUT)/%)

# Targets that build call make again, on all cores.
JOBS ?= $(shell nproc)
SUBMAKE = $(MAKE) --no-print-directory -j$(JOBS)

.PHONY: all engine structure unit cross cross-test install uninstall help setup run test unit asan tsan fuzz fuzz-binaries stress nightly faults mutants model lint analyze clang check-all format perf scatter-sweep compdb clean test-binaries
.DEFAULT_GOAL := all

all: $(OUT)/cubewarp ## build build/cubewarp

# The libraries and headers of an installation; `make install DESTDIR=/tmp/x` puts them there, for
# use below PREFIX.
PREFIX ?= /usr/local
BINDIR ?= $(PREFIX)/bin
LIBDIR ?= $(PREFIX)/lib
INCLUDEDIR ?= $(PREFIX)/include
DATADIR ?= $(PREFIX)/share
MANDIR ?= $(DATADIR)/man
INSTALL = CC="$(CC)" OUT=$(OUT) VERSION=$(ENGINE_VERSION) ABI=$(ENGINE_ABI) RUN="$(RUN)" DESTDIR=$(DESTDIR) \
          PREFIX=$(PREFIX) BINDIR=$(BINDIR) LIBDIR=$(LIBDIR) INCLUDEDIR=$(INCLUDEDIR) \
          DATADIR=$(DATADIR) MANDIR=$(MANDIR) .ci/install.sh

install: ## install program, libraries, headers: PREFIX=/usr/local DESTDIR=
	@$(SUBMAKE) all engine
	@$(INSTALL) install

uninstall: ## remove what `make install` with the same PREFIX and DESTDIR has installed
	@$(INSTALL) uninstall

help: ## list the targets
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | sort | awk -F':.*## ' '{printf "  make %-14s %s\n", $$1, $$2}'

setup: ## install what is missing (Debian packages, through apt-get)
	@.ci/setup.sh $(PACKAGES)

.PHONY: setup-test
setup-test: setup
	@.ci/setup.sh $(TEST_PACKAGES)

run: setup ## set up, build, run the default all-reduce and verify its data
	@$(SUBMAKE) all
	$(OUT)/cubewarp run --verify-data

test: setup-test ## set up, build, run every test
	@$(SUBMAKE) all engine
	@$(SUBMAKE) VARIANT=check test-binaries
	@CUBEWARP=$(BUILD)/cubewarp CC="$(CC)" BUILD=$(BUILD) test/run-tests.sh \
	    test/install/test_install.sh $(TEST_SOURCES:%.c=$(BUILD)/check/%)
	@echo "skipped, for make test-all: $(TEST_ALL)"

# Tests that need programs which nothing else needs. `make test` passes without them.
TEST_ALL := test/browser/test_report.py test/cluster/test_arrays.py test/notebook/test_notebook.py
TEST_ALL_PACKAGES := chromium python3 python3-pandas munge slurmctld slurmd slurm-client slurm-wlm-basic-plugins parallel

.PHONY: test-all
test-all: test ## every test, also those of pages in a browser, and of job arrays on Slurm
	@.ci/setup.sh $(TEST_ALL_PACKAGES)
	@CUBEWARP=$(BUILD)/cubewarp CC="$(CC)" BUILD=$(BUILD) test/run-tests.sh $(TEST_ALL)

# One folder's unit tests: the shortest way from a change to an answer.
FOLDER ?= core
unit: ## one folder's unit tests: make unit FOLDER=core
	@$(SUBMAKE) VARIANT=check $(UNIT_TESTS)
	@test/run-tests.sh $(UNIT_TESTS)

UNIT_TESTS = $(patsubst %.c,$(BUILD)/check/%,$(wildcard test/unit/$(FOLDER)/test_*.c))

asan: setup-test ## every test under AddressSanitizer and UBSan
	@$(SUBMAKE) VARIANT=asan all test-binaries
	@CUBEWARP=$(BUILD)/asan/cubewarp test/run-tests.sh $(TEST_SOURCES:%.c=$(BUILD)/asan/%)

TSAN_TESTS := $(foreach t,phold parallel,$(BUILD)/tsan/test/unit/core/test_core_$t) \
              $(BUILD)/tsan/test/race/test_race $(BUILD)/tsan/test/integration/test_threads \
              $(BUILD)/tsan/test/unit/collectives/test_data_commit \
              $(foreach t,stress lazy_cancel threads pin stats,$(BUILD)/tsan/test/unit/core/test_core_$t) \
              $(BUILD)/tsan/test/integration/test_records
tsan: setup-test ## the engine's workers under ThreadSanitizer, and that it sees what they share
	@$(SUBMAKE) VARIANT=tsan $(BUILD)/tsan/cubewarp $(TSAN_TESTS)
	@PARALLEL_SEEDS=$${PARALLEL_SEEDS:-6} RANDOM_RUNS=$${RANDOM_RUNS:-12} CUBEWARP=$(BUILD)/tsan/cubewarp test/run-tests.sh $(TSAN_TESTS)

# How many schedules `make stress` explores, and how many under AddressSanitizer.
EXPLORE_SEEDS ?= 12000
EXPLORE_ASAN_SEEDS ?= 1500
STRESS := $(EXPLORE_TESTS:%.c=$(BUILD)/explore/%)
STRESS_ASAN := $(EXPLORE_TESTS:%.c=$(BUILD)/explore-asan/%)
stress: setup ## the engine's workers under a scheduler that tries thousands of interleavings
	@$(SUBMAKE) VARIANT=explore $(STRESS)
	@$(SUBMAKE) VARIANT=explore-asan $(STRESS_ASAN)
	@EXPLORE_SEEDS=$(EXPLORE_SEEDS) test/run-tests.sh $(STRESS)
	@EXPLORE_SEEDS=$(EXPLORE_ASAN_SEEDS) test/run-tests.sh $(STRESS_ASAN)

NIGHTLY := $(foreach t,parallel harsh,test/unit/core/test_core_$t)
nightly: setup-test ## clang, analyzers, bare machines, random models, schedules, aarch64, calls that fail: over an hour (NIGHTLY_ROUNDS=0: without end)
	@$(SUBMAKE) clang
	@$(SUBMAKE) analyze
	@$(SUBMAKE) VARIANT=check $(NIGHTLY:%=$(BUILD)/check/%) $(BUILD)/check/cubewarp $(BUILD)/check/test/integration/test_sweep
	@$(SUBMAKE) VARIANT=asan $(NIGHTLY:%=$(BUILD)/asan/%)
	@$(SUBMAKE) VARIANT=tsan $(NIGHTLY:%=$(BUILD)/tsan/%)
	@$(SUBMAKE) VARIANT=explore $(STRESS)
	@$(SUBMAKE) VARIANT=explore-asan $(STRESS_ASAN)
	@$(SUBMAKE) cross-test
	@$(SUBMAKE) faults
	@.ci/setup.sh git debootstrap
	@test/bare.sh
	@test/nightly.sh

SEEDS ?= 100000
SEEDS_OPTIONS ?=
.PHONY: nightly-seeds
nightly-seeds: setup ## 100,000 seeds of each kind of random model and schedule, in shards; goes on where it ended (SEEDS_OPTIONS="--seconds 1200 --part 1/4")
	@.ci/setup.sh git python3
	@$(SUBMAKE) VARIANT=explore $(filter-out %/test_alloc_faults,$(STRESS))
	@$(SUBMAKE) VARIANT=check $(NIGHTLY:%=$(BUILD)/check/%)
	@test/long/seeds.py --seeds $(SEEDS) $(SEEDS_OPTIONS)

# Every call of the commands that write, from each place, with AddressSanitizer.
FAULT_PAIRS ?= 100
faults: setup-test ## make each call of the commands that write fail in turn, with AddressSanitizer: half an hour
	@$(SUBMAKE) VARIANT=asan all $(FAULT_TESTS:%.c=$(BUILD)/asan/%)
	@FAULT_STRIDE=1 FAULT_PAIRS=$(FAULT_PAIRS) KILLS=200 CUBEWARP=$(BUILD)/asan/cubewarp test/run-tests.sh $(FAULT_TESTS:%.c=$(BUILD)/asan/%)

.PHONY: long
LONG_MINUTES ?= 120
long: setup ## runs that last: memory stays flat, two threads commit what one does (LONG_MINUTES=120, and as long on one); a sweep of 5,000 points, killed ten times
	@.ci/setup.sh python3
	@$(SUBMAKE) all
	@test/long/killed_sweep.py $(OUT)/cubewarp
	@test/long/long_runs.py $(OUT)/cubewarp --minutes $(LONG_MINUTES)

mutants: setup ## plant bugs in the engine, one after the other: each must make a test fail
	@.ci/setup.sh git python3
	@test/mutants/run.py $(MUTANTS)

model: ## check the models of the protocols between workers, and that planted bugs are found
	@.ci/setup.sh gcc spin g++ relacy-dev
	@test/model/run.sh

# Seconds for each entry. What a run finds stays in build/fuzz/test/fuzz/found.
FUZZ_SECONDS ?= 60
FUZZ_FORMATS ?= $(patsubst FORMAT(%),%,$(shell grep '^FORMAT' test/fuzz/formats.h))
fuzz: setup ## libFuzzer on each format that is read, from the corpus in test/fuzz (FUZZ_SECONDS=60 FUZZ_FORMATS="msccl study")
	@.ci/setup.sh clang libclang-rt-14-dev
	@$(SUBMAKE) CC=clang VARIANT=fuzz fuzz-binaries
	@FUZZ_SECONDS=$(FUZZ_SECONDS) test/fuzz/run.sh $(BUILD)/fuzz/test/fuzz/fuzz $(FUZZ_FORMATS)

FUZZ_PROGRAM := $(OUT)/test/fuzz/fuzz
fuzz-binaries: $(FUZZ_PROGRAM)

# The tests that make the program read files: the kept inputs of the formats, units, whole commands.
COVER_TESTS := test/fuzz/test_corpus test/faults/test_faults \
    $(patsubst %.c,%,$(wildcard test/unit/bench/test_*.c test/unit/collectives/test_config*.c)) \
    $(foreach t,collectives/test_op_log collectives/test_install_plan perf/test_perf_results perf/test_perf_trend \
    schedule/test_msccl_xml schedule/test_schedule_check schedule/test_schedule_program,test/unit/$t) \
    $(foreach t,algorithm_names check cli compare gradient jitter loaded_mappers msccl parameters perf report_command sweep,test/integration/test_$t)
.PHONY: cover
cover: setup ## lines of the readers that are reached by the kept inputs, unit tests, tests of whole commands, and commands whose calls fail in turn
	@$(SUBMAKE) VARIANT=cover $(BUILD)/cover/cubewarp $(COVER_TESTS:%=$(BUILD)/cover/%)
	@CUBEWARP=$(BUILD)/cover/cubewarp test/fuzz/cover.sh $(BUILD)/cover/obj $(COVER_TESTS:%=$(BUILD)/cover/%)

structure: ## the house in figures: rooms, pairs, circles, assertions, citations
	@.ci/setup.sh git python3 universal-ctags
	@test/structure.py

lint: ## include arrows, circles, layout, cppcheck
	@.ci/setup.sh $(PACKAGES) git clang-format cppcheck universal-ctags python3
	@$(SUBMAKE) VARIANT=check $(BUILD)/check/libcubewarp.a
	@BUILD=$(BUILD) test/lint.sh

# What needs no run to be found. The packages are this target's alone.
analyze: ## cppcheck, clang-tidy and gcc's analyzer over every C source: ten minutes, then what changed (ANALYZERS=clang: clang's)
	@.ci/setup.sh $(PACKAGES) cppcheck clang clang-tidy git
	@$(SUBMAKE) VARIANT=check $(BUILD)/check/obj/builtin_files.inc $(BUILD)/check/obj/plugin_template.inc $(BUILD)/check/obj/page_files.inc
	@BUILD=$(BUILD) JOBS=$(JOBS) test/analyze/analyze.sh $(ANALYZERS)

clang: setup ## build everything with clang, into build/clang
	@.ci/setup.sh clang
	@$(SUBMAKE) CC=clang VARIANT=clang all test-binaries

# The sources' libraries and cmocka, for the other machine; cubewarp itself runs without jemalloc.
cross: setup ## build everything for aarch64, into build/cross
	@.ci/setup.sh gcc-aarch64-linux-gnu
	@.ci/sysroot.sh $(SYSROOT) $(filter-out libjemalloc-dev,$(filter lib%-dev,$(PACKAGES)))
	@$(SUBMAKE) VARIANT=cross all engine test-binaries

CROSS_TESTS := $(foreach d,core hw lp collectives,$(wildcard test/unit/$d/test_*.c))
cross-test: cross ## the unit tests of core, hw, lp and collectives for aarch64, under qemu
	@.ci/setup.sh qemu-user
	@PARALLEL_SEEDS=$${PARALLEL_SEEDS:-3} LP_SEEDS=$${LP_SEEDS:-6} RUN="qemu-aarch64 -L $(SYSROOT)" test/run-tests.sh \
	    $(CROSS_TESTS:%.c=$(BUILD)/cross/%)

check-all: ## everything but the nightly tests
	@$(MAKE) --no-print-directory lint analyze clang asan tsan fuzz stress model test

format: ## lay out every source with clang-format
	clang-format -i $$(git ls-files '*.c' '*.h')

perf: setup ## measure throughput (PERF_OPTIONS="--set phold --rounds 7"), with the bare loops
	@$(SUBMAKE) all $(BARE_BINARIES)
	$(OUT)/cubewarp perf run $(PERF_OPTIONS)

.PHONY: nightly-report
NIGHTLY_HISTORY ?= $(BUILD)/nightly.sqlite
NIGHTLY_BUDGET ?= 30m
nightly-report: perf-nightly ## measure the set of a night (NIGHTLY_HISTORY=FILE keeps all, NIGHTLY_BUDGET=30m), write build/nightly.html
	-$(OUT)/cubewarp perf trend --history $(NIGHTLY_HISTORY) --svg $(BUILD)/nightly.svg
	-$(OUT)/cubewarp perf compare --history $(NIGHTLY_HISTORY) --against 10 --format markdown > $(BUILD)/nightly.md
	$(OUT)/cubewarp report $(NIGHTLY_HISTORY) -o $(BUILD)/nightly.html

.PHONY: perf-nightly
perf-nightly: setup
	@$(SUBMAKE) all $(BARE_BINARIES)
	$(OUT)/cubewarp perf run --set nightly --budget $(NIGHTLY_BUDGET) --history $(NIGHTLY_HISTORY) $(PERF_OPTIONS)

scatter-sweep: setup ## the reduce-scatters by size, ranks and speed: tables and plot in perf/results/
	@.ci/setup.sh gnuplot-nox python3
	@$(SUBMAKE) all
	perf/results/scatter_sweep.py $(OUT)/cubewarp

.PHONY: explain-table
explain-table: ## limits that run --explain names, beside runs with them twice as fast: perf/results/explain.md
	@$(SUBMAKE) VARIANT=check $(BUILD)/check/cubewarp
	perf/results/explain_table.py $(BUILD)/check/cubewarp -j $(JOBS)

.PHONY: schedule-sweep
schedule-sweep: ## the automatic choice beside all that it could have taken: perf/results/schedule_choice.md (QUICK=1: compares some rows)
	@$(SUBMAKE) VARIANT=check $(BUILD)/check/cubewarp
	perf/results/schedule_sweep.py $(BUILD)/check/cubewarp -j $(JOBS) $(if $(QUICK),--quick)

.PHONY: hierarchical-sweep
hierarchical-sweep: ## hierarchical beside the other all-reduces on cubes: perf/results/hierarchical.md
	@$(SUBMAKE) VARIANT=check $(BUILD)/check/cubewarp
	perf/results/hierarchical_sweep.py $(BUILD)/check/cubewarp -j $(JOBS)

# Presets of published machines beside the published figures, from the program that is quick to build.
PRESET_TABLES := kernbench-table wormhole-table vendor-table mi300x-table
.PHONY: $(PRESET_TABLES)
kernbench-table: ## the preset kernbench beside its 12 published times: perf/results/kernbench.md
wormhole-table: ## the preset wormhole_t3k beside its published figures: perf/results/wormhole_t3k.md
vendor-table: ## reduce-scatters on a3_16 and a3_16_vendor: perf/results/a3_16_vendor.md
mi300x-table: ## the preset mi300x_8 beside measured times: perf/results/mi300x_8.md
$(PRESET_TABLES): setup
	@.ci/setup.sh python3
	@$(SUBMAKE) VARIANT=check $(BUILD)/check/cubewarp
	perf/results/presets.py $(BUILD)/check/cubewarp $(@:-table=)

.PHONY: commands-md
commands-md: ## the tables of options in bench/COMMANDS.md, from those of the program
	@$(SUBMAKE) VARIANT=check $(BUILD)/check/cubewarp
	bench/options/option_tables.sh $(BUILD)/check/cubewarp

.PHONY: studies
studies: setup ## sweep the studies that ship: figures in perf/results/studies/, pages in build/studies/
	@.ci/setup.sh gnuplot-nox python3
	@$(SUBMAKE) VARIANT=check $(BUILD)/check/cubewarp
	perf/results/studies.py $(BUILD)/check/cubewarp $(BUILD)/studies

compdb: ## compile_commands.json, for editors
	@.ci/setup.sh bear
	bear -- $(SUBMAKE) -B all test-binaries

test-binaries: $(TEST_BINARIES)

clean: ## remove the build folder
	rm -rf $(BUILD)

$(OUT)/libcubewarp.a: $(LIB_OBJECTS)
	@rm -f $@
	@$(TOOLS)gcc-ar rcs $@ $^

# The engine as a library of its own, from core/ alone: one object, in which all symbols but those of
# cw.h's CW_API are local, so that a program's own functions may have any name. It is made so also
# where the objects are the link-time optimiser's: any compiler links the result.
ENGINE := libcubewarp-engine
ENGINE_VERSION := $(shell awk '$$2 ~ /^CW_VERSION_(MAJOR|MINOR|PATCH)$$/ { printf "%s%s", dot, $$3; dot = "." }' core/cw.h)
# The shared library's name ends in MAJOR; until 1.0, in 0.MINOR.
ENGINE_ABI := $(if $(filter 0.%,$(ENGINE_VERSION)),$(basename $(ENGINE_VERSION)),$(firstword $(subst ., ,$(ENGINE_VERSION))))
# The layers above alone need the others.
ENGINE_SOURCES := $(filter-out core/os/coroutine.c core/os/program_path.c core/os/affinity.c $(EXAMPLE_SOURCES),$(wildcard core/*.c core/*/*.c))
ENGINE_OBJECTS := $(ENGINE_SOURCES:%.c=$(OUT)/obj/engine/%.o)
ENGINE_LIBS := -lhwloc -pthread
ENGINE_SHARED := $(OUT)/$(ENGINE).so.$(ENGINE_VERSION)
ENGINE_MERGE := $(if $(findstring -flto,$(LDFLAGS_VARIANT)),$(LDFLAGS_VARIANT) -flinker-output=nolto-rel,-nostdlib)
OBJCOPY ?= $(TOOLS)objcopy

engine: $(ENGINE_SHARED) $(OUT)/$(ENGINE).a ## build build/libcubewarp-engine.so.VERSION and .a

$(OUT)/obj/engine/%.o: %.c
	@mkdir -p $(@D)
	@$(CC) $(ALL_CFLAGS) $(ARCH) -fPIC -fvisibility=hidden -c -o $@ $<

$(OUT)/obj/engine.o: $(ENGINE_OBJECTS)
	@$(CC) -r $(ENGINE_MERGE) -o $@.all $^
	@$(OBJCOPY) --localize-hidden $@.all $@
	@rm $@.all

$(OUT)/$(ENGINE).a: $(OUT)/obj/engine.o
	@rm -f $@
	@$(AR) rcs $@ $^

# It stays loaded for good (nodelete): handlers of signals and of the ends of threads lie in it.
$(ENGINE_SHARED): $(OUT)/obj/engine.o
	@$(CC) $(LDFLAGS_VARIANT) $(LINK_VARIANT) -shared -Wl,-soname,$(ENGINE).so.$(ENGINE_ABI) -Wl,-z,defs -Wl,-z,nodelete -o $@ $^ $(ENGINE_LIBS)

# A library, so that a test gets the helpers that it uses and no others: some tests replace parts of
# the product by mocks.
$(OUT)/libtestsupport.a: $(TEST_SUPPORT_OBJECTS)
	@rm -f $@
	@gcc-ar rcs $@ $^

$(OUT)/cubewarp: $(PROGRAM_SOURCES:%.c=$(OUT)/obj/%.o) $(OUT)/libcubewarp.a $(ARCHIVES)
	@$(CC) $(LDFLAGS_VARIANT) $(LINK_VARIANT) $(if $(LINK_VARIANT),-pie) -pthread -rdynamic -o $@ $(filter-out $(ARCHIVES),$^) $(LIBS_PROGRAM)

# The commit is in a file of its own, which changes only with it, and is linked into the program
# only, so that nothing else is built again.
COMMIT := $(or $(shell git describe --always --dirty --abbrev=12 2>/dev/null),unknown)
$(shell mkdir -p $(OUT)/obj && { echo $(COMMIT) | cmp -s - $(OUT)/obj/commit || \
        echo $(COMMIT) >$(OUT)/obj/commit; })
FLAGS_TOLD := $(strip $(CFLAGS_VARIANT) $(CFLAGS) $(ARCH) -ffp-contract=off)
$(OUT)/obj/bench/build_commit.o: CFLAGS_VARIANT += -DCW_COMMIT='"$(COMMIT)"' \
                                                   -DCW_FLAGS='"$(FLAGS_TOLD)"'
$(OUT)/obj/bench/build_commit.o: $(OUT)/obj/commit

# The configuration files that the program has compiled in.
SHIPPED_CONFIGS := $(wildcard configs/*.yaml configs/presets/*.yaml)
$(OUT)/obj/builtin_files.inc: $(SHIPPED_CONFIGS) .ci/embed.sh
	@mkdir -p $(@D)
	@.ci/embed.sh configs $(SHIPPED_CONFIGS) >$@.new && mv $@.new $@
$(OUT)/obj/collectives/config/builtin_files.o: CFLAGS_COMMON += -I$(OUT)/obj
$(OUT)/obj/collectives/config/builtin_files.o: $(OUT)/obj/builtin_files.inc

# What `cubewarp plugin new` writes.
PLUGIN_TEMPLATE := $(wildcard bench/cli/plugin_template/*.in)
$(OUT)/obj/plugin_template.inc: $(PLUGIN_TEMPLATE) .ci/embed.sh
	@mkdir -p $(@D)
	@.ci/embed.sh bench/cli/plugin_template $(PLUGIN_TEMPLATE) >$@.new && mv $@.new $@
$(OUT)/obj/bench/cli/cmd_plugin.o: CFLAGS_COMMON += -I$(OUT)/obj
$(OUT)/obj/bench/cli/cmd_plugin.o: $(OUT)/obj/plugin_template.inc

# What `cubewarp report` puts into its pages: style, d3's modules in the order in which they need each
# other, the script, and the script's hash, for the page's content security policy.
D3_FOLDER ?= /usr/share/nodejs
D3_MODULES := array collection color dispatch ease format interpolate path time time-format timer scale selection shape drag transition zoom
PAGE := $(OUT)/obj/page_files
PAGE_SCRIPT := bench/report/page/d3-licence.txt $(foreach m,$(D3_MODULES),$(D3_FOLDER)/d3-$m/dist/d3-$m.min.js) bench/report/page/page.js
$(OUT)/obj/page_files.inc: bench/report/page/page.css $(PAGE_SCRIPT) .ci/embed.sh
	@mkdir -p $(PAGE)
	@cp bench/report/page/page.css $(PAGE)/page.css
	@cat $(PAGE_SCRIPT) >$(PAGE)/script.js
	@printf "$$(sha256sum <$(PAGE)/script.js | cut -c1-64 | sed 's/../\\x&/g')" | base64 | tr -d '\n' >$(PAGE)/script.sha256
	@.ci/embed.sh $(PAGE) $(PAGE)/page.css $(PAGE)/script.js $(PAGE)/script.sha256 >$@.new && mv $@.new $@
$(OUT)/obj/bench/report/page.o: CFLAGS_COMMON += -I$(OUT)/obj
$(OUT)/obj/bench/report/page.o: $(OUT)/obj/page_files.inc

# main.c runs before the processor is known to be new enough, so it is built for any.
$(OUT)/obj/bench/main.o: ARCH :=
$(OUT)/obj/bench/main.o: CFLAGS_VARIANT := $(filter-out -flto=auto,$(CFLAGS_VARIANT))

$(OUT)/obj/%.o: %.c
	@mkdir -p $(@D)
	@$(CC) $(ALL_CFLAGS) $(ARCH) -c -o $@ $<

$(TEST_BINARIES): $(OUT)/%: $(OUT)/obj/%.o $(OUT)/libtestsupport.a $(OUT)/libcubewarp.a
	@mkdir -p $(@D)
	@$(CC) $(LDFLAGS_VARIANT) -pthread -o $@ $^ -lcmocka $(LIBS)

# The tests of faults run a program whose memory comes from the C library, so that the calls for it can
# fail, with a library before it that makes them fail.
FAULT_PROGRAM := $(OUT)/test/faults/cubewarp
FAULT_SHIM := $(OUT)/test/faults/fault_shim.so
$(FAULT_TESTS:%.c=$(OUT)/%): $(OUT)/obj/test/faults/command_runner.o $(OUT)/obj/test/faults/commands_that_write.o | $(FAULT_PROGRAM) $(FAULT_SHIM)
$(OUT)/obj/test/faults/command_runner.o: CFLAGS_COMMON += -DFAULTS_PROGRAM_BUILT='"$(FAULT_PROGRAM)"' -DFAULTS_SHIM_BUILT='"$(FAULT_SHIM)"'
$(FAULT_PROGRAM): $(PROGRAM_SOURCES:%.c=$(OUT)/obj/%.o) $(OUT)/libcubewarp.a
	@mkdir -p $(@D)
	@$(CC) $(LDFLAGS_VARIANT) -pthread -rdynamic -o $@ $^ $(filter-out $(LIBS_ALLOC),$(LIBS))
$(FAULT_SHIM): $(wildcard test/faults/fault_*.c test/faults/fault_*.h)
	@mkdir -p $(@D)
	@$(CC) $(CFLAGS_COMMON) -O1 -fPIC -fvisibility=hidden -shared -o $@ $(filter %.c,$^) -ldl

# The formats' entries: for libFuzzer (in the variant fuzz only), and for the replay of the corpus.
FUZZ_SOURCES := $(filter-out test/fuzz/test_% test/fuzz/fuzz_main.c test/fuzz/fuzz_plugin.c,$(wildcard test/fuzz/*.c))
FUZZ_OBJECTS := $(FUZZ_SOURCES:%.c=$(OUT)/obj/%.o)
FUZZ_PLUGIN := $(OUT)/test/fuzz/fuzz_plugin.so
$(OUT)/obj/test/fuzz/format_descriptor.o: CFLAGS_COMMON += -DFUZZ_PLUGIN_BUILT='"$(FUZZ_PLUGIN)"'
$(FUZZ_PLUGIN): test/fuzz/fuzz_plugin.c test/fuzz/fuzz_plugin.h collectives/plugin.h
	@mkdir -p $(@D)
	@$(CC) $(CFLAGS_COMMON) -O1 -fPIC -shared -o $@ $<
$(FUZZ_PROGRAM): $(OUT)/obj/test/fuzz/fuzz_main.o $(FUZZ_OBJECTS) $(OUT)/libcubewarp.a | $(FUZZ_PLUGIN)
	@mkdir -p $(@D)
	@$(CC) -fsanitize=fuzzer $(LDFLAGS_VARIANT) -pthread -o $@ $^ $(LIBS)
$(OUT)/test/fuzz/test_corpus: $(FUZZ_OBJECTS) | $(FUZZ_PLUGIN)
$(OUT)/test/fuzz/test_corpus: LIBS := $(OUT)/libcubewarp.a $(LIBS)

# In the variant tsan only.
$(OUT)/test/race/test_race: $(OUT)/obj/test/race/test_race.o $(OUT)/libcubewarp.a
	@mkdir -p $(@D)
	@$(CC) $(LDFLAGS_VARIANT) -pthread -o $@ $^ -lcmocka $(LIBS)

# Before the library: the explorer's threads_run() stands in for that of core/os/threads.c.
$(EXPLORE_BINARIES): $(OUT)/%: $(OUT)/obj/%.o $(EXPLORE_SUPPORT:%.c=$(OUT)/obj/%.o) \
                     $(OUT)/libcubewarp.a
	@mkdir -p $(@D)
	@$(CC) $(LDFLAGS_VARIANT) -pthread -o $@ $^ -lcmocka $(LIBS)

$(BARE_BINARIES): $(OUT)/%: $(OUT)/obj/%.o $(OUT)/libcubewarp.a
	@mkdir -p $(@D)
	@$(CC) $(LDFLAGS_VARIANT) -pthread -o $@ $^ $(LIBS)

.SECONDARY:
-include $(shell find $(OUT)/obj -name '*.d' 2>/dev/null)
