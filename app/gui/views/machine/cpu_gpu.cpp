// A CPU beside the GPU on show: a square for each FP32 multiply-add that either does in a cycle, boxed by core and by SM,
// and what else can be counted of both. How their area is divided is not published, so no die is drawn. The GPU's figures
// are its row's; the CPU's are Intel's of a Core i7-7700 of the same year as a V100.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "app/gui/view.h"
#include "core/base/units.h"

namespace lockstep::gui {
namespace {

constexpr std::string_view cpu_gpu_title = "A CPU beside a GPU";

// Core i7-7700, 2017: Intel's data sheet (cores, threads, turbo clock, 8 MiB of L3), Intel's optimisation manual for Skylake
// (two AVX2 units of 8 FP32 multiply-adds a core; 32 + 32 KiB of L1 and 256 KiB of L2 a core).
struct Chip {
    std::string name, boxes, box;  // "4 cores", "core"
    int count = 4, lanes = 16;     // cores or SMs, and multiply-adds of each a cycle
    double ghz = 4.2, memory_mib = 8 + 4 * (0.25 + 0.0625);
    int64_t threads = 8;
    int64_t all_lanes() const { return int64_t{count} * lanes; }
    double tflops() const { return 2e-3 * ghz * static_cast<double>(all_lanes()); }
    double kib_a_lane() const { return 1024 * memory_mib / static_cast<double>(all_lanes()); }
};

Chip chip_of_cpu() {
    return {.name = "Core i7-7700", .boxes = "4 cores", .box = "core"};
}
Chip chip_of_gpu(const model::GpuSpec& gpu) {
    Chip chip{.name = std::string(gpu.title), .boxes = fmt::format("{} SMs", gpu.sms.value), .box = "SM"};
    chip.count = static_cast<int>(gpu.sms.value);
    chip.lanes = static_cast<int>(std::lround(gpu.sub_cores.value * gpu.fp32_lanes.value));
    chip.ghz = gpu.boost_mhz / 1000;
    const double near = gpu.shared_carveouts.value[1] != 0
                            ? gpu.l1_bytes.value
                            : static_cast<double>(gpu.l1_bytes.value) + gpu.shared_per_sm.value;
    chip.memory_mib = (gpu.sms.value * (4.0 * gpu.registers_per_sm.value + near) + gpu.l2_bytes.value) / (1 << 20);
    chip.threads = int64_t{gpu.sms.value} * gpu.warps_per_sm.value * 32;
    return chip;
}

struct Fact {
    std::string what, cpu, gpu, times;
};
std::string amount(double value) {
    return value >= 100 ? with_commas(std::llround(value)) : fmt::format("{:.3g}", value);
}
std::string ratio(double value) {
    return value >= 1 ? fmt::format("x {}", amount(value)) : fmt::format("1 / {}", amount(1 / value));
}
std::vector<Fact> facts_of(const Chip& cpu, const Chip& gpu) {
    const auto fact = [](std::string what, double one, double other) {
        return Fact{std::move(what), amount(one), amount(other), ratio(other / one)};
    };
    return {fact("multiply-adds a cycle", static_cast<double>(cpu.all_lanes()), static_cast<double>(gpu.all_lanes())),
            fact("clock, GHz", cpu.ghz, gpu.ghz),
            fact("FP32 peak, TFLOP/s", cpu.tflops(), gpu.tflops()),
            fact("threads at hand", static_cast<double>(cpu.threads), static_cast<double>(gpu.threads)),
            fact("memory on the chip, MiB", cpu.memory_mib, gpu.memory_mib),
            fact("of it for each lane, KiB", cpu.kib_a_lane(), gpu.kib_a_lane())};
}

std::string cpu_gpu_sentence(const Chip& cpu, const Chip& gpu) {
    return fmt::format(
        "{} that are slower each, against {}: a CPU hurries one thread with memory and prediction, a GPU keeps {} "
        "threads at hand and can afford to wait. Figures of both makers.",
        counted(gpu.all_lanes(), "lane"), with_commas(cpu.all_lanes()), with_commas(gpu.threads));
}

class CpuGpuView final : public View {
  public:
    void draw(Ui& ui, Session& session, Focus&, const Rect& area) override {
        const auto snapshot = session.snapshot();
        if (!snapshot->kernel.run) {
            const Rect body = ui.panel(area, {.title = cpu_gpu_title});
            return ui.say_nothing_yet(body, snapshot->busy.empty() ? "No kernel has run yet." : snapshot->busy,
                                      "The GPU that it ran on appears here, beside a CPU.");
        }
        const Chip cpu = chip_of_cpu(), gpu = chip_of_gpu(snapshot->kernel.run->gpu);
        const std::string sentence = cpu_gpu_sentence(cpu, gpu), right = fmt::format("{} beside {}", cpu.name, gpu.name);
        const Rect body =
            ui.panel(area, {.title = cpu_gpu_title, .right = right, .badge = Provenance::derived, .caption = sentence});
        ui.push_scope("cpu gpu");
        float y = body.y;
        if (body.h > 300) {
            ui.text(body.x, y + 22,
                    fmt::format("{} multiply-adds in a cycle, against {}", with_commas(gpu.all_lanes()),
                                with_commas(cpu.all_lanes())),
                    {.size = 20, .weight = 700, .width = body.w});
            y += 38;
        }
        const Rect rest{body.x, y, body.w, body.bottom() - y - 2};
        const bool beside = rest.w > 740;  // the table right of the squares, else below
        const float table = beside ? std::clamp(rest.w * 0.4f, 390.0f, 440.0f) : rest.w,
                    high = beside ? rest.h : rest.h - 6 * 24 - 34;
        const Rect squares{rest.x, rest.y, beside ? rest.w - table - 32 : rest.w, high};
        const float cell = cell_for(gpu, {0, 0, squares.w * 0.7f, squares.h - 26});
        const float left = std::max(squares.w * 0.22f, 90.0f);
        draw_chip(ui, cpu, {squares.x, squares.y, left, squares.h}, cell);
        draw_chip(ui, gpu, {squares.x + left + 16, squares.y, squares.w - left - 16, squares.h}, cell);
        draw_table(ui, facts_of(cpu, gpu),
                   beside ? Rect{rest.right() - table, rest.y, table, rest.h}
                          : Rect{rest.x, squares.bottom() + 8, rest.w, rest.bottom() - squares.bottom() - 8});
        ui.pop_scope();
    }

