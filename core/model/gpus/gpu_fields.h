// The figures of a GPU by their names, for files and sweeps that change some of them: a row a field with its bounds and the
// reason for them, what follows from a change, and what makes no machine. Reading a file is gpu_file.h.
#pragma once
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "core/model/gpus/gpu_spec.h"

namespace lockstep::model {

struct GpuField {
    std::string_view name;  // as figures_of() has it: "sms"
    std::variant<Count GpuSpec::*, Figure GpuSpec::*> place;
    double least = 0, most = 0;
    std::string_view reason;     // why not less, or not more; empty: the bounds speak for themselves
    bool may_be_absent = false;  // 0 is taken too, below `least`: the part is taken away
    bool whole() const { return place.index() == 0; }
};
// All but `scheduler`, `dram_kind` and `shared_carveouts`, which are no plain numbers, and `tensor_fmas`.
const std::vector<GpuField>& gpu_fields();
// All names that a file may set, also those three, `tensor_fmas` (multiply-adds of f16 that the tensor cores of a sub-core
// do a cycle, from which the tensor peaks follow) and `compute`.
std::vector<std::string> gpu_field_names();

double value_of(const GpuSpec&, const GpuField&);
void set_value(GpuSpec&, const GpuField&, double value, std::string_view source);

// "l2_mb" is l2_bytes in MiB, "shared_per_sm_kb" in KiB: the field and how many of its units are one; null where there is
// none.
std::pair<const GpuField*, double> field_named(std::string_view name);

// Why the value is none that the field can have, as a sentence; empty: it can.
std::string refused_value(const GpuField&, double value);

// A design: a GPU, and which of its figures were chosen. What nobody chose follows where the parts are fewer or more: the
// peaks from the lanes and the clock, the bandwidths from slices and channels, shared memory's sizes from its SRAM.
class GpuDesign {
  public:
    explicit GpuDesign(const GpuSpec& from) : from_(from), gpu_(from) {}
    // The value stands in `source`: "set in mine.toml". Any name of gpu_field_names() or field_named() but the four words;
    // a Diagnostic without a place.
    std::optional<Diagnostic> set(std::string_view name, double value, std::string_view source);
    void choose(SchedulerPolicy policy, std::string_view source) { gpu_.scheduler = {policy, source}; }
    void choose(DramKind kind, std::string_view source) { gpu_.dram_kind = {kind, source}; }
    void choose(ComputeCapability compute) { gpu_.compute = compute; }
    std::optional<Diagnostic> choose_carveouts(const std::vector<double>& bytes, std::string_view source);

    struct Impossible {
        std::vector<std::string_view> fields;  // whose values do not go together
        std::string message;
    };
    // Lets follow what follows, and says what makes no machine of it.
    std::optional<Impossible> finish(std::string_view source);
    GpuSpec& gpu() { return gpu_; }
    const std::vector<std::string>& chosen() const { return chosen_; }  // in the order of their choice

  private:
    bool has(std::string_view name) const;
    bool any_of(std::initializer_list<std::string_view> names) const;
    void follow_shared(std::string_view source);
    void follow_peaks(std::string_view source);
    GpuSpec from_, gpu_;
    std::vector<std::string> chosen_;
    double tensor_fmas_ = 0;
};

// Multiply-adds of f16 that the tensor cores of a sub-core do a cycle: the vendor's peak over SMs, sub-cores and clock.
double tensor_fmas(const GpuSpec&);

// The same text for as long as the program runs: what a GPU's names and sources may point to.
std::string_view kept_text(std::string text);

}  // namespace lockstep::model
