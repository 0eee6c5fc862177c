/* The functions of FMI 2.0, for model exchange and co-simulation. */
#include "core.h"
#include "fmi2.h"

typedef struct {
    Core core; /* first: both have the same address */
    fmi2CallbackLogger logger;
    fmi2ComponentEnvironment environment;
} Instance;

#define ANY (INSTANTIATED | INITIALIZATION | EVENT | CONTINUOUS | STEP | TERMINATED)
#define RUNNING (EVENT | CONTINUOUS | STEP)
#define VALUES (INITIALIZATION | RUNNING | TERMINATED)

static fmi2Status status_of(Level level)
{
    return level == LEVEL_OK ? fmi2OK : level == LEVEL_WARNING ? fmi2Warning
           : level == LEVEL_DISCARD ? fmi2Discard : fmi2Error;
}

static void report(Core *core, Level level, const char *message)
{
    Instance *self = (Instance *)(void *)core;
    if (self->logger)
        self->logger(self->environment, core->name, status_of(level),
                     level == LEVEL_ERROR ? "logStatusError" : level == LEVEL_DISCARD ? "logStatusDiscard" : "logStatusWarning",
                     message);
}

static Core *known(fmi2Component c)
{
    Core *core = (Core *)c;
    return core && core->magic == CORE_MAGIC ? core : NULL;
}

/* The instance, in a state in which the function may be called. */
#define ENTER(c, modes, function)                                        \
    Core *core = known(c);                                               \
    if (!core) return fmi2Error;                                         \
    if (expect_mode(core, (modes), function) != LEVEL_OK) return fmi2Error

#define EXPECT(condition, ...) \
    if (!(condition)) return status_of(told(core, LEVEL_ERROR, __VA_ARGS__))

API(const char *, fmi2GetTypesPlatform)(void) { return "default"; }
API(const char *, fmi2GetVersion)(void) { return "2.0"; }

API(fmi2Status, fmi2SetDebugLogging)(fmi2Component c, fmi2Boolean on, size_t n, const fmi2String categories[])
{
    ENTER(c, ANY, "fmi2SetDebugLogging");
    (void)n, (void)categories;
    core->logging = on;
    return fmi2OK;
}

API(fmi2Component, fmi2Instantiate)(fmi2String name, fmi2Type type, fmi2String guid, fmi2String resources,
                                    const fmi2CallbackFunctions *functions, fmi2Boolean visible, fmi2Boolean logging)
{
    Instance *self;
    const char *why = NULL;
    size_t length;
    (void)resources, (void)visible;
    if (!functions) return NULL;
    if (!name || !*name) why = "an instance needs a name";
    else if (!guid || strcmp(guid, TOKEN) != 0) why = "the GUID is another one than that of modelDescription.xml";
    else if (type == fmi2CoSimulation ? !CO_SIMULATION : !MODEL_EXCHANGE) why = "this FMU is of the other kind";
    if (why) {
        if (functions->logger)
            functions->logger(functions->componentEnvironment, name ? name : "", fmi2Error, "logStatusError", why);
        return NULL;
    }
    length = strlen(name) + 1;
    self = (Instance *)calloc(1, sizeof *self + length);
    if (!self) return NULL;
    self->core.name = (char *)(self + 1);
    memcpy(self->core.name, name, length);
    self->logger = functions->logger;
    self->environment = functions->componentEnvironment;
    self->core.magic = CORE_MAGIC;
    self->core.report = report;
    self->core.logging = logging;
    self->core.co_simulation = type == fmi2CoSimulation;
    put_start(&self->core.s);
    return self;
}

API(void, fmi2FreeInstance)(fmi2Component c)
{
    Core *core = known(c);
    if (!core) return;
    core->magic = 0;
    free(core);
}

API(fmi2Status, fmi2SetupExperiment)(fmi2Component c, fmi2Boolean with_tolerance, fmi2Real tolerance, fmi2Real start,
                                     fmi2Boolean with_stop, fmi2Real stop)
{
    ENTER(c, INSTANTIATED, "fmi2SetupExperiment");
    EXPECT(finite_all(&start, 1), "the start time is no finite number");
    EXPECT(!with_stop || stop >= start, "the stop time is before the start time");
    EXPECT(!with_tolerance || (tolerance > 0.0 && tolerance < 1.0), "the tolerance %g is not between 0 and 1", tolerance);
    core->s.time = core->s.start = start;
    if (with_tolerance) core->s.tolerance = tolerance;
    return fmi2OK;
}

API(fmi2Status, fmi2EnterInitializationMode)(fmi2Component c)
{
    ENTER(c, INSTANTIATED, "fmi2EnterInitializationMode");
    core->s.mode = INITIALIZATION;
    return fmi2OK;
}

