// The table: mm2 at 7 nm. Its figures began as what is published of single parts, with the spread that stands beside them,
// and were moved within it until the eight dies below came out as near as they do (within 4 %; a die that is left out of
// that is up to 13 % off). Nobody's die shot gives them one by one, so a part alone is less sure than the sum.
#include "core/model/gpus/area.h"

#include <algorithm>
#include <cmath>

#include "core/model/gpus/gpu_fields.h"
#include "core/model/gpus/gpu_file.h"

namespace lockstep::model {
namespace {

enum class Scales : uint8_t { logic, sram, pads };

struct Rate {
    double mm2;     // of one, at 7 nm
    double spread;  // from 1 / (1 + spread) to 1 + spread of it
    std::string_view source;
};

constexpr Rate sm_base = {0.22, 0.6, "estimate: what of an SM of GA100 (some 3.6 mm2 on die shots) no other row takes"};
constexpr Rate texture_unit = {0.094, 0.6, "estimate from die shots of GA102: texture units some 2 % of the die each four"};
constexpr Rate port_byte = {0.0033, 0.6, "estimate: the crossbar is a tenth of GA100's die on its shot"};
constexpr Rate l1_byte = {0.00081, 0.6, "estimate: data pipe and its swizzle, 0.1 mm2 for 128 bytes a cycle"};
constexpr Rate miss_entry = {0.0001, 0.6, "estimate: some 100 bits of a searched memory"};
constexpr Rate sub_core = {0.085, 0.6, "estimate: scheduler, dispatch, scoreboards and a cache of instructions"};
constexpr Rate special_lane = {0.0063, 0.6, "estimate: a table and a multiplier"};
constexpr Rate memory_lane = {0.003, 0.6, "estimate: an adder of addresses and its queue"};
constexpr Rate fp32_lane = {
    0.0071, 0.4, "die shots of GA102: FP32 and integer lanes are some 25 % of 628 mm2 at 8 nm (20 % by this row)"};
constexpr Rate int_lane = {0.003, 0.4, "estimate: less than half of an FP32 lane: no normalisation"};
constexpr Rate fp64_lane = {0.0135, 0.4, "estimate: twice an FP32 lane, as its multiplier is four times and shared"};
constexpr Rate tensor_product = {0.0012, 0.7, "estimate: a multiplier of 11 bits and a part of an adder tree"};
constexpr Rate warp_slot = {0.0033, 0.6, "estimate: program counters, predicates and a scoreboard"};
constexpr Rate register_kib = {0.0017, 0.35,
                               "SRAM of 0.027 um2 a bit at 7 nm (TSMC, recalled), operand banks five times that"};
constexpr Rate l1_kib = {0.0013, 0.35,
                         "SRAM of 0.027 um2 a bit at 7 nm (TSMC, recalled), banks of 32 words four times that"};
constexpr Rate l2_mib = {1.28, 0.35,
                         "Zen 3's L3 at 7 nm, some 1 mm2 a MiB with its ring (die shots); a stacked cache without it 0.56"};
constexpr Rate l2_slice = {0.154, 0.6, "estimate: tags, queues and the atomic unit of a slice"};
constexpr Rate hbm_stack = {10.6, 0.35,
                            "estimate: interface and controllers of a stack of 1,024 bits, from die shots of GP100"};
constexpr Rate gddr_word = {4.6, 0.35, "estimate: interface and controller of 32 bits, from die shots of GA102 and Navi 10"};
constexpr Rate ddr_channel = {6, 0.5, "estimate: interface and controller of 64 bits"};
constexpr Rate lpddr_channel = {4, 0.5, "estimate: interface and controller of 64 bits"};
constexpr Rate nvlink_100 = {2.5, 0.5,
                             "estimate: pads and controllers of 100 GB/s, both directions, from die shots of GP100"};
constexpr Rate host_part = {26, 0.5, "estimate: PCI Express, copy engines, block scheduler, clocks and fuses"};
constexpr Rate graphics_sm = {0.36, 0.6, "estimate: of an SM: ray-tracing core, geometry, and its part of the ROPs"};
constexpr Rate graphics_part = {25, 0.6, "estimate: video coders and display"};

constexpr double made_good = 2.0 / 3;  // of the defects, by leaving an SM out

struct MemoryPrice {
    double usd, low, high;  // a GB
    std::string_view source;
};
const MemoryPrice& memory_price(DramKind kind, uint32_t compute) {
    static constexpr MemoryPrice hbm2 = {15, 12, 19, "HBM2: 120 USD for 8 GB, 120 to 150 lower stacks (Gamers Nexus, 2018)"};
    static constexpr MemoryPrice hbm3 = {15, 10, 20, "HBM3: some 15 USD a GB (trade press, 2023 to 2025)"};
    static constexpr MemoryPrice gddr = {
        11, 3.4, 14, "GDDR6: 88 USD for 8 GB in 2018 (Gamers Nexus); on the spot 3.4 a GB in 2023 (recalled)"};
    static constexpr MemoryPrice ddr = {3, 1.5, 6, "estimate: DDR4 and LPDDR4 of 2018 to 2023, half to twice"};
    if (kind == DramKind::hbm) return compute >= 90 ? hbm3 : hbm2;
    return kind == DramKind::gddr ? gddr : ddr;
}

// HBM: 128 bits a channel, since HBM3 64.
double stacks_of(const GpuSpec& gpu) {
    return gpu.dram_channels / (gpu.compute.number >= 90 ? 16.0 : 8.0);
}

class Table {
  public:
    Table(const GpuSpec& gpu, const Process& process) : gpu_(gpu), process_(process), energies_(energies_of(gpu.dram_kind)) {
        estimate_.process = &process;
    }

