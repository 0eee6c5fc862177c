/* The functions of FMI 3.0, for model exchange and co-simulation. */
#include "core.h"
#include "fmi3.h"

typedef struct {
    Core core; /* first: both have the same address */
    fmi3LogMessageCallback logger;
    fmi3InstanceEnvironment environment;
} Instance;

#define ANY (INSTANTIATED | INITIALIZATION | EVENT | CONTINUOUS | STEP | TERMINATED)
#define RUNNING (EVENT | CONTINUOUS | STEP)
#define VALUES (INITIALIZATION | RUNNING | TERMINATED)

static fmi3Status status_of(Level level)
{
    return level == LEVEL_OK ? fmi3OK : level == LEVEL_WARNING ? fmi3Warning
           : level == LEVEL_DISCARD ? fmi3Discard : fmi3Error;
}

static void report(Core *core, Level level, const char *message)
{
    Instance *self = (Instance *)(void *)core;
    if (self->logger)
        self->logger(self->environment, status_of(level),
                     level == LEVEL_ERROR ? "logStatusError" : level == LEVEL_DISCARD ? "logStatusDiscard" : "logStatusWarning",
                     message);
}

static Core *known(fmi3Instance instance)
{
    Core *core = (Core *)instance;
    return core && core->magic == CORE_MAGIC ? core : NULL;
}

/* The instance, in a state in which the function may be called. */
#define ENTER(c, modes, function)                                        \
    Core *core = known(c);                                               \
    if (!core) return fmi3Error;                                         \
    if (expect_mode(core, (modes), function) != LEVEL_OK) return fmi3Error

#define EXPECT(condition, ...) \
    if (!(condition)) return status_of(told(core, LEVEL_ERROR, __VA_ARGS__))

API(const char *, fmi3GetVersion)(void) { return "3.0"; }

API(fmi3Status, fmi3SetDebugLogging)(fmi3Instance c, fmi3Boolean on, size_t n, const fmi3String categories[])
{
    ENTER(c, ANY, "fmi3SetDebugLogging");
    (void)n, (void)categories;
    core->logging = on;
    return fmi3OK;
}

static fmi3Instance instantiated(fmi3String name, fmi3String token, int co_simulation, int offered, fmi3Boolean logging,
                                 fmi3InstanceEnvironment environment, fmi3LogMessageCallback logger)
{
    Instance *self;
    const char *why = NULL;
    size_t length;
    if (!name || !*name) why = "an instance needs a name";
    else if (!token || strcmp(token, TOKEN) != 0) why = "the token is another one than that of modelDescription.xml";
    else if (!offered) why = "this FMU is of another kind";
    if (why) {
        if (logger) logger(environment, fmi3Error, "logStatusError", why);
        return NULL;
    }
    length = strlen(name) + 1;
    self = (Instance *)calloc(1, sizeof *self + length);
    if (!self) return NULL;
    self->core.name = (char *)(self + 1);
    memcpy(self->core.name, name, length);
    self->logger = logger;
    self->environment = environment;
    self->core.magic = CORE_MAGIC;
    self->core.report = report;
    self->core.logging = logging;
    self->core.co_simulation = co_simulation;
    put_start(&self->core.s);
    return self;
}

API(fmi3Instance, fmi3InstantiateModelExchange)(fmi3String name, fmi3String token, fmi3String resources, fmi3Boolean visible,
                                                fmi3Boolean logging, fmi3InstanceEnvironment environment,
                                                fmi3LogMessageCallback logger)
{
    (void)resources, (void)visible;
    return instantiated(name, token, 0, MODEL_EXCHANGE, logging, environment, logger);
}

API(fmi3Instance, fmi3InstantiateCoSimulation)(fmi3String name, fmi3String token, fmi3String resources, fmi3Boolean visible,
                                               fmi3Boolean logging, fmi3Boolean event_mode, fmi3Boolean early_return,
                                               const fmi3ValueReference intermediate[], size_t n,
                                               fmi3InstanceEnvironment environment, fmi3LogMessageCallback logger,
                                               fmi3IntermediateUpdateCallback update)
{
    (void)resources, (void)visible, (void)early_return, (void)intermediate, (void)update;
    return instantiated(name, token, 1, CO_SIMULATION && !event_mode && n == 0, logging, environment, logger);
}