API(fmi2Status, fmi2ExitInitializationMode)(fmi2Component c)
{
    ENTER(c, INITIALIZATION, "fmi2ExitInitializationMode");
    return status_of(left_initialization(core));
}

API(fmi2Status, fmi2Terminate)(fmi2Component c)
{
    ENTER(c, RUNNING, "fmi2Terminate");
    core->s.mode = TERMINATED;
    return fmi2OK;
}

API(fmi2Status, fmi2Reset)(fmi2Component c)
{
    ENTER(c, ANY, "fmi2Reset");
    put_start(&core->s);
    core->fresh = 0;
    return fmi2OK;
}

/* ---------------------------------------------------------------------------------------- values */

API(fmi2Status, fmi2GetReal)(fmi2Component c, const fmi2ValueReference vr[], size_t n, fmi2Real value[])
{
    size_t k;
    ENTER(c, VALUES, "fmi2GetReal");
    EXPECT(n == 0 || (vr && value), "fmi2GetReal: no arrays were given");
    for (k = 0; k < n; ++k) {
        const Level level = got(core, vr[k], &value[k]);
        if (level != LEVEL_OK) return status_of(level);
    }
    return fmi2OK;
}

API(fmi2Status, fmi2SetReal)(fmi2Component c, const fmi2ValueReference vr[], size_t n, const fmi2Real value[])
{
    size_t k;
    ENTER(c, INSTANTIATED | INITIALIZATION | RUNNING, "fmi2SetReal");
    EXPECT(n == 0 || (vr && value), "fmi2SetReal: no arrays were given");
    for (k = 0; k < n; ++k) {
        const Level level = put(core, vr[k], value[k]);
        if (level != LEVEL_OK) return status_of(level);
    }
    return fmi2OK;
}

