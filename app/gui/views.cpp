// The list of views: one line each. A slot of layout.cpp names a row here.
#include <array>

#include "app/gui/view.h"
#include "app/gui/views/cluster/cluster_views.h"
#include "app/gui/views/kernel/kernel_views.h"
#include "app/gui/views/memory/memory_views.h"
#include "app/gui/views/roofline/roofline.h"
#include "app/gui/views/sm/sm_views.h"
#include "app/gui/views/sm/threads_view.h"
#include "app/gui/views/streams/streams_views.h"
#include "app/gui/views/training/training_views.h"

namespace lockstep::gui {

std::span<const ViewRow> views() {
    static const std::array rows = {
        ViewRow{"lesson", "Lesson", "learn", make_lesson_view},
        ViewRow{"source", "Source", "learn", make_source_view},
        ViewRow{"threads", "Grid, block, thread", "learn", make_threads_view, 240},
        ViewRow{"stack", "Reconvergence stack", "learn", make_stack_view},
        ViewRow{"divergence", "Divergence", "learn", make_divergence_view, 200},
        ViewRow{"fragments", "Fragments", "learn", make_fragments_view, 560},
        ViewRow{"warps", "Warps by cycle", "sm", make_warps_view, 280},
        ViewRow{"code", "Source and PTX", "sm", make_code_view},
        ViewRow{"warp", "Warp", "sm", make_warp_view, 200},
        ViewRow{"blocks", "Blocks on SMs", "sm", make_blocks_view, 250},
        ViewRow{"coalesce", "Coalescing", "memory", make_coalesce_view, 340},
        ViewRow{"banks", "Shared-memory banks", "memory", make_banks_view, 330},
        ViewRow{"occupancy", "Occupancy", "sm", make_occupancy_view, 380},
        ViewRow{"ladder", "Latency ladder", "sm", make_ladder_view, 260},
        ViewRow{"compare", "Two runs", "sm", make_compare_view, 300},
        ViewRow{"chart", "Memory chart", "memory", make_chart_view, 346},
        ViewRow{"roofline", "Roofline", "memory", make_roofline_view, 250},
        ViewRow{"generations", "Generations of GPUs", "learn", make_generations_view, 304},
        ViewRow{"measured", "Measured and simulated", "learn", make_measured_view, 330},
        ViewRow{"measured_ladder", "The ladder, measured and simulated", "learn", make_measured_ladder_view, 330},
        ViewRow{"editor", "Kernel", "kernel", make_editor_view},
        ViewRow{"reports", "Reports", "kernel", make_reports_view},
        ViewRow{"launch", "Launch", "kernel", make_launch_view},
        ViewRow{"results", "Results", "kernel", make_results_view},
        ViewRow{"watch", "Registers", "kernel", make_watch_view},
        ViewRow{"bytes", "Memory", "kernel", make_memory_view},
        ViewRow{"setup", "Training run", "training", make_setup_view},
        ViewRow{"rows", "Rows of figures", "learn", make_figure_rows_view, 200},
        ViewRow{"curves", "Learning curves", "training", make_curves_view, 280},
        ViewRow{"batch", "Batch and gradient", "training", make_batch_view, 250},
        ViewRow{"weights", "Weights", "training", make_weights_view, 250},
        ViewRow{"graph", "Autograd graph", "training", make_graph_view, 260},
        ViewRow{"kernels", "Kernels of one training step", "training", make_step_kernels_view, 180},
        ViewRow{"streams", "Streams and copy engines", "training", make_streams_view, 270},
        ViewRow{"pipeline", "Pipeline schedule", "cluster", make_pipeline_view, 440},
        ViewRow{"rank_memory", "Memory per rank", "cluster", make_rank_memory_view, 340},
        ViewRow{"collective", "Collective", "cluster", make_collective_view, 270},
        ViewRow{"mesh", "Devices and layout", "cluster", make_mesh_view, 260},
        ViewRow{"network", "Network and machine room", "cluster", make_network_view, 260},
        ViewRow{"memory_wall", "Memory wall", "cluster", make_memory_wall_view, 200},
        ViewRow{"program", "Program", "learn", make_host_program_view},
    };
    return rows;
}

}  // namespace lockstep::gui
