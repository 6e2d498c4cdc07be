// One step of data parallelism, rank by rank: what each computes, when its buckets of gradients are on their way, and how
// much of that no computing hides. From what ran, on the virtual clocks; times from the step's begin on.
#pragma once
#include <string>
#include <vector>

#include "app/gui/views/training/steps/step_ranks.h"
#include "core/scene/cluster/cluster.h"

namespace lockstep::scene {
struct ParallelRow;
}

namespace lockstep::gui {

struct DataWork {
    StepPhase phase = StepPhase::forward;
    double begin = 0, end = 0;
};
struct DataBucket {  // one all-reduce of gradients
    int64_t bytes = 0;
    double begin = 0, end = 0, hidden = 0;  // hidden: while its rank computes
    double exposed() const { return end - begin - hidden; }
};
struct DataRank {
    std::vector<DataWork> work;
    std::vector<DataBucket> buckets;  // in the order in which they leave
    double gradients_us = 0, hidden_us = 0;
    double waits_from = 0, waits_to = 0;  // after backward, for the last gradients
    double exposed_us() const { return gradients_us - hidden_us; }
};
struct DataStep {
    std::string name, at_once;                   // of the row; how large a bucket may be: "32.8 kB", "all at the end"
    int64_t gradient_bytes = 0, sent_bytes = 0;  // by a rank
    std::vector<DataRank> ranks;
    double end_us = 0;
    double computing_us = 0;  // of rank 0
};
// Rows that trained in data parallel, and those on one rank beside them; empty: none on more than one did.
std::vector<DataStep> data_steps(const scene::ClusterScene& scene);
DataStep data_step(const scene::ParallelRow& row);

std::string buckets_words(size_t count);  // "1 bucket"
// Of rows on different numbers of ranks: how much longer, or shorter, the step is than on the fewest.
std::string data_headline(const std::vector<DataStep>& steps, const DataStep& step);
std::string data_difference(const DataStep& step, const DataStep& first);
std::string data_caption(const DataStep& step);
std::string bucket_words(const DataStep& step, size_t rank, size_t bucket);

}  // namespace lockstep::gui
