/* What FMUs of either version have in common: the instance, its equations with a cache, sampling, time integration,
   saved states. No global variables: any number of instances, in any number of threads, one thread each. */
#ifndef GYROSTAT_CORE_H
#define GYROSTAT_CORE_H

#include <math.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "model.h"

#define ROOM(n) ((n) > 0 ? (n) : 1)

/* Value references: time, states, their rates, inputs, parameters, outputs. */
enum {
    VR_X = 1,
    VR_Z = VR_X + NX,
    VR_U = VR_Z + NX,
    VR_P = VR_U + NU,
    VR_Y = VR_P + NP,
    VR_END = VR_Y + NY
};

typedef enum { LEVEL_OK, LEVEL_WARNING, LEVEL_DISCARD, LEVEL_ERROR } Level;

typedef enum {
    INSTANTIATED = 1,
    INITIALIZATION = 2,
    EVENT = 4,
    CONTINUOUS = 8,
    STEP = 16,
    TERMINATED = 32
} Mode;

/* All that an instance remembers: a block of bytes, saved and restored as such. */
typedef struct {
    double time, start, tolerance, step, sampled; /* step: proposed next one; sampled: number of the next sample */
    double x[ROOM(NX)], u[ROOM(NU)], p[ROOM(NP)], m[ROOM(NM)];
    double mode, due; /* due: the sample at the start has not been taken */
} State;

struct Core;
typedef void (*Report)(struct Core *core, Level level, const char *message);

typedef struct Core {
    unsigned long magic;
    int co_simulation, logging, fresh;
    Report report;
    State s;
    double z[ROOM(NZ)];
    char *name;
} Core;

#define CORE_MAGIC 0x47595246UL
#define STATE_MAGIC 0x47595253UL

typedef struct {
    unsigned long magic;
    State s;
} Saved;

static Level told(Core *core, Level level, const char *format, ...)
{
    char text[512];
    va_list rest;
    va_start(rest, format);
    vsnprintf(text, sizeof text, format, rest);
    va_end(rest);
    if (core->report) core->report(core, level, text);
    return level;
}

static int finite_all(const double *x, size_t n)
{
    size_t k;
    for (k = 0; k < n; ++k)
        if (!(fabs(x[k]) <= 1.7976931348623157e308)) return 0;
    return 1;
}

static void put_start(State *s)
{
    memset(s, 0, sizeof *s);
    memcpy(s->x, START_X, sizeof s->x);
    memcpy(s->u, START_U, sizeof s->u);
    memcpy(s->p, START_P, sizeof s->p);
    memcpy(s->m, START_M, sizeof s->m);
    s->tolerance = TOLERANCE;
    s->mode = INSTANTIATED;
    s->due = NM > 0;
}

/* Unit quaternions, as they were set component by component; a quaternion without direction is refused. */
static int unit_quaternions(double *x)
{
    int k, i;
    for (k = 0; k < NQUAT; ++k) {
        double *e = x + QUATERNION[k], n = 0.0;
        for (i = 0; i < 4; ++i) n += e[i] * e[i];
        n = sqrt(n);
        if (!(n > 1e-6) || !finite_all(&n, 1)) return 0;
        if (fabs(n - 1.0) > 4e-16)
            for (i = 0; i < 4; ++i) e[i] /= n;
    }
    return 1;
}

static int equations(const State *s, double t, const double *x, double *z)
{
    double time[1];
    time[0] = t;
    gs_equations(time, x, s->m, s->u, s->p, z);
    return finite_all(z, NX);
}

/* Rates and outputs at the present state, once for each change of it. */
static Level evaluated(Core *core)
{
    if (core->fresh) return LEVEL_OK;
    if (!equations(&core->s, core->s.time, core->s.x, core->z) || !finite_all(core->z, NZ))
        return told(core, LEVEL_DISCARD,
                    "equations have no finite result at t = %.9g s: a singular position, or a motion without bound",
                    core->s.time);
    core->fresh = 1;
    return LEVEL_OK;
}

/* Digital parts read the state; what they hold stays until the next multiple of SAMPLE_TIME. */
static Level sampled(Core *core)
{
    State *s = &core->s;
    double fresh[ROOM(NM)], time[1];
    if (NM == 0) return LEVEL_OK;
    time[0] = s->time;
    gs_sample(time, s->x, s->m, s->u, s->p, fresh);
    if (!finite_all(fresh, NM))
        return told(core, LEVEL_ERROR, "what digital parts hold is not finite after the sample at t = %.9g s", s->time);
    memcpy(s->m, fresh, NM * sizeof(double));
    s->due = 0.0;
    s->sampled = floor(s->time / SAMPLE_TIME + 1e-9) + 1.0;
    core->fresh = 0;
    return LEVEL_OK;
}