    AreaEstimate fill() {
        sm_parts();
        lanes();
        memories();
        the_rest();
        for (const PartArea& row : estimate_.rows) estimate_.mm2 += row.mm2;
        estimate_.rows[l2_row_].watts = busy(gpu_.l2_bytes_per_cycle, l2_energy(energies_, estimate_.mm2));
        for (PartArea& row : estimate_.rows) {
            row.watts += row.mm2 * static_watts_a_mm2(gpu_.boost_mhz);
            estimate_.watts += row.watts;
        }
        estimate_.watts -= std::min(fp32_busy_, tensor_busy_);  // one of them at a time
        estimate_.low = estimate_.mm2 / (1 + area_spread);
        estimate_.high = estimate_.mm2 * (1 + area_spread);
        price();
        return std::move(estimate_);
    }

  private:
    double scale(Scales how) const {
        return how == Scales::logic ? process_.logic : how == Scales::sram ? process_.sram : process_.pads;
    }
    PartArea& add(std::string_view part, PartGroup group, std::string_view field, double count, std::string_view unit,
                  const Rate& rate, Scales how, double watts = 0) {
        const double mm2 = count * rate.mm2 * scale(how);
        estimate_.rows.push_back(
            {part, group, field, count, unit, mm2, mm2 / (1 + rate.spread), mm2 * (1 + rate.spread), watts, 0, rate.source});
        return estimate_.rows.back();
    }
    // Of so many operations of all SMs in every cycle.
    double busy(double a_cycle, const OperationEnergy& energy) const {
        return a_cycle * gpu_.boost_mhz * 1e6 * energy.pj * 1e-12 * energy_scale(process_, gpu_.boost_mhz);
    }

