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
#include "core/parallel/trainer.h"

namespace lockstep::parallel {

struct RankLog {
    Mesh mesh;
    bool keep_spans = true;
    bool library = false;  // collectives are the inner communicator's own
    std::string_view purpose = "activations";
    std::vector<Traffic> sent;
    std::vector<RankSpan> spans;
    double compute_us = 0;

    void clear();  // for the next step
    void count(const std::string& axis, int64_t bytes);
    void span(int stream, double begin_us, double end_us, std::string_view label);
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

// The axes along which these ranks differ: "dp", "dp x cp"; "all" for all ranks of the mesh.
std::string axes_between(const Mesh& mesh, const std::vector<int>& ranks);

// `inner` and `log` outlive what is returned; the second owns `inner`.
std::unique_ptr<comm::Communicator> counted(comm::Communicator& inner, RankLog& log);
std::unique_ptr<comm::Communicator> counted(std::unique_ptr<comm::Communicator> inner, RankLog& log, int stream = 0);

}  // namespace lockstep::parallel
