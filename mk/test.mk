# Tests of every kind, and the checks that need no run.

# Minutes under a sanitizer: first, so that no core waits for them at the end.
LONG_TESTS := test/faults/test_faults.c test/integration/test_sweep.c test/faults/test_kills.c $(foreach t,phold parallel,test/unit/core/test_core_$t.c)
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

test: setup-test ##! set up, build, run every test
	@$(SUBMAKE) all engine
	@$(SUBMAKE) VARIANT=check test-binaries
	@CUBEWARP=$(BUILD)/cubewarp CC="$(CC)" BUILD=$(BUILD) test/run-tests.sh \
	    test/install/test_install.sh test/figures/test_figures.py test/estimates/test_estimates.py \
	    test/equality/test_equality.py $(TEST_SOURCES:%.c=$(BUILD)/check/%)
	@echo "skipped, for make test-all: $(TEST_ALL)"

# Tests that need programs which nothing else needs. `make test` passes without them.
TEST_ALL := test/browser/test_report.py test/cluster/test_arrays.py test/notebook/test_notebook.py
TEST_ALL_PACKAGES := chromium python3 python3-pandas munge slurmctld slurmd slurm-client slurm-wlm-basic-plugins parallel

.PHONY: test-all
test-all: test ## every test, also those of pages in a browser, and of job arrays on Slurm
	@.ci/setup.sh $(TEST_ALL_PACKAGES)
	@CUBEWARP=$(BUILD)/cubewarp CC="$(CC)" BUILD=$(BUILD) test/run-tests.sh $(TEST_ALL)

# The shortest way from a change to an answer.
FOLDER ?= core
unit: ##! unit tests of one folder or several, built alone: make unit FOLDER=core
	@$(SUBMAKE) VARIANT=check $(UNIT_TESTS)
	@test/run-tests.sh $(UNIT_TESTS)

UNIT_TESTS = $(patsubst %.c,$(BUILD)/check/%,$(foreach f,$(FOLDER),$(wildcard test/unit/$f/test_*.c)))

.PHONY: quick
quick: setup ##! format and lint of what changed, unit tests of it and of the layers above: minutes
	@.ci/setup.sh git clang-format cppcheck universal-ctags python3
	@$(SUBMAKE) VARIANT=check $(BUILD)/check/libcubewarp.a
	@MAKE="$(SUBMAKE)" BUILD=$(BUILD) test/quick.sh

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

NIGHTLY := $(foreach t,parallel harsh snapshot listen,test/unit/core/test_core_$t) test/unit/collectives/test_dist_programs \
	test/unit/workload/test_workload_programs
NIGHTLY_CALLS := $(foreach t,dist_messages fold_rules fold_times,$(BUILD)/check/test/unit/collectives/test_$t)
nightly: setup-test ## clang, analyzers, bare machines, random models, schedules, aarch64, calls that fail: over an hour (NIGHTLY_ROUNDS=0: without end)
	@$(SUBMAKE) clang
	@$(SUBMAKE) analyze
	@$(SUBMAKE) VARIANT=check $(NIGHTLY:%=$(BUILD)/check/%) $(NIGHTLY_CALLS) $(BUILD)/check/cubewarp $(BUILD)/check/test/unit/hw/test_hw_graph $(foreach t,bounds graph_files group_algorithms group_times sweep,$(BUILD)/check/test/integration/test_$t)
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
	@$(SUBMAKE) VARIANT=check $(NIGHTLY:%=$(BUILD)/check/%) $(NIGHTLY_CALLS)
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
    $(patsubst %.c,%,$(wildcard test/unit/bench/test_*.c test/unit/collectives/test_config*.c test/unit/workload/test_workload_f*.c)) \
    $(foreach t,collectives/test_op_log collectives/test_install_plan perf/test_perf_results perf/test_perf_trend \
    schedule/test_msccl_xml schedule/test_msccl_plan schedule/test_schedule_check schedule/test_schedule_program,test/unit/$t) \
    $(foreach t,algorithm_names check cli compare gradient jitter loaded_mappers msccl parameters perf plans report_command sweep,test/integration/test_$t)
.PHONY: cover
cover: setup ## lines of the readers that are reached by the kept inputs, unit tests, tests of whole commands, and commands whose calls fail in turn
	@$(SUBMAKE) VARIANT=cover $(BUILD)/cover/cubewarp $(COVER_TESTS:%=$(BUILD)/cover/%)
	@CUBEWARP=$(BUILD)/cover/cubewarp test/fuzz/cover.sh $(BUILD)/cover/obj $(COVER_TESTS:%=$(BUILD)/cover/%)

