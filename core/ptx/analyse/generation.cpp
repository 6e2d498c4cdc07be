#include "core/ptx/analyse/generation.h"

#include <algorithm>
#include <string>
#include <string_view>

namespace lockstep::ptx {
namespace {

// "Target ISA Notes" of the PTX ISA: what an opcode that begins so and has this modifier needs. The largest row counts.
// Spellings of the memory model (fence, ld.acquire ...) are left out: compilers choose them by the target, not the source.
struct Row {
    std::string_view begins, has;
    uint32_t compute;
};
constexpr Row rows[] = {
    // Asynchronous copies, barriers in memory, clusters
    {"cp.async", "", 80},
    {"cp.async.bulk", "", 90},
    {"cp.reduce.async", "", 90},
    {"st.async", "", 90},
    {"red.async", "", 90},
    {"mbarrier.", "", 80},
    {"mbarrier.try_wait", "", 90},
    {"mbarrier.", ".expect_tx", 90},
    {"barrier.cluster", "", 90},
    {"mapa", "", 90},
    {"getctarank", "", 90},
    {"", "::cluster", 90},
    {"griddepcontrol", "", 90},
    {"multimem.", "", 90},
    {"tensormap.", "", 90},
    // Products of matrices
    {"wmma.", "", 70},
    {"wmma.", ".s8", 72},
    {"wmma.", ".u8", 72},
    {"wmma.", ".s4", 75},
    {"wmma.", ".u4", 75},
    {"wmma.", ".b1", 75},
    {"wmma.", ".tf32", 80},
    {"wmma.", ".f64", 80},
    {"mma.sync", "", 70},
    {"mma.sync", ".m16n8k8", 75},
    {"mma.sync", ".m8n8k16", 75},
    {"mma.sync", ".m8n8k32", 75},
    {"mma.sync", ".m8n8k128", 75},
    {"mma.sync", ".m16n8k4", 80},
    {"mma.sync", ".m16n8k16", 80},
    {"mma.sync", ".m16n8k32", 80},
    {"mma.sync", ".m16n8k64", 80},
    {"mma.sync", ".m16n8k128", 80},
    {"mma.sync", ".m16n8k256", 80},
    {"mma.sync", ".tf32", 80},
    {"mma.sync", ".f64", 80},
    {"mma.sp", "", 80},
    {"wgmma.", "", 90},
    {"setmaxnreg", "", 90},
    {"ldmatrix", "", 75},
    {"stmatrix", "", 90},
    {"", ".e4m3", 89},
    {"", ".e5m2", 89},
    // Within a warp
    {"match.", "", 70},
    {"redux.sync", "", 80},
    {"elect.sync", "", 90},
    // Arithmetic
    {"add.", ".f16", 53},
    {"sub.", ".f16", 53},
    {"mul.", ".f16", 53},
    {"fma.", ".f16", 53},
    {"min.", ".f16", 80},
    {"max.", ".f16", 80},
    {"", ".bf16", 80},
    {"add.", ".bf16", 90},
    {"sub.", ".bf16", 90},
    {"mul.", ".bf16", 90},
    {"dp4a", "", 61},
    {"dp2a", "", 61},
    {"tanh.", "", 75},
    {"ex2.", ".f16", 75},
    // Memory
    {"atom.", ".f64", 60},
    {"red.", ".f64", 60},
    {"atom.", ".f16", 60},
    {"red.", ".f16", 60},
    {"atom.", ".b16", 70},
    {"", ".L2::cache_hint", 80},
    {"createpolicy", "", 80},
    {"nanosleep", "", 70},
};

uint32_t needed_by(std::string_view opcode) {
    uint32_t most = 0;
    for (const Row& row : rows)
        if (row.compute > most && opcode.starts_with(row.begins) && opcode.find(row.has) != std::string_view::npos)
            most = row.compute;
    return most;
}

}  // namespace

Needed needed_generation(const Program& program) {
    Needed needed;
    for (uint32_t pc = 0; pc < program.instructions.size(); ++pc) {
        const std::string text = text_of(program, pc);
        std::string_view opcode = text;
        if (opcode.starts_with('@')) opcode.remove_prefix(std::min(opcode.size(), opcode.find(' ') + 1));
        opcode = opcode.substr(0, opcode.find_first_of(" \t;"));
        const uint32_t compute =
            text.find("%cluster") != std::string::npos ? std::max(90u, needed_by(opcode)) : needed_by(opcode);
        if (compute > needed.compute) needed = {compute, pc};
    }
    return needed;
}

}  // namespace lockstep::ptx