    float needs(Ui&, Session&, Focus&, const Rect& room) override { return room.w > 764 ? 330 : 430; }

    std::string describe(const Session& session, const Focus&) const override {
        const auto snapshot = session.snapshot();
        if (!snapshot->kernel.run) return "A CPU beside a GPU: no kernel has run yet.\n";
        const Chip cpu = chip_of_cpu(), gpu = chip_of_gpu(snapshot->kernel.run->gpu);
        std::string text =
            fmt::format("{} (derived): {}, {}, and {}, {}\n", cpu_gpu_title, cpu.name, cpu.boxes, gpu.name, gpu.boxes);
        for (const Fact& fact : facts_of(cpu, gpu))
            text += fmt::format("  {}: {} and {}, {}\n", fact.what, fact.cpu, fact.gpu, fact.times);
        return text + "  " + cpu_gpu_sentence(cpu, gpu) + "\n";
    }

  private:
    // Lanes of a box stand in rows of eight, boxes in as many columns as fit.
    static constexpr int in_row = 8;
    static Point box_size(const Chip& chip, float cell) {
        return {cell * in_row + 3, cell * static_cast<float>((chip.lanes + in_row - 1) / in_row) + 3};
    }
    static int columns_in(const Chip& chip, float width, float cell) {
        return std::max(1, static_cast<int>(width / box_size(chip, cell).x));
    }
    // The largest square with which all of the chip's lanes fit: the same for both chips.
    static float cell_for(const Chip& chip, const Rect& r) {
        for (float cell = 12; cell > 1; cell -= 0.25f) {
            const int columns = columns_in(chip, r.w, cell), rows = (chip.count + columns - 1) / columns;
            if (box_size(chip, cell).y * static_cast<float>(rows) <= r.h) return cell;
        }
        return 1;
    }

