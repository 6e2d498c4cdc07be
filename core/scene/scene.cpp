#include "core/scene/scene.h"

#include "core/scene/cluster/parallel_scene.h"

namespace lockstep::scene {

bool is_host_program(const std::string& file) {
    return file.ends_with(".host");
}
bool is_parallel_program(const std::string& file) {
    return parallel_kind_of(file) != nullptr;
}
bool is_tensor_program(const std::string& file) {
    return file.ends_with(".tape");
}
bool is_engine_program(const std::string& file) {
    return is_tensor_program(file) || file.ends_with(".train");
}

}  // namespace lockstep::scene
