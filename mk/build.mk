# The program, its libraries, and what is generated for them.

# METIS and NLopt are not linked: who needs them loads them (partition/metis_library.c, bench/calibrate/nlopt_library.c).
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

DIRS := core lp partition hw collectives workload perf bench
BARE_SOURCES := $(wildcard perf/bare/*.c)
PROGRAM_SOURCES := bench/main.c bench/build_commit.c
EXAMPLE_SOURCES := $(wildcard core/example/*.c)
LIB_SOURCES := $(filter-out $(PROGRAM_SOURCES) $(BARE_SOURCES) $(EXAMPLE_SOURCES),$(foreach d,$(DIRS),$(wildcard $(d)/*.c $(d)/*/*.c $(d)/*/*/*.c)))
LIB_OBJECTS := $(LIB_SOURCES:%.c=$(OUT)/obj/%.o)
CHECKED_OBJECTS := $(patsubst %.c,$(OUT)/obj/%.o,$(filter bench/% perf/% collectives/config/% collectives/msccl/% collectives/data/op_%,$(LIB_SOURCES)))
ifneq ($(filter release check,$(VARIANT)),)
  $(CHECKED_OBJECTS): CFLAGS_VARIANT += $(CHECKED)
endif

all: $(OUT)/cubewarp ##! build build/cubewarp

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

install: ##! install program, libraries, headers: PREFIX=/usr/local DESTDIR=
	@$(SUBMAKE) all engine
	@$(INSTALL) install

uninstall: ## remove what `make install` with the same PREFIX and DESTDIR has installed
	@$(INSTALL) uninstall

clang: setup ## build everything with clang, into build/clang
	@.ci/setup.sh clang
	@$(SUBMAKE) CC=clang VARIANT=clang all test-binaries

# The sources' libraries and cmocka, for the other machine; cubewarp itself runs without jemalloc.
cross: setup ## build everything for aarch64, into build/cross
	@.ci/setup.sh gcc-aarch64-linux-gnu
	@.ci/sysroot.sh $(SYSROOT) $(filter-out libjemalloc-dev,$(filter lib%-dev,$(PACKAGES)))
	@$(SUBMAKE) VARIANT=cross all engine test-binaries

compdb: ## compile_commands.json, for editors
	@.ci/setup.sh bear
	bear -- $(SUBMAKE) -B all test-binaries

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
ENGINE_SOURCES := $(filter-out core/os/coroutine.c core/os/program_path.c core/os/affinity.c core/os/plain_locale.c $(EXAMPLE_SOURCES),$(wildcard core/*.c core/*/*.c))
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