    // A box is one quad and lines between its lanes, so that thousands of lanes are few shapes.
    static void draw_chip(Ui& ui, const Chip& chip, const Rect& r, float cell) {
        const Theme& theme = *ui.theme;
        const float end = ui.text(r.x, r.y + 14, chip.box == "core" ? "CPU" : "GPU", {.size = 14, .weight = 600});
        ui.text(end + 8, r.y + 14, chip.boxes, {.size = 13, .color = theme.ink2, .width = r.right() - end - 8});
        const Point size = box_size(chip, cell);
        const int columns = columns_in(chip, r.w, cell), rows = (chip.lanes + in_row - 1) / in_row;
        for (int i = 0; i < chip.count; ++i) {
            const Rect box{r.x + size.x * static_cast<float>(i % columns),
                           r.y + 26 + size.y * static_cast<float>(i / columns), size.x - 3, size.y - 3};
            if (box.bottom() > r.bottom() + 1) break;
            ui.rect(box, data::green);
            if (cell >= 2.5f) {
                for (int line = 1; line < in_row; ++line)
                    ui.rect({box.x + cell * static_cast<float>(line) - 0.5f, box.y, 1, box.h}, theme.panel);
                for (int line = 1; line < rows; ++line)
                    ui.rect({box.x, box.y + cell * static_cast<float>(line) - 0.5f, box.w, 1}, theme.panel);
            }
            if (ui.hovered(box)) ui.tooltip(fmt::format("{} {}: {} FP32 multiply-adds a cycle", chip.box, i, chip.lanes));
        }
        const int down = (chip.count + columns - 1) / columns;
        const float below = r.y + 26 + size.y * static_cast<float>(down) + 14;
        const std::string says = fmt::format("{} {} {}", chip.lanes, chip.box == "SM" ? "an" : "a", chip.box);
        if (below <= r.bottom()) ui.text(r.x, below, says, {.size = 13, .color = theme.ink2, .width = r.w});
    }

    static void draw_table(Ui& ui, const std::vector<Fact>& facts, const Rect& r) {
        const Theme& theme = *ui.theme;
        const float times = r.right(), gpu = times - 82, cpu = gpu - 76;
        ui.text(r.x, r.y + 14, "What can be counted", {.size = 14, .weight = 600, .width = cpu - 60 - r.x});
        const TextStyle head{.size = 13, .color = theme.ink2, .align = Align::right};
        ui.text(cpu, r.y + 14, "CPU", head);
        ui.text(gpu, r.y + 14, "GPU", head);
        ui.text(times, r.y + 14, "times", head);
        ui.line({r.x, r.y + 23}, {r.right(), r.y + 23}, theme.line);
        const float pitch = std::clamp((r.h - 60) / static_cast<float>(facts.size()), 23.0f, 32.0f);
        float y = r.y + 24;
        for (const Fact& fact : facts) {
            ui.text(r.x, y + pitch * 0.65f, fact.what, {.size = 13, .width = cpu - 62 - r.x});
            ui.text(cpu, y + pitch * 0.65f, fact.cpu, {.size = 13, .align = Align::right, .mono = true});
            ui.text(gpu, y + pitch * 0.65f, fact.gpu, {.size = 13, .align = Align::right, .mono = true});
            ui.text(times, y + pitch * 0.65f, fact.times, {.size = 13, .align = Align::right, .weight = 700, .mono = true});
            y += pitch;
        }
        if (y + 26 > r.bottom()) return;
        const float swatch = y + 20;
        ui.rect({r.x, swatch - 11, 12, 12}, data::green);
        ui.text(r.x + 20, swatch, "a lane: one FP32 multiply-add a cycle",
                {.size = 13, .color = theme.ink2, .width = r.w - 24});
    }
};

}  // namespace

std::unique_ptr<View> make_cpu_gpu_view() {
    return std::make_unique<CpuGpuView>();
}

}  // namespace lockstep::gui
