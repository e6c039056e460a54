/*
 * format_result.c: results (JSON of `run --json`), as `compare` and `report` read them. A result
 * equals itself; a picture that was read is written as one that is read as the same.
 */
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "bench/draw/picture_json.h"
#include "test/fuzz/fuzz.h"
#include "test/fuzz/mutate_json.h"

static void compare_with_itself(const char *path)
{
    static const char *const formats[] = {"text", "markdown", "json"};
    for (size_t i = 0; i < 3; i++)
        (void)fuzz_run(FUZZ_OK | FUZZ_USAGE, path,
                       (const char *[]){"compare", path, path, "--format", formats[i], NULL});
}

static void compare_with_another(const char *path)
{
    static const char other[] = "test/fuzz/base/result/ring";
    (void)fuzz_run(FUZZ_OK | FUZZ_DIFFERS | FUZZ_USAGE, path,
                   (const char *[]){"compare", path, other, NULL});
    (void)fuzz_run(FUZZ_OK | FUZZ_DIFFERS | FUZZ_USAGE, path,
                   (const char *[]){"compare", other, path, "--format", "json", NULL});
}

static void report_all(const char *path)
{
    const char *const page = fuzz_path("page.html"), *const table = fuzz_path("table");
    (void)fuzz_run(FUZZ_OK | FUZZ_USAGE, path,
                   (const char *[]){"report", path, "test/fuzz/base/result/ring", "-o", page,
                                    "--csv", "-", "--markdown", table, NULL});
    size_t bytes;
    char *const text = fuzz_read(page, &bytes);
    FUZZ_DEMAND(text == NULL || strstr(text, "class=\"n h-") == NULL); /* shades are from 0 on */
    free(text);
}

/* A picture that is drawn is written and read as itself. */
static void read_picture(const char *path)
{
    struct cw_error error = {.exit_code = CW_OK};
    json_t *const root = json_load_file(path, 0, NULL);
    struct picture *const picture =
        root == NULL ? NULL : picture_from_json(json_object_get(root, "picture"), &error);
    json_decref(root);
    if (picture == NULL)
        return;
    json_t *const json = picture_json(picture);
    struct picture *const again = picture_from_json(json, &error);
    FUZZ_DEMAND(json != NULL && again != NULL);
    json_t *const json_again = picture_json(again);
    FUZZ_DEMAND(json_equal(json, json_again));
    json_decref(json);
    json_decref(json_again);
    picture_free(picture);
    picture_free(again);
}

static void read_result(const uint8_t *data, size_t size)
{
    const char *const path = fuzz_file("input.json", data, size);
    compare_with_itself(path);
    compare_with_another(path);
    report_all(path);
    read_picture(path);
}

const struct fuzz_format fuzz_result = {
    .name = "result", .once = read_result, .mutate = mutate_json};
