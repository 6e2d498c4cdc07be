// The list of views: one line each. A slot of scenes.cpp names a row here. A line declares the view's make function too, so
// that a view is its file and its line: function, name, title, workspace, and what differs of the fields of ViewRow.
#include <array>

#include "app/gui/view.h"

namespace lockstep::gui {

// clang-format off
#define VIEWS(VIEW) \
    VIEW(make_home_view, "home", "Home", home, 0, 15)                                                     \
    VIEW(make_lesson_view, "lesson", "Lesson", learn)                                                     \
    VIEW(make_sketch_view, "sketch", "Your prediction", learn, 180, 14)                                   \
    VIEW(make_source_view, "source", "Source", learn)                                                     \
    VIEW(make_threads_view, "threads", "Grid, block, thread", learn, 240)                                 \
    VIEW(make_stack_view, "stack", "Paths of a warp", learn)                                          \
    VIEW(make_divergence_view, "divergence", "Divergence", learn, 200, 4)                                 \
    VIEW(make_fragments_view, "fragments", "Fragments", learn, 560)                                       \
    VIEW(make_tensor_core_view, "tensor_core", "A tensor core's piece", learn, 300)                       \
    VIEW(make_cpu_gpu_view, "cpu_gpu", "A CPU beside a GPU", learn, 300)                                  \
    VIEW(make_machine_view, "machine", "The machine", machine, 400, 12)                                   \
    VIEW(make_warps_view, "warps", "Warps by cycle", sm, 280, 1)                                          \
    VIEW(make_code_view, "code", "Source and PTX", sm)                                                    \
    VIEW(make_warp_view, "warp", "Warp", sm, 200)                                                         \
    VIEW(make_blocks_view, "blocks", "Blocks on SMs", sm, 250)                                            \
    VIEW(make_coalesce_view, "coalesce", "Coalescing", memory, 340, 7)                                    \
    VIEW(make_banks_view, "banks", "Shared-memory banks", memory, 330)                                    \
    VIEW(make_occupancy_view, "occupancy", "Occupancy", sm, 380)                                          \
    VIEW(make_funnel_view, "funnel", "From possible to selected", sm, 400)                                \
    VIEW(make_exchange_view, "exchange", "Who comes first", sm, 330)                                      \
    VIEW(make_ladder_view, "ladder", "Latency ladder", sm, 260)                                           \
    VIEW(make_compare_view, "compare", "Two runs", sm, 300, 2)                                            \
    VIEW(make_chart_view, "chart", "Memory chart", memory, 310)                                           \
    VIEW(make_roofline_view, "roofline", "Roofline", memory, 250)                                         \
    VIEW(make_generations_view, "generations", "Generations of GPUs", learn, 304)                         \
    VIEW(make_measured_view, "measured", "Measured and simulated", learn, 330)                            \
    VIEW(make_measured_ladder_view, "measured_ladder", "The ladder, measured and simulated", learn, 356)  \
    VIEW(make_editor_view, "editor", "Kernel", kernel)                                                    \
    VIEW(make_exercise_view, "task", "Exercise", kernel)                                                  \
    VIEW(make_reports_view, "reports", "Reports", kernel)                                                 \
    VIEW(make_launch_view, "launch", "Launch", kernel)                                                    \
    VIEW(make_results_view, "results", "Results", kernel, 0, 9)                                           \
    VIEW(make_verdict_view, "verdict", "Why is it slow?", kernel, 250)                                    \
    VIEW(make_before_after_view, "before_after", "Before and after", kernel, 180)                        \
    VIEW(make_watch_view, "watch", "Registers", kernel)                                                   \
    VIEW(make_memory_view, "bytes", "Memory", kernel, 0, 8)                                               \
    VIEW(make_calls_view, "calls", "Streams", kernel, 150, 11)                                           \
    VIEW(make_output_view, "output", "Output", kernel)                                                    \
    VIEW(make_allocations_view, "allocations", "Device memory", kernel, 150)                              \
    VIEW(make_launches_view, "launches", "Launches", kernel, 150)                                         \
    VIEW(make_setup_view, "setup", "Training run", training)                                              \
    VIEW(make_figure_rows_view, "rows", "Rows of figures", learn, 200)                                    \
    VIEW(make_curves_view, "curves", "Learning curves", training, 280)                                    \
    VIEW(make_batch_view, "batch", "Batch and gradient", training, 250)                                   \
    VIEW(make_weights_view, "weights", "Weights", training, 250)                                          \
    VIEW(make_graph_view, "graph", "Autograd graph", training, 260, 5)                                    \
    VIEW(make_step_kernels_view, "kernels", "Kernels of one training step", training, 180, 6)             \
    VIEW(make_number_formats_view, "formats", "Number formats", training, 300, 17)                        \
    VIEW(make_norms_view, "norms", "Batch norm across ranks", training, 270, 22)                          \
    VIEW(make_modes_view, "modes", "Calls and kernels", training, 250, 23)                                \
    VIEW(make_scores_view, "scores", "Attention: who looks at whom", training, 300)                       \
    VIEW(make_joined_view, "joined", "Attention over keys on several GPUs", training, 300)                \
    VIEW(make_convolution_view, "convolution", "Convolution: window, patches, product", training, 300)    \
    VIEW(make_products_view, "products", "Matrix product: rows, columns, elements", training, 300)        \
    VIEW(make_llama_block_view, "llama_block", "Llama block", training, 320)                              \
    VIEW(make_layer_sizes_view, "layer_sizes", "Llama layers, to scale", training, 250)                   \
    VIEW(make_token_norm_view, "token_norm", "RMSNorm of tokens", training, 250)                          \
    VIEW(make_dials_view, "dials", "Rotary positions", training, 300)                                     \
    VIEW(make_slopes_view, "slopes", "gradcheck by element", training, 260)                               \
    VIEW(make_hessian_view, "hessian", "Second derivatives", training, 270)                               \
    VIEW(make_gate_view, "gate", "A gate", training, 300)                                                 \
    VIEW(make_arithmetic_view, "arithmetic", "Operations, op by op", training, 250)                       \
    VIEW(make_traffic_view, "traffic", "Bytes moved, op by op", training, 250)                            \
    VIEW(make_gradient_way_view, "gradient_way", "A gradient on its way back", training, 280)             \
    VIEW(make_made_wanted_view, "made_wanted", "Made and wanted", kernel, 300)                            \
    VIEW(make_int8_levels_view, "int8_levels", "A row of weights in eight bits", training, 300)           \
    VIEW(make_trained_weights_view, "trained_weights", "Weights, to scale", training, 300)                \
    VIEW(make_norm_steps_view, "normalise", "Batch norm, step by step", training, 260)                    \
    VIEW(make_tradeoff_view, "tradeoff", "What it costs, and what it reads", training, 250)               \
    VIEW(make_seeds_view, "seeds", "Accuracy by seed", training, 260)                                     \
    VIEW(make_line_fit_view, "line_fit", "The line, its misses and its cost", training, 280, 26)          \
    VIEW(make_batch_sizes_view, "batch_sizes", "Steps against examples", training, 300)                   \
    VIEW(make_layer_rates_view, "layer_rates", "A rate for each layer", training, 280, 25)                \
    VIEW(make_valleys_view, "valleys", "Flat and sharp minima", training, 280)                            \
    VIEW(make_streams_view, "streams", "Streams and copy engines", training, 270, 3)                      \
    VIEW(make_pipeline_view, "pipeline", "Pipeline schedule", cluster, 250, 10)                           \
    VIEW(make_rank_memory_view, "rank_memory", "Memory per rank", cluster, 280)                           \
    VIEW(make_workers_view, "workers", "Workers", cluster, 270, 16)                                       \
    VIEW(make_ring_attention_view, "ring_attention", "Ring attention", cluster, 270, 18)                  \
    VIEW(make_data_parallel_view, "data_parallel", "One step in data parallel", cluster, 270, 19)         \
    VIEW(make_groups_view, "groups", "Whom a GPU talks to", cluster, 270, 20)                             \
    VIEW(make_processes_view, "processes", "Launching", cluster, 300, 21)                                 \
    VIEW(make_collective_view, "collective", "Collective", cluster, 270, 0, true)                         \
    VIEW(make_mesh_view, "mesh", "Devices and layout", cluster, 260)                                      \
    VIEW(make_owners_view, "owners", "Products, cut by owner", cluster, 270, 24)                          \
    VIEW(make_network_view, "network", "Network and machine room", cluster, 260)                          \
    VIEW(make_memory_wall_view, "memory_wall", "Memory wall", cluster, 200)                               \
    VIEW(make_breakdowns_view, "breakdowns", "What breaks", cluster, 330)                                 \
    VIEW(make_kit_view, "kit", "Your GPU", build, 420)                                                    \
    VIEW(make_die_view, "die", "The die, to scale", build, 360)                                           \
    VIEW(make_designs_view, "designs", "Two designs", build, 230)                                         \
    VIEW(make_puzzle_view, "puzzle", "The puzzle", build, 560, 13)                                        \
    VIEW(make_host_program_view, "program", "Program", learn)
// clang-format on

#define DECLARE(make, ...) std::unique_ptr<View> make();
VIEWS(DECLARE)

std::span<const ViewRow> views() {
    using enum Workspace;
#define ROW(make, name, title, ...) ViewRow{make, name, title, __VA_ARGS__},
    static const std::array rows = {VIEWS(ROW)};
    return rows;
}

const ViewRow* view_named(std::string_view name) {
    for (const ViewRow& row : views())
        if (row.name == name) return &row;
    return nullptr;
}

}  // namespace lockstep::gui
