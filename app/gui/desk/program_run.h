// The run of a learner's whole program, as plain data: what it printed, how it ended, and the report of all that it did with
// the GPU. worker_program.cpp makes it, the views of views/program draw it.
#pragma once
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "app/gui/desk/kernel_document.h"
#include "core/base/files.h"
#include "core/device/compile/program.h"
#include "core/model/gpus/gpu_spec.h"
#include "core/runtime/report/report.h"

namespace lockstep::gui {

struct PrintedText {
    std::string text;
    bool of_errors = false;  // stderr
};

struct ProgramRun {        // immutable once published; while it runs a longer one takes its place several times a second
    uint64_t version = 0;  // of the text that ran
    std::string name, path, text;
    LaunchSettings settings;
    model::GpuSpec gpu;
    device::BuiltProgram built;
    double compile_seconds = 0, run_seconds = 0;
    bool running = false;
    std::vector<PrintedText> printed;  // at most most_printed bytes
    bool printed_more = false;
    int status = 0;     // its exit status, once it has ended
    std::string ended;  // "exit status 0", "ended by signal 11 (Segmentation fault)", "cancelled after 3.1 s"
    bool cancelled = false;
    std::filesystem::path source;  // the file that was compiled: what the report's lines are of
    bool reported = false;         // it called CUDA's runtime, and `report` is there
    runtime::Report report;
    std::shared_ptr<const TemporaryFolder> folder;  // snapshots of its launches, and its report

    // Whether a line of the report is one of the document's.
    bool is_own_line(const std::string& file) const;
    // Why nothing is known of what it did with the GPU, though it ran; empty: its report is there, or it made no call.
    std::string unreported() const;
    bool crashed() const { return !running && status > 128; }  // a signal ended it
    bool good() const { return !running && !cancelled && status == 0; }
    // "blur (launch 1 of 200)"
    std::string label_of(int64_t launch) const;
};

constexpr size_t most_program_output = 256 * 1024;

}  // namespace lockstep::gui
