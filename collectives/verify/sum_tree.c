/*
 * sum_tree.c: checks the trees by which a shared object's algorithm adds, and makes their formulas
 * (sum_tree.h).
 */
#include "collectives/verify/sum_tree.h"

#include <stdlib.h>
#include <string.h>

#include "collectives/hook.h"

uint32_t sum_tree_parts(const struct ccl_order *order, uint32_t n)
{
    return order->parts != NULL ? CCL_HOOK("order.parts()", order->parts, (n)) : 1;
}

/* The fault of step k; NULL: none. *height: values on the stack. */
static const char *fault_of(uint32_t step, uint32_t n, bool *seen, uint32_t *height)
{
    if (step == CCL_ADD) {
        if (*height < 2)
            return "adds where there are no two values";
        *height -= 1;
        return NULL;
    }
    if (step >= n)
        return "is no rank";
    if (seen[step])
        return "is a rank that is in the tree already";
    seen[step] = true;
    *height += 1;
    return NULL;
}

static bool check_tree(const struct sum_tree *tree, const char *name, bool *seen, uint32_t *depth,
                       struct cw_error *error)
{
    const uint32_t n = tree->n;
    uint32_t height = 0;
    memset(seen, 0, n * sizeof *seen);
    for (uint32_t k = 0; k < 2 * n - 1; k++) {
        const uint32_t step =
            CCL_HOOK("order.tree()", tree->order->tree, (tree->rank, tree->part, n, k));
        const char *const fault = fault_of(step, n, seen, &height);
        *depth = height > *depth ? height : *depth;
        if (fault == NULL)
            continue;
        (void)cw_error_set(
            error, CW_USAGE,
            "verification: step %u of the tree of rank %u, part %u, in the order of %s, %s: %u; "
            "legal is each rank from 0 to %u once, and CCL_ADD %u times",
            k, tree->rank, tree->part, name, fault, step, n - 1, n - 1);
        return false;
    }
    return true; /* n values and n - 1 additions: one value is left */
}

bool sum_tree_check(const struct ccl_order *order, uint32_t n, const char *name, uint32_t *depth,
                    struct cw_error *error)
{
    const uint32_t parts = sum_tree_parts(order, n);
    bool good = parts > 0;
    bool *const seen = calloc(n, sizeof *seen);
    *depth = 1;
    if (!good)
        (void)cw_error_set(error, CW_USAGE,
                           "verification: the order of %s has 0 parts; legal is 1 or more", name);
    if (seen == NULL) {
        (void)cw_error_set(error, CW_NO_RESOURCE, "out of memory: %u bytes", n);
        return false;
    }
    for (uint32_t rank = 0; rank < (order->tree_by_rank ? n : 1); rank++)
        for (uint32_t part = 0; part < parts && good; part++) {
            const struct sum_tree tree = {.order = order, .rank = rank, .part = part, .n = n};
            good = check_tree(&tree, name, seen, depth, error);
        }
    free(seen);
    return good;
}

uint32_t sum_tree_add(const struct sum_tree *tree, struct expect_sums *sums, const uint32_t *value,
                      uint32_t *stack)
{
    uint32_t height = 0;
    for (uint32_t k = 0; k < 2 * tree->n - 1; k++) {
        const uint32_t step =
            CCL_HOOK("order.tree()", tree->order->tree, (tree->rank, tree->part, tree->n, k));
        if (step != CCL_ADD) {
            stack[height++] = value[step];
            continue;
        }
        height--;
        stack[height - 1] = expect_sum(sums, stack[height - 1], stack[height]);
    }
    return stack[0];
}
