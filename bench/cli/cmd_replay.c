/*
 * cmd_replay.c: `cubewarp replay FILE`: executes an op log again and compares the memory at its end
 * with the memory at the end of the run that wrote it.
 */
#include "bench/cli/cmd_replay.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "bench/cli/cli.h"
#include "bench/result/interrupt.h"
#include "bench/options/options_replay.h"
#include "collectives/config/input/config_source.h"
#include "collectives/config/input/nearest_file.h"
#include "collectives/config/input/text.h"
#include "collectives/data/op_log.h"
#include "collectives/data/op_replay.h"
#include "core/os/host_limits.h"

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
    char quoted[TEXT_QUOTE_BYTES], meant[NEAREST_FILE_BYTES];
    text_quote(options->path, strlen(options->path), quoted);
    FILE *const file = fopen(options->path, "rbe");
    if (file == NULL)
        return cw_error_set(error, CW_USAGE, "cannot read %s: %s%s", quoted, strerror(errno),
                            nearest_file_hint(options->path, NULL, meant));
    struct op_log_replay replay = {.bytes_max = options->bytes_max,
                                   .listing = options->list ? stdout : NULL};
    int code = op_log_replay(file, options->path, &replay, error);
    fclose(file);
    if (code != CW_OK)
        return code;
    print_summary(&replay);
    if (replay.digest == replay.expected)
        return CW_OK;
    return cw_error_set(
        error, CW_DATA_WRONG,
        "%s: the memory at the end differs from that of the run (cubewarp %s; this is %s)", quoted,
        replay.header.version, CW_VERSION);
}

int replay_main(int argc, char **argv)
{
    struct replay_options replay = {.bytes_max = host_limits_memory_bytes() / 5 * 4};
    struct option_parse parse = {.command = COMMAND_REPLAY, .values = &replay};
    struct cw_error error = {.exit_code = CW_OK};
    int code;
    if (!cli_read(&parse, argc, argv, &code))
        return code;
    cli_watch("replay");
    code = replay_file(&replay, &error);
    interrupt_end();
    return cli_end_with("replay", code, &error);
}
