// What D8 draws, as plain data: a host program (a lesson's, or a training step's calls), its schedule, and what became of
// it when somebody moved operations to other streams. The stream model is a function of plain data: no engine runs here.
#pragma once
#include <memory>
#include <string>
#include <vector>

#include "app/gui/session.h"
#include "core/model/streams/streams.h"
#include "core/scene/host/host_program.h"

namespace lockstep::gui {

struct StreamBoard {
    std::shared_ptr<const scene::HostRun> host;  // one of the two
    std::shared_ptr<const nn::StepRecord> step;
    model::GpuSpec gpu;
    model::HostProgram written, program;  // as it came; with the moves
    model::Schedule written_schedule, schedule;
    std::vector<std::string> hazards;  // of the moved program
    std::vector<uint32_t> streams;     // that have a row
    std::vector<model::Engine> used;   // engines with a row
    std::string told;                  // what the last move changed

    bool empty() const { return program.operations.empty(); }
    bool moved() const;
    bool movable(int operation) const;  // of host programs: what buffers it touches is known
    void move(int operation, uint32_t stream);
    void reset();
    // The device kernel's run that can be looked into; null: none was kept.
    std::shared_ptr<const model::KernelRun> run_of(int operation) const;
};
// Of the snapshot's host program, else of its training step when that was timed; empty: neither.
StreamBoard make_board(const Snapshot& snapshot);

std::string title_of(const StreamBoard& board);
std::string caption_of(const StreamBoard& board);
// "line 9, stream 2: h2d dx[0:32768]\n131,072 bytes in 9.2 us, 14.2 GB/s, 3.0 to 12.2 us"
std::string facts_of(const StreamBoard& board, int operation);
std::string stream_label(uint32_t stream);
bool critical(const StreamBoard& board, int operation, bool on_host);

}  // namespace lockstep::gui
