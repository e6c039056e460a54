/*
 * options_table.c: the tables of commands and of their options (options_table.h). A new option is a
 * row here and a field in its command's struct.
 */
#include "bench/options/options_table.h"

#include "bench/options/options_compare.h"
#include "bench/options/options_perf.h"
#include "bench/options/options_phold.h"
#include "bench/options/options_plugin.h"
#include "bench/options/options_replay.h"
#include "bench/options/options_report.h"
#include "bench/options/options_calibrate.h"
#include "bench/options/options_call.h"
#include "bench/options/options_run.h"
#include "bench/options/options_sweep.h"
#include "bench/options/options_unused.h"
#include "bench/options/options_value.h"
#include "bench/options/options_workload.h"
#include "bench/output/comparison_page.h"
#include "bench/programs/bench.h"
#include "core/at_random.h"
#include "partition/partition.h"
#include "perf/sets.h"

/* The commands that read a configuration, the commands that also run it, and all. */
#define CONFIGURED                                                                                 \
    (COMMAND_RUN | COMMAND_VERIFY | COMMAND_CHECK | COMMAND_CONFIG | COMMAND_TOPO |                \
     COMMAND_BATCH | COMMAND_STEP)
#define RUNNING  (COMMAND_RUN | COMMAND_VERIFY)
#define STEPPING (RUNNING | COMMAND_STEP)
#define WRITING  (COMMAND_RUN | COMMAND_STEP)
#define SIZED    (RUNNING | COMMAND_CHECK)
/* The commands whose values begin with the engine's configuration. */
#define DRAINING (STEPPING | COMMAND_PHOLD)
#define ALL      (UINT32_MAX & ~COMMANDS_WITH_PARTS)

/* A row's field: where it is in the command's struct, and how many bytes it has. */
#define AT(type, field)                                                                            \
    .offset = offsetof(struct type, field), .bytes = sizeof(((struct type *)NULL)->field)
#define RUN(field)     AT(run_options, field)
#define PHOLD(field)   AT(phold_command, field)
#define ENGINE(field)  AT(cw_config, field)
#define PERF(field)    AT(perf_options, field)
#define COMPARE(field) AT(compare_options, field)
#define SWEEP(field)   AT(sweep_options, field)
#define FITS(field)    AT(calibrate_options, field)
#define REPORT(field)  AT(report_options, field)
#define NEW(field)     AT(workload_new_options, field)

_Static_assert(offsetof(struct run_options, engine) == 0, "ENGINE()");
_Static_assert(offsetof(struct phold_command, options.engine) == 0, "ENGINE()");

/* ---- choices -------------------------------------------------------------------------------- */

static const char *input_choice(size_t i)
{
    static const char *const names[] = {"uniform", "integers", NULL};
    return names[i];
}

static const char *dir_choice(size_t i)
{
    return i < HW_DIR_BUILT_IN ? hw_dir_name((enum hw_dir)i) : NULL;
}

static const char *sync_choice(size_t i) { return i < CW_SYNCS ? cw_sync_name[i] : NULL; }

static const char *partition_choice(size_t i)
{
    const struct partitioner *const partitioner = partitioner_at((uint32_t)i);
    return partitioner != NULL ? partitioner->name : NULL;
}

static const char *partition_choice_help(size_t i) { return partitioner_at((uint32_t)i)->help; }

static const char *cancellation_choice(size_t i)
{
    static const char *const names[] = {"aggressive", "lazy", NULL};
    return names[i];
}

static const char *place_choice(size_t i)
{
    static const char *const names[] = {
        [MEASURED_IN_PLACE] = "in_place", [MEASURED_OUT_OF_PLACE] = "out_of_place", NULL};
    return names[i];
}

static const char *concurrency_choice(size_t i)
{
    static const char *const names[] = {
        [RUN_CONCURRENCY_FREE] = "free", [RUN_CONCURRENCY_ONE] = "one", NULL};
    return names[i];
}

static const char *launch_order_choice(size_t i)
{
    static const char *const names[] = {
        [RUN_LAUNCH_IMPLICIT] = "implicit", [RUN_LAUNCH_PROGRAM] = "program", NULL};
    return names[i];
}

static const char *simulated_choice(size_t i)
{
    static const char *const names[] = {[RUN_SIMULATED] = "simulated", [RUN_FREE] = "free", NULL};
    return names[i];
}

static const char *shortcut_choice(size_t i)
{
    static const char *const names[] = {
        [RUN_SHORTCUT_AUTO] = "auto", [RUN_SHORTCUT_ON] = "on", [RUN_SHORTCUT_OFF] = "off", NULL};
    return names[i];
}

static const char *trace_compute_choice(size_t i)
{
    static const char *const names[] = {[TRACE_AS_RECORDED] = "recorded",
                                        [TRACE_REPLAY] = "replay",
                                        [TRACE_ROOFLINE] = "roofline",
                                        NULL};
    return names[i];
}

static const char *trace_unit_choice(size_t i)
{
    static const char *const names[] = {
        [TRACE_UNIT_AUTO] = "auto", [TRACE_UNIT_US] = "us", [TRACE_UNIT_NS] = "ns", NULL};
    return names[i];
}

static const char *operands_choice(size_t i) { return matmul_operands_name(i); }

static const char *engine_choice(size_t i)
{
    static const char *const names[] = {"slurm", "lsf", "sge", "parallel", NULL};
    return names[i];
}

static const char *balance_choice(size_t i)
{
    return i < CW_BALANCES    ? cw_balance_name[i]
           : i == CW_BALANCES ? balance_name(CW_BALANCE_RANDOM) /* engine_options_finish() */
                              : NULL;
}

static const char *recompute_choice(size_t i)
{
    static const char *const names[] = {"none", "selective", "full", NULL};
    return names[i];
}

static const char *schedule_choice(size_t i)
{
    static const char *const names[] = {"1f1b", "gpipe", "interleaved", NULL};
    return names[i];
}

static const char *kernels_choice(size_t i)
{
    static const char *const names[] = {"blocks", "layers", NULL};
    return names[i];
}

/* ---- options -------------------------------------------------------------------------------- */

static const char needs_trace[] = "--trace-only, --trace-from, --trace-to and --trace-links are "
                                  "for --trace FILE, which is missing";
static const char needs_first_size[] = "-e, -f and -i need -b, the first size";

