// A generated kernel while it is put together: statements of bundled kernels, with their names made its own, and a few that
// it writes itself. All of it is one ptx::Entry, which is printed at the end.
#pragma once
#include <functional>
#include <set>
#include <span>
#include <string>

#include "core/device/device.h"
#include "core/graph/fusion/fusion_kernel.h"
#include "core/ptx/parse/module.h"

namespace lockstep::graph {

struct Body {  // a bundled kernel's, as it is taken over
    const KernelReading& reading;
    const std::vector<int>& slots;  // one a parameter of the kernel
    std::string prefix;             // "a": "%f3" becomes "%a_f3"
    std::string site = {};          // of a body that stands several times: what its labels have besides
    std::string_view thread = {};   // the register that stands for the thread's number; "": the kernel makes it itself
    // Asked for every statement, by its number and renamed: true where it has written something in its place.
    std::function<bool(size_t number, ptx::Statement& statement)> instead = {};
};

class KernelWriter {
  public:
    explicit KernelWriter(const std::vector<FusedSlot>& slots);

    std::string_view keep(std::string text) { return *names_.insert(std::move(text)).first; }
    std::string_view parameter(int slot) const { return parameters_[size_t(slot)]; }  // its name; "": it is none

    void declare(const Body& body);                // its registers and shared memory: once, wherever it stands
    void copy(const Body& body);                   // its statements
    void locate(size_t line, std::string remark);  // what follows belongs to a line of the listing
    void write(const std::string& text);           // PTX: declarations, statements, labels
    void write(ptx::Statement statement);
    ptx::Statement renamed(const Body& body, ptx::Statement statement);
    std::span<ptx::Statement> written() { return entry_.statements; }

    // The kernel; its name gets the text's hash behind it.
    std::shared_ptr<device::GeneratedKernel> finish(const std::string& name, const std::string& listing);

  private:
    std::string_view register_of(const Body& body, std::string_view name);
    std::string_view renamed(const Body& body, std::string_view name);
    int scope_in(const Body& body, int scope, std::vector<int>& scopes);
    void label(std::string_view name);

    std::set<std::string> names_;  // these, and texts, are what the entry points into
    std::vector<std::shared_ptr<const std::string>> texts_;
    ptx::Entry entry_;
    std::vector<std::string_view> parameters_;
    int scope_ = 0, location_ = -1;
};

std::string one_line(std::string_view text, size_t longest = 100);  // a model's name for a comment: no control characters

}  // namespace lockstep::graph
