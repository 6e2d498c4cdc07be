// The functions that Python calls, by name. Each gets JSON and the object that it is called of, and fills an Answer.
#pragma once
#include <any>
#include <functional>
#include <memory>
#include <nlohmann/json.hpp>
#include <span>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include "core/api/api.h"

namespace lockstep::python {

using Json = nlohmann::ordered_json;

// A kernel or a launch that has run: one of the two.
struct Object {
    std::shared_ptr<const api::Kernel> kernel;
    std::shared_ptr<const api::Launched> launched;
};

struct Call {
    const Json& given;
    const Object& object;
    std::stop_token stop;
    std::function<void(std::string_view)> print;
};

struct Answer {
    Json json;
    Object made;
    std::vector<std::shared_ptr<const void>> kept;  // what the blobs in the JSON point into

    // A column of numbers, or bytes: numpy's name of the elements' type stands in the JSON.
    template <class T>
    Json blob(std::vector<T> values);
    Json blob(std::string bytes);
};

struct FunctionRow {
    std::string_view name;
    void (*run)(const Call& call, Answer& answer);
};
std::span<const FunctionRow> functions();

}  // namespace lockstep::python