static int sample_is_due(const State *s)
{
    if (NM == 0) return 0;
    return s->due != 0.0 || s->time >= s->sampled * SAMPLE_TIME - 1e-9 * SAMPLE_TIME;
}

/* ---------------------------------------------------------------------------------------- time integration */

static const double A5[6][6] = {
    {1.0 / 5},
    {3.0 / 40, 9.0 / 40},
    {44.0 / 45, -56.0 / 15, 32.0 / 9},
    {19372.0 / 6561, -25360.0 / 2187, 64448.0 / 6561, -212.0 / 729},
    {9017.0 / 3168, -355.0 / 33, 46732.0 / 5247, 49.0 / 176, -5103.0 / 18656},
    {35.0 / 384, 0.0, 500.0 / 1113, 125.0 / 192, -2187.0 / 6784, 11.0 / 84}};
static const double C5[7] = {0.0, 1.0 / 5, 3.0 / 10, 4.0 / 5, 8.0 / 9, 1.0, 1.0};
static const double E5[7] = {71.0 / 57600,      0.0,        -71.0 / 16695, 71.0 / 1920,
                             -17253.0 / 339200, 22.0 / 525, -1.0 / 40};
static const double A4[4][6] = {{0.5}, {0.0, 0.5}, {0.0, 0.0, 1.0}, {1.0 / 6, 1.0 / 3, 1.0 / 3, 1.0 / 6}};
static const double C4[5] = {0.0, 0.5, 0.5, 1.0, 1.0};

#define MOST_STEPS 5000000L
#define STAGES 7

/* Root mean square of e over what is allowed. */
static double relative(const State *s, const double *e, const double *x0, const double *x1)
{
    double sum = 0.0;
    int k;
    for (k = 0; k < NX; ++k) {
        const double size = fabs(x0[k]) > fabs(x1[k]) ? fabs(x0[k]) : fabs(x1[k]);
        const double r = e[k] / (s->tolerance * size + 1e-3 * s->tolerance * NOMINAL[k]);
        sum += r * r;
    }
    return sqrt(sum / ROOM(NX));
}

static double first_step(const State *s, const double *k1, double span)
{
    double d0 = relative(s, s->x, s->x, s->x), d1 = relative(s, k1, s->x, s->x);
    double h = d0 < 1e-5 || d1 < 1e-5 ? 1e-6 : 0.01 * d0 / d1;
    return h < span ? h : span;
}

/* x at t + h from the stages K, of which the first is known; those behind it are computed. */
static int stages(const State *s, double t, double h, const double (*a)[6], const double *c, int count,
                  double (*K)[ROOM(NZ)], double *x)
{
    int i, j, k;
    for (i = 1; i < count; ++i) {
        for (k = 0; k < NX; ++k) {
            double sum = 0.0;
            for (j = 0; j < i; ++j) sum += a[i - 1][j] * K[j][k];
            x[k] = s->x[k] + h * sum;
        }
        if (!equations(s, t + c[i] * h, x, K[i])) return 0;
    }
    return 1;
}

/* Dormand and Prince's method of order 5 with control of the error, to the time t1. */
static Level adaptive(Core *core, double t1)
{
    State *s = &core->s;
    double K[STAGES][ROOM(NZ)], x[ROOM(NX)], e[ROOM(NX)];
    const double span = t1 - s->time;
    int k, j, again = 0;
    long steps;
    if (!equations(s, s->time, s->x, K[0]))
        return told(core, LEVEL_ERROR, "no finite rates at t = %.9g s", s->time);
    if (!(s->step > 0.0)) s->step = first_step(s, K[0], span);
    for (steps = 0; steps < MOST_STEPS; ++steps) {
        const double rest = t1 - s->time;
        const int last = s->step >= rest * (1.0 - 1e-12);
        const double h = last ? rest : s->step;
        double error = 0.0, factor;
        int fine = stages(s, s->time, h, A5, C5, STAGES, K, x);
        if (fine) {
            for (k = 0; k < NX; ++k) {
                e[k] = 0.0;
                for (j = 0; j < STAGES; ++j) e[k] += E5[j] * K[j][k];
                e[k] *= h;
            }
            error = relative(s, e, s->x, x);
        }
        if (fine && error <= 1.0) {
            factor = error > 0.0 ? 0.9 * pow(error, -0.2) : 6.0;
            factor = factor > 6.0 ? 6.0 : factor < 0.2 ? 0.2 : factor;
            if (again && factor > 1.0) factor = 1.0;
            memcpy(s->x, x, NX * sizeof(double));
            s->time = last ? t1 : s->time + h;
            /* a step that was cut by the end says nothing against longer ones */
            if (!last || h * factor > s->step || h >= s->step) s->step = h * factor;
            if (!unit_quaternions(s->x)) return told(core, LEVEL_ERROR, "a quaternion vanished at t = %.9g s", s->time);
            if (last) return LEVEL_OK;
            memcpy(K[0], K[6], NX * sizeof(double));
            again = 0;
            continue;
        }
        factor = fine ? 0.9 * pow(error, -0.2) : 0.1;
        s->step = h * (factor < 0.2 ? 0.2 : factor > 0.9 ? 0.9 : factor);
        again = 1;
        if (!(s->step > 1e-15 * (fabs(s->time) + span)))
            return told(core, LEVEL_ERROR, "no step is short enough at t = %.9g s: the motion grows without bound, "
                        "or a position is singular", s->time);
    }
    return told(core, LEVEL_ERROR, "%ld steps were not enough at t = %.9g s", (long)MOST_STEPS, s->time);
}

