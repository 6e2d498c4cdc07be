// The files that a run as one file carries along (run_file.h): headers of the source, arrays of its arguments, the file of
// its GPU. They lie beside the source where the run is opened, in a folder of their own, under plain names.
#pragma once
#include <filesystem>
#include <string>
#include <vector>

#include "app/gui/desk/kernel_document.h"

namespace lockstep::gui {

struct CarriedFile {
    std::string name;  // relative to the source's folder: "x.npy", "util/common.h"
    std::string bytes;
    bool operator==(const CarriedFile&) const = default;
};

constexpr size_t most_carried = 64, most_carried_bytes = size_t{32} << 20;

// What the document's run reads besides its text. Its launch then names the files as they are carried, and writes none.
// Throws Failure where a file is missing or lies where it cannot be carried from.
std::vector<CarriedFile> carry(KernelDocument& document);
// The GPU's file and those that it inherits from; `gpu` becomes the first one's name.
void carry_gpu(std::string& gpu, std::vector<CarriedFile>& files);

// Of a file from a stranger: throws Failure unless all that the run reads is carried, under names that stay in one folder.
void check_carried(const KernelDocument& document, const std::vector<CarriedFile>& files);
bool is_carried(const std::vector<CarriedFile>& files, const std::string& name);
// Writes them and returns the folder: among what the program keeps for its user, one for each content.
std::filesystem::path unpack(const std::vector<CarriedFile>& files, const std::string& source_name,
                             const std::string& source);

}  // namespace lockstep::gui