    void sm_parts() {
        constexpr auto group = PartGroup::sms;
        const double sms = gpu_.sms;
        add("SMs", group, "sms", sms, "SMs", sm_base, Scales::logic);
        add("ports to the crossbar", group, "sm_read_bytes_per_cycle",
            sms * (gpu_.sm_read_bytes_per_cycle + gpu_.sm_write_bytes_per_cycle), "B/cycle", port_byte, Scales::logic);
        add("texture units", group, "texture_lanes", sms * gpu_.texture_lanes, "lanes", texture_unit, Scales::logic);
        const double cores = sms * gpu_.sub_cores;
        add("sub-cores", group, "sub_cores", cores, "sub-cores", sub_core, Scales::logic,
            busy(cores * 32 * gpu_.issue_width * std::min(1.0, gpu_.fp32_lanes * 1.0 / 32), energies_.instruction));
        add("warps", group, "warps_per_sm", sms * gpu_.warps_per_sm, "warps", warp_slot, Scales::logic);
        add("registers", group, "registers_per_sm", sms * gpu_.registers_per_sm / 256.0, "KiB", register_kib, Scales::sram);
        const bool one_memory = gpu_.shared_carveouts.value[1] != 0;
        const double bytes = gpu_.l1_bytes + (one_memory ? 0.0 : gpu_.shared_per_sm);
        add(one_memory ? "L1 and shared memory" : "L1, and shared memory apart", group, "l1_bytes", sms * bytes / 1024,
            "KiB", l1_kib, Scales::sram, busy(sms * gpu_.l1_bytes_per_cycle, energies_.l1));
        add("data pipe of L1", group, "l1_bytes_per_cycle", sms * gpu_.l1_bytes_per_cycle, "B/cycle", l1_byte,
            Scales::logic);
        add("misses under way", group, "l1_mshrs", sms * gpu_.l1_mshrs, "entries", miss_entry, Scales::logic);
    }

    void lanes() {
        constexpr auto group = PartGroup::sms;
        const double cores = double(gpu_.sms) * double(gpu_.sub_cores);
        fp32_busy_ = busy(cores * gpu_.fp32_lanes, energies_.fp32);
        add("FP32 lanes", group, "fp32_lanes", cores * gpu_.fp32_lanes, "lanes", fp32_lane, Scales::logic, fp32_busy_);
        const double integer = gpu_.int_shares_fp32 == 1 ? 0 : cores * gpu_.int_lanes;
        add("integer lanes of their own", group, "int_lanes", integer, "lanes", int_lane, Scales::logic);
        add("FP64 lanes", group, "fp64_lanes", cores * gpu_.fp64_lanes, "lanes", fp64_lane, Scales::logic);
        add("special function lanes", group, "sfu_lanes", cores * gpu_.sfu_lanes, "lanes", special_lane, Scales::logic);
        add("load/store lanes", group, "lsu_lanes", cores * gpu_.lsu_lanes, "lanes", memory_lane, Scales::logic);
        const double products = cores * tensor_fmas(gpu_);
        tensor_busy_ = busy(products, energies_.tensor);
        add("tensor cores", group, "tensor_fmas", products, "multiply-adds", tensor_product, Scales::logic, tensor_busy_);
    }

    void memories() {
        l2_row_ = estimate_.rows.size();  // its energy hangs on the area of all
        add("L2", PartGroup::l2, "l2_bytes", gpu_.l2_bytes / 1048576.0, "MiB", l2_mib, Scales::sram);
        add("L2 slices", PartGroup::l2, "l2_slices", gpu_.l2_slices, "slices", l2_slice, Scales::logic);
        // With the memory's own chips, in every process the same.
        const double watts = gpu_.dram_gb_per_second * 1e9 * energies_.dram.pj * 1e-12;
        const double channels = gpu_.dram_channels;
        constexpr auto group = PartGroup::memory;
        switch (gpu_.dram_kind.value) {
            case DramKind::hbm:
                add("HBM interfaces", group, "dram_channels", stacks_of(gpu_), "stacks", hbm_stack, Scales::pads, watts);
                break;
            case DramKind::gddr:
                add("GDDR interfaces", group, "dram_channels", channels / 2, "of 32 bits", gddr_word, Scales::pads, watts);
                break;
            case DramKind::ddr:
                add("DDR interfaces", group, "dram_channels", channels, "of 64 bits", ddr_channel, Scales::pads, watts);
                break;
            case DramKind::lpddr:
                add("LPDDR interfaces", group, "dram_channels", channels, "of 64 bits", lpddr_channel, Scales::pads, watts);
                break;
        }
    }