structure: ## the house in figures: rooms, pairs, circles, assertions, citations
	@.ci/setup.sh git python3 universal-ctags
	@test/structure.py

lint: ##! include arrows, circles, layout, cppcheck
	@.ci/setup.sh $(PACKAGES) git clang-format cppcheck universal-ctags python3
	@$(SUBMAKE) VARIANT=check $(BUILD)/check/libcubewarp.a
	@BUILD=$(BUILD) test/lint.sh

# What needs no run to be found. The packages are this target's alone.
analyze: ## cppcheck, clang-tidy and gcc's analyzer over every C source: ten minutes, then what changed (ANALYZERS=clang: clang's)
	@.ci/setup.sh $(PACKAGES) cppcheck clang clang-tidy git
	@$(SUBMAKE) VARIANT=check $(BUILD)/check/obj/builtin_files.inc $(BUILD)/check/obj/plugin_template.inc $(BUILD)/check/obj/page_files.inc
	@BUILD=$(BUILD) JOBS=$(JOBS) test/analyze/analyze.sh $(ANALYZERS)

CROSS_TESTS := $(foreach d,core hw lp collectives,$(wildcard test/unit/$d/test_*.c))
cross-test: cross ## the unit tests of core, hw, lp and collectives for aarch64, under qemu
	@.ci/setup.sh qemu-user
	@PARALLEL_SEEDS=$${PARALLEL_SEEDS:-3} LP_SEEDS=$${LP_SEEDS:-6} RUN="qemu-aarch64 -L $(SYSROOT)" test/run-tests.sh \
	    $(CROSS_TESTS:%.c=$(BUILD)/cross/%)

check-all: ## everything but the nightly tests
	@$(MAKE) --no-print-directory lint analyze clang asan tsan fuzz stress model test

format: ##! lay out every source with clang-format
	clang-format -i $$(git ls-files '*.c' '*.h')

test-binaries: $(TEST_BINARIES)

# A library, so that a test gets the helpers that it uses and no others: some tests replace parts of
# the product by mocks.
$(OUT)/libtestsupport.a: $(TEST_SUPPORT_OBJECTS)
	@rm -f $@
	@gcc-ar rcs $@ $^

# Unit tests link their layer and those below it (ARCHITECTURE.md), so that a test of hw/ builds hw/ alone;
# and the few rooms above that they drive: PHOLD the engine, the data pass kernels' records,
# configurations the partition. All others link everything.
UNIT_hw := hw core/rng.c
UNIT_core := core bench/phold bench/output
UNIT_lp := lp partition hw core collectives/data collectives/memory
UNIT_partition := collectives lp partition hw core
UNIT_collectives := $(UNIT_partition)
UNIT_schedule := $(UNIT_partition)
UNIT_LAYERED := hw core lp partition collectives schedule

# $(call unit_layer,FOLDER): the archive that its tests link, and how they do.
define unit_layer
$(OUT)/unit/lib$(1).a: $(patsubst %.c,$(OUT)/obj/%.o,$(filter $(addsuffix /%,$(UNIT_$(1))) $(UNIT_$(1)),$(LIB_SOURCES)))
$(patsubst %.c,$(OUT)/%,$(wildcard test/unit/$(1)/test_*.c)): $(OUT)/%: $(OUT)/obj/%.o $(if $(filter hw,$(1)),,$(OUT)/libtestsupport.a) $(OUT)/unit/lib$(1).a
endef
$(foreach f,$(UNIT_LAYERED),$(eval $(call unit_layer,$f)))
$(filter-out $(foreach f,$(UNIT_LAYERED),$(OUT)/test/unit/$f/%),$(TEST_BINARIES)): $(OUT)/%: $(OUT)/obj/%.o $(OUT)/libtestsupport.a $(OUT)/libcubewarp.a

$(TEST_BINARIES):
	@mkdir -p $(@D)
	@$(CC) $(LDFLAGS_VARIANT) -pthread -o $@ $^ -lcmocka $(LIBS)
$(OUT)/unit/lib%.a:
	@mkdir -p $(@D)
	@rm -f $@
	@$(TOOLS)gcc-ar rcs $@ $^

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

# Before the engine, all that these tests need: the explorer's threads_run() stands in for that of
# core/os/threads.c.
$(EXPLORE_BINARIES): $(OUT)/%: $(OUT)/obj/%.o $(EXPLORE_SUPPORT:%.c=$(OUT)/obj/%.o) \
                     $(OUT)/unit/libcore.a
	@mkdir -p $(@D)
	@$(CC) $(LDFLAGS_VARIANT) -pthread -o $@ $^ -lcmocka $(LIBS)
