// One thing that is wrong with somebody's input, said in one sentence: where, what, and what would be right.
// A stage that reads input returns Result<T>; deep engine code throws Failure, which carries the same Diagnostic.
#pragma once
#include <stdexcept>
#include <stop_token>
#include <string>

#include "core/base/source_location.h"

namespace lockstep {

enum class Severity { error, warning, note };

struct Diagnostic {
    std::string message;           // one sentence without a full stop: "unknown opcode 'ad.f32', did you mean 'add.f32'?"
    SourceLocation where = {};     // file, line, column where known
    std::string source_line = {};  // the line itself, for the caret
    Severity severity = Severity::error;
};

// "file:3:7: error: message\n    the line\n          ^", or just "error: message" without a place. No trailing newline.
std::string render(const Diagnostic& diagnostic);

// The line of `text` numbered `line` (from 1), without its newline; empty when out of range.
std::string line_of(const std::string& text, int line);

// Exit statuses of the command line (a contract).
enum class ExitStatus : int { done = 0, faulted = 1, bad_input = 2, missing = 3 };

// Thrown where a Result would have to cross many frames. `status` is bad_input (2) or missing (3).
struct Failure : std::runtime_error {
    Diagnostic diagnostic;
    ExitStatus status;
    explicit Failure(Diagnostic d, ExitStatus s = ExitStatus::bad_input)
        : std::runtime_error(render(d)), diagnostic(std::move(d)), status(s) {}
    explicit Failure(std::string message, ExitStatus s = ExitStatus::bad_input)
        : Failure(Diagnostic{std::move(message)}, s) {}
};

// Thrown where work ends early because it was asked to: what waits for it lets it pass, and nobody is told of a failure.
struct Cancelled : Failure {
    Cancelled() : Failure("cancelled") {}
};
inline void throw_if_stopped(const std::stop_token& stop) {
    if (stop.stop_requested()) throw Cancelled();
}

}  // namespace lockstep