    void the_rest() {
        constexpr auto group = PartGroup::rest;
        add("NVLink", group, "nvlink_gb_per_second", gpu_.nvlink_gb_per_second / 100, "of 100 GB/s", nvlink_100,
            Scales::pads);
        add("host link, block scheduler, pads", group, "", 1, "", host_part, Scales::pads);
        const uint32_t compute = gpu_.compute.number;
        if (is_gpu_file(gpu_.name) || !(compute == 75 || compute == 86 || compute == 89)) return;
        // A design of one's own leaves these out.
        add("graphics in the SMs", group, "sms", gpu_.sms, "SMs", graphics_sm, Scales::logic);
        add("video and display", group, "", 1, "", graphics_part, Scales::logic);
    }

    void price() {
        const double mm2 = std::max(1.0, estimate_.mm2);
        const auto add = [&](std::string_view part, double usd, double low, double high, std::string source) {
            if (usd <= 0) return;
            estimate_.prices.push_back({part, usd, low, high, std::move(source)});
            estimate_.usd += usd, estimate_.usd_low += low, estimate_.usd_high += high;
        };
        const auto die = [&](double wafer, double repaired) {
            return die_price(mm2, wafer * process_.wafer_usd, process_.defects, repaired);
        };
        estimate_.die_usd = die(1, made_good);
        for (PartArea& row : estimate_.rows) row.usd = estimate_.die_usd * row.mm2 / mm2;
        add("die", estimate_.die_usd, die(0.8, 1), die(1.25, 0),
            std::string(process_.price_source) +
                "; two thirds of the defects cost a spare SM and no die (estimate); from all to none of them, wafer -20, "
                "+25 %");
        const MemoryPrice& memory = memory_price(gpu_.dram_kind, gpu_.compute.number);
        estimate_.memory_usd = gpu_.memory_gb * memory.usd;
        add("memory chips", estimate_.memory_usd, gpu_.memory_gb * memory.low, gpu_.memory_gb * memory.high,
            std::string(memory.source));
        add("package and test", 80, 40, 160, "CSET 2020: 80 USD for a chip of 610 mm2 at 5 nm; half to twice");
        if (gpu_.dram_kind == DramKind::hbm)
            add("interposer", 134, 20, 723,
                "20 to 25 USD in 2018 (Gamers Nexus), 723 for an H100's CoWoS in 2023 (trade press): between, by ratio");
    }

