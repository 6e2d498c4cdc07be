// What liblockstep shows: a few functions of C, which the package's _core.py calls by ctypes. No name of CPython's interface
// is in the library and no C++ crosses its border, so one file serves every Python, and the C++ library that it was built
// with is its own. A call is a name and JSON; its answer is JSON, in which {"blob": address, "type": "<f4", "count": n}
// stands for bytes that lie in the task until it is freed. A task works on a thread of its own: Python waits for it in small
// steps, looks for Ctrl-C and hands on what kernels print.
#pragma once
#include <stddef.h>
#include <stdint.h>

#if !defined(_WIN32)
#define LOCKSTEP_SHOWN __attribute__((visibility("default")))
#elif defined(LOCKSTEP_IS_BUILT)
#define LOCKSTEP_SHOWN __declspec(dllexport)
#else
#define LOCKSTEP_SHOWN __declspec(dllimport)
#endif

#ifdef __cplusplus
extern "C" {
#endif

typedef struct LockstepTask LockstepTask;
typedef struct LockstepObject LockstepObject;  // a kernel, or a launch that has run

// Begins `function` of functions.cpp with its JSON; `object`: what it is called of, or null. Null: there is
// no memory or no thread for it.
LOCKSTEP_SHOWN LockstepTask* lockstep_begin(const char* function, const char* json, size_t bytes, LockstepObject* object);
// Whether it has ended, after at most that many milliseconds; -1: as many as it takes.
LOCKSTEP_SHOWN int lockstep_wait(LockstepTask* task, int milliseconds);
LOCKSTEP_SHOWN void lockstep_stop(LockstepTask* task);  // asks it to end early
// What it has printed since the last call; it lies there until the next one.
LOCKSTEP_SHOWN const char* lockstep_printed(LockstepTask* task, size_t* bytes);
// Of one that has ended. The status is 0; 1: the JSON is a Failure; 2: it is the text of another error; 3: there is not
// enough memory. `object` gets what it has made, which is the caller's to free.
LOCKSTEP_SHOWN const char* lockstep_answer(LockstepTask* task, size_t* bytes, int* status, LockstepObject** object);
LOCKSTEP_SHOWN void lockstep_free(LockstepTask* task, LockstepObject* object);  // either of them may be null

LOCKSTEP_SHOWN int lockstep_start(int argc, char** argv);  // the command line
#ifdef __cplusplus
}
#endif