/* Classical Runge-Kutta method of order 4, by equal steps no longer than FIXED_STEP. */
static Level by_fixed_steps(Core *core, double t1)
{
    State *s = &core->s;
    double K[STAGES][ROOM(NZ)], x[ROOM(NX)];
    const double t0 = s->time, span = t1 - t0, count = ceil(span / FIXED_STEP - 1e-9);
    double n;
    int k, j;
    for (n = 0.0; n < count; n += 1.0) {
        const double h = span / count, t = t0 + n * h;
        if (!equations(s, t, s->x, K[0]) || !stages(s, t, h, A4, C4, 4, K, x))
            return told(core, LEVEL_ERROR, "no finite rates after t = %.9g s", t);
        for (k = 0; k < NX; ++k) {
            double sum = 0.0;
            for (j = 0; j < 4; ++j) sum += A4[3][j] * K[j][k];
            s->x[k] += h * sum;
        }
        s->time = n + 1.0 < count ? t0 + (n + 1.0) * h : t1;
        if (!finite_all(s->x, NX) || !unit_quaternions(s->x))
            return told(core, LEVEL_ERROR, "the motion grows without bound after t = %.9g s", t);
    }
    return LEVEL_OK;
}

/* On to the time t1, with samples at their instants; that at t1 itself waits for the inputs of the next step. */
static Level advanced(Core *core, double t1)
{
    State *s = &core->s;
    core->fresh = 0;
    while (s->time < t1) {
        double end = t1;
        Level level;
        if (sample_is_due(s)) {
            level = sampled(core);
            if (level != LEVEL_OK) return level;
        }
        if (NM > 0 && s->sampled * SAMPLE_TIME < t1 - 1e-9 * SAMPLE_TIME) end = s->sampled * SAMPLE_TIME;
        if (NX == 0) {
            s->time = end;
        } else {
            level = FIXED_STEP > 0.0 ? by_fixed_steps(core, end) : adaptive(core, end);
            if (level != LEVEL_OK) return level;
        }
    }
    return LEVEL_OK;
}

/* ---------------------------------------------------------------------------------------- values */

static Level got(Core *core, unsigned vr, double *value)
{
    const State *s = &core->s;
    if (vr >= VR_END) return told(core, LEVEL_ERROR, "there is no value reference %u, they end at %d", vr, VR_END - 1);
    if (vr == 0) {
        *value = s->time;
    } else if (vr < VR_Z) {
        *value = s->x[vr - VR_X];
    } else if (vr >= VR_U && vr < VR_P) {
        *value = s->u[vr - VR_U];
    } else if (vr >= VR_P && vr < VR_Y) {
        *value = s->p[vr - VR_P];
    } else {
        const Level level = evaluated(core);
        if (level != LEVEL_OK) return level;
        *value = core->z[vr < VR_U ? vr - VR_Z : vr - VR_Y + NX];
    }
    return LEVEL_OK;
}

