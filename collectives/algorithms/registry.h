/*
 * registry.h: the algorithms that are built in, one row each: ALGORITHM(name) for `const struct
 * ccl_algorithm ccl_name` in a file of this folder. No include guard: algorithm.c includes it once
 * for the declarations and once for the table, whose order messages list them in.
 */
ALGORITHM(auto_scatter)
ALGORITHM(birs)
ALGORITHM(birs_allreduce)
ALGORITHM(birs_inter)
ALGORITHM(lrab_hierarchical_allreduce)
ALGORITHM(lrab_pipelined_allreduce)
ALGORITHM(mesh)
ALGORITHM(pe_hierarchical_allreduce)
ALGORITHM(relay_barrier)
ALGORITHM(relay_broadcast)
ALGORITHM(rhd)
ALGORITHM(ring_all_gather)
ALGORITHM(ring_allreduce)
ALGORITHM(tree_allreduce)