API(fmi3Instance, fmi3InstantiateScheduledExecution)(fmi3String name, fmi3String token, fmi3String resources,
                                                     fmi3Boolean visible, fmi3Boolean logging,
                                                     fmi3InstanceEnvironment environment, fmi3LogMessageCallback logger,
                                                     fmi3ClockUpdateCallback update, fmi3LockPreemptionCallback lock,
                                                     fmi3UnlockPreemptionCallback unlock)
{
    (void)resources, (void)visible, (void)update, (void)lock, (void)unlock;
    return instantiated(name, token, 0, 0, logging, environment, logger);
}

API(void, fmi3FreeInstance)(fmi3Instance c)
{
    Core *core = known(c);
    if (!core) return;
    core->magic = 0;
    free(core);
}

API(fmi3Status, fmi3EnterInitializationMode)(fmi3Instance c, fmi3Boolean with_tolerance, fmi3Float64 tolerance,
                                             fmi3Float64 start, fmi3Boolean with_stop, fmi3Float64 stop)
{
    ENTER(c, INSTANTIATED, "fmi3EnterInitializationMode");
    EXPECT(finite_all(&start, 1), "the start time is no finite number");
    EXPECT(!with_stop || stop >= start, "the stop time is before the start time");
    EXPECT(!with_tolerance || (tolerance > 0.0 && tolerance < 1.0), "the tolerance %g is not between 0 and 1", tolerance);
    core->s.time = core->s.start = start;
    if (with_tolerance) core->s.tolerance = tolerance;
    core->s.mode = INITIALIZATION;
    return fmi3OK;
}

API(fmi3Status, fmi3ExitInitializationMode)(fmi3Instance c)
{
    ENTER(c, INITIALIZATION, "fmi3ExitInitializationMode");
    return status_of(left_initialization(core));
}

API(fmi3Status, fmi3EnterEventMode)(fmi3Instance c)
{
    ENTER(c, EVENT | CONTINUOUS, "fmi3EnterEventMode");
    core->s.mode = EVENT;
    return fmi3OK;
}

API(fmi3Status, fmi3Terminate)(fmi3Instance c)
{
    ENTER(c, RUNNING, "fmi3Terminate");
    core->s.mode = TERMINATED;
    return fmi3OK;
}

API(fmi3Status, fmi3Reset)(fmi3Instance c)
{
    ENTER(c, ANY, "fmi3Reset");
    put_start(&core->s);
    core->fresh = 0;
    return fmi3OK;
}

/* ---------------------------------------------------------------------------------------- values */

API(fmi3Status, fmi3GetFloat64)(fmi3Instance c, const fmi3ValueReference vr[], size_t n, fmi3Float64 value[], size_t nv)
{
    size_t k;
    ENTER(c, VALUES, "fmi3GetFloat64");
    EXPECT(n == nv, "fmi3GetFloat64: %lu value references and %lu values", (unsigned long)n, (unsigned long)nv);
    EXPECT(n == 0 || (vr && value), "fmi3GetFloat64: no arrays were given");
    for (k = 0; k < n; ++k) {
        const Level level = got(core, vr[k], &value[k]);
        if (level != LEVEL_OK) return status_of(level);
    }
    return fmi3OK;
}

API(fmi3Status, fmi3SetFloat64)(fmi3Instance c, const fmi3ValueReference vr[], size_t n, const fmi3Float64 value[], size_t nv)
{
    size_t k;
    ENTER(c, INSTANTIATED | INITIALIZATION | RUNNING, "fmi3SetFloat64");
    EXPECT(n == nv, "fmi3SetFloat64: %lu value references and %lu values", (unsigned long)n, (unsigned long)nv);
    EXPECT(n == 0 || (vr && value), "fmi3SetFloat64: no arrays were given");
    for (k = 0; k < n; ++k) {
        const Level level = put(core, vr[k], value[k]);
        if (level != LEVEL_OK) return status_of(level);
    }
    return fmi3OK;
}