/* Start values before initialization ends, inputs and tunable parameters later. */
static Level put(Core *core, unsigned vr, double value)
{
    State *s = &core->s;
    const int mode = (int)s->mode;
    if (vr >= VR_END) return told(core, LEVEL_ERROR, "there is no value reference %u, they end at %d", vr, VR_END - 1);
    if (!finite_all(&value, 1)) return told(core, LEVEL_ERROR, "value reference %u: %g is not a finite number", vr, value);
    if (vr == 0 || (vr >= VR_Z && vr < VR_U) || vr >= VR_Y)
        return told(core, LEVEL_ERROR, "value reference %u is computed, it cannot be set", vr);
    if (vr < VR_Z) {
        if (!(mode & (INSTANTIATED | INITIALIZATION | EVENT)) || (core->co_simulation && mode == EVENT))
            return told(core, LEVEL_ERROR, "value reference %u is a state, its start is set before initialization ends", vr);
        s->x[vr - VR_X] = value;
    } else if (vr < VR_P) {
        s->u[vr - VR_U] = value;
    } else {
        if (mode == CONTINUOUS)
            return told(core, LEVEL_ERROR, "value reference %u is a parameter, it is set in event mode", vr);
        s->p[vr - VR_P] = value;
    }
    core->fresh = 0;
    return LEVEL_OK;
}

/* ---------------------------------------------------------------------------------------- derivatives */

/* Place of an unknown: rates and outputs in z, states behind them; -1 for others. */
static int unknown_at(unsigned vr)
{
    if (vr >= VR_Z && vr < VR_U) return (int)(vr - VR_Z);
    if (vr >= VR_Y && vr < VR_END) return (int)(vr - VR_Y) + NX;
    if (vr >= VR_X && vr < VR_Z) return NZ + (int)(vr - VR_X);
    return -1;
}

static double *known_at(unsigned vr, double *x, double *u, double *p)
{
    if (vr >= VR_X && vr < VR_Z) return x + (vr - VR_X);
    if (vr >= VR_U && vr < VR_P) return u + (vr - VR_U);
    if (vr >= VR_P && vr < VR_Y) return p + (vr - VR_P);
    return NULL;
}

static Level known_and_unknown(Core *core, const unsigned *unknown, size_t nu, const unsigned *known, size_t nk)
{
    double x[ROOM(NX)], u[ROOM(NU)], p[ROOM(NP)];
    size_t k;
    for (k = 0; k < nu; ++k)
        if (unknown_at(unknown[k]) < 0)
            return told(core, LEVEL_ERROR, "value reference %u is no unknown: rates of states and outputs are", unknown[k]);
    for (k = 0; k < nk; ++k)
        if (!known_at(known[k], x, u, p))
            return told(core, LEVEL_ERROR, "value reference %u is no known: states, inputs and parameters are", known[k]);
    return LEVEL_OK;
}

static Level directional(Core *core, const unsigned *unknown, size_t nu, const unsigned *known, size_t nk,
                         const double *seed, double *result)
{
    State *s = &core->s;
    double dx[ROOM(NX)] = {0}, du[ROOM(NU)] = {0}, dp[ROOM(NP)] = {0}, dz[ROOM(NZ)] = {0}, time[1];
    size_t k;
    const Level level = known_and_unknown(core, unknown, nu, known, nk);
    if (level != LEVEL_OK) return level;
    for (k = 0; k < nk; ++k) *known_at(known[k], dx, du, dp) += seed[k];
    time[0] = s->time;
    gs_directional(time, s->x, s->m, s->u, s->p, dx, du, dp, dz);
    for (k = 0; k < nu; ++k) {
        const int at = unknown_at(unknown[k]);
        result[k] = at < NZ ? dz[at] : dx[at - NZ];
    }
    if (!finite_all(result, nu)) return told(core, LEVEL_DISCARD, "derivatives are not finite at t = %.9g s", s->time);
    return LEVEL_OK;
}

#if ADJOINT
static Level adjoint(Core *core, const unsigned *unknown, size_t nu, const unsigned *known, size_t nk,
                     const double *seed, double *result)
{
    State *s = &core->s;
    double bx[ROOM(NX)] = {0}, bu[ROOM(NU)] = {0}, bp[ROOM(NP)] = {0}, bz[ROOM(NZ)] = {0}, own[ROOM(NX)] = {0}, time[1];
    size_t k;
    const Level level = known_and_unknown(core, unknown, nu, known, nk);
    if (level != LEVEL_OK) return level;
    for (k = 0; k < nu; ++k) {
        const int at = unknown_at(unknown[k]);
        if (at < NZ) bz[at] += seed[k];
        else own[at - NZ] += seed[k];
    }
    time[0] = s->time;
    gs_adjoint(time, s->x, s->m, s->u, s->p, bz, bx, bu, bp);
    for (k = 0; k < NX; ++k) bx[k] += own[k];
    for (k = 0; k < nk; ++k) result[k] = *known_at(known[k], bx, bu, bp);
    if (!finite_all(result, nk)) return told(core, LEVEL_DISCARD, "derivatives are not finite at t = %.9g s", s->time);
    return LEVEL_OK;
}
#endif

