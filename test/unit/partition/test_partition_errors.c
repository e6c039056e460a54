/*
 * test_partition_errors.c: failures of METIS are reported. This file stands in for metis_library.c;
 * its two entry points answer as the test wants.
 */
#include "test/support/test_config_support.h"

#include "collectives/config/config_load.h"
#include "partition/metis_library.h"
#include "partition/metis_partitioner.h"
#include "partition/partition.h"

static int answer, parts_used;
static bool is_absent;
static unsigned calls;

static int answer_to(idx_t *vertices, idx_t *parts, idx_t *part)
{
    calls++;
    for (idx_t v = 0; answer == METIS_OK && v < *vertices; v++)
        part[v] = v % (parts_used < *parts ? parts_used : *parts);
    return answer;
}

static int recursive(idx_t *nvtxs, idx_t *ncon, idx_t *xadj, idx_t *adjncy, idx_t *vwgt,
                     idx_t *vsize, idx_t *adjwgt, idx_t *nparts, real_t *tpwgts, real_t *ubvec,
                     idx_t *options, idx_t *edgecut, idx_t *part)
{
    (void)ncon, (void)xadj, (void)adjncy, (void)vwgt, (void)vsize, (void)adjwgt;
    (void)tpwgts, (void)ubvec, (void)options, (void)edgecut;
    return answer_to(nvtxs, nparts, part);
}

static int kway(idx_t *nvtxs, idx_t *ncon, idx_t *xadj, idx_t *adjncy, idx_t *vwgt, idx_t *vsize,
                idx_t *adjwgt, idx_t *nparts, real_t *tpwgts, real_t *ubvec, idx_t *options,
                idx_t *edgecut, idx_t *part)
{
    (void)ncon, (void)xadj, (void)adjncy, (void)vwgt, (void)vsize, (void)adjwgt;
    (void)tpwgts, (void)ubvec, (void)options, (void)edgecut;
    return answer_to(nvtxs, nparts, part);
}

static int set_defaults(idx_t *options)
{
    for (int i = 0; i < METIS_NOPTIONS; i++)
        options[i] = -1;
    return METIS_OK;
}

int metis_library_open(struct metis_library *library, struct cw_error *error)
{
    if (is_absent)
        return cw_error_set(error, CW_NO_RESOURCE, "libmetis is absent");
    *library = (struct metis_library){NULL, set_defaults, recursive, kway};
    return CW_OK;
}

void metis_library_close(struct metis_library *library) { (void)library; }

/* The default machine, 64 cubes. */
static int place(uint32_t workers, int metis_answer, uint32_t *cube_worker, struct cw_error *error)
{
    struct config *const config = load_with("default", NULL, 0);
    answer = metis_answer;
    calls = 0;
    const int code = partition_metis(&config->hw, workers, cube_worker, error);
    config_free(config);
    return code;
}

static void metis_out_of_memory_is_exit_4(void **state)
{
    (void)state;
    uint32_t cube_worker[64];
    struct cw_error error;
    assert_int_equal(place(3, METIS_ERROR_MEMORY, cube_worker, &error), CW_NO_RESOURCE);
    assert_int_equal(error.exit_code, CW_NO_RESOURCE);
    assert_string_equal(error.text, "out of memory while partitioning 64 cubes for 3 threads; "
                                    "--partition sip needs none");
    assert_int_equal(calls, 1);
}

static void a_graph_that_metis_refuses_is_exit_5(void **state)
{
    (void)state;
    uint32_t cube_worker[64];
    struct cw_error error;
    assert_int_equal(place(3, METIS_ERROR_INPUT, cube_worker, &error), CW_BUG);
    assert_int_equal(error.exit_code, CW_BUG);
    assert_string_equal(error.text, "METIS refuses the graph of 64 cubes for 3 threads with status "
                                    "-2; --partition sip does without it");
}

static void without_the_library_the_run_ends_with_exit_4(void **state)
{
    (void)state;
    uint32_t cube_worker[64];
    struct cw_error error;
    is_absent = true;
    assert_int_equal(place(3, METIS_OK, cube_worker, &error), CW_NO_RESOURCE);
    is_absent = false;
    assert_string_equal(error.text, "libmetis is absent");
    assert_int_equal(calls, 0);
    assert_int_equal(place(1, METIS_OK, cube_worker, &error), CW_OK); /* nothing to choose */
}

/* All cubes in one part: the other workers would have nothing to do. */
static void an_answer_that_leaves_workers_idle_is_not_taken(void **state)
{
    (void)state;
    uint32_t cube_worker[64];
    struct cw_error error;
    uint32_t count[3] = {0};
    parts_used = 1;
    assert_int_equal(place(3, METIS_OK, cube_worker, &error), CW_OK);
    assert_true(calls >= 2);
    for (uint32_t i = 0; i < 64; i++) {
        assert_in_range(cube_worker[i], 0, 2);
        count[cube_worker[i]]++;
    }
    for (uint32_t i = 0; i < 3; i++)
        assert_in_range(count[i], 21, 22); /* `block`'s */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(metis_out_of_memory_is_exit_4),
        cmocka_unit_test(a_graph_that_metis_refuses_is_exit_5),
        cmocka_unit_test(without_the_library_the_run_ends_with_exit_4),
        cmocka_unit_test(an_answer_that_leaves_workers_idle_is_not_taken),
    };
    return cmocka_run_group_tests_name("partition errors", tests, scratch_enter, scratch_leave);
}
