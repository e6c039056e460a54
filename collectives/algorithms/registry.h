/*
 * registry.h: the algorithms that are built in, one row each: ALGORITHM(name) for `const struct
 * ccl_algorithm ccl_name` in a file of this folder. No include guard: algorithm.c includes it once
 * for the declarations and once for the table, whose order messages list them in. Where
 * ALGORITHM_FILES is defined: the kinds of files that algorithms are made from.
 */
ALGORITHM(auto_all_gather)
ALGORITHM(auto_all_reduce)
ALGORITHM(auto_all_to_all)
ALGORITHM(auto_reduce_scatter)
ALGORITHM(auto)
ALGORITHM(birs)
ALGORITHM(birs_allreduce)
ALGORITHM(birs_inter)
ALGORITHM(direct_all_gather)
ALGORITHM(direct_reduce_scatter)
ALGORITHM(direct_rs_ag)
ALGORITHM(double_binary_tree)
ALGORITHM(doubling_all_gather)
ALGORITHM(halving_doubling)
ALGORITHM(halving_reduce_scatter)
ALGORITHM(hierarchical)
ALGORITHM(lrab_hierarchical_allreduce)
ALGORITHM(lrab_pipelined_allreduce)
ALGORITHM(mesh)
ALGORITHM(pairwise_all_to_all)
ALGORITHM(pe_hierarchical_allreduce)
ALGORITHM(recursive_doubling)
ALGORITHM(relay_barrier)
ALGORITHM(relay_broadcast)
ALGORITHM(relay_reduce)
ALGORITHM(rhd)
ALGORITHM(ring_all_gather)
ALGORITHM(ring_allreduce)
ALGORITHM(ring_rs_ag)
ALGORITHM(ring_rs_ag_gather)
ALGORITHM(ring_rs_ag_scatter)
ALGORITHM(torus_all_gather)
ALGORITHM(torus_reduce_scatter)
ALGORITHM(torus_rs_ag)
ALGORITHM(tree_allreduce)
#ifdef ALGORITHM_FILES
ALGORITHM_FILES(msccl)
#endif
