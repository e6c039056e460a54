#!/usr/bin/env bash
# test_install.sh: installs into a clean folder, and builds against it as a user would, outside of
# the tree. Reports as cmocka does. BUILD, CC and CXX as in the Makefile; they must have built all
# and engine.
set -uo pipefail
cd "$(dirname "$0")/../.."
tree=$PWD
prefix=$(mktemp -d)
work=$(mktemp -d)
trap 'rm -rf "$prefix" "$work"' EXIT
cc=${CC:-cc} cxx=${CXX:-g++}
warn="-Wall -Wextra -Wpedantic -Werror"
export PKG_CONFIG_PATH=$prefix/lib/pkgconfig
failed=0

# it NAME: runs the function of that name, whose commands must all succeed.
it() {
    echo "[ RUN      ] $1"
    (set -e; cd "$work"; "$1") >"$work/log" 2>&1 # not in a condition, where set -e has no effect
    if [ $? -eq 0 ]; then
        echo "[       OK ] $1"
    else
        cat "$work/log"
        echo "[  FAILED  ] $1"
        failed=1
    fi
}

an_installation_has_program_libraries_and_headers() {
    make --no-print-directory -C "$tree" install PREFIX="$prefix"
    test -x "$prefix/bin/cubewarp"
    test "$(ls "$prefix"/include/cubewarp/*.h | xargs -n 1 basename | tr '\n' ' ')" = "cw.h cw_inline.h cw_tuning.h "
    test "$(readlink -f "$prefix/lib/libcubewarp-engine.so")" = \
        "$(readlink -f "$prefix"/lib/libcubewarp-engine.so.*.*.*)"
    pkg-config --exists cubewarp-engine cubewarp-plugin
}

# Addresses that differ from run to run, tables of calls that are read-only from the start, no stack
# that is executed; checked stacks and sizes where files are read. No `grep -q`: it ends at the first
# match, and `readelf` then fails.
the_program_and_the_library_are_hardened() {
    local file
    for file in "$prefix/bin/cubewarp" "$(readlink -f "$prefix/lib/libcubewarp-engine.so")"; do
        readelf -hW "$file" | grep 'Type: *DYN' >/dev/null
        readelf -lW "$file" | grep GNU_RELRO >/dev/null
        readelf -lW "$file" | grep 'GNU_STACK.* RW ' >/dev/null
        readelf -dW "$file" | grep 'BIND_NOW\|FLAGS_1.*NOW' >/dev/null
    done
    readelf -dW "$prefix/bin/cubewarp" | grep 'FLAGS_1.*PIE' >/dev/null
    readelf --dyn-syms -W "$prefix/bin/cubewarp" | grep __stack_chk_fail >/dev/null
    readelf --dyn-syms -W "$prefix/bin/cubewarp" | grep 'printf_chk\|memcpy_chk' >/dev/null
}

every_command_has_a_page_and_every_shell_a_completion() {
    local command
    for command in $("$prefix/bin/cubewarp" --help | sed -n 's/^  \([a-z]*\) .*/\1/p'); do
        test -s "$prefix/share/man/man1/cubewarp-$command.1"
        grep -w "$command" "$prefix/share/bash-completion/completions/cubewarp" >/dev/null
    done
    test -s "$prefix/share/man/man1/cubewarp.1"
    bash -n "$prefix/share/bash-completion/completions/cubewarp"
    test -s "$prefix/share/zsh/site-functions/_cubewarp"
    test -s "$prefix/share/fish/vendor_completions.d/cubewarp.fish"
}

the_libraries_show_names_with_the_prefix_only() {
    local others
    # exit(): core/os/fault_guard.c takes the place of the C library's.
    others=$(nm -D --defined-only "$prefix/lib/libcubewarp-engine.so" | awk '$3 !~ /^(cw_.*|exit)$/')
    test -z "$others" || { echo "$others"; false; }
    others=$(nm -g --defined-only "$prefix/lib/libcubewarp-engine.a" | awk 'NF == 3 && $3 !~ /^(cw_.*|exit)$/')
    test -z "$others" || { echo "$others"; false; }
    # MAJOR, and until 1.0 MINOR, too: cw_config changes between them.
    local abi
    abi=$(pkg-config --modversion cubewarp-engine | sed 's/^\(0\.[0-9]*\)\..*/\1/; s/^\([1-9][0-9]*\)\..*/\1/')
    readelf -d "$prefix/lib/libcubewarp-engine.so" | grep "SONAME.*\[libcubewarp-engine\.so\.$abi\]"
    test "$(readlink "$prefix/lib/libcubewarp-engine.so")" = "libcubewarp-engine.so.$abi"
    others=$(readelf -d "$prefix/lib/libcubewarp-engine.so" | sed -n 's/.*NEEDED.*\[\(.*\)\]/\1/p' |
        awk '!/^(libc|libm|libpthread|libhwloc|ld-linux.*)\.so/')
    test -z "$others" || { echo "needs $others"; false; }
}