const struct option_row option_rows[] = {
    /* the configuration */
    {"topology", 0, OPTION_TEXT, CONFIGURED, "FILE", "YAML over the shipped topology.yaml",
     RUN(config.topology), .group = "The machine and the algorithm"},
    {"components", 0, OPTION_TEXT, CONFIGURED, "FILE", "the same, components.yaml",
     RUN(config.components)},
    {"ccl", 0, OPTION_TEXT, CONFIGURED | COMMAND_LIST, "FILE", "the same, ccl.yaml",
     RUN(config.ccl), .unused = unused_list},
    {"preset", 0, OPTION_OTHER, CONFIGURED | COMMAND_LIST, "NAME",
     "configs/presets/NAME.yaml, or a path; may be repeated, the later over the earlier",
     RUN(config.preset), .repeats = true, .read = run_options_read_preset, .unused = unused_list},
    {"set", 0, OPTION_OTHER, CONFIGURED, "KEY=VALUE",
     "one value, as in system.sips.count=64; may be repeated", RUN(sets), .repeats = true,
     .read = run_options_read_set},
    {"algorithm", 0, OPTION_TEXT, CONFIGURED, "NAME",
     "an entry of ccl.yaml, FILE.xml (MSCCL XML) or FILE.json (an MSCCL++ plan)",
     RUN(config.algorithm)},
    {"coarse", 0, OPTION_OTHER, CONFIGURED, "SIZE",
     "simulate this many bytes at a time, at the cost of their tiles: 64KiB (defaults.coarse)",
     RUN(sets), .read = run_options_read_coarse},
    {"no-plugins", 0, OPTION_SET, CONFIGURED, NULL,
     "refuse algorithms, mappers and validators that are loaded from a file",
     RUN(config.no_plugins)},

    /* the bench and its work */
    {"bench", 0, OPTION_CHOSEN_NAME, SIZED, "NAME", "", RUN(bench), .listed = true,
     .choice = bench_name, .style = OPTION_SUGGESTED, .group = "The bench and its sizes"},
    {"bytes", 0, OPTION_TEXT, SIZED, "SIZE",
     "bytes per shard: 4096, 4k, 16MB, a range 1KiB:1GiB:x2, or several: 1K,1M", RUN(asked.bytes),
     .unused = unused_size},
    {"bytes-per-rank", 0, OPTION_TEXT, SIZED, "SIZE",
     "bytes of all shards of a rank together; likewise", RUN(asked.bytes_per_rank),
     .of_some_benches = true, .unused = unused_size},
    {"n-elem", 0, OPTION_TEXT, SIZED, "N", "elements per shard; likewise", RUN(asked.n_elem),
     .unused = unused_size},
    {"minbytes", 'b', OPTION_BYTES, SIZED, "SIZE",
     "first size of a range, as in nccl-tests: of all shards of a rank together", RUN(asked.least),
     .may_be_zero = true, .unused = unused_size},
    {"maxbytes", 'e', OPTION_BYTES, SIZED, "SIZE", "its last size", RUN(asked.most),
     .needs = "minbytes", .needs_text = needs_first_size},
    {"stepfactor", 'f', OPTION_COUNT, SIZED, "F", "each size F times the one before",
     RUN(asked.factor), .min = 2, .max = 1u << 20, .needs = "minbytes",
     .needs_text = needs_first_size},
    {"stepbytes", 'i', OPTION_BYTES, SIZED, "SIZE", "or each size this much larger",
     RUN(asked.step), .needs = "minbytes", .needs_text = needs_first_size, .excludes = "stepfactor",
     .excludes_text = "-f and -i exclude each other"},
    {"dtype", 'd', OPTION_OTHER, SIZED | COMMAND_BATCH, "T",
     "f16 (default), bf16, f32, f64, fp8_e4m3, fp8_e5m2, int8, int32, or nccl-tests' names",
     RUN(dtype), .choice = dtype_at, .read = run_options_read_dtype, .unused = unused_type,
     .group = "Data and iterations"},
    {"op", 'o', OPTION_OTHER, RUNNING | COMMAND_BATCH, "OP",
     "sum (default), max, min, prod, avg, premulsum: operands times --scalar, then added", RUN(op),
     .choice = redop_at, .read = run_options_read_op, .unused = unused_op},
    {"scalar", 0, OPTION_OTHER, RUNNING | COMMAND_BATCH, "X",
     "what premulsum multiplies each operand by (2)", RUN(scalar), .read = run_options_read_scalar},
    {"iters", 'n', OPTION_COUNT, SIZED, "N", "timed iterations (1)", RUN(iterations), .min = 1,
     .max = 1000000},
    {"warmup_iters", 'w', OPTION_COUNT, SIZED, "N", "untimed iterations before them (0)",
     RUN(warmup), .max = 1000000},
    /* seed * 2^32 is a stream's place: more bits would repeat streams. */
    {"seed", 0, OPTION_COUNT, STEPPING | COMMAND_BATCH, "N", "of the input data (1)", RUN(seed),
     .max = UINT32_MAX, .unused = unused_seed},
    {"input", 0, OPTION_CHOICE, RUNNING, "KIND",
     "uniform (default), or integers, whose sums are exact in any order", RUN(input),
     .of_some_benches = true, .choice = input_choice, .unused = unused_input},
    {"data", 0, OPTION_FILE, RUNNING, "FILE",
     "the ranks' gradients for ccl_gradient: raw little-endian elements of --dtype", RUN(data),
     .of_some_benches = true},
    {"data-out", 0, OPTION_OUTPUT_FILE, COMMAND_RUN, "FILE",
     "write rank 0's result of ccl_gradient, as raw as its --data", RUN(data_out),
     .of_some_benches = true},
    {"verify-data", 0, OPTION_OTHER, STEPPING, "[sample]",
     "compare the results with what they must be, bit for bit where that is known; sample, or\n"
     "sample=K (not of a step): of 4 ranks, or K, by the steps of their schedule, without tensor\n"
     "data",
     RUN(verify_data), .optional = "sample", .read = run_options_read_verify,
     .unused = unused_verify},
    {"check", 'c', OPTION_COUNT, RUNNING, "N", "as in nccl-tests: --verify-data unless 0",
     RUN(verify_data), .max = 1000000, .excludes = "verify-data",
     .excludes_text = "-c N and --verify-data say the same or the opposite: drop one of the two",
     .unused = unused_verify},
    {"no-data", 0, OPTION_SET, SIZED | COMMAND_STEP, NULL, "timing alone, without tensor data",
     RUN(no_data), .excludes = "op-log",
     .excludes_text = "--no-data leaves nothing for --op-log to replay: drop one of the two",
     .unused = unused_no_data},
    {"from", 0, OPTION_OTHER, RUNNING, "S.C.P", "SIP.cube.PE of ipcq_pingpong, raw_store (0.0.0)",
     RUN(from), .of_some_benches = true, .read = run_options_read_place,
     .group = "Options of some benches"},
    {"to", 0, OPTION_OTHER, RUNNING, "S.C.P", "its partner (0.1.0)", RUN(to),
     .of_some_benches = true, .read = run_options_read_place},
    {"dir", 0, OPTION_CHOICE, RUNNING, "D",
     "direction of ipcq_shift: N, S, E (default), W, global_*, intra_*", RUN(dir),
     .of_some_benches = true, .choice = dir_choice,
     .expected = "N, S, E, W, or one of them after global_ or intra_"},
    {"tiles", 0, OPTION_COUNT, RUNNING, "N", "tiles that each PE sends in ipcq_shift (1)",
     RUN(tiles), .of_some_benches = true, .min = 1, .max = 1u << 24},
    {"ahead", 0, OPTION_COUNT, RUNNING, "N",
     "tiles that a PE of ipcq_shift sends before its first receive, beside the first (0)",
     RUN(ahead), .of_some_benches = true, .max = 65535, .unused = unused_ahead},
    {"call", 0, OPTION_OTHER, SIZED, "CALL",
     "a call of concurrent: COLLECTIVE:GROUPS:SIZE@START, as in all_reduce:tp:1MiB@5us; several: "
     "with commas, or --call again",
     RUN(calls), .repeats = true, .of_some_benches = true, .read = run_options_read_call},
    {"gemm", 0, OPTION_OTHER, RUNNING, "MxNxK",
     "product of gemm and gemm_allreduce on PE 0 of each cube (128x128x512)", RUN(gemm),
     .of_some_benches = true, .read = run_options_read_gemm},
    {"gemm-operands", 0, OPTION_CHOICE, RUNNING, "HOW",
     "of gemm: streamed from HBM (default), pinned: A in TCM, loaded: both in TCM, cut: over all "
     "PEs of each SIP",
     RUN(gemm.operands), .of_some_benches = true, .choice = operands_choice},
    {"gemm-tile", 0, OPTION_COUNT, RUNNING, "N", "side of its tiles (32)", RUN(gemm.tile),
     .of_some_benches = true, .min = 1, .max = 4096, .unused = unused_gemm_tile},

    /* a step */
    {"workload", 0, OPTION_FILE, SIZED, "FILE", "a workload file or a trace, for --bench step",
     RUN(workload), .of_some_benches = true, .group = "Steps"},
    {"concurrency", 0, OPTION_CHOICE, STEPPING, "HOW",
     "free (default), or one: a rank has one collective or send in flight, as in ASTRA-sim",
     RUN(concurrency), .of_some_benches = true, .choice = concurrency_choice, .group = "Steps"},
    {"launch-order", 0, OPTION_CHOICE, STEPPING, "HOW",
     "implicit (default): collectives of one queue begin in program order; program: by "
     "dependencies alone",
     RUN(launch_order), .of_some_benches = true, .choice = launch_order_choice},
    {"launches", 0, OPTION_CHOICE, STEPPING, "HOW",
     "simulated (default), or free: they take no time", RUN(launches), .of_some_benches = true,
     .choice = simulated_choice},
    {"communication", 0, OPTION_CHOICE, STEPPING, "HOW",
     "simulated (default), or free: collectives end when their last rank begins",
     RUN(communication), .of_some_benches = true, .choice = simulated_choice},

    /* a trace */
    {"groups", 0, OPTION_FILE, STEPPING, "FILE",
     "of a Chakra trace: its groups of ranks, {\"1\": [0, 1], ...}", RUN(workload_trace.groups),
     .of_some_benches = true, .group = "Traces"},
    {"trace-ranks", 0, OPTION_COUNT, STEPPING, "N",
     "of a trace that does not say how many (the machine's SIPs)", RUN(workload_trace.ranks),
     .of_some_benches = true, .min = 1, .max = 1u << 20},
    {"first-dimension", 0, OPTION_COUNT, STEPPING, "N",
     "of a layer table: ranks in dimension 0 of its network (all)",
     RUN(workload_trace.first_dimension), .of_some_benches = true, .min = 1, .max = 1u << 20},
    {"compute", 0, OPTION_CHOICE, STEPPING, "HOW",
     "of a Chakra trace: recorded (default): its times, the machine's where it has none; replay: "
     "its times alone; roofline: the machine's, where it says the operations",
     RUN(workload_trace.compute), .of_some_benches = true, .choice = trace_compute_choice},
    {"time-unit", 0, OPTION_CHOICE, STEPPING, "UNIT",
     "of a Chakra trace's times: us, ns, or auto (default): as its version has them",
     RUN(workload_trace.unit), .of_some_benches = true, .choice = trace_unit_choice},

    /* shortcuts */
    {"fold", 0, OPTION_CHOICE, WRITING, "HOW",
     "simulate one SIP for all that do the same: auto (default), where no result changes; on, or "
     "the run is refused; off",
     RUN(fold), .choice = shortcut_choice, .group = "Shortcuts"},
    {"repeat", 0, OPTION_CHOICE, WRITING, "HOW",
     "simulate iterations until they repeat, and count the rest: auto (default), on, off",
     RUN(repeat), .choice = shortcut_choice},
    {"replay", 0, OPTION_CHOICE, WRITING, "HOW",
     "simulate equal operations of a step once, where they meet no others: auto (default), on, off",
     RUN(replay), .choice = shortcut_choice, .of_some_benches = true},

    /* the model of phold */
    {"lps", 0, OPTION_COUNT, COMMAND_PHOLD, "N", "logical processes (4096)", PHOLD(options.lps),
     .min = 1, .max = UINT32_MAX - 1, .group = "The model"},
    {"population", 0, OPTION_COUNT, COMMAND_PHOLD, "N", "events that each starts with (16)",
     PHOLD(options.population), .max = UINT32_MAX},
    {"remote", 0, OPTION_PROBABILITY, COMMAND_PHOLD, "P",
     "probability that an event goes to a random LP: 0.25 or 25% (0.25)", PHOLD(options.remote_p32),
     .unused = unused_remote},
    {"hot", 0, OPTION_PROBABILITY, COMMAND_PHOLD, "P",
     "share of the LPs, the first ones, that are hot: 0.1 or 10% (0)", PHOLD(options.hot_p32)},
    {"hot-share", 0, OPTION_PROBABILITY, COMMAND_PHOLD, "P",
     "share of the remote events that the hot LPs get (0.5)", PHOLD(options.hot_share_p32),
     .needs = "hot", .needs_text = "--hot-share needs hot LPs: give --hot P, too"},
    {"mean", 0, OPTION_TIME, COMMAND_PHOLD, "TIME", "mean of the exponential part of a delay (1)",
     PHOLD(options.mean_ps), .unused = unused_remote},
    {"lookahead", 0, OPTION_TIME, COMMAND_PHOLD, "TIME", "least delay (0.1)",
     PHOLD(options.lookahead_ps), .unused = unused_remote},
    {"state-bytes", 0, OPTION_COUNT, COMMAND_PHOLD, "N", "state of an LP, a multiple of 8 (16)",
     PHOLD(options.state_bytes), .min = 16, .max = 1u << 24},
    {"grain-ns", 0, OPTION_COUNT, COMMAND_PHOLD, "N", "work per event, in ns of this machine (0)",
     PHOLD(options.grain_ns), .max = 1000000000},
    {"end", 0, OPTION_TIME, COMMAND_PHOLD, "TIME", "end time, exclusive (100)",
     PHOLD(options.engine.end_ps)},
    {"traffic", 0, OPTION_CHOICE, COMMAND_PHOLD, "NAME",
     "random (default), or mesh: tokens hopping in lock-step on a torus", PHOLD(options.traffic),
     .choice = phold_traffic_name},
    {"seed", 0, OPTION_COUNT, COMMAND_PHOLD, "N", "of the random draws (1)", PHOLD(options.seed),
     .max = INT64_MAX},

    /* the engine; `phold` has most of them, too */
    {"sync", 0, OPTION_CHOICE, DRAINING, "MODE",
     "sequential (default on one thread), adaptive (on several), conservative, optimistic, stress",
     ENGINE(sync), .choice = sync_choice, .group = "The engine"},
    {"threads", 0, OPTION_COUNT, DRAINING, "N", "worker threads (1)", ENGINE(worker_count),
     .min = 1, .max = 1024},
    {"partition", 0, OPTION_CHOSEN_NAME, STEPPING, "NAME", "cubes to threads:", RUN(partition),
     .listed = true, .choice = partition_choice, .choice_help = partition_choice_help,
     .style = OPTION_ONE_OF, .unused = unused_threads},
    {"balance", 0, OPTION_CHOICE, DRAINING, "HOW",
     "SIPs, cubes or LPs move between threads: on (as work asks; default in adaptive), "
     "off,\nrandom "
     "(a test)",
     ENGINE(tuning.balance), .choice = balance_choice, .unused = unused_balance},
    {"no-gather", 0, OPTION_CLEAR, DRAINING, NULL,
     "adaptive: use all threads, also where one alone is faster", ENGINE(tuning.gather),
     .unused = unused_gather},
    {"no-pin", 0, OPTION_CLEAR, DRAINING, NULL, "do not bind threads to cores",
     ENGINE(tuning.pin_workers), .unused = unused_pin},
    {"window", 0, OPTION_COUNT, STEPPING, "NS",
     "adaptive, optimistic, stress: speculate at most this many simulated ns beyond GVT",
     ENGINE(tuning.window_ps), .min = 1, .max = UINT32_MAX, .scale = 1000},
    {"cancellation", 0, OPTION_CHOICE, DRAINING, "HOW",
     "when to cancel what an undone event sent: aggressive (at once, default), lazy (if not sent "
     "again)",
     ENGINE(tuning.lazy_cancellation), .choice = cancellation_choice,
     .unused = unused_cancellation},
    {"stress-rate", 0, OPTION_SHARE, DRAINING, "P",
     "share of events that --sync stress undoes: 0.5 or 50% (10%)", ENGINE(tuning.stress_rate_p32)},
    {"max-memory", 0, OPTION_BYTES, DRAINING, "SIZE",
     "limit on the engine's memory, such as 512MiB (80 % of the machine's)",
     ENGINE(memory_bytes_max)},
    {"max-sim-time", 0, OPTION_TIME, STEPPING, "TIME",
     "a run that is not over at this simulated time, such as 10ms, fails", ENGINE(end_ps),
     .min = 1},
    {"max-events", 0, OPTION_COUNT, STEPPING, "N", "a run of more events fails", ENGINE(events_max),
     .min = 1, .max = UINT64_MAX},

    /* the files that `run` writes */
    {"json", 0, OPTION_OUTPUT, WRITING, "FILE", "write the result as JSON; - for standard output",
     RUN(json), .group = "Results"},
    {"measured", 0, OPTION_FILE, COMMAND_RUN, "FILE",
     "measured times to print beside the simulated ones: a log or table of nccl-tests, hccl_test, "
     "OSU or IMB, or JSON of nccl-tests",
     RUN(measured)},
    {"measured-place", 0, OPTION_CHOICE, COMMAND_RUN, "PLACE",
     "which of them, where there are both: in_place (default), out_of_place", RUN(measured_place),
     .choice = place_choice, .needs = "measured",
     .needs_text = "--measured-place needs --measured"},
    {"csv", 0, OPTION_OUTPUT, WRITING, "FILE",
     "write one row per size as CSV; - for standard output", RUN(csv)},
    {"again", 0, OPTION_FILE, COMMAND_RUN, "RESULT.json",
     "run the line of that result again, and compare; other options replace its own", RUN(again)},
    {"tag", 0, OPTION_OTHER, WRITING, "KEY=VALUE",
     "a column of the CSV and a member of the JSON's provenance; may be repeated", RUN(tags),
     .repeats = true, .read = run_options_read_tag, .unused = unused_tag},
    {"ccl-trace", 0, OPTION_OUTPUT, WRITING, "FILE",
     "write each committed send and receive; - for standard output (standard error beside JSON or "
     "CSV there), as does CUBEWARP_CCL_TRACE=1",
     RUN(ccl_trace), .group = "Logs and timelines"},
    {"op-log", 0, OPTION_OUTPUT_FILE, WRITING, "FILE",
     "write every committed data operation, for cubewarp replay (Zstandard)", RUN(op_log)},
    {"trace", 0, OPTION_OUTPUT_FILE, WRITING, "FILE",
     "write a timeline of calls, kernels, operations, waits and tiles as Chrome trace JSON "
     "(ui.perfetto.dev); FILE.gz and FILE.zst are compressed",
     RUN(timeline)},
    {"trace-only", 0, OPTION_TEXT, COMMAND_RUN, "PLACES",
     "of these SIPs, cubes, PEs alone: 0,1.10,2-3.0.0", RUN(trace_only), .needs = "trace",
     .needs_text = needs_trace},
    {"trace-from", 0, OPTION_TIME, COMMAND_RUN, "TIME", "from this simulated time on, such as 10us",
     RUN(trace_from_ps), .needs = "trace", .needs_text = needs_trace},
    {"trace-to", 0, OPTION_TIME, COMMAND_RUN, "TIME", "and before this one", RUN(trace_to_ps),
     .min = 1, .needs = "trace", .needs_text = needs_trace},
    {"trace-links", 0, OPTION_SET, COMMAND_RUN, NULL,
     "with tracks of PE_DMA and of all links, which are several times as many events",
     RUN(trace_links), .needs = "trace", .needs_text = needs_trace},
    {"links", 0, OPTION_OUTPUT_FILE, WRITING, "FILE",
     "write the use of all links and PEs, in all and over time, as JSON or (FILE.csv) CSV",
     RUN(links)},
    {"svg", 0, OPTION_OUTPUT_FILE, WRITING, "FILE",
     "draw the machine with its links coloured by their use in the last size",
     RUN(drawn[PICTURE_SVG])},
    {"dot", 0, OPTION_OUTPUT_FILE, WRITING, "FILE",
     "write the machine and the use of its links as a graph for Graphviz", RUN(drawn[PICTURE_DOT])},
    {"gexf", 0, OPTION_OUTPUT_FILE, WRITING, "FILE", "the same as GEXF 1.3, for Gephi or NetworkX",
     RUN(drawn[PICTURE_GEXF])},
    {"engine-log", 0, OPTION_OUTPUT_FILE, WRITING, "FILE",
     "write a row per round of GVT as CSV: how the parallel engine went", RUN(engine_log)},
    {"engine-trace", 0, OPTION_OUTPUT_FILE, WRITING, "FILE",
     "write how each thread spent its time as Chrome trace JSON (ui.perfetto.dev)",
     RUN(engine_trace)},
    {"explain", 0, OPTION_SET, WRITING, NULL,
     "say where the time of each size goes: shares, use of blocks, the critical path, its limit",
     RUN(explain), .group = "Explanations"},
    {"dump-pointers", 0, OPTION_SET, COMMAND_RUN, NULL,
     "print the queues at the end (on standard error beside JSON or CSV on standard output)",
     RUN(dump_pointers)},

    {"path", 0, OPTION_TEXT, COMMAND_TOPO, "A B", "the path from PE A to PE B, each S.C.P",
     RUN(path_from), .group = "What is shown"},
    {"svg", 0, OPTION_OUTPUT, COMMAND_TOPO, "FILE", "draw the machine; - for standard output",
     RUN(drawn[PICTURE_SVG])},
    {"dot", 0, OPTION_OUTPUT, COMMAND_TOPO, "FILE",
     "write the machine as a graph for Graphviz; - for standard output", RUN(drawn[PICTURE_DOT])},
    {"gexf", 0, OPTION_OUTPUT, COMMAND_TOPO, "FILE",
     "the same as GEXF 1.3, for Gephi or NetworkX; - for standard output",
     RUN(drawn[PICTURE_GEXF])},
    {"graph", 0, OPTION_OUTPUT, COMMAND_TOPO, "FILE",
     "write the machine as a graph file, which gives it again; - for standard output", RUN(graph)},
    {"xml", 0, OPTION_OUTPUT, COMMAND_TOPO, "FILE",
     "write the algorithm's schedule as MSCCL XML; - for standard output", RUN(xml)},
    {"keys", 0, OPTION_SET, COMMAND_CONFIG, NULL, "list every key, and what is legal, instead",
     RUN(keys)},
    {"verbose", 0, OPTION_SET, COMMAND_CHECK, NULL,
     "also name keys of files and presets that a run would not use", RUN(verbose)},
    {"quiet", 0, OPTION_SET, CONFIGURED, NULL, "show no progress line", RUN(quiet),
     .group = "Others"},

    /* batch */
    {"rows", 0, OPTION_COUNT, COMMAND_BATCH, "N",
     "rows in all (16); batches are of every size that divides it", RUN(rows), .min = 1,
     .max = 4096, .group = "Rows"},
    {"row-elems", 0, OPTION_COUNT, COMMAND_BATCH, "N",
     "elements of a row, a multiple of the ranks (64 for each rank)", RUN(row_elems), .min = 1,
     .max = 1u << 28},

    /* the files that `phold` writes */
    {"json", 0, OPTION_OUTPUT, COMMAND_PHOLD, "FILE",
     "write the result as JSON to FILE, or to standard output for -", PHOLD(json),
     .group = "Results"},
    {"engine-log", 0, OPTION_OUTPUT_FILE, COMMAND_PHOLD, "FILE",
     "write a row per round of GVT as CSV: how the parallel engine went", PHOLD(engine_log)},
    {"engine-trace", 0, OPTION_OUTPUT_FILE, COMMAND_PHOLD, "FILE",
     "write how each thread spent its time as Chrome trace JSON (ui.perfetto.dev)",
     PHOLD(engine_trace)},
    {"verify", 0, OPTION_SET, COMMAND_PHOLD, NULL,
     "run sequentially, too, and compare what was committed", PHOLD(verify)},
    {"quiet", 0, OPTION_SET, COMMAND_PHOLD, NULL, "show no progress line", PHOLD(quiet)},

    /* compare */
    {"tolerance", 0, OPTION_OTHER, COMMAND_COMPARE, "PERCENT",
     "by how much times may differ (0): 2, 2%, 0.5", COMPARE(tolerance_percent),
     .read = compare_options_read_tolerance, .group = "Options"},
    {"format", 0, OPTION_CHOICE, COMMAND_COMPARE, "FORMAT", "", COMPARE(format), .listed = true,
     .choice = comparison_format_name},

    /* replay */
    {"list", 0, OPTION_SET, COMMAND_REPLAY, NULL, "print each record as a line",
     AT(replay_options, list), .group = "Options"},
    {"max-memory", 0, OPTION_BYTES, COMMAND_REPLAY, "SIZE",
     "limit on what tensors and tiles take (80 % of the machine's)", AT(replay_options, bytes_max)},

    /* report */
    {"output", 'o', OPTION_OUTPUT, COMMAND_REPORT, "FILE",
     "the page, one HTML file (report.html, unless another output is named); - for standard output",
     REPORT(html), .group = "Options"},
    {"csv", 0, OPTION_OUTPUT, COMMAND_REPORT, "FILE",
     "write one row per size and point as CSV; - for standard output", REPORT(csv)},
    {"markdown", 0, OPTION_OUTPUT, COMMAND_REPORT, "FILE",
     "write the summary and tables as Markdown; - for standard output", REPORT(markdown)},
    {"pareto", 0, OPTION_OUTPUT, COMMAND_REPORT, "FILE",
     "draw time against cost for each size, with the frontier, as SVG; - for standard output",
     REPORT(pareto)},
    {"plots", 0, OPTION_TEXT, COMMAND_REPORT, "FOLDER",
     "write the curves as SVG and PNG, with their data, through gnuplot", REPORT(plots)},
    /* sweep */
    {"db", 0, OPTION_TEXT, COMMAND_SWEEP, "FILE",
     "the SQLite database of the results (STUDY.sqlite in this folder)", SWEEP(db),
     .group = "The database"},
    {"resume", 0, OPTION_SET, COMMAND_SWEEP, NULL,
     "continue a database that must exist (without: create it if it does not)", SWEEP(resume)},
    {"extend", 0, OPTION_SET, COMMAND_SWEEP, NULL,
     "the study was changed: keep the points that agree, and run the others; the database must be "
     "there",
     SWEEP(extend)},
    {"retry", 0, OPTION_SET, COMMAND_SWEEP, NULL,
     "run the points again that failed, were refused or took too long", SWEEP(retry)},
    {"jobs", 'j', OPTION_COUNT, COMMAND_SWEEP, "N",
     "points in flight (as many as cores and memory allow)", SWEEP(jobs), .min = 1,
     .max = SWEEP_JOBS_MAX, .group = "What runs at once"},
    {"threads", 0, OPTION_COUNT, COMMAND_SWEEP, "N",
     "threads of each point (1, or the cores that the points in flight leave)", SWEEP(threads),
     .min = 1, .max = 1024},
    {"point-timeout", 0, OPTION_OTHER, COMMAND_SWEEP, "TIME",
     "end a point that takes longer: 90, 90s, 15m or 2h (none)", SWEEP(timeout_s),
     .read = options_read_duration, .unused = unused_timeout},
    {"max-memory", 0, OPTION_BYTES, COMMAND_SWEEP, "SIZE",
     "limit on the memory of all points in flight, by estimate (80 % of the machine's)",
     SWEEP(memory_bytes)},
    {"shard", 0, OPTION_TEXT, COMMAND_SWEEP, "I/N",
     "run part I of N alone; array, array/N: the part of this task of Slurm, LSF, Grid Engine or "
     "PBS",
     SWEEP(shard), .group = "Parts and job arrays"},
    {"emit", 0, OPTION_CHOICE, COMMAND_SWEEP, "ENGINE",
     "run nothing: print the script of a job array, for slurm, lsf, sge or parallel", SWEEP(emit),
     .min = SWEEP_SLURM, .choice = engine_choice, .excludes = "shard",
     .excludes_text = "--emit is for the whole study: drop --shard"},
    {"tasks", 0, OPTION_COUNT, COMMAND_SWEEP, "N",
     "tasks of that array (as many as work some ten minutes each)", SWEEP(tasks), .min = 1,
     .max = 100000, .needs = "emit", .needs_text = "--tasks is for --emit"},
    {"dry-run", 0, OPTION_SET, COMMAND_SWEEP, NULL,
     "run nothing: list the points, with estimates of events, memory and time", SWEEP(dry_run),
     .group = "Others"},
    {"quiet", 0, OPTION_SET, COMMAND_SWEEP, NULL,
     "say nothing, unless points are not done or have wrong data", SWEEP(quiet)},

    /* calibrate */
    {"preset", 0, OPTION_TEXT, COMMAND_CALIBRATE, "NAME",
     "the machine: a preset's name or file; a study names its own", FITS(preset),
     .group = "What is fitted"},
    {"fit", 0, OPTION_TEXT, COMMAND_CALIBRATE, "KEYS",
     "the keys to fit, between commas; a study's fit has bounds, starts and lists, too", FITS(fit)},
    {"algorithm", 0, OPTION_TEXT, COMMAND_CALIBRATE, "NAME",
     "the algorithm that was measured, or an MSCCL XML file (the configured one)", FITS(algorithm)},
    {"dtype", 0, OPTION_TEXT, COMMAND_CALIBRATE, "TYPE", "the type that was measured (f16)",
     FITS(dtype)},
    {"set", 0, OPTION_OTHER, COMMAND_CALIBRATE, "KEY=VALUE",
     "set one value of the configuration; may be repeated", FITS(sets), .repeats = true,
     .read = calibrate_options_read_set},
    {"measured-place", 0, OPTION_TEXT, COMMAND_CALIBRATE, "PLACE",
     "which times, where there are both: in_place (default), out_of_place", FITS(place)},
    {"starts", 0, OPTION_COUNT, COMMAND_CALIBRATE, "N",
     "starts of the search: the configuration's values, and drawn ones (3)", FITS(starts), .min = 1,
     .max = CALIBRATE_STARTS_MAX, .group = "The search"},
    {"seed", 0, OPTION_COUNT, COMMAND_CALIBRATE, "N", "of the drawn starts (1)", FITS(seed),
     .max = UINT32_MAX},
    {"limit", 0, OPTION_OTHER, COMMAND_CALIBRATE, "TIME",
     "end the search, and what follows it, after so long: 90, 90s, 15m or 2h (10m)", FITS(limit_s),
     .read = options_read_duration},
    {"jobs", 'j', OPTION_COUNT, COMMAND_CALIBRATE, "N", "rows that run at once (as many as cores)",
     FITS(jobs), .min = 1, .max = 1024},
    {"output", 'o', OPTION_OUTPUT_FILE, COMMAND_CALIBRATE, "FILE",
     "write the fitted configuration, which --preset FILE takes", FITS(output),
     .group = "What is written"},
    {"quiet", 0, OPTION_SET, COMMAND_CALIBRATE, NULL, "no progress line", FITS(quiet)},

    /* workload check */
    {"set", 0, OPTION_OTHER, COMMAND_WORKLOAD_CHECK, "KEY=VALUE",
     "a key of the file, workload.parallel.tp=8, or of the machine; may be repeated",
     AT(workload_check_options, settings), .repeats = true, .read = workload_check_read_set,
     .group = "Options"},
    {"groups", 0, OPTION_FILE, COMMAND_WORKLOAD_CHECK, "FILE",
     "of a Chakra trace: its groups of ranks, {\"1\": [0, 1], ...}",
     AT(workload_check_options, trace.groups)},
    {"trace-ranks", 0, OPTION_COUNT, COMMAND_WORKLOAD_CHECK, "N",
     "of a trace that does not say how many", AT(workload_check_options, trace.ranks), .min = 1,
     .max = 1u << 20},
    {"first-dimension", 0, OPTION_COUNT, COMMAND_WORKLOAD_CHECK, "N",
     "of a layer table: ranks in dimension 0 of its network (all)",
     AT(workload_check_options, trace.first_dimension), .min = 1, .max = 1u << 20},
    {"compute", 0, OPTION_CHOICE, COMMAND_WORKLOAD_CHECK, "HOW",
     "of a Chakra trace: recorded (default), replay, roofline",
     AT(workload_check_options, trace.compute), .choice = trace_compute_choice},
    {"time-unit", 0, OPTION_CHOICE, COMMAND_WORKLOAD_CHECK, "UNIT",
     "of a Chakra trace's times: auto (default), us, ns", AT(workload_check_options, trace.unit),
     .choice = trace_unit_choice},
    {"json", 0, OPTION_OUTPUT, COMMAND_WORKLOAD_CHECK, "FILE",
     "write the programs of all classes as JSON; - for standard output",
     AT(workload_check_options, json)},
    {"preset", 0, OPTION_TEXT, COMMAND_WORKLOAD_CHECK, "NAME",
     "the machine whose HBM the ranks are compared with: configs/presets/NAME.yaml, or a path",
     AT(workload_check_options, preset)},

    /* workload new */
    {"output", 'o', OPTION_OUTPUT, COMMAND_WORKLOAD_NEW, "FILE",
     "the workload file (standard output)", NEW(output), .group = "The file"},
    {"layers", 0, OPTION_COUNT, COMMAND_WORKLOAD_NEW, "N", "layers (24)", NEW(plan.layers),
     .min = 1, .max = 1u << 20, .group = "The model"},
    {"hidden", 0, OPTION_COUNT, COMMAND_WORKLOAD_NEW, "N", "elements of a token (2048)",
     NEW(plan.hidden), .min = 1, .max = 1u << 20},
    {"heads", 0, OPTION_COUNT, COMMAND_WORKLOAD_NEW, "N", "heads of attention (16; attention: 1)",
     NEW(plan.heads), .min = 1, .max = 1u << 20},
    {"kv-heads", 0, OPTION_COUNT, COMMAND_WORKLOAD_NEW, "N",
     "heads of keys and values, each shared by some of queries (as --heads)", NEW(plan.kv_heads),
     .min = 1, .max = 1u << 20},
    {"ffn", 0, OPTION_COUNT, COMMAND_WORKLOAD_NEW, "N",
     "elements between the matrices of a feed-forward block (4 x hidden)", NEW(plan.ffn), .min = 1,
     .max = 1u << 24},
    {"gated", 0, OPTION_SET, COMMAND_WORKLOAD_NEW, NULL,
     "three matrices in a feed-forward block, as of SwiGLU, instead of two", NEW(plan.gated)},
    {"vocab", 0, OPTION_COUNT, COMMAND_WORKLOAD_NEW, "N", "entries of the vocabulary (51200)",
     NEW(plan.vocab), .min = 1, .max = 1u << 24},
    {"experts", 0, OPTION_COUNT, COMMAND_WORKLOAD_NEW, "N", "experts of a layer (8)",
     NEW(plan.experts), .min = 1, .max = 1u << 20},
    {"top-k", 0, OPTION_COUNT, COMMAND_WORKLOAD_NEW, "N", "experts that a token goes to (2)",
     NEW(plan.top_k), .min = 1, .max = 1u << 20},
    {"capacity", 0, OPTION_TEXT, COMMAND_WORKLOAD_NEW, "FACTOR",
     "room of an expert, over the mean of its tokens (as --skew)", NEW(plan.capacity)},
    {"skew", 0, OPTION_TEXT, COMMAND_WORKLOAD_NEW, "FACTOR",
     "tokens of the fullest rank of experts, over the mean (1)", NEW(plan.skew)},
    {"dtype", 'd', OPTION_OTHER, COMMAND_WORKLOAD_NEW, "T", "of weights and activations (bf16)",
     NEW(plan.dtype), .choice = dtype_at, .read = workload_new_read_dtype},
    {"grad-dtype", 0, OPTION_OTHER, COMMAND_WORKLOAD_NEW, "T", "of gradients (as --dtype)",
     NEW(plan.grad_dtype), .choice = dtype_at, .read = workload_new_read_dtype},
    {"sequence", 0, OPTION_COUNT, COMMAND_WORKLOAD_NEW, "N", "tokens of a sequence (2048)",
     NEW(plan.sequence), .min = 1, .max = 1u << 24, .group = "A step"},
    {"micro-batch", 0, OPTION_COUNT, COMMAND_WORKLOAD_NEW, "N",
     "sequences of a microbatch (1; inference: those of a rank)", NEW(plan.micro_batch), .min = 1,
     .max = 1u << 20},
    {"global-batch", 0, OPTION_COUNT, COMMAND_WORKLOAD_NEW, "N",
     "sequences of a step (micro-batch x dp x pp)", NEW(plan.global_batch), .min = 1,
     .max = 1u << 20},
    {"prompt", 0, OPTION_COUNT, COMMAND_WORKLOAD_NEW, "N", "tokens of a prompt (1024)",
     NEW(plan.sequence), .min = 1, .max = 1u << 24},
    {"tokens", 0, OPTION_COUNT, COMMAND_WORKLOAD_NEW, "N",
     "tokens that are made of a sequence (16)", NEW(plan.tokens), .min = 1, .max = 1u << 16},
    {"batch", 0, OPTION_COUNT, COMMAND_WORKLOAD_NEW, "N",
     "sequences of an inference, or of an attention (dp)", NEW(plan.global_batch), .min = 1,
     .max = 1u << 20},
    {"queries", 0, OPTION_COUNT, COMMAND_WORKLOAD_NEW, "N",
     "tokens of a rank that attend (16; a decode: 1)", NEW(plan.sequence), .min = 1,
     .max = 1u << 24},
    {"keys", 0, OPTION_COUNT, COMMAND_WORKLOAD_NEW, "N",
     "tokens that are attended to, of all ranks (16 x cp)", NEW(plan.keys), .min = 1,
     .max = 1u << 24},
    {"head-dim", 0, OPTION_COUNT, COMMAND_WORKLOAD_NEW, "N", "elements of a head (64)",
     NEW(plan.head_dim), .min = 1, .max = 1u << 20},
    {"recompute", 0, OPTION_CHOICE, COMMAND_WORKLOAD_NEW, "WHAT",
     "what the backward pass computes again: none (default), selective (attention) or full",
     NEW(plan.recompute), .choice = recompute_choice},
    {"tp", 0, OPTION_COUNT, COMMAND_WORKLOAD_NEW, "N",
     "tensor parallelism: ranks that share each layer (1)", NEW(plan.tp), .min = 1, .max = 1u << 20,
     .group = "Ranks: tp x cp x pp x dp"},
    {"cp", 0, OPTION_COUNT, COMMAND_WORKLOAD_NEW, "N",
     "context parallelism: ranks that share a sequence, as a ring (1)", NEW(plan.cp), .min = 1,
     .max = 1u << 20},
    {"pp", 0, OPTION_COUNT, COMMAND_WORKLOAD_NEW, "N", "pipeline stages (1)", NEW(plan.pp),
     .min = 1, .max = 1u << 20},
    {"dp", 0, OPTION_COUNT, COMMAND_WORKLOAD_NEW, "N",
     "data parallelism: ranks with sequences of their own (1)", NEW(plan.dp), .min = 1,
     .max = 1u << 20},
    {"ep", 0, OPTION_COUNT, COMMAND_WORKLOAD_NEW, "N", "ranks of dp that share the experts (1)",
     NEW(plan.ep), .min = 1, .max = 1u << 20},
    {"sequence-parallel", 0, OPTION_SET, COMMAND_WORKLOAD_NEW, NULL,
     "ranks of tp share norms and dropouts too: reduce-scatter and all-gather, not all-reduce",
     NEW(plan.sequence_parallel)},
    {"zero", 0, OPTION_COUNT, COMMAND_WORKLOAD_NEW, "N",
     "ranks of dp share optimizer (1), gradients (2), weights (3), or nothing (0)", NEW(plan.zero),
     .max = 3},
    {"schedule", 0, OPTION_CHOICE, COMMAND_WORKLOAD_NEW, "NAME",
     "of the pipeline: 1f1b (default), gpipe or interleaved", NEW(plan.schedule),
     .choice = schedule_choice},
    {"chunks", 0, OPTION_COUNT, COMMAND_WORKLOAD_NEW, "N",
     "of a stage, with --schedule interleaved (2)", NEW(plan.chunks), .min = 1, .max = 1u << 20},
    {"buckets", 0, OPTION_COUNT, COMMAND_WORKLOAD_NEW, "N",
     "gradients are reduced in so many parts (one for each layer)", NEW(plan.buckets), .min = 1,
     .max = 1u << 20},
    {"no-overlap", 0, OPTION_SET, COMMAND_WORKLOAD_NEW, NULL,
     "gradients are reduced after the backward pass, not during it", NEW(plan.no_overlap)},
    {"kernels", 0, OPTION_CHOICE, COMMAND_WORKLOAD_NEW, "WHAT",
     "a kernel for each of: blocks (default), attention and feed-forward; layers",
     NEW(plan.kernels), .choice = kernels_choice},

    /* perf */
    {"set", 0, OPTION_TEXT, COMMAND_PERF_RUN, "NAME", "", PERF(set), .listed = true,
     .choice = perf_set_name, .choice_help = perf_set_help, .group = "Options"},
    {"rounds", 0, OPTION_COUNT, COMMAND_PERF_RUN, "N", "measurements of each case (5)",
     PERF(rounds), .min = 1, .max = 99},
    {"repeats", 0, OPTION_COUNT, COMMAND_PERF_RUN, "N",
     "how often a disturbed measurement is repeated (2)", PERF(repeats), .max = 99},
    {"json", 0, OPTION_OUTPUT, COMMAND_PERF_RUN, "FILE",
     "write the result as JSON; - for standard output", PERF(json)},
    {"budget", 0, OPTION_OTHER, COMMAND_PERF_RUN, "TIME",
     "begin no round that would end later than this: 90, 90s, 2m or 1h (none)", PERF(budget_s),
     .read = options_read_duration},
    {"history", 0, OPTION_FILE, COMMAND_PERF_RUN | COMMAND_PERF_COMPARE | COMMAND_PERF_TREND,
     "FILE",
     "the SQLite file that keeps all runs ($XDG_DATA_HOME/cubewarp/perf.sqlite, or the same in "
     "~/.local/share)",
     PERF(history)},
    {"no-history", 0, OPTION_SET, COMMAND_PERF_RUN, NULL, "do not keep this run", PERF(no_history)},
    {"list", 0, OPTION_SET, COMMAND_PERF_RUN | COMMAND_PERF_COMPARE, NULL,
     "list the cases of the set, or the runs in the history, instead", PERF(list)},
    {"against", 0, OPTION_COUNT, COMMAND_PERF_COMPARE, "N",
     "compare with the last N runs together, not with one: medians, and the noise between them",
     PERF(against), .min = 3, .max = 1000},
    {"format", 0, OPTION_CHOICE, COMMAND_PERF_COMPARE, "NAME", "form of the result", PERF(format),
     .choice = comparison_format_name},
    {"set", 0, OPTION_TEXT, COMMAND_PERF_TREND, "NAME", "of which set (the newest run's)",
     PERF(trend_set), .choice = perf_set_name},
    {"last", 0, OPTION_COUNT, COMMAND_PERF_TREND, "N", "how many runs (60)", PERF(last), .min = 1,
     .max = 10000},
    {"csv", 0, OPTION_OUTPUT, COMMAND_PERF_TREND, "FILE",
     "write a row per case and run; - for standard output", PERF(csv)},
    {"svg", 0, OPTION_OUTPUT, COMMAND_PERF_TREND, "FILE",
     "draw a curve per case; - for standard output", PERF(svg)},
    {"force", 0, OPTION_SET, COMMAND_PERF_COMPARE, NULL, "compare runs of different machines",
     PERF(force)},
    {"quiet", 0, OPTION_SET, COMMAND_PERF_RUN, NULL, "say nothing while it runs", PERF(quiet)},

    {"help", 'h', OPTION_HELP, ALL, NULL, "this text", .bytes = 0 /* stores nothing */,
     .group = "Help"},
};
const size_t option_row_count = sizeof option_rows / sizeof *option_rows;
_Static_assert(sizeof option_rows / sizeof *option_rows <= OPTION_ROWS_MAX, "options.given");

