#!/usr/bin/env bash
# cover.sh FOLDER PROGRAM...: runs the test programs of the variant `cover`, whose objects are in
# FOLDER, and prints for each file that reads a format the share of its lines that ran. A line that
# only a failed allocation reaches counts like any other.
set -uo pipefail
cd "$(dirname "$0")/../.."
objects=$1
shift
readers=(
    collectives/config/{config_apply,config_fill,config_find,config_jitter,config_load,config_place,config_ranks,config_rings,config_rules,config_schema,config_tree,config_value}
    collectives/config/input/{config_arena,config_errors,config_parse,config_source,decimal,environment,levels,text}
    collectives/msccl/{msccl_build,msccl_lists,msccl_xml}
    collectives/data/{op_log_read,op_replay}
    collectives/{algorithm,plugin} collectives/runtime/mapper
    bench/result/{again,compare_documents,result_document}
    bench/draw/picture_json
    bench/survey/{survey_log,survey_read,survey_result,survey_study}
    bench/study/{damaged_database,study,study_db,study_extend,study_known,study_merge,study_points,study_range,study_read,study_rows,study_setting,study_shard}
    bench/measured/{log_text,log_words,log_header,log_row,log_test,read_log,read_json,tables,measured}
    bench/programs/value_file
    bench/options/{options,options_compare,options_perf,options_phold,options_plugin,options_replay,options_report,options_run,options_size,options_sweep,options_value}
    bench/trace/timeline_filter
    workload/file/{classes,expand,expression,number,parallel,pipeline,place,read,read_item,read_keys,sets,workload_file}
    perf/{database,perf_history,perf_json} perf/trend/trend
)
# Commands that read a format; each of their calls that can fail does so in turn.
commands=(check config workload run_xml run_gradient replay compare again report report_study report_history
    sweep_merge sweep_extend)
find "$objects" -name '*.gcda' -delete
for program in "$@"; do
    [[ $program == */test_faults ]] && continue
    "$program" >/dev/null 2>&1 || echo "failed: $program"
done
for program in "$@"; do
    [[ $program == */test_faults ]] || continue
    for command in "${commands[@]}"; do
        FAULT_TEST=$command FAULT_STRIDE=1 "$program" >/dev/null 2>&1 || echo "failed: $program, $command"
    done
done
for reader in "${readers[@]}"; do
    gcov -n "$objects/$reader.gcda" 2>/dev/null | awk -v file="$reader.c" '
        $1 == "File" { here = ($2 == "\047" file "\047") }
        here && /^Lines executed/ { split($2, part, ":"); printf "%7s of %4d  %s\n", part[2], $4, file; here = 0; found = 1 }
        END { if (!found) printf "  0.00%%          %s\n", file }'
done
