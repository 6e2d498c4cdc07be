// What one rank sent, and when its streams worked: a Communicator that counts every message of another one, by the axis of
// its group and by what it was for, and keeps a span for everything that took virtual time. Groups and streams that are made
// from it count too. Collectives run as our own step lists over the counted messages; a library's own are timed, not
// counted.
#pragma once
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "core/comm/communicator.h"
#include "core/parallel/train/trainer.h"

namespace lockstep::parallel {

struct RankLog {
    Mesh mesh;
    bool keep_spans = true;
    bool library = false;  // collectives are the inner communicator's own
    bool keep_messages = false;
    std::string_view purpose = "activations";
    std::vector<Traffic> sent;
    std::vector<RankSpan> spans;
    std::vector<RankMessage> messages;
    std::vector<RankCollective> collectives;
    double compute_us = 0;
    int in_collective = 0;                                                         // nested: the outermost one counts
    std::shared_ptr<CollectiveCalls> calls = std::make_shared<CollectiveCalls>();  // of this step, kept beyond this rank
    int in_call = 0;
    std::string about;  // what they are for: a block's name, a bucket's parameters

    void clear();                      // for the next step
    void leave(RankStep& step) const;  // what has been noted since then
    void count(const std::string& axis, int64_t bytes, int to, double sent_us);
    // A collective that this rank takes part in: messages between the two are its own.
    void collective_begins(RankCollective one);
    void collective_ends(double end_us);
    void span(int stream, double begin_us, double end_us, std::string_view label);
};

class About {  // while it lives, collectives are about this
  public:
    About(RankLog& log, std::string_view what) : log_(log), before_(std::move(log.about)) { log.about = what; }
    ~About() { log_.about = std::move(before_); }
    About(const About&) = delete;
    About& operator=(const About&) = delete;

  private:
    RankLog& log_;
    std::string before_;
};

class Purposeful {  // while it lives, messages are for `purpose`
  public:
    Purposeful(RankLog& log, std::string_view purpose) : log_(log), before_(log.purpose) { log.purpose = purpose; }
    ~Purposeful() { log_.purpose = before_; }
    Purposeful(const Purposeful&) = delete;
    Purposeful& operator=(const Purposeful&) = delete;

  private:
    RankLog& log_;
    std::string_view before_;
};

// Runs step lists over a counted communicator: its own collectives do it too.
class NotedCollective {
  public:
    NotedCollective(RankLog& log, comm::Communicator& group, std::string_view operation, std::string_view algorithm,
                    const comm::Buffer& whole);
    ~NotedCollective();
    NotedCollective(const NotedCollective&) = delete;
    NotedCollective& operator=(const NotedCollective&) = delete;

  private:
    RankLog& log_;
    comm::Communicator& group_;
    bool notes_;
};

// The axes along which these ranks differ: "dp", "dp x cp"; "all" for all ranks of the mesh.
std::string axes_between(const Mesh& mesh, const std::vector<int>& ranks);

// `inner` and `log` outlive what is returned; the second owns `inner`.
std::unique_ptr<comm::Communicator> counted(comm::Communicator& inner, RankLog& log);
std::unique_ptr<comm::Communicator> counted(std::unique_ptr<comm::Communicator> inner, RankLog& log, int stream = 0);

}  // namespace lockstep::parallel
