/*
 * cmd_replay.c: `cubewarp replay FILE`: executes an op log again and compares the memory at its end
 * with that of the run that wrote it.
 */
#include <errno.h>
#include <getopt.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "bench/cli/cli.h"
#include "collectives/config/config_source.h"
#include "collectives/data/op_log.h"
#include "core/host/host_limits.h"

struct replay_options {
    const char *path;
    uint64_t bytes_max;
    bool list, help;
};

static const struct option long_options[] = {{"list", no_argument, NULL, 'l'},
                                             {"max-memory", required_argument, NULL, 'm'},
                                             {"help", no_argument, NULL, 'h'},
                                             {0}};

static void cmd_replay_print_help(void)
{
    fputs("Usage: cubewarp replay [OPTION]... FILE\n"
          "Executes an op log that run --op-log wrote, and compares the memory at the end with\n"
          "that of the run. Exit code 1: it differs; 2: the file is no whole op log.\n\n"
          "      --list             print each record as a line\n"
          "      --max-memory SIZE  limit on what tensors and tiles take (80 % of the machine's)\n"
          "  -h, --help             this text\n",
          stdout);
}

static int cmd_replay_parse(struct replay_options *options, int argc, char **argv,
                            struct cw_error *error)
{
    static const char *const names[] = {"list", "max-memory", "help"};
    char quoted[TEXT_QUOTE_BYTES];
    *options = (struct replay_options){.bytes_max = host_limits_memory_bytes() / 5 * 4};
    optind = 0; /* getopt: start anew */
    opterr = 0;
    for (int found; (found = getopt_long(argc, argv, ":h", long_options, NULL)) != -1;) {
        if (found == 'l')
            options->list = true;
        else if (found == 'h')
            options->help = true;
        else if (found == ':')
            return options_usage(error, "--max-memory needs a value: --max-memory SIZE");
        else if (found == '?')
            return options_unknown(error, argv[optind - 1], optopt, names,
                                   sizeof names / sizeof *names);
        else if (options_size(error, "max-memory", optarg, &options->bytes_max) != CW_OK)
            return CW_USAGE;
    }
    if (options->help)
        return CW_OK;
    if (optind == argc)
        return options_usage(error, "name an op log, as run --op-log FILE writes it");
    options->path = argv[optind++];
    if (optind < argc)
        return options_usage(error, "unexpected argument %s; one op log at a time",
                             text_quote(argv[optind], strlen(argv[optind]), quoted));
    return CW_OK;
}

static void print_summary(const struct op_log_replay *replay)
{
    const struct op_log_header *header = &replay->header;
    const struct hw_config *hw = &header->machine;
    uint64_t records = 0;
    for (uint32_t kind = 0; kind < OP_LOG_TRAILER; kind++)
        records += replay->counts[kind];
    printf("# op log of cubewarp %s: %s%s%s, %s %s, seed %" PRIu64 ", configuration %s\n",
           header->version, header->bench, header->algorithm[0] == '\0' ? "" : " ",
           header->algorithm, dtype_name(header->dtype), redop_name(header->redop), header->seed,
           header->config_digest);
    printf("# machine: %" PRIu32 " SIPs, %" PRIu32 " cubes and %" PRIu64 " PEs in all\n",
           hw->sip_count, hw->sip_count * hw_cubes(hw), (uint64_t)hw_pe_count(hw));
    printf("# records: %" PRIu64, records);
    for (uint32_t kind = 0; kind < OP_LOG_TRAILER; kind++)
        if (replay->counts[kind] > 0)
            printf(", %s %" PRIu64, op_log_kind_name(kind), replay->counts[kind]);
    printf("\n# memory digest: %016" PRIx64 ", of the run: %016" PRIx64 " %s\n", replay->digest,
           replay->expected, replay->digest == replay->expected ? "OK" : "DIFFERS");
}

static int replay_file(const struct replay_options *options, struct cw_error *error)
{
    char quoted[TEXT_QUOTE_BYTES];
    text_quote(options->path, strlen(options->path), quoted);
    FILE *const file = fopen(options->path, "rbe");
    if (file == NULL)
        return options_usage(error, "cannot read %s: %s", quoted, strerror(errno));
    struct op_log_replay replay = {.bytes_max = options->bytes_max,
                                   .listing = options->list ? stdout : NULL};
    int code = op_log_replay(file, options->path, &replay, error);
    fclose(file);
    if (code != CW_OK)
        return code;
    print_summary(&replay);
    if (replay.digest == replay.expected)
        return CW_OK;
    snprintf(error->text, sizeof error->text,
             "%s: the memory at the end differs from that of the run (cubewarp %s; this is %s)",
             quoted, replay.header.version, CW_VERSION);
    return error->exit_code = CW_DATA_WRONG;
}

int replay_main(int argc, char **argv)
{
    struct replay_options options;
    struct cw_error error = {.exit_code = CW_OK};
    if (cmd_replay_parse(&options, argc, argv, &error) != CW_OK) {
        cli_fail("replay", &error);
        fputs("Try 'cubewarp replay --help'.\n", stderr);
        return CW_USAGE;
    }
    if (options.help) {
        cmd_replay_print_help();
        return cli_end("replay", CW_OK);
    }
    const int code = cli_end("replay", replay_file(&options, &error));
    return error.exit_code != CW_OK ? cli_fail("replay", &error) : code;
}
