// Published figures against the modelled GPUs: micro-benchmarks, peaks and a ladder of matrix products, one row a figure in
// cases.cpp. A row says how its kernel is run (probe.h measures it) and whether its figure went into the GPU's row
// (calibrated: the model merely reproduces it) or not (predicted: only those count towards the totals).
//
// A quick run measures peaks and L2 on four SMs (on two where a GPU's number of SMs is no multiple of four), half as long,
// and the ladder on seven SMs of 84, each with their share of L2 and DRAM.
#pragma once
#include <cstdint>
#include <functional>
#include <span>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/result.h"

namespace lockstep::validate {

enum class Kind : uint8_t { calibrated, predicted };
std::string_view name_of(Kind kind);

// How the answer is made of what the kernel's warps noted, see measure() in probe.cpp.
enum class Quantity : uint8_t {
    cycles_a_step,    // of one warp: (end - begin) / steps
    cycles_a_warp,    // of the SM: (latest end - earliest begin) / (warps * steps)
    results_a_cycle,  // of the SM: 32 * warps * steps / (latest end - earliest begin)
    bytes_a_cycle,    // of the SM, bytes_a_step a warp and step
    sectors,          // a request, from the counters
    gigabytes,        // of the GPU, a second: between launches of n and 2 n
    share_of_peak,    // the same as percent of the row's DRAM bandwidth
    nanoseconds,      // a round: between launches of n and 2 n rounds
    block_turn,  // nanoseconds from a block to the next one in its place: between launches of `blocks` and twice as many
    teraflops,   // of the GPU: between launches of n and 2 n
    gigaflops,   // of a matrix product: between launches of two depths
};

struct Case {
    std::string_view table;         // "latency"
    std::string name, gpu;          // "v100/l1", "v100"
    std::string_view file, kernel;  // kernels/micro/FILE.cu, of which kernels/micro/ptx/FILE.ptx runs
    Quantity quantity = Quantity::cycles_a_step;
    double expected = 0;
    std::string_view unit;
    Kind kind = Kind::predicted;
    std::string_view source;
    bool quick = true;   // also in the quick set
    bool parts = false;  // there on a part of the GPU, see part_of() in probe.h
    // How it is run.
    uint32_t blocks = 1, threads = 32;
    uint32_t steps = 128;        // timed operations a warp (of one round)
    int32_t n = 2, more = 0;     // the kernel's third argument and its fourth, where it has one
    uint64_t bytes = 8192;       // of the data it is given
    uint64_t stride = 0;         // data: a ring of links so many bytes apart; 0: no links
    double work = 0;             // bytes or operations a warp and step
    std::string_view constants;  // the constant variable that holds the ring, where that is none of the data
    uint32_t shared = 0;         // dynamic shared memory of a block
    uint32_t hop = 1;            // links from one link of a ring to the next
    // Of a matrix product: the tile of a block, and the block (threads x block_y); K is cut to n and 2 n.
    uint32_t tile_rows = 0, tile_columns = 0, block_y = 1;
    bool rows_first = false;  // blockIdx.x counts tiles of rows
    uint32_t share = 1;       // it runs on a share-th of the GPU
};

struct Row {
    std::string table, name;
    double expected = 0, got = 0;
    Kind kind = Kind::predicted;
    std::string unit, source;
    double error() const { return (got - expected) / expected; }  // a share of the expected figure
};

struct Options {
    std::string table;                                  // empty: all
    bool quick = false;                                 // the rows that are marked so
    std::function<void(std::string_view row)> started;  // progress
    std::function<void(const Row& row)> finished;
    std::stop_token stop;  // no further row, and those so far are the result
};

struct Report {
    std::vector<Row> rows;
    std::vector<std::string> remarks;  // "silicon: nothing was measured ..."
};

// In the order of the lists. Names of tables are stable.
std::vector<std::string> tables();
std::span<const Case> cases();
// What a GPU can be measured by, whether or not its own figures were published: each benchmark once, from the GPU's own row,
// else from another's, with as many blocks as it has SMs; "h200/l1". `expected` is 0 where nothing was published of this
// GPU. None counts sectors, which silicon does not say, and none is launched with another number of blocks.
std::vector<Case> cases_on(const std::string& gpu);

// A Diagnostic names the nearest table where there is none of that name. A kernel that faults throws Failure.
Result<Report> validate(const Options& options);

// On request only: the power of boards that somebody measured together with the rate of multiply-adds and bytes, beside what
// the estimate of energy says of those rates. Rows are named by board and run, "h200/stream".
Report power_report();

// Over the predicted rows of a table (all: ""); `rows` 0 where there are none.
struct Total {
    size_t rows = 0;
    double mean_error = 0;  // of |error|
    double worst_error = 0;
    std::string worst;
};
Total total_of(std::span<const Row> rows, std::string_view table);

}  // namespace lockstep::validate