/* ---------------------------------------------------------------------------------------- modes */

static Level expect_mode(Core *core, int allowed, const char *function)
{
    if ((int)core->s.mode & allowed) return LEVEL_OK;
    return told(core, LEVEL_ERROR, "%s must not be called in this state (%d)", function, (int)core->s.mode);
}

static Level left_initialization(Core *core)
{
    if (!unit_quaternions(core->s.x))
        return told(core, LEVEL_ERROR, "a quaternion has no direction, its four components are zero");
    core->fresh = 0;
    core->s.mode = core->co_simulation ? STEP : EVENT;
    if (core->co_simulation) return sample_is_due(&core->s) ? sampled(core) : LEVEL_OK;
    return LEVEL_OK;
}

/* Event iteration: samples that are due; when the next one is. */
static Level discrete(Core *core, int *defined, double *next)
{
    State *s = &core->s;
    if (sample_is_due(s)) {
        const Level level = sampled(core);
        if (level != LEVEL_OK) return level;
    }
    *defined = NM > 0;
    *next = NM > 0 ? s->sampled * SAMPLE_TIME : 0.0;
    return LEVEL_OK;
}

static Level stepped(Core *core, double t, double h)
{
    State *s = &core->s;
    if (!finite_all(&t, 1) || !finite_all(&h, 1) || !(h > 0.0))
        return told(core, LEVEL_ERROR, "a step from %g s over %g s goes nowhere", t, h);
    if (fabs(t - s->time) > 1e-9 * (h + fabs(t)))
        return told(core, LEVEL_ERROR, "the step begins at %.12g s, and the FMU is at %.12g s", t, s->time);
    return advanced(core, t + h);
}

static Level states_set(Core *core, const double *x, size_t n)
{
    if (n != NX) return told(core, LEVEL_ERROR, "%lu states were given, there are %d", (unsigned long)n, NX);
    if (!finite_all(x, NX)) return told(core, LEVEL_ERROR, "states must be finite numbers");
    memcpy(core->s.x, x, NX * sizeof(double));
    core->fresh = 0;
    return LEVEL_OK;
}

/* ---------------------------------------------------------------------------------------- saved states */

#define TOKEN_SIZE 64
#define SERIAL_SIZE (TOKEN_SIZE + sizeof(State))

static Level restored(Core *core, const Saved *saved)
{
    if (!saved || saved->magic != STATE_MAGIC) return told(core, LEVEL_ERROR, "this is no state of an FMU");
    core->s = saved->s;
    core->fresh = 0;
    return LEVEL_OK;
}

static Level written(Core *core, const Saved *saved, void *bytes, size_t size)
{
    if (!saved || saved->magic != STATE_MAGIC) return told(core, LEVEL_ERROR, "this is no state of an FMU");
    if (size != SERIAL_SIZE)
        return told(core, LEVEL_ERROR, "%lu bytes were given, %lu are needed", (unsigned long)size, (unsigned long)SERIAL_SIZE);
    memcpy(bytes, CONTENT, TOKEN_SIZE);
    memcpy((char *)bytes + TOKEN_SIZE, &saved->s, sizeof(State));
    return LEVEL_OK;
}

/* Bytes may come from anywhere: they are looked at before they are believed. */
static Level unwritten(Core *core, const void *bytes, size_t size, Saved *saved)
{
    const double *numbers = (const double *)&saved->s;
    int mode;
    if (size != SERIAL_SIZE || memcmp(bytes, CONTENT, TOKEN_SIZE) != 0)
        return told(core, LEVEL_ERROR, "these bytes are no saved state of this FMU");
    memcpy(&saved->s, (const char *)bytes + TOKEN_SIZE, sizeof(State));
    if (!finite_all(numbers, sizeof(State) / sizeof(double)))
        return told(core, LEVEL_ERROR, "the saved state holds what is no finite number");
    mode = saved->s.mode >= 1.0 && saved->s.mode <= TERMINATED ? (int)saved->s.mode : 0;
    if ((double)mode != saved->s.mode || (mode & (mode - 1)) != 0 || mode == 0
        || mode == (core->co_simulation ? CONTINUOUS : STEP) || !(saved->s.tolerance > 0.0))
        return told(core, LEVEL_ERROR, "the saved state is damaged, or of an instance of the other kind");
    saved->magic = STATE_MAGIC;
    return LEVEL_OK;
}

#endif
