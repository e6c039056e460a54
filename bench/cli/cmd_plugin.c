/*
 * cmd_plugin.c: `cubewarp plugin new NAME`: writes the beginnings of a collective algorithm into a
 * folder NAME: a source that runs as it is, a ccl.yaml that names it, and a Makefile that knows
 * this program and its headers. The texts are the files of bench/cli/plugin_template, which the
 * build compiles in (.ci/embed.sh); @NAME@, @PROGRAM@ and @HEADERS@ are replaced in them.
 */
#include "bench/cli/cmd_plugin.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "bench/cli/cli.h"
#include "bench/options/options_plugin.h"
#include "collectives/config/input/text.h"
#include "core/os/program_path.h"

enum { LEVELS_UP = 4, HEADERS_BYTES = PATH_MAX + 64, PLUGIN_PATH_BYTES = 2 * CCL_NAME_BYTES + 64 };

static const struct plugin_template {
    const char *name;
    const unsigned char *text;
    size_t bytes;
} templates[] = {
#include "plugin_template.inc"
};

struct plugin_names {
    const char *name;
    char program[PATH_MAX];
    char headers[HEADERS_BYTES]; /* options for the compiler */
};

/* A name that C, YAML and the shell take as it is. */
static bool plugin_name_is_good(const char *name)
{
    static const char letters[] = "abcdefghijklmnopqrstuvwxyz", rest[] = "0123456789_";
    char all[sizeof letters + sizeof rest];
    snprintf(all, sizeof all, "%s%s", letters, rest);
    const size_t bytes = strlen(name);
    return bytes > 0 && bytes < CCL_NAME_BYTES && strchr(letters, name[0]) != NULL &&
           strspn(name, all) == bytes;
}

/* Where collectives/plugin.h is: below PREFIX/include/cubewarp/plugin of an installation, or in the
 * tree that the program was built in. Else pkg-config may know. */
static void plugin_find_headers(struct plugin_names *names)
{
    static const char *const places[] = {"include/cubewarp/plugin", "."};
    char folder[PATH_MAX];
    snprintf(folder, sizeof folder, "%s", names->program);
    for (int level = 0; level < LEVELS_UP && strrchr(folder, '/') != NULL; level++) {
        *strrchr(folder, '/') = '\0';
        for (size_t i = 0; i < sizeof places / sizeof *places; i++) {
            char header[PATH_MAX + 64];
            snprintf(header, sizeof header, "%s/%s/collectives/plugin.h", folder, places[i]);
            if (access(header, R_OK) != 0)
                continue;
            const int bytes = snprintf(names->headers, sizeof names->headers, "-I%s%s%s", folder,
                                       i == 0 ? "/" : "", i == 0 ? places[0] : "");
            if (bytes < (int)sizeof names->headers)
                return;
        }
    }
    snprintf(names->headers, sizeof names->headers, "$(shell pkg-config --cflags cubewarp-plugin)");
}

/* Writes a template with the names in it. */
static void plugin_fill(FILE *file, const char *text, const struct plugin_names *names)
{
    const struct {
        const char *mark, *text;
    } marks[] = {
        {"@NAME@", names->name}, {"@PROGRAM@", names->program}, {"@HEADERS@", names->headers}};
    while (*text != '\0') {
        size_t i = 0;
        while (i < 3 && strncmp(text, marks[i].mark, strlen(marks[i].mark)) != 0)
            i++;
        if (i < 3) {
            fputs(marks[i].text, file);
            text += strlen(marks[i].mark);
        } else {
            fputc(*text++, file);
        }
    }
}

static void plugin_path(const struct plugin_template *template, const struct plugin_names *names,
                        char path[PLUGIN_PATH_BYTES])
{
    const bool has_name = strncmp(template->name, "NAME", 4) == 0;
    const char *const rest = has_name ? template->name + 4 : template->name;
    snprintf(path, PLUGIN_PATH_BYTES, "%s/%s%.*s", names->name, has_name ? names->name : "",
             (int)(strlen(rest) - strlen(".in")), rest);
}

static int plugin_write(const struct plugin_template *template, const struct plugin_names *names,
                        struct cw_error *error)
{
    char path[PLUGIN_PATH_BYTES];
    plugin_path(template, names, path);
    FILE *const file = fopen(path, "wxe");
    bool ok = file != NULL;
    if (ok) {
        plugin_fill(file, (const char *)template->text, names);
        ok = !ferror(file);
        ok = fclose(file) == 0 && ok;
    }
    if (ok)
        return CW_OK;
    return cw_error_set(error, CW_NO_RESOURCE, "cannot write %s: %s", path, strerror(errno));
}

/* The folder is new, and so is all that lies in it. */
static void plugin_remove(const struct plugin_names *names)
{
    char path[PLUGIN_PATH_BYTES];
    for (size_t i = 0; i < sizeof templates / sizeof *templates; i++) {
        plugin_path(&templates[i], names, path);
        (void)unlink(path);
    }
    (void)rmdir(names->name);
}

static int plugin_new(const char *name, struct cw_error *error)
{
    struct plugin_names names = {.name = name};
    char quoted[TEXT_QUOTE_BYTES];
    if (!plugin_name_is_good(name))
        return cw_error_set(error, CW_USAGE,
                            "%s is no name for an algorithm; expected a lower-case letter, then "
                            "lower-case letters, digits and _, at most %u in all",
                            text_quote(name, strlen(name), quoted), (unsigned)CCL_NAME_BYTES - 1);
    if (!program_path(names.program, sizeof names.program))
        snprintf(names.program, sizeof names.program, "cubewarp");
    plugin_find_headers(&names);
    if (mkdir(name, 0777) != 0)
        return cw_error_set(error, errno == EEXIST ? CW_USAGE : CW_NO_RESOURCE,
                            "cannot make the folder %s: %s", name, strerror(errno));
    for (size_t i = 0; i < sizeof templates / sizeof *templates; i++)
        if (plugin_write(&templates[i], &names, error) != CW_OK) {
            plugin_remove(&names);
            return error->exit_code;
        }
    printf("%s/%s.c, %s/%s.yaml and %s/Makefile are written. Build and try it:\n"
           "  make -C %s run\n  make -C %s verify\n",
           name, name, name, name, name, name, name);
    return CW_OK;
}

int plugin_main(int argc, char **argv)
{
    struct plugin_options plugin = {.create = false};
    struct option_parse parse = {.command = COMMAND_PLUGIN, .values = &plugin};
    struct cw_error error = {.exit_code = CW_OK};
    int code;
    if (!cli_read(&parse, argc, argv, &code))
        return code;
    if (plugin_new(plugin.name, &error) != CW_OK)
        return cli_fail("plugin", &error);
    return cli_end("plugin", CW_OK);
}
