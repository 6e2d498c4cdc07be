// The schedules, one function each: they write down what every rank computes, in order, for one batch (or for all batches,
// where nothing flushes); finish() repeats that for further batches, adds each rank's update, and places the messages.
#pragma once
#include "core/parallel/pipeline/schedule.h"

namespace lockstep::parallel {

Schedule make_gpipe(const PipelineShape& shape);          // flushing.cpp
Schedule make_1f1b(const PipelineShape& shape);           // flushing.cpp
Schedule make_interleaved(const PipelineShape& shape);    // interleaved.cpp
Schedule make_pipedream(const PipelineShape& shape);      // pipedream.cpp
Schedule make_pipedream_2bw(const PipelineShape& shape);  // pipedream.cpp
Schedule make_zb_h1(const PipelineShape& shape);          // zero_bubble.cpp
Schedule make_zb_h2(const PipelineShape& shape);          // zero_bubble.cpp
Schedule make_zb_1p(const PipelineShape& shape);          // zero_bubble_search.cpp
Schedule make_zb_2p(const PipelineShape& shape);          // zero_bubble_search.cpp
Schedule make_zb_v(const PipelineShape& shape);           // zb_v.cpp
Schedule make_dualpipe(const PipelineShape& shape);       // dualpipe.cpp

// An empty one: rank r holds the stages stage(r, chunk).
Schedule empty_schedule(std::string_view kind, const PipelineShape& shape, int chunks, int copies,
                        int (*stage)(int rank, int chunk, int ranks));
inline int one_stage(int rank, int, int) {
    return rank;
}

inline void compute(std::vector<Action>& list, ActionKind kind, int microbatch, int stage, int version = 0) {
    list.push_back({kind, microbatch, stage, -1, version});
}

// From the lists of one batch without updates: repeats them for every batch, each followed by its update.
void repeat_batches(Schedule& schedule, const PipelineShape& shape);
// Puts a send behind every result that another rank needs, and its receive before what needs it; where several messages of
// one sender are under way, those that were sent earlier are received earlier.
void place_messages(Schedule& schedule);

}  // namespace lockstep::parallel
