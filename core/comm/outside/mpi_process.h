// The process under MPI, which all its communicators share: its clocks and log, the messages on their way, and who waits for
// whom. A rank that has waited too long tells all others whom it waits for, hears what they have to say, and the first of
// those that wait ends the run with the whole story. For mpi.cpp alone.
#pragma once
#include <fmt/format.h>
#include <mpi.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <list>
#include <map>
#include <thread>
#include <utility>
#include <vector>

#include "core/base/diagnostic.h"
#include "core/base/tell.h"
#include "core/comm/collectives/checks.h"
#include "core/comm/network/traffic.h"
#include "core/comm/outside/mpi.h"
#include "core/system/system.h"

namespace lockstep::comm {

using MpiTime = std::chrono::steady_clock;

struct MpiHeader {
    double sent_us = 0;
    uint64_t number = 0, channel = 0;
    int64_t bytes = 0;
    int32_t has_data = 0, unused = 0;
};
struct MpiNotice {  // to all others: "I wait for rank X", or "I have finished" (-1)
    int32_t rank = 0, waits_for = -1;
};
inline constexpr int notice_tag = 1, first_channel_tag = 2;

inline void expect_success(int code, const char* call) {
    if (code == MPI_SUCCESS) return;
    char text[MPI_MAX_ERROR_STRING] = {};
    int length = 0;
    MPI_Error_string(code, text, &length);
    throw Failure(fmt::format("{} fails: {}", call, text), ExitStatus::missing);
}

struct PendingSend {
    MpiHeader header;
    std::vector<std::byte> data;
    std::array<MPI_Request, 2> requests = {MPI_REQUEST_NULL, MPI_REQUEST_NULL};
};

// The process: what all its communicators share.
struct MpiProcess {
    MpiOptions options;
    int rank = 0, size = 1, tag_limit = 32767;
    std::shared_ptr<const Network> network;
    Traffic traffic;
    RankResult result;
    std::array<double, max_streams> clock{};
    std::list<PendingSend> sends;
    std::vector<int> notices;  // by rank: whom it waits for; none_yet, or -1: it has finished
    std::map<std::pair<std::vector<int>, int>, MPI_Comm> libraries;  // for MPI's own collectives, by group and stream
    static constexpr int none_yet = -2;

    explicit MpiProcess(const MpiOptions& given) : options(given), network(network_of(begin())), traffic(*network) {
        MPI_Comm_rank(MPI_COMM_WORLD, &rank);
        MPI_Comm_size(MPI_COMM_WORLD, &size);
        int* limit = nullptr;
        int found = 0;
        MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_TAG_UB, &limit, &found);
        if (found) tag_limit = *limit;
        notices.assign(static_cast<size_t>(size), none_yet);
    }
    MpiProcess(const MpiProcess&) = delete;
    ~MpiProcess() {
        int finalized = 0;
        MPI_Finalized(&finalized);
        if (finalized) return;
        tell_all(-1);
        while (!sends.empty()) {  // what others have not yet taken
            free_sent();
            hear_notices();
            std::this_thread::sleep_for(std::chrono::microseconds(50));
        }
        // Everybody says that it has finished, so that nothing is on its way when MPI ends. Who waits for ever ends all
        // processes while these are still here: mpirun hangs where some have left.
        while (std::count(notices.begin(), notices.end(), -1) + 1 < size) {
            hear_notices();
            std::this_thread::sleep_for(std::chrono::microseconds(50));
        }
        for (auto& [key, library] : libraries) MPI_Comm_free(&library);
        MPI_Finalize();
    }
    // Of another number of ranks: the ideal one, for the program to say what is wrong.
    std::shared_ptr<const Network> network_of(int ranks) const {
        if (options.network && options.network->ranks() == ranks) return options.network;
        return std::make_shared<const Network>(ideal_network(ranks, options.link));
    }
    static int begin() {
        int running = 0;
        MPI_Initialized(&running);
        if (!running) {
            int given = 0;
            expect_success(MPI_Init_thread(nullptr, nullptr, MPI_THREAD_SINGLE, &given), "MPI_Init_thread");
        }
        MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
        int ranks = 1;
        MPI_Comm_size(MPI_COMM_WORLD, &ranks);
        return ranks;
    }

    void free_sent() {
        for (auto send = sends.begin(); send != sends.end();) {
            int done = 0;
            expect_success(MPI_Testall(2, send->requests.data(), &done, MPI_STATUSES_IGNORE), "MPI_Testall");
            send = done ? sends.erase(send) : std::next(send);
        }
    }
    void tell_all(int waits_for) {
        for (int other = 0; other < size; ++other) {
            if (other == rank) continue;
            PendingSend& send = sends.emplace_back();
            const MpiNotice notice{rank, waits_for};
            send.data.resize(sizeof notice);
            std::memcpy(send.data.data(), &notice, sizeof notice);
            expect_success(
                MPI_Isend(send.data.data(), sizeof notice, MPI_BYTE, other, notice_tag, MPI_COMM_WORLD, &send.requests[0]),
                "MPI_Isend");
        }
    }
    void hear_notices() {
        int there = 1;
        while (there) {
            MPI_Status status;
            expect_success(MPI_Iprobe(MPI_ANY_SOURCE, notice_tag, MPI_COMM_WORLD, &there, &status), "MPI_Iprobe");
            if (!there) break;
            MpiNotice notice;
            expect_success(
                MPI_Recv(&notice, sizeof notice, MPI_BYTE, status.MPI_SOURCE, notice_tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE),
                "MPI_Recv");
            notices[static_cast<size_t>(notice.rank)] = notice.waits_for;
        }
    }

    // Waits for the request; the peer that it waits for may have to be named.
    void finish(MPI_Request& request, MPI_Status& status, int peer) {
        const auto begin = MpiTime::now();
        for (int64_t turn = 0;; ++turn) {
            int done = 0;
            expect_success(MPI_Test(&request, &done, &status), "MPI_Test");
            if (done) return;
            if (turn < 1000) continue;
            if (turn % 64 == 0) {
                hear_notices();
                free_sent();
            }
            std::this_thread::sleep_for(std::chrono::microseconds(turn < 10000 ? 5 : 200));
            if (std::chrono::duration<double>(MpiTime::now() - begin).count() > options.timeout_s) end_deadlocked(peer);
        }
    }
    [[noreturn]] void end_deadlocked(int peer) {
        tell_all(peer);
        const auto begin = MpiTime::now();
        const auto listen = [&](double seconds) {
            while (std::chrono::duration<double>(MpiTime::now() - begin).count() < seconds) {
                hear_notices();
                free_sent();
                std::this_thread::sleep_for(std::chrono::milliseconds(1));
            }
        };
        listen(1.0);
        for (int other = 0; other < rank; ++other)  // the first of those that wait tells the story, and ends all
            if (notices[static_cast<size_t>(other)] >= 0) listen(5.0);
        Deadlock deadlock;
        for (int i = 0; i < size; ++i) {
            const int from = i == rank ? peer : notices[static_cast<size_t>(i)];
            if (from >= 0) deadlock.waits.push_back({i, from, from != rank && notices[static_cast<size_t>(from)] == -1});
        }
        tell("error: deadlock after {:g} s: {}\n", options.timeout_s, deadlock.text());
        std::fflush(stderr);
        MPI_Abort(MPI_COMM_WORLD, 1);
        system::exit_now(1);
    }
};

}  // namespace lockstep::comm
