#include "core/model/launch/crew.h"

#include <bit>

namespace lockstep::model {
namespace {
constexpr uint32_t looks_before_sleep = 1 << 14, looks_before_yield = 1 << 8, looks_between_yields = 1 << 6;
constexpr uint32_t looks_before_begun = 1 << 7;  // of one who is awake and has nothing to do

void pause() {
#if defined(__x86_64__) || defined(__i386__)
    __builtin_ia32_pause();
#endif
}
}  // namespace

void Crew::renew() {
    for (Member& member : members_) {
        member.grid = *host_.grid;
        member.grid.findings = nullptr;
        member.windows = host_.windows->empty_copy();
    }
}

Crew::Crew(const std::vector<std::unique_ptr<Sm>>& sms, const Sm::Host& host, uint32_t threads)
    : sms_(sms), host_(host), seats_(sms.size()), waiting_(std::bit_ceil(2 * sms.size())) {
    members_.resize(threads);
    renew();
    for (Member& member : members_) threads_.emplace_back([this, &member] { work(member); });
}

Crew::~Crew() {
    over_ = true;
    ++bell_;
    bell_.notify_all();
}

void Crew::give(uint32_t sm, int64_t end) {
    const uint64_t last = end_.load(std::memory_order_relaxed);
    if (last - first_.load(std::memory_order_acquire) >= waiting_.size()) return sms_[sm]->run_alone(host_, end);
    seats_[sm].end = end;
    seats_[sm].at.store(sms_[sm]->next(), std::memory_order_relaxed);
    seats_[sm].state.store(State::given, std::memory_order_release);
    waiting_[last % waiting_.size()].store(sm, std::memory_order_relaxed);
    end_.store(last + 1);
    if (asleep_.load() == 0) return;
    ++bell_;
    bell_.notify_one();
}

bool Crew::run_here(uint32_t sm) {
    State expected = State::given;
    if (!seats_[sm].state.compare_exchange_strong(expected, State::here)) return false;
    sms_[sm]->run_alone(host_, seats_[sm].end);
    return true;
}

void Crew::wait_for(uint32_t sm) {
    if (run_here(sm)) return;
    for (uint32_t looks = 0; is_away(sm); ++looks) looks < looks_before_yield ? pause() : std::this_thread::yield();
}

int64_t Crew::progress(uint32_t sm, int64_t known) {
    const std::atomic<State>& state = seats_[sm].state;
    for (uint32_t looks = 0; looks < looks_before_begun && idle_.load(std::memory_order_relaxed) != 0; ++looks) {
        if (state.load(std::memory_order_acquire) != State::given) break;
        pause();
    }
    if (!run_here(sm))
        for (uint32_t looks = 0; is_away(sm); ++looks) {
            if (const int64_t at = seats_[sm].at.load(std::memory_order_relaxed); at > known) return at;
            looks < looks_before_yield ? pause() : std::this_thread::yield();
        }
    return sms_[sm]->next();
}

bool Crew::take(uint32_t& sm) {
    for (uint64_t first = first_.load(); first != end_.load();) {
        const uint32_t candidate = waiting_[first % waiting_.size()].load(std::memory_order_relaxed);
        if (!first_.compare_exchange_weak(first, first + 1)) continue;
        State expected = State::given;
        sm = candidate;
        if (seats_[sm].state.compare_exchange_strong(expected, State::begun)) return true;
        first = first_.load();
    }
    return false;
}

void Crew::work(Member& member) {
    uint32_t sm = 0, looks = 0;
    ++idle_;
    while (!over_.load(std::memory_order_relaxed)) {
        if (take(sm)) {
            --idle_;
            try {
                sms_[sm]->run_alone({&member.grid, &member.windows}, seats_[sm].end, &seats_[sm].at);
            } catch (...) {
                seats_[sm].error = std::current_exception();
            }
            seats_[sm].state.store(State::here, std::memory_order_release);
            ++idle_;
            looks = 0;
        } else if (++looks < looks_before_sleep) {
            looks % looks_between_yields == 0 ? std::this_thread::yield() : pause();  // others may want the processor
        } else {
            const uint32_t rung = bell_.load();
            --idle_;
            ++asleep_;
            if (first_.load() == end_.load() && !over_) bell_.wait(rung);
            --asleep_;
            ++idle_;
            looks = 0;
        }
    }
}

}  // namespace lockstep::model
