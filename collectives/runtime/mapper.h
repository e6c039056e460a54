/*
 * mapper.h: which PEs of a rank's SIP take part, and which tensors an algorithm accepts
 * (RUNTIME.md, "Mappers and validators"): two registries of functions that ccl.yaml names. A name
 * with a colon is loaded from a shared object (plugin.h) and has the same type. All are pure.
 */
#ifndef COLLECTIVES_MAPPER_H
#define COLLECTIVES_MAPPER_H

#include "collectives/runtime/tensor.h"
#include "hw/structure.h"

struct ccl_algorithm;
struct ccl_refusal;

/* The PE of the rank's SIP takes part. */
typedef bool (*ccl_mapper_fn)(const struct hw_config *hw, uint32_t rank, uint32_t cube,
                              uint32_t pe);

/* "leader_only" (PE (0, 0)), "all_pes", "pe0_all_cubes", "rank_per_pe" (one PE, of which a SIP
 * has several ranks), or ./file.so:symbol. NULL: CW_USAGE, with
 * the names that there are. */
ccl_mapper_fn ccl_mapper_find(const char *name, struct cw_error *error);

/* Name of a built-in mapper, of a built-in validator; NULL beyond the last. */
const char *ccl_mapper_name_at(uint32_t number);
const char *ccl_validator_name_at(uint32_t number);

/* The kernel needs one PE of each rank and the queues between them alone, so ranks may be PEs. A
 * schedule has its own queues, between SIPs. */
bool ccl_goes_by_queues(const struct ccl_algorithm *algorithm);

/* Refuses a built-in mapper whose PEs the algorithm's kernel cannot run on: CW_OK, or CW_USAGE. */
int ccl_mapper_check(const char *name, const struct ccl_algorithm *algorithm,
                     const struct hw_config *hw, struct ccl_refusal *refusal);

/* The same for a mapper of any name; fills the refusal, and returns CW_USAGE. */
int ccl_mapper_refuse(const char *name, const struct ccl_algorithm *algorithm,
                      struct ccl_refusal *refusal);
/* These PEs of the rank's SIP, by their numbers in ascending order, are those of a mapper that the
 * algorithm declares; or it declares none. */
bool ccl_mapper_suits(const struct ccl_algorithm *algorithm, const struct hw_config *hw,
                      uint32_t rank, const uint32_t *pe_of_sip, uint32_t count);

/*
 * Accepts the tensors that all ranks have submitted: CW_OK, or CW_USAGE with *error filled: the
 * fault, and the legal values.
 */
typedef int (*ccl_validator_fn)(const struct tensor_group *group, const struct hw_config *hw,
                                struct cw_error *error);

/* "single_shard_per_rank", "multi_pe_sip_local" (a shard on each PE), "cube_rows" (a shard on PE 0
 * of each cube, as rows), or ./file.so:symbol. */
ccl_validator_fn ccl_validator_find(const char *name, struct cw_error *error);

#endif
