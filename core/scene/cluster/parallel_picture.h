// A lesson's scene of many ranks as what the cluster's pictures show (cluster.h): its schedules, its collective, or the
// memory of its rows.
#pragma once
#include <memory>
#include <string>
#include <string_view>

#include "core/scene/cluster/cluster.h"
#include "core/scene/cluster/parallel_scene.h"
#include "core/scene/run.h"

namespace lockstep::scene {

// `source`: "C06, step 3". `asked`: the row whose figures are asked for, "zb_h1"; of more than two schedules that one stands
// beside the first; "": the last does. Of collectives and layouts that one is drawn; "": the first.
// `gpu`: of the lesson, whose power a network's picture tells and whose memory that of a model's state is held against.
// The rows' figures are its table; so are those of cheaper forms beside f32. Null: the scene has neither.
std::shared_ptr<const ClusterScene> cluster_picture(const SceneResult& result, const std::string& source,
                                                    std::string_view asked = {}, const std::string& gpu = {});

}  // namespace lockstep::scene
