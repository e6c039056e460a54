/*
 * format_study_database.c: databases of studies, as `report`, `sweep`, `sweep --extend` and `sweep
 * merge` read them. The sound one is made by the program itself, of base/study.yaml.
 */
#include <stdlib.h>
#include <string.h>

#include "bench/study/study_db.h"
#include "bench/study/study_read.h"
#include "test/fuzz/database_script.h"

static const char result_path[] = "test/fuzz/base/result/ring";

/* One point done, one failed, one that ran out of time, one open. */
static void record_points(struct study_db *db)
{
    struct cw_error error;
    size_t bytes;
    char *const result = fuzz_read(result_path, &bytes);
    const struct study_outcome outcomes[] = {
        {.state = STUDY_DONE,
         .seconds = 0.5,
         .message = "",
         .result = result,
         .result_bytes = bytes},
        {.state = STUDY_FAILED, .exit_code = CW_PROGRAM_FAILED, .message = "a deadlock"},
        {.state = STUDY_TIMEOUT, .seconds = 9, .message = "after 9 s"}};
    FUZZ_DEMAND(result != NULL);
    for (uint32_t i = 0; i < 3; i++)
        FUZZ_DEMAND(study_db_record(db, i, &outcomes[i], &error) == CW_OK);
    free(result);
}

/* A study that lasts as long as the process: reading one takes longer than a database. */
static const struct study *kept_study(const char *path, struct study **study)
{
    struct config_errors errors = {0};
    if (*study == NULL)
        FUZZ_DEMAND(study_read(path, study, &errors) == CW_OK);
    return *study;
}

static const struct study *sound_study(void)
{
    static struct study *study;
    return kept_study("test/fuzz/base/study.yaml", &study);
}

/* The same study with other points. */
static const struct study *changed_study(void)
{
    static struct study *study;
    return kept_study("test/fuzz/base/changed.yaml", &study);
}

static const struct database_base *study_base(void)
{
    static struct database_base base;
    struct cw_error error;
    struct study_db *db;
    if (base.bytes != NULL)
        return &base;
    const char *const path = fuzz_path("base.sqlite");
    FUZZ_DEMAND(study_db_open(path, sound_study(), (struct study_shard){1, 1},
                              (struct study_opening){.must_exist = false}, &db, &error) == CW_OK);
    record_points(db);
    FUZZ_DEMAND(study_db_close(db, &error) == CW_OK);
    database_base_take(&base, path);
    return &base;
}

/* As `sweep` opens it to go on; a point that is recorded then is one that has ended. */
static void go_on(const char *path, const struct study *study, bool extends)
{
    const struct study_outcome outcome = {.state = STUDY_REFUSED, .message = "refused"};
    struct cw_error error = {.exit_code = CW_OK}, closing = {.exit_code = CW_OK};
    struct study_db *db;
    enum study_state states[64];
    FUZZ_DEMAND(study->point_count <= 64);
    int code =
        study_db_open(path, study, (struct study_shard){1, 1},
                      (struct study_opening){.must_exist = true, .extends = extends}, &db, &error);
    fuzz_demand_error(code, &error);
    if (code != CW_OK)
        return;
    code = study_db_states(db, states, &error);
    fuzz_demand_error(code, &error);
    if (code == CW_OK && study_db_record(db, 3, &outcome, &error) == CW_OK &&
        study_db_commit(db, &error) == CW_OK && study_db_states(db, states, &error) == CW_OK)
        FUZZ_DEMAND(states[3] == STUDY_REFUSED);
    fuzz_demand_error(study_db_close(db, &closing), &closing);
}

static void read_study_database(const uint8_t *data, size_t size)
{
    const uint32_t legal = FUZZ_OK | FUZZ_USAGE | FUZZ_NO_RESOURCE;
    const struct database_base *const base = study_base();
    fuzz_clear();
    const char *const path = database_script_run(base, "study.sqlite", data, size);
    const char *const page = fuzz_path("page.html"), *const table = fuzz_path("table");
    const char *const merged = fuzz_path("merged.sqlite");
    const char *const sound = fuzz_file("sound.sqlite", base->bytes, base->size);
    (void)fuzz_run(
        legal, path,
        (const char *[]){"report", path, "-o", page, "--csv", "-", "--markdown", table, NULL});
    (void)fuzz_run(legal | FUZZ_FAILED, NULL,
                   (const char *[]){"sweep", "merge", "--db", merged, path, sound, NULL});
    (void)fuzz_run(legal | FUZZ_FAILED, NULL,
                   (const char *[]){"sweep", "merge", "--db", sound, path, NULL});
    go_on(path, changed_study(), false);
    go_on(path, sound_study(), false);
    go_on(path, changed_study(), true);
}

static size_t mutate_study_database(struct fuzz_mutation *mutation, uint8_t *data, size_t size,
                                    size_t room)
{
    return database_script_mutate(study_base(), mutation, data, size, room);
}

const struct fuzz_format fuzz_study_database = {
    .name = "study_database", .once = read_study_database, .mutate = mutate_study_database};