the_example_builds_in_c_and_cxx_shared_and_static() {
    cp "$prefix/share/cubewarp/example/tandem.c" .
    local flags libs
    flags=$(pkg-config --cflags cubewarp-engine)
    libs=$(pkg-config --libs cubewarp-engine)
    $cc -std=c17 $warn -O2 -o tandem_c tandem.c $flags $libs -Wl,-rpath,"$prefix/lib"
    $cxx -std=c++17 $warn -O2 -x c++ -o tandem_cxx tandem.c $flags -x none $libs -Wl,-rpath,"$prefix/lib"
    $cc -std=c17 $warn -O2 -o tandem_static tandem.c $flags "$prefix/lib/libcubewarp-engine.a" -lhwloc -pthread
    $cxx -std=c++17 $warn -O2 -x c++ -o tandem_cxx_static tandem.c $flags -x none \
        "$prefix/lib/libcubewarp-engine.a" -lhwloc -pthread
    ! ldd ./tandem_static | grep -q cubewarp
}

the_example_has_one_result_in_every_mode_on_1_to_8_threads() {
    local expected program mode threads
    expected=$(./tandem_c)
    grep -q '^trace hash [0-9a-f]\{16\}, mean time at a station 2\.0' <<<"$expected"
    for program in tandem_c tandem_cxx tandem_static tandem_cxx_static; do
        for mode in sequential conservative optimistic adaptive stress; do
            for threads in 1 2 3 4 5 6 7 8; do
                test "$("./$program" $mode $threads)" = "$expected" || { echo "$program $mode $threads"; false; }
            done
        done
    done
}

a_program_may_call_its_functions_like_those_of_the_engine() {
    cat >own.c <<'EOF'
#include <cubewarp/cw.h>
#include <stdio.h>
#include <string.h>
int memory_give(int x);
int error_set(int x);
int memory_give(int x) { return x + 1; }
int error_set(int x) { return x + 2; }
int main(void)
{
    char headers[40];
    snprintf(headers, sizeof headers, "%d.%d.%d", CW_VERSION_MAJOR, CW_VERSION_MINOR, CW_VERSION_PATCH);
    cw_sim_free(NULL);
    return strcmp(cw_version(), headers) + strcmp(headers, CW_VERSION_STRING) + memory_give(1) + error_set(2) - 6;
}
EOF
    $cc -std=c17 $warn -o own own.c $(pkg-config --cflags cubewarp-engine) "$prefix/lib/libcubewarp-engine.a" -lhwloc -pthread
    ./own
    $cc -std=c17 $warn -o own own.c $(pkg-config --cflags --libs cubewarp-engine) -Wl,-rpath,"$prefix/lib"
    ./own
}

a_cxx_host_works_on_the_threads_of_the_workers() {
    cat >each.cc <<'EOF'
#include <cubewarp/cw.h>
#include <cstring>
#include <vector>
static size_t state_bytes(const void *, uint32_t) { return 8; }
static void init(const void *, uint32_t lp, void *state) { *static_cast<uint64_t *>(state) = lp; }
static void handle(cw_ctx *, const void *, const cw_event *) {}
struct sums {
    cw_sim *sim;
    std::vector<uint64_t> of_worker;
};
int main()
{
    const cw_model model = {"sums", nullptr, 64, state_bytes, init, handle, nullptr};
    cw_config config;
    std::memset(&config, 0, sizeof config);
    config.sync = CW_ADAPTIVE;
    config.worker_count = 4;
    config.end_ps = CW_TIME_MAX;
    cw_error error;
    sums all{cw_sim_create(&config, &model, &error), std::vector<uint64_t>(4)};
    cw_each_worker(
        all.sim,
        [](void *arg, uint32_t worker) {
            sums *own = static_cast<sums *>(arg);
            for (uint32_t lp = worker * 16; lp < worker * 16 + 16; lp++)
                own->of_worker[worker] += *static_cast<const uint64_t *>(cw_state(own->sim, lp));
        },
        &all);
    cw_sim_free(all.sim);
    uint64_t sum = 0;
    for (uint64_t part : all.of_worker)
        sum += part;
    return sum == 63 * 64 / 2 ? 0 : 1;
}
EOF
    $cxx -std=c++17 $warn -o each each.cc $(pkg-config --cflags --libs cubewarp-engine) -Wl,-rpath,"$prefix/lib"
    ./each
}

