// The views that a lesson's scene can name, a row each. app/gui/scenes.cpp has the layout of each; a test holds the two
// equal.
#include <fmt/format.h>

#include "core/model/launch/launch.h"
#include "core/scene/figures/figures.h"
#include "lessons/player/authors/authors.h"

namespace lockstep::lessons {

namespace {

constexpr LessonView views[] = {
    {"divergence", "a warp's branches: which lanes take which side"},
    {"threads", "which thread does what, line by line"},
    {"fragments", "a tensor core's fragments, lane by lane"},
    {"tensor_core", "4 x 4 x 4 of a warp's product as a cube, and who holds its numbers"},
    {"warps", "the warps of an SM over time, with their stalls"},
    {"blocks", "which SM runs which block when"},
    {"cpu_gpu", "the lanes of a CPU and of the GPU, and what else can be counted of both"},
    {"machine", "the whole GPU in motion, to zoom into"},
    {"compare", "two scenes on one time axis (compare=)"},
    {"occupancy", "what limits how many blocks an SM holds"},
    {"funnel", "warps of a scheduler, from what it can hold to what it selects (compare=)"},
    {"exchange", "what warps hand each other in shared memory, and what a barrier orders"},
    {"ladder", "how long a load from each memory space takes"},
    {"coalesce", "the sectors that a request touches"},
    {"chart", "what flows between the memories"},
    {"banks", "the banks of shared memory that a request meets"},
    {"roofline", "the kernel below the GPU's roofs"},
    {"streams", "operations of a host program, stream by stream"},
    {"generations", "the same kernel on several GPUs (gpus=)"},
    {"measured", "what was measured on real GPUs beside the model"},
    {"measured_ladder", "the same for a ladder of kernels"},
    {"training", "curves, batch, graph and kernels of training"},
    {"kernels", "a step's launches, one by one"},
    {"graph", "the graph of a step"},
    {"tape", "a tensor program, its values and its graph"},
    {"program", "a tensor program as a page, all lines with their values; its graph behind it"},
    {"descent", "a tensor program of several steps, with its curves"},
    {"exhibit", "a training run, and what its model shows"},
    {"curves", "curves of training runs"},
    {"ranks", "losses of ranks above their figures"},
    {"cheaper", "cheaper forms of a network: what each costs and reads, its curves and figures"},
    {"rows", "figures of rows as a table"},
    {"pipeline", "a pipeline's schedule"},
    {"collective", "the messages of a collective"},
    {"workers", "workers over time, who waits for whom, and how stale a server's updates are"},
    {"ring_attention", "the causal triangle on a ring of ranks: who works on which block in which round"},
    {"data_parallel", "a step of data parallelism: each rank's computing above its buckets of gradients"},
    {"groups", "whom a GPU of a planned machine talks to, and how much"},
    {"processes", "servers, their processes with rank and local rank, and the ring between them"},
    {"modes", "the last step of a tensor program in several modes (compare=), the host's calls above the kernels"},
    {"norms", "what batch norm makes of a channel's values, rank by rank and together"},
    {"rank_memory", "what lies in the memory of each rank"},
    {"mesh", "devices of a mesh and the parts that they hold"},
    {"axes", "a mesh of devices, large: whom a rank works with along each axis"},
    {"owners", "products on a mesh in their owners' colours, and what is moved between them"},
    {"network", "the links between nodes"},
    {"formats", "types of numbers: their bits, their range, and what a number becomes in each"},
    {"scores", "attention: a score and a share for each query and key, and one row tile by tile"},
    {"joined", "attention over keys on several GPUs: what each makes of its own, and the sums of all"},
    {"convolution", "a kernel's convolution: windows, patches, product, and the same as one matrix"},
    {"convolution_layer", "a tensor program's convolution: windows, patches, product"},
    {"convolution_training", "a training run's first convolution, below its curves and batch"},
    {"products", "a kernel's matrix product: which row and column make an element"},
    {"products_layer", "a tensor program's products, whole or cut over GPUs by columns or rows"},
    {"products_training", "a training step's product in the tiles of its launches, above its kernels"},
    {"llama_block", "a Llama's block: its parts with shapes, parameters and arithmetic"},
    {"layer_sizes", "a layer of each Llama 3, its matrices to scale"},
    {"token_norm", "RMSNorm of tokens of two numbers: arrows before it and behind it"},
    {"dials", "rotary positions: pairs of numbers as arrows that turn with their place"},
    {"slopes", "gradcheck by element: backward beside the measured slope, with the graph"},
    {"hessian", "a tensor program's second derivatives: how each gradient moves with each parameter"},
    {"arithmetic", "what each op of a tensor program computes, as bars; beside another's (compare=)"},
    {"traffic", "what each op of a tensor program moves, as bars; beside another's (compare=)"},
    {"gradient_way", "a tensor program's gradient from its end to its beginning, a bar a tensor"},
    {"made_wanted", "what the kernel of B07's or B08's exercise makes, beside what it should"},
    {"int8_levels", "a row of weights as whole numbers: the nearest level of each, and what the kernel made"},
    {"trained_weights", "a tensor program's weights to scale: which are trained, and which stay"},
    {"gate", "a SwiGLU's gate on its curve, and how much of the content it lets through"},
    {"normalise", "what batch norm does to a channel's values: mean off, divided by the deviation"},
    {"seeds", "accuracies of runs that differ by their seed, with their means"},
    {"line_fit", "a line that learns: examples, misses and the cost by correction"},
    {"batch_sizes", "runs of several batch sizes: steps against examples to the target"},
    {"layer_rates", "how long each layer's weights and gradient are, with the accuracies by seed"},
    {"valleys", "losses of one weight as curves, and what shifted data cost at their bottom"},
    {"breakdowns", "what stopped a published training run, and how often a machine of so many GPUs stops"},
    {"memory_wall", "how arithmetic, memory and links have grown"},
    {"cluster", "pipeline, collective and memory together"},
};

std::string cell(std::string_view text) {  // a '|' would end the column
    std::string safe;
    for (const char c : text) safe += c == '|' ? "\\|" : std::string(1, c);
    return safe;
}

void add_row(std::string& page, std::string_view name, std::string_view unit, std::string_view places,
             std::string_view sentence) {
    std::string behind;
    for (size_t at = 0; at < places.size();) {
        const size_t end = std::min(places.find(' ', at), places.size());
        behind += fmt::format("{}`@{}:`", behind.empty() ? "" : " ", places.substr(at, end - at));
        at = end + 1;
    }
    page += fmt::format("| `{}` | {} | {} | {} |\n", name, cell(unit), behind, cell(sentence));
}

std::string_view title_of(std::string_view kind) {
    constexpr std::pair<std::string_view, std::string_view> titles[] = {
        {"kernel", "A kernel's run"},
        {"host", "A host program"},
        {"tape", "A tensor program"},
        {"training", "Training"},
        {"cheaper", "Cheaper number formats"},
        {"step", "A training step, and the last step of a tensor program or of training"},
        {"model", "A model, of no scene: model.NAME@model:MODEL"},
        {"rows", "Rows of many ranks, of any kind"},
        {"schedule", "Rows of a pipeline schedule"},
        {"parallel", "Rows of training on many ranks"},
        {"collective", "Rows of a collective"},
        {"plan", "Rows of a plan"},
        {"mesh", "Rows of a mesh"}};
    for (const auto& [name, title] : titles)
        if (name == kind) return title;
    return kind;
}

}  // namespace

std::span<const LessonView> lesson_views() {
    return views;
}

std::string figures_page() {
    constexpr std::string_view head = "| figure | unit | behind it | what it is |\n|---|---|---|---|\n";
    std::string page =
        "# Figures and views of lessons\n\nWhat `of=` and `check=` of a lesson may ask for, kind by kind. `lockstep lesson "
        "figures` prints this\npage from the tables that the engine itself uses; a test holds the two equal. How figures "
        "are "
        "put\ntogether is in [FORMAT.md](FORMAT.md).\n";
    for (const scene::FigureKind& kind : scene::figure_kinds()) {
        page += fmt::format("\n## {}\n\n{}", title_of(kind.name), head);
        for (const scene::FigureText& row : kind.rows) add_row(page, row.name, row.unit, row.places, row.sentence);
        if (kind.name != "kernel") continue;
        for (const model::MetricRow& row : model::metric_rows())
            if (!scene::row_named(kind.rows, row.name))
                add_row(page, row.name, row.unit, row.by_line ? "line" : "", row.summary);
    }
    page += fmt::format("\n## A GPU: gpu.NAME of a kernel's run, gpu.NAME@gpu:GPU of no scene\n\n{}", head);
    for (const model::SpecFigure& figure : model::figures_of(model::gpu_named("v100").value()))
        add_row(page, fmt::format("gpu.{}", figure.name), figure.unit, "gpu", figure.label);
    page += "\n## Views\n\n| view | what it shows |\n|---|---|\n";
    for (const LessonView& view : views) page += fmt::format("| `{}` | {} |\n", view.name, view.shows);
    page.pop_back();
    return page;
}

}  // namespace lockstep::lessons
