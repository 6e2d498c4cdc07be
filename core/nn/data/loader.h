// Batches made ahead of time on threads of their own, in an order that no thread can change: batch number s is whatever
// make(s) writes, and they are handed out as first, first + 1, first + 2, ...
//
//     const Sampler sampler{.batch = 64, .rank = 0, .world = 1};
//     Loader<PictureBatch> loader({.first = trainer_step}, [&](uint64_t step, PictureBatch& batch) {
//         fill(batch, set, sampler, step);
//     });
//     PictureBatch batch;
//     while (loader.next(batch)) ...                     // swaps: the buffers go round, a steady state allocates nothing
//
// At most `depth` batches are ready or in the making. What make throws is thrown by the next() that would have given that
// batch. A stop makes a waiting next() throw Cancelled(); the destructor waits for a make under way.
#pragma once
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <stop_token>
#include <utility>
#include <vector>

namespace lockstep::nn {

struct LoaderProgress {
    uint64_t taken = 0, made = 0, steps = 0;  // batches handed out, finished, to hand out in all
    double waited_seconds = 0;                // that next() stood still, in all
};

struct LoaderOptions {
    uint64_t first = 0;             // number of the first batch
    uint64_t steps = ~uint64_t{0};  // batches in all
    int depth = 4;                  // made ahead at most; 1 to 1024
    int threads = 1;                // that make them; make is called from all at once. 1 to 64
    std::stop_token stop = {};
    std::function<void(const LoaderProgress&)> on_progress = {};  // on the caller's thread, in every next()
};

class Prefetcher {  // what Loader does without knowing its batches: slots numbered 0 .. depth - 1
  public:
    Prefetcher(LoaderOptions options, std::function<void(uint64_t step, size_t slot)> make);  // throws Failure
    ~Prefetcher();
    Prefetcher(const Prefetcher&) = delete;
    Prefetcher& operator=(const Prefetcher&) = delete;

    // The slot that holds the next batch, none after the last. It is made into again only after release().
    std::optional<size_t> take();
    void release();
    LoaderProgress progress() const;  // from any thread

  private:
    struct State;
    std::unique_ptr<State> state_;
};

template <class Batch>
class Loader {
  public:
    Loader(const LoaderOptions& options, std::function<void(uint64_t step, Batch& batch)> make)
        : slots_(static_cast<size_t>(options.depth > 0 ? options.depth : 1)),
          prefetcher_(options, [this, make = std::move(make)](uint64_t step, size_t slot) { make(step, slots_[slot]); }) {}

    // The next batch into `batch`, whose old buffers are used again; false after the last. Throws what make threw, or
    // Cancelled.
    bool next(Batch& batch) {
        const auto slot = prefetcher_.take();
        if (!slot) return false;
        std::swap(batch, slots_[*slot]);
        prefetcher_.release();
        return true;
    }
    LoaderProgress progress() const { return prefetcher_.progress(); }

  private:
    std::vector<Batch> slots_;
    Prefetcher prefetcher_;  // last: its threads end before the slots do
};

}  // namespace lockstep::nn