/* ---- commands ------------------------------------------------------------------------------- */

enum { RUN_NAMES = 26, PHOLD_NAMES = 20, REPLAY_NAMES = 22 };

static const struct command_row command_rows[] = {
    {COMMAND_RUN, "run", "run a bench on the simulated machine (all-reduce by default)",
     "[OPTION]...", "Runs a bench on the simulated machine.\n", NULL, .name_width = RUN_NAMES,
     .finish = run_options_finish,
     .examples = {"run", "run --preset pod64 --algorithm auto --bytes-per-rank 1K,1M,64M",
                  "run --set system.sips.count=16 --set links.sip_link.bw_gbs=200 --bytes "
                  "1KiB:1MiB --verify-data"}},
    {COMMAND_STEP, "step", "run a training step, an inference, or a trace of either",
     "[OPTION]... FILE",
     "Runs the step of a workload file (workload/STEPS.md) or of a trace on the simulated "
     "machine,\n"
     "and says where its time goes. --set workload.KEY=VALUE sets a key of the file.\n",
     NULL, .name_width = RUN_NAMES, .argument = step_options_argument,
     .finish = step_options_finish,
     .examples = {"step --preset pod64 gpt.yaml",
                  "step --preset pod64 --set workload.parallel.tp=8 --json step.json gpt.yaml",
                  "step --launches free --communication free gpt.yaml"}},
    {COMMAND_PHOLD, "phold", "run the engine's benchmark", "[OPTION]...",
     "Runs PHOLD, the standard benchmark of parallel discrete-event engines.\n",
     "\nTIME is a number and ps, ns, us, ms or s; a bare number counts units of 1 us.\n",
     .name_width = PHOLD_NAMES, .letters = LETTERS_IN_FRONT, .brief = true,
     .finish = phold_options_finish,
     .examples = {"phold", "phold --threads 2 --lps 16384 --remote 50%",
                  "phold --traffic mesh --verify"}},
    {COMMAND_CHECK, "check", "validate a configuration, and estimate a run of it", "[OPTION]...",
     "Validates a configuration, and the sizes if any are given, and estimates what a run costs.\n",
     NULL, .name_width = RUN_NAMES, .finish = run_options_finish,
     .examples = {"check --preset pod1024 --algorithm auto --bytes 64KiB:16MiB:x4 --no-data",
                  "check --bench ccl_all_gather --bytes 1MiB", "check --verbose --preset a3_16"}},
    {COMMAND_CONFIG, "config", "print the resolved configuration and where values come from",
     "[OPTION]...",
     "Prints the resolved configuration as YAML that loads again (as --preset FILE),\n"
     "with the place that each value comes from.\n",
     NULL, .name_width = RUN_NAMES,
     .examples = {"config", "config --preset pod64 --set links.ucie.bw_gbs=64", "config --keys"}},
    {COMMAND_TOPO, "topo", "show what a configuration builds", "[OPTION]...",
     "Shows what a configuration builds.\n", NULL, .name_width = RUN_NAMES,
     .argument = topo_options_argument, .finish = topo_options_finish,
     .examples = {"topo --preset rail_128", "topo --path 0.0.0 1.5.3",
                  "topo --preset six_3x2 --svg machine.svg"}},
    {COMMAND_LIST, "list", "list algorithms, presets, topologies, studies or benches",
     "algorithms | presets | topologies | studies | benches",
     "Lists what there is to choose from, a line each.\n", NULL, .name_width = RUN_NAMES,
     .argument = list_options_argument, .finish = list_options_finish,
     .examples = {"list algorithms", "list presets", "list topologies"}},
    {COMMAND_VERIFY, "verify", "run twice and compare every result: reproducibility", "[OPTION]...",
     "Runs the same configuration sequentially and in the given mode, and compares\n"
     "trace hash, data hash and every result.\n",
     NULL, .name_width = RUN_NAMES, .finish = run_options_finish,
     .examples = {"verify --threads 2", "verify --sync optimistic --threads 2 --bytes 64KiB",
                  "verify --sync stress --preset tiny"}},
    {COMMAND_BATCH, "batch", "reduce the same rows in batches of several sizes, compare the bits",
     "[OPTION]...",
     "Reduce-scatters the same rows in batches of several sizes, and compares the bits of the\n"
     "results. Exit code 1: they depend on the batch.\n",
     NULL, .name_width = RUN_NAMES, .finish = batch_options_finish,
     .examples = {"batch --preset a3_4 --algorithm birs",
                  "batch --preset a3_4 --algorithm auto --rows 64",
                  "batch --preset a3_4 --algorithm rhd --dtype bf16"}},
    {COMMAND_SWEEP, "sweep", "run all points of a study, and keep the results in a database",
     "[OPTION]... STUDY.yaml | merge --db ALL PART...",
     "Runs all points of a study, each once, and keeps the results in an SQLite database. What is\n"
     "in the database already does not run again. bench/study/STUDY.md describes studies.\n"
     "'merge' joins the databases of a study's parts.\n",
     NULL, .name_width = REPLAY_NAMES, .letters = LETTERS_IN_FRONT,
     .argument = sweep_options_argument, .finish = sweep_options_finish,
     .examples = {"sweep configs/studies/first_look.yaml",
                  "sweep --dry-run configs/studies/scaling.yaml",
                  "sweep --extend --db results.sqlite study.yaml"}},
    {COMMAND_CALIBRATE, "calibrate", "fit values of a configuration to measured times",
     "[OPTION]... MEASURED... | STUDY.yaml",
     "Finds the values of some keys with which simulated times are nearest to measured ones. The\n"
     "tables are of the preset's algorithm; a study names an algorithm for each table, and bounds\n"
     "for each key (bench/study/STUDY.md, \"Fits\"). It says what each key moves, which keys "
     "cannot\n"
     "be told apart, and how well curves are met that were left out.\n",
     NULL, .name_width = REPLAY_NAMES, .letters = LETTERS_IN_FRONT,
     .argument = calibrate_options_argument, .finish = calibrate_options_finish,
     .examples = {"calibrate nccl.log --preset a100_8 --fit "
                  "links.sip_link.bw_gbs,launch_static_ns -o mine.yaml",
                  "calibrate --limit 5m mi300x.yaml -o mi300x_fitted.yaml"}},
    {COMMAND_COMPARE, "compare", "compare two results or studies: sizes, phases, links",
     "[OPTION]... A B",
     "Compares the result B with A, both of run --json: the time of each size, its phases and its\n"
     "kinds of links, and what differs in the configuration; or two databases of sweep, point by\n"
     "point. Exit code 1: they differ by more than the tolerance.\n",
     NULL, .name_width = REPLAY_NAMES, .argument = compare_options_argument,
     .finish = compare_options_finish,
     .examples = {"compare before.json after.json",
                  "compare --format markdown before.json after.json",
                  "compare --tolerance 2 monday.sqlite tuesday.sqlite"}},
    {COMMAND_REPLAY, "replay", "execute an op log again: the same memory", "[OPTION]... FILE",
     "Executes an op log that run --op-log wrote, and compares the memory at the end with\n"
     "that of the run. Exit code 1: it differs; 2: the file is no whole op log.\n",
     NULL, .name_width = REPLAY_NAMES, .argument = replay_options_argument,
     .finish = replay_options_finish,
     .examples = {"replay run.ops", "replay --list run.ops", "replay --max-memory 2GiB run.ops"}},
    {COMMAND_REPORT, "report", "show results and studies as one HTML page, as tables, as plots",
     "[OPTION]... FILE...",
     "Shows results as one HTML page that loads nothing. A FILE is the JSON of a run, the\n"
     "database of a sweep, the engine log of a run, or the history of perf.\n",
     NULL, .name_width = REPLAY_NAMES, .letters = LETTERS_IN_FRONT,
     .argument = report_options_argument, .finish = report_options_finish,
     .examples = {"report first_look.sqlite", "report --output page.html a.json b.json",
                  "report --plots plots first_look.sqlite"}},
    {COMMAND_PLUGIN, "plugin", "write the beginnings of an algorithm of your own",
     "[OPTION]... new NAME",
     "Writes the beginnings of a collective algorithm into a new folder NAME: NAME.c, an\n"
     "all-reduce that runs as it is; NAME.yaml, for --ccl; and a Makefile. There, 'make run'\n"
     "builds and runs it, and 'make verify' checks that no result depends on speculation.\n",
     NULL, .name_width = REPLAY_NAMES, .argument = plugin_options_argument,
     .finish = plugin_options_finish,
     .examples = {"plugin new mine", "plugin new my_ring", "run --ccl mine.yaml --verify-data"}},
    {COMMAND_WORKLOAD, "workload", "write and check workload files of training and inference",
     "PART [OPTION]...", "Workload files: a step of training or inference (workload/STEPS.md).\n",
     "  new      write one: GPT, a mixture of experts, inference, attention\n"
     "  check    read one: its mistakes, or its classes of ranks, operations and bytes\n\n"
     "'cubewarp workload PART --help' lists a part's options.\n",
     .name_width = REPLAY_NAMES, .examples = {"workload new gpt --tp 4 --pp 2 --dp 4 -o gpt.yaml"}},
    {COMMAND_WORKLOAD_NEW, "workload new", "write a workload file, with its formulas",
     "gpt | moe | inference | attention [OPTION]...",
     "Writes a workload file: a step of training, or an inference, of a transformer. Its formulas\n"
     "are in it, so that its values can be changed there, or be axes of a study.\n",
     NULL, .name_width = REPLAY_NAMES, .letters = LETTERS_IN_FRONT,
     .argument = workload_new_argument, .finish = workload_new_finish,
     .examples = {"workload new gpt --tp 4 --pp 4 --dp 4 --micro-batch 2 --global-batch 64",
                  "workload new moe --dp 8 --ep 8 -o moe.yaml",
                  "workload new inference --tp 8 --kv-heads 8 --prompt 2048 --tokens 64"}},
    {COMMAND_WORKLOAD_CHECK, "workload check",
     "read a workload file or a trace: mistakes, or what it makes", "[OPTION]... FILE",
     "Reads a workload file and expands it, or a trace. Prints every mistake with its line and\n"
     "column; or the classes of ranks, their operations, their bytes, the groups, and whether "
     "they\n"
     "fit the machine.\n",
     NULL, .name_width = REPLAY_NAMES, .letters = LETTERS_IN_FRONT,
     .argument = workload_check_argument, .finish = workload_check_finish,
     .examples = {"workload check configs/workloads/gpt_small.yaml",
                  "workload check --set workload.parallel.tp=4 configs/workloads/gpt_small.yaml",
                  "workload check --json - configs/workloads/all_reduce.yaml"}},
    {COMMAND_PERF, "perf", "measure throughput, compare with earlier runs", "PART [OPTION]...",
     "Throughput: measured, kept, compared.\n",
     "  run      measure a set of cases\n"
     "  compare  name what became slower than in an earlier run\n"
     "  trend    show all runs, and since when a case is slower\n\n"
     "'cubewarp perf PART --help' lists a part's options.\n",
     .name_width = PHOLD_NAMES, .letters = LETTERS_HIDDEN,
     .examples = {"perf run --rounds 3", "perf compare", "perf trend"}},
    {COMMAND_PERF_RUN, "perf run", "measure a set of cases", "[OPTION]...",
     "Measures a set of cases in alternation, with a calibration of the machine before and after\n"
     "each measurement; what was disturbed is repeated.\n",
     NULL, .name_width = PHOLD_NAMES, .letters = LETTERS_HIDDEN, .finish = perf_run_finish,
     .examples = {"perf run", "perf run --rounds 9 --budget 2m",
                  "perf run --json night.json --no-history"}},
    {COMMAND_PERF_COMPARE, "perf compare", "name what became slower than in an earlier run",
     "[OPTION]... [BASE] [NEW]",
     "Names the cases that became slower beyond the noise of both runs; exit code 1 if there are\n"
     "any, 8 if simulated results changed, 7 if fewer than half of the cases can be compared.\n"
     "BASE and NEW are JSON files of 'perf run', or numbers of runs in the history; by\n"
     "default the last two of this machine that measured the same set.\n",
     NULL, .name_width = PHOLD_NAMES, .letters = LETTERS_HIDDEN, .argument = perf_compare_argument,
     .finish = perf_compare_finish,
     .examples = {"perf compare", "perf compare before.json after.json",
                  "perf compare --against 14"}},
    {COMMAND_PERF_TREND, "perf trend", "show all runs, and since when a case is slower",
     "[OPTION]...",
     "Puts the runs of this machine in a row, case by case, and finds since when a case is slower\n"
     "or faster, also by less than a night's noise; exit code 1 if one became slower within the\n"
     "last 14 runs, 8 if simulated results changed within them.\n",
     NULL, .name_width = PHOLD_NAMES, .letters = LETTERS_HIDDEN,
     .examples = {"perf trend", "perf trend --last 14", "perf trend --svg trend.svg"}},
};
#define COMMAND_ROWS (sizeof command_rows / sizeof *command_rows)

const struct command_row *command_row_at(size_t i)
{
    return i < COMMAND_ROWS ? &command_rows[i] : NULL;
}

const struct command_row *command_row_of(enum command command)
{
    size_t i = 0;
    while (i + 1 < COMMAND_ROWS && command_rows[i].command != command)
        i++;
    return &command_rows[i];
}
