// Registers are followed backwards from branches and from addresses, without regard to the order of instructions: a register
// that is used again for another value counts as both.
#include "core/model/sample/evidence.h"

#include <algorithm>

#include "core/ptx/analyse/dataflow.h"
#include "core/ptx/decode/views.h"

namespace lockstep::model {
namespace {

using ptx::DecodedInstruction;
using ptx::Kind;
using ptx::Space;
using ptx::SpecialRegister;

std::string at_line(const DecodedInstruction& i, const std::string& what) {
    return i.line > 0 ? "line " + std::to_string(i.line) + " " + what : "it " + what;
}

bool tells_time(const DecodedInstruction& i) {
    for (const SpecialRegister which :
         {SpecialRegister::clock, SpecialRegister::clock64, SpecialRegister::clock_hi, SpecialRegister::globaltimer,
          SpecialRegister::globaltimer_lo, SpecialRegister::globaltimer_hi})
        if (ptx::reads_special(i, which)) return true;
    return false;
}
bool asks_for_grid(const DecodedInstruction& i) {
    return ptx::reads_special(i, SpecialRegister::envreg1) || ptx::reads_special(i, SpecialRegister::envreg2);
}

// What no launch is sampled with, wherever it stands.
std::string forbidden(const DecodedInstruction& i) {
    if (asks_for_grid(i)) return at_line(i, "waits for the whole grid");
    if (tells_time(i)) return at_line(i, "reads the clock");
    switch (i.kind) {
        case Kind::atomic:
            if (i.space == Space::shared) return {};
            return at_line(i, "changes global memory by atomics, whose queues grow and shrink with the launch");
        case Kind::multimem:
        case Kind::tensor_map:
            return at_line(i, "works on memory of several GPUs or on tensor maps");
        case Kind::cluster:
            return at_line(i, "works with other blocks of a cluster");
        case Kind::system: {
            if (ptx::is_failed_assert(i)) return {};
            if (ptx::as_system(i).function == ptx::SystemFunction::vprintf) return at_line(i, "prints");
            if (ptx::as_system(i).function > ptx::SystemFunction::assert_fail) return at_line(i, "launches kernels");
            return at_line(i, "uses the device's heap");
        }
        default:
            break;
    }
    return {};
}

class Follower {
  public:
    explicit Follower(const ptx::Program& program) : program_(program) {}

    void need(int32_t operand) {
        if (ptx::is_register(operand) && needed_.insert(operand).second) fresh_.push_back(operand);
    }
    // All that the registers asked for are made of. Returns the first instruction that makes one of them from memory.
    const DecodedInstruction* follow() {
        const DecodedInstruction* data = nullptr;
        while (!fresh_.empty()) {
            const int32_t reg = fresh_.back();
            fresh_.pop_back();
            for (const DecodedInstruction& i : program_.instructions) {
                if (!ptx::writes(program_, i, reg)) continue;
                if (brings_data(i)) {
                    if (data == nullptr) data = &i;
                    continue;
                }
                ptx::each_read(program_.lists, i, [&](int32_t from) { need(from); });
            }
        }
        return data;
    }
    std::vector<int32_t> all() const { return {needed_.begin(), needed_.end()}; }

  private:
    static bool brings_data(const DecodedInstruction& i) {
        switch (i.kind) {
            case Kind::lane_wise:
            case Kind::lane_wise_many:
            case Kind::special_register:
            case Kind::shuffle:
            case Kind::vote:
                return false;
            case Kind::load:
                return i.space != Space::param && i.space != Space::constant;
            default:
                return true;
        }
    }
    const ptx::Program& program_;
    std::set<int32_t> needed_;
    std::vector<int32_t> fresh_;
};

// Whether whoever comes to the instruction goes on elsewhere, or waits: what its guard and sources say is control flow.
bool directs(const DecodedInstruction& i) {
    switch (i.kind) {
        case Kind::branch:
        case Kind::branch_table:
        case Kind::exit:
        case Kind::return_:
        case Kind::barrier:
        case Kind::mbarrier:
        case Kind::trap:
            return true;
        default:
            return false;
    }
}

bool is_plain(const DecodedInstruction& i) {
    return i.kind == Kind::lane_wise || i.kind == Kind::lane_wise_many || i.kind == Kind::special_register ||
           i.kind == Kind::shuffle || i.kind == Kind::vote || i.kind == Kind::matrix || i.kind == Kind::nop;
}

}  // namespace

Evidence evidence_of(const ptx::Program& program, const simt::LaunchConfig& config) {
    Evidence evidence;
    if (simt::cluster_of(program, config).count() > 1) {
        evidence.refusal = "its blocks form clusters, which wait for one another";
        return evidence;
    }
    Follower control(program), addresses(program);
    for (const DecodedInstruction& i : program.instructions) {
        if (evidence.refusal = forbidden(i); !evidence.refusal.empty()) return evidence;
        if (i.kind == Kind::call) evidence.counts = false;
        if (directs(i)) {
            ptx::each_read(program.lists, i, [&](int32_t reg) { control.need(reg); });
        } else if (i.kind == Kind::load || i.kind == Kind::store || i.kind == Kind::atomic) {
            addresses.need(i.address);
            addresses.need(i.guard);
        } else if (!is_plain(i)) {
            ptx::each_read(program.lists, i, [&](int32_t reg) { addresses.need(reg); });
        }
    }
    if (const DecodedInstruction* const data = control.follow(); data != nullptr) {
        evidence.refusal = at_line(*data, "brings a value from memory that decides where threads go");
        return evidence;
    }
    evidence.counts = evidence.counts && addresses.follow() == nullptr;
    for (const int32_t reg : control.all()) addresses.need(reg);
    evidence.steering = addresses.all();
    return evidence;
}

ptx::Program steering_of(const ptx::Program& program, const Evidence& evidence, bool accesses) {
    ptx::Program steering = program;
    if (!evidence.counts) return steering;
    for (DecodedInstruction& i : steering.instructions) {
        const bool access = i.kind == Kind::load || i.kind == Kind::store || i.kind == Kind::matrix_load;
        if (i.kind != Kind::matrix && !(accesses && access)) continue;
        const bool steers = std::any_of(evidence.steering.begin(), evidence.steering.end(),
                                        [&](int32_t reg) { return ptx::writes(program, i, reg); });
        if (!steers) i.kind = Kind::nop;
    }
    return steering;
}

}  // namespace lockstep::model
