// Functional launches by native code: stretches of a program that run often are translated to instructions of this computer
// and run there, warp by warp. The interpreter (execute/) stays the definition: whatever a translation does not cover is a
// way out of it, at an instruction in front of which all that is read later stands in the warp's registers.
//
// A translation begins at one instruction (an entry), follows branches that all lanes take alike, loops too, and was made
// for what the entry's registers looked like: which of them hold a ramp (one value and a distance from lane to lane), so
// that addresses are computed once and not 32 times. Registers that nobody reads later are not written. So a launch that
// ends with a fault, warns of shuffles or has warps that may spin is run again by the interpreter: see launch() in
// launch.cpp.
#pragma once
#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "core/ptx/analyse/dataflow.h"
#include "core/simt/execute/plan.h"

namespace lockstep::simt {

constexpr uint32_t does_not_fit = UINT32_MAX - 1;  // in the place of an instruction: the registers are not as expected

// What native code sees, by the place in this list: see translate.cpp.
struct NativeCall {
    std::byte* registers = nullptr;
    std::byte* shared = nullptr;
    uint64_t shared_bytes = 0;
    const std::byte* parameters = nullptr;
    const MemoryWindow* windows = nullptr;
    uint64_t left = 0;  // instructions until the loop has to look up: fewer than so many run
    uint64_t idle = 0;  // lanes that guards kept out, summed over instructions
    uint64_t active = 0;
    uint64_t meet = 0;
    const void* machine = nullptr;
    void (*lanes)(NativeCall*, uint32_t pc, uint32_t mask) = nullptr;       // runs an instruction of registers alone
    uint32_t (*access)(NativeCall*, uint32_t pc, uint32_t mask) = nullptr;  // a load or store; 0: it has to be looked at
};
// The instruction in front of which it left, or does_not_fit, and then nothing has run.
using NativeCode = uint32_t (*)(NativeCall*);

struct Translation {
    NativeCode code = nullptr;
    bool whole = true;  // for all 32 lanes; else for those of NativeCall::active
    const Translation* next = nullptr;
    uint32_t instructions = 0;  // that it covers
    std::string text;           // what was given to LLVM; empty unless it is kept
};

struct NativeEntry {
    std::atomic<uint32_t> visits{0};
    std::atomic<const Translation*> first{nullptr};
    std::atomic<bool> closed{false};  // there is nothing to gain
};

struct NativeOptions {
    uint32_t visits = 4000;  // of an entry, before it is translated
    bool keep_text = false;
    std::string wrong;  // for tests: the operation ("add.u32") whose translation is made wrong
};

// Of a program, from launch to launch; used by several threads.
class Native {
  public:
    Native(const ptx::Program& program, NativeOptions options);

    const ptx::Program& program;
    const NativeOptions options;
    std::vector<bool> watched;  // by pc: accesses that somebody keeps account of (Grid::watch); empty: none
    const ptx::Liveness liveness;
    std::vector<bool> always_live;  // by slot of 64 bytes: lanes read them of one another
    std::unique_ptr<NativeEntry[]> entries;
    bool shuffles = false;            // warnings tell of values that lanes gave one another
    std::atomic<uint32_t> undone{0};  // launches that had to run again

    // Whether register `reg` may be read behind the way to `pc`, by the lane itself or another one.
    bool is_live(uint32_t pc, int32_t reg) const;
    std::vector<int32_t> live_in_front_of(uint32_t pc) const;

    // Translates what begins at `pc`, for what the warp's registers hold now; null: it cannot.
    // Whether the translations so far were made for variables at these addresses, which stand in the code.
    bool fits(const std::vector<uint64_t>& variables) const;
    const Translation* translate(const Plan& plan, const NativeCall& call, uint32_t pc);
    // That many translations, with so many instructions and in so many seconds.
    struct Made {
        uint64_t translations = 0, instructions = 0;
        double seconds = 0;
    };
    Made made() const;
    std::vector<std::string> texts() const;

  private:
    mutable std::mutex mutex_;
    std::vector<std::unique_ptr<Translation>> translations_;
    std::vector<uint64_t> variables_;  // whose addresses stand in the code
    double seconds_ = 0;
    std::vector<std::vector<uint64_t>> live_;  // by pc: a bit a slot
};

// The translations of the launch, which stay with its program from launch to launch; null: it is too short to gain by any,
// or cannot run so.
std::shared_ptr<Native> native_of(const Grid& grid, const std::vector<bool>* watched = nullptr);

// Null where the program cannot run so: it calls, prints, or is too large to look at.
std::shared_ptr<Native> make_native(const ptx::Program& program, NativeOptions options = {});

// LLVM's just-in-time compiler, where it is installed. llvm.cpp, or no_llvm.cpp in its place.
constexpr const char* no_compiler = "there is no LLVM";
bool is_native_built();  // this build has it; whether it works is seen when it is needed
// The function "region" of a module in LLVM's language; null, with the reason (no_compiler): it does not compile.
NativeCode compile_native(const std::string& module, std::string& problem);

}  // namespace lockstep::simt
