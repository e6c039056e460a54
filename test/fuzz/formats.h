/*
 * formats.h: one row for each format that the program reads, in the order in which `make fuzz` runs
 * them. No include guard: fuzz.c reads it twice.
 */
FORMAT(config)
FORMAT(msccl)
FORMAT(plan)
FORMAT(op_log)
FORMAT(result)
FORMAT(again)
FORMAT(perf_json)
FORMAT(engine_log)
FORMAT(study)
FORMAT(study_database)
FORMAT(workload)
FORMAT(history)
FORMAT(measured)
FORMAT(descriptor)
FORMAT(trace)
FORMAT(machine)
FORMAT(command_line)
