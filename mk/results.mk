# Measurements, and the tables and plots in perf/results/.

BARE_BINARIES := $(BARE_SOURCES:%.c=$(OUT)/%)

perf: setup ##! measure throughput (PERF_OPTIONS="--set phold --rounds 7"), with the bare loops
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

.PHONY: placement-sweep
placement-sweep: ## the automatic choice of the placement beside the others: perf/results/placement_choice.md
	@$(SUBMAKE) VARIANT=check $(BUILD)/check/cubewarp
	perf/results/schedule_sweep.py $(BUILD)/check/cubewarp -j $(JOBS) --placements

.PHONY: graph-sweep
graph-sweep: ## the automatic choice on 40 graphs beside the others: perf/results/graph_choice.md (QUICK=1: compares some rows)
	@$(SUBMAKE) VARIANT=check $(BUILD)/check/cubewarp
	perf/results/schedule_sweep.py $(BUILD)/check/cubewarp -j $(JOBS) --graphs $(if $(QUICK),--quick)

.PHONY: hierarchical-sweep
hierarchical-sweep: ## hierarchical beside the other all-reduces on cubes: perf/results/hierarchical.md
	@$(SUBMAKE) VARIANT=check $(BUILD)/check/cubewarp
	perf/results/hierarchical_sweep.py $(BUILD)/check/cubewarp -j $(JOBS)

.PHONY: coarse-table
coarse-table: ## coarse tiles beside exact runs: perf/results/coarse.md
	@.ci/setup.sh python3
	@$(SUBMAKE) VARIANT=check $(BUILD)/check/cubewarp
	perf/results/coarse_table.py $(BUILD)/check/cubewarp -j $(JOBS)

.PHONY: steps-table
steps-table: setup ## steps of GPTs on a100_8 and a100_nodes beside measured ones: perf/results/steps.md
	@.ci/setup.sh python3
	@$(SUBMAKE) VARIANT=check $(BUILD)/check/cubewarp
	perf/results/steps.py $(BUILD)/check/cubewarp -j $(JOBS)

# Presets of published machines beside the published figures, from the program that is quick to build.
PRESET_TABLES := kernbench-table wormhole-table vendor-table mi300x-table a100-table v100-table
.PHONY: $(PRESET_TABLES)
kernbench-table: ## the preset kernbench beside its 12 published times: perf/results/kernbench.md
wormhole-table: ## the preset wormhole_t3k beside its published figures: perf/results/wormhole_t3k.md
vendor-table: ## reduce-scatters on a3_16 and a3_16_vendor: perf/results/a3_16_vendor.md
mi300x-table: ## the preset mi300x_8 beside measured times: perf/results/mi300x_8.md
a100-table: ## the preset a100_8 beside measured times: perf/results/a100_8.md
v100-table: ## the preset v100_8 beside measured times: perf/results/v100_8.md
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

$(BARE_BINARIES): $(OUT)/%: $(OUT)/obj/%.o $(OUT)/libcubewarp.a
	@mkdir -p $(@D)
	@$(CC) $(LDFLAGS_VARIANT) -pthread -o $@ $^ $(LIBS)
