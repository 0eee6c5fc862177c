/* Types of FMI 2.0 as its specification declares them, and names of functions. With GYROSTAT_STANDARD_HEADERS the
   headers of the tool that compiles this are taken instead. */
#ifndef GYROSTAT_FMI2_H
#define GYROSTAT_FMI2_H

#include <stddef.h>

#ifdef GYROSTAT_STANDARD_HEADERS
#include "fmi2Functions.h"
#else

typedef void *fmi2Component;
typedef void *fmi2ComponentEnvironment;
typedef void *fmi2FMUstate;
typedef unsigned int fmi2ValueReference;
typedef double fmi2Real;
typedef int fmi2Integer;
typedef int fmi2Boolean;
typedef char fmi2Char;
typedef const fmi2Char *fmi2String;
typedef char fmi2Byte;

#define fmi2True 1
#define fmi2False 0

typedef enum { fmi2OK, fmi2Warning, fmi2Discard, fmi2Error, fmi2Fatal, fmi2Pending } fmi2Status;
typedef enum { fmi2ModelExchange, fmi2CoSimulation } fmi2Type;
typedef enum { fmi2DoStepStatus, fmi2PendingStatus, fmi2LastSuccessfulTime, fmi2Terminated } fmi2StatusKind;

typedef void (*fmi2CallbackLogger)(fmi2ComponentEnvironment, fmi2String, fmi2Status, fmi2String, fmi2String, ...);
typedef void *(*fmi2CallbackAllocateMemory)(size_t, size_t);
typedef void (*fmi2CallbackFreeMemory)(void *);
typedef void (*fmi2StepFinished)(fmi2ComponentEnvironment, fmi2Status);

typedef struct {
    fmi2CallbackLogger logger;
    fmi2CallbackAllocateMemory allocateMemory;
    fmi2CallbackFreeMemory freeMemory;
    fmi2StepFinished stepFinished;
    fmi2ComponentEnvironment componentEnvironment;
} fmi2CallbackFunctions;

typedef struct {
    fmi2Boolean newDiscreteStatesNeeded;
    fmi2Boolean terminateSimulation;
    fmi2Boolean nominalsOfContinuousStatesChanged;
    fmi2Boolean valuesOfContinuousStatesChanged;
    fmi2Boolean nextEventTimeDefined;
    fmi2Real nextEventTime;
} fmi2EventInfo;

#if defined _WIN32 || defined __CYGWIN__
#define GYROSTAT_EXPORT __declspec(dllexport)
#elif defined __GNUC__
#define GYROSTAT_EXPORT __attribute__((visibility("default")))
#endif
#endif

#ifndef GYROSTAT_EXPORT
#define GYROSTAT_EXPORT
#endif

/* Several FMUs in one program: the tool defines FMI2_FUNCTION_PREFIX. */
#if defined FMI2_FUNCTION_PREFIX && !defined FMI2_OVERRIDE_FUNCTION_PREFIX && !defined GYROSTAT_STANDARD_HEADERS
#define GYROSTAT_JOIN_(a, b) a##b
#define GYROSTAT_JOIN(a, b) GYROSTAT_JOIN_(a, b)
#define NAMED(name) GYROSTAT_JOIN(FMI2_FUNCTION_PREFIX, name)
#else
#define NAMED(name) name
#endif

#define API(type, name) GYROSTAT_EXPORT type NAMED(name)

#endif
