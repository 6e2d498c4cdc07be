// The warps of a sub-core that sleep, by the cycle in which each wakes: those of the next cycles in a ring of as many
// places, one a cycle, the others apart, to be looked through when the first of them is due. So who wakes in a cycle is one
// look, however many sleep. Plain values: a copy is a checkpoint.
#pragma once
#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <limits>

namespace lockstep::model {

constexpr int64_t never = std::numeric_limits<int64_t>::max();

class Sleepers {
  public:
    // Warp number `i` wakes in cycle `wake`, later than `now`; never: somebody else will wake it.
    void add(uint32_t i, int64_t now, int64_t wake) {
        if (wake - now < soon) {
            const auto place = static_cast<uint32_t>(wake) % cycles;
            ring_[place] |= 1u << i;
            taken_ |= uint64_t{1} << place;
        } else if (wake != never) {
            add_far(i, wake);
        }
    }
    // Warp `i`, which would wake in cycle `wake`, does not sleep after all.
    void remove(uint32_t i, int64_t wake) {
        const auto place = static_cast<uint32_t>(wake) % cycles;
        ring_[place] &= ~(1u << i);
        if (ring_[place] == 0) taken_ &= ~(uint64_t{1} << place);
        far_ &= ~(1u << i);
    }
    // As add(), where nothing is known of the cycle that it is now.
    void add_far(uint32_t i, int64_t wake) {
        far_ |= 1u << i;
        far_next_ = std::min(far_next_, wake);
    }

    // Takes out those that wake at `now`, bit i for warp i. `wake`: of each, as add() was told. Every cycle in which
    // somebody wakes has to be asked for.
    template <class Wakes>
    uint32_t take_due(int64_t now, const Wakes& wake) {
        const auto place = static_cast<uint32_t>(now) % cycles;
        uint32_t due = ring_[place];
        ring_[place] = 0;
        taken_ &= ~(uint64_t{1} << place);
        if (far_next_ > now) return due;
        far_next_ = never;
        for (uint32_t left = far_; left != 0; left &= left - 1) {
            const auto i = static_cast<uint32_t>(std::countr_zero(left));
            if (wake[i] <= now)
                due |= 1u << i;
            else
                far_next_ = std::min(far_next_, wake[i]);
        }
        far_ &= ~due;
        return due;
    }
    // The next cycle after `now` in which somebody wakes.
    int64_t next(int64_t now) const {
        const uint64_t later = std::rotr(taken_, static_cast<int>((now + 1) % cycles));
        const int64_t near = later != 0 ? now + 1 + std::countr_zero(later) : never;
        return std::min(near, far_next_);
    }

  private:
    // A sub-core can be told of cycle `now` before its own warps of that cycle have been taken out: two places stay free.
    static constexpr uint32_t cycles = 64, soon = cycles - 2;
    uint64_t taken_ = 0;  // bits of places
    int64_t far_next_ = never;
    uint32_t far_ = 0;
    std::array<uint32_t, cycles> ring_{};  // by cycle, modulo `cycles`
};

}  // namespace lockstep::model
