// Special registers: %tid.x and its like, and what else a mov may take from the launch.
#pragma once
#include <cstdint>

namespace lockstep::ptx {

enum class SpecialRegister : uint8_t {
    tid_x,
    tid_y,
    tid_z,
    ntid_x,
    ntid_y,
    ntid_z,
    ctaid_x,
    ctaid_y,
    ctaid_z,
    nctaid_x,
    nctaid_y,
    nctaid_z,
    laneid,
    warpid,
    nwarpid,
    smid,
    nsmid,
    gridid,
    lanemask_eq,
    lanemask_lt,
    lanemask_le,
    lanemask_gt,
    lanemask_ge,
    clock,
    clock64,
    globaltimer,
    dynamic_smem_size,
    total_smem_size,
    variable_address,  // mov of a .global or .const variable: the address of DecodedInstruction::variable plus offset
    clock_hi,
    globaltimer_lo,
    globaltimer_hi,
    clusterid_x,
    clusterid_y,
    clusterid_z,
    nclusterid_x,
    nclusterid_y,
    nclusterid_z,
    cluster_ctaid_x,
    cluster_ctaid_y,
    cluster_ctaid_z,
    cluster_nctaid_x,
    cluster_nctaid_y,
    cluster_nctaid_z,
    cluster_ctarank,
    cluster_nctarank,
    is_explicit_cluster,  // a predicate
    zero,                 // the fourth component of %tid and its like
    envreg,               // what the driver passes on: nothing here, but for the next two
    envreg1,              // upper and lower word of the address of the grid's workspace (grid.sync()), see simt::Grid
    envreg2,
    pm,  // performance monitors, of 32 and 64 bits: they count nothing here
    pm_64,
    reserved_smem_begin,  // the system's own part of a block's shared memory: begin and 0; 1, where cooperative groups keep
    reserved_smem_1,      // the barriers of tiles larger than a warp; end and cap
    reserved_smem_end,
    aggr_smem_size,
    current_graph_exec,
};

}  // namespace lockstep::ptx
