# Every command a person types: `make help` lists the ten that are used daily, `make help-all` the rest.
SHELL := /bin/bash
CC ?= cc
BUILD ?= build
VARIANT ?= release

# Why each package is here: README.md, "Dependencies".
PACKAGES := gcc make libck-dev libyaml-dev libjemalloc-dev libcmocka-dev libxxhash-dev \
            libjansson-dev libjudy-dev libhwloc-dev libmetis-dev libnlopt-dev libsqlite3-dev libzstd-dev zlib1g-dev libexpat1-dev g++ pkg-config node-d3 graphviz
# Commands that tests call: they unpack files, read manual pages, completions and plots, and compute figures anew.
TEST_PACKAGES := zstd mandoc man-db zsh fish gnuplot-nox python3

# Targets that build call make again, on all cores.
JOBS ?= $(shell nproc)
SUBMAKE = $(MAKE) --no-print-directory -j$(JOBS)

.PHONY: all engine structure unit help-all cross cross-test install uninstall help setup run test unit asan tsan fuzz fuzz-binaries stress nightly faults mutants model lint analyze clang check-all format perf scatter-sweep compdb clean test-binaries
.DEFAULT_GOAL := all

# ##! marks the targets that `make help` lists, ## the others.
help:
	@grep -hE '^[a-z-]+:.*##! ' $(MAKEFILE_LIST) | awk -F':.*##! ' '{printf "  make %-10s %s\n", $$1, $$2}'

help-all: ##! list all targets
	@grep -hE '^[a-z-]+:.*##!? ' $(MAKEFILE_LIST) | sort | awk -F':.*##!? ' '{printf "  make %-20s %s\n", $$1, $$2}'

setup: ## install what is missing (Debian packages, through apt-get)
	@.ci/setup.sh $(PACKAGES)

.PHONY: setup-test
setup-test: setup
	@.ci/setup.sh $(TEST_PACKAGES)

run: setup ##! set up, build, show all-reduces of six sizes on 4 SIPs, verified
	@$(SUBMAKE) all
	$(OUT)/cubewarp run

include mk/variants.mk mk/build.mk mk/test.mk mk/results.mk

.SECONDARY:
-include $(shell find $(OUT)/obj -name '*.d' 2>/dev/null)
