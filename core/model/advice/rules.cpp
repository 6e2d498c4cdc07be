// The rules, one row each. Thresholds called "ours" were set so that the project's own good kernels get no word and its slow
// ones do (tests/model/advice).
#include "core/model/advice/facts.h"

namespace lockstep::model::advice {
namespace {
constexpr std::string_view ours = "ours: the bundled kernels that are meant to be good get no word";
constexpr std::string_view guide = "CUDA C++ Best Practices Guide, execution configuration";
const Rule table[] = {
    {{"small-grid", "Grid too small for the GPU", "fewer blocks than SMs", guide}, find_small_grid},
    {{"uneven-wave", "Blocks do not go evenly into the SMs", "10 % of the places of one wave empty", ours},
     find_uneven_wave},
    {{"tail", "The last wave is not full", "10 % of the places of all waves empty", ours}, find_tail},
    {{"imbalance", "Blocks of very different lengths", "15 % of the SMs' time without a block; in one wave or two and more",
      ours},
     find_imbalance},
    {{"persistent-grid", "A persistent kernel's grid does not fit the GPU",
      "more or fewer blocks than run at once, of which "
      "10 % of the places stay empty",
      ours},
     find_persistent},
    {{"persistent-waves", "A persistent kernel's blocks end at different times", "15 % of the SMs' time without a block",
      ours},
     nullptr},
    {{"occupancy-registers", "Registers limit the resident warps", "at most 50 % occupancy, no unit above 60 %", guide},
     find_occupancy},
    {{"occupancy-shared", "Shared memory limits the resident warps", "as occupancy-registers", guide}, nullptr},
    {{"small-blocks", "Small blocks limit the resident warps",
      "as occupancy-registers; starts of blocks in 40 % of the cycles", guide},
     find_small_blocks},
    {{"partial-warps", "Blocks are no whole number of warps", "3 % of the lanes without a thread", guide},
     find_partial_warps},
    {{"latency", "Latency is not hidden", "30 % of the warps' cycles wait for memory, no unit above 60 %", ours},
     find_latency},
    {{"uncoalesced", "Global memory is not coalesced",
      "1.5 times the sectors that the bytes fill, and 10 % of all sectors too many", ours},
     find_uncoalesced},
    {{"misaligned", "Requests begin between sectors", "1.15 times the sectors that the bytes fill", ours}, find_misaligned},
    {{"bank-conflicts", "Bank conflicts in shared memory", "10 % of all passes are conflicts of the line", ours},
     find_bank_conflicts},
    {{"local-memory", "Arrays in local memory", "5 % of the requests", ours}, find_local_memory},
    {{"register-spills", "Values beyond the registers", "16 registers more than a thread has", ours}, find_spills},
    {{"uniform-loads", "A warp loads one element", "a third of the requests, and a fifth of the time waits for memory",
      ours},
     find_uniform_loads},
    {{"atomics", "Atomics on few addresses", "2 lanes an address, or 100 cycles in the queue at L2", ours}, find_atomics},
    {{"locks", "Threads wait for a lock", "30 % of the warps' cycles in the loop that tries", ours}, find_locks},
    {{"l2-thrash", "L2 loses data that is wanted again", "DRAM reads 1.5 times all buffers", ours}, find_l2_thrash},
    {{"full-queues", "Too many memory instructions", "15 % of the warps' cycles", ours}, find_full_queues},
    {{"constants", "Lanes name different constants", "their turns take 15 % of the cycles; or 10 % of the warps' cycles",
      ours},
     find_constants},
    {{"fences", "Memory fences", "10 % of the warps' cycles", ours}, find_fences},
    {{"divergence", "Warps split at branches",
      "20 % of the lanes not in an instruction, 5 % of the branches split; or 35 %, and one branch splits half of its warps",
      ours},
     find_divergence},
    {{"barriers", "Waiting at barriers", "20 % of the warps' cycles", ours}, find_barriers},
    {{"fp64", "Double precision on few FP64 lanes", "20 % of the time of the FP64 pipe", ours}, find_fp64},
    {{"integer-division", "Integer division", "15 % of the issue slots", ours}, find_division},
    {{"division", "Exact division", "15 % of the issue slots", ours}, nullptr},
    {{"special-functions", "Special functions", "40 % of the time of their pipe", ours}, find_special},
    {{"long-functions", "Long math functions", "40 % of the warps' cycles and 20 % of the issue slots", ours},
     find_functions},
    {{"conversions", "Conversions", "40 % of the time of their pipe", ours}, nullptr},
    {{"instruction-cache", "The code is not in the instruction cache", "15 % of the warps' cycles", ours}, find_code},
    {{"idle-tensor-cores", "Tensor cores idle in a product",
      "30 % of the instructions are multiply-adds; or 10 %, of two factors from shared memory", ours},
     find_idle_tensor_cores},
};
}  // namespace

std::span<const Rule> rules() {
    return table;
}

}  // namespace lockstep::model::advice