#define NO_VARIABLES(function, type)                                                                 \
    API(fmi2Status, function)(fmi2Component c, const fmi2ValueReference vr[], size_t n, type value[]) \
    {                                                                                                \
        ENTER(c, ANY, #function);                                                                    \
        (void)vr, (void)value;                                                                       \
        EXPECT(n == 0, #function ": all variables are real numbers");                                \
        return fmi2OK;                                                                               \
    }
NO_VARIABLES(fmi2GetInteger, fmi2Integer)
NO_VARIABLES(fmi2GetBoolean, fmi2Boolean)
NO_VARIABLES(fmi2GetString, fmi2String)
NO_VARIABLES(fmi2SetInteger, const fmi2Integer)
NO_VARIABLES(fmi2SetBoolean, const fmi2Boolean)
NO_VARIABLES(fmi2SetString, const fmi2String)

/* ---------------------------------------------------------------------------------------- saved states */

API(fmi2Status, fmi2GetFMUstate)(fmi2Component c, fmi2FMUstate *state)
{
    Saved *saved;
    ENTER(c, ANY, "fmi2GetFMUstate");
    EXPECT(state, "fmi2GetFMUstate: no place for the state was given");
    saved = (Saved *)*state;
    EXPECT(!saved || saved->magic == STATE_MAGIC, "fmi2GetFMUstate: this is no state of an FMU");
    if (!saved) saved = (Saved *)calloc(1, sizeof *saved);
    EXPECT(saved, "no memory is left");
    saved->magic = STATE_MAGIC;
    saved->s = core->s;
    *state = saved;
    return fmi2OK;
}

API(fmi2Status, fmi2SetFMUstate)(fmi2Component c, fmi2FMUstate state)
{
    ENTER(c, ANY, "fmi2SetFMUstate");
    return status_of(restored(core, (const Saved *)state));
}

API(fmi2Status, fmi2FreeFMUstate)(fmi2Component c, fmi2FMUstate *state)
{
    Saved *saved;
    ENTER(c, ANY, "fmi2FreeFMUstate");
    if (!state || !*state) return fmi2OK;
    saved = (Saved *)*state;
    EXPECT(saved->magic == STATE_MAGIC, "fmi2FreeFMUstate: this is no state of an FMU");
    saved->magic = 0;
    free(saved);
    *state = NULL;
    return fmi2OK;
}

API(fmi2Status, fmi2SerializedFMUstateSize)(fmi2Component c, fmi2FMUstate state, size_t *size)
{
    ENTER(c, ANY, "fmi2SerializedFMUstateSize");
    EXPECT(state && size, "fmi2SerializedFMUstateSize: no state was given, or no place for its size");
    *size = SERIAL_SIZE;
    return fmi2OK;
}

API(fmi2Status, fmi2SerializeFMUstate)(fmi2Component c, fmi2FMUstate state, fmi2Byte bytes[], size_t size)
{
    ENTER(c, ANY, "fmi2SerializeFMUstate");
    EXPECT(bytes, "fmi2SerializeFMUstate: no bytes were given");
    return status_of(written(core, (const Saved *)state, bytes, size));
}

API(fmi2Status, fmi2DeSerializeFMUstate)(fmi2Component c, const fmi2Byte bytes[], size_t size, fmi2FMUstate *state)
{
    Saved saved, *kept;
    Level level;
    ENTER(c, ANY, "fmi2DeSerializeFMUstate");
    EXPECT(bytes && state, "fmi2DeSerializeFMUstate: no bytes were given, or no place for the state");
    level = unwritten(core, bytes, size, &saved);
    if (level != LEVEL_OK) return status_of(level);
    kept = (Saved *)*state;
    EXPECT(!kept || kept->magic == STATE_MAGIC, "fmi2DeSerializeFMUstate: this is no state of an FMU");
    if (!kept) kept = (Saved *)calloc(1, sizeof *kept);
    EXPECT(kept, "no memory is left");
    *kept = saved;
    *state = kept;
    return fmi2OK;
}

API(fmi2Status, fmi2GetDirectionalDerivative)(fmi2Component c, const fmi2ValueReference unknown[], size_t nu,
                                              const fmi2ValueReference knowns[], size_t nk, const fmi2Real seed[],
                                              fmi2Real result[])
{
    ENTER(c, VALUES, "fmi2GetDirectionalDerivative");
    EXPECT((nu == 0 || (unknown && result)) && (nk == 0 || (knowns && seed)), "fmi2GetDirectionalDerivative: no arrays were given");
    return status_of(directional(core, unknown, nu, knowns, nk, seed, result));
}

/* ---------------------------------------------------------------------------------------- model exchange */

API(fmi2Status, fmi2EnterEventMode)(fmi2Component c)
{
    ENTER(c, EVENT | CONTINUOUS, "fmi2EnterEventMode");
    core->s.mode = EVENT;
    return fmi2OK;
}

API(fmi2Status, fmi2NewDiscreteStates)(fmi2Component c, fmi2EventInfo *info)
{
    int defined = 0;
    double next = 0.0;
    Level level;
    ENTER(c, EVENT, "fmi2NewDiscreteStates");
    EXPECT(info, "fmi2NewDiscreteStates: no place for the answer was given");
    level = discrete(core, &defined, &next);
    info->newDiscreteStatesNeeded = info->terminateSimulation = fmi2False;
    info->nominalsOfContinuousStatesChanged = info->valuesOfContinuousStatesChanged = fmi2False;
    info->nextEventTimeDefined = defined;
    info->nextEventTime = next;
    return status_of(level);
}

API(fmi2Status, fmi2EnterContinuousTimeMode)(fmi2Component c)
{
    ENTER(c, EVENT, "fmi2EnterContinuousTimeMode");
    core->s.mode = CONTINUOUS;
    return fmi2OK;
}

API(fmi2Status, fmi2CompletedIntegratorStep)(fmi2Component c, fmi2Boolean no_set_prior, fmi2Boolean *enter_event,
                                             fmi2Boolean *terminate)
{
    ENTER(c, CONTINUOUS, "fmi2CompletedIntegratorStep");
    (void)no_set_prior;
    EXPECT(enter_event && terminate, "fmi2CompletedIntegratorStep: no places for the answers were given");
    *enter_event = *terminate = fmi2False;
    return fmi2OK;
}

API(fmi2Status, fmi2SetTime)(fmi2Component c, fmi2Real time)
{
    ENTER(c, EVENT | CONTINUOUS, "fmi2SetTime");
    EXPECT(finite_all(&time, 1), "the time is no finite number");
    core->s.time = time;
    core->fresh = 0;
    return fmi2OK;
}

API(fmi2Status, fmi2SetContinuousStates)(fmi2Component c, const fmi2Real x[], size_t nx)
{
    ENTER(c, EVENT | CONTINUOUS, "fmi2SetContinuousStates");
    EXPECT(x || nx == 0, "fmi2SetContinuousStates: no states were given");
    return status_of(states_set(core, x, nx));
}

API(fmi2Status, fmi2GetDerivatives)(fmi2Component c, fmi2Real derivatives[], size_t nx)
{
    Level level;
    ENTER(c, EVENT | CONTINUOUS | TERMINATED, "fmi2GetDerivatives");
    EXPECT(nx == NX && (derivatives || NX == 0), "%lu states were given, there are %d", (unsigned long)nx, NX);
    level = evaluated(core);
    if (level == LEVEL_OK && NX > 0) memcpy(derivatives, core->z, NX * sizeof(double));
    return status_of(level);
}

API(fmi2Status, fmi2GetEventIndicators)(fmi2Component c, fmi2Real indicators[], size_t n)
{
    ENTER(c, EVENT | CONTINUOUS | TERMINATED, "fmi2GetEventIndicators");
    (void)indicators;
    EXPECT(n == 0, "there are no event indicators, %lu were asked for", (unsigned long)n);
    return fmi2OK;
}

API(fmi2Status, fmi2GetContinuousStates)(fmi2Component c, fmi2Real x[], size_t nx)
{
    ENTER(c, EVENT | CONTINUOUS | TERMINATED, "fmi2GetContinuousStates");
    EXPECT(nx == NX && (x || NX == 0), "%lu states were given, there are %d", (unsigned long)nx, NX);
    if (NX > 0) memcpy(x, core->s.x, NX * sizeof(double));
    return fmi2OK;
}

API(fmi2Status, fmi2GetNominalsOfContinuousStates)(fmi2Component c, fmi2Real x[], size_t nx)
{
    ENTER(c, VALUES | INSTANTIATED, "fmi2GetNominalsOfContinuousStates");
    EXPECT(nx == NX && (x || NX == 0), "%lu states were given, there are %d", (unsigned long)nx, NX);
    if (NX > 0) memcpy(x, NOMINAL, NX * sizeof(double));
    return fmi2OK;
}

/* ---------------------------------------------------------------------------------------- co-simulation */

API(fmi2Status, fmi2SetRealInputDerivatives)(fmi2Component c, const fmi2ValueReference vr[], size_t n,
                                             const fmi2Integer order[], const fmi2Real value[])
{
    ENTER(c, ANY, "fmi2SetRealInputDerivatives");
    (void)vr, (void)order, (void)value;
    EXPECT(n == 0, "inputs are held during a step, their derivatives are not taken");
    return fmi2OK;
}

API(fmi2Status, fmi2GetRealOutputDerivatives)(fmi2Component c, const fmi2ValueReference vr[], size_t n,
                                              const fmi2Integer order[], fmi2Real value[])
{
    ENTER(c, ANY, "fmi2GetRealOutputDerivatives");
    (void)vr, (void)order, (void)value;
    EXPECT(n == 0, "derivatives of outputs are not given");
    return fmi2OK;
}

API(fmi2Status, fmi2DoStep)(fmi2Component c, fmi2Real t, fmi2Real h, fmi2Boolean no_set_prior)
{
    ENTER(c, STEP, "fmi2DoStep");
    (void)no_set_prior;
    return status_of(stepped(core, t, h));
}

API(fmi2Status, fmi2CancelStep)(fmi2Component c)
{
    ENTER(c, STEP, "fmi2CancelStep");
    return status_of(told(core, LEVEL_ERROR, "steps are not asynchronous, there is nothing to cancel"));
}

API(fmi2Status, fmi2GetStatus)(fmi2Component c, const fmi2StatusKind s, fmi2Status *value)
{
    ENTER(c, STEP | TERMINATED, "fmi2GetStatus");
    (void)s, (void)value;
    return fmi2Discard;
}

API(fmi2Status, fmi2GetRealStatus)(fmi2Component c, const fmi2StatusKind s, fmi2Real *value)
{
    ENTER(c, STEP | TERMINATED, "fmi2GetRealStatus");
    if (s != fmi2LastSuccessfulTime || !value) return fmi2Discard;
    *value = core->s.time;
    return fmi2OK;
}

API(fmi2Status, fmi2GetIntegerStatus)(fmi2Component c, const fmi2StatusKind s, fmi2Integer *value)
{
    ENTER(c, STEP | TERMINATED, "fmi2GetIntegerStatus");
    (void)s, (void)value;
    return fmi2Discard;
}

API(fmi2Status, fmi2GetBooleanStatus)(fmi2Component c, const fmi2StatusKind s, fmi2Boolean *value)
{
    ENTER(c, STEP | TERMINATED, "fmi2GetBooleanStatus");
    if (s != fmi2Terminated || !value) return fmi2Discard;
    *value = fmi2False;
    return fmi2OK;
}

API(fmi2Status, fmi2GetStringStatus)(fmi2Component c, const fmi2StatusKind s, fmi2String *value)
{
    ENTER(c, STEP | TERMINATED, "fmi2GetStringStatus");
    (void)s, (void)value;
    return fmi2Discard;
}