# Its handlers of signals and of ends of threads would be gone.
a_library_that_is_closed_harms_no_one() {
    cat >closed.c <<'EOF'
#include <cubewarp/cw.h>
#include <dlfcn.h>
#include <pthread.h>
#include <time.h>
static size_t state_bytes(const void *data, uint32_t lp) { (void)data, (void)lp; return 0; }
static void init(const void *data, uint32_t lp, void *state) { (void)data, (void)lp, (void)state; }
static void handle(struct cw_ctx *ctx, const void *state, const struct cw_event *event) { (void)ctx, (void)state, (void)event; }
static void *run(void *path)
{
    const struct cw_model model = {.name = "closed", .lp_count = 1, .state_bytes = state_bytes, .init = init, .handle = handle};
    const struct cw_config config = {.worker_count = 1, .end_ps = CW_TIME_MAX};
    struct cw_error error;
    void *const library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    __typeof__(cw_sim_create) *const create = library ? (__typeof__(cw_sim_create) *)dlsym(library, "cw_sim_create") : 0;
    if (!create)
        return "no library";
    struct cw_sim *const sim = create(&config, &model, &error);
    if (((__typeof__(cw_drain) *)dlsym(library, "cw_drain"))(sim, &error) != CW_OK)
        return "no drain";
    ((__typeof__(cw_sim_free) *)dlsym(library, "cw_sim_free"))(sim);
    if (dlclose(library) != 0)
        return "not closed";
    while (clock() < 2 * CLOCKS_PER_SEC) { /* a timer of the thread's processor time goes on */
    }
    return 0;
}
int main(int argc, char **argv)
{
    pthread_t thread;
    void *failure = argc == 2 ? 0 : "no path";
    if (failure || pthread_create(&thread, 0, run, argv[1]) || pthread_join(thread, &failure))
        return 1;
    return failure ? 2 : 0;
}
EOF
    $cc -std=gnu17 -Wall -Wextra -Werror -o closed closed.c $(pkg-config --cflags cubewarp-engine) -ldl -pthread
    ./closed "$prefix/lib/libcubewarp-engine.so"
}

the_program_needs_no_files_and_no_folder() {
    local there=$work/there
    mkdir -p "$there"
    cd "$there"
    "$prefix/bin/cubewarp" run --preset pod64 --n-elem 64 --verify-data
    test "$("$prefix/bin/cubewarp" check)" = "$(cd "$tree" && "$BUILD/cubewarp" check)"
    "$prefix/bin/cubewarp" config | grep '# built-in topology.yaml:[0-9]*:[0-9]*$'
    mkdir configs # a folder that is found goes before them
    cp "$tree"/configs/*.yaml configs
    "$prefix/bin/cubewarp" config | grep '# configs/topology.yaml:[0-9]*:[0-9]*$'
    rm -r configs
}

the_worked_example_of_a_plugin_builds_and_runs() {
    sed -n '/^```c$/,/^```$/p' "$tree/collectives/README.md" | sed '/^```/d' >chain.c
    sed -n '/^```yaml$/,/^```$/p' "$tree/collectives/README.md" | sed '/^```/d' >chain.yaml
    $cc -std=gnu17 $(pkg-config --cflags cubewarp-plugin) -Wall -Wextra -Werror -shared -fPIC -o chain.so chain.c
    "$prefix/bin/cubewarp" run --ccl chain.yaml --bytes 64KiB
    "$prefix/bin/cubewarp" verify --ccl chain.yaml --n-elem 900 --sync stress --threads 2 | grep -x identical
}

a_new_plugin_builds_runs_and_verifies() {
    local program
    for program in "$prefix/bin/cubewarp" "$tree/$BUILD/cubewarp"; do
        rm -rf sum_1
        "$program" plugin new sum_1
        unset CUBEWARP
        make -C sum_1 CFLAGS="-O2 -Wpedantic -Werror" run
        make -C sum_1 verify | grep -x identical
    done
    ! "$program" plugin new sum_1 # there is such a folder
    ! "$program" plugin new 1sum
}

a_removed_installation_leaves_no_file() {
    make --no-print-directory -C "$tree" uninstall PREFIX="$prefix"
    test -z "$(find "$prefix" ! -type d)"
    test ! -e "$prefix/include/cubewarp" && test ! -e "$prefix/share/cubewarp"
}

export BUILD=${BUILD:-build}
it an_installation_has_program_libraries_and_headers
it the_program_and_the_library_are_hardened
it every_command_has_a_page_and_every_shell_a_completion
it the_libraries_show_names_with_the_prefix_only
it the_example_builds_in_c_and_cxx_shared_and_static
it the_example_has_one_result_in_every_mode_on_1_to_8_threads
it a_program_may_call_its_functions_like_those_of_the_engine
it a_cxx_host_works_on_the_threads_of_the_workers
it a_library_that_is_closed_harms_no_one
it the_program_needs_no_files_and_no_folder
it the_worked_example_of_a_plugin_builds_and_runs
it a_new_plugin_builds_runs_and_verifies
it a_removed_installation_leaves_no_file
exit $failed
