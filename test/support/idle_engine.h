/*
 * idle_engine.h: an engine without events, for tests of work that the host gives to its workers.
 */
#ifndef TEST_IDLE_ENGINE_H
#define TEST_IDLE_ENGINE_H

#include "core/cw.h"

/* With eight LPs, and on at most three threads. NULL with 0 workers. */
struct cw_sim *idle_engine(uint32_t workers);
/* On so many threads. */
struct cw_sim *idle_engine_on(uint32_t workers, uint32_t threads);

#endif
