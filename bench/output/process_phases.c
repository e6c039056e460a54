/*
 * process_phases.c: sums up the wall time of a process by phases (process_phases.h).
 */
#include "bench/output/process_phases.h"

#include <string.h>

#include "core/os/clock.h"

void process_phases_begin(struct process_phases *phases, double begun_s)
{
    *phases = (struct process_phases){.since_s = begun_s > 0 ? begun_s : clock_s()};
}

static struct process_phase *phase_of(struct process_phases *phases, const char *name)
{
    for (size_t i = 0; i < phases->count; i++)
        if (strcmp(phases->list[i].name, name) == 0)
            return &phases->list[i];
    if (phases->count < PROCESS_PHASES_MAX)
        phases->list[phases->count++] = (struct process_phase){.name = name};
    return &phases->list[phases->count - 1];
}

/* Adds `sign` times the times to a sum. */
static void add_times(struct cw_times *sum, const struct cw_times *times, int sign)
{
    sum->run_s += sign * times->run_s;
    sum->host_s += sign * times->host_s;
    sum->work_s += sign * times->work_s;
    sum->longest_s += sign * times->longest_s;
    sum->host_calls += (uint64_t)sign * times->host_calls;
}

void process_phase_end(struct process_phases *phases, const char *name, const struct cw_sim *sim)
{
    struct process_phase *const phase = phase_of(phases, name);
    const double now_s = clock_s();
    phase->wall_s += now_s - phases->since_s;
    phases->since_s = now_s;
    if (sim == NULL)
        return;
    const struct cw_times times = cw_sim_times(sim);
    add_times(&phase->times, &times, 1);
    add_times(&phase->times, &phases->times, -1);
    phases->times = times;
}

void process_phases_forget_sim(struct process_phases *phases)
{
    phases->times = (struct cw_times){.run_s = 0};
}

double process_phase_serial_s(const struct process_phase *phase)
{
    const double serial_s = phase->wall_s - phase->times.run_s - phase->times.host_s;
    return serial_s > 0 ? serial_s : 0;
}

struct process_phase process_phases_sum(const struct process_phases *phases)
{
    struct process_phase sum = {.name = NULL};
    for (size_t i = 0; i < phases->count; i++) {
        sum.wall_s += phases->list[i].wall_s;
        add_times(&sum.times, &phases->list[i].times, 1);
    }
    return sum;
}