    const GpuSpec& gpu_;
    const Process& process_;
    const Energies& energies_;
    AreaEstimate estimate_;
    double fp32_busy_ = 0, tensor_busy_ = 0;
    size_t l2_row_ = 0;
};

// A row with the figures of the whole die.
GpuSpec whole(std::string_view row, std::initializer_list<std::pair<std::string_view, double>> figures,
              uint32_t compute = 0) {
    GpuDesign design(gpu_named(row).value());
    for (const auto& [field, value] : figures)
        if (const auto refused = design.set(field, value, "as the whole die has it")) throw Failure(*refused);
    if (compute != 0) design.choose(ComputeCapability{compute});
    if (const auto impossible = design.finish("as the whole die has it")) throw Failure(impossible->message);
    return design.gpu();
}

}  // namespace

// Dies of a wafer of 300 mm by the usual formula; yield by Poisson.
double die_price(double mm2, double wafer_usd, double defects_cm2, double repaired) {
    constexpr double pi = 3.14159265358979, diameter = 300;
    const double dies = pi * diameter * diameter / 4 / mm2 - pi * diameter / std::sqrt(2 * mm2);
    return wafer_usd / (std::max(1.0, dies) * std::exp(-(1 - repaired) * defects_cm2 / 100 * mm2));
}

AreaEstimate area_of(const GpuSpec& gpu, const Process* process) {
    return Table(gpu, process != nullptr ? *process : process_of(gpu)).fill();
}

double AreaEstimate::of(PartGroup group) const {
    double sum = 0;
    for (const PartArea& row : rows) sum += row.group == group ? row.mm2 : 0;
    return sum;
}

double AreaEstimate::watts_of(PartGroup group) const {
    double sum = 0;
    for (const PartArea& row : rows) sum += row.group == group ? row.watts : 0;
    return sum;
}

double AreaEstimate::usd_of(PartGroup group) const {
    double sum = 0;
    for (const PartArea& row : rows) sum += row.group == group ? row.usd : 0;
    return sum;
}

std::string_view name_of(PartGroup group) {
    constexpr std::string_view names[] = {"sms", "l2", "memory", "rest"};
    return names[static_cast<size_t>(group)];
}

std::string_view title_of(PartGroup group) {
    constexpr std::string_view titles[] = {"the SMs and their crossbar", "L2", "memory", "host link, pads and the rest"};
    return titles[static_cast<size_t>(group)];
}

const std::vector<RealDie>& real_dies() {
    static const std::vector<RealDie> dies = {
        {"GP100", "P100", whole("p100", {{"sms", 60}}), 610, 300, "p100", "NVIDIA P100 white paper, 2016"},
        {"GV100", "V100", whole("v100", {{"sms", 84}}), 815, 300, "v100", "NVIDIA V100 white paper, 2017"},
        {"GA100", "A100",
         whole("a100",
               {{"sms", 128}, {"l2_mb", 48}, {"l2_slices", 96}, {"dram_channels", 48}, {"nvlink_gb_per_second", 600}}),
         826, 400, "a100", "NVIDIA A100 white paper, 2020"},
        {"GH100", "H100", whole("h100", {{"sms", 144}, {"l2_mb", 60}, {"dram_channels", 96}}), 814, 700, "h100",
         "NVIDIA H100 white paper, 2022"},
        {"TU102", "RTX 2080 Ti",
         whole("rtx3090",
               {{"sms", 72},
                {"warps_per_sm", 32},
                {"fp32_lanes", 16},
                {"shared_per_sm", 65536},
                {"l1_kb", 96},
                {"tensor_fmas", 128},
                {"l2_mb", 6},
                {"l2_slices", 48},
                {"nvlink_gb_per_second", 100}},
               75),
         754, 0, "", "NVIDIA Turing white paper, 2018"},
        {"TU104", "T4",
         whole("rtx3090",
               {{"sms", 48},
                {"warps_per_sm", 32},
                {"fp32_lanes", 16},
                {"shared_per_sm", 65536},
                {"l1_kb", 96},
                {"tensor_fmas", 128},
                {"l2_mb", 4},
                {"l2_slices", 32},
                {"dram_channels", 16},
                {"nvlink_gb_per_second", 50}},
               75),
         545, 0, "", "NVIDIA Turing white paper, 2018"},
        {"GA102", "RTX 3090", whole("rtx3090", {{"sms", 84}, {"tensor_fmas", 128}}), 628.4, 350, "rtx3090",
         "NVIDIA GA102 white paper, 2020"},
        {"AD102", "RTX 4090", whole("rtx4090", {{"sms", 144}, {"l2_mb", 96}, {"tensor_fmas", 128}}), 608.5, 450, "rtx4090",
         "NVIDIA Ada white paper, 2022"},
    };
    return dies;
}

std::vector<RealPrice> real_prices() {
    const Process& newest = *process_named("4nm");
    const AreaEstimate h100 = area_of(gpu_named("h100").value());
    return {{"a die of 610 mm2 at 5 nm", 238, die_price(610, newest.wafer_usd, newest.defects, made_good),
             "Khan and Mann, CSET 2020, table 9: 71.4 good dies of a wafer"},
            {"GH100, the die of 814 mm2", 200, die_price(814, newest.wafer_usd, newest.defects, made_good),
             "trade press, 2024: 65 good dies of a wafer for 13,400 USD"},
            {"H100, all of the board", 3320, h100.usd, "Raymond James by Tae Kim, August 2023: with its HBM"}};
}

}  // namespace lockstep::model
