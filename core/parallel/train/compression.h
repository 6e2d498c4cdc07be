// Gradients made smaller before they are exchanged, a bucket at a time. What a rank could not send it keeps and adds to its
// next gradient (error feedback), but for fp16, which is rounded only.
//
//     fp16        rounded to half precision and added up in it                     half the bytes
//     top_k       the k elements that are largest, as (index, value) pairs         8 k (N - 1) bytes sent, f32
//     power_sgd   a matrix [m,n] as P Qᵀ of rank r (Vogels et al. 2019)            an all-reduce of r (m + n) elements
#pragma once
#include <cstdint>
#include <span>
#include <vector>

#include "core/comm/communicator.h"
#include "core/parallel/plan.h"

namespace lockstep::parallel {

struct Bucket;
struct ParallelModel;

// The largest k by magnitude, in order of index; of equal ones the first.
std::vector<int32_t> largest_of(std::span<const double> values, int64_t k);
// Columns of p[rows, columns] made orthonormal one after the other (Gram-Schmidt); a column of nothing stays 0.
void make_orthonormal(std::span<double> p, int64_t rows, int64_t columns);
// What power_sgd begins with, the same on every rank: q[columns, rank] ~ N(0, 1), from the parameter's number.
std::vector<double> first_q(size_t parameter, int64_t columns, int64_t rank);

class Compressor {
  public:
    Compressor(const ParallelPlan& plan, const ParallelModel& model) : plan_(plan), model_(model) {}
    // In place of an all-reduce of `whole`, a bucket's gradients.
    void all_reduce(Bucket& bucket, const comm::Buffer& whole, comm::Communicator& group);
    int64_t kept_bytes() const;  // errors, and power_sgd's factors, from step to step

  private:
    struct Memory {
        std::vector<double> error;           // of the bucket
        std::vector<std::vector<double>> q;  // by slot: [columns, rank]
    };
    void fp16(const comm::Buffer& whole, comm::Communicator& group);
    void top_k(Memory& memory, const comm::Buffer& whole, comm::Communicator& group);
    void power_sgd(Memory& memory, Bucket& bucket, const comm::Buffer& whole, comm::Communicator& group);
    Memory& memory_of(const Bucket& bucket);

    ParallelPlan plan_;
    const ParallelModel& model_;
    std::vector<std::pair<const Bucket*, Memory>> memories_;
};

}  // namespace lockstep::parallel
