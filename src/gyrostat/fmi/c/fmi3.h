/* Types of FMI 3.0 as its specification declares them, and names of functions. With GYROSTAT_STANDARD_HEADERS the
   headers of the tool that compiles this are taken instead. */
#ifndef GYROSTAT_FMI3_H
#define GYROSTAT_FMI3_H

#include <stddef.h>

#ifdef GYROSTAT_STANDARD_HEADERS
#include "fmi3Functions.h"
#else

#include <stdbool.h>
#include <stdint.h>

typedef void *fmi3Instance;
typedef void *fmi3InstanceEnvironment;
typedef void *fmi3FMUState;
typedef uint32_t fmi3ValueReference;
typedef float fmi3Float32;
typedef double fmi3Float64;
typedef int8_t fmi3Int8;
typedef uint8_t fmi3UInt8;
typedef int16_t fmi3Int16;
typedef uint16_t fmi3UInt16;
typedef int32_t fmi3Int32;
typedef uint32_t fmi3UInt32;
typedef int64_t fmi3Int64;
typedef uint64_t fmi3UInt64;
typedef bool fmi3Boolean;
typedef char fmi3Char;
typedef const fmi3Char *fmi3String;
typedef uint8_t fmi3Byte;
typedef const fmi3Byte *fmi3Binary;
typedef bool fmi3Clock;

#define fmi3True true
#define fmi3False false

typedef enum { fmi3OK, fmi3Warning, fmi3Discard, fmi3Error, fmi3Fatal } fmi3Status;
typedef enum {
    fmi3Independent,
    fmi3Constant,
    fmi3Fixed,
    fmi3Tunable,
    fmi3Discrete,
    fmi3Dependent
} fmi3DependencyKind;
typedef enum { fmi3IntervalNotYetKnown, fmi3IntervalUnchanged, fmi3IntervalChanged } fmi3IntervalQualifier;

typedef void (*fmi3LogMessageCallback)(fmi3InstanceEnvironment, fmi3Status, fmi3String, fmi3String);
typedef void (*fmi3ClockUpdateCallback)(fmi3InstanceEnvironment);
typedef void (*fmi3IntermediateUpdateCallback)(fmi3InstanceEnvironment, fmi3Float64, fmi3Boolean, fmi3Boolean, fmi3Boolean,
                                               fmi3Boolean, fmi3Boolean *, fmi3Float64 *);
typedef void (*fmi3LockPreemptionCallback)(void);
typedef void (*fmi3UnlockPreemptionCallback)(void);

#if defined _WIN32 || defined __CYGWIN__
#define GYROSTAT_EXPORT __declspec(dllexport)
#elif defined __GNUC__
#define GYROSTAT_EXPORT __attribute__((visibility("default")))
#endif
#endif

#ifndef GYROSTAT_EXPORT
#define GYROSTAT_EXPORT
#endif

/* Several FMUs in one program: the tool defines FMI3_FUNCTION_PREFIX. */
#if defined FMI3_FUNCTION_PREFIX && !defined FMI3_OVERRIDE_FUNCTION_PREFIX && !defined GYROSTAT_STANDARD_HEADERS
#define GYROSTAT_JOIN_(a, b) a##b
#define GYROSTAT_JOIN(a, b) GYROSTAT_JOIN_(a, b)
#define NAMED(name) GYROSTAT_JOIN(FMI3_FUNCTION_PREFIX, name)
#else
#define NAMED(name) name
#endif

#define API(type, name) GYROSTAT_EXPORT type NAMED(name)

#endif
