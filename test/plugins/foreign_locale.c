/*
 * foreign_locale.c: a shared object that puts the process into the user's locale, as some libraries
 * do: when it is loaded, and again in a function of its own.
 */
#include <locale.h>
#include <stdlib.h>

#include "collectives/plugin.h"
#include "collectives/runtime/mapper.h"

CCL_PLUGIN;

/* With a locale of decimal commas the process has them, or the test would prove nothing. */
static void take_locale(void)
{
    if (setlocale(LC_ALL, "") == NULL)
        abort();
    const locale_t own = uselocale(LC_GLOBAL_LOCALE);
    if (getenv("LC_NUMERIC") != NULL && localeconv()->decimal_point[0] != ',')
        abort();
    (void)uselocale(own);
}

__attribute__((constructor)) static void when_loaded(void) { take_locale(); }

int any_tensor(const struct tensor_group *group, const struct hw_config *hw,
               struct cw_error *error);
int any_tensor(const struct tensor_group *group, const struct hw_config *hw, struct cw_error *error)
{
    (void)group, (void)hw, (void)error;
    take_locale();
    return CW_OK;
}