#define NO_VARIABLES(function, type)                                                                             \
    API(fmi3Status, function)(fmi3Instance c, const fmi3ValueReference vr[], size_t n, type value[], size_t nv) \
    {                                                                                                            \
        ENTER(c, ANY, #function);                                                                                \
        (void)vr, (void)value, (void)nv;                                                                         \
        EXPECT(n == 0, #function ": all variables are of type Float64");                                         \
        return fmi3OK;                                                                                           \
    }
NO_VARIABLES(fmi3GetFloat32, fmi3Float32)
NO_VARIABLES(fmi3GetInt8, fmi3Int8)
NO_VARIABLES(fmi3GetUInt8, fmi3UInt8)
NO_VARIABLES(fmi3GetInt16, fmi3Int16)
NO_VARIABLES(fmi3GetUInt16, fmi3UInt16)
NO_VARIABLES(fmi3GetInt32, fmi3Int32)
NO_VARIABLES(fmi3GetUInt32, fmi3UInt32)
NO_VARIABLES(fmi3GetInt64, fmi3Int64)
NO_VARIABLES(fmi3GetUInt64, fmi3UInt64)
NO_VARIABLES(fmi3GetBoolean, fmi3Boolean)
NO_VARIABLES(fmi3GetString, fmi3String)
NO_VARIABLES(fmi3SetFloat32, const fmi3Float32)
NO_VARIABLES(fmi3SetInt8, const fmi3Int8)
NO_VARIABLES(fmi3SetUInt8, const fmi3UInt8)
NO_VARIABLES(fmi3SetInt16, const fmi3Int16)
NO_VARIABLES(fmi3SetUInt16, const fmi3UInt16)
NO_VARIABLES(fmi3SetInt32, const fmi3Int32)
NO_VARIABLES(fmi3SetUInt32, const fmi3UInt32)
NO_VARIABLES(fmi3SetInt64, const fmi3Int64)
NO_VARIABLES(fmi3SetUInt64, const fmi3UInt64)
NO_VARIABLES(fmi3SetBoolean, const fmi3Boolean)
NO_VARIABLES(fmi3SetString, const fmi3String)

API(fmi3Status, fmi3GetBinary)(fmi3Instance c, const fmi3ValueReference vr[], size_t n, size_t sizes[], fmi3Binary value[],
                               size_t nv)
{
    ENTER(c, ANY, "fmi3GetBinary");
    (void)vr, (void)sizes, (void)value, (void)nv;
    EXPECT(n == 0, "fmi3GetBinary: all variables are of type Float64");
    return fmi3OK;
}

API(fmi3Status, fmi3SetBinary)(fmi3Instance c, const fmi3ValueReference vr[], size_t n, const size_t sizes[],
                               const fmi3Binary value[], size_t nv)
{
    ENTER(c, ANY, "fmi3SetBinary");
    (void)vr, (void)sizes, (void)value, (void)nv;
    EXPECT(n == 0, "fmi3SetBinary: all variables are of type Float64");
    return fmi3OK;
}

/* ---------------------------------------------------------------------------------------- clocks: there are none */

#define NO_CLOCKS(function, ...)                                                                    \
    API(fmi3Status, function)(fmi3Instance c, const fmi3ValueReference vr[], size_t n, __VA_ARGS__) \
    {                                                                                               \
        ENTER(c, ANY, #function);                                                                   \
        (void)vr;                                                                                   \
        EXPECT(n == 0, #function ": there are no clocks");                                          \
        return fmi3OK;                                                                              \
    }
#if defined __GNUC__
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wunused-parameter"
#endif
NO_CLOCKS(fmi3GetClock, fmi3Clock value[])
NO_CLOCKS(fmi3SetClock, const fmi3Clock value[])
NO_CLOCKS(fmi3GetIntervalDecimal, fmi3Float64 interval[], fmi3IntervalQualifier qualifier[])
NO_CLOCKS(fmi3GetIntervalFraction, fmi3UInt64 counter[], fmi3UInt64 resolution[], fmi3IntervalQualifier qualifier[])
NO_CLOCKS(fmi3GetShiftDecimal, fmi3Float64 shift[])
NO_CLOCKS(fmi3GetShiftFraction, fmi3UInt64 counter[], fmi3UInt64 resolution[])
NO_CLOCKS(fmi3SetIntervalDecimal, const fmi3Float64 interval[])
NO_CLOCKS(fmi3SetIntervalFraction, const fmi3UInt64 counter[], const fmi3UInt64 resolution[])
NO_CLOCKS(fmi3SetShiftDecimal, const fmi3Float64 shift[])
NO_CLOCKS(fmi3SetShiftFraction, const fmi3UInt64 counter[], const fmi3UInt64 resolution[])
#if defined __GNUC__
#pragma GCC diagnostic pop
#endif

API(fmi3Status, fmi3ActivateModelPartition)(fmi3Instance c, fmi3ValueReference clock, fmi3Float64 time)
{
    ENTER(c, ANY, "fmi3ActivateModelPartition");
    (void)clock, (void)time;
    return status_of(told(core, LEVEL_ERROR, "there is no scheduled execution"));
}

/* ---------------------------------------------------------------------------------------- dependencies, configuration */

API(fmi3Status, fmi3GetNumberOfVariableDependencies)(fmi3Instance c, fmi3ValueReference vr, size_t *n)
{
    ENTER(c, ANY, "fmi3GetNumberOfVariableDependencies");
    (void)vr, (void)n;
    return status_of(told(core, LEVEL_ERROR, "dependencies do not change, modelDescription.xml has them"));
}

API(fmi3Status, fmi3GetVariableDependencies)(fmi3Instance c, fmi3ValueReference dependent, size_t element[],
                                             fmi3ValueReference independents[], size_t elements[],
                                             fmi3DependencyKind kinds[], size_t n)
{
    ENTER(c, ANY, "fmi3GetVariableDependencies");
    (void)dependent, (void)element, (void)independents, (void)elements, (void)kinds, (void)n;
    return status_of(told(core, LEVEL_ERROR, "dependencies do not change, modelDescription.xml has them"));
}

API(fmi3Status, fmi3EnterConfigurationMode)(fmi3Instance c)
{
    ENTER(c, ANY, "fmi3EnterConfigurationMode");
    return status_of(told(core, LEVEL_ERROR, "there are no structural parameters"));
}

API(fmi3Status, fmi3ExitConfigurationMode)(fmi3Instance c)
{
    ENTER(c, ANY, "fmi3ExitConfigurationMode");
    return status_of(told(core, LEVEL_ERROR, "there are no structural parameters"));
}

/* ---------------------------------------------------------------------------------------- saved states */

API(fmi3Status, fmi3GetFMUState)(fmi3Instance c, fmi3FMUState *state)
{
    Saved *saved;
    ENTER(c, ANY, "fmi3GetFMUState");
    EXPECT(state, "fmi3GetFMUState: no place for the state was given");
    saved = (Saved *)*state;
    EXPECT(!saved || saved->magic == STATE_MAGIC, "fmi3GetFMUState: this is no state of an FMU");
    if (!saved) saved = (Saved *)calloc(1, sizeof *saved);
    EXPECT(saved, "no memory is left");
    saved->magic = STATE_MAGIC;
    saved->s = core->s;
    *state = saved;
    return fmi3OK;
}

API(fmi3Status, fmi3SetFMUState)(fmi3Instance c, fmi3FMUState state)
{
    ENTER(c, ANY, "fmi3SetFMUState");
    return status_of(restored(core, (const Saved *)state));
}

API(fmi3Status, fmi3FreeFMUState)(fmi3Instance c, fmi3FMUState *state)
{
    Saved *saved;
    ENTER(c, ANY, "fmi3FreeFMUState");
    if (!state || !*state) return fmi3OK;
    saved = (Saved *)*state;
    EXPECT(saved->magic == STATE_MAGIC, "fmi3FreeFMUState: this is no state of an FMU");
    saved->magic = 0;
    free(saved);
    *state = NULL;
    return fmi3OK;
}

API(fmi3Status, fmi3SerializedFMUStateSize)(fmi3Instance c, fmi3FMUState state, size_t *size)
{
    ENTER(c, ANY, "fmi3SerializedFMUStateSize");
    EXPECT(state && size, "fmi3SerializedFMUStateSize: no state was given, or no place for its size");
    *size = SERIAL_SIZE;
    return fmi3OK;
}

API(fmi3Status, fmi3SerializeFMUState)(fmi3Instance c, fmi3FMUState state, fmi3Byte bytes[], size_t size)
{
    ENTER(c, ANY, "fmi3SerializeFMUState");
    EXPECT(bytes, "fmi3SerializeFMUState: no bytes were given");
    return status_of(written(core, (const Saved *)state, bytes, size));
}

API(fmi3Status, fmi3DeserializeFMUState)(fmi3Instance c, const fmi3Byte bytes[], size_t size, fmi3FMUState *state)
{
    Saved saved, *kept;
    Level level;
    ENTER(c, ANY, "fmi3DeserializeFMUState");
    EXPECT(bytes && state, "fmi3DeserializeFMUState: no bytes were given, or no place for the state");
    level = unwritten(core, bytes, size, &saved);
    if (level != LEVEL_OK) return status_of(level);
    kept = (Saved *)*state;
    EXPECT(!kept || kept->magic == STATE_MAGIC, "fmi3DeserializeFMUState: this is no state of an FMU");
    if (!kept) kept = (Saved *)calloc(1, sizeof *kept);
    EXPECT(kept, "no memory is left");
    *kept = saved;
    *state = kept;
    return fmi3OK;
}

/* ---------------------------------------------------------------------------------------- derivatives */

API(fmi3Status, fmi3GetDirectionalDerivative)(fmi3Instance c, const fmi3ValueReference unknowns[], size_t nu,
                                              const fmi3ValueReference knowns[], size_t nk, const fmi3Float64 seed[],
                                              size_t ns, fmi3Float64 result[], size_t nr)
{
    ENTER(c, VALUES, "fmi3GetDirectionalDerivative");
    EXPECT(ns == nk && nr == nu, "fmi3GetDirectionalDerivative: as many seeds as knowns, as many results as unknowns");
    EXPECT((nu == 0 || (unknowns && result)) && (nk == 0 || (knowns && seed)), "fmi3GetDirectionalDerivative: no arrays were given");
    return status_of(directional(core, unknowns, nu, knowns, nk, seed, result));
}

API(fmi3Status, fmi3GetAdjointDerivative)(fmi3Instance c, const fmi3ValueReference unknowns[], size_t nu,
                                          const fmi3ValueReference knowns[], size_t nk, const fmi3Float64 seed[], size_t ns,
                                          fmi3Float64 result[], size_t nr)
{
    ENTER(c, VALUES, "fmi3GetAdjointDerivative");
    EXPECT(ns == nu && nr == nk, "fmi3GetAdjointDerivative: as many seeds as unknowns, as many results as knowns");
    EXPECT((nu == 0 || (unknowns && seed)) && (nk == 0 || (knowns && result)), "fmi3GetAdjointDerivative: no arrays were given");
    return status_of(adjoint(core, unknowns, nu, knowns, nk, seed, result));
}

/* ---------------------------------------------------------------------------------------- events */

API(fmi3Status, fmi3EvaluateDiscreteStates)(fmi3Instance c)
{
    ENTER(c, INITIALIZATION | EVENT, "fmi3EvaluateDiscreteStates");
    return fmi3OK;
}

API(fmi3Status, fmi3UpdateDiscreteStates)(fmi3Instance c, fmi3Boolean *need_update, fmi3Boolean *terminate,
                                          fmi3Boolean *nominals, fmi3Boolean *values, fmi3Boolean *event_defined,
                                          fmi3Float64 *event_time)
{
    int defined = 0;
    double next = 0.0;
    Level level;
    ENTER(c, EVENT, "fmi3UpdateDiscreteStates");
    EXPECT(need_update && terminate && nominals && values && event_defined && event_time,
           "fmi3UpdateDiscreteStates: no places for the answers were given");
    level = discrete(core, &defined, &next);
    *need_update = *terminate = *nominals = *values = fmi3False;
    *event_defined = defined != 0;
    *event_time = next;
    return status_of(level);
}

/* ---------------------------------------------------------------------------------------- model exchange */

API(fmi3Status, fmi3EnterContinuousTimeMode)(fmi3Instance c)
{
    ENTER(c, EVENT, "fmi3EnterContinuousTimeMode");
    core->s.mode = CONTINUOUS;
    return fmi3OK;
}

API(fmi3Status, fmi3CompletedIntegratorStep)(fmi3Instance c, fmi3Boolean no_set_prior, fmi3Boolean *enter_event,
                                             fmi3Boolean *terminate)
{
    ENTER(c, CONTINUOUS, "fmi3CompletedIntegratorStep");
    (void)no_set_prior;
    EXPECT(enter_event && terminate, "fmi3CompletedIntegratorStep: no places for the answers were given");
    *enter_event = *terminate = fmi3False;
    return fmi3OK;
}

API(fmi3Status, fmi3SetTime)(fmi3Instance c, fmi3Float64 time)
{
    ENTER(c, EVENT | CONTINUOUS, "fmi3SetTime");
    EXPECT(finite_all(&time, 1), "the time is no finite number");
    core->s.time = time;
    core->fresh = 0;
    return fmi3OK;
}

API(fmi3Status, fmi3SetContinuousStates)(fmi3Instance c, const fmi3Float64 x[], size_t nx)
{
    ENTER(c, EVENT | CONTINUOUS, "fmi3SetContinuousStates");
    EXPECT(x || nx == 0, "fmi3SetContinuousStates: no states were given");
    return status_of(states_set(core, x, nx));
}

API(fmi3Status, fmi3GetContinuousStateDerivatives)(fmi3Instance c, fmi3Float64 derivatives[], size_t nx)
{
    Level level;
    ENTER(c, VALUES, "fmi3GetContinuousStateDerivatives");
    EXPECT(nx == NX && (derivatives || NX == 0), "%lu states were given, there are %d", (unsigned long)nx, NX);
    level = evaluated(core);
    if (level == LEVEL_OK && NX > 0) memcpy(derivatives, core->z, NX * sizeof(double));
    return status_of(level);
}

API(fmi3Status, fmi3GetEventIndicators)(fmi3Instance c, fmi3Float64 indicators[], size_t n)
{
    ENTER(c, VALUES, "fmi3GetEventIndicators");
    (void)indicators;
    EXPECT(n == 0, "there are no event indicators, %lu were asked for", (unsigned long)n);
    return fmi3OK;
}

API(fmi3Status, fmi3GetContinuousStates)(fmi3Instance c, fmi3Float64 x[], size_t nx)
{
    ENTER(c, VALUES, "fmi3GetContinuousStates");
    EXPECT(nx == NX && (x || NX == 0), "%lu states were given, there are %d", (unsigned long)nx, NX);
    if (NX > 0) memcpy(x, core->s.x, NX * sizeof(double));
    return fmi3OK;
}

API(fmi3Status, fmi3GetNominalsOfContinuousStates)(fmi3Instance c, fmi3Float64 x[], size_t nx)
{
    ENTER(c, ANY, "fmi3GetNominalsOfContinuousStates");
    EXPECT(nx == NX && (x || NX == 0), "%lu states were given, there are %d", (unsigned long)nx, NX);
    if (NX > 0) memcpy(x, NOMINAL, NX * sizeof(double));
    return fmi3OK;
}

API(fmi3Status, fmi3GetNumberOfEventIndicators)(fmi3Instance c, size_t *n)
{
    ENTER(c, ANY, "fmi3GetNumberOfEventIndicators");
    EXPECT(n, "fmi3GetNumberOfEventIndicators: no place for the number was given");
    *n = 0;
    return fmi3OK;
}

API(fmi3Status, fmi3GetNumberOfContinuousStates)(fmi3Instance c, size_t *n)
{
    ENTER(c, ANY, "fmi3GetNumberOfContinuousStates");
    EXPECT(n, "fmi3GetNumberOfContinuousStates: no place for the number was given");
    *n = NX;
    return fmi3OK;
}

/* ---------------------------------------------------------------------------------------- co-simulation */

API(fmi3Status, fmi3EnterStepMode)(fmi3Instance c)
{
    ENTER(c, ANY, "fmi3EnterStepMode");
    return status_of(told(core, LEVEL_ERROR, "co-simulation has no event mode, and so no step mode to enter"));
}

API(fmi3Status, fmi3GetOutputDerivatives)(fmi3Instance c, const fmi3ValueReference vr[], size_t n, const fmi3Int32 orders[],
                                          fmi3Float64 value[], size_t nv)
{
    ENTER(c, ANY, "fmi3GetOutputDerivatives");
    (void)vr, (void)orders, (void)value, (void)nv;
    EXPECT(n == 0, "derivatives of outputs are not given");
    return fmi3OK;
}

API(fmi3Status, fmi3DoStep)(fmi3Instance c, fmi3Float64 t, fmi3Float64 h, fmi3Boolean no_set_prior, fmi3Boolean *event_needed,
                            fmi3Boolean *terminate, fmi3Boolean *early, fmi3Float64 *last)
{
    Level level;
    ENTER(c, STEP, "fmi3DoStep");
    (void)no_set_prior;
    level = stepped(core, t, h);
    if (event_needed) *event_needed = fmi3False;
    if (terminate) *terminate = fmi3False;
    if (early) *early = fmi3False;
    if (last) *last = core->s.time;
    return status_of(level);
}
