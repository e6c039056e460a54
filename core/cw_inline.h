/*
 * cw_inline.h: the functions of cw.h that the compiler puts into handlers, and what they need. For
 * the engine: a model uses the names that cw.h explains. cw.h includes this header.
 */
#ifndef CW_H
#include "cw.h" /* IWYU pragma: keep */
#endif
#ifndef CW_INLINE_H
#define CW_INLINE_H

#ifdef __cplusplus
extern "C" {
#endif

/* The same word, in a register of its own: without this the compiler may gather neighbouring words
 * into a vector, whose load would wait for recent stores. */
static inline uint64_t cw_keep_in_register(uint64_t word)
{
    __asm__("" : "+r"(word));
    return word;
}

/* Where before-images go. For the engine (core/speculation/undo_log.h) and cw_mut() below, which
 * adds one before each change of a state. */
struct cw_undo {
    uint8_t *at, *end;
};
enum { CW_UNDO_IMAGE = 2, CW_UNDO_BYTES_MAX = 64 }; /* of an image that is added without a call */

/* The context of one handler call. Only the engine uses the fields; models use the functions. */
struct cw_ctx {
    const uint8_t *state, *state_end; /* of the LP whose event this is */
    const struct cw_event *event;
    const void *model_data;
    bool keep;            /* changes and sends are logged, checked or compared */
    struct cw_undo *undo; /* if `keep`: they are logged, and no more; NULL: the slow paths know */
};

static inline const void *cw_model_data(const struct cw_ctx *ctx) { return ctx->model_data; }
static inline int64_t cw_now(const struct cw_ctx *ctx) { return ctx->event->time_ps; }

/* Slow paths of cw_mut(): a before-image that cw_undo_add() does not take; a part that is not in
 * this LP's state. */
CW_API void cw_mut_keep(struct cw_ctx *ctx, const void *part, size_t bytes);
CW_API CW_NORETURN void cw_mut_outside(struct cw_ctx *ctx, const void *part, size_t bytes);

/* Adds a before-image of a part, word by word: the part was likely written a moment ago, and a
 * wider load would wait for the stores. False: there is no room, or the part is too large. */
static inline bool cw_undo_add(struct cw_undo *undo, size_t offset, const void *part, size_t bytes)
{
    const size_t room = (bytes + 7) / 8 * 8;
    uint8_t *const to = undo->at;
    if (bytes > CW_UNDO_BYTES_MAX || (size_t)(undo->end - to) < room + sizeof(uint64_t))
        return false;
    for (size_t i = 0; i < bytes; i += 8) {
        uint64_t word = 0;
        __builtin_memcpy(&word, (const uint8_t *)part + i, bytes - i < 8 ? bytes - i : 8);
        word = cw_keep_in_register(word);
        __builtin_memcpy(to + i, &word, 8);
    }
    const uint64_t place = (uint64_t)offset << 32 | (uint64_t)bytes << 3 | CW_UNDO_IMAGE;
    __builtin_memcpy(to + room, &place, 8);
    __asm__ volatile("" : : : "memory"); /* a fault may end the handler anywhere: */
    undo->at = to + room + 8;            /* image, end of the log, */
    __asm__ volatile("" : : : "memory"); /* and then the change (core/worker/worker.h) */
    return true;
}

/* CW_MUT() without a type; returns `part`. */
static inline void *cw_mut(struct cw_ctx *ctx, const void *part, size_t bytes)
{
    const uintptr_t at = (uintptr_t)part, last = (uintptr_t)ctx->state_end - bytes;
    if (__builtin_expect(at > last || at < (uintptr_t)ctx->state, 0))
        cw_mut_outside(ctx, part, bytes); /* exit 5: the part is not in this LP's state */
    if (__builtin_expect(ctx->keep, 0) &&
        (ctx->undo == NULL || !cw_undo_add(ctx->undo, at - (uintptr_t)ctx->state, part, bytes)))
        cw_mut_keep(ctx, part, bytes);
    return (void *)(uintptr_t)part;
}

#ifdef __cplusplus
} /* extern "C" */

/* CW_MUT() in C++: one function for each type of part. */
#define CW_MUT_TYPED(ctx, part) cw_mut_typed((ctx), (part))
template <typename part_type>
inline part_type *cw_mut_typed(struct cw_ctx *ctx, const part_type *part)
{
    return static_cast<part_type *>(cw_mut(ctx, part, sizeof *part));
}
template <typename part_type, size_t count>
part_type *cw_mut_typed(struct cw_ctx *ctx, const part_type (*part)[count]) = delete;
#else
/* The value of a comma expression has its right side's type without qualifiers. An array would have
 * become a pointer there: for it the size below is negative, which does not compile. */
#define CW_UNQUALIFIED(part) __typeof__((void)0, *(part))
#define CW_NO_ARRAY(part)                                                                          \
    (__builtin_types_compatible_p(CW_UNQUALIFIED(part), __typeof__(*(part))) ? 1 : -1)
#define CW_MUT_TYPED(ctx, part)                                                                    \
    ((CW_UNQUALIFIED(part) *)cw_mut((ctx), (part),                                                 \
                                    sizeof *(part) * sizeof(char[CW_NO_ARRAY(part)])))
#endif

#endif
