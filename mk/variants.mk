# How each variant is compiled: flags, sizes, libraries of allocation. Sets OUT, the variant's folder.

# Warnings are errors in CI alone: another compiler or library may warn of more.
WARN := -Wall -Wextra $(if $(filter true,$(CI)),-Werror) -Wshadow -Wcast-qual -Wpointer-arith -Wstrict-prototypes \
        -Wmissing-prototypes -Wvla
# -ffp-contract=off: results must not depend on whether the compiler fuses operations.
# DEBUG: with -g1 a stack names functions and lines, but a debugger shows no variables; a fifth less to compile.
DEBUG := -g
CFLAGS_COMMON = -std=gnu17 $(DEBUG) $(WARN) -I. -pthread -ffp-contract=off -MMD -MP
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
            -DQUOTA_MIN=8 -DQUOTA_MAX=24

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
  DEBUG := -g1
  CFLAGS_VARIANT := -O1 -fsanitize=address,undefined -fno-sanitize-recover=all \
                    -fno-omit-frame-pointer -DCW_SANITIZE $(SMALL)
  LDFLAGS_VARIANT := -fsanitize=address,undefined
  LIBS_ALLOC :=
else ifeq ($(VARIANT),tsan)
  OUT := $(BUILD)/tsan
  DEBUG := -g1
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
  DEBUG := -g1
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
