// Opening and saving by keyboard and pointer: a path with completion, the folder's kernels, what is on the desk, and new
// kernels to begin with.
#pragma once
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "app/gui/session.h"
#include "app/gui/widgets/draw.h"

namespace lockstep::gui {

struct FileChoice {
    enum class Kind : uint8_t { none, open, save, document, made };
    Kind kind = Kind::none;
    std::string path;
    size_t index = 0;  // of the desk's document, or of kernel_templates()
};

// The entries of the folder of `path` that begin as its last part does: folders (with a '/') and kernel files, sorted.
std::vector<std::string> completions(const std::string& path);

class FilePanel {
  public:
    enum class Mode : uint8_t { closed, open, save };
    void show(Mode mode, const std::string& path);
    void close() { mode_ = Mode::closed; }
    bool open() const { return mode_ != Mode::closed; }
    void say(std::string problem) { problem_ = std::move(problem); }
    // Nothing while it stays open; kind none: it was left.
    std::optional<FileChoice> draw(Ui& ui, Session& session, const Rect& body);

  private:
    bool path_field(Ui& ui, const Rect& field);
    void complete();
    std::optional<FileChoice> enter(UiState& state);
    std::optional<FileChoice> entries(Ui& ui, const Rect& list);
    static std::optional<FileChoice> templates(Ui& ui, const Rect& room, float& y);  // y: where the next list begins
    static std::optional<FileChoice> documents(Ui& ui, Session& session, const Rect& room, float y);

    Mode mode_ = Mode::closed;
    std::string path_, listed_path_, problem_;
    std::vector<std::string> found_;
    int picked_ = -1;
    bool fresh_ = false, left_ = false;  // just opened; Escape was pressed in the field
};

}  // namespace lockstep::gui
