#include "app/cli/kernel/output_json.h"

#include <nlohmann/json.hpp>
#include <string>

#include "app/cli/cli.h"

namespace lockstep::cli {

nlohmann::ordered_json output_json(const Array& array) {
    if (array.count() > most_in_json) return nullptr;
    nlohmann::ordered_json out = nlohmann::ordered_json::array();
    for (size_t i = 0; i < array.count(); ++i) switch (array.dtype) {
            case DType::i8:
                out.push_back(array.as<int8_t>()[i]);
                break;
            case DType::u8:
                out.push_back(array.as<uint8_t>()[i]);
                break;
            case DType::i16:
                out.push_back(array.as<int16_t>()[i]);
                break;
            case DType::u16:
                out.push_back(array.as<uint16_t>()[i]);
                break;
            case DType::i32:
                out.push_back(array.as<int32_t>()[i]);
                break;
            case DType::u32:
                out.push_back(array.as<uint32_t>()[i]);
                break;
            case DType::i64:
                out.push_back(std::to_string(array.as<int64_t>()[i]));
                break;
            case DType::u64:
                out.push_back(std::to_string(array.as<uint64_t>()[i]));
                break;
            case DType::f16:
                out.push_back(json_number(f16_to_f32(array.as<uint16_t>()[i])));
                break;
            case DType::bf16:
                out.push_back(json_number(bf16_to_f32(array.as<uint16_t>()[i])));
                break;
            case DType::f32:
                out.push_back(json_number(array.as<float>()[i]));
                break;
            case DType::f64:
                out.push_back(json_number(array.as<double>()[i]));
                break;
        }
    return out;
}

}  // namespace lockstep::cli
