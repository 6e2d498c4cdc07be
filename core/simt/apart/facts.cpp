// What a program's text says about the order of its blocks.
#include <algorithm>
#include <optional>

#include "core/ptx/decode/special_register.h"
#include "core/ptx/decode/views.h"
#include "core/ptx/opcodes/opcode.h"
#include "core/ptx/ptx.h"
#include "core/simt/apart/apart.h"
#include "core/simt/execute/ahead.h"

namespace lockstep::simt {
namespace {

using ptx::AtomicOperation;
using ptx::DecodedInstruction;
using ptx::Kind;
using ptx::Space;
using ptx::SpecialRegister;

bool is_of_block(Space space) {
    return space == Space::shared || space == Space::local || space == Space::param || space == Space::constant;
}

bool is_whole(ptx::Type type) {
    using ptx::Type;
    switch (type) {
        case Type::b32:
        case Type::u32:
        case Type::s32:
        case Type::b64:
        case Type::u64:
        case Type::s64:
            return true;
        default:
            return false;
    }
}

struct Sum {  // of this kind the order does not show
    AtomicOperation operation = AtomicOperation::add;
    size_t bytes = 4;
    bool is_signed = false;  // min and max
    bool operator==(const Sum&) const = default;
};

std::optional<Sum> sum_of(const DecodedInstruction& i) {
    const AtomicOperation operation = ptx::as_atomic(i).operation;
    if (!is_whole(i.type)) return std::nullopt;
    const bool is_signed = i.type == ptx::Type::s32 || i.type == ptx::Type::s64;
    switch (operation) {
        case AtomicOperation::add:
        case AtomicOperation::and_:
        case AtomicOperation::or_:
        case AtomicOperation::xor_:
            return Sum{operation, ptx::size_of(i.type), false};
        case AtomicOperation::min:
        case AtomicOperation::max:
            return Sum{operation, ptx::size_of(i.type), is_signed};
        default:
            return std::nullopt;
    }
}

// Special registers that tell a block when it runs, or that let it meet others.
bool tells_order(const DecodedInstruction& i) {
    for (const SpecialRegister which :
         {SpecialRegister::clock, SpecialRegister::clock64, SpecialRegister::clock_hi, SpecialRegister::globaltimer,
          SpecialRegister::globaltimer_lo, SpecialRegister::globaltimer_hi, SpecialRegister::pm, SpecialRegister::pm_64,
          SpecialRegister::envreg1, SpecialRegister::envreg2})
        if (ptx::reads_special(i, which)) return true;
    return false;
}

class FactsFinder {
  public:
    explicit FactsFinder(const ptx::Program& program) : program_(program), origins_(program) {
        facts_.reads.assign(program.instructions.size(), 0);
        facts_.changes.assign(program.instructions.size(), changes_nothing);
    }
    ApartFacts find() {
        for (uint32_t pc = 0; pc < program_.instructions.size() && facts_.refusal.empty(); ++pc) look_at(pc);
        return std::move(facts_);
    }

  private:
    void refuse(const DecodedInstruction& i, const std::string& why) {
        facts_.refusal = i.line > 0 ? "line " + std::to_string(i.line) + " " + why : "it " + why;
    }

    // Whether somebody reads what the instruction at `pc` returns.
    bool is_result_used(uint32_t pc) {
        const DecodedInstruction& i = program_.instructions[pc];
        std::vector<int32_t> results;
        ptx::each_written(program_.lists, i, [&](int32_t reg) { results.push_back(reg); });
        if (results.empty()) return false;
        for (const ptx::Function& function : program_.functions) {
            if (pc < function.begin || pc >= function.end) continue;
            if (!flow_) flow_.emplace(program_);
            for (uint32_t other = function.begin; other < function.end; ++other)
                for (const int32_t reg : results) {
                    if (!ptx::reads(program_, program_.instructions[other], reg)) continue;
                    const std::vector<uint32_t> from = ptx::definitions_of(*flow_, other, reg).pcs;
                    if (std::find(from.begin(), from.end(), pc) != from.end()) return true;
                }
            return false;
        }
        return true;
    }

    void look_at_atomic(uint32_t pc, const ptx::MemoryOperand& access) {
        const DecodedInstruction& i = program_.instructions[pc];
        const std::optional<Sum> sum = sum_of(i);
        if (!sum)
            return refuse(i, is_whole(i.type) ? "has an atomic whose outcome depends on the order"
                                              : "adds floating-point numbers by atomics");
        if (is_result_used(pc)) return refuse(i, "uses what an atomic returned");
        auto found = std::find(sums_.begin(), sums_.end(), *sum);
        if (found == sums_.end()) found = sums_.insert(sums_.end(), *sum);
        if (sums_.size() > most_sums) return refuse(i, "has one more kind of atomic than are kept apart");
        facts_.changes[pc] = static_cast<uint8_t>(changes_by_sum + (found - sums_.begin()));
        facts_.writes |= origins_of_address(origins_, pc, access);
    }

    void look_at_access(uint32_t pc, const ptx::MemoryOperand& access) {
        const DecodedInstruction& i = program_.instructions[pc];
        if (is_of_block(access.space)) return;
        if (i.kind == Kind::atomic) return look_at_atomic(pc, access);
        const uint64_t origins = origins_of_address(origins_, pc, access);
        if (access.writes && i.kind != Kind::store) return refuse(i, "writes global memory past the registers");
        if (access.writes) {
            facts_.writes |= origins;
            facts_.changes[pc] = changes_by_store;
        } else {
            facts_.reads[pc] |= origins;
        }
        if (i.kind == Kind::load || i.kind == Kind::store)
            facts_.granule = std::min(facts_.granule, static_cast<uint32_t>(std::max<size_t>(1, ptx::size_of(i.type))));
    }

    void look_at(uint32_t pc) {
        const DecodedInstruction& i = program_.instructions[pc];
        if (tells_order(i)) return refuse(i, "asks for the time or for the whole grid");
        switch (i.kind) {
            case Kind::texture:
                return refuse(i, "reads a texture");
            case Kind::surface:
                return refuse(i, "uses a surface");
            case Kind::system:
                if (ptx::as_system(i).function == ptx::SystemFunction::vprintf) return refuse(i, "prints");
                if (ptx::is_failed_assert(i)) return;
                if (ptx::as_system(i).function > ptx::SystemFunction::assert_fail)
                    return refuse(i, "calls CUDA's runtime on the device");
                return refuse(i, "uses the device's heap");
            case Kind::cluster:
            case Kind::multimem:
            case Kind::tensor_map:
            case Kind::bulk_copy:
                return refuse(i, "works on memory of other blocks or past the registers");
            default:
                break;
        }
        if (ptx::facts_of(i).writes == ptx::Writes::anywhere) return refuse(i, "may write anywhere");
        for (const ptx::MemoryOperand& access : ptx::memory_of(program_, i))
            if (facts_.refusal.empty()) look_at_access(pc, access);
    }

    const ptx::Program& program_;
    const ptx::Origins origins_;
    std::optional<ptx::Flow> flow_;
    ApartFacts facts_;
    std::vector<Sum> sums_;
};

}  // namespace

std::shared_ptr<const ApartFacts> apart_facts(const ptx::Program& program) {
    return std::make_shared<const ApartFacts>(FactsFinder(program).find());
}

}  // namespace lockstep::simt
