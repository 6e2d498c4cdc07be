// The defaults of a Communicator's collectives: our own step lists over its send and receive.
#include "core/comm/communicator.h"

#include <fmt/format.h>

#include <cstring>
#include <vector>

#include "core/base/diagnostic.h"
#include "core/comm/collectives/collectives.h"
#include "core/comm/collectives/reduce.h"

namespace lockstep::comm {
namespace {

std::vector<std::byte>& receive_scratch() {  // one a rank's thread, as large as its largest message so far
    thread_local std::vector<std::byte> scratch;
    return scratch;
}

// `piece` is this rank's part of `whole`; copies one onto the other unless they are the same memory.
void copy_elements(const Buffer& to, const Buffer& from) {
    if (to.data && from.data && to.data != from.data && to.count > 0)
        std::memmove(to.data, from.data, static_cast<size_t>(to.bytes()));
}

void expect_piece(const Communicator& group, const Buffer& piece, const Buffer& whole, const char* operation) {
    const Piece own = piece_of(whole.count, group.size(), group.rank());
    if (piece.count != own.count || piece.type != whole.type)
        throw Failure(fmt::format("{}: rank {} of {} holds {} of {} elements of {}, not {} of {}", operation, group.rank(),
                                  group.size(), own.count, whole.count, name_of(whole.type), piece.count,
                                  name_of(piece.type)));
}

}  // namespace

void Communicator::receive_reduce(int from, const Buffer& buffer, Reduction reduction, std::string_view label) {
    if (!buffer.data) return receive(from, buffer, label);
    auto& scratch = receive_scratch();
    if (scratch.size() < static_cast<size_t>(buffer.bytes())) scratch.resize(static_cast<size_t>(buffer.bytes()));
    receive(from, {scratch.data(), buffer.count, buffer.type}, label);
    reduce_into(buffer, scratch.data(), reduction);
}

void Communicator::all_reduce(const Buffer& buffer, Reduction reduction) {
    run_collective(*collective("all_reduce", "ring", {.ranks = size()}), *this, buffer, reduction);
}

void Communicator::reduce(const Buffer& buffer, int root, Reduction reduction) {
    const int pieces = pipeline_pieces(buffer.bytes());
    run_collective(*collective("reduce", "ring", {.ranks = size(), .root = root, .pieces = pieces}), *this, buffer,
                   reduction);
}

void Communicator::broadcast(const Buffer& buffer, int root) {
    const int pieces = pipeline_pieces(buffer.bytes());
    run_collective(*collective("broadcast", "ring", {.ranks = size(), .root = root, .pieces = pieces}), *this, buffer);
}

void Communicator::all_gather(const Buffer& piece, const Buffer& whole) {
    expect_piece(*this, piece, whole, "all_gather");
    const Piece own = piece_of(whole.count, size(), rank());
    copy_elements(whole.part(own.begin, own.count), piece);
    run_collective(*collective("all_gather", "ring", {.ranks = size()}), *this, whole);
}

void Communicator::reduce_scatter(const Buffer& whole, const Buffer& piece, Reduction reduction) {
    expect_piece(*this, piece, whole, "reduce_scatter");
    const Piece own = piece_of(whole.count, size(), rank());
    thread_local std::vector<std::byte> copy;  // the partial sums: `whole` stays as it was
    Buffer work = whole;
    if (whole.data) {
        if (copy.size() < static_cast<size_t>(whole.bytes())) copy.resize(static_cast<size_t>(whole.bytes()));
        work.data = copy.data();
        copy_elements(work, whole);
    }
    run_collective(*collective("reduce_scatter", "ring", {.ranks = size()}), *this, work, reduction);
    copy_elements(piece, work.part(own.begin, own.count));
}

void Communicator::all_to_all(const Buffer& from, const Buffer& to) {
    run_all_to_all(*collective("all_to_all", "ring", {.ranks = size()}), *this, from, to);
}

void Communicator::barrier() {
    run_collective(*collective("barrier", "halving_doubling", {.ranks = size()}), *this, {});
}

}  // namespace lockstep::comm
